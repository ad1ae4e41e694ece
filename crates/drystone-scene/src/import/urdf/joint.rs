//! Joints of robots: what they allow, how far, and what resists.

use drystone::glam::DVec3;

use super::Reader;
use crate::error::SceneError;
use crate::import::rigid::{self, Angles, Pose3};
use crate::import::tree::Node;
use crate::import::xml::child;
use crate::schema::{Joint, JointAxis, JointKind, Motor, Servo};

impl Reader<'_, '_> {
    /// The joint of a node at this pose; `None` for one that holds nothing.
    pub(super) fn joint(
        &mut self,
        node: Node<'_>,
        [a, b]: [&(String, Pose3); 2],
        pose: &Pose3,
    ) -> Result<Option<Joint>, SceneError> {
        let name = self.xml.needed(node, "name")?;
        let axis = match child(node, "axis") {
            Some(axis) => self.xml.direction(axis, "xyz")?.unwrap_or(DVec3::X),
            None => DVec3::X,
        };
        let mut joint = Joint {
            name: Some(name.to_owned()),
            a: Some(a.0.clone()),
            b: Some(b.0.clone()),
            at: Some(rigid::list(pose.position)),
            ..Joint::default()
        };
        let direction = Some(rigid::list(pose.rotation * axis));
        let kind = self.xml.needed(node, "type")?;
        match kind {
            "revolute" | "continuous" => (joint.kind, joint.axis) = (JointKind::Hinge, direction),
            "prismatic" => (joint.kind, joint.axis) = (JointKind::Slider, direction),
            "planar" => {
                let free = JointAxis {
                    free: true,
                    ..JointAxis::default()
                };
                let locked = JointAxis::default();
                joint.kind = JointKind::Axes;
                joint.axis = direction;
                joint.linear = Some([locked, free, free]);
                joint.angular = Some([free, locked, locked]);
            }
            "floating" => return Ok(None),
            other => {
                let problem = format!("there is no type of joint `{other}`");
                return Err(self.xml.wrong(node, problem));
            }
        }
        if matches!(joint.kind, JointKind::Hinge | JointKind::Slider) {
            let middle = self.limits(node, kind, &mut joint)?;
            self.dynamics(node, &mut joint)?;
            if middle != 0.0 {
                let hinge = (pose.position, pose.rotation * axis);
                joint.frames = Some(rigid::turned_frames([a.1, b.1], hinge, middle));
                (joint.at, joint.axis) = (None, None);
                if let Some(servo) = &mut joint.servo {
                    servo.position -= middle * (180.0 / std::f64::consts::PI);
                }
            }
        }
        Ok(Some(joint))
    }

    /// Gives the angle that limits count from, rad.
    fn limits(&mut self, node: Node<'_>, kind: &str, joint: &mut Joint) -> Result<f64, SceneError> {
        let name = node.attribute("name").unwrap_or_default();
        let Some(limit) = child(node, "limit") else {
            return match kind {
                "continuous" => Ok(0.0),
                _ => Err(self
                    .xml
                    .wrong(node, format!("joint `{name}` needs a `limit`"))),
            };
        };
        for key in ["effort", "velocity"] {
            if limit.attribute(key).is_some() {
                let what = format!("limit of {key} of joint `{name}`: nothing drives the joint");
                self.unsupported.push(what);
            }
        }
        if kind == "continuous" {
            return Ok(0.0);
        }
        let lower = self.xml.number(limit, "lower")?.unwrap_or(0.0);
        let upper = self.xml.number(limit, "upper")?.unwrap_or(0.0);
        if lower > upper {
            return Err(self.xml.wrong(limit, "`lower` must not be above `upper`"));
        }
        if joint.kind != JointKind::Hinge {
            joint.limits = Some([lower, upper]);
            return Ok(0.0);
        }
        match rigid::angles([lower, upper]) {
            Angles::Free => {
                let what = format!("limits of joint `{name}` beyond half a turn: it is free");
                self.unsupported.push(what);
                Ok(0.0)
            }
            Angles::Limited {
                limits,
                middle,
                is_narrowed,
            } => {
                joint.limits = Some(limits.map(|angle| angle * (180.0 / std::f64::consts::PI)));
                if is_narrowed {
                    let what =
                        format!("limits of joint `{name}` of more than a turn: one is nearer");
                    self.unsupported.push(what);
                }
                Ok(middle)
            }
        }
    }

    /// Damping resists speed, friction resists motion with a constant torque or force.
    fn dynamics(&mut self, node: Node<'_>, joint: &mut Joint) -> Result<(), SceneError> {
        let Some(dynamics) = child(node, "dynamics") else {
            return Ok(());
        };
        let damping = self.xml.number(dynamics, "damping")?.unwrap_or(0.0);
        let friction = self.xml.number(dynamics, "friction")?.unwrap_or(0.0);
        if damping < 0.0 || friction < 0.0 {
            return Err(self
                .xml
                .wrong(dynamics, "damping and friction must be 0 or more"));
        }
        if damping > 0.0 {
            joint.servo = Some(Servo {
                position: 0.0,
                stiffness: 0.0,
                damping,
                max_force: None,
            });
        } else if friction > 0.0 {
            joint.motor = Some(Motor {
                speed: 0.0,
                max_force: Some(friction),
            });
        }
        if damping > 0.0 && friction > 0.0 {
            let name = node.attribute("name").unwrap_or_default();
            let what = format!("friction of joint `{name}`, because it has damping too");
            self.unsupported.push(what);
        }
        Ok(())
    }
}
