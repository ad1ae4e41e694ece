//! The coordinates of a joint at the present poses, as rows.
//!
//! A **row** is one coordinate c with its derivative: for small displacements l and turns θ of
//! the two bodies,
//!
//! $$ \Delta c = n\cdot(l_b - l_a) + j_b\cdot\theta_b - j_a\cdot\theta_a . $$
//!
//! Distances along A's axis $e_i$: $c = e_i\cdot d$ with $d = p_b - p_a$, $n = e_i$,
//! $j_b = r_b\times e_i$, and because the axis turns with A, $j_a = (r_a + d)\times e_i$. To second
//! order the bodies' spins add $\tfrac12 h^2 n\cdot(\omega_b\times(\omega_b\times r_b) -
//! \omega_a\times(\omega_a\times (r_a + d)))$ in h seconds; a joint that knows of it does not creep
//! outwards on what swings.

use super::{Axis, Freedom, Goal, JointKind};
use crate::body::Bodies;
use crate::shape::Pose;
use crate::space::{Components, Linear, Space};

/// One coordinate of a joint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row<S: Space> {
    /// c, m or rad.
    pub(crate) value: f64,
    /// What spins add to it in a second squared, m/s².
    pub(crate) bend: f64,
    pub(crate) n: S::Vector,
    pub(crate) j_a: S::Spin,
    pub(crate) j_b: S::Spin,
}

/// Bodies and frames of a joint. Frames are relative to centres of mass, in body axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<S: Space> {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) frame_a: Pose<S>,
    pub(crate) frame_b: Pose<S>,
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

/// A joint's frames in the world.
pub(crate) struct Placed<S: Space> {
    /// From the centres of mass to the frames' origins, m.
    pub(crate) arm_a: S::Vector,
    pub(crate) arm_b: S::Vector,
    /// From A's to B's origin, m.
    pub(crate) between: S::Vector,
    rotation_a: S::Rotation,
    rotation_b: S::Rotation,
}

/// Places a joint's frames.
pub(crate) fn place<S: Space>(bodies: &Bodies<S>, ends: &Ends<S>) -> Placed<S> {
    let (turn_a, turn_b) = (bodies.rotation[ends.a], bodies.rotation[ends.b]);
    let arm_a = S::rotate(turn_a, ends.frame_a.position);
    let arm_b = S::rotate(turn_b, ends.frame_b.position);
    Placed {
        arm_a,
        arm_b,
        between: (bodies.position[ends.b] - bodies.position[ends.a]) + (arm_b - arm_a),
        rotation_a: S::compose(turn_a, ends.frame_a.rotation),
        rotation_b: S::compose(turn_b, ends.frame_b.rotation),
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

/// Calls `f` with every row of a joint; rows of one coordinate follow each other.
pub(crate) fn for_each_row<S: Space>(
    bodies: &Bodies<S>,
    ends: &Ends<S>,
    kind: &JointKind,
    roles: &[(Coordinate, Role)],
    mut f: impl FnMut(usize, Row<S>),
) {
    let placed = place(bodies, ends);
    let mut angles = None;
    for (index, &(coordinate, _)) in roles.iter().enumerate() {
        let row = match coordinate {
            Coordinate::Linear(k) => {
                let unit = S::Vector::default().with_component(k as usize, 1.0);
                let n = S::rotate(placed.rotation_a, unit);
                along(bodies, ends, &placed, n, n.dot(placed.between))
            }
            Coordinate::Angular(k) => {
                let angles = angles.get_or_insert_with(|| {
                    S::angles(placed.rotation_a, placed.rotation_b, hinge_axis(kind))
                });
                let angle = angles[k as usize];
                Row {
                    value: angle.value,
                    j_a: angle.along,
                    j_b: angle.along,
                    ..Row::default()
                }
            }
            Coordinate::Distance => {
                let length = placed.between.length();
                let n = if length > 0.0 {
                    placed.between * (1.0 / length)
                } else {
                    S::Vector::default().with_component(0, 1.0)
                };
                stretch(bodies, ends, &placed, n, length)
            }
            Coordinate::Gear => {
                let ratio = match kind {
                    JointKind::Gear { ratio } => *ratio,
                    _ => 1.0,
                };
                Row {
                    j_a: -S::first_axis(placed.rotation_a),
                    j_b: S::first_axis(placed.rotation_b) * ratio,
                    ..Row::default()
                }
            }
        };
        f(index, row);
    }
}

/// A row along an axis of A.
fn along<S: Space>(
    bodies: &Bodies<S>,
    ends: &Ends<S>,
    placed: &Placed<S>,
    n: S::Vector,
    value: f64,
) -> Row<S> {
    row(bodies, ends, [placed.arm_a + placed.between, placed.arm_b], n, value)
}

/// A row along the line between the frames' origins.
fn stretch<S: Space>(
    bodies: &Bodies<S>,
    ends: &Ends<S>,
    placed: &Placed<S>,
    n: S::Vector,
    value: f64,
) -> Row<S> {
    row(bodies, ends, [placed.arm_a, placed.arm_b], n, value)
}

fn row<S: Space>(
    bodies: &Bodies<S>,
    ends: &Ends<S>,
    [arm_a, arm_b]: [S::Vector; 2],
    n: S::Vector,
    value: f64,
) -> Row<S> {
    let inward = |k: usize, arm: S::Vector| {
        let spin = bodies.motion[k].spin;
        S::spin_cross(spin, S::spin_cross(spin, arm))
    };
    Row {
        value,
        bend: n.dot(inward(ends.b, arm_b) - inward(ends.a, arm_a)),
        n,
        j_a: S::cross(arm_a, n),
        j_b: S::cross(arm_b, n),
    }
}
