//! What is remembered of a run: extremes and averages over its steps.

use std::collections::BTreeMap;

use drystone::judge::{Figure, Shares};
use drystone::{Audit, Certificate, StepReport};

use crate::units::{count, length};

/// The steps of a run, summed up as they are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Steps made.
    pub(crate) steps: u64,
    /// Most contact points in a step.
    pub(crate) contacts_max: usize,
    /// Contact points in the last step.
    pub(crate) contacts_last: usize,
    /// Steps in which the solver did not reach its tolerance.
    pub(crate) unconverged: u64,
    /// Steps whose impacts did not end by themselves, so that the fail-safe went to work.
    pub(crate) gave_up: u64,
    /// Steps that were made in parts, because something made more energy than it had.
    pub(crate) in_parts: u64,
    /// How long the steps took.
    pub(crate) times: StepTimes,
    /// The certificates of the steps.
    pub(crate) certificate: CertificateTally,
    /// Gaps and turns in joints; `None` where there never were joints.
    pub(crate) joints: Option<JointTally>,
    /// What was found about deformables, where there are any.
    pub(crate) passage: Option<PassageTally>,
}

/// How far joints were from what they hold together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JointTally {
    /// The largest distance of a step, m.
    pub(crate) error_m: Extremes,
    /// The largest angle of a step, rad.
    pub(crate) error_rad: Extremes,
}

impl Tally {
    /// Adds a step that took `milliseconds`.
    pub(crate) fn add(&mut self, step: &StepReport, milliseconds: f64) {
        self.steps += 1;
        self.contacts_max = self.contacts_max.max(step.contacts);
        self.contacts_last = step.contacts;
        self.unconverged += u64::from(!step.solve.converged);
        self.gave_up += u64::from(step.resolution.gave_up);
        self.in_parts += u64::from(step.parts > 1);
        self.times.add(milliseconds);
        if let Some(certificate) = &step.certificate {
            self.certificate.add(certificate);
        }
    }

    /// Adds the errors of joints after a step, m and rad.
    pub(crate) fn add_joints(&mut self, (error_m, error_rad): (f64, f64)) {
        let joints = self.joints.get_or_insert_default();
        joints.error_m.add(error_m);
        joints.error_rad.add(error_rad);
    }
}

/// Whether anything ever passed into a deformable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassageTally {
    /// States that were judged.
    pub(crate) states: u64,
    /// Pairs that intersected, summed over the states.
    pub(crate) intersections: u64,
    /// The least distance of a deformable from anything that is not its neighbour, m.
    pub(crate) min_distance: Option<f64>,
}

impl PassageTally {
    /// Adds a state.
    pub(crate) fn add(&mut self, audit: &Audit) {
        self.states += 1;
        self.intersections += audit.intersections.len() as u64;
        self.min_distance = match (self.min_distance, audit.min_distance_m) {
            (Some(least), Some(now)) => Some(least.min(now)),
            (least, now) => least.or(now),
        };
    }

    /// In plain words.
    pub(crate) fn words(&self) -> String {
        let nearest = match self.min_distance {
            Some(distance) => format!(", surfaces never nearer than {}", length(distance)),
            None => String::new(),
        };
        match self.intersections {
            0 => format!("no intersection in {} states{nearest}", count(self.states)),
            found => format!(
                "{} intersections in {} states",
                count(found),
                count(self.states)
            ),
        }
    }
}

/// The certificates of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct CertificateTally {
    /// Steps that were judged.
    pub(crate) steps: u64,
    /// Residual in m/s.
    pub(crate) residual: Extremes,
    /// Residual over impulses, without unit.
    pub(crate) relative_residual: Extremes,
    /// Deepest overlap in m.
    pub(crate) penetration: Extremes,
    /// Energy made in J.
    pub(crate) energy_made: Extremes,
    /// Error of the momentum balance in N·s.
    pub(crate) momentum: Extremes,
    /// The same of angular momentum in N·m·s.
    pub(crate) angular_momentum: Extremes,
    /// Energy over the run.
    pub(crate) energy: EnergyTally,
    /// Gap across which a contact pushed, m, and its force, N.
    pub(crate) push_apart: [Extremes; 2],
    /// The worst share of each figure, and in which step it was, by whom.
    pub(crate) worst_shares: Shares,
    pub(crate) places: BTreeMap<Figure, Place>,
    /// Where the largest residual was; `None` if there never was any.
    pub(crate) worst: Option<Worst>,
}

