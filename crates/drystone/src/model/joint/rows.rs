//! The coordinates of a joint at the present poses, as rows.
//!
//! A **row** is one coordinate c with its derivative: for small displacements l and turns θ of
//! the two bodies,
//!
//! $$ \Delta c = n\cdot(l_b - l_a) + j_b\cdot\theta_b - j_a\cdot\theta_a . $$
//!
//! Distances along A's axis $e_i$: $c = e_i\cdot d$ with $d = p_b - p_a$, $n = e_i$,
//! $j_b = r_b\times e_i$, and because the axis turns with A, $j_a = (r_a + d)\times e_i$. Where all
//! distances are locked any axes will do, and those of the world cost least: these do not turn, so
//! $j_a = r_a\times e_i$.
//!
//! In a step, c is that of its end and arms and axes are those of a point within it: see
//! [`crate::strategy::realtime`] for which.

use super::{Axis, Freedom, Goal, JointKind};
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::frame_angles::Angle;
use crate::math::algebra::{Components, Linear};

/// One coordinate of a joint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row<S: Space> {
    /// c, m or rad.
    pub(crate) value: f64,
    pub(crate) n: S::Vector,
    pub(crate) j_a: S::Spin,
    pub(crate) j_b: S::Spin,
    /// From the centres of mass to where a force along n acts, m.
    pub(crate) arm_a: S::Vector,
    pub(crate) arm_b: S::Vector,
    /// How far apart the points are that it pulls along their line, m; 0 for other rows.
    pub(crate) length: f64,
}

/// Which coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coordinate {
    Linear(u8),
    Angular(u8),
    Distance,
    Gear,
}

impl Coordinate {
    /// Whether forces along it are torques.
    pub(crate) fn is_angular(self) -> bool {
        matches!(self, Self::Angular(_) | Self::Gear)
    }
}

/// What a row of a joint is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// c = 0.
    Lock,
    /// min ≤ c ≤ max.
    Limit(f64, f64),
    /// A motor with this speed and largest force.
    Motor(f64, f64),
    /// at, stiffness, damping, largest force.
    Spring([f64; 4]),
}

/// All rows that a joint of this kind has, in order.
pub(crate) fn rows_of<S: Space>(kind: &JointKind) -> Vec<(Coordinate, Role)> {
    let mut rows = Vec::new();
    match kind {
        JointKind::Axes { linear, angular } => {
            for (k, axis) in linear.iter().enumerate().take(S::DIM) {
                add_axis(Coordinate::Linear(k as u8), axis, &mut rows);
            }
            for (k, axis) in angular.iter().enumerate().take(S::SPIN_DIM) {
                add_axis(Coordinate::Angular(k as u8), axis, &mut rows);
            }
        }
        JointKind::Distance(axis) => add_axis(Coordinate::Distance, axis, &mut rows),
        JointKind::Gear { .. } => rows.push((Coordinate::Gear, Role::Motor(0.0, f64::INFINITY))),
    }
    rows
}

fn add_axis(coordinate: Coordinate, axis: &Axis, rows: &mut Vec<(Coordinate, Role)>) {
    match axis.freedom {
        Freedom::Locked => rows.push((coordinate, Role::Lock)),
        Freedom::Free => {}
        Freedom::Limited { min, max } => rows.push((coordinate, Role::Limit(min, max))),
    }
    if let Some(drive) = axis.drive {
        let role = match drive.goal {
            Goal::Speed(speed) => Role::Motor(speed, drive.max_force),
            Goal::Position {
                at,
                stiffness,
                damping,
            } => Role::Spring([at, stiffness, damping, drive.max_force]),
        };
        rows.push((coordinate, role));
    }
}

/// An angle by whole turns as near as can be to another one, rad: coordinates that are angles jump
/// from π to −π.
#[must_use]
pub(crate) fn nearest_turn(angle: f64, near: f64) -> f64 {
    use std::f64::consts::TAU;
    angle - TAU * ((angle - near) / TAU).round()
}

/// Where the centres of mass of a joint's bodies are at the end of a step, and at the point within
/// it whose directions count.
pub(crate) struct Poses<'a, S: Space> {
    pub(crate) end: [&'a Pose<S>; 2],
    pub(crate) within: [&'a Pose<S>; 2],
}

/// What a joint measures, without what it allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge<S: Space> {
    /// On A and on B, in body axes, from the centres of mass.
    pub(crate) frames: [Pose<S>; 2],
    /// Whether all distances are locked.
    pub(crate) is_point: bool,
    /// The free angle of a hinge.
    pub(crate) free: Option<usize>,
    /// Of a gear.
    ratio: f64,
}

/// Where the origins of a joint's frames are.
struct Placed<S: Space> {
    /// From the centres of mass, m.
    arm_a: S::Vector,
    arm_b: S::Vector,
    /// From A's to B's, m.
    between: S::Vector,
}

/// Distances are along these axes.
#[derive(Clone, Copy)]
enum Along<S: Space> {
    World,
    Frame(S::Rotation),
}

