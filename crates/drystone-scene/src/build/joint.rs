//! Joints: from names and directions to frames.

use drystone::{
    Axis, BodyId, Drive, Freedom, Goal, Joint as EngineJoint, Linear, Pose, Strategy, World,
};

use super::check::{self, finite, vector};
use super::dimension::{Dimension, radians};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::read::nearest;
use crate::schema::{Joint, JointKind, Scene};

/// Adds all joints of a scene.
pub(super) fn add_all<S: Dimension>(scene: &Scene, world: &mut World<S>) -> Result<(), Flaw> {
    for (index, joint) in scene.joints.iter().enumerate() {
        let path = FieldPath::default().key("joints").index(index);
        if world.settings().strategy == Strategy::Velocity {
            let flaw = Flaw::new(path, "joints need the strategy \"substep\"");
            return Err(flaw.help("write `strategy = \"substep\"` at the top of the scene"));
        }
        add::<S>(joint, &path, world)?;
    }
    Ok(())
}

fn add<S: Dimension>(joint: &Joint, path: &FieldPath, world: &mut World<S>) -> Result<(), Flaw> {
    if let Some(name) = &joint.name {
        check::name(name, &path.key("name"))?;
    }
    refuse_idle_fields(joint, path)?;
    let row = bodies::<S>(joint, path, world)?;
    let is_chain = joint.chain.is_some();
    for (k, pair) in row.windows(2).enumerate() {
        let mut made = engine_joint::<S>(joint, path, world, [pair[0], pair[1]])?;
        made.collides = joint.collides;
        made.break_force = joint.break_force.unwrap_or(f64::INFINITY);
        made.break_torque = joint.break_torque.unwrap_or(f64::INFINITY);
        made.name = joint.name.as_ref().map(|name| match is_chain {
            true => format!("{name} {}", k + 1),
            false => name.clone(),
        });
        world
            .join(made)
            .map_err(|error| Flaw::new(path.clone(), error.to_string()))?;
    }
    Ok(())
}

/// The bodies that are tied one to the next.
fn bodies<S: Dimension>(
    joint: &Joint,
    path: &FieldPath,
    world: &World<S>,
) -> Result<Vec<BodyId>, Flaw> {
    let named = |name: &String, key: &'static str| {
        world.body(name).ok_or_else(|| {
            let flaw = Flaw::new(path.key(key), format!("there is no body `{name}`"));
            let all = world.bodies();
            match nearest(name, (0..all.len()).map(|k| all.name(k))) {
                Some(near) => flaw.help(format!("did you mean `{near}`?")),
                None => flaw,
            }
        })
    };
    let mut row = Vec::new();
    if let Some(a) = &joint.a {
        row.push(named(a, "a")?);
    }
    if let Some(chain) = &joint.chain {
        let links = (1..).map_while(|k| world.body(&format!("{chain} {k}")));
        let before = row.len();
        row.extend(links);
        if row.len() == before {
            let problem = format!("there is no repeated body `{chain}`");
            return Err(Flaw::new(path.key("chain"), problem));
        }
    }
    if let Some(b) = &joint.b {
        row.push(named(b, "b")?);
    }
    if row.len() < 2 {
        let flaw = Flaw::new(path.clone(), "a joint needs two bodies");
        return Err(flaw.help("name them by `a` and `b`, or a repeated body by `chain`"));
    }
    Ok(row)
}

