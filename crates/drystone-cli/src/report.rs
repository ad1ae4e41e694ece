//! The report of a run for programs: one JSON object.
//!
//! Its fields are a promise: `docs/report.md` explains each, and a test holds the set of keys.

use std::collections::BTreeMap;

use drystone::judge::{Figure, Grade};
use drystone_frame::export::csv::angle;
use drystone_frame::{Frame, Stage};
use serde::Serialize;

use crate::simulate::Outcome;
use crate::tally::{CertificateTally, Extremes, JointTally, StepTimes};

/// The report of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    scene: &'a str,
    dimension: u8,
    steps: u64,
    steps_in_parts: u64,
    seconds: f64,
    dt: f64,
    wall_s: f64,
    threads: u32,
    strategy: &'static str,
    solver: &'static str,
    state_hash: String,
    contacts: MaxLast<usize>,
    ms_per_step: MsPerStep,
    certificate: Certificate,
    #[serde(skip_serializing_if = "Option::is_none")]
    joints: Option<Joints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intersections: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_distance_m: Option<f64>,
    bodies: Vec<Body<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct MaxLast<T> {
    max: T,
    last: T,
}

#[derive(Debug, Serialize)]
struct MsPerStep {
    mean: f64,
    p50: f64,
    p95: f64,
    max: f64,
}

#[derive(Debug, Serialize)]
struct Certificate {
    residual_m_s: MaxMeanLast,
    relative_residual: MaxLast<f64>,
    penetration_m: MaxLast<f64>,
    energy_made_j: MaxTotal,
    energy: Energy,
    momentum_n_s: Max,
    angular_momentum_n_m_s: Max,
    push_apart: PushApart,
    worst_step: u64,
    grade: Grade,
    verdict: String,
    grades: BTreeMap<&'static str, Graded>,
}

/// Energy at the end and sums over the run, J.
#[derive(Debug, Serialize)]
struct Energy {
    kinetic_j: f64,
    potential_j: f64,
    elastic_j: f64,
    work_j: f64,
    dissipated_j: f64,
    made_j: f64,
    lost_j: f64,
    scale_j: f64,
}

#[derive(Debug, Serialize)]
struct PushApart {
    gap_m: f64,
    force_n: f64,
}

/// A figure over its scale.
#[derive(Debug, Serialize)]
struct Graded {
    share: f64,
    grade: Grade,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    at: String,
}

#[derive(Debug, Serialize)]
struct Joints {
    error_m: MaxLast<f64>,
    error_rad: MaxLast<f64>,
}

#[derive(Debug, Serialize)]
struct MaxMeanLast {
    max: f64,
    mean: f64,
    last: f64,
}

#[derive(Debug, Serialize)]
struct MaxTotal {
    max: f64,
    total: f64,
}

#[derive(Debug, Serialize)]
struct Max {
    max: f64,
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    name: &'a str,
    position: Vec<f64>,
    rotation: Numbers,
    velocity: Vec<f64>,
    spin: Numbers,
}

/// One number in 2D, several in 3D.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Numbers {
    One(f64),
    Many(Vec<f64>),
}

impl<'a> Report<'a> {
    /// The report of a run of a scene.
    pub(crate) fn new(scene: &'a str, outcome: &'a Outcome) -> Self {
        let tally = &outcome.tally;
        Self {
            scene,
            dimension: outcome.stage.dimension,
            steps: tally.steps,
            steps_in_parts: tally.in_parts,
            seconds: outcome.seconds,
            dt: outcome.dt,
            wall_s: outcome.wall.as_secs_f64(),
            threads: outcome.threads,
            strategy: outcome.strategy.name(),
            solver: outcome.strategy.solver_name(&outcome.solver),
            state_hash: format!("{:#018x}", outcome.state_hash),
            contacts: MaxLast {
                max: tally.contacts_max,
                last: tally.contacts_last,
            },
            ms_per_step: MsPerStep::new(&tally.times),
            certificate: Certificate::new(&tally.certificate),
            joints: tally.joints.as_ref().map(Joints::new),
            intersections: tally.passage.map(|passage| passage.intersections),
            min_distance_m: tally.passage.and_then(|passage| passage.min_distance),
            bodies: bodies(&outcome.stage, &outcome.frame),
            error: outcome.fault.as_ref().map(ToString::to_string),
        }
    }
}

impl MsPerStep {
    fn new(times: &StepTimes) -> Self {
        Self {
            mean: times.mean(),
            p50: times.percentile(50),
            p95: times.percentile(95),
            max: times.max(),
        }
    }
}

fn max_last(extremes: &Extremes) -> MaxLast<f64> {
    MaxLast {
        max: extremes.max,
        last: extremes.last,
    }
}

impl Joints {
    fn new(tally: &JointTally) -> Self {
        Self {
            error_m: max_last(&tally.error_m),
            error_rad: max_last(&tally.error_rad),
        }
    }
}

impl Certificate {
    fn new(tally: &CertificateTally) -> Self {
        Self {
            residual_m_s: MaxMeanLast {
                max: tally.residual.max,
                mean: tally.mean_residual(),
                last: tally.residual.last,
            },
            relative_residual: max_last(&tally.relative_residual),
            penetration_m: max_last(&tally.penetration),
            energy_made_j: MaxTotal {
                max: tally.energy_made.max,
                total: tally.energy_made.total,
            },
            energy: Energy {
                kinetic_j: tally.energy.kinetic,
                potential_j: tally.energy.potential,
                elastic_j: tally.energy.elastic,
                work_j: tally.energy.work,
                dissipated_j: tally.energy.dissipated,
                made_j: tally.energy.made,
                lost_j: tally.energy.lost,
                scale_j: tally.energy.scale,
            },
            momentum_n_s: Max {
                max: tally.momentum.max,
            },
            angular_momentum_n_m_s: Max {
                max: tally.angular_momentum.max,
            },
            push_apart: PushApart {
                gap_m: tally.push_apart[0].max,
                force_n: tally.push_apart[1].max,
            },
            worst_step: tally.worst.as_ref().map_or(0, |worst| worst.step),
            grade: tally.shares().overall(),
            verdict: tally.shares().verdict(),
            grades: Figure::ALL
                .into_iter()
                .map(|figure| (figure.key(), Graded::new(tally, figure)))
                .collect(),
        }
    }
}

impl Graded {
    fn new(tally: &CertificateTally, figure: Figure) -> Self {
        let share = tally.shares().of(figure);
        let place = tally.places.get(&figure);
        Self {
            share: if share.is_finite() { share } else { f64::MAX },
            grade: figure.grade(share),
            step: place.map(|place| place.step),
            at: place.map(|place| place.at.clone()).unwrap_or_default(),
        }
    }
}

fn bodies<'a>(stage: &'a Stage, frame: &Frame) -> Vec<Body<'a>> {
    let flat = stage.dimension == 2;
    let vector = |v: [f64; 3]| v[..if flat { 2 } else { 3 }].to_vec();
    let body = |(k, object): (usize, &'a drystone_frame::Object)| {
        let (rotation, spin) = (*frame.rotations.get(k)?, *frame.spins.get(k)?);
        Some(Body {
            name: &object.name,
            position: vector(*frame.positions.get(k)?),
            rotation: if flat {
                Numbers::One(angle(rotation))
            } else {
                Numbers::Many(rotation.to_vec())
            },
            velocity: vector(*frame.velocities.get(k)?),
            spin: if flat {
                Numbers::One(spin[2])
            } else {
                Numbers::Many(spin.to_vec())
            },
        })
    };
    stage.objects.iter().enumerate().filter_map(body).collect()
}