impl<S: Space> Along<S> {
    fn axis(self, k: usize) -> S::Vector {
        let unit = S::Vector::default().with_component(k, 1.0);
        match self {
            Self::World => unit,
            Self::Frame(rotation) => S::rotate(rotation, unit),
        }
    }
}

impl<S: Space> Gauge<S> {
    pub(crate) fn new(frames: [Pose<S>; 2], kind: &JointKind) -> Self {
        let is_locked = |axis: &Axis| axis.freedom == Freedom::Locked && axis.drive.is_none();
        let is_point = match kind {
            JointKind::Axes { linear, .. } => linear.iter().take(S::DIM).all(is_locked),
            JointKind::Distance(_) | JointKind::Gear { .. } => false,
        };
        let ratio = match kind {
            JointKind::Gear { ratio } => *ratio,
            JointKind::Axes { .. } | JointKind::Distance(_) => 1.0,
        };
        Self {
            frames,
            is_point,
            free: hinge_axis(kind),
            ratio,
        }
    }

    /// Places the frames' origins.
    fn place(&self, [a, b]: [&Pose<S>; 2]) -> Placed<S> {
        let arm_a = S::rotate(a.rotation, self.frames[0].position);
        let arm_b = S::rotate(b.rotation, self.frames[1].position);
        Placed {
            arm_a,
            arm_b,
            between: (b.position - a.position) + (arm_b - arm_a),
        }
    }

    /// From the centres of mass to the frames' origins, and from A's origin to B's, m.
    pub(crate) fn arms_and_gap(&self, poses: [&Pose<S>; 2]) -> ([S::Vector; 2], S::Vector) {
        let placed = self.place(poses);
        ([placed.arm_a, placed.arm_b], placed.between)
    }

    /// The frames' rotations.
    fn turned(&self, [a, b]: [&Pose<S>; 2]) -> [S::Rotation; 2] {
        [
            S::compose(a.rotation, self.frames[0].rotation),
            S::compose(b.rotation, self.frames[1].rotation),
        ]
    }

    /// Axes of distances.
    fn along(&self, a: &Pose<S>) -> Along<S> {
        if self.is_point {
            Along::World
        } else {
            Along::Frame(S::compose(a.rotation, self.frames[0].rotation))
        }
    }

    fn angles(&self, poses: [&Pose<S>; 2]) -> [Angle<S>; 3] {
        let [a, b] = self.turned(poses);
        S::angles(a, b, self.free)
    }

    /// Calls `f` with every row: values are those at the end, directions those within.
    pub(crate) fn for_each_row(
        &self,
        roles: &[(Coordinate, Role)],
        poses: &Poses<'_, S>,
        mut f: impl FnMut(usize, Row<S>),
    ) {
        let end = self.place(poses.end);
        let middle = self.place(poses.within);
        let (mut angles, mut axes) = (None, None);
        for (index, &(coordinate, _)) in roles.iter().enumerate() {
            let row = match coordinate {
                Coordinate::Linear(k) => {
                    let (along_end, along) = *axes.get_or_insert_with(|| {
                        let [end, within] = [poses.end[0], poses.within[0]];
                        (self.along(end), self.along(within))
                    });
                    let value = along_end.axis(k as usize).dot(end.between);
                    let turning = match along {
                        Along::World => middle.arm_a,
                        Along::Frame(_) => middle.arm_a + middle.between,
                    };
                    row([turning, middle.arm_b], along.axis(k as usize), value)
                }
                Coordinate::Angular(k) => {
                    let (end, middle) = angles
                        .get_or_insert_with(|| (self.angles(poses.end), self.angles(poses.within)));
                    let along = middle[k as usize].along;
                    Row {
                        value: end[k as usize].value,
                        j_a: along,
                        j_b: along,
                        ..Row::default()
                    }
                }
                Coordinate::Distance => distance_row(&end, &middle),
                Coordinate::Gear => {
                    let [a, b] = self.turned(poses.within);
                    Row {
                        j_a: -S::first_axis(a),
                        j_b: S::first_axis(b) * self.ratio,
                        ..Row::default()
                    }
                }
            };
            f(index, row);
        }
    }
}

/// The free angle of a hinge: the one axis that is not locked, if there is exactly one.
fn hinge_axis(kind: &JointKind) -> Option<usize> {
    let JointKind::Axes { angular, .. } = kind else {
        return None;
    };
    let mut free = (0..3).filter(|&k| angular[k].freedom != Freedom::Locked);
    let first = free.next();
    if free.next().is_none() { first } else { None }
}

fn distance_row<S: Space>(end: &Placed<S>, middle: &Placed<S>) -> Row<S> {
    let along = middle.between.length();
    let n = if along > 0.0 {
        middle.between * (1.0 / along)
    } else {
        S::Vector::default().with_component(0, 1.0)
    };
    Row {
        length: along,
        ..row([middle.arm_a, middle.arm_b], n, end.between.length())
    }
}

/// A row along n at these arms.
fn row<S: Space>([arm_a, arm_b]: [S::Vector; 2], n: S::Vector, value: f64) -> Row<S> {
    Row {
        value,
        n,
        j_a: S::cross(arm_a, n),
        j_b: S::cross(arm_b, n),
        arm_a,
        arm_b,
        length: 0.0,
    }
}
