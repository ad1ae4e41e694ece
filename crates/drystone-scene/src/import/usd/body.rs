//! Bodies: prims with `PhysicsRigidBodyAPI`, and colliders without.

use std::collections::BTreeSet;

use drystone::glam::{DMat3, DMat4, DVec3};

use super::collide::Class;
use super::layer::Value;
use super::mass::Weighed;
use super::scene::{Held, Maker};
use super::transform::{self, Placement};
use crate::error::SceneError;
use crate::import::rigid::{self, Piece, Pose3};
use crate::schema::{Body, Keyframe, Kind, Script, Shape, Spin};

const DEGREE: f64 = std::f64::consts::PI / 180.0;
/// Says on stages of ours that a body is kinematic only because its motion is written out.
const BAKED: &str = "drystone:baked";

impl Maker<'_> {
    /// All bodies, in the order of the stage.
    pub(super) fn bodies(&mut self) -> Result<(), SceneError> {
        let stage = self.stage;
        self.find_holders()?;
        let mut colliders: Vec<Vec<usize>> = vec![Vec::new(); stage.prims.len()];
        for prim in 0..stage.prims.len() {
            if !stage.has_schema(prim, "PhysicsCollisionAPI")
                || !stage.flag(prim, "physics:collisionEnabled", true)?
            {
                continue;
            }
            // Without a body above it, a collider is one.
            let holder = self.holders.get(prim).copied().flatten().unwrap_or(prim);
            if let Some(list) = colliders.get_mut(holder) {
                list.push(prim);
            }
        }
        for (prim, colliders) in colliders.iter().enumerate() {
            let is_body = self.holders.get(prim).copied().flatten() == Some(prim);
            if is_body || !colliders.is_empty() {
                self.body(prim, colliders, is_body)?;
            }
        }
        Ok(())
    }

    /// Finds the rigid body that each prim is or belongs to.
    fn find_holders(&mut self) -> Result<(), SceneError> {
        for (index, prim) in self.stage.prims.iter().enumerate() {
            let is_body = self.stage.has_schema(index, "PhysicsRigidBodyAPI")
                && self.stage.flag(index, "physics:rigidBodyEnabled", true)?;
            let above = prim.parent.and_then(|parent| self.holders.get(parent));
            let holder = match is_body {
                true => Some(index),
                false => above.copied().flatten(),
            };
            self.holders.push(holder);
        }
        Ok(())
    }

    fn kind(&self, prim: usize, is_body: bool) -> Result<Kind, SceneError> {
        let is_kinematic = is_body && self.stage.flag(prim, "physics:kinematicEnabled", false)?;
        let is_baked = is_kinematic && self.stage.flag(prim, BAKED, false)?;
        Ok(match (is_body, is_kinematic && !is_baked) {
            (false, _) => Kind::Fixed,
            (true, false) => Kind::Rigid,
            (true, true) => Kind::Kinematic,
        })
    }

    fn body(&mut self, prim: usize, colliders: &[usize], is_body: bool) -> Result<(), SceneError> {
        let stage = self.stage;
        let matrix = self.matrices.get(prim).copied().unwrap_or_default();
        let Some(placed) = Placement::of(&matrix) else {
            return Err(stage.wrong(&stage.path(prim), "its transform flattens it"));
        };
        let kind = self.kind(prim, is_body)?;
        let mut weighed = Vec::new();
        for &collider in colliders {
            let matrix = self.seen_from(prim, &placed, collider);
            if let Some(piece) = self.shape(collider, &matrix, kind)? {
                weighed.push(self.weighed(prim, collider, piece)?);
            }
        }
        let mut pose = placed.pose;
        let material = self.common_material(&weighed);
        let class = self.class(prim, &weighed);
        let mut pieces: Vec<Piece> = weighed.iter().map(|part| part.piece.clone()).collect();
        if let [only] = pieces.as_mut_slice() {
            turn_plane(only, &mut pose);
        }
        let name = self.free_name(prim);
        let mut body = rigid::moving(&name, &pose, pieces, None);
        body.kind = kind;
        body.material = material;
        self.motion(&mut body, prim, &placed)?;
        if kind == Kind::Rigid {
            self.mass(&mut body, (prim, &placed), &weighed)?;
        }
        self.classes.push(class);
        self.scene.bodies.push(body);
        self.bodies.insert(prim, Held { name, pose });
        Ok(())
    }

    /// From the points of a prim to the axes of the body that holds it: what the body's scale makes
    /// of the prims between them.
    pub(super) fn seen_from(&self, body: usize, placed: &Placement, prim: usize) -> DMat4 {
        let matrix = self.matrices.get(body).copied().unwrap_or_default();
        let mut seen = match placed.is_sheared {
            false => DMat4::from_scale(placed.scale),
            true => {
                let turn = DMat3::from_quat(placed.pose.rotation.conjugate());
                DMat4::from_mat3(turn * DMat3::from_mat4(matrix))
            }
        };
        let below = self.stage.upwards(prim).map(|(index, _)| index);
        let mut below: Vec<usize> = below.take_while(|index| *index != body).collect();
        below.reverse();
        for index in below {
            seen *= self.local.get(index).copied().unwrap_or_default();
        }
        seen
    }

    /// How it moves at the start, or for good if it is kinematic.
    fn motion(
        &mut self,
        body: &mut Body,
        prim: usize,
        placed: &Placement,
    ) -> Result<(), SceneError> {
        if body.kind == Kind::Fixed {
            return Ok(());
        }
        let stage = self.stage;
        if stage.flag(prim, "physics:startsAsleep", false)? {
            self.list(prim, "`physics:startsAsleep`");
        }
        let turn = placed.pose.rotation;
        let is_something = |v: &DVec3| *v != DVec3::ZERO;
        let velocity = stage.vector(prim, "physics:velocity")?.filter(is_something);
        let velocity = velocity.map(|v| rigid::list(turn * v * self.meter));
        let spin = stage.vector(prim, "physics:angularVelocity")?;
        let spin = spin.filter(is_something);
        let spin = spin.map(|v| Spin::Solid(rigid::list(turn * v * DEGREE)));
        if body.kind == Kind::Rigid {
            (body.velocity, body.spin) = (velocity, spin);
            return Ok(());
        }
        let keyframes = self.keyframes(prim)?;
        body.script = Some(match keyframes.len() {
            0 | 1 => Script::Steady { velocity, spin },
            _ => Script::Keyframes(keyframes),
        });
        Ok(())
    }

    /// Where a kinematic body is at the times of its transforms; what is above it stays.
    fn keyframes(&mut self, prim: usize) -> Result<Vec<Keyframe>, SceneError> {
        let stage = self.stage;
        let operations = |prim: usize| match stage.value(prim, "xformOpOrder") {
            Some(Value::Texts(order)) => order.as_slice(),
            _ => &[],
        };
        let samples = |prim: usize| {
            let names = operations(prim).iter();
            let names = names.map(|name| name.strip_prefix("!invert!").unwrap_or(name));
            names.flat_map(move |name| stage.samples(prim, name))
        };
        if stage
            .upwards(prim)
            .skip(1)
            .any(|(above, _)| samples(above).next().is_some())
        {
            self.list(prim, "what is above it moves: it is where that is first");
        }
        // Times are finite, and finite numbers have an order that bits keep.
        let key = |time: f64| {
            let bits = time.to_bits() as i64;
            bits ^ (((bits >> 63) as u64) >> 1) as i64
        };
        let times: BTreeSet<(i64, u64)> = samples(prim)
            .map(|(time, _)| (key(*time), time.to_bits()))
            .collect();
        let rate = stage.setting("timeCodesPerSecond", 24.0)?;
        let first = match stage.settings.get("startTimeCode") {
            Some(Value::Numbers(start)) => start.first().copied().filter(|x| x.is_finite()),
            _ => None,
        };
        let mut keyframes = Vec::new();
        let mut start = first;
        for time in times.into_iter().map(|(_, bits)| f64::from_bits(bits)) {
            let start = *start.get_or_insert(time);
            let (own, is_reset) = transform::own(stage, prim, Some(time))?;
            let above = stage.prims.get(prim).and_then(|prim| prim.parent);
            let above = above.filter(|_| !is_reset);
            let above = above.and_then(|above| self.matrices.get(above));
            let Some(placed) = Placement::of(&(*above.unwrap_or(&self.outermost) * own)) else {
                return Err(stage.wrong(&stage.path(prim), "its transform flattens it"));
            };
            if time >= start {
                keyframes.push(Keyframe {
                    time: (time - start) / rate,
                    position: rigid::list(placed.pose.position),
                    rotation: rigid::rotation(placed.pose.rotation),
                });
            }
        }
        Ok(keyframes)
    }

    /// The material of a body's parts: that of the first.
    fn common_material(&mut self, parts: &[Weighed]) -> Option<String> {
        let first = parts.first()?.material;
        for part in parts.iter().filter(|part| part.material != first) {
            self.list(part.prim, "its material is that of the body's first part");
        }
        first.and_then(|material| self.materials.get(&material).cloned())
    }

    /// What filters see of a body; `None` if it has no shape.
    fn class(&mut self, prim: usize, parts: &[Weighed]) -> Option<Class> {
        let first = parts.first()?;
        let groups = self.groups_of(first.prim);
        for part in parts.iter().skip(1) {
            if self.groups_of(part.prim) != groups {
                self.list(part.prim, "its groups are those of the body's first part");
            }
        }
        let colliders = parts.iter().map(|part| part.prim);
        let is_paired = colliders.chain([prim]).any(|part| self.is_in_pair(part));
        Some(Class {
            groups,
            alone: is_paired.then_some(prim),
        })
    }

    /// A stage without physics: closed meshes and solids fall, open meshes are fixed.
    pub(super) fn surfaces(&mut self) -> Result<(), SceneError> {
        let what = "it has no physics: closed meshes are solids, open ones fixed surfaces";
        self.unsupported.push(what.to_owned());
        let stage = self.stage;
        for (prim, own) in stage.prims.iter().enumerate() {
            let matrix = self.matrices.get(prim).copied().unwrap_or_default();
            let solids = ["Cube", "Sphere", "Capsule", "Cylinder", "Cone"];
            let is_mesh = own.type_name == "Mesh";
            if !is_mesh && !solids.contains(&own.type_name.as_str()) {
                continue;
            }
            let Some(placed) = Placement::of(&matrix) else {
                return Err(stage.wrong(&stage.path(prim), "its transform flattens it"));
            };
            let seen = self.seen_from(prim, &placed, prim);
            let (piece, kind) = if is_mesh {
                let surface = self.surface(prim, &seen)?;
                let is_solid = surface.is_closed();
                let shape = surface.into_mesh(is_solid);
                let pose = Pose3::default();
                let kind = if is_solid { Kind::Rigid } else { Kind::Fixed };
                (Some(Piece { shape, pose }), kind)
            } else {
                (self.shape(prim, &seen, Kind::Rigid)?, Kind::Rigid)
            };
            let name = self.free_name(prim);
            let mut body = rigid::moving(&name, &placed.pose, piece.into_iter().collect(), None);
            body.kind = kind;
            self.scene.bodies.push(body);
        }
        Ok(())
    }
}

/// A body that is a plane is not turned: its normal is.
fn turn_plane(plane: &mut Piece, pose: &mut Pose3) {
    if let Shape::HalfSpace { normal } = &mut plane.shape {
        let own = <[f64; 3]>::try_from(normal.as_slice()).unwrap_or_default();
        *normal = rigid::list(pose.rotation * DVec3::from_array(own));
        pose.rotation = Default::default();
    }
}
