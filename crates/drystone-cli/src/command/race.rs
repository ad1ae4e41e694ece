//! `drystone race`: how fast each solver comes near the answer.

mod picture;

use drystone::contact::problem::{ContactProblem, Side};
use drystone::{Linear, SolverKind, Space};
use drystone_view::matrix::{Block, Label, Pattern};

use super::print;
use crate::case::{Case, on_problem};
use crate::cli::RaceArgs;
use crate::contest::{self, Goal};
use crate::fault::Fault;
use crate::output::{Format, Target};
use picture::Picture;

/// Lets all solvers solve a problem and draws how they came along.
pub(crate) fn race(args: &RaceArgs) -> Result<(), Fault> {
    let path = &args.out.path;
    if args.matrix.as_ref() == Some(path) {
        return Err(Fault::SameFile(path.clone()));
    }
    let mut target = Target::open(path)?;
    let mut matrix = args.matrix.as_deref().map(Target::open).transpose()?;
    let case = Case::find(&args.subject, args.at)?;
    if case.contacts() == 0 {
        return Err(Fault::NoContacts(case.name));
    }
    if let Some(matrix) = &mut matrix {
        let pattern = on_problem!(&case.problem, problem => pattern(problem, &case.names));
        matrix.replace(&pattern.image().png().map_err(Fault::Picture)?)?;
    }
    let goal = Goal {
        limits: contest::limits(&args.stop, true),
        fclib: None,
    };
    print(&contest::heading(&case, goal))?;
    let mut entries = Vec::new();
    for solver in SolverKind::NAMES.into_iter().filter_map(SolverKind::named) {
        let entry = contest::solve(&case.problem, solver, goal);
        print(&entry.row())?;
        entries.push(entry);
    }
    let picture = Picture::new(&case, &entries);
    target.replace(&match args.out.format {
        Format::Png => picture.png()?,
        _ => picture.svg()?.into_bytes(),
    })?;
    let files: Vec<String> = [Some(path), args.matrix.as_ref()]
        .into_iter()
        .flatten()
        .map(|path| path.display().to_string())
        .collect();
    print(&format!("\nwrote {}\n", files.join(" and ")))
}

/// The bodies of each run of rows, by their names.
fn labels<S: Space>(problem: &ContactProblem<S>, names: &[String]) -> Vec<Label> {
    let name = |side: &Side<S>| {
        let bodies: Vec<&str> = side
            .bodies()
            .map(|k| names.get(k as usize).map_or("?", String::as_str))
            .collect();
        if bodies.is_empty() {
            "fixed".to_owned()
        } else {
            bodies.join("+")
        }
    };
    let mut labels: Vec<Label> = Vec::new();
    if names.is_empty() {
        return labels;
    }
    for (k, row) in problem.rows.iter().enumerate() {
        let text = format!("{} | {}", name(&row.a), name(&row.b));
        match labels.last_mut() {
            Some(last) if last.text == text => last.rows.end = k + 1,
            _ => labels.push(Label {
                rows: k..k + 1,
                text,
            }),
        }
    }
    labels
}

/// The blocks of A with their Frobenius norms.
fn pattern<S: Space>(problem: &ContactProblem<S>, names: &[String]) -> Pattern {
    let reduced = problem.reduced();
    let side = problem.rows.len();
    let norm = |block: &S::Matrix| {
        let squares = (0..S::DIM).map(|k| S::column(block, k)).map(|c| c.dot(c));
        squares.sum::<f64>().sqrt()
    };
    let blocks = (0..side).flat_map(|row| {
        let of_row = reduced.row(row).map(move |(column, block)| Block {
            row,
            column,
            size: norm(block),
        });
        of_row.collect::<Vec<_>>()
    });
    Pattern {
        side,
        blocks: blocks.collect(),
        labels: labels(problem, names),
    }
}
