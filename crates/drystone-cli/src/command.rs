//! The commands, one module each.

mod check;
pub(crate) mod export;
mod import;
mod info;
mod list;
mod picture;
mod problem;
mod race;
mod resume;
mod run;
mod solve;
mod verify;
mod view;

use std::io::{self, Write};

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::fault::Fault;

/// Does what was typed.
pub(crate) fn run(command: Command) -> Result<(), Fault> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => resume::resume(&args),
        Command::Info { file } => info::info(&file),
        Command::Verify(args) => verify::verify(&args.file, args.threads),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => import::import(&args),
        Command::View(args) => view::view(&args),
        Command::Picture(args) => picture::picture(&args),
        Command::Problem(args) => problem::problem(&args),
        Command::Solve(args) => solve::solve(&args),
        Command::Race(args) => race::race(&args),
        Command::List => print(&list::list()?),
        Command::Check {
            scene,
            intersections,
            reading,
        } => check::check(&scene, intersections, reading),
        Command::Schema => print(&pretty(&drystone_scene::json_schema())?),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "drystone", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}

/// Writes to standard output.
fn print(text: &str) -> Result<(), Fault> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes());
    written.and_then(|()| stdout.flush()).map_err(Fault::Stdout)
}

/// JSON that a person can read too.
fn pretty(value: &impl serde::Serialize) -> Result<String, Fault> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Fault::Stdout(error.into()))?;
    Ok(text + "\n")
}
