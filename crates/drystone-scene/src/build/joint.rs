//! Joints: from names and directions to frames.

use drystone::model::joint::Anchor;
use drystone::{
    Algebra, Axis, BodyId, D3, Drive, Freedom, Goal, Joint as EngineJoint, JointId,
    JointKind as EngineKind, Linear, Pose, World,
};

use super::check::{self, finite, vector, vector_or_zero};
use super::dimension::{Dimension, radians};
use super::expand::turned;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::read::nearest;
use crate::schema::{Joint, JointAxis, JointFrame, JointKind, Scene};

/// Adds all joints of a scene.
pub(super) fn add_all<S: Dimension>(scene: &Scene, world: &mut World<S>) -> Result<(), Flaw> {
    for (index, joint) in scene.joints.iter().enumerate() {
        let path = FieldPath::default().key("joints").index(index);
        add::<S>(joint, &path, world)?;
    }
    Ok(())
}

/// Adds a scene's entry at `path`: one joint, or those of a chain.
pub(super) fn add<S: Dimension>(
    joint: &Joint,
    path: &FieldPath,
    world: &mut World<S>,
) -> Result<Vec<JointId>, Flaw> {
    if let Some(name) = &joint.name {
        check::name(name, &path.key("name"))?;
    }
    refuse_idle_fields(joint, path)?;
    let row = bodies::<S>(joint, path, world)?;
    let is_chain = joint.chain.is_some();
    let mut added = Vec::new();
    for (k, pair) in row.windows(2).enumerate() {
        let mut made = engine_joint::<S>(joint, path, world, [pair[0], pair[1]])?;
        made.collides = joint.collides;
        made.break_force = joint.break_force.unwrap_or(f64::INFINITY);
        made.break_torque = joint.break_torque.unwrap_or(f64::INFINITY);
        made.name = joint.name.as_ref().map(|name| match is_chain {
            true => format!("{name} {}", k + 1),
            false => name.clone(),
        });
        let joined = world.join(made);
        added.push(joined.map_err(|error| Flaw::new(path.clone(), error.to_string()))?);
    }
    Ok(added)
}

/// The joint, or each of a chain, with its bodies by name and its frames. `first` is its number.
pub(super) fn expanded(
    joint: &Joint,
    path: &FieldPath,
    world: &World<D3>,
    first: usize,
) -> Result<Vec<Joint>, Flaw> {
    let row = bodies::<D3>(joint, path, world)?;
    let name_of = |id: BodyId| world.bodies().name(id.index()).to_owned();
    let pose_of = |id: BodyId| world.pose(id).unwrap_or_default();
    let single = |(k, pair): (usize, &[BodyId])| {
        let (a, b) = (pair[0], pair[1]);
        let made = engine_joint::<D3>(joint, path, world, [a, b])?;
        let [on_a, on_b] = match made.anchor {
            Anchor::World(pose) => [a, b].map(|id| seen_from(&pose_of(id), &pose)),
            Anchor::Frames(on_a, on_b) => [on_a, on_b],
        };
        let (is_drawn, _) = uses(joint.kind);
        let length = || (pose_of(b).position - pose_of(a).position).length();
        let name = match (&joint.name, joint.chain.is_some()) {
            (Some(name), true) => format!("{name} {}", k + 1),
            (Some(name), false) => name.clone(),
            (None, _) => format!("joint {}", first + k),
        };
        Ok(Joint {
            name: Some(name),
            a: Some(name_of(a)),
            b: Some(name_of(b)),
            chain: None,
            at: None,
            axis: None,
            frames: Some([on_a, on_b].map(|pose| JointFrame {
                position: Some(pose.position.to_array().to_vec()),
                rotation: turned(pose.rotation),
            })),
            length: is_drawn.then(|| joint.length.unwrap_or_else(length)),
            ..joint.clone()
        })
    };
    row.windows(2).enumerate().map(single).collect()
}

