//! Joints: what ties two bodies together.
//!
//! A joint has a **frame** on each of its bodies. Where the two frames are relative to each other
//! is measured by a few **coordinates** ([`rows`]): three distances and three angles in space, two
//! and one in the plane. Along each coordinate the joint is locked, free or limited, and may have
//! a drive: a motor or a spring. All usual joints are choices among these:
//!
//! | joint | locked | free |
//! |---|---|---|
//! | fixed | all | |
//! | ball (pin) | distances | angles |
//! | hinge | all but the angle about x | the angle about x |
//! | slider | all but the distance along x | the distance along x |
//! | universal | distances, the angle about z | the angles about x and y |
//!
//! A [distance](JointKind::Distance) joint measures how far the frames' origins are apart (rod,
//! rope, spring), a [gear](JointKind::Gear) makes two bodies turn at a ratio.
//!
//! In the plane a hinge is a pin, and an angle is about the axis that leaves the plane.
//!
//! The strategy `realtime` solves joints as [linkages](crate::strategy::realtime), `velocity` as contacts
//! (`contacts.rs`) and forces (`drives.rs`).
//!
//! Signs: a coordinate is that of B's frame as seen from A's; a force along it acts on B, its
//! opposite on A.

pub(crate) mod rows;
pub(crate) mod store;

pub use crate::math::algebra::frame_angles::Angles;
pub(crate) use store::Joints;
pub use store::{JointId, Reaction};

use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::model::body::BodyId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Bound of angles that limits may have, rad: a little less than half a turn.
const MOST_ANGLE: f64 = 3.1;

/// What a joint allows along one coordinate, m or rad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Freedom {
    /// Nothing.
    #[default]
    Locked,
    /// Everything.
    Free,
    /// What lies between two values.
    Limited {
        /// Lower bound, m or rad.
        min: f64,
        /// Upper bound, m or rad; angles of hinges lie between −π and π.
        max: f64,
    },
}

/// What a drive is after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// A speed, m/s or rad/s: a motor.
    Speed(f64),
    /// A position: a servo, or with modest numbers a spring.
    Position {
        /// Where to, m or rad.
        at: f64,
        /// N/m or N·m/rad.
        stiffness: f64,
        /// N·s/m or N·m·s/rad.
        damping: f64,
    },
}

/// Something that pushes along a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// What it is after.
    pub goal: Goal,
    /// Force or torque at most, N or N·m.
    pub max_force: f64,
}

/// One coordinate of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it allows.
    pub freedom: Freedom,
    /// What drives it.
    pub drive: Option<Drive>,
}

impl Axis {
    /// A coordinate that is free.
    pub const FREE: Self = Self {
        freedom: Freedom::Free,
        drive: None,
    };
    /// A coordinate that is locked.
    pub const LOCKED: Self = Self {
        freedom: Freedom::Locked,
        drive: None,
    };
}

/// What a joint measures and allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant)] // Plain data that is copied: a box would make it neither.
pub enum JointKind {
    /// Distances along x, y, z and angles about x, y, z of A's frame. The plane has distances along
    /// x and y, and its one angle is the first.
    Axes {
        /// Distances.
        linear: [Axis; 3],
        /// Angles.
        angular: [Axis; 3],
    },
    /// The distance between the frames' origins.
    Distance(Axis),
    /// B turns −1/`ratio` times as fast about its frame's x as A about its own (the plane has one
    /// axis). Angles are not kept, speeds are.
    Gear {
        /// Turns of A for one turn of B, against each other; negative for the same way.
        ratio: f64,
    },
}

/// Where a joint's frames are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Anchor<S: Space> {
    /// Both where this is in the world when the joint is added.
    World(Pose<S>),
    /// In the axes of A's and of B's shape.
    Frames(Pose<S>, Pose<S>),
}

/// The description of a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Joint<S: Space> {
    /// Unique in its world; `None` becomes "joint N".
    pub name: Option<String>,
    /// Body A.
    pub a: BodyId,
    /// Body B.
    pub b: BodyId,
    /// Where its frames are.
    pub anchor: Anchor<S>,
    /// What it measures and allows.
    pub kind: JointKind,
    /// Whether its bodies touch each other.
    pub collides: bool,
    /// Force at which it breaks, N.
    pub break_force: f64,
    /// Torque at which it breaks, N·m.
    pub break_torque: f64,
}

