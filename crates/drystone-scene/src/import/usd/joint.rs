//! Joints: two frames, and what is allowed between them.
//!
//! `physics:body0` is our A, `physics:body1` our B. The axis of a joint is x, y or z of its frames;
//! ours is x, so frames are turned about themselves. Angles are degrees in both; a drive's stiffness
//! is by degree in USD and by radian here.

use drystone::glam::{DMat4, DQuat};

use super::scene::{Maker, WORLD};
use super::transform::Placement;
use crate::error::SceneError;
use crate::import::rigid::{self, MOST_ANGLE, Pose3};
use crate::schema::{Joint, JointAxis, JointFrame, JointKind, Motor, Servo};

const DEGREES: f64 = 180.0 / std::f64::consts::PI;
/// Coordinates of a joint as USD names them.
const LINEAR: [&str; 3] = ["transX", "transY", "transZ"];
const ANGULAR: [&str; 3] = ["rotX", "rotY", "rotZ"];

/// A limit: from and to, each possibly infinite.
type Range = [f64; 2];

impl Maker<'_> {
    /// All joints, in the order of the stage.
    pub(super) fn joints(&mut self) -> Result<(), SceneError> {
        let mut needs_world = false;
        let mut names = std::collections::BTreeSet::new();
        for (prim, own) in self.stage.prims.iter().enumerate() {
            let is_joint = own.type_name.starts_with("Physics") && own.type_name.ends_with("Joint");
            if !is_joint || !self.stage.flag(prim, "physics:jointEnabled", true)? {
                continue;
            }
            let (Some(a), Some(b)) = (self.end(prim, 0)?, self.end(prim, 1)?) else {
                continue;
            };
            if a.0 == b.0 {
                self.list(prim, "a joint whose ends are on one body");
                continue;
            }
            let Some(made) = self.joint(prim, &own.type_name)? else {
                continue;
            };
            needs_world |= a.0 == WORLD || b.0 == WORLD;
            let shown = own.display_name.as_ref().unwrap_or(&own.name);
            let mut name = crate::import::files::shortened(shown);
            if !names.insert(name.clone()) {
                name = self.stage.path(prim);
                names.insert(name.clone());
            }
            let unit = self.kilogram * self.meter;
            let joint = Joint {
                name: Some(name),
                a: Some(a.0),
                b: Some(b.0),
                frames: Some([a.1, b.1]),
                collides: self.stage.flag(prim, "physics:collisionEnabled", false)?,
                break_force: self.bound(prim, "physics:breakForce", unit)?,
                break_torque: self.bound(prim, "physics:breakTorque", unit * self.meter)?,
                ..made
            };
            self.scene.joints.push(joint);
        }
        if needs_world {
            rigid::add_fixed(&mut self.scene, WORLD, &Pose3::default(), Vec::new());
            self.classes.push(None);
        }
        Ok(())
    }

    /// A largest force or torque; `None` if it is infinite.
    fn bound(&self, prim: usize, name: &str, unit: f64) -> Result<Option<f64>, SceneError> {
        let most = self.stage.number(prim, name, f64::INFINITY)?;
        match most < 0.0 {
            true => Err(self.stage.wrong_at(prim, name, "it should not be below 0")),
            false => Ok(most.is_finite().then_some(most * unit)),
        }
    }

    /// The body at an end of a joint, and where on it the joint is; `None` if it names a prim that
    /// is not there, which is listed.
    fn end(&mut self, joint: usize, end: u8) -> Result<Option<(String, JointFrame)>, SceneError> {
        let stage = self.stage;
        let name = format!("physics:body{end}");
        let targets = stage.targets(joint, &name).unwrap_or_default();
        let target = match targets.first() {
            None => None,
            Some(path) => match stage.find(path) {
                Some(prim) => Some(prim),
                None => {
                    let path = crate::import::files::shortened(path);
                    self.list(joint, format!("`{name}`: <{path}> is not there: left out"));
                    return Ok(None);
                }
            },
        };
        // Points of the target lead to the axes of its body, or to the world.
        let up = |prim| stage.upwards(prim).map(|(prim, _)| prim);
        let body = target.and_then(|prim| up(prim).find(|prim| self.bodies.contains_key(prim)));
        let (name, matrix) = match (target, body) {
            (Some(prim), Some(body)) => self.on_body(prim, body),
            (Some(prim), None) => (WORLD.to_owned(), self.matrices.get(prim).copied()),
            (None, _) => (WORLD.to_owned(), Some(self.outermost)),
        };
        let matrix = matrix.unwrap_or_default();
        let Some(placed) = Placement::of(&matrix) else {
            return Err(stage.wrong(&stage.path(joint), "a transform flattens its body"));
        };
        let local = |what: &str| format!("physics:local{what}{end}");
        let position = stage.vector(joint, &local("Pos"))?.unwrap_or_default();
        let rotation = stage.quaternion(joint, &local("Rot"))?.unwrap_or_default();
        let rotation = placed.pose.rotation * rotation * turned(stage.token(joint, "physics:axis"));
        let frame = JointFrame {
            position: rigid::position(matrix.transform_point3(position)),
            rotation: rigid::rotation(rotation.normalize()),
        };
        Ok(Some((name, frame)))
    }

    /// The name of a body, and what leads from a prim of it to its axes.
    fn on_body(&self, prim: usize, body: usize) -> (String, Option<DMat4>) {
        let Some(held) = self.bodies.get(&body) else {
            return (WORLD.to_owned(), None);
        };
        let matrix = self.matrices.get(body).and_then(Placement::of);
        let seen = matrix.map(|placed| {
            // A plane's body is not turned, though its prim is.
            let turn = held.pose.rotation.conjugate() * placed.pose.rotation;
            let seen = self.seen_from(body, &placed, prim);
            match held.pose.rotation == placed.pose.rotation {
                true => seen,
                false => DMat4::from_quat(turn) * seen,
            }
        });
        (held.name.clone(), seen)
    }

    /// What a joint allows, without its bodies and frames; `None` for what is listed.
    fn joint(&mut self, prim: usize, type_name: &str) -> Result<Option<Joint>, SceneError> {
        let mut made = Joint::default();
        match type_name {
            "PhysicsFixedJoint" => made.kind = JointKind::Fixed,
            "PhysicsSphericalJoint" => return self.spherical(prim).map(Some),
            "PhysicsRevoluteJoint" | "PhysicsPrismaticJoint" => {
                let is_angle = type_name == "PhysicsRevoluteJoint";
                made.kind = match is_angle {
                    true => JointKind::Hinge,
                    false => JointKind::Slider,
                };
                let range = self.range(prim, ["physics:lowerLimit", "physics:upperLimit"])?;
                let mut axis = self.limited(prim, range, is_angle)?;
                let drive = if is_angle { "angular" } else { "linear" };
                self.drive(prim, drive, (&mut axis, is_angle))?;
                (made.limits, made.motor, made.servo) = (axis.limits, axis.motor, axis.servo);
                if !axis.free && axis.limits.is_none() {
                    made.kind = JointKind::Fixed;
                }
            }
            "PhysicsDistanceJoint" => return self.distance(prim),
            "PhysicsJoint" => return self.axes(prim).map(Some),
            other => {
                let other = crate::import::files::shortened(other);
                self.list(prim, format!("`{other}`: left out"));
                return Ok(None);
            }
        }
        Ok(Some(made))
    }

    /// From and to; infinite where nothing is said.
    fn range(&self, prim: usize, [low, high]: [&str; 2]) -> Result<Range, SceneError> {
        Ok([
            self.stage.number(prim, low, f64::NEG_INFINITY)?,
            self.stage.number(prim, high, f64::INFINITY)?,
        ])
    }

    /// A coordinate within a range of the stage's units. A range that is empty locks it.
    fn limited(
        &mut self,
        prim: usize,
        [low, high]: Range,
        is_angle: bool,
    ) -> Result<JointAxis, SceneError> {
        let mut axis = JointAxis::default();
        let unit = if is_angle { 1.0 } else { self.meter };
        let most = if is_angle {
            MOST_ANGLE * DEGREES
        } else {
            f64::MAX
        };
        let [low, high] = [low, high].map(|x| x * unit);
        if low > high || low == 0.0 && high == 0.0 {
            return Ok(axis);
        }
        if low <= -most && high >= most {
            axis.free = true;
            return Ok(axis);
        }
        let is_open = low == f64::NEG_INFINITY || high == f64::INFINITY;
        if is_angle && (low < -most || high > most) && !is_open {
            let what = format!("a limit beyond {most:.0} degrees is that");
            self.list(prim, what);
        }
        axis.limits = Some([low, high].map(|x| x.clamp(-most, most)));
        Ok(axis)
    }

    /// Turning about a point, within a cone if there is one: here within angles about y and z.
    fn spherical(&mut self, prim: usize) -> Result<Joint, SceneError> {
        let angle = |name: &str| self.stage.number(prim, name, -1.0);
        // The first angle is from the axis towards the next, y, and so about z.
        let about_y_and_z = [
            angle("physics:coneAngle1Limit")?,
            angle("physics:coneAngle0Limit")?,
        ];
        let free = JointAxis {
            free: true,
            ..JointAxis::default()
        };
        if about_y_and_z.iter().all(|angle| *angle < 0.0) {
            return Ok(Joint {
                kind: JointKind::Ball,
                ..Joint::default()
            });
        }
        self.list(prim, "a cone's angles hold for each axis by itself");
        let mut angular = [free; 3];
        for (axis, angle) in angular.iter_mut().skip(1).zip(about_y_and_z) {
            if angle >= 0.0 {
                *axis = self.limited(prim, [-angle, angle], true)?;
            }
        }
        Ok(Joint {
            kind: JointKind::Axes,
            linear: Some([JointAxis::default(); 3]),
            angular: Some(angular),
            ..Joint::default()
        })
    }

    /// A distance: a rod, or a rope.
    fn distance(&mut self, prim: usize) -> Result<Option<Joint>, SceneError> {
        let least = self.stage.finite(prim, "physics:minDistance", -1.0)?;
        let most = self.stage.number(prim, "physics:maxDistance", -1.0)?;
        let kind = match least == most {
            true if most > 0.0 => JointKind::Rod,
            false if most > 0.0 && most.is_finite() => JointKind::Rope,
            _ => {
                self.list(prim, "a distance without an upper bound above 0: left out");
                return Ok(None);
            }
        };
        if kind == JointKind::Rope && least > 0.0 {
            self.list(prim, "`physics:minDistance`");
        }
        Ok(Some(Joint {
            kind,
            length: Some(most * self.meter),
            ..Joint::default()
        }))
    }

    /// A joint of six coordinates, each free unless a limit is applied to it.
    fn axes(&mut self, prim: usize) -> Result<Joint, SceneError> {
        let free = JointAxis {
            free: true,
            ..JointAxis::default()
        };
        let [mut linear, mut angular] = [[free; 3]; 2];
        for (row, names, is_angle) in [(&mut linear, LINEAR, false), (&mut angular, ANGULAR, true)]
        {
            for (axis, name) in row.iter_mut().zip(names) {
                if self
                    .stage
                    .has_schema(prim, &format!("PhysicsLimitAPI:{name}"))
                {
                    let keys = ["low", "high"].map(|end| format!("limit:{name}:physics:{end}"));
                    let range = self.range(prim, [&keys[0], &keys[1]])?;
                    *axis = self.limited(prim, range, is_angle)?;
                }
                self.drive(prim, name, (axis, is_angle))?;
            }
        }
        if self.stage.has_schema(prim, "PhysicsLimitAPI:distance") {
            self.list(prim, "`PhysicsLimitAPI:distance`");
        }
        Ok(Joint {
            kind: JointKind::Axes,
            linear: Some(linear),
            angular: Some(angular),
            ..Joint::default()
        })
    }

    /// Drives a coordinate: to a position with a stiffness, else at a speed.
    fn drive(
        &mut self,
        prim: usize,
        name: &str,
        (axis, is_angle): (&mut JointAxis, bool),
    ) -> Result<(), SceneError> {
        if !self
            .stage
            .has_schema(prim, &format!("PhysicsDriveAPI:{name}"))
        {
            return Ok(());
        }
        let key = |what: &str| format!("drive:{name}:physics:{what}");
        if self.stage.token(prim, &key("type")) == "acceleration" {
            self.list(
                prim,
                format!("`PhysicsDriveAPI:{name}` by acceleration: left out"),
            );
            return Ok(());
        }
        if !axis.free && axis.limits.is_none() {
            self.list(
                prim,
                format!("`PhysicsDriveAPI:{name}` of what is locked: left out"),
            );
            return Ok(());
        }
        let number = |what: &str| self.stage.finite(prim, &key(what), 0.0);
        // One unit of force or torque per unit of the coordinate, in N/m or N·m/rad.
        let force = self.kilogram
            * if is_angle {
                self.meter * self.meter
            } else {
                self.meter
            };
        let per = if is_angle { DEGREES } else { 1.0 / self.meter };
        let stiffness = number("stiffness")? * force * per;
        let damping = number("damping")? * force * per;
        let speed = number("targetVelocity")? / per;
        let target = number("targetPosition")? * if is_angle { 1.0 } else { self.meter };
        let max_force = self.bound(prim, &key("maxForce"), force)?;
        if stiffness == 0.0 && damping == 0.0 {
            return Ok(());
        }
        if stiffness > 0.0 || speed == 0.0 {
            if speed != 0.0 {
                self.list(prim, "the speed of a drive that has a stiffness");
            }
            axis.servo = Some(Servo {
                position: target,
                stiffness,
                damping,
                max_force,
            });
        } else {
            self.list(prim, "damping of a motor: it keeps its speed");
            axis.motor = Some(Motor { speed, max_force });
        }
        Ok(())
    }
}

/// Turns our axis, x, into that of a token, and the axes after it into those after that.
fn turned(axis: &str) -> DQuat {
    match axis {
        "Y" => DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5),
        "Z" => DQuat::from_xyzw(-0.5, -0.5, -0.5, 0.5),
        _ => DQuat::IDENTITY,
    }
}
