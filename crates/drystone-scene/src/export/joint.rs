//! Joints: limits and drives along and about the axes of the first frame.

use serde_json::{Value, json};

use super::{PHYSICS, Writer};
use crate::build::orientation;
use crate::schema::{Joint, JointAxis, JointFrame, JointKind};

/// Damping of motors, N·s/m or N·m·s/rad: theirs keep their speed whatever it takes, and in glTF
/// nothing but damping strives for a speed.
const MOTOR_DAMPING: f64 = 1e6;

const ALL: [usize; 3] = [0, 1, 2];

impl Writer<'_> {
    /// Adds a joint with a node on either body.
    pub(super) fn joint(&mut self, joint: &Joint) {
        let bodies = &self.plain.bodies;
        let place = |name: &Option<String>| bodies.iter().position(|body| body.name == *name);
        let (Some(a), Some(b)) = (place(&joint.a), place(&joint.b)) else {
            return;
        };
        let [on_a, on_b] = joint.frames.clone().unwrap_or_default();
        let name = joint.name.clone().unwrap_or_default();
        let own = Joint {
            name: None,
            a: None,
            b: None,
            frames: None,
            collides: false,
            ..joint.clone()
        };
        let mut said = said(&own);
        said["extras"] = json!({ "drystone": own });
        let known = self.joints.iter().position(|known| *known == said);
        let kind = known.unwrap_or_else(|| {
            self.joints.push(said);
            self.joints.len() - 1
        });
        let end = self.child(self.node_of(b), node(&format!("{name} end"), &on_b));
        let mut start = node(&name, &on_a);
        let mut held = json!({ "connectedNode": end, "joint": kind });
        if joint.collides {
            held["enableCollision"] = true.into();
        }
        start["extensions"] = json!({ PHYSICS: { "joint": held } });
        self.child(self.node_of(a), start);
    }
}

fn node(name: &str, frame: &JointFrame) -> Value {
    let mut node = json!({ "name": name });
    if let Some(position) = &frame.position {
        node["translation"] = position.clone().into();
    }
    if let Some(rotation) = frame.rotation.as_ref().and_then(orientation) {
        node["rotation"] = rotation.to_array().to_vec().into();
    }
    node
}

/// What a joint allows, as glTF has it. A gear is not said: glTF has none.
pub(crate) fn said(joint: &Joint) -> Value {
    let mut limits = Vec::new();
    let mut drives = Vec::new();
    if let Some(axes) = axes(joint) {
        for (row, is_angle) in axes.iter().zip([false, true]) {
            limits.extend(limits_of(row, is_angle));
            let driven = row.iter().enumerate();
            drives.extend(driven.filter_map(|(k, axis)| drive(k, axis, is_angle)));
        }
    }
    let length = joint.length.unwrap_or(0.0);
    let least = if joint.kind == JointKind::Rope {
        0.0
    } else {
        length
    };
    if matches!(
        joint.kind,
        JointKind::Rod | JointKind::Rope | JointKind::Spring
    ) {
        let mut limit = json!({ "linearAxes": ALL, "min": least, "max": length });
        if joint.kind == JointKind::Spring {
            limit["stiffness"] = joint.stiffness.unwrap_or(0.0).into();
            limit["damping"] = joint.damping.unwrap_or(0.0).into();
        }
        limits.push(limit);
    }
    let mut said = json!({});
    for (key, list) in [("limits", limits), ("drives", drives)] {
        if !list.is_empty() {
            said[key] = list.into();
        }
    }
    said
}

/// The six coordinates of joints that have them.
fn axes(joint: &Joint) -> Option<[[JointAxis; 3]; 2]> {
    let locked = JointAxis::default();
    let free = JointAxis {
        free: true,
        ..locked
    };
    let own = JointAxis {
        free: true,
        limits: joint.limits,
        motor: joint.motor,
        servo: joint.servo,
    };
    Some(match joint.kind {
        JointKind::Fixed => [[locked; 3]; 2],
        JointKind::Ball => [[locked; 3], [free; 3]],
        JointKind::Hinge => [[locked; 3], [own, locked, locked]],
        JointKind::Slider => [[own, locked, locked], [locked; 3]],
        JointKind::Universal => [[locked; 3], [free, free, locked]],
        JointKind::Axes => [
            joint.linear.unwrap_or_default(),
            joint.angular.unwrap_or_default(),
        ],
        JointKind::Rod | JointKind::Rope | JointKind::Spring | JointKind::Gear => return None,
    })
}

/// Scenes have angles in degrees, glTF in rad.
fn measure(value: f64, is_angle: bool) -> f64 {
    if is_angle {
        value * (std::f64::consts::PI / 180.0)
    } else {
        value
    }
}

/// Locked coordinates together, then each that has limits.
fn limits_of(row: &[JointAxis; 3], is_angle: bool) -> Vec<Value> {
    let key = if is_angle {
        "angularAxes"
    } else {
        "linearAxes"
    };
    let is_locked = |k: &usize| !row[*k].free && row[*k].limits.is_none();
    let locked: Vec<usize> = ALL.into_iter().filter(is_locked).collect();
    let mut limits = Vec::new();
    if !locked.is_empty() {
        limits.push(json!({ key: locked, "min": 0.0, "max": 0.0 }));
    }
    for (k, axis) in row.iter().enumerate() {
        if let Some([min, max]) = axis.limits.map(|l| l.map(|x| measure(x, is_angle))) {
            limits.push(json!({ key: [k], "min": min, "max": max }));
        }
    }
    limits
}

fn drive(axis: usize, given: &JointAxis, is_angle: bool) -> Option<Value> {
    let kind = if is_angle { "angular" } else { "linear" };
    let mut drive = json!({ "type": kind, "mode": "force", "axis": axis });
    let max_force = match (given.motor, given.servo) {
        (Some(motor), _) => {
            drive["velocityTarget"] = motor.speed.into();
            drive["damping"] = MOTOR_DAMPING.into();
            motor.max_force
        }
        (None, Some(servo)) => {
            drive["positionTarget"] = measure(servo.position, is_angle).into();
            drive["stiffness"] = servo.stiffness.into();
            drive["damping"] = servo.damping.into();
            servo.max_force
        }
        (None, None) => return None,
    };
    if let Some(max_force) = max_force {
        drive["maxForce"] = max_force.into();
    }
    Some(drive)
}
