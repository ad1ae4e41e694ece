//! Contact problems as plain text without bodies: μ, q and the matrix A (called W there).
//!
//! ```text
//! dimension 3
//! contacts n
//! mu
//!   n numbers
//! q
//!   3n numbers: for each contact normal, tangent 1, tangent 2, m/s
//! W k
//!   k lines: row column value, counted from 0
//! ```
//!
//! White space and line breaks separate; `#` starts a comment. Find r with u = W r + q under
//! Signorini's and Coulomb's laws. Sums of repeated entries count.

use super::{ContactProblem, Delassus, Island, Row, Side};
use crate::geometry::Space;
#[cfg(feature = "dim2")]
use crate::math::algebra::D2;
#[cfg(feature = "dim3")]
use crate::math::algebra::D3;
use crate::math::algebra::{Components, Linear};
use thiserror::Error;

/// A problem in either dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyProblem {
    /// In the plane.
    #[cfg(feature = "dim2")]
    Flat(ContactProblem<D2>),
    /// In space.
    #[cfg(feature = "dim3")]
    Solid(ContactProblem<D3>),
}

/// The dimensions that this build has.
pub(super) const DIMENSIONS: &str = if cfg!(all(feature = "dim2", feature = "dim3")) {
    "2 or 3"
} else if cfg!(feature = "dim2") {
    "2 (this program is built without `dim3`)"
} else {
    "3 (this program is built without `dim2`)"
};

/// What is wrong with a file in local form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {what}")]
pub struct LocalFormError {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// Reads a problem in local form.
pub fn parse(text: &str) -> Result<AnyProblem, LocalFormError> {
    let mut words = Words::new(text);
    words.keyword("dimension")?;
    match words.count("the dimension")? {
        #[cfg(feature = "dim2")]
        2 => read::<D2>(&mut words).map(AnyProblem::Flat),
        #[cfg(feature = "dim3")]
        3 => read::<D3>(&mut words).map(AnyProblem::Solid),
        other => Err(words.error(format!("the dimension must be {DIMENSIONS}, not {other}"))),
    }
}

fn read<S: Space>(words: &mut Words<'_>) -> Result<ContactProblem<S>, LocalFormError> {
    words.keyword("contacts")?;
    let contacts = words.count("the number of contacts")?;
    words.keyword("mu")?;
    let mut rows = Vec::new();
    for _ in 0..contacts {
        let mu = words.number("a friction coefficient")?;
        if mu < 0.0 {
            return Err(words.error(format!("friction must be 0 or more, not {mu}")));
        }
        rows.push(Row {
            a: Side::Fixed,
            b: Side::Fixed,
            basis: S::matrix(|k| S::Vector::default().with_component(k, 1.0)),
            mu,
            target: 0.0,
        });
    }
    words.keyword("q")?;
    let mut q = Vec::new();
    for _ in 0..contacts {
        let mut local = S::Vector::default();
        for k in 0..S::DIM {
            local = local.with_component(k, words.number("a velocity")?);
        }
        q.push(local);
    }
    words.keyword("W")?;
    let count = words.count("the number of entries of W")?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let row = words.index("a row", S::DIM * contacts)?;
        let column = words.index("a column", S::DIM * contacts)?;
        // Transposed: an impulse is applied by its contact's row of blocks, so that u = W r holds
        // with the W of the file even where it is symmetric to a few digits only.
        entries.push((column, row, words.number("an entry of W")?));
    }
    words.end()?;
    let delassus = blocks_of::<S>(&entries, q);
    check_symmetry(&delassus).map_err(|what| words.error(what))?;
    Ok(grouped(rows, delassus))
}

/// Gathers scalar entries into blocks, row by row.
fn blocks_of<S: Space>(entries: &[(usize, usize, f64)], q: Vec<S::Vector>) -> Delassus<S> {
    let key = |e: &(usize, usize, f64)| (e.0 / S::DIM, e.1 / S::DIM);
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(key);
    let mut delassus = Delassus {
        starts: vec![0],
        columns: Vec::new(),
        blocks: Vec::new(),
        q,
    };
    for group in sorted.chunk_by(|x, y| key(x) == key(y)) {
        let (row, column) = key(&group[0]);
        while delassus.starts.len() <= row {
            delassus.starts.push(delassus.columns.len() as u32);
        }
        let block = S::matrix(|k| {
            let mut of_column = S::Vector::default();
            for &(r, c, value) in group.iter().filter(|e| e.1 % S::DIM == k) {
                debug_assert_eq!(c % S::DIM, k);
                let axis = r % S::DIM;
                of_column = of_column.with_component(axis, of_column.component(axis) + value);
            }
            of_column
        });
        delassus.columns.push(column as u32);
        delassus.blocks.push(block);
    }
    while delassus.starts.len() <= delassus.q.len() {
        delassus.starts.push(delassus.columns.len() as u32);
    }
    delassus
}

/// How far from symmetric W may be, relative to its largest block. Public problems that were
/// computed in single precision are off by 1e-5.
const SYMMETRY_TOLERANCE: f64 = 1e-4;

