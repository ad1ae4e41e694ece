//! Poses over time as a table: [`drystone_frame::export::csv`] fixes its columns.
//!
//! One row for each step, from step 0, the state before the first. Each row goes to the file in one
//! piece, so whatever ends the run, whole rows are left.

use drystone_frame::export::csv;
use drystone_frame::{Frame, Stage};

use super::Target;
use crate::fault::Fault;

/// A table of poses in a file.
#[derive(Debug)]
pub(super) struct Poses {
    target: Target,
    dimension: u8,
    row: String,
}

impl Poses {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            dimension: 0,
            row: String::new(),
        }
    }

    /// Writes the header.
    pub(super) fn begin(&mut self, stage: &Stage) -> Result<(), Fault> {
        self.dimension = stage.dimension;
        self.target.replace(csv::header(stage).as_bytes())
    }

    /// Writes one row.
    pub(super) fn row(&mut self, frame: &Frame) -> Result<(), Fault> {
        csv::row(self.dimension, frame, &mut self.row);
        self.target.append(self.row.as_bytes())
    }
}
