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
//! solvers make of it. Errors are [`fault::Fault`]s and end here.

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

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match command::run(cli::Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) if fault.is_broken_pipe() => ExitCode::SUCCESS,
        Err(fault) => {
            fault.show();
            fault.exit_code()
        }
    }
}
