//! Bodies: nodes with `motion`, colliders without, and what their extras add.

use drystone::glam::{DMat3, DVec3};

use super::physics::{Maker, ON_NODE};
use super::shape;
use super::value::Value;
use crate::error::SceneError;
use crate::export::EXTRAS;
use crate::import::rigid::{self, Lump, Piece, Pose3};
use crate::schema::{Body, Inertia, Kind, MassProperties, Script, Shape, Spin};

/// How far an extra may be from what glTF says to be the same with more digits, relative.
const SAME: f64 = 1e-9;

/// What a body is made of.
#[derive(Default)]
struct Parts {
    pieces: Vec<Piece>,
    material: Option<String>,
    filter: Option<usize>,
    is_sensor: bool,
}

impl Maker<'_> {
    /// The nearest node at or above this one that is a body: it has `motion`, or its extras say so.
    fn holder(&self, mut index: usize) -> Option<usize> {
        let nodes = self.document.list("/nodes");
        loop {
            let node = nodes.get(index)?;
            let moves = node.pointer(ON_NODE).and_then(|own| own.get("motion"));
            if moves.is_some() || node.pointer(EXTRAS).is_some() {
                return Some(index);
            }
            index = self.document.nodes.get(index)?.parent?;
        }
    }

    /// All bodies, in the order of their nodes.
    pub(super) fn bodies(&mut self) -> Result<(), SceneError> {
        let nodes = self.document.list("/nodes");
        let mut parts: Vec<Option<Parts>> = Vec::new();
        parts.resize_with(nodes.len(), || None);
        for (index, node) in nodes.iter().enumerate() {
            let own = node.pointer(ON_NODE);
            for kind in ["collider", "trigger"] {
                if let Some(given) = own.and_then(|own| own.get(kind)) {
                    // Without a body above it, a collider is one.
                    let holder = self.holder(index).unwrap_or(index);
                    if let Some(slot) = parts.get_mut(holder) {
                        self.piece((given, index, kind), holder, slot)?;
                    }
                }
            }
        }
        for (index, (node, parts)) in nodes.iter().zip(parts).enumerate() {
            let motion = node.pointer(ON_NODE).and_then(|own| own.get("motion"));
            let extra = self
                .document
                .extra::<Body>(node, &format!("nodes[{index}]"))?;
            if motion.is_none() && extra.is_none() && parts.is_none() {
                continue;
            }
            let parts = parts.unwrap_or_default();
            let body = match motion {
                Some(motion) => self.moving((node, index), motion, parts, extra)?,
                None => self.fixed((node, index), parts, extra),
            };
            if let Some(slot) = self.bodies.get_mut(index) {
                slot.clone_from(&body.name);
            }
            self.scene.bodies.push(body);
        }
        Ok(())
    }

    /// Adds a collider or a trigger to its body.
    fn piece(
        &mut self,
        (given, index, kind): (&Value, usize, &str),
        holder: usize,
        slot: &mut Option<Parts>,
    ) -> Result<(), SceneError> {
        let place = format!("nodes[{index}].{kind}");
        let Some(at) = self.document.nodes.get(index).copied() else {
            return Ok(());
        };
        let is_sensor = kind == "trigger";
        let is_first = slot.is_none();
        if is_sensor && given.get("geometry").is_none()
            || slot
                .as_ref()
                .is_some_and(|parts| parts.is_sensor != is_sensor)
        {
            self.unsupported.push(format!(
                "{place}: it moves with a body or has several nodes"
            ));
            return Ok(());
        }
        let geometry = given.get("geometry").unwrap_or(given);
        let moves = self.moves(holder);
        let how = (place.as_str(), !moves, at.scale);
        let shape = shape::read(self.document, geometry, how, &mut self.unsupported)?;
        let chosen = |key: &str, list: &str| {
            let pointer = format!("{ON_NODE}/{list}");
            let found = given
                .get(key)
                .map(|k| self.document.element(&pointer, k, &place));
            Ok::<_, SceneError>(found.transpose()?.map(|(number, _)| number))
        };
        let material = chosen("physicsMaterial", "physicsMaterials")?;
        let material = material.and_then(|number| self.materials.list.get(number));
        let material = material.map(|material| material.name.clone());
        let filter = chosen("collisionFilter", "collisionFilters")?;
        let pose = self.document.seen_from(holder, index);
        if moves && matches!(shape, Shape::HalfSpace { .. }) {
            self.unsupported
                .push(format!("{place}: a plane that moves"));
            return Ok(());
        }
        let body = slot.get_or_insert_default();
        if is_first {
            (body.material, body.filter) = (material, filter);
            body.is_sensor = is_sensor;
        } else if (&body.material, body.filter) != (&material, filter) {
            let what = format!("{place}: its material and filter are those of the body's first");
            self.unsupported.push(what);
        }
        body.pieces.push(Piece { shape, pose });
        Ok(())
    }

    /// Whether the node has `motion`.
    fn moves(&self, index: usize) -> bool {
        let node = self.document.list("/nodes").get(index);
        let own = node.and_then(|node| node.pointer(ON_NODE));
        own.is_some_and(|own| own.get("motion").is_some())
    }

    /// A body that does not move. A plane turns with its node.
    fn fixed(
        &mut self,
        (node, index): (&Value, usize),
        mut parts: Parts,
        extra: Option<Body>,
    ) -> Body {
        let place = self.document.nodes.get(index);
        let mut pose = place.map_or(Pose3::default(), |place| place.pose);
        let name = self.free_name(node, index);
        if let [plane] = parts.pieces.as_mut_slice()
            && let Shape::HalfSpace { normal } = &mut plane.shape
        {
            let found = plane.pose.rotation * DVec3::Y;
            let own = <[f64; 3]>::try_from(normal.as_slice()).unwrap_or_default();
            let own = DVec3::from_array(own).normalize_or_zero();
            if extra.is_none() {
                *normal = rigid::list(pose.rotation * found);
                pose.rotation = Default::default();
            } else if !is_same(&own.to_array(), &found.to_array()) {
                *normal = rigid::list(found);
            }
            plane.pose = Pose3::default();
        }
        let has_shape = !parts.pieces.is_empty();
        let mut body = rigid::moving(&name, &pose, parts.pieces, None);
        body.kind = Kind::Fixed;
        body.sensor = parts.is_sensor;
        body.material = parts.material;
        self.classes.push(has_shape.then_some(parts.filter));
        add_unsaid(&mut body, extra);
        body
    }

    /// A body with `motion`.
    fn moving(
        &mut self,
        (node, index): (&Value, usize),
        motion: &Value,
        parts: Parts,
        extra: Option<Body>,
    ) -> Result<Body, SceneError> {
        let place = format!("nodes[{index}].motion");
        let at = self
            .document
            .nodes
            .get(index)
            .map_or(Pose3::default(), |place| place.pose);
        let name = self.free_name(node, index);
        let has_shape = !parts.pieces.is_empty();
        let mut body = rigid::moving(&name, &at, parts.pieces, None);
        let world =
            |v: Option<[f64; 3]>| v.map(|v| rigid::list(at.rotation * DVec3::from_array(v)));
        let velocity = world(self.document.row::<3>(motion, "linearVelocity")?);
        let spin = world(self.document.row::<3>(motion, "angularVelocity")?).map(Spin::Solid);
        if motion.get("isKinematic").and_then(Value::as_bool) == Some(true) {
            body.kind = Kind::Kinematic;
            body.script = Some(Script::Steady { velocity, spin });
        } else {
            (body.velocity, body.spin) = (velocity, spin);
            self.mass(&mut body, motion, &place)?;
        }
        if self.document.number(motion, "gravityFactor", 1.0)? != 1.0 {
            self.unsupported.push(format!("{place}: `gravityFactor`"));
        }
        body.material = parts.material;
        body.sensor = parts.is_sensor;
        self.classes.push(has_shape.then_some(parts.filter));
        add_unsaid(&mut body, extra);
        Ok(body)
    }

    /// What the file says of mass; the rest comes of the shape.
    fn mass(&mut self, body: &mut Body, motion: &Value, place: &str) -> Result<(), SceneError> {
        let mass = self.document.number(motion, "mass", -1.0)?;
        let diagonal = self.document.row::<3>(motion, "inertiaDiagonal")?;
        let center = self
            .document
            .row::<3>(motion, "centerOfMass")?
            .map(DVec3::from_array);
        if mass == 0.0 || diagonal.is_some_and(|row| row.contains(&0.0)) {
            self.unsupported.push(format!(
                "{place}: infinite mass or inertia: those of the shape"
            ));
        }
        let mass = (mass > 0.0).then_some(mass);
        let diagonal = diagonal.filter(|row| row.iter().all(|&moment| moment > 0.0));
        if let (Some(mass), None, None) = (mass, diagonal, center) {
            body.mass = Some(mass);
            return Ok(());
        }
        if mass.is_none() && diagonal.is_none() && center.is_none() {
            return Ok(());
        }
        let of_shape = body
            .shape
            .as_ref()
            .and_then(|shape| Lump::of_shape(shape, mass, 2600.0));
        let Some(mut lump) = of_shape else {
            return Err(self.document.wrong(place, "its shape has no volume"));
        };
        if let Some(diagonal) = diagonal {
            let turn = DMat3::from_quat(self.document.quaternion(motion, "inertiaOrientation")?);
            let moments = DMat3::from_diagonal(DVec3::from_array(diagonal));
            lump.inertia = turn * moments * turn.transpose();
        }
        lump.center = center.unwrap_or(lump.center);
        body.mass_properties = Some(lump.schema());
        Ok(())
    }
}

