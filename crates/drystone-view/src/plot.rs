//! Line charts of numbers over time, such as the residuals of a certificate.
//!
//! One drawing serves as SVG, with real text, and as PNG, with a built-in font.
//!
//! ```
//! use drystone_view::plot::{Chart, Panel, Scale, Series};
//!
//! let residual = (0..100).map(|k| (0.01 * f64::from(k), 10_f64.powi(-k / 10)));
//! let chart = Chart {
//!     title: "A box at rest".into(),
//!     panels: vec![Panel {
//!         title: "Contact laws".into(),
//!         x_label: "time / s".into(),
//!         y_label: "residual / (m/s)".into(),
//!         scale: Scale::Log10,
//!         series: vec![Series {
//!             name: "complementarity".into(),
//!             points: residual.collect(),
//!         }],
//!     }],
//!     ..Chart::default()
//! };
//! assert!(chart.svg()?.contains("residual / (m/s)"));
//! assert!(chart.png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), drystone_view::ViewError>(())
//! ```

mod axis;
mod decimate;
mod drawing;
pub(crate) mod font;
mod layout;

use crate::ViewError;

/// The greatest width and height of a chart's PNG in pixels.
const MAX_SIDE: u32 = 16_384;

/// The greatest number of pixels of a chart's PNG.
const MAX_PIXELS: u64 = 1 << 26;

/// Panels, one above another, with one x axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Stands above all panels; may be empty.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Width in SVG units; a PNG has twice as many pixels.
    pub width: u32,
    /// Height of the area of each panel's lines, in SVG units.
    pub panel_height: u32,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            title: String::new(),
            panels: Vec::new(),
            width: 900,
            panel_height: 190,
        }
    }
}

/// One set of axes with its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Stands above the panel; may be empty.
    pub title: String,
    /// What the x axis shows, with its unit. Only the lowest panel's is drawn.
    pub x_label: String,
    /// What the y axis shows, with its unit.
    pub y_label: String,
    /// How the y axis is divided.
    pub scale: Scale,
    /// The lines. They are named in a legend if there are several.
    pub series: Vec<Series>,
}

/// How a y axis is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equal differences.
    #[default]
    Linear,
    /// Equal steps are equal ratios. Zero and negative numbers lie on the lower edge, a decade
    /// or more below the smallest positive number.
    Log10,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Points (x, y) in order. Points that are not finite interrupt the line.
    pub points: Vec<(f64, f64)>,
}

impl Chart {
    /// The chart as an SVG file.
    ///
    /// # Errors
    ///
    /// If there are no panels, or the size is zero or too large.
    pub fn svg(&self) -> Result<String, ViewError> {
        Ok(layout::draw(self, &font::Font::new()?)?.svg())
    }

    /// The chart as a PNG file, with two pixels for each SVG unit.
    ///
    /// # Errors
    ///
    /// If there are no panels, or the size is zero or too large.
    pub fn png(&self) -> Result<Vec<u8>, ViewError> {
        let font = font::Font::new()?;
        layout::draw(self, &font)?.image(&font)?.png()
    }
}

/// Checks the size of a drawing in SVG units.
fn check_size(width: u32, height: u32) -> Result<(), ViewError> {
    let (width, height) = (width.saturating_mul(2), height.saturating_mul(2));
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > MAX_PIXELS || width.max(height) > MAX_SIDE {
        return Err(ViewError::ImageSize {
            width,
            height,
            max_pixels: MAX_PIXELS,
            max_side: MAX_SIDE,
        });
    }
    Ok(())
}
