//! The `drystone` program: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(drystone_cli::run(std::env::args_os()))
}