/// W must be symmetric to rounding: an impulse acts on both contacts alike.
pub(super) fn check_symmetry<S: Space>(delassus: &Delassus<S>) -> Result<(), String> {
    let size = |block: &S::Matrix| {
        (0..S::DIM).fold(0.0, |most: f64, k| most.max(S::column(block, k).length()))
    };
    let largest = delassus
        .blocks
        .iter()
        .fold(0.0, |most: f64, b| most.max(size(b)));
    for row in 0..delassus.q.len() {
        for (column, block) in delassus.row(row) {
            let mirror = delassus
                .row(column)
                .find(|(c, _)| *c == row)
                .map(|(_, b)| *b);
            let mirror = mirror.unwrap_or_else(|| S::matrix(|_| S::Vector::default()));
            for k in 0..S::DIM {
                let transposed = S::to_local(&mirror, S::Vector::default().with_component(k, 1.0));
                let error = (transposed - S::column(block, k)).length();
                let is_small = error <= SYMMETRY_TOLERANCE * largest;
                if !is_small {
                    return Err(format!(
                        "W is not symmetric: blocks ({row}, {column}) and ({column}, {row}) differ"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// A problem with its islands found. Contacts keep their order in the file, so all of them are
/// one island unless they already come in groups that do not touch.
fn grouped<S: Space>(rows: Vec<Row<S>>, delassus: Delassus<S>) -> ContactProblem<S> {
    let mut islands = Vec::new();
    let mut start = 0;
    let mut reach = 0;
    for row in 0..rows.len() {
        let furthest = delassus.row(row).map(|(c, _)| c).max().unwrap_or(row);
        reach = reach.max(furthest).max(row);
        if reach == row {
            islands.push(Island {
                start,
                end: row as u32 + 1,
            });
            start = row as u32 + 1;
        }
    }
    ContactProblem {
        dt: 1.0,
        responses: Vec::new(),
        free: Vec::new(),
        rows,
        islands,
        delassus: Some(delassus),
    }
}

/// The words of a file with their lines.
struct Words<'a> {
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let words = text.lines().enumerate().flat_map(|(k, line)| {
            let code = line.split('#').next().unwrap_or_default();
            code.split_whitespace().map(move |word| (k + 1, word))
        });
        Self {
            words: Box::new(words),
            line: 1,
        }
    }

    fn error(&self, what: impl Into<String>) -> LocalFormError {
        LocalFormError {
            line: self.line,
            what: what.into(),
        }
    }

    fn next(&mut self, expected: &str) -> Result<&'a str, LocalFormError> {
        match self.words.next() {
            Some((line, word)) => {
                self.line = line;
                Ok(word)
            }
            None => Err(self.error(format!("the file ends where {expected} should stand"))),
        }
    }

    fn keyword(&mut self, keyword: &str) -> Result<(), LocalFormError> {
        let word = self.next(&format!("`{keyword}`"))?;
        if word == keyword {
            Ok(())
        } else {
            Err(self.error(format!("`{keyword}` should stand where `{word}` does")))
        }
    }

    fn count(&mut self, what: &str) -> Result<usize, LocalFormError> {
        let word = self.next(what)?;
        word.parse()
            .ok()
            .filter(|n| *n <= u32::MAX as usize)
            .ok_or_else(|| self.error(format!("{what} must be a whole number, not `{word}`")))
    }

    fn index(&mut self, what: &str, limit: usize) -> Result<usize, LocalFormError> {
        let index = self.count(what)?;
        if index < limit {
            Ok(index)
        } else {
            Err(self.error(format!("{what} must be below {limit}, not {index}")))
        }
    }

    fn number(&mut self, what: &str) -> Result<f64, LocalFormError> {
        let word = self.next(what)?;
        word.parse()
            .ok()
            .filter(|x: &f64| x.is_finite())
            .ok_or_else(|| self.error(format!("{what} must be a finite number, not `{word}`")))
    }

    fn end(&mut self) -> Result<(), LocalFormError> {
        match self.words.next() {
            None => Ok(()),
            Some((line, word)) => {
                self.line = line;
                Err(self.error(format!("nothing should follow, but `{word}` does")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::Algebra;

    const ONE: &str = "dimension 2\ncontacts 1\nmu 0.5\nq -1 0.25 # a comment\nW 4\n\
                       0 0 2\n0 1 0.5\n1 0 0.5\n1 1 3\n";

    #[test]
    fn a_small_problem_is_read() {
        let Ok(AnyProblem::Flat(problem)) = parse(ONE) else {
            panic!("should be flat")
        };
        assert_eq!(problem.rows[0].mu, 0.5);
        let block = problem.diagonal(0);
        assert_eq!(D2::column(&block, 0), glamx::DVec2::new(2.0, 0.5));
        let mut velocities = problem.free_velocities();
        problem.apply(0, glamx::DVec2::new(1.0, 0.0), &mut velocities);
        assert_eq!(velocities.local[0], glamx::DVec2::new(1.0, 0.75));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, part) in [
            ("dimension 4", 1, "2 or 3"),
            ("dimension 2\ncontacts x", 2, "whole number"),
            ("dimension 2\ncontacts 1\nmu -1", 3, "0 or more"),
            ("dimension 2\ncontacts 1\nmu 0.5\nq 1 nan", 4, "finite"),
            (
                "dimension 2\ncontacts 1\nmu 0.5\nq 1 1\nW 1\n0 2 1",
                6,
                "below 2",
            ),
            (
                "dimension 2\ncontacts 1\nmu 0.5\nq 1 1\nW 1\n0 1 1",
                6,
                "symmetric",
            ),
            (
                "dimension 2\ncontacts 1\nmu 0.5\nq 1 1\nW 0 junk",
                5,
                "nothing",
            ),
            ("dimension 3\ncontacts 4000000000\nmu", 3, "ends"),
        ] {
            let error = parse(text).map(|_| ()).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.what.contains(part), "{error}");
        }
    }
}
