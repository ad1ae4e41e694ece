//! `drystone run`: a scene, step by step, and what came of it.

use drystone_scene::AnyWorld;

use super::{pretty, print};
use crate::cli::{ReportFormat, RunArgs};
use crate::fault::Fault;
use crate::output::Outputs;
use crate::plan::Plan;
use crate::recording::Recording;
use crate::report::Report;
use crate::simulate::simulate;
use crate::summary::summary;

/// Frames in a second of a recording, where none are asked for.
const USUAL_FPS: f64 = 60.0;

/// Runs a scene.
pub(crate) fn run(args: &RunArgs) -> Result<(), Fault> {
    let mut plan = Plan::new(&args.scene, &args.settings, args.seconds)?;
    let mut outputs = Outputs::open(&args.outputs, &plan.scene, plan.seconds(), &args.film)?;
    let record = args.recording.record.as_ref();
    if let Some(path) = record {
        if args.outputs.iter().any(|out| out.path == *path) {
            return Err(Fault::SameFile(path.clone()));
        }
        let fps = args.film.fps.unwrap_or(USUAL_FPS);
        outputs.record(Recording::create(&plan, &args.recording, fps, path)?);
    }
    plan.show_warnings();
    let name = &plan.scene.name;
    let mut outcome = match &mut plan.world {
        AnyWorld::Flat(world) => simulate(world, plan.steps, name, outputs),
        AnyWorld::Solid(world) => simulate(world, plan.steps, name, outputs),
    };
    match args.report {
        Some(ReportFormat::Json) => print(&pretty(&Report::new(name, &outcome))?)?,
        None => {
            let written = args.outputs.iter().map(|out| &out.path).chain(record);
            let written: Vec<_> = written.cloned().collect();
            print(&summary(&plan.scene, &outcome, &written))?;
        }
    }
    outcome.fault.take().map_or(Ok(()), Err)
}
