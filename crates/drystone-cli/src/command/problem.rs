//! `drystone problem`: the contact problem of one step, as a file.

use super::print;
use crate::case::Case;
use crate::cli::ProblemArgs;
use crate::fault::Fault;
use crate::output::Target;
use crate::units::counted;

/// Runs a scene to a time and writes the contact problem of its next step.
pub(crate) fn problem(args: &ProblemArgs) -> Result<(), Fault> {
    let mut target = Target::open(&args.out.path)?;
    let case = Case::of_scene(&args.scene, &args.settings, args.at)?;
    target.replace(case.text(args.out.format)?.as_bytes())?;
    print(&format!(
        "wrote {}: {} after {:.2} s, {}, {}, {}\n",
        args.out.path.display(),
        case.name,
        case.time.unwrap_or_default(),
        counted(case.contacts() as u64, "contact"),
        counted(case.bodies() as u64, "body"),
        counted(case.islands() as u64, "island"),
    ))
}
