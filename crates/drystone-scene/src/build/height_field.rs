//! Height fields: from rows of heights, or from waves.

use super::check::{finite, positive};
use super::dimension::radians;
use super::shape::size;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::{Shape, Wave};

/// Heights at most: 16 million.
const MOST_HEIGHTS: usize = 1 << 24;

/// A grid of heights.
pub(super) struct Field {
    /// Distance of columns and of rows, m.
    pub(super) spacing: [f64; 2],
    pub(super) columns: usize,
    /// Row by row, m.
    pub(super) heights: Vec<f64>,
}

/// The heights of a field over `axes` axes: 1 in the plane, 2 in space.
pub(super) fn height_field(shape: &Shape, axes: usize, path: &FieldPath) -> Result<Field, Flaw> {
    let Shape::HeightField {
        size: extents,
        heights,
        cells,
        waves,
    } = shape
    else {
        return Err(Flaw::new(path.clone(), "this is no height field"));
    };
    let needs = |key: &'static str, given: usize| {
        let what = if axes == 1 {
            "one number"
        } else {
            "two numbers"
        };
        let problem = format!(
            "a height field in {}D has {what} here, not {given}",
            axes + 1
        );
        Flaw::new(path.key(key), problem)
    };
    if extents.len() != axes {
        return Err(needs("size", extents.len()));
    }
    for (axis, &extent) in extents.iter().enumerate() {
        size(extent, path.key("size").index(axis))?;
    }
    if heights.is_empty() == cells.is_empty() {
        let flaw = Flaw::new(path.clone(), "give either `heights` or `cells`");
        return Err(flaw.help("`cells` go with `waves`, whose sum is the height"));
    }
    if !heights.is_empty() {
        return from_rows(extents, heights, waves, path);
    }
    if cells.len() != axes {
        return Err(needs("cells", cells.len()));
    }
    from_waves(extents, cells, waves, path)
}

fn from_rows(
    extents: &[f64],
    rows: &[Vec<f64>],
    waves: &[Wave],
    path: &FieldPath,
) -> Result<Field, Flaw> {
    if !waves.is_empty() {
        return Err(Flaw::new(path.key("waves"), "waves go with `cells`"));
    }
    let path = path.key("heights");
    let columns = rows.first().map_or(0, Vec::len);
    if columns < 2 {
        return Err(Flaw::new(path, "a row needs two heights at least"));
    }
    if extents.len() == 1 && rows.len() > 1 {
        return Err(Flaw::new(
            path,
            "a height field in 2D is one row of heights",
        ));
    }
    if extents.len() == 2 && rows.len() < 2 {
        return Err(Flaw::new(
            path,
            "a height field in 3D needs two rows at least",
        ));
    }
    if let Some(row) = rows.iter().position(|row| row.len() != columns) {
        let problem = format!("all rows must be as long as the first ({columns} heights)");
        return Err(Flaw::new(path.index(row), problem));
    }
    for (r, row) in rows.iter().enumerate() {
        for (c, &height) in row.iter().enumerate() {
            finite(height, path.index(r).index(c))?;
        }
    }
    let along = |axis: usize, cells: usize| extents.get(axis).map_or(1.0, |e| e / cells as f64);
    Ok(Field {
        spacing: [along(0, columns - 1), along(1, rows.len().max(2) - 1)],
        columns,
        heights: rows.concat(),
    })
}

fn from_waves(
    extents: &[f64],
    cells: &[u32],
    waves: &[Wave],
    path: &FieldPath,
) -> Result<Field, Flaw> {
    let count = |axis: usize| cells.get(axis).map_or(0, |&cells| cells as usize);
    if let Some(axis) = cells.iter().position(|&cells| cells == 0) {
        let problem = "there must be one cell at least";
        return Err(Flaw::new(path.key("cells").index(axis), problem));
    }
    let (columns, rows) = (count(0) + 1, count(1) + 1);
    if columns.saturating_mul(rows) > MOST_HEIGHTS {
        let problem = format!("a height field has at most {MOST_HEIGHTS} heights");
        return Err(Flaw::new(path.key("cells"), problem));
    }
    for (k, wave) in waves.iter().enumerate() {
        let path = path.key("waves").index(k);
        finite(wave.height, path.key("height"))?;
        positive(wave.length, "m", path.key("length"))?;
        finite(wave.direction.unwrap_or(0.0), path.key("direction"))?;
        finite(wave.phase.unwrap_or(0.0), path.key("phase"))?;
        if wave.direction.is_some() && extents.len() == 1 {
            let problem = "in 2D waves run along x";
            return Err(Flaw::new(path.key("direction"), problem));
        }
    }
    let place = |axis: usize, k: usize| {
        let share = k as f64 / count(axis).max(1) as f64 - 0.5;
        extents.get(axis).map_or(0.0, |extent| extent * share)
    };
    let height = |k: usize| {
        let (x, z) = (place(0, k % columns), place(1, k / columns));
        let of = |wave: &Wave| {
            let (sin, cos) = libm::sincos(radians(wave.direction.unwrap_or(0.0)));
            let turns = (x * cos + z * sin) / wave.length;
            let phase = radians(wave.phase.unwrap_or(0.0));
            wave.height * libm::sin(std::f64::consts::TAU * turns + phase)
        };
        waves.iter().map(of).sum()
    };
    let spacing = |axis: usize| extents.get(axis).map_or(1.0, |e| e / count(axis) as f64);
    Ok(Field {
        spacing: [spacing(0), spacing(1)],
        columns,
        heights: (0..columns * rows).map(height).collect(),
    })
}