/// Energy over a run, J.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EnergyTally {
    /// Of motion, in gravity and in springs, after the last step.
    pub(crate) kinetic: f64,
    pub(crate) potential: f64,
    pub(crate) elastic: f64,
    /// Sums over the steps.
    pub(crate) work: f64,
    pub(crate) dissipated: f64,
    pub(crate) made: f64,
    pub(crate) lost: f64,
    /// The largest energy that was there.
    pub(crate) scale: f64,
}

/// Where a figure was worst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The step, from 1.
    pub(crate) step: u64,
    /// Which bodies, in words; empty where that is not known.
    pub(crate) at: String,
}

/// Where the largest residual was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worst {
    /// The step, from 1.
    pub(crate) step: u64,
    /// The two bodies.
    pub(crate) pair: Option<(String, String)>,
}

impl CertificateTally {
    fn add(&mut self, certificate: &Certificate) {
        self.steps += 1;
        if finite(certificate.residual_m_s) > self.residual.max {
            let pair = certificate.worst.as_ref();
            self.worst = Some(Worst {
                step: certificate.step,
                pair: pair.map(|worst| (worst.a.clone(), worst.b.clone())),
            });
        }
        self.residual.add(certificate.residual_m_s);
        self.relative_residual.add(certificate.relative_residual);
        self.penetration.add(certificate.penetration_m);
        self.energy_made.add(certificate.energy_made_j);
        self.momentum.add(certificate.momentum_n_s);
        self.angular_momentum
            .add(certificate.angular_momentum_n_m_s);
        self.push_apart[0].add(certificate.push_apart_m);
        self.push_apart[1].add(certificate.push_apart_n);
        self.energy.add(certificate);
        for figure in Figure::ALL {
            let (now, worst) = (certificate.shares.of(figure), self.worst_shares.of(figure));
            if now.is_nan() || now > worst {
                let place = Place {
                    step: certificate.step,
                    at: culprit(certificate, figure),
                };
                self.places.insert(figure, place);
            }
        }
        self.worst_shares = self.worst_shares.upper(&certificate.shares);
    }

    /// The shares of the run: the worst of each step, and of energy that of the whole run if it is
    /// worse.
    pub(crate) fn shares(&self) -> Shares {
        let EnergyTally {
            made, lost, scale, ..
        } = self.energy;
        let drift = (made - lost).abs();
        let of_run = if drift > 0.0 { drift / scale } else { 0.0 };
        Shares {
            energy: self.worst_shares.energy.max(of_run),
            ..self.worst_shares
        }
    }

    /// Mean residual in m/s over the steps that were judged.
    pub(crate) fn mean_residual(&self) -> f64 {
        finite(self.residual.total / self.steps.max(1) as f64)
    }
}

impl EnergyTally {
    fn add(&mut self, certificate: &Certificate) {
        let energy = &certificate.energy;
        self.kinetic = finite(energy.kinetic_j);
        self.potential = finite(energy.potential_j);
        self.elastic = finite(energy.elastic_j);
        self.work = finite(self.work + energy.work_j);
        self.dissipated = finite(self.dissipated + energy.dissipated_j);
        self.made = finite(self.made + energy.made_j);
        self.lost = finite(self.lost + energy.lost_j);
        self.scale = self.scale.max(finite(energy.scale_j));
    }
}