impl<S: Space> Joint<S> {
    /// A joint of these coordinates.
    #[must_use]
    pub fn new(a: BodyId, b: BodyId, kind: JointKind) -> Self {
        Self {
            name: None,
            a,
            b,
            anchor: Anchor::World(Pose::default()),
            kind,
            collides: false,
            break_force: f64::INFINITY,
            break_torque: f64::INFINITY,
        }
    }

    fn of_axes(a: BodyId, b: BodyId, linear: [Axis; 3], angular: [Axis; 3]) -> Self {
        Self::new(a, b, JointKind::Axes { linear, angular })
    }

    /// Welds two bodies together.
    #[must_use]
    pub fn fixed(a: BodyId, b: BodyId) -> Self {
        Self::of_axes(a, b, [Axis::LOCKED; 3], [Axis::LOCKED; 3])
    }

    /// Holds a point of each together (in the plane: a pin).
    #[must_use]
    pub fn ball(a: BodyId, b: BodyId) -> Self {
        Self::of_axes(a, b, [Axis::LOCKED; 3], [Axis::FREE; 3])
    }

    /// Lets B turn about the frames' x axis only. `axis` may have limits and a motor.
    #[must_use]
    pub fn hinge(a: BodyId, b: BodyId, axis: Axis) -> Self {
        let angular = [axis, Axis::LOCKED, Axis::LOCKED];
        Self::of_axes(a, b, [Axis::LOCKED; 3], angular)
    }

    /// Lets B slide along the frames' x axis only. `axis` may have limits and a motor.
    #[must_use]
    pub fn slider(a: BodyId, b: BodyId, axis: Axis) -> Self {
        let linear = [axis, Axis::LOCKED, Axis::LOCKED];
        Self::of_axes(a, b, linear, [Axis::LOCKED; 3])
    }

    /// Lets B turn about the frames' x and y axes but not about z.
    #[must_use]
    pub fn universal(a: BodyId, b: BodyId) -> Self {
        let angular = [Axis::FREE, Axis::FREE, Axis::LOCKED];
        Self::of_axes(a, b, [Axis::LOCKED; 3], angular)
    }

    /// Keeps two points at a distance of `length` m.
    #[must_use]
    pub fn rod(a: BodyId, b: BodyId, length: f64) -> Self {
        Self::distance(a, b, length, length)
    }

    /// Keeps two points within `length` m of each other.
    #[must_use]
    pub fn rope(a: BodyId, b: BodyId, length: f64) -> Self {
        Self::distance(a, b, 0.0, length)
    }

    fn distance(a: BodyId, b: BodyId, min: f64, max: f64) -> Self {
        let freedom = Freedom::Limited { min, max };
        let axis = Axis {
            freedom,
            drive: None,
        };
        Self::new(a, b, JointKind::Distance(axis))
    }

    /// Pulls two points to a distance of `length` m with `stiffness` N/m and `damping` N·s/m.
    #[must_use]
    pub fn spring(a: BodyId, b: BodyId, length: f64, stiffness: f64, damping: f64) -> Self {
        let goal = Goal::Position {
            at: length,
            stiffness,
            damping,
        };
        let axis = Axis {
            freedom: Freedom::Free,
            drive: Some(Drive {
                goal,
                max_force: f64::INFINITY,
            }),
        };
        Self::new(a, b, JointKind::Distance(axis))
    }

    /// Makes B turn −1/`ratio` times as fast as A.
    #[must_use]
    pub fn gear(a: BodyId, b: BodyId, ratio: f64) -> Self {
        Self::new(a, b, JointKind::Gear { ratio })
    }

    /// With both frames at a world point, unrotated.
    #[must_use]
    pub fn at(self, point: S::Vector) -> Self {
        self.placed(Pose::at(point))
    }

    /// With both frames at a world pose.
    #[must_use]
    pub fn placed(mut self, pose: Pose<S>) -> Self {
        self.anchor = Anchor::World(pose);
        self
    }

    /// With frames in the axes of the two shapes.
    #[must_use]
    pub fn between(mut self, on_a: Pose<S>, on_b: Pose<S>) -> Self {
        self.anchor = Anchor::Frames(on_a, on_b);
        self
    }

    /// Between two points in the axes of the two shapes.
    #[must_use]
    pub fn between_points(self, on_a: S::Vector, on_b: S::Vector) -> Self {
        self.between(Pose::at(on_a), Pose::at(on_b))
    }