/// Whether two lists are the same but for rounding.
fn is_same(a: &[f64], b: &[f64]) -> bool {
    let size = a
        .iter()
        .chain(b)
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME * size)
}

/// Adds what glTF has no words for, and digits that it could not keep.
fn add_unsaid(body: &mut Body, extra: Option<Body>) {
    let Some(extra) = extra else {
        return;
    };
    let is_moved = body.kind == Kind::Rigid;
    if is_moved {
        if extra.kind == Kind::Particle {
            body.kind = Kind::Particle;
        }
        refine(&mut body.velocity, extra.velocity);
        if let (Some(Spin::Solid(own)), Some(Spin::Solid(more))) = (&mut body.spin, extra.spin)
            && is_same(own, &more)
        {
            *own = more;
        }
        refine_mass(body, extra.density, extra.mass_properties);
        body.locked_axes = extra.locked_axes;
        body.locked_spins = extra.locked_spins;
        body.pushes = extra.pushes;
    }
    if body.kind == Kind::Kinematic && is_same_script(body.script.as_ref(), extra.script.as_ref()) {
        body.script = extra.script;
    }
    body.linear_damping = extra.linear_damping;
    body.angular_damping = extra.angular_damping;
    body.surface_velocity = extra.surface_velocity;
    body.one_way = extra.one_way;
}