/// Which bodies a figure is about, in words.
fn culprit(certificate: &Certificate, figure: Figure) -> String {
    let pair = match figure {
        Figure::Residual => certificate.worst.as_ref(),
        Figure::PushApart => certificate.push_apart_at.as_ref(),
        _ => None,
    };
    let one = match figure {
        Figure::Energy => certificate.energy_at.as_ref(),
        Figure::Displacement => certificate.displaced.as_ref(),
        Figure::Momentum | Figure::AngularMomentum => certificate.momentum_at.as_ref(),
        _ => None,
    };
    match (pair, one) {
        (Some(pair), _) => format!("{} and {}", pair.a, pair.b),
        (_, Some(one)) => one.clone(),
        _ => String::new(),
    }
}

/// Of numbers that are 0 or more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extremes {
    /// The largest.
    pub(crate) max: f64,
    /// The last.
    pub(crate) last: f64,
    /// The sum.
    pub(crate) total: f64,
}

impl Extremes {
    fn add(&mut self, value: f64) {
        let value = finite(value);
        self.max = self.max.max(value);
        self.last = value;
        self.total = finite(self.total + value);
    }
}

/// The number, or the largest there is for what is no number: JSON has no infinity, and an
/// overflow must look bad.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::MAX }
}

/// How long steps took, in ms, in bounded memory: times that agree in about four digits are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepTimes {
    counts: BTreeMap<u64, u64>,
    number: u64,
    total: f64,
    max: f64,
}

/// Bits of a time that are dropped: 12 of the 52 bits after the point stay, steps of 0.02 %.
const DROPPED_BITS: u32 = 40;

impl StepTimes {
    fn add(&mut self, milliseconds: f64) {
        // The bits of positive numbers are in the order of the numbers.
        let bucket = milliseconds.max(0.0).to_bits() >> DROPPED_BITS;
        *self.counts.entry(bucket).or_default() += 1;
        self.number += 1;
        self.total += milliseconds;
        self.max = self.max.max(milliseconds);
    }

    /// Mean in ms.
    pub(crate) fn mean(&self) -> f64 {
        self.total / self.number.max(1) as f64
    }

    /// The longest in ms.
    pub(crate) fn max(&self) -> f64 {
        self.max
    }

    /// The time in ms that a share of the steps did not exceed.
    pub(crate) fn percentile(&self, percent: u64) -> f64 {
        let rank = (self.number * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in &self.counts {
            seen += count;
            if seen >= rank {
                return f64::from_bits(bucket << DROPPED_BITS);
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::judge::WorstContact;

    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        let mut times = StepTimes::default();
        for k in (1..=1000).rev() {
            times.add(0.01 * f64::from(k));
        }
        assert!((times.percentile(50) - 5.0).abs() < 2e-3);
        assert!((times.percentile(95) - 9.5).abs() < 3e-3);
        assert_eq!(times.max(), 10.0);
        assert!((times.mean() - 5.005).abs() < 1e-12);
        assert!(times.percentile(100) <= times.max());
    }

    #[test]
    fn no_steps_have_no_times() {
        let times = StepTimes::default();
        assert_eq!(
            (times.mean(), times.percentile(95), times.max()),
            (0.0, 0.0, 0.0)
        );
    }

    #[test]
    fn the_worst_step_is_that_of_the_largest_residual() {
        let mut tally = Tally::default();
        for (step, residual) in [(1, 1e-6), (2, 3e-6), (3, 2e-6)] {
            let worst = WorstContact {
                a: format!("stone {step}"),
                b: "floor".into(),
            };
            let certificate = Certificate {
                step,
                residual_m_s: residual,
                worst: Some(worst),
                ..Certificate::default()
            };
            tally.add(
                &StepReport {
                    certificate: Some(certificate),
                    ..StepReport::default()
                },
                1.0,
            );
        }
        let pair = Some(("stone 2".to_owned(), "floor".to_owned()));
        assert_eq!(tally.certificate.worst, Some(Worst { step: 2, pair }));
        assert!((tally.certificate.mean_residual() - 2e-6).abs() < 1e-18);
    }

    #[test]
    fn an_overflow_looks_bad_but_stays_a_number() {
        let mut extremes = Extremes::default();
        extremes.add(f64::INFINITY);
        extremes.add(f64::NAN);
        assert_eq!((extremes.max, extremes.total), (f64::MAX, f64::MAX));
    }
}
