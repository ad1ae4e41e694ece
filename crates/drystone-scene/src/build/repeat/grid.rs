//! Rows, layers and pyramids.

use drystone::{Components, Pose};

use super::super::body::Template;
use super::super::check::{share, vector, wrong_length};
use super::super::dimension::Dimension;
use super::checked_count;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::Grid;

/// Where the copies are: row by row from below, along z, then along x.
pub(super) fn poses<S: Dimension>(
    template: &Template<'_, S>,
    grid: &Grid,
    path: &FieldPath,
    room: u64,
) -> Result<Vec<Pose<S>>, Flaw> {
    let spacing = vector::<S>(&grid.spacing, &path.key("spacing"))?;
    let (along_x, rows, along_z) = match *grid.count.as_slice() {
        [x, y] if !S::HAS_DEPTH => (x, y, 1),
        [x, y, z] if S::HAS_DEPTH => (x, y, z),
        _ => return Err(wrong_length::<S>(grid.count.len(), &path.key("count"))),
    };
    checked_count(&[along_x, rows, along_z], room, path.key("count"))?;
    share(grid.brick, path.key("brick"))?;
    let mut poses = Vec::new();
    for row in 0..rows {
        let in_row = |count: u32| {
            let fewer = row.saturating_mul(grid.shrink);
            if count == 1 {
                1
            } else {
                count.saturating_sub(fewer)
            }
        };
        let shift = if row % 2 == 1 { grid.brick } else { 0.0 };
        let (count_x, count_z) = (in_row(along_x), in_row(along_z));
        for z in 0..count_z {
            for x in 0..count_x {
                let step = S::Vector::default()
                    .with_component(0, centred(x, count_x) + shift)
                    .with_component(1, f64::from(row))
                    .with_component(2, centred(z, count_z));
                poses.push(Pose {
                    position: template.pose.position + step.scale(spacing),
                    ..template.pose
                });
            }
        }
    }
    Ok(poses)
}

/// Place `k` of `count`, counted from the middle.
fn centred(k: u32, count: u32) -> f64 {
    f64::from(k) - 0.5 * f64::from(count.saturating_sub(1))
}
