//! The `drystone` program: run, check and list contact simulations.
//!
//! ```text
//! cli ─▶ plan ─▶ simulate ─▶ summary or report
//!                   ├─▶ output (poses, plots), recording
//!                   └─▶ progress
//! cli ─▶ case ─▶ contest ─▶ table or JSON, race picture
//! cli ─▶ recording ─▶ resume, verify, info, export
//! cli ─▶ live ─▶ the viewer in the browser
//! ```
//!
//! [`cli`] is what can be typed, [`plan`] turns it into something to run, [`command`] has one
//! small module for each command. [`case`] is a contact problem by itself and [`contest`] what
//! solvers make of it. Errors are [`fault::Fault`]s and end here. The
//! program is a library too, so that `python -m drystone` is the same.

mod case;
mod cli;
mod command;
mod contest;
mod fault;
mod interrupt;
mod live;
mod output;
mod plan;
mod progress;
mod recording;
mod report;
mod simulate;
mod summary;
mod tally;
mod text;
mod units;

use std::ffi::OsString;

use clap::Parser;
use drystone::{Space, StepReport, World};
use drystone_scene::Scene;

/// Does what was typed, the program's name first, and gives the exit code.
///
/// ```
/// assert_eq!(drystone_cli::run(["drystone", "list"]), 0);
/// assert_eq!(drystone_cli::run(["drystone", "lst"]), 2);
/// ```
pub fn run<A: Into<OsString> + Clone>(typed: impl IntoIterator<Item = A>) -> u8 {
    let cli = match cli::Cli::try_parse_from(typed) {
        Ok(cli) => cli,
        Err(error) => {
            // Where there is no one to tell, the exit code still says it.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match command::run(cli.command) {
        Ok(()) => 0,
        Err(fault) if fault.is_broken_pipe() => 0,
        Err(fault) => {
            fault.show();
            fault.exit_code()
        }
    }
}

/// Makes so many steps of a scene's world and gives an HTML page that plays them; `each` is called
/// after every step.
///
/// # Errors
///
/// In words, if a step can't be made or the program was built without the viewer's page.
pub fn replay<S: Space>(
    scene: &Scene,
    world: &mut World<S>,
    steps: u64,
    each: &mut dyn FnMut(&World<S>, &StepReport),
) -> Result<String, String> {
    output::replays::page(scene, world, steps, each)
}
