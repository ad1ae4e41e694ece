//! Runs one scene on several engines, a few steps of each in turn, so that a noisy machine is
//! noisy to all of them alike.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Maker, Reason};
use crate::quality::{Record, Verdict, judge};
use crate::scene::{Pose, Scene};

/// Steps that an engine makes before it is the next one's turn.
const BLOCK: usize = 10;

/// What one engine did with one scene.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub scene: String,
    pub bodies: usize,
    pub engine: String,
    pub threads: usize,
    /// Steps made, fewer than the scene asks for when the time was up.
    pub steps: usize,
    /// Steps that the scene asks for.
    #[serde(default)]
    pub asked_steps: usize,
    pub median_ms: f64,
    pub p90_ms: f64,
    /// Time of the first step, which finds all contacts anew, ms.
    pub first_ms: f64,
    pub verdict: Verdict,
}

/// An engine that has not run a scene, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Skipped {
    pub scene: String,
    pub engine: String,
    pub threads: usize,
    pub reason: Reason,
}

struct Runner {
    maker: Maker,
    engine: Box<dyn Engine>,
    record: Record,
    poses: Vec<Pose>,
    times_s: Vec<f64>,
    /// Their sum.
    spent_s: f64,
    /// Why it stopped before the end.
    stopped: Option<Reason>,
}

impl Runner {
    fn is_done(&self, scene: &Scene) -> bool {
        self.stopped.is_some() || self.times_s.len() >= scene.steps
    }

    /// A block of steps. Poses are read between them only where the verdict needs them: after
    /// the last two of a block, of the run or of the budget (velocities are their difference),
    /// or after each one.
    fn run_block(&mut self, scene: &Scene, budget_s: f64) {
        for k in 1..=BLOCK {
            if self.is_done(scene) {
                return;
            }
            let was_over = self.spent_s > budget_s;
            let clock = Instant::now();
            let result = self.engine.step();
            let time_s = clock.elapsed().as_secs_f64();
            self.times_s.push(time_s);
            self.spent_s += time_s;
            if let Err(reason) = result {
                self.stopped = Some(reason);
            } else if was_over {
                self.stopped = Some(format!("stopped after {budget_s} s"));
            }
            let near_end = k + 1 >= BLOCK || self.times_s.len() + 1 >= scene.steps;
            if near_end || self.spent_s > budget_s || self.record.needs_every_step() {
                self.engine.poses(&mut self.poses);
                self.record.note(scene, &self.poses);
            }
        }
    }

    fn outcome(&self, scene: &Scene, threads: usize) -> Outcome {
        let mut sorted = self.times_s.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = (share * (sorted.len() - 1) as f64).round() as usize;
            1e3 * sorted[index]
        };
        let mut verdict = judge(scene, &self.record, self.times_s.len());
        if let Some(reason) = &self.stopped {
            let steps = self.times_s.len();
            verdict.note = format!(
                "step {steps} of {}: {reason}; {}",
                scene.steps, verdict.note
            );
        }
        Outcome {
            scene: scene.name.clone(),
            bodies: scene.moving(),
            engine: self.maker.name.to_owned(),
            threads,
            steps: self.times_s.len(),
            asked_steps: scene.steps,
            median_ms: at(0.5),
            p90_ms: at(0.9),
            first_ms: 1e3 * self.times_s[0],
            verdict,
        }
    }
}

/// Runs a scene on all of these engines with a number of threads. An engine that has used
/// `budget_s` seconds is stopped.
pub fn race(
    scene: &Scene,
    makers: &[Maker],
    threads: usize,
    budget_s: f64,
) -> (Vec<Outcome>, Vec<Skipped>) {
    let mut runners = Vec::new();
    let mut skipped = Vec::new();
    for &maker in makers {
        match (maker.build)(scene, threads) {
            Ok(engine) => runners.push(Runner {
                maker,
                engine,
                record: Record::new(scene),
                poses: Vec::new(),
                times_s: Vec::with_capacity(scene.steps),
                spent_s: 0.0,
                stopped: None,
            }),
            Err(reason) => skipped.push(Skipped {
                scene: scene.name.clone(),
                engine: maker.name.to_owned(),
                threads,
                reason,
            }),
        }
    }
    // Each round starts with another engine, so that none always follows the same one.
    for round in 0.. {
        if runners.iter().all(|runner| runner.is_done(scene)) {
            break;
        }
        let count = runners.len();
        for k in 0..count {
            runners[(round + k) % count].run_block(scene, budget_s);
        }
    }
    let outcomes = runners
        .iter()
        .map(|runner| runner.outcome(scene, threads))
        .collect();
    (outcomes, skipped)
}
