//! Bodies: where they are, how they move, what they are made of.

use drystone::glam::{DMat3, DQuat, DVec3};
use serde_json::{Value, json};

use super::shape::{self, Said};
use super::{PHYSICS, Writer};
use crate::build::orientation;
use crate::schema::{Body, Inertia, Kind, MassProperties, Part, Rotation, Script, Shape, Spin};

impl Writer<'_> {
    /// Gives the node of a body its pose, its motion, its colliders, and what else there is to say.
    pub(super) fn body(&mut self, k: usize) {
        let Some(body) = self.plain.bodies.get(k) else {
            return;
        };
        let node = self.node_of(k);
        self.set_apart(node);
        let turn = body.rotation.as_ref().and_then(orientation);
        let turn = turn.unwrap_or(DQuat::IDENTITY);
        let json = &mut self.document.json["nodes"][node];
        json["translation"] = body.position.clone().unwrap_or(vec![0.0; 3]).into();
        json["rotation"] = turn.to_array().to_vec().into();
        json["extras"] = json!({ "drystone": unsaid(body) });
        if let Some(motion) = motion(body, turn, self.world.bodies().mass(k)) {
            json["extensions"] = json!({ PHYSICS: { "motion": motion } });
        }
        if let Some(shape) = &body.shape {
            self.colliders(k, node, shape);
        }
    }

    /// Moves a mesh that is scaled to a child: the scale is not the collider's.
    fn set_apart(&mut self, node: usize) {
        let Some(own) = self.document.json["nodes"][node].as_object_mut() else {
            return;
        };
        if let Some(scale) = own.remove("scale") {
            let mesh = own.remove("mesh").unwrap_or_default();
            let name = own.get("name").and_then(Value::as_str).unwrap_or_default();
            let name = format!("{name} surface");
            self.child(node, json!({ "name": name, "mesh": mesh, "scale": scale }));
        }
    }

    /// A collider on the node itself, or one on a child for each part.
    fn colliders(&mut self, body: usize, node: usize, shape: &Shape) {
        match shape {
            Shape::Compound { parts } => {
                for part in parts {
                    let child = self.child(node, placed(part));
                    self.colliders(body, child, &part.shape);
                }
            }
            Shape::HalfSpace { normal } if !shape::is_all(shape) => {
                let normal = DVec3::from_slice(normal).normalize_or(DVec3::Y);
                let turn = DQuat::from_rotation_arc(DVec3::Y, normal);
                let plane = json!({ "name": "plane", "rotation": turn.to_array().to_vec() });
                let child = self.child(node, plane);
                self.collider(body, child, shape);
            }
            single => self.collider(body, node, single),
        }
    }

    fn collider(&mut self, body: usize, node: usize, shape: &Shape) {
        let Some(geometry) = self.geometry(shape) else {
            return;
        };
        let given = &self.plain.bodies[body];
        let mut collider = json!({ "geometry": geometry });
        if let Some(filter) = self.filters.of_body.get(body).copied().flatten() {
            collider["collisionFilter"] = filter.into();
        }
        let is_own = |name: &String| Some(name) == given.material.as_ref();
        let mut materials = self.plain.materials.iter().map(|material| &material.name);
        let material = materials.position(is_own);
        let kind = if given.sensor {
            "trigger"
        } else {
            if let Some(material) = material {
                collider["physicsMaterial"] = material.into();
            }
            "collider"
        };
        self.document.json["nodes"][node]["extensions"][PHYSICS][kind] = collider;
    }

    fn geometry(&mut self, shape: &Shape) -> Option<Value> {
        let extras = || json!({ "drystone": shape });
        match shape::said(shape)? {
            Said::Implicit(mut said) => {
                if !shape::is_all(shape) {
                    said["extras"] = extras();
                }
                let known = self.shapes.iter().position(|known| *known == said);
                let index = known.unwrap_or_else(|| {
                    self.shapes.push(said);
                    self.shapes.len() - 1
                });
                Some(json!({ "shape": index }))
            }
            Said::Mesh {
                points,
                triangles,
                is_hull,
            } => {
                let key = extras().to_string();
                let known = self.meshes.iter().find(|(known, _)| *known == key);
                let mesh = known.map(|(_, mesh)| *mesh).unwrap_or_else(|| {
                    let name = format!("collider {}", self.meshes.len() + 1);
                    let mesh = self.document.add_mesh(&name, &points, &triangles);
                    self.document.json["meshes"][mesh]["extras"] = extras();
                    self.meshes.push((key, mesh));
                    mesh
                });
                let mut geometry = json!({ "mesh": mesh });
                if is_hull {
                    geometry["convexHull"] = true.into();
                }
                Some(geometry)
            }
        }
    }
}

