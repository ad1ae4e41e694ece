//! Joints over a step: how far they opened, and what their springs, motors and scripted ends did.

use super::Step;
use super::islands::Islands;
use crate::geometry::Space;
use crate::geometry::shape::Pose;
use crate::math::algebra::Linear;
use crate::model::body::Bodies;
use crate::model::joint::rows::{Coordinate, Poses, Role, Row, nearest_turn, rows_of};
use crate::model::joint::store::Held;
use serde::{Deserialize, Serialize};

/// How joints held in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointFigures {
    /// Largest distance of a joint from what it holds together after the step, m.
    pub gap_m: f64,
    /// Largest angle, likewise, rad.
    pub angle_rad: f64,
    /// Work that joints did beyond that of their drives where nothing touched, as a sum of sizes, J:
    /// what holds bodies together should do none.
    pub work_j: f64,
    /// Largest gap over the size of the smaller body.
    pub gap_of_size: f64,
}

impl JointFigures {
    /// Those of two steps, one after the other.
    pub(crate) fn followed_by(&self, next: &Self) -> Self {
        Self {
            gap_m: self.gap_m.max(next.gap_m),
            angle_rad: self.angle_rad.max(next.angle_rad),
            work_j: self.work_j + next.work_j,
            gap_of_size: self.gap_of_size.max(next.gap_of_size),
        }
    }
}

/// The joints of a step, kept for its memory: rows do not change from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct JointRows {
    version: Option<u64>,
    roles: Vec<Vec<(Coordinate, Role)>>,
}

impl JointRows {
    /// Brings the rows up to date.
    fn update<S: Space>(&mut self, step: &Step<'_, S>) {
        if self.version != Some(step.joints.version) {
            self.version = Some(step.joints.version);
            self.roles.clear();
            let rows = |joint: Option<&Held<S>>| joint.map(|joint| rows_of::<S>(&joint.kind));
            let all = step
                .joints
                .places()
                .map(|joint| rows(joint).unwrap_or_default());
            self.roles.extend(all);
        }
    }

    /// Looks at all joints. Returns their figures and the elastic energy of springs before and after,
    /// and the work of motors and scripted ends, J; islands get what is theirs.
    pub(super) fn judge<S: Space>(
        &mut self,
        step: &Step<'_, S>,
        islands: &mut Islands<S>,
    ) -> (JointFigures, [f64; 2], f64) {
        self.update(step);
        let mut figures = JointFigures::default();
        let (mut elastic, mut work) = ([0.0; 2], 0.0);
        for (place, joint) in step.joints.iter() {
            let roles = &self.roles[place as usize];
            let ends = [joint.a, joint.b].map(|k| k as usize);
            let before = values(joint, roles, ends.map(|k| step.pose_before(k)));
            let after = values(joint, roles, ends.map(|k| step.pose_after(k)));
            let mut done = Done::default();
            for (k, &(coordinate, role)) in roles.iter().enumerate() {
                let [was, is] = [before[k].value, after[k].value];
                let error = match role {
                    Role::Lock => is.abs(),
                    Role::Limit(min, max) => (min - is).max(is - max).max(0.0),
                    Role::Motor(..) | Role::Spring(_) => 0.0,
                };
                if coordinate.is_angular() {
                    figures.angle_rad = figures.angle_rad.max(error);
                } else {
                    figures.gap_m = figures.gap_m.max(error);
                    let size = smaller(step.bodies, ends);
                    figures.gap_of_size = figures.gap_of_size.max(error / size);
                }
                let claimed = || (step.joint_force)(place, k);
                let driven = if coordinate.is_angular() && matches!(role, Role::Motor(..)) {
                    nearest_turn(is, was)
                } else {
                    is
                };
                done.drive(role, [was, driven], claimed);
                done.is_damped |= matches!(role, Role::Limit(min, max) if min < max);
                done.script(step, ends, [&before[k], &after[k]], claimed);
            }
            for (sum, of_joint) in elastic.iter_mut().zip(done.elastic) {
                *sum += of_joint;
            }
            work += done.work;
            let moved = if step.bodies.is_dynamic(ends[0]) {
                joint.a
            } else {
                joint.b
            };
            if let Some(island) = islands.of_body(moved) {
                island.energy += done.elastic[1] - done.elastic[0] - done.work;
                island.scale += done.elastic[0].max(done.elastic[1]) + done.work.abs();
                island.had += done.elastic[0] + done.work.abs();
                island.is_damped |= done.is_damped;
            }
        }
        (figures, elastic, work)
    }
}

/// What the drives of one joint did.
#[derive(Default)]
struct Done {
    /// Energy of its springs before and after, J.
    elastic: [f64; 2],
    /// Work of its motors and scripted ends, J.
    work: f64,
    is_damped: bool,
}

impl Done {
    /// Adds a drive along a coordinate. What a motor gave can't be seen in states: it is what it says,
    /// within its largest force.
    fn drive(&mut self, role: Role, [was, is]: [f64; 2], claimed: impl Fn() -> f64) {
        match role {
            Role::Spring([at, stiffness, damping, most]) if most.is_infinite() => {
                for (energy, value) in self.elastic.iter_mut().zip([was, is]) {
                    *energy += 0.5 * stiffness * (value - at) * (value - at);
                }
                self.is_damped |= damping > 0.0;
            }
            Role::Motor(_, most) | Role::Spring([.., most]) => {
                let force = claimed().clamp(-most, most);
                self.work += force * (is - was);
                self.is_damped = true;
            }
            Role::Lock | Role::Limit(..) => {}
        }
    }

    /// Adds what a scripted end gave through a row.
    fn script<S: Space>(
        &mut self,
        step: &Step<'_, S>,
        ends: [usize; 2],
        rows: [&Row<S>; 2],
        claimed: impl Fn() -> f64,
    ) {
        for (end, sign) in [(0, 1.0), (1, -1.0)] {
            let k = ends[end];
            let is_still = step.bodies.is_dynamic(k)
                || (step.way(k) == S::Vector::default() && step.turn(k) == S::Spin::default());
            if is_still {
                continue;
            }
            let about = |row: &Row<S>| if end == 0 { row.j_a } else { row.j_b };
            let along = (rows[0].n + rows[1].n) * 0.5;
            let around = (about(rows[0]) + about(rows[1])) * 0.5;
            let went = along.dot(step.way(k)) + around.dot(step.turn(k));
            self.work += sign * claimed() * went;
        }
    }
}

/// Rows that a joint has at most: three distances and three angles, each with a drive.
const MOST_ROWS: usize = 12;

/// All rows of a joint at these poses.
fn values<S: Space>(
    joint: &Held<S>,
    roles: &[(Coordinate, Role)],
    [a, b]: [Pose<S>; 2],
) -> [Row<S>; MOST_ROWS] {
    let mut rows = [Row::default(); MOST_ROWS];
    let poses = Poses {
        end: [&a, &b],
        within: [&a, &b],
    };
    joint.gauge().for_each_row(roles, &poses, |k, row| {
        if let Some(place) = rows.get_mut(k) {
            *place = row;
        }
    });
    rows
}

/// The size of the smaller of two bodies, m.
pub(crate) fn smaller<S: Space>(bodies: &Bodies<S>, ends: [usize; 2]) -> f64 {
    let [a, b] = ends.map(|k| 2.0 * bodies.size(k));
    let size = a.min(b);
    if size.is_finite() && size > 0.0 {
        size
    } else {
        1.0
    }
}
