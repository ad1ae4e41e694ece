//! What a run was worth, from poses alone: no engine is asked about itself.

mod overlap;
mod pairs;

use glamx::DVec3;
use serde::{Deserialize, Serialize};

use crate::scene::{GRAVITY, Pose, STEP_S, Scene, Shape, Truth};
pub use pairs::deepest_overlap;

/// Angle by which a body that still stands may have tilted, rad.
const TILT_LIMIT: f64 = 0.5;
/// Speed above which a body counts as moving, m/s.
const REST_SPEED: f64 = 0.1;

/// What was seen of a run.
pub struct Record {
    /// Poses at the start and after every step, of the watched bodies only.
    paths: Vec<Vec<Pose>>,
    watched: Vec<usize>,
    /// All poses one step before the last, and after the last.
    // The last two notes must be of the last two steps: velocities are their difference.
    before_last: Vec<Pose>,
    last: Vec<Pose>,
    /// Largest gap of a joint at the moments it was looked at, m.
    joint_gap: f64,
}

impl Record {
    pub fn new(scene: &Scene) -> Self {
        let watched = watched(scene);
        let start = scene.start();
        Self {
            paths: watched.iter().map(|&body| vec![start[body]]).collect(),
            watched,
            before_last: start.clone(),
            last: start,
            joint_gap: 0.0,
        }
    }