fn refine(own: &mut Option<Vec<f64>>, more: Option<Vec<f64>>) {
    if let (Some(own), Some(more)) = (own, more)
        && is_same(own, &more)
    {
        *own = more;
    }
}

/// A density or an inertia that makes the mass that glTF says.
fn refine_mass(body: &mut Body, density: Option<f64>, properties: Option<MassProperties>) {
    if let (Some(mass), Some(density), Some(shape)) = (body.mass, density, &body.shape) {
        let lump = Lump::of_shape(shape, None, density);
        if lump.is_some_and(|lump| is_same(&[lump.mass], &[mass])) {
            (body.mass, body.density) = (None, Some(density));
        }
    }
    let numbers = |given: &MassProperties| {
        let Inertia::Solid(inertia) = &given.inertia else {
            return None;
        };
        let mut inertia = inertia.clone();
        inertia.resize(6, 0.0);
        Some((inertia, given.center.clone().unwrap_or(vec![0.0; 3])))
    };
    if let (Some(own), Some(more)) = (&mut body.mass_properties, properties)
        && let (Some(a), Some(b)) = (numbers(own), numbers(&more))
        && is_same(&[own.mass], &[more.mass])
        && is_same(&a.0, &b.0)
        && is_same(&a.1, &b.1)
    {
        *own = more;
    }
}

/// Whether glTF says of a script what it can: that of an even motion its velocities.
fn is_same_script(own: Option<&Script>, extra: Option<&Script>) -> bool {
    let flat = |script: Option<&Script>| match script {
        Some(Script::Steady { velocity, spin }) => {
            let spin = match spin {
                Some(Spin::Solid(spin)) => spin.clone(),
                _ => vec![0.0; 3],
            };
            (velocity.clone().unwrap_or(vec![0.0; 3]), spin)
        }
        _ => (vec![0.0; 3], vec![0.0; 3]),
    };
    let (a, b) = (flat(own), flat(extra));
    extra.is_some() && is_same(&a.0, &b.0) && is_same(&a.1, &b.1)
}
