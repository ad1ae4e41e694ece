//! The run: steps until time is up or a step fails.

use std::time::{Duration, Instant};

use drystone::{SolverKind, Space, Strategy, World};
use drystone_frame::{Frame, Stage};

use crate::fault::Fault;
use crate::output::{Ended, Outputs};
use crate::progress::Progress;
use crate::tally::Tally;

/// The greatest number of steps of a run: weeks of computing.
const MOST_STEPS: f64 = 1e9;

/// Where a run ended, and how it came there.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Simulated time in s.
    pub(crate) seconds: f64,
    /// Length of a step in s.
    pub(crate) dt: f64,
    /// What solved the contacts, with its options.
    pub(crate) solver: SolverKind,
    /// How steps were made.
    pub(crate) strategy: Strategy,
    /// Threads that steps could use.
    pub(crate) threads: u32,
    /// Time that the whole run took, outputs included.
    pub(crate) wall: Duration,
    /// The steps, summed up.
    pub(crate) tally: Tally,
    /// Hash of the last good state.
    pub(crate) state_hash: u64,
    /// The bodies.
    pub(crate) stage: Stage,
    /// Where the bodies are.
    pub(crate) frame: Frame,
    /// What ended the run early.
    pub(crate) fault: Option<Fault>,
}

/// The number of steps of length `dt` nearest to `seconds`, at least one if there is any time.
pub(crate) fn steps(seconds: f64, dt: f64) -> Result<u64, Fault> {
    let steps = libm::round(seconds / dt);
    if !(0.0..=MOST_STEPS).contains(&steps) {
        return Err(Fault::TooManySteps { seconds, dt });
    }
    Ok(if seconds > 0.0 {
        (steps as u64).max(1)
    } else {
        0
    })
}

/// Makes `steps` steps, or as many as are good, and writes the outputs.
pub(crate) fn simulate<S: Space>(
    world: &mut World<S>,
    steps: u64,
    title: &str,
    mut outputs: Outputs,
) -> Outcome {
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut progress = Progress::new(title, steps);
    let run = outputs.begin(world).and_then(|()| {
        (0..steps).try_for_each(|_| advance(world, &mut tally, &mut outputs, &mut progress))
    });
    progress.clear();
    // Plots are drawn for the steps that were good, whatever came after them. A step that failed
    // would fail again, so a recording is over then.
    let is_over = matches!(run, Ok(()) | Err(Fault::Step(_)));
    let drawn = outputs.finish(world, Ended { title, is_over });
    Outcome {
        seconds: world.time(),
        dt: world.settings().dt,
        solver: world.settings().solver,
        strategy: world.settings().strategy,
        threads: if world.settings().strategy.is_threaded() {
            world.settings().threads
        } else {
            1
        },
        wall: start.elapsed(),
        tally,
        state_hash: world.state_hash(),
        stage: world.stage(),
        frame: world.frame(),
        fault: run.and(drawn).err(),
    }
}

fn advance<S: Space>(
    world: &mut World<S>,
    tally: &mut Tally,
    outputs: &mut Outputs,
    progress: &mut Progress,
) -> Result<(), Fault> {
    let start = Instant::now();
    let step = world.step().map_err(Fault::Step)?;
    tally.add(&step, 1e3 * start.elapsed().as_secs_f64());
    if world.joints().next().is_some() {
        tally.add_joints(world.joint_error());
    }
    if world.has_deformables() && step.certificate.is_some() {
        let audit = world.audit().map_err(Fault::Audit)?;
        tally.passage.get_or_insert_default().add(&audit);
    }
    progress.show(step.step, world.time(), step.contacts);
    outputs.add(world, &step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_the_nearest_whole_number() {
        assert_eq!(steps(1.0, 1.0 / 240.0).unwrap(), 240);
        assert_eq!(steps(0.1, 0.03).unwrap(), 3);
        assert_eq!(steps(1e-9, 0.01).unwrap(), 1);
        assert_eq!(steps(0.0, 0.01).unwrap(), 0);
    }

    #[test]
    fn endless_runs_are_refused() {
        assert!(steps(1e300, 1e-3).is_err());
        assert!(steps(1.0, f64::MIN_POSITIVE).is_err());
    }
}
