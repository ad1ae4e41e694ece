//! Contact problems as text: our own format, and the plain local form.
//!
//! # Our own format, version 1
//!
//! JSON, UTF-8, one body, contact or island a line, so that two files can be compared by eye:
//!
//! ```json
//! {
//! "format": "drystone-problem", "version": 1, "dimension": 2,
//! "problem": {
//! "dt": 0.01,
//! "responses": [
//! {"inv_mass":[1.0,1.0],"inv_inertia":0.0}
//! ],
//! "free": [
//! {"linear":[0.5,-1.0],"spin":0.0}
//! ],
//! "rows": [
//! {"a":"fixed","b":{"particle":{"body":0}},"basis":[0.0,1.0,-1.0,0.0],"mu":0.5,"target":0.0}
//! ],
//! "islands": [
//! {"start":0,"end":1}
//! ],
//! "delassus": null
//! }}
//! ```
//!
//! Fields are those of [`ContactProblem`], in SI units with the signs of [`super`]; matrices are
//! columns one after another. A side is `"fixed"`, `{"particle":{"body"}}`,
//! `{"rigid":{"body","arm"}}` or `{"nodes":{"bodies","weights"}}`. A problem without bodies has
//! `"delassus": {"starts","columns","blocks","q"}`, and `responses` and `free` are empty. Numbers are
//! written with as many digits as bring the same bits back. Unknown fields are an error: a file
//! that says more than the reader understands means something else.
//!
//! # The local form
//!
//! See [`super::local_form`]. [`to_local_form`] writes any problem so, for other solvers: bodies
//! are multiplied out into A, and targets are taken off q.
//!
//! Everything here works on text; opening files is the caller's business.

use std::fmt::Write;

use super::ContactProblem;
use super::check::{ProblemError, check};
use super::local_form::{self, AnyProblem, DIMENSIONS, LocalFormError};
use crate::geometry::Space;
use crate::math::algebra::Components;
#[cfg(feature = "dim2")]
use crate::math::algebra::D2;
#[cfg(feature = "dim3")]
use crate::math::algebra::D3;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The name in the header of our own format.
pub const FORMAT: &str = "drystone-problem";

