//! Joints of a body: one as it is, several at once along axes at right angles.

use drystone::glam::{DMat3, DQuat, DVec3};

use super::compiler::Compiler;
use super::element::Element;
use crate::error::SceneError;
use crate::import::rigid::{self, Angles, MOST_ANGLE, Pose3};
use crate::schema::{Joint, JointAxis, JointFrame, JointKind, Motor, Servo};

/// A body that joints tie: its name and pose in the world.
pub(super) struct End<'a> {
    pub(super) name: &'a str,
    pub(super) pose: Pose3,
}

/// One joint of a body, in the world.
pub(super) struct Dof {
    name: Option<String>,
    kind: DofKind,
    at: DVec3,
    axis: DVec3,
    rule: JointAxis,
    /// The angle that its limits count from, rad.
    origin: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DofKind {
    Hinge,
    Slide,
    Ball,
}

/// Reads a joint of a body at `pose`; `None` for a free one. What it has beyond is listed.
pub(super) fn read(
    element: &Element<'_, '_>,
    (pose, settings): (&Pose3, &Compiler),
    unsupported: &mut Vec<String>,
) -> Result<Option<Dof>, SceneError> {
    let name = element.node.attribute("name").map(str::to_owned);
    let kind = match element.text("type").unwrap_or("hinge") {
        "hinge" => DofKind::Hinge,
        "slide" => DofKind::Slide,
        "ball" => DofKind::Ball,
        "free" => return Ok(None),
        other => {
            let problem = format!("there is no type of joint `{other}`");
            return Err(element.xml.wrong(element.node, problem));
        }
    };
    let axis = element.vector("axis")?.unwrap_or(DVec3::Z);
    let Some(axis) = axis.try_normalize() else {
        let problem = "`axis` must have some length";
        return Err(element.xml.wrong(element.node, problem));
    };
    let mut rule = JointAxis {
        free: true,
        ..JointAxis::default()
    };
    let unit = match kind {
        DofKind::Hinge => settings.units.angle,
        _ => 1.0,
    };
    let start = element.number("ref")?.unwrap_or(0.0);
    let origin = limit(
        element,
        (kind, unit, start),
        settings,
        (&mut rule, unsupported),
    )?;
    resist(element, (kind, unit, start), &mut rule, unsupported)?;
    if let Some(servo) = &mut rule.servo {
        servo.position -= degrees(origin);
    }
    Ok(Some(Dof {
        name,
        kind,
        at: pose.point(element.vector("pos")?.unwrap_or_default()),
        axis: pose.rotation * axis,
        rule,
        origin,
    }))
}

/// Reads how far a joint goes. Gives the angle that its limits count from, rad.
fn limit(
    element: &Element<'_, '_>,
    (kind, unit, start): (DofKind, f64, f64),
    settings: &Compiler,
    (rule, unsupported): (&mut JointAxis, &mut Vec<String>),
) -> Result<f64, SceneError> {
    let shown = element.node.attribute("name").unwrap_or("without name");
    let is_limited = match element.text("limited") {
        Some("false") => false,
        Some("true") => true,
        _ => settings.limits_by_range,
    };
    let range = element.row::<2>("range")?;
    let Some([low, high]) = range.filter(|_| is_limited) else {
        return Ok(0.0);
    };
    let limits = [(low - start) * unit, (high - start) * unit];
    match kind {
        DofKind::Ball => unsupported.push(format!("range of the ball joint `{shown}`")),
        _ if low > high => {
            let problem = "`range` must not begin above its end";
            return Err(element.xml.wrong(element.node, problem));
        }
        DofKind::Slide => rule.limits = Some(limits),
        DofKind::Hinge => match rigid::angles(limits) {
            Angles::Free => {
                let what = format!("range of joint `{shown}` beyond half a turn: it is free");
                unsupported.push(what);
            }
            Angles::Limited {
                limits,
                middle,
                is_narrowed,
            } => {
                rule.limits = Some(limits.map(degrees));
                if is_narrowed {
                    let what = "of more than a turn: its far end is nearer";
                    unsupported.push(format!("range of joint `{shown}` {what}"));
                }
                return Ok(middle);
            }
        },
    }
    Ok(0.0)
}

fn degrees(radians: f64) -> f64 {
    radians * (180.0 / std::f64::consts::PI)
}

/// Springs, damping and friction of a joint.
fn resist(
    element: &Element<'_, '_>,
    (kind, unit, start): (DofKind, f64, f64),
    rule: &mut JointAxis,
    unsupported: &mut Vec<String>,
) -> Result<(), SceneError> {
    let stiffness = element.number("stiffness")?.unwrap_or(0.0);
    let damping = element.number("damping")?.unwrap_or(0.0);
    let friction = element.number("frictionloss")?.unwrap_or(0.0);
    if stiffness < 0.0 || damping < 0.0 || friction < 0.0 {
        let problem = "stiffness, damping and frictionloss must be 0 or more";
        return Err(element.xml.wrong(element.node, problem));
    }
    let shown = element.node.attribute("name").unwrap_or("without name");
    let has_spring = stiffness > 0.0 || damping > 0.0;
    if kind == DofKind::Ball && (has_spring || friction > 0.0) {
        unsupported.push(format!(
            "spring, damping and friction of the ball joint `{shown}`"
        ));
        return Ok(());
    }
    if has_spring {
        let rest = (element.number("springref")?.unwrap_or(0.0) - start) * unit;
        rule.servo = Some(Servo {
            position: if kind == DofKind::Hinge {
                degrees(rest)
            } else {
                rest
            },
            stiffness,
            damping,
            max_force: None,
        });
        if friction > 0.0 {
            unsupported.push(format!(
                "frictionloss of joint `{shown}`, which has damping too"
            ));
        }
    } else if friction > 0.0 {
        rule.motor = Some(Motor {
            speed: 0.0,
            max_force: Some(friction),
        });
    }
    Ok(())
}

/// One joint for all of a body's; what does not fit is listed and stays locked.
pub(super) fn joined(
    mut dofs: Vec<Dof>,
    ends: [&End<'_>; 2],
    unsupported: &mut Vec<String>,
) -> Option<Joint> {
    let [a, b] = ends;
    let mut joint = Joint {
        name: dofs.first()?.name.clone(),
        a: Some(a.name.to_owned()),
        b: Some(b.name.to_owned()),
        ..Joint::default()
    };
    if dofs.len() > 1 {
        several(dofs, ends, &mut joint, unsupported);
        return Some(joint);
    }
    let dof = dofs.pop()?;
    joint.at = Some(rigid::list(dof.at));
    joint.kind = match dof.kind {
        DofKind::Hinge => JointKind::Hinge,
        DofKind::Slide => JointKind::Slider,
        DofKind::Ball => JointKind::Ball,
    };
    if dof.kind != DofKind::Ball {
        joint.axis = Some(rigid::list(dof.axis));
        (joint.limits, joint.motor) = (dof.rule.limits, dof.rule.motor);
        joint.servo = dof.rule.servo;
    }
    if dof.origin != 0.0 {
        let frames = rigid::turned_frames(ends.map(|end| end.pose), (dof.at, dof.axis), dof.origin);
        (joint.at, joint.axis, joint.frames) = (None, None, Some(frames));
    }
    Some(joint)
}

/// Slides and hinges along axes at right angles, hinges through one point.
fn several(
    dofs: Vec<Dof>,
    [a, b]: [&End<'_>; 2],
    joint: &mut Joint,
    unsupported: &mut Vec<String>,
) {
    let at = |dof: &&Dof| dof.kind != DofKind::Slide;
    let origin = dofs.iter().find(at).map_or(b.pose.position, |dof| dof.at);
    let mut axes: Vec<DVec3> = Vec::new();
    let mut rules = [[JointAxis::default(); 3]; 2];
    for dof in dofs {
        let place = axes
            .iter()
            .position(|axis| axis.dot(dof.axis).abs() > 1.0 - 1e-9);
        let is_square = axes.iter().all(|axis| axis.dot(dof.axis).abs() < 1e-9);
        let is_apart = dof.kind == DofKind::Hinge && (dof.at - origin).length() > 1e-9;
        let dof = dof.unturned(unsupported);
        let place = place.or_else(|| {
            let is_new = is_square && dof.kind != DofKind::Ball;
            is_new.then(|| axes.push(dof.axis)).map(|()| axes.len() - 1)
        });
        let row = rules.get_mut(usize::from(dof.kind == DofKind::Hinge));
        let slot = row.zip(place).and_then(|(row, place)| row.get_mut(place));
        let against = place.and_then(|place| axes.get(place));
        match (slot, against) {
            (Some(slot), Some(axis)) if !slot.free && !is_apart && dof.kind != DofKind::Ball => {
                let is_reversed = axis.dot(dof.axis) < 0.0;
                *slot = if is_reversed {
                    reversed(dof.rule)
                } else {
                    dof.rule
                };
            }
            _ => {
                let name = dof.name.as_deref().unwrap_or("without name");
                unsupported.push(format!(
                    "joint `{name}`: several joints of a body must be at right angles, hinges \
                     through one point; it is locked"
                ));
            }
        }
    }
    let frame = Pose3 {
        position: origin,
        rotation: right_handed(&axes, &mut rules),
    };
    let [linear, angular] = rules;
    let on = |end: &End<'_>| {
        let local = rigid::then(&rigid::inverse(&end.pose), &frame);
        JointFrame {
            position: rigid::position(local.position),
            rotation: rigid::rotation(local.rotation),
        }
    };
    joint.kind = JointKind::Axes;
    joint.frames = Some([on(a), on(b)]);
    (joint.linear, joint.angular) = (Some(linear), Some(angular));
}

impl Dof {
    /// With another name.
    pub(super) fn renamed(mut self, renamed: impl Fn(&str) -> String) -> Self {
        self.name = self.name.as_deref().map(renamed);
        self
    }

    /// With limits that count from the start: one of several hinges has no frame of its own.
    fn unturned(mut self, unsupported: &mut Vec<String>) -> Self {
        if self.origin == 0.0 {
            return self;
        }
        let origin = degrees(std::mem::take(&mut self.origin));
        if let Some(servo) = &mut self.rule.servo {
            servo.position += origin;
        }
        let most = degrees(MOST_ANGLE);
        if let Some([low, high]) = self.rule.limits {
            let limits = [low + origin, high + origin];
            self.rule.limits = Some(limits.map(|angle| angle.clamp(-most, most)));
            let name = self.name.as_deref().unwrap_or("without name");
            unsupported.push(format!(
                "range of joint `{name}` beyond half a turn: it ends there, as one of several"
            ));
        }
        self
    }
}

/// The same coordinate, counted the other way.
fn reversed(mut rule: JointAxis) -> JointAxis {
    rule.limits = rule.limits.map(|[low, high]| [-high, -low]);
    if let Some(servo) = &mut rule.servo {
        servo.position = -servo.position;
    }
    rule
}

/// The rotation whose axes these are, of which there are one to three; the rules follow.
fn right_handed(axes: &[DVec3], rules: &mut [[JointAxis; 3]; 2]) -> DQuat {
    let (x, y) = match *axes {
        [x, y, z] if x.cross(y).dot(z) < 0.0 => {
            for row in rules {
                row.swap(0, 1);
            }
            (y, x)
        }
        [x, y, ..] => (x, y),
        [x] => (x, x.any_orthonormal_vector()),
        [] => (DVec3::X, DVec3::Y),
    };
    DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize()
}
