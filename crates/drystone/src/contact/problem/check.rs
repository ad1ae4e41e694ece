//! Whether a contact problem can be used: what a solver may take for granted.
//!
//! The engine's own problems are right by construction; those from files and from other programs
//! are checked here before anything reads them. After [`check`] no solver meets an index out of
//! range, a number that is none, a friction below zero or a matrix that is not symmetric.

use super::local_form::check_symmetry;
use super::{ContactProblem, Delassus, Island, Response, Row, Side};
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};
use thiserror::Error;

/// What is wrong with a problem, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {what}")]
pub struct ProblemError {
    /// Which field of what, such as `row 3: mu`.
    pub place: String,
    /// What would be right, and what is there.
    pub what: String,
}

type Checked = Result<(), ProblemError>;

/// How far from orthonormal a basis may be, without unit: far above rounding in any program,
/// far below what would bend a contact's law.
const BASIS_TOLERANCE: f64 = 1e-6;

/// How far from symmetric an inverse inertia may be, relative to its size.
const INERTIA_TOLERANCE: f64 = 1e-8;

/// Checks a problem; the first thing that is wrong is named.
pub fn check<S: Space>(problem: &ContactProblem<S>) -> Checked {
    if !(problem.dt.is_finite() && problem.dt > 0.0) {
        let what = format!("must be a finite number above 0 (s), not {}", problem.dt);
        return fail("dt", what);
    }
    let (bodies, motions) = (problem.responses.len(), problem.free.len());
    if bodies != motions {
        let what = format!("must be as many as responses, {bodies}, not {motions}");
        return fail("free", what);
    }
    for (k, response) in problem.responses.iter().enumerate() {
        check_response(response).map_err(|e| e.of(format!("response {k}")))?;
    }
    for (k, motion) in problem.free.iter().enumerate() {
        if !(motion.linear.is_finite() && motion.spin.is_finite()) {
            return fail(format!("free {k}"), "must be made of finite numbers");
        }
    }
    for (k, row) in problem.rows.iter().enumerate() {
        check_row(row, bodies).map_err(|e| e.of(format!("row {k}")))?;
    }
    check_partition(&problem.islands, problem.rows.len())?;
    match &problem.delassus {
        Some(delassus) => check_delassus(delassus, problem),
        None => check_islands_apart(problem),
    }
}

fn fail<T>(place: impl Into<String>, what: impl Into<String>) -> Result<T, ProblemError> {
    Err(ProblemError {
        place: place.into(),
        what: what.into(),
    })
}

impl ProblemError {
    /// The same, with what it is a part of.
    fn of(self, whole: String) -> Self {
        Self {
            place: format!("{whole}: {}", self.place),
            ..self
        }
    }
}

fn check_response<S: Space>(response: &Response<S>) -> Checked {
    for axis in 0..S::DIM {
        let x = response.inv_mass.component(axis);
        if !(x.is_finite() && x >= 0.0) {
            let what = format!("must be finite and 0 or more along every axis (1/kg), not {x}");
            return fail("inv_mass", what);
        }
    }
    let column = |k: usize| {
        let unit = S::Spin::default().with_component(k, 1.0);
        S::apply_inertia(&response.inv_inertia, unit)
    };
    let largest = (0..S::SPIN_DIM).fold(0.0, |most: f64, k| most.max(column(k).length()));
    for k in 0..S::SPIN_DIM {
        let own = column(k).component(k);
        if !(column(k).is_finite() && own >= 0.0) {
            let what = "must be finite with a diagonal of 0 or more (1/(kg·m²))";
            return fail("inv_inertia", what);
        }
        for l in 0..k {
            let skew = (column(k).component(l) - column(l).component(k)).abs();
            if skew > INERTIA_TOLERANCE * largest {
                return fail("inv_inertia", "must be symmetric");
            }
        }
    }
    Ok(())
}

fn check_row<S: Space>(row: &Row<S>, bodies: usize) -> Checked {
    if !(row.mu.is_finite() && row.mu >= 0.0) {
        let what = format!("must be a finite number, 0 or more, not {}", row.mu);
        return fail("mu", what);
    }
    if !row.target.is_finite() {
        let what = format!("must be a finite number (m/s), not {}", row.target);
        return fail("target", what);
    }
    for k in 0..S::DIM {
        for l in 0..=k {
            let dot = S::column(&row.basis, k).dot(S::column(&row.basis, l));
            let expected = if k == l { 1.0 } else { 0.0 };
            let is_near = (dot - expected).abs() <= BASIS_TOLERANCE;
            if !is_near {
                return fail("basis", "columns must be orthonormal: normal, tangents");
            }
        }
    }
    check_side(&row.a, bodies).map_err(|e| e.of("a".into()))?;
    check_side(&row.b, bodies).map_err(|e| e.of("b".into()))
}

