//! The pattern of a matrix in blocks: which there are, and how large they are.
//!
//! ```
//! use drystone_view::matrix::{Block, Pattern};
//!
//! let diagonal = (0..5).map(|k| Block { row: k, column: k, size: 1.0 });
//! let pattern = Pattern { side: 5, blocks: diagonal.collect(), labels: Vec::new() };
//! assert!(pattern.image().png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), drystone_view::ViewError>(())
//! ```

use std::ops::Range;

use tiny_skia::{FillRule, Paint, Pixmap, Transform};

use crate::plot::font::{Font, Placement};
use crate::still::Image;

/// Shades span the powers of ten between the smallest block and the largest, but at least and at
/// most so many: equal blocks look equal, and tiny ones do not wash out all others.
const DECADES: (f64, f64) = (1.0, 6.0);

/// Width and height of the matrix in pixels, at most.
const MOST_PIXELS: usize = 960;

/// Width and height of one block in pixels, at most.
const LARGEST_CELL: usize = 48;

/// Blocks of at least so many pixels have a white line between them.
const LEAST_SPACED_CELL: usize = 6;

/// Width of the white edge around the frame, in pixels.
const EDGE: usize = 20;

const PALE: [u8; 3] = [206, 222, 238];
const DARK: [u8; 3] = [6, 42, 84];
const FRAME: [u8; 3] = [150, 146, 140];

/// A square matrix in blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// How many blocks there are along a side.
    pub side: usize,
    /// The blocks that are not zero; those outside the matrix are not drawn.
    pub blocks: Vec<Block>,
    /// Names of rows, written along the left edge where blocks are large enough to read them.
    pub labels: Vec<Label>,
}

/// The name of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The rows.
    pub rows: Range<usize>,
    /// What they are.
    pub text: String,
}

/// One block of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block {
    /// From the top, counted from 0.
    pub row: usize,
    /// From the left, counted from 0.
    pub column: usize,
    /// Its size in any norm; blocks of no size, or of one that is not finite, are not drawn.
    pub size: f64,
}

impl Pattern {
    /// Draws the matrix: each block as a square, the darker the larger its logarithm. Where there
    /// are more blocks than pixels, a pixel shows the largest of its blocks.
    #[must_use]
    pub fn image(&self) -> Image {
        let cells = self.side.min(MOST_PIXELS);
        let cell = (MOST_PIXELS / cells.max(1)).clamp(1, LARGEST_CELL);
        let names = Names::new(self, cell);
        let mut sheet = Sheet::new(cells * cell, names.width);
        names.draw(self, cell, &mut sheet);
        let filled = if cell >= LEAST_SPACED_CELL {
            cell - 1
        } else {
            cell
        };
        let sizes = self.largest_in_cells(cells);
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let drawn = sizes.iter().copied().filter(|size| *size > 0.0);
        let smallest = drawn.fold(largest, f64::min);
        let decades = libm::log10(largest / smallest).clamp(DECADES.0, DECADES.1);
        for (k, size) in sizes.iter().enumerate().filter(|(_, size)| **size > 0.0) {
            let (row, column) = (k / cells, k % cells);
            let rgb = shade(size / largest, decades);
            sheet.square(row * cell, column * cell, filled, rgb);
        }
        sheet.image
    }

    /// The largest block in each cell, row by row; 0 where there is none.
    fn largest_in_cells(&self, cells: usize) -> Vec<f64> {
        let mut sizes = vec![0.0; cells * cells];
        for block in &self.blocks {
            let inside = block.row < self.side && block.column < self.side;
            if inside && block.size.is_finite() {
                let row = block.row * cells / self.side;
                let column = block.column * cells / self.side;
                let size: &mut f64 = &mut sizes[row * cells + column];
                *size = size.max(block.size);
            }
        }
        sizes
    }
}