fn engine_joint<S: Dimension>(
    joint: &Joint,
    path: &FieldPath,
    world: &World<S>,
    [a, b]: [BodyId; 2],
) -> Result<EngineJoint<S>, Flaw> {
    let place = |id: BodyId| world.pose(id).map(|pose| pose.position).unwrap_or_default();
    let (from, to) = (place(a), place(b));
    let length = match joint.length {
        Some(length) => check::positive(length, "m", path.key("length"))?,
        None => (to - from).length(),
    };
    let needed = |value: Option<f64>, key: &'static str| {
        value.ok_or_else(|| Flaw::new(path.clone(), format!("this joint needs `{key}`")))
    };
    let origin = S::Vector::default();
    let axis = axis(joint, path)?;
    Ok(match joint.kind {
        JointKind::Rod => EngineJoint::rod(a, b, length).between_points(origin, origin),
        JointKind::Rope => EngineJoint::rope(a, b, length).between_points(origin, origin),
        JointKind::Spring => {
            let stiffness = needed(joint.stiffness, "stiffness")?;
            let damping = joint.damping.unwrap_or(0.0);
            EngineJoint::spring(a, b, length, stiffness, damping).between_points(origin, origin)
        }
        _ => {
            let position = match &joint.at {
                Some(at) => vector::<S>(at, &path.key("at"))?,
                None => (from + to) * 0.5,
            };
            let rotation = match &joint.axis {
                Some(axis) => S::along(vector::<S>(axis, &path.key("axis"))?)
                    .ok_or_else(|| Flaw::new(path.key("axis"), "must have some length"))?,
                None if joint.kind == JointKind::Hinge => S::hinge_frame(),
                None => S::Rotation::default(),
            };
            let frame = Pose { position, rotation };
            let made = match joint.kind {
                JointKind::Fixed => EngineJoint::fixed(a, b),
                JointKind::Hinge => EngineJoint::hinge(a, b, axis),
                JointKind::Slider => EngineJoint::slider(a, b, axis),
                JointKind::Universal => EngineJoint::universal(a, b),
                JointKind::Gear => EngineJoint::gear(a, b, needed(joint.ratio, "ratio")?),
                _ => EngineJoint::ball(a, b),
            };
            made.placed(frame)
        }
    })
}

/// The free axis of a hinge or slider.
fn axis(joint: &Joint, path: &FieldPath) -> Result<Axis, Flaw> {
    let is_hinge = joint.kind == JointKind::Hinge;
    let measure = |value: f64, path: FieldPath| {
        finite(value, path).map(|value| if is_hinge { radians(value) } else { value })
    };
    let mut axis = Axis::FREE;
    if let Some([min, max]) = joint.limits {
        let path = path.key("limits");
        axis.freedom = Freedom::Limited {
            min: measure(min, path.index(0))?,
            max: measure(max, path.index(1))?,
        };
    }
    axis.drive = match (&joint.motor, &joint.servo) {
        (Some(motor), None) => Some(Drive {
            goal: Goal::Speed(motor.speed),
            max_force: motor.max_force.unwrap_or(f64::INFINITY),
        }),
        (None, Some(servo)) => Some(Drive {
            goal: Goal::Position {
                at: measure(servo.position, path.key("servo").key("position"))?,
                stiffness: servo.stiffness,
                damping: servo.damping,
            },
            max_force: servo.max_force.unwrap_or(f64::INFINITY),
        }),
        (Some(_), Some(_)) => {
            let problem = "a joint has either a `motor` or a `servo`, not both";
            return Err(Flaw::new(path.key("servo"), problem));
        }
        (None, None) => None,
    };
    Ok(axis)
}

/// Fields that have no effect on this kind of joint are mistakes.
fn refuse_idle_fields(joint: &Joint, path: &FieldPath) -> Result<(), Flaw> {
    use JointKind::{Gear, Hinge, Rod, Rope, Slider, Spring};
    let kind = joint.kind;
    let is_drawn = matches!(kind, Rod | Rope | Spring);
    let has_axis = matches!(kind, Hinge | Slider);
    let idle = [
        ("at", joint.at.is_some() && is_drawn),
        ("axis", joint.axis.is_some() && !(has_axis || kind == Gear)),
        ("limits", joint.limits.is_some() && !has_axis),
        ("motor", joint.motor.is_some() && !has_axis),
        ("servo", joint.servo.is_some() && !has_axis),
        ("length", joint.length.is_some() && !is_drawn),
        ("stiffness", joint.stiffness.is_some() && kind != Spring),
        ("damping", joint.damping.is_some() && kind != Spring),
        ("ratio", joint.ratio.is_some() && kind != Gear),
    ];
    match idle.into_iter().find(|(_, is_idle)| *is_idle) {
        Some((key, _)) => {
            let problem = "has no effect on a joint of this kind";
            Err(Flaw::new(path.key(key), problem).help("remove it, or change the `kind`"))
        }
        None => Ok(()),
    }
}
