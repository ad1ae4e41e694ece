//! Joints of robots: what they allow, how far, and what resists.

use drystone::glam::DVec3;
use roxmltree::Node;

use super::Reader;
use crate::error::SceneError;
use crate::import::rigid::{self, MOST_ANGLE, Pose3};
use crate::import::xml::child;
use crate::schema::{Joint, JointAxis, JointKind, Motor, Servo};

impl Reader<'_, '_> {
    /// The joint of a node at this pose; `None` for one that holds nothing.
    pub(super) fn joint(
        &mut self,
        node: Node<'_, '_>,
        [a, b]: [&String; 2],
        pose: &Pose3,
    ) -> Result<Option<Joint>, SceneError> {
        let name = self.xml.needed(node, "name")?;
        let axis = match child(node, "axis") {
            Some(axis) => self.xml.direction(axis, "xyz")?.unwrap_or(DVec3::X),
            None => DVec3::X,
        };
        let mut joint = Joint {
            name: Some(name.to_owned()),
            a: Some(a.clone()),
            b: Some(b.clone()),
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
            self.limits(node, kind, &mut joint)?;
            self.dynamics(node, &mut joint)?;
        }
        Ok(Some(joint))
    }

    fn limits(
        &mut self,
        node: Node<'_, '_>,
        kind: &str,
        joint: &mut Joint,
    ) -> Result<(), SceneError> {
        let name = node.attribute("name").unwrap_or_default();
        let Some(limit) = child(node, "limit") else {
            return match kind {
                "continuous" => Ok(()),
                _ => Err(self
                    .xml
                    .wrong(node, format!("joint `{name}` needs a `limit`"))),
            };
        };
        for key in ["effort", "velocity"] {
            if limit.has_attribute(key) {
                let what = format!("limit of {key} of joint `{name}`: nothing drives the joint");
                self.unsupported.push(what);
            }
        }
        if kind == "continuous" {
            return Ok(());
        }
        let lower = self.xml.number(limit, "lower")?.unwrap_or(0.0);
        let upper = self.xml.number(limit, "upper")?.unwrap_or(0.0);
        if lower > upper {
            return Err(self.xml.wrong(limit, "`lower` must not be above `upper`"));
        }
        let is_hinge = joint.kind == JointKind::Hinge;
        if is_hinge && lower.abs().max(upper.abs()) > MOST_ANGLE {
            let what = format!("limits of joint `{name}` beyond half a turn: it is free");
            self.unsupported.push(what);
            return Ok(());
        }
        let unit = if is_hinge {
            180.0 / std::f64::consts::PI
        } else {
            1.0
        };
        joint.limits = Some([lower * unit, upper * unit]);
        Ok(())
    }

    /// Damping resists speed, friction resists motion with a constant torque or force.
    fn dynamics(&mut self, node: Node<'_, '_>, joint: &mut Joint) -> Result<(), SceneError> {
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
