//! `drystone resume`: goes on with a recording that was cut short.

use std::io::{BufReader, Seek};
use std::path::Path;

use drystone::{Space, World};
use drystone_frame::recording::{Recovered, VERSION, frame_hash, recover};
use drystone_scene::AnyWorld;

use super::print;
use crate::cli::ResumeArgs;
use crate::fault::Fault;
use crate::output::Outputs;
use crate::progress::Progress;
use crate::recording::{Recording, open_to_write, plan_of, unreadable};
use crate::simulate::{Outcome, simulate};
use crate::summary::summary;
use crate::units::counted;

/// Goes on with a recording.
pub(crate) fn resume(args: &ResumeArgs) -> Result<(), Fault> {
    let (path, threads) = (&*args.remake.file, args.remake.threads);
    let mut file = open_to_write(path)?;
    let recovered = file.rewind().map_err(Into::into);
    let recovered = recovered.and_then(|()| recover(BufReader::with_capacity(1 << 18, &file)));
    let recovered = recovered.map_err(|error| unreadable(path, error))?;
    let frames = counted(recovered.frames, "frame");
    if recovered.is_finished {
        return print(&format!("{} is finished: {frames}\n", path.display()));
    }
    if recovered.version != VERSION {
        let what = format!(
            "it has version {} of the format, which this program reads but does not write",
            recovered.version
        );
        return Err(differs(path, &what));
    }
    let mut plan = plan_of(&recovered.header, path, threads)?;
    if plan.world.stage() != recovered.stage {
        return Err(differs(path, "the bodies come out differently"));
    }
    let remake = Remake {
        path,
        recovered: &recovered,
    };
    let state = match &mut plan.world {
        AnyWorld::Flat(world) => remake.run(world)?,
        AnyWorld::Solid(world) => remake.run(world)?,
    };
    let mut outputs = Outputs::default();
    let known = (&recovered, &*state);
    outputs.record(Recording::go_on(path, file, known, args.sync_every_frame)?);
    let steps = plan.steps.saturating_sub(plan.world.steps());
    let name = &plan.scene.name;
    let mut outcome: Outcome = match &mut plan.world {
        AnyWorld::Flat(world) => simulate(world, steps, name, outputs),
        AnyWorld::Solid(world) => simulate(world, steps, name, outputs),
    };
    let resumed = format!(
        "went on with {} after {frames} of {}\n",
        path.display(),
        recovered.header.frames()
    );
    print(&(resumed + &summary(&plan.scene, &outcome, &[path.to_owned()])))?;
    outcome.fault.take().map_or(Ok(()), Err)
}

/// Brings a world to the last good frame of a recording.
struct Remake<'a> {
    path: &'a Path,
    recovered: &'a Recovered,
}

impl Remake<'_> {
    /// From the last state on, frames are made again and must come out as they are recorded.
    /// Gives the state at the last one.
    fn run<S: Space>(&self, world: &mut World<S>) -> Result<Vec<u8>, Fault> {
        let first = match &self.recovered.state {
            Some((frame, state)) => {
                world.restore(state).map_err(|error| {
                    differs(self.path, &format!("its state can't be used: {error}"))
                })?;
                if world.steps() != self.recovered.header.step_of(*frame) {
                    let what = format!("its state is not that of frame {frame}");
                    return Err(differs(self.path, &what));
                }
                frame + 1
            }
            None => 0,
        };
        let header = &self.recovered.header;
        let mut progress =
            Progress::new("making frames again", header.step_of(self.recovered.frames));
        for (number, hash) in (first..).zip(&self.recovered.hashes) {
            while world.steps() < header.step_of(number) {
                let step = world.step().map_err(Fault::Step)?;
                progress.show(step.step, world.time(), step.contacts);
            }
            if frame_hash(&world.frame()) != *hash {
                let what = format!("frame {number} comes out differently");
                return Err(differs(self.path, &what));
            }
        }
        progress.clear();
        Ok(world.snapshot())
    }
}

fn differs(path: &Path, what: &str) -> Fault {
    Fault::OtherRun {
        path: path.to_owned(),
        what: what.to_owned(),
    }
}
