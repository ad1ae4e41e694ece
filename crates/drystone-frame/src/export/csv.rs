//! Poses over time as a table.
//!
//! Columns are `step`, `time_s`, then for each object in the order of the stage
//!
//! * in 2D `NAME.x`, `NAME.y` in m and `NAME.angle` in rad, counter-clockwise, in (−π, π];
//! * in 3D `NAME.x`, `NAME.y`, `NAME.z` in m and `NAME.qx`, `NAME.qy`, `NAME.qz`, `NAME.qw`, a
//!   unit quaternion.
//!
//! The position is that of the object's origin. Numbers have as many digits as it takes to read
//! the same bits back.

use std::fmt::Write;

use crate::{Frame, Stage};

/// The line with the names of the columns.
#[must_use]
pub fn header(stage: &Stage) -> String {
    let columns: &[&str] = if stage.dimension == 2 {
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
    header
}

/// The line of a frame, put in place of what `row` held.
pub fn row(dimension: u8, frame: &Frame, row: &mut String) {
    row.clear();
    // Writing to a string can't fail.
    let _ = write!(row, "{},{:?}", frame.step, frame.time);
    let is_flat = dimension == 2;
    for (position, rotation) in frame.positions.iter().zip(&frame.rotations) {
        for x in &position[..if is_flat { 2 } else { 3 }] {
            let _ = write!(row, ",{x:?}");
        }
        if is_flat {
            let _ = write!(row, ",{:?}", angle(*rotation));
        } else {
            for x in rotation {
                let _ = write!(row, ",{x:?}");
            }
        }
    }
    row.push('\n');
}

/// The angle in rad, in (−π, π], of a rotation about z given as a quaternion x, y, z, w.
#[must_use]
pub fn angle([_, _, z, w]: [f64; 4]) -> f64 {
    use std::f64::consts::{PI, TAU};
    let angle = 2.0 * libm::atan2(z, w);
    if angle > PI {
        angle - TAU
    } else if angle <= -PI {
        angle + TAU
    } else {
        // Adding zero makes −0 a plain 0.
        angle + 0.0
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

    #[test]
    fn angles_come_back_from_quaternions() {
        for expected in [0.0, 1e-9, -0.3, 1.5, 3.1, -3.1] {
            let half: f64 = 0.5 * expected;
            let found = angle([0.0, 0.0, half.sin(), half.cos()]);
            assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
            // Both signs of a quaternion are one rotation.
            let other = angle([0.0, 0.0, -half.sin(), -half.cos()]);
            assert!((other - expected).abs() < 1e-15, "{other} for {expected}");
        }
    }
}
