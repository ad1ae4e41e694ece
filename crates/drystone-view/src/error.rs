//! What can go wrong when a picture is made.

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The picture would have no pixels, or more than can be drawn.
    #[error(
        "a picture of {width} x {height} pixels cannot be drawn: choose at least 1 x 1 and at \
         most {max_pixels} pixels in all, no side above {max_side}"
    )]
    ImageSize {
        /// The width that was asked for, in pixels.
        width: u32,
        /// The height that was asked for, in pixels.
        height: u32,
        /// The greatest number of pixels.
        max_pixels: u64,
        /// The greatest width and height.
        max_side: u32,
    },
    /// The pixels of an [`Image`](crate::still::Image) do not match its width and height.
    #[error(
        "an image of {width} x {height} pixels needs {expected} bytes of colour but has \
         {found}: give 3 bytes for each pixel"
    )]
    PixelCount {
        /// The width of the image, in pixels.
        width: u32,
        /// The height of the image, in pixels.
        height: u32,
        /// The number of bytes that it should have.
        expected: u64,
        /// The number of bytes that it has.
        found: u64,
    },
    /// A chart without panels was asked for.
    #[error("the chart {title:?} has no panels: add at least one panel")]
    NoPanels {
        /// The title of the chart.
        title: String,
    },
    /// A font that is built into the program could not be read.
    #[error("the built-in font could not be read: {0}")]
    Font(#[from] ttf_parser::FaceParsingError),
    /// The pixels could not be encoded as PNG.
    #[error("the picture could not be encoded as PNG: {0}")]
    Png(#[from] png::EncodingError),
}
