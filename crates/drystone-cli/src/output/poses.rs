//! Poses over time as a table.
//!
//! One row for each step, from step 0, the state before the first. Columns are `step`, `time_s`,
//! then for each body in the order of the scene
//!
//! * in 2D `NAME.x`, `NAME.y` in m and `NAME.angle` in rad, counter-clockwise, in (−π, π];
//! * in 3D `NAME.x`, `NAME.y`, `NAME.z` in m and `NAME.qx`, `NAME.qy`, `NAME.qz`, `NAME.qw`, a
//!   unit quaternion.
//!
//! The position is that of the body's origin, as in the scene file. Numbers have as many digits as
//! it takes to read the same bits back. Each row goes to the file in one piece, so whatever ends
//! the run, whole rows are left.

use std::fmt::Write;

use drystone_frame::{Frame, Stage};

use super::Target;
use crate::fault::Fault;
use crate::pose::angle;

/// A table of poses in a file.
#[derive(Debug)]
pub(super) struct Poses {
    target: Target,
    flat: bool,
    row: String,
}

impl Poses {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            flat: false,
            row: String::new(),
        }
    }

    /// Writes the header.
    pub(super) fn begin(&mut self, stage: &Stage) -> Result<(), Fault> {
        self.flat = stage.dimension == 2;
        let columns: &[&str] = if self.flat {
            &["x", "y", "angle"]
        } else {
            &["x", "y", "z", "qx", "qy", "qz", "qw"]
        };
        let mut header = String::from("step,time_s");
        for object in &stage.objects {
            for column in columns {
                header.push(',');
                header.push_str(&quoted(&format!("{}.{column}", object.name)));
            }
        }
        header.push('\n');
        self.target.replace(header.as_bytes())
    }

    /// Writes one row.
    pub(super) fn row(&mut self, frame: &Frame) -> Result<(), Fault> {
        self.row.clear();
        // Writing to a string can't fail.
        let _ = write!(self.row, "{},{:?}", frame.step, frame.time);
        for (position, rotation) in frame.positions.iter().zip(&frame.rotations) {
            let dimension = if self.flat { 2 } else { 3 };
            for x in &position[..dimension] {
                let _ = write!(self.row, ",{x:?}");
            }
            if self.flat {
                let _ = write!(self.row, ",{:?}", angle(*rotation));
            } else {
                for x in rotation {
                    let _ = write!(self.row, ",{x:?}");
                }
            }
        }
        self.row.push('\n');
        self.target.append(self.row.as_bytes())
    }
}

/// A field of a table, in quotes where it needs them.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_break_a_table_are_quoted() {
        assert_eq!(quoted("stone 7.x"), "stone 7.x");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("so \"called\""), "\"so \"\"called\"\"\"");
    }
}