/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// Why text could not be read as a problem, or a problem not be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProblemFileError {
    /// Not the local form that it starts like.
    #[error("{0}")]
    LocalForm(#[from] LocalFormError),
    /// Not JSON, or not with these fields.
    #[error("line {line}, column {column}: {what}")]
    Json {
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// JSON of something else, or of a version or dimension that nothing reads.
    #[error("{field} must be {expected}, not {found}")]
    Header {
        /// Which field of the header.
        field: &'static str,
        /// What would be right.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A problem that breaks its own rules.
    #[error("{0}")]
    Invalid(#[from] ProblemError),
}

impl From<serde_json::Error> for ProblemFileError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        Self::Json {
            line: error.line(),
            column: error.column(),
            what: text.strip_suffix(&place).unwrap_or(&text).to_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    dimension: u32,
    #[serde(rename = "problem")]
    _problem: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(bound = "")]
struct File<S: Space> {
    problem: ContactProblem<S>,
}

/// Reads a problem in either format: JSON starts with `{`, the local form does not.
pub fn read(text: &str) -> Result<AnyProblem, ProblemFileError> {
    if text.trim_start().starts_with('{') {
        from_json(text)
    } else {
        Ok(local_form::parse(text)?)
    }
}

/// Reads a problem in our own format.
pub fn from_json(text: &str) -> Result<AnyProblem, ProblemFileError> {
    let header: Header = serde_json::from_str(text)?;
    let wrong = |field, expected: String, found: String| {
        Err(ProblemFileError::Header {
            field,
            expected,
            found,
        })
    };
    if header.format != FORMAT {
        return wrong("format", format!("`{FORMAT}`"), header.format);
    }
    if !(1..=VERSION).contains(&header.version) {
        let expected = format!("from 1 to {VERSION}");
        return wrong("version", expected, header.version.to_string());
    }
    match header.dimension {
        #[cfg(feature = "dim2")]
        2 => from_fields::<D2>(text).map(AnyProblem::Flat),
        #[cfg(feature = "dim3")]
        3 => from_fields::<D3>(text).map(AnyProblem::Solid),
        other => wrong("dimension", DIMENSIONS.into(), other.to_string()),
    }
}

fn from_fields<S: Space>(text: &str) -> Result<ContactProblem<S>, ProblemFileError> {
    let File { problem } = serde_json::from_str::<File<S>>(text)?;
    check(&problem)?;
    Ok(problem)
}

/// Writes a problem in our own format. One that breaks its own rules is refused, so that
/// whatever is written can be read.
pub fn to_json<S: Space>(problem: &ContactProblem<S>) -> Result<String, ProblemFileError> {
    check(problem)?;
    let mut text = format!(
        "{{\n\"format\": \"{FORMAT}\", \"version\": {VERSION}, \"dimension\": {},\n\
         \"problem\": {{\n\"dt\": {},\n",
        S::DIM,
        serde_json::to_string(&problem.dt)?
    );
    list(&mut text, "responses", &problem.responses)?;
    list(&mut text, "free", &problem.free)?;
    list(&mut text, "rows", &problem.rows)?;
    list(&mut text, "islands", &problem.islands)?;
    text.push_str("\"delassus\": ");
    text.push_str(&serde_json::to_string(&problem.delassus)?);
    text.push_str("\n}}\n");
    Ok(text)
}

/// Writes a named list, one element a line.
fn list<T: Serialize>(text: &mut String, name: &str, items: &[T]) -> serde_json::Result<()> {
    let lines: Result<Vec<String>, _> = items.iter().map(serde_json::to_string).collect();
    text.push_str(&format!("\"{name}\": [\n{}\n],\n", lines?.join(",\n")));
    Ok(())
}

/// Writes a problem in local form, with A multiplied out and targets taken off q.
///
/// Bodies are lost, and with them dt; r and u mean the same in both.
#[must_use]
pub fn to_local_form<S: Space>(problem: &ContactProblem<S>) -> String {
    let reduced = problem.reduced();
    let mut text = format!("dimension {}\ncontacts {}\nmu", S::DIM, problem.rows.len());
    for row in &problem.rows {
        number(&mut text, row.mu);
    }
    text.push_str("\nq");
    for (row, q) in problem.rows.iter().zip(&reduced.q) {
        number(&mut text, q.component(0) - row.target);
        for axis in 1..S::DIM {
            number(&mut text, q.component(axis));
        }
    }
    let mut entries = String::new();
    let mut count = 0_u64;
    for row in 0..problem.rows.len() {
        for (column, block) in reduced.row(row) {
            for (axis, of_column) in (0..S::DIM).flat_map(|a| (0..S::DIM).map(move |c| (a, c))) {
                let value = S::column(block, of_column).component(axis);
                if value != 0.0 {
                    // Blocks are stored transposed: see [`super::Delassus`].
                    let (i, j) = (S::DIM * column + of_column, S::DIM * row + axis);
                    entries.push_str(&format!("{i} {j} {value:?}\n"));
                    count += 1;
                }
            }
        }
    }
    text.push_str(&format!("\nW {count}\n"));
    text.push_str(&entries);
    text
}

/// Adds a number with as many digits as bring the same bits back.
fn number(text: &mut String, value: f64) {
    // Writing to a string does not fail.
    let _ = write!(text, " {value:?}");
}

impl AnyProblem {
    /// Number of contacts.
    #[must_use]
    pub fn contacts(&self) -> usize {
        match self {
            #[cfg(feature = "dim2")]
            Self::Flat(problem) => problem.rows.len(),
            #[cfg(feature = "dim3")]
            Self::Solid(problem) => problem.rows.len(),
        }
    }

    /// See [`to_json`].
    pub fn to_json(&self) -> Result<String, ProblemFileError> {
        match self {
            #[cfg(feature = "dim2")]
            Self::Flat(problem) => to_json(problem),
            #[cfg(feature = "dim3")]
            Self::Solid(problem) => to_json(problem),
        }
    }
}
