//! A finished picture and its PNG form.

use crate::ViewError;
use tiny_skia::Pixmap;

/// A picture: rows from the top, three sRGB bytes (red, green, blue) for each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

impl Image {
    /// The colour of a pixel, column and row counted from the top left; `None` outside.
    #[must_use]
    pub fn pixel(&self, column: u32, row: u32) -> Option<[u8; 3]> {
        if column >= self.width || row >= self.height {
            return None;
        }
        let start = 3 * (row as usize * self.width as usize + column as usize);
        let bytes = self.rgb.get(start..start + 3)?;
        Some([bytes[0], bytes[1], bytes[2]])
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    ///
    /// If the number of bytes does not fit the size, or the encoder refuses the size.
    pub fn png(&self) -> Result<Vec<u8>, ViewError> {
        let expected = 3 * u64::from(self.width) * u64::from(self.height);
        if expected != self.rgb.len() as u64 {
            return Err(ViewError::PixelCount {
                width: self.width,
                height: self.height,
                expected,
                found: self.rgb.len() as u64,
            });
        }
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(file)
    }

    /// The picture as an opaque pixmap, to draw over; `None` if its size is not possible.
    pub(crate) fn to_pixmap(&self) -> Option<Pixmap> {
        let mut pixmap = Pixmap::new(self.width, self.height)?;
        let pixels = pixmap.data_mut().chunks_exact_mut(4);
        for (to, from) in pixels.zip(self.rgb.chunks_exact(3)) {
            to.copy_from_slice(&[from[0], from[1], from[2], 255]);
        }
        Some(pixmap)
    }

    /// The colours of an opaque pixmap.
    pub(crate) fn from_pixmap(pixmap: &Pixmap) -> Self {
        let pixels = pixmap.data().chunks_exact(4);
        Self {
            width: pixmap.width(),
            height: pixmap.height(),
            rgb: pixels.flat_map(|p| [p[0], p[1], p[2]]).collect(),
        }
    }
}