fn check_side<S: Space>(side: &Side<S>, bodies: usize) -> Checked {
    let is_there = |body: u32| {
        if (body as usize) < bodies {
            Ok(())
        } else {
            let what = format!("must be below {bodies}, the number of bodies, not {body}");
            fail("body", what)
        }
    };
    match *side {
        Side::Fixed => Ok(()),
        Side::Particle { body } => is_there(body),
        Side::Rigid { body, arm } => {
            is_there(body)?;
            if arm.is_finite() {
                Ok(())
            } else {
                fail("arm", "must be made of finite numbers (m)")
            }
        }
        Side::Nodes { bodies, weights } => {
            bodies.into_iter().try_for_each(is_there)?;
            let sum: f64 = weights.iter().sum();
            let is_one = (sum - 1.0).abs() <= 1e-9;
            // Zeros last: readers take as many bodies as there are weights.
            let in_order = weights.windows(2).all(|w| w[0] != 0.0 || w[1] == 0.0);
            if is_one && in_order {
                Ok(())
            } else {
                let what = format!("must sum to 1 with zeros last, not {weights:?}");
                fail("weights", what)
            }
        }
    }
}

/// Islands must be the rows cut into pieces, in order.
fn check_partition(islands: &[Island], rows: usize) -> Checked {
    let mut next = 0;
    for (k, island) in islands.iter().enumerate() {
        if island.start != next || island.end <= island.start || island.end as usize > rows {
            let what = format!(
                "must start at row {next} and end above it, at most at {rows}, not {}..{}",
                island.start, island.end
            );
            return fail(format!("island {k}"), what);
        }
        next = island.end;
    }
    if next as usize == rows {
        Ok(())
    } else {
        fail("islands", format!("must cover all {rows} rows, not {next}"))
    }
}

/// A body that moves belongs to one island: otherwise solving islands apart is wrong.
fn check_islands_apart<S: Space>(problem: &ContactProblem<S>) -> Checked {
    let mut island_of_body: Vec<Option<usize>> = vec![None; problem.responses.len()];
    for (k, island) in problem.islands.iter().enumerate() {
        for row in island.rows() {
            let r = &problem.rows[row];
            for body in r.a.bodies().chain(r.b.bodies()).map(|b| b as usize) {
                if !problem.responses[body].moves() {
                    continue;
                }
                let owner = *island_of_body[body].get_or_insert(k);
                if owner != k {
                    let what = format!("body {body} moves and is in island {owner} already");
                    return fail(format!("island {k}: row {row}"), what);
                }
            }
        }
    }
    Ok(())
}

fn check_delassus<S: Space>(delassus: &Delassus<S>, problem: &ContactProblem<S>) -> Checked {
    let rows = problem.rows.len();
    if delassus.q.len() != rows {
        let what = format!("must be as many as rows, {rows}, not {}", delassus.q.len());
        return fail("delassus: q", what);
    }
    check_starts(delassus, rows)?;
    for (row, q) in delassus.q.iter().enumerate() {
        if !q.is_finite() {
            return fail(format!("delassus: q {row}"), "must be finite (m/s)");
        }
    }
    let numbers = |b: &S::Matrix| (0..S::DIM).all(|k| S::column(b, k).is_finite());
    for island in &problem.islands {
        for row in island.rows() {
            let mut last = None;
            for (column, block) in delassus.row(row) {
                let place = || format!("delassus: row {row}, column {column}");
                if last.is_some_and(|last| column <= last) {
                    return fail(place(), "columns must rise within a row");
                }
                if !island.rows().contains(&column) {
                    let what = "must be a row of the same island, or islands are not apart";
                    return fail(place(), what);
                }
                if !numbers(block) {
                    return fail(place(), "must be made of finite numbers (1/kg)");
                }
                last = Some(column);
            }
        }
    }
    check_symmetry(delassus).or_else(|what| fail("delassus", what))
}

/// `starts` must run from 0 to the number of blocks without falling.
fn check_starts<S: Space>(delassus: &Delassus<S>, rows: usize) -> Checked {
    let Delassus {
        starts,
        columns,
        blocks,
        ..
    } = delassus;
    let rises = starts.windows(2).all(|w| w[0] <= w[1]);
    let ends = (starts.first(), starts.last().map(|end| *end as usize));
    if starts.len() != rows + 1 || !rises || ends != (Some(&0), Some(columns.len())) {
        let what = format!(
            "must be {} rising numbers from 0 to {}, the number of columns",
            rows + 1,
            columns.len()
        );
        return fail("delassus: starts", what);
    }
    if blocks.len() == columns.len() {
        Ok(())
    } else {
        let what = format!(
            "must be as many as columns, {}, not {}",
            columns.len(),
            blocks.len()
        );
        fail("delassus: blocks", what)
    }
}