/// A pose in the axes of another.
fn seen_from(from: &Pose<D3>, pose: &Pose<D3>) -> Pose<D3> {
    Pose {
        position: D3::unrotate(from.rotation, pose.position - from.position),
        rotation: D3::normalize(from.rotation.conjugate() * pose.rotation),
    }
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
    let frames = frames::<S>(joint, path)?;
    let [on_a, on_b] = frames.unwrap_or_default();
    let drawn = |made: EngineJoint<S>| made.between_points(on_a.position, on_b.position);
    let axis = axis(joint, path)?;
    let made = match joint.kind {
        JointKind::Rod => return Ok(drawn(EngineJoint::rod(a, b, length))),
        JointKind::Rope => return Ok(drawn(EngineJoint::rope(a, b, length))),
        JointKind::Spring => {
            let stiffness = needed(joint.stiffness, "stiffness")?;
            let damping = joint.damping.unwrap_or(0.0);
            return Ok(drawn(EngineJoint::spring(a, b, length, stiffness, damping)));
        }
        JointKind::Fixed => EngineJoint::fixed(a, b),
        JointKind::Hinge => EngineJoint::hinge(a, b, axis),
        JointKind::Slider => EngineJoint::slider(a, b, axis),
        JointKind::Universal => EngineJoint::universal(a, b),
        JointKind::Gear => EngineJoint::gear(a, b, needed(joint.ratio, "ratio")?),
        JointKind::Axes => EngineJoint::new(a, b, coordinates(joint, path)?),
        JointKind::Ball => EngineJoint::ball(a, b),
    };
    if frames.is_some() {
        return Ok(made.between(on_a, on_b));
    }
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
    Ok(made.placed(Pose { position, rotation }))
}

/// The frames on the two bodies, where they are given.
fn frames<S: Dimension>(joint: &Joint, path: &FieldPath) -> Result<Option<[Pose<S>; 2]>, Flaw> {
    let Some(given) = &joint.frames else {
        return Ok(None);
    };
    let path = path.key("frames");
    for (key, is_given) in [("at", joint.at.is_some()), ("axis", joint.axis.is_some())] {
        if is_given {
            let problem = format!("a joint has either `frames` or `{key}`, not both");
            return Err(Flaw::new(path, problem));
        }
    }
    let frame = |index: usize, frame: &JointFrame| {
        let path = path.index(index);
        Ok(Pose {
            position: vector_or_zero::<S>(frame.position.as_ref(), &path.key("position"))?,
            rotation: match &frame.rotation {
                Some(rotation) => S::rotation(rotation, &path.key("rotation"))?,
                None => S::Rotation::default(),
            },
        })
    };
    let [on_a, on_b] = given;
    Ok(Some([frame(0, on_a)?, frame(1, on_b)?]))
}

/// The coordinates of a joint of kind "axes".
fn coordinates(joint: &Joint, path: &FieldPath) -> Result<EngineKind, Flaw> {
    let three = |axes: Option<[JointAxis; 3]>, key: &'static str| {
        let mut made = [Axis::LOCKED; 3];
        for (index, (made, axis)) in made.iter_mut().zip(axes.unwrap_or_default()).enumerate() {
            *made = coordinate(&axis, key == "angular", &path.key(key).index(index))?;
        }
        Ok(made)
    };
    Ok(EngineKind::Axes {
        linear: three(joint.linear, "linear")?,
        angular: three(joint.angular, "angular")?,
    })
}

/// The free axis of a hinge or slider.
fn axis(joint: &Joint, path: &FieldPath) -> Result<Axis, Flaw> {
    let axis = JointAxis {
        free: true,
        limits: joint.limits,
        motor: joint.motor,
        servo: joint.servo,
    };
    coordinate(&axis, joint.kind == JointKind::Hinge, path)
}

/// One coordinate, an angle or a distance.
fn coordinate(joint: &JointAxis, is_angle: bool, path: &FieldPath) -> Result<Axis, Flaw> {
    let measure = |value: f64, path: FieldPath| {
        finite(value, path).map(|value| if is_angle { radians(value) } else { value })
    };
    let mut axis = if joint.free { Axis::FREE } else { Axis::LOCKED };
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

/// Whether a joint holds a distance between two points, and whether it has one axis.
fn uses(kind: JointKind) -> (bool, bool) {
    use JointKind::{Hinge, Rod, Rope, Slider, Spring};
    (
        matches!(kind, Rod | Rope | Spring),
        matches!(kind, Hinge | Slider),
    )
}

/// Fields that have no effect on this kind of joint are mistakes.
fn refuse_idle_fields(joint: &Joint, path: &FieldPath) -> Result<(), Flaw> {
    use JointKind::{Axes, Gear, Spring};
    let kind = joint.kind;
    let (is_drawn, has_axis) = uses(kind);
    let idle = [
        ("at", joint.at.is_some() && is_drawn),
        (
            "axis",
            joint.axis.is_some() && !(has_axis || matches!(kind, Gear | Axes)),
        ),
        ("linear", joint.linear.is_some() && kind != Axes),
        ("angular", joint.angular.is_some() && kind != Axes),
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