    /// Whether the truth speaks about a whole path.
    pub fn needs_every_step(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Notes the poses after a step.
    pub fn note(&mut self, scene: &Scene, poses: &[Pose]) {
        for (path, &body) in self.paths.iter_mut().zip(&self.watched) {
            path.push(poses[body]);
        }
        std::mem::swap(&mut self.before_last, &mut self.last);
        self.last.clear();
        self.last.extend_from_slice(poses);
        self.joint_gap = self.joint_gap.max(joint_gap(scene, poses));
    }
}

/// Bodies whose whole path the truth speaks about.
fn watched(scene: &Scene) -> Vec<usize> {
    match scene.truth {
        Truth::Bounces { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// A judgement of one run. Lengths in mm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// Deepest overlap at the end.
    pub penetration_mm: f64,
    /// Furthest that a body moved sideways or turned away from where it started; for scenes that
    /// should stand only.
    pub drift_mm: Option<f64>,
    /// Distance from the truth.
    pub error_mm: f64,
    /// Whether what should stand does.
    pub stands: Option<bool>,
    /// The truth's own figure, in words.
    pub note: String,
}

/// Judges a run of so many steps by the scene's truth.
pub fn judge(scene: &Scene, record: &Record, steps: usize) -> Verdict {
    let start = scene.start();
    let penetration_mm = 1e3 * deepest_overlap(scene, &record.last);
    let mut verdict = Verdict {
        penetration_mm,
        drift_mm: None,
        error_mm: penetration_mm,
        stands: None,
        note: String::new(),
    };
    match scene.truth {
        Truth::Stands { top } => {
            let sink = start[top].position.y - record.last[top].position.y;
            verdict.error_mm = 1e3 * sink.abs();
            verdict.drift_mm = Some(1e3 * sideways(&start, &record.last));
            verdict.stands = Some(stands(scene, &start, &record.last));
            verdict.note = format!("top sinks {:.1} mm", 1e3 * sink);
        }
        Truth::NoOverlap => {
            let moving = still_moving(record);
            verdict.note = format!("{moving} bodies faster than {REST_SPEED} m/s");
        }
        Truth::JointsHold => {
            verdict.error_mm = 1e3 * record.joint_gap;
            verdict.note = "largest gap of a joint over the run".into();
        }
        Truth::Slides {
            body,
            angle,
            friction,
        } => {
            let time = steps as f64 * STEP_S;
            let moved = record.last[body].position - start[body].position;
            judge_slide(moved, time, (angle, friction), &mut verdict);
        }
        Truth::Bounces {
            drop,
            restitution,
            bounces,
            ..
        } => judge_bounces(record, (drop, restitution, bounces), &mut verdict),
        Truth::PassesOn { first, speed } => judge_cradle(record, first, speed, &mut verdict),
    }
    verdict
}

fn judge_slide(moved: DVec3, time: f64, truth: (f64, f64), verdict: &mut Verdict) {
    let (angle, friction) = truth;
    let down = DVec3::new(-angle.cos(), -angle.sin(), 0.0);
    let moved = moved.dot(down);
    let acceleration = GRAVITY * (angle.sin() - friction * angle.cos()).max(0.0);
    let right = 0.5 * acceleration * time * time;
    verdict.error_mm = 1e3 * (moved - right).abs();
    verdict.note = format!("slides {:.1} mm, {:.1} is right", 1e3 * moved, 1e3 * right);
    if right == 0.0 {
        verdict.stands = Some(moved.abs() < 0.5);
    }
}

fn judge_bounces(record: &Record, truth: (f64, f64, usize), verdict: &mut Verdict) {
    let (drop, restitution, bounces) = truth;
    let rest = record.paths[0][0].position.y - drop;
    let heights: Vec<f64> = record.paths[0]
        .iter()
        .map(|pose| pose.position.y - rest)
        .collect();
    let apexes = apexes(&heights);
    let right = drop * restitution.powi(2 * bounces as i32);
    let reached = apexes.get(bounces - 1).copied().unwrap_or(0.0);
    verdict.error_mm = 1e3 * (reached - right).abs();
    let list: Vec<String> = apexes
        .iter()
        .take(bounces)
        .map(|h| format!("{h:.3}"))
        .collect();
    verdict.note = format!("apexes {} m; the last should be {right}", list.join(" "));
}

fn judge_cradle(record: &Record, first: usize, speed: f64, verdict: &mut Verdict) {
    let speeds: Vec<f64> = velocities(record)
        .skip(first)
        .map(|velocity| velocity.x / speed)
        .collect();
    let last = speeds.len() - 1;
    let wrong = speeds
        .iter()
        .enumerate()
        .map(|(k, v)| (v - if k == last { 1.0 } else { 0.0 }).abs())
        .fold(0.0, f64::max);
    // In mm/s for a row that comes at 1 m/s, so that it stands among the other errors.
    verdict.error_mm = 1e3 * wrong;
    let list: Vec<String> = speeds.iter().map(|v| format!("{v:.2}")).collect();
    let energy: f64 = speeds.iter().map(|v| v * v).sum();
    verdict.note = format!("speeds {} of v; energy {energy:.2}", list.join(" "));
}

/// Velocities over the last step by finite differences, m/s.
fn velocities(record: &Record) -> impl Iterator<Item = DVec3> + '_ {
    record
        .before_last
        .iter()
        .zip(&record.last)
        .map(|(before, after)| (after.position - before.position) / STEP_S)
}

fn still_moving(record: &Record) -> usize {
    velocities(record)
        .filter(|velocity| velocity.length() > REST_SPEED)
        .count()
}

/// Largest horizontal displacement, m.
fn sideways(start: &[Pose], end: &[Pose]) -> f64 {
    let flat = |v: DVec3| DVec3::new(v.x, 0.0, v.z).length();
    start
        .iter()
        .zip(end)
        .map(|(a, b)| flat(b.position - a.position))
        .fold(0.0, f64::max)
}

/// Whether no body has left its place by its own size, nor tilted.
fn stands(scene: &Scene, start: &[Pose], end: &[Pose]) -> bool {
    scene
        .bodies
        .iter()
        .zip(start.iter().zip(end))
        .all(|(body, (a, b))| {
            let size = body.shape.size();
            let moved = (b.position - a.position).length();
            let turned = a.rotation.conjugate() * b.rotation;
            let tilt = 2.0 * turned.w.abs().min(1.0).acos();
            let may_roll = matches!(body.shape, Shape::Sphere { .. });
            moved < size && (may_roll || tilt < TILT_LIMIT)
        })
}

/// Largest gap between the two ends of a joint, m.
fn joint_gap(scene: &Scene, poses: &[Pose]) -> f64 {
    use crate::scene::JointKind;
    scene
        .joints
        .iter()
        .map(|joint| {
            let (start_a, start_b) = (scene.bodies[joint.a].pose, scene.bodies[joint.b].pose);
            let (a, b) = (poses[joint.a], poses[joint.b]);
            match joint.kind {
                JointKind::Distance => {
                    let length = start_a.position.distance(start_b.position);
                    (a.position.distance(b.position) - length).abs()
                }
                JointKind::Ball | JointKind::Hinge { .. } => a
                    .point(start_a.local(joint.anchor))
                    .distance(b.point(start_b.local(joint.anchor))),
            }
        })
        .fold(0.0, f64::max)
}

/// Heights of the highest points after each bounce, from a parabola through the three highest
/// neighbouring samples.
fn apexes(heights: &[f64]) -> Vec<f64> {
    heights
        .windows(3)
        .filter(|h| h[1] > h[0] && h[1] >= h[2])
        .map(|h| {
            let bend = h[0] - 2.0 * h[1] + h[2];
            h[1] - (h[2] - h[0]).powi(2) / (8.0 * bend)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apexes_of_sampled_parabolas_are_exact() {
        let height = |t: f64| 0.7 - 0.5 * GRAVITY * (t - 0.213).powi(2);
        let samples: Vec<f64> = (0..26).map(|k| height(f64::from(k) * STEP_S)).collect();
        let found = apexes(&samples);
        assert_eq!(found.len(), 1);
        assert!((found[0] - 0.7).abs() < 1e-12);
    }

    #[test]
    fn a_wall_stands_at_the_start_and_not_when_its_top_has_dropped_a_box() {
        let scene = (crate::scenes::RECIPES[0].make)();
        let start = scene.start();
        assert!(stands(&scene, &start, &start));
        assert_eq!(deepest_overlap(&scene, &start), 0.0);
        let mut fallen = start.clone();
        fallen[210].position.y -= 1.0;
        assert!(!stands(&scene, &start, &fallen));
        assert!(
            (deepest_overlap(&scene, &fallen) - 0.5).abs() < 1e-12,
            "half beside each below"
        );
    }
}