/// The node of a part of a compound.
fn placed(part: &Part) -> Value {
    let mut node = json!({ "name": "part" });
    if let Some(position) = &part.position {
        node["translation"] = position.clone().into();
    }
    if let Some(turn) = part.rotation.as_ref().and_then(orientation) {
        node["rotation"] = turn.to_array().to_vec().into();
    }
    node
}

/// How a body moves; `None` for one that does not. glTF has velocities in the node's axes.
fn motion(body: &Body, turn: DQuat, mass: f64) -> Option<Value> {
    let mut motion = json!({});
    let (velocity, spin) = match (body.kind, &body.script) {
        (Kind::Fixed, _) => return None,
        (Kind::Kinematic, script) => {
            motion["isKinematic"] = true.into();
            match script {
                Some(Script::Steady { velocity, spin }) => (velocity, spin),
                _ => (&None, &None),
            }
        }
        (Kind::Rigid | Kind::Particle, _) => {
            motion["mass"] = mass.into();
            (&body.velocity, &body.spin)
        }
    };
    let own = |v: &[f64]| {
        (turn.conjugate() * DVec3::from_slice(v))
            .to_array()
            .to_vec()
    };
    if let Some(velocity) = velocity.as_ref().filter(|v| v.len() == 3) {
        motion["linearVelocity"] = own(velocity).into();
    }
    if let Some(Spin::Solid(spin)) = spin
        && spin.len() == 3
    {
        motion["angularVelocity"] = own(spin).into();
    }
    if let Some(given) = &body.mass_properties {
        put_inertia(&mut motion, given);
    }
    Some(motion)
}

/// Centre of mass and principal moments.
fn put_inertia(motion: &mut Value, given: &MassProperties) {
    if let Some(center) = &given.center {
        motion["centerOfMass"] = center.clone().into();
    }
    let Inertia::Solid(values) = &given.inertia else {
        return;
    };
    let at = |k: usize| values.get(k).copied().unwrap_or(0.0);
    let (moments, axes) = principal(DMat3::from_cols(
        DVec3::new(at(0), at(3), at(4)),
        DVec3::new(at(3), at(1), at(5)),
        DVec3::new(at(4), at(5), at(2)),
    ));
    motion["inertiaDiagonal"] = moments.to_array().to_vec().into();
    motion["inertiaOrientation"] = axes.to_array().to_vec().into();
}

/// Principal moments and axes of an inertia, by Jacobi's rotations: I = R diag(m) Rᵀ.
fn principal(mut inertia: DMat3) -> (DVec3, DQuat) {
    let mut axes = DMat3::IDENTITY;
    for (p, q) in [(0, 1), (0, 2), (1, 2)].into_iter().cycle().take(60) {
        let entry = inertia.col(q)[p];
        if entry == 0.0 {
            continue;
        }
        let theta = (inertia.col(q)[q] - inertia.col(p)[p]) / (2.0 * entry);
        let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
        let mut turn = DMat3::IDENTITY;
        turn.col_mut(p)[p] = cosine;
        turn.col_mut(q)[q] = cosine;
        turn.col_mut(q)[p] = tangent * cosine;
        turn.col_mut(p)[q] = -tangent * cosine;
        inertia = turn.transpose() * inertia * turn;
        axes *= turn;
    }
    let moments = DVec3::new(inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z);
    (moments, DQuat::from_mat3(&axes).normalize())
}

/// What glTF does not say of a body, or not with all digits.
fn unsaid(body: &Body) -> Body {
    let is_turned = matches!(&body.rotation, Some(Rotation::Quaternion(_)));
    Body {
        kind: body.kind,
        density: body.density,
        mass_properties: body.mass_properties.clone(),
        velocity: body.velocity.clone().filter(|_| is_turned),
        spin: body.spin.clone().filter(|_| is_turned),
        linear_damping: body.linear_damping,
        angular_damping: body.angular_damping,
        surface_velocity: body.surface_velocity.clone(),
        one_way: body.one_way.clone(),
        locked_axes: body.locked_axes.clone(),
        locked_spins: body.locked_spins.clone(),
        pushes: body.pushes.clone(),
        script: body.script.clone(),
        ..Body::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_moments_make_the_same_inertia() {
        let inertia = DMat3::from_cols(
            DVec3::new(3.0, 0.4, -0.2),
            DVec3::new(0.4, 2.0, 0.7),
            DVec3::new(-0.2, 0.7, 4.0),
        );
        let (moments, axes) = principal(inertia);
        let turn = DMat3::from_quat(axes);
        let again = turn * DMat3::from_diagonal(moments) * turn.transpose();
        assert!(
            (again - inertia)
                .to_cols_array()
                .iter()
                .all(|x| x.abs() < 1e-14)
        );
        assert!((turn.determinant() - 1.0).abs() < 1e-14);
    }
}
