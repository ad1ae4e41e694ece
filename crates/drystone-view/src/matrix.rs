//! The pattern of a matrix in blocks: which there are, and how large they are.
//!
//! ```
//! use drystone_view::matrix::{Block, Pattern};
//!
//! let diagonal = (0..5).map(|k| Block { row: k, column: k, size: 1.0 });
//! let pattern = Pattern { side: 5, blocks: diagonal.collect() };
//! assert!(pattern.image().png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), drystone_view::ViewError>(())
//! ```

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
        let mut sheet = Sheet::new(cells * cell);
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

/// A white sheet with a frame, in which squares are filled.
struct Sheet {
    image: Image,
}

impl Sheet {
    /// A sheet for a matrix of so many pixels.
    fn new(inner: usize) -> Self {
        let width = inner + 2 * EDGE;
        let mut sheet = Self {
            image: Image {
                width: width as u32,
                height: width as u32,
                rgb: vec![255; 3 * width * width],
            },
        };
        // One pixel all around the matrix, with one of white inside it.
        let (first, last) = (EDGE - 2, EDGE + inner + 1);
        for at in first..=last {
            for (row, column) in [(first, at), (last, at), (at, first), (at, last)] {
                sheet.set(row, column, FRAME);
            }
        }
        sheet
    }

    fn square(&mut self, top: usize, left: usize, side: usize, rgb: [u8; 3]) {
        for row in top..top + side {
            for column in left..left + side {
                self.set(EDGE + row, EDGE + column, rgb);
            }
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
        let image = Pattern { side, blocks }.image();
        assert_eq!(image.width as usize, MOST_PIXELS + 2 * EDGE);
        let corner = (EDGE + MOST_PIXELS - 1) as u32;
        assert_eq!(image.pixel(corner, corner), Some(DARK));
        assert_eq!(image.pixel(EDGE as u32, corner), Some([255; 3]));
        assert_eq!(Pattern::default().image().width as usize, 2 * EDGE);
    }
}
