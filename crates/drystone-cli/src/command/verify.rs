//! `drystone verify`: makes a recording's frames again and compares them.

use std::num::NonZeroU32;
use std::path::Path;

use drystone::{Space, World};
use drystone_frame::recording::{Content, Reader, frame_hash};
use drystone_scene::AnyWorld;

use super::print;
use crate::fault::Fault;
use crate::progress::Progress;
use crate::recording::{open_to_read, plan_of, unreadable};
use crate::units::{count, counted};

/// What was compared.
#[derive(Default)]
struct Compared {
    frames: u64,
    states: u64,
    last_hash: u64,
}

/// Verifies a recording.
pub(crate) fn verify(path: &Path, threads: Option<NonZeroU32>) -> Result<(), Fault> {
    let reader = Reader::open(open_to_read(path)?).map_err(|error| unreadable(path, error))?;
    let header = reader.header.clone();
    let mut plan = plan_of(&header, path, threads)?;
    let mut stage = plan.world.stage();
    if reader.version == 1 {
        // Version 1 did not tell of joints.
        stage.joints.clear();
    }
    if stage != reader.stage {
        return Err(differs(path, "the bodies come out differently".to_owned()));
    }
    let compared = match &mut plan.world {
        AnyWorld::Flat(world) => compare(world, reader, path)?,
        AnyWorld::Solid(world) => compare(world, reader, path)?,
    };
    let all = header.frames();
    let end = if compared.frames == all {
        String::new()
    } else {
        format!(" of {}", count(all))
    };
    print(&format!(
        "{} holds what this program computes: {}{end} and {} are the same, hash {:#018x}\n",
        path.display(),
        counted(compared.frames, "frame"),
        counted(compared.states, "state"),
        compared.last_hash
    ))
}

fn compare<S: Space>(
    world: &mut World<S>,
    mut reader: Reader<impl std::io::Read>,
    path: &Path,
) -> Result<Compared, Fault> {
    let header = reader.header.clone();
    let mut progress = Progress::new("verifying", header.steps);
    let mut compared = Compared::default();
    loop {
        let content = reader.content().map_err(|error| unreadable(path, error))?;
        match content {
            Some(Content::Frame(record)) => {
                while world.steps() < header.step_of(record.number) {
                    let step = world.step().map_err(Fault::Step)?;
                    progress.show(step.step, world.time(), step.contacts);
                }
                compared.last_hash = frame_hash(&world.frame());
                if compared.last_hash != frame_hash(&record.frame) {
                    let number = record.number;
                    return Err(differs(
                        path,
                        format!("frame {number} comes out differently"),
                    ));
                }
                compared.frames += 1;
            }
            Some(Content::State { frame, state }) => {
                if state != world.snapshot() {
                    let what = format!("the state at frame {frame} comes out differently");
                    return Err(differs(path, what));
                }
                compared.states += 1;
            }
            Some(Content::End) | None => break,
        }
    }
    progress.clear();
    Ok(compared)
}

fn differs(path: &Path, what: String) -> Fault {
    Fault::OtherRun {
        path: path.to_owned(),
        what,
    }
}