    /// Named.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Letting its bodies touch each other.
    #[must_use]
    pub fn colliding(mut self) -> Self {
        self.collides = true;
        self
    }

    /// Breaking at a force (N) or torque (N·m).
    #[must_use]
    pub fn breaking_at(mut self, force: f64, torque: f64) -> Self {
        self.break_force = force;
        self.break_torque = torque;
        self
    }
}

/// Why a joint can't be added. Each says what would be right.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum JointError {
    /// A name that another joint has.
    #[error("the name `{0}` is taken; names of joints must differ")]
    Name(String),
    /// A body that is not there.
    #[error("body {0} is not in this world")]
    NoBody(char),
    /// One body twice.
    #[error("a joint ties two different bodies together")]
    SameBody,
    /// A node of a deformable.
    #[error("body {0} is a node of a deformable; attach the node to a body, and join that")]
    Node(char),
    /// Nothing to hold.
    #[error("a joint needs a body that contacts move; both are fixed or follow scripts")]
    BothFixed,
    /// A number that is not finite, or a rotation that is none.
    #[error("the frames' {0}")]
    Frame(&'static str),
    /// Limits that are no limits.
    #[error(
        "limits must be finite with min at most max, angles within ±3.1 rad (177°); not {min} to {max}"
    )]
    Limits {
        /// Lower.
        min: f64,
        /// Upper.
        max: f64,
    },
    /// A drive along a locked coordinate, or with numbers that are none.
    #[error("a drive's {0}")]
    Drive(&'static str),
    /// A gear without teeth.
    #[error("a gear's ratio must be a finite number other than 0, not {0}")]
    Ratio(f64),
    /// A breaking force that always or never breaks.
    #[error("breaking force and torque must be greater than 0 (infinity for never), not {0}")]
    Break(f64),
    /// A joint that is not there.
    #[error("this joint is not in this world")]
    NoJoint,
    /// More joints than an index can name.
    #[error("a world holds at most 4,294,967,295 joints")]
    TooMany,
}

impl<S: Space> Joint<S> {
    /// Whether its numbers can be used.
    pub(crate) fn check(&self) -> Result<(), JointError> {
        use crate::math::algebra::Linear;
        let frames = match self.anchor {
            Anchor::World(pose) => [pose; 2],
            Anchor::Frames(a, b) => [a, b],
        };
        for frame in frames {
            if !frame.position.is_finite() {
                return Err(JointError::Frame(
                    "positions must be made of finite numbers",
                ));
            }
            if !S::is_near_unit(frame.rotation) {
                return Err(JointError::Frame(
                    "rotations must be within 1e-3 of unit length",
                ));
            }
        }
        for value in [self.break_force, self.break_torque] {
            if value.is_nan() || value <= 0.0 {
                return Err(JointError::Break(value));
            }
        }
        match &self.kind {
            JointKind::Axes { linear, angular } => {
                linear.iter().try_for_each(|axis| axis.check(f64::MAX))?;
                angular.iter().try_for_each(|axis| axis.check(MOST_ANGLE))
            }
            JointKind::Distance(axis) => axis.check(f64::MAX),
            JointKind::Gear { ratio } if ratio.is_finite() && *ratio != 0.0 => Ok(()),
            JointKind::Gear { ratio } => Err(JointError::Ratio(*ratio)),
        }
    }
}

impl Axis {
    fn check(&self, most: f64) -> Result<(), JointError> {
        if let Freedom::Limited { min, max } = self.freedom
            && !(min.abs() <= most && max.abs() <= most && min <= max)
        {
            return Err(JointError::Limits { min, max });
        }
        let Some(drive) = self.drive else {
            return Ok(());
        };
        if self.freedom == Freedom::Locked {
            return Err(JointError::Drive("coordinate must not be locked"));
        }
        if drive.max_force.is_nan() || drive.max_force < 0.0 {
            return Err(JointError::Drive("largest force must be 0 or more"));
        }
        let fits = match drive.goal {
            Goal::Speed(speed) => speed.is_finite(),
            Goal::Position {
                at,
                stiffness,
                damping,
            } => {
                let is_strength = |x: f64| x.is_finite() && x >= 0.0;
                at.is_finite() && is_strength(stiffness) && is_strength(damping)
            }
        };
        if fits {
            Ok(())
        } else {
            Err(JointError::Drive(
                "goal, stiffness and damping must be finite numbers, strengths 0 or more",
            ))
        }
    }
}
