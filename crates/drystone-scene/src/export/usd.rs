//! What a USD stage says of bodies beyond how they look and move.

use drystone_frame::export::usd::{Physics, Tie, TieKind};

use crate::build::orientation;
use crate::error::SceneError;
use crate::schema::{Joint, JointFrame, JointKind, Scene};

/// Masses, surfaces and joints of a scene's bodies, in the order of its stage. Universal joints,
/// springs, gears and joints of kind "axes" are left out; of flat scenes all is, since a mass by
/// area is none in space.
///
/// # Errors
///
/// For a scene that can't be built.
pub fn physics(scene: &Scene) -> Result<Physics, SceneError> {
    if scene.dimension != 3 {
        return Ok(Physics::default());
    }
    let (plain, world) = scene.expanded()?;
    let bodies = world.bodies();
    let mass = |k: usize| bodies.is_dynamic(k).then(|| bodies.mass(k));
    let surface = |name: &Option<String>| {
        let mut materials = plain.materials.iter();
        let own = materials.find(|material| Some(&material.name) == name.as_ref())?;
        Some([own.friction?, own.restitution?])
    };
    Ok(Physics {
        masses: (0..plain.bodies.len()).map(mass).collect(),
        surfaces: plain.bodies.iter().map(|b| surface(&b.material)).collect(),
        ties: plain.joints.iter().filter_map(|j| tie(&plain, j)).collect(),
    })
}

fn tie(plain: &Scene, joint: &Joint) -> Option<Tie> {
    let kind = match joint.kind {
        JointKind::Fixed => TieKind::Fixed,
        JointKind::Ball => TieKind::Ball,
        JointKind::Hinge => TieKind::Hinge(joint.limits),
        JointKind::Slider => TieKind::Slider(joint.limits),
        JointKind::Rod => TieKind::Distance([joint.length?; 2]),
        JointKind::Rope => TieKind::Distance([0.0, joint.length?]),
        JointKind::Universal | JointKind::Spring | JointKind::Gear | JointKind::Axes => {
            return None;
        }
    };
    let place = |name: &Option<String>| plain.bodies.iter().position(|body| body.name == *name);
    let [on_a, on_b] = joint.frames.as_ref()?;
    Some(Tie {
        name: joint.name.clone().unwrap_or_default(),
        objects: [place(&joint.a)?, place(&joint.b)?],
        frames: [pose(on_a), pose(on_b)],
        kind,
    })
}

fn pose(frame: &JointFrame) -> ([f64; 3], [f64; 4]) {
    let position = frame.position.as_deref().unwrap_or_default();
    let rotation = frame.rotation.as_ref().and_then(orientation);
    (
        position.try_into().unwrap_or_default(),
        rotation.unwrap_or_default().to_array(),
    )
}