/// The colour of a block of this size, relative to the largest; the palest is `decades` below it.
fn shade(share: f64, decades: f64) -> [u8; 3] {
    let dark = (1.0 + libm::log10(share) / decades).clamp(0.0, 1.0);
    let mix = |k: usize| {
        let (pale, full) = (f64::from(PALE[k]), f64::from(DARK[k]));
        libm::round(pale + dark * (full - pale)) as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// Height of names in pixels.
const NAME_SIZE: f32 = 13.0;

/// Rows of a name must be so high together, in pixels, to be named.
const LEAST_NAMED: usize = 12;

/// The names along the left edge.
struct Names {
    font: Option<Font>,
    /// Room that they take, in pixels.
    width: usize,
}

impl Names {
    /// Names of a matrix whose blocks have this size in pixels: none where not all can be read.
    fn new(pattern: &Pattern, cell: usize) -> Self {
        let is_high = |label: &Label| label.rows.len() * cell >= LEAST_NAMED;
        let none = Self {
            font: None,
            width: 0,
        };
        if pattern.labels.is_empty() || !pattern.labels.iter().all(is_high) {
            return none;
        }
        let Ok(font) = Font::new() else {
            return none;
        };
        let widths = pattern.labels.iter();
        let widest = widths.fold(0.0_f32, |w, label| {
            w.max(font.width(&label.text, NAME_SIZE))
        });
        Self {
            width: widest.ceil() as usize + 4,
            font: Some(font),
        }
    }

    fn draw(&self, pattern: &Pattern, cell: usize, sheet: &mut Sheet) {
        let Some(font) = &self.font else {
            return;
        };
        for label in &pattern.labels {
            let middle = (label.rows.start + label.rows.end) * cell / 2;
            let width = font.width(&label.text, NAME_SIZE);
            let placement = Placement {
                at: [self.width as f32 - width, NAME_SIZE],
                size: NAME_SIZE,
                upwards: false,
            };
            let Some(path) = font.outline(&label.text, placement) else {
                continue;
            };
            let Some(mut ink) = Pixmap::new(self.width as u32, 2 * NAME_SIZE as u32) else {
                continue;
            };
            let mut paint = Paint::default();
            paint.set_color_rgba8(40, 40, 40, 255);
            let fill = FillRule::Winding;
            ink.fill_path(&path, &paint, fill, Transform::identity(), None);
            // The base line a little below the middle of the rows.
            let top = EDGE + middle + (0.35 * NAME_SIZE) as usize;
            sheet.stamp(top.saturating_sub(NAME_SIZE as usize), EDGE / 2, &ink);
        }
    }
}

/// A white sheet with a frame, in which squares are filled.
struct Sheet {
    image: Image,
    /// Pixels left of the matrix.
    left: usize,
}

impl Sheet {
    /// A sheet for a matrix of so many pixels, with room for names on its left.
    fn new(inner: usize, names: usize) -> Self {
        let left = EDGE + names;
        let (width, height) = (inner + left + EDGE, inner + 2 * EDGE);
        let mut sheet = Self {
            image: Image {
                width: width as u32,
                height: height as u32,
                rgb: vec![255; 3 * width * height],
            },
            left,
        };
        // One pixel all around the matrix, with one of white inside it.
        for at in 0..inner + 4 {
            let (top, across) = (EDGE - 2, left - 2);
            for (row, column) in [
                (top, across + at),
                (top + inner + 3, across + at),
                (top + at, across),
                (top + at, across + inner + 3),
            ] {
                sheet.set(row, column, FRAME);
            }
        }
        sheet
    }

    fn square(&mut self, top: usize, left: usize, side: usize, rgb: [u8; 3]) {
        for row in top..top + side {
            for column in left..left + side {
                self.set(EDGE + row, self.left + column, rgb);
            }
        }
    }

    /// Puts ink on the sheet, its top left corner at a pixel.
    fn stamp(&mut self, top: usize, left: usize, ink: &Pixmap) {
        for (k, pixel) in ink
            .pixels()
            .iter()
            .enumerate()
            .filter(|(_, p)| p.alpha() > 0)
        {
            let (row, column) = (k / ink.width() as usize, k % ink.width() as usize);
            let paper = 255 - pixel.alpha();
            let rgb = [pixel.red(), pixel.green(), pixel.blue()];
            self.set(
                top + row,
                left + column,
                rgb.map(|part| part.saturating_add(paper)),
            );
        }
    }

    fn set(&mut self, row: usize, column: usize, rgb: [u8; 3]) {
        let start = 3 * (row * self.image.width as usize + column);
        if let Some(pixel) = self.image.rgb.get_mut(start..start + 3) {
            pixel.copy_from_slice(&rgb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(row: usize, column: usize, size: f64) -> Block {
        Block { row, column, size }
    }

    /// The colour in the middle of a block.
    fn colour(image: &Image, side: u32, row: u32, column: u32) -> Option<[u8; 3]> {
        let cell = (image.width - 2 * EDGE as u32) / side;
        let middle = |k: u32| EDGE as u32 + k * cell + cell / 2 - 1;
        image.pixel(middle(column), middle(row))
    }

    #[test]
    fn larger_blocks_are_darker_and_nothing_is_white() {
        let pattern = Pattern {
            side: 4,
            blocks: vec![block(0, 0, 100.0), block(1, 2, 0.1), block(3, 3, 1e-30)],
            labels: Vec::new(),
        };
        let image = pattern.image();
        assert_eq!(colour(&image, 4, 0, 0), Some(DARK));
        assert_eq!(colour(&image, 4, 3, 3), Some(PALE));
        assert_eq!(colour(&image, 4, 2, 1), Some([255; 3]));
        let between = colour(&image, 4, 1, 2).unwrap();
        assert!(DARK[0] < between[0] && between[0] < PALE[0], "{between:?}");
    }

    #[test]
    fn large_matrices_fit_and_odd_blocks_do_no_harm() {
        let side = 5_000;
        let mut blocks: Vec<Block> = (0..side).map(|k| block(k, k, 1.0)).collect();
        blocks.extend([block(side, 0, 1.0), block(0, 9, f64::NAN), block(9, 0, 0.0)]);
        let labels = vec![Label {
            rows: 0..1,
            text: "too small to read".to_owned(),
        }];
        let image = Pattern {
            side,
            blocks,
            labels,
        }
        .image();
        assert_eq!(image.width as usize, MOST_PIXELS + 2 * EDGE);
        let corner = (EDGE + MOST_PIXELS - 1) as u32;
        assert_eq!(image.pixel(corner, corner), Some(DARK));
        assert_eq!(image.pixel(EDGE as u32, corner), Some([255; 3]));
        assert_eq!(Pattern::default().image().width as usize, 2 * EDGE);
    }

    #[test]
    fn names_stand_beside_their_rows() {
        let label = |rows: Range<usize>, text: &str| Label {
            rows,
            text: text.to_owned(),
        };
        let mut pattern = Pattern {
            side: 4,
            blocks: (0..4).map(|k| block(k, k, 1.0)).collect(),
            labels: Vec::new(),
        };
        let plain = pattern.image();
        pattern.labels = vec![label(0..3, "stone on floor"), label(3..4, "a")];
        let named = pattern.image();
        assert!(named.width > plain.width + 60);
        assert_eq!(named.height, plain.height);
        // Ink left of the matrix, within the rows of the first name and of the second.
        let ink = |rows: Range<u32>| {
            let dark =
                |row: u32, column: u32| named.pixel(column, row).is_some_and(|rgb| rgb[0] < 120);
            let width = named.width - plain.width + EDGE as u32 / 2;
            rows.flat_map(|row| (0..width).map(move |column| (row, column)))
                .filter(|&(row, column)| dark(row, column))
                .count()
        };
        let edge = EDGE as u32;
        let cell = LARGEST_CELL as u32;
        assert!(ink(edge + cell..edge + 2 * cell) > 50);
        assert!(ink(edge..edge + cell / 2) == 0);
        assert!(ink(edge + 3 * cell..edge + 4 * cell) > 0);
    }
}
