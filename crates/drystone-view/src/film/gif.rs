//! Films as GIF, without another program.
//!
//! A palette is kept as long as it fits, so that only pixels that change are written; the others
//! are left as they are by a colour that stands for nothing.

use std::io::{self, Write};

use gif::{DisposalMethod, EncodingError, Frame, Repeat};

use super::Encoder;
use super::quantize::{Histogram, Palette};
use crate::still::Image;

/// Colours of a palette; one more stands for a pixel that does not change.
const COLOURS: usize = 255;

/// The colour that stands for a pixel that does not change.
const SAME: u8 = 255;

/// A palette is given up when its mean square error is this many times as large as at first, and
/// this much larger.
const WORSE_TIMES: f64 = 1.6;
const WORSE_BY: f64 = 12.0;

/// Most pictures in a second: a GIF counts hundredths of a second, and many programs show what
/// is shorter than two of them slowly.
pub const MOST_PER_SECOND: f64 = 50.0;

/// A GIF that is being written.
pub struct Gif<W: Write> {
    encoder: gif::Encoder<W>,
    width: u16,
    height: u16,
    per_second: f64,
    /// Pictures so far.
    count: u64,
    palette: Option<(Palette, f64)>,
    /// Numbers of the colours of the last picture.
    last: Vec<u8>,
}

impl<W: Write> std::fmt::Debug for Gif<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gif({} x {})", self.width, self.height)
    }
}

fn plain(error: EncodingError) -> io::Error {
    match error {
        EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

impl<W: Write> Gif<W> {
    /// Begins a film that is shown over and over.
    ///
    /// # Errors
    ///
    /// If it can't be written, or a side has more than 65,535 pixels.
    pub fn new(to: W, (width, height): (u32, u32), per_second: f64) -> io::Result<Self> {
        let side = |pixels: u32| u16::try_from(pixels).map_err(io::Error::other);
        let (width, height) = (side(width)?, side(height)?);
        let mut encoder = gif::Encoder::new(to, width, height, &[]).map_err(plain)?;
        encoder.set_repeat(Repeat::Infinite).map_err(plain)?;
        Ok(Self {
            encoder,
            width,
            height,
            per_second: per_second.min(MOST_PER_SECOND),
            count: 0,
            palette: None,
            last: Vec::new(),
        })
    }

    /// Hundredths of a second that the next picture is shown; roundings do not add up.
    fn delay(&self) -> u16 {
        let at = |count: u64| libm::round(100.0 * count as f64 / self.per_second);
        (at(self.count + 1) - at(self.count)) as u16
    }

    /// Chooses a palette where the present one does not fit; whether it is new.
    fn choose_palette(&mut self, rgb: &[u8]) -> bool {
        let histogram = Histogram::new(rgb);
        if let Some((palette, at_first)) = &self.palette {
            let most = f64::max(WORSE_TIMES * at_first, at_first + WORSE_BY);
            if palette.error(&histogram) <= most {
                return false;
            }
        }
        let palette = Palette::new(&histogram, COLOURS);
        let error = palette.error(&histogram);
        self.palette = Some((palette, error));
        true
    }
}

impl<W: Write> Encoder for Gif<W> {
    fn add(&mut self, image: &Image) -> io::Result<()> {
        let is_new = self.choose_palette(&image.rgb);
        let Some((palette, _)) = &self.palette else {
            return Ok(());
        };
        let width = usize::from(self.width);
        let numbers = palette.numbers(&image.rgb, width);
        let before: &[u8] = if is_new { &[] } else { &self.last };
        let region = Region::of_changes(&numbers, before, width);
        let mut colours = palette.colours.concat();
        // The colour that stands for nothing must be there.
        colours.resize(3 * (COLOURS + 1), 0);
        let frame = Frame {
            delay: self.delay(),
            dispose: DisposalMethod::Keep,
            transparent: Some(SAME),
            left: region.left as u16,
            top: region.top as u16,
            width: region.width as u16,
            height: region.height as u16,
            palette: Some(colours),
            buffer: region.cut(&numbers, before, width).into(),
            ..Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(plain)?;
        self.last = numbers;
        self.count += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let mut to = self.encoder.into_inner().map_err(plain)?;
        to.flush()
    }
}

/// The part of a picture that changes; at least one pixel.
struct Region {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Region {
    fn of_changes(now: &[u8], before: &[u8], width: usize) -> Self {
        let (mut left, mut right, mut top, mut bottom) = (usize::MAX, 0, usize::MAX, 0);
        for (k, number) in now.iter().enumerate() {
            if before.get(k) != Some(number) {
                let (x, y) = (k % width, k / width);
                (left, right) = (left.min(x), right.max(x));
                (top, bottom) = (top.min(y), bottom.max(y));
            }
        }
        if left > right {
            (left, right, top, bottom) = (0, 0, 0, 0);
        }
        Self {
            left,
            top,
            width: right - left + 1,
            height: bottom - top + 1,
        }
    }

    /// Its pixels; what does not change as the colour that stands for that.
    fn cut(&self, now: &[u8], before: &[u8], width: usize) -> Vec<u8> {
        let mut pixels = Vec::with_capacity(self.width * self.height);
        for y in self.top..self.top + self.height {
            for k in y * width + self.left..y * width + self.left + self.width {
                let is_same = before.get(k) == now.get(k);
                pixels.push(if is_same { SAME } else { now[k] });
            }
        }
        pixels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, colour: impl Fn(u32, u32) -> [u8; 3]) -> Image {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Image {
            width,
            height,
            rgb: pixels.flat_map(|(x, y)| colour(x, y)).collect(),
        }
    }

    /// Pictures of a GIF as they are shown, and their delays in hundredths of a second.
    fn shown(file: &[u8]) -> Vec<(Vec<[u8; 3]>, u16)> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(file).unwrap();
        let width = usize::from(decoder.width());
        let mut canvas = vec![[0; 3]; width * usize::from(decoder.height())];
        let mut pictures = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            for (k, pixel) in frame.buffer.chunks_exact(4).enumerate() {
                let x = usize::from(frame.left) + k % usize::from(frame.width);
                let y = usize::from(frame.top) + k / usize::from(frame.width);
                if pixel[3] > 0 {
                    canvas[y * width + x] = [pixel[0], pixel[1], pixel[2]];
                }
            }
            pictures.push((canvas.clone(), frame.delay));
        }
        pictures
    }

    #[test]
    fn a_square_that_moves_comes_back_where_it_was() {
        let (paper, ink) = ([240, 236, 228], [200, 80, 40]);
        let scene = |at: u32| {
            picture(64, 48, move |x, y| {
                let inside = (at..at + 8).contains(&x) && (20..28).contains(&y);
                if inside { ink } else { paper }
            })
        };
        let mut file = Vec::new();
        let mut film = Box::new(Gif::new(&mut file, (64, 48), 30.0).unwrap());
        for at in [0, 10, 20, 20] {
            film.add(&scene(at)).unwrap();
        }
        film.finish().unwrap();
        let pictures = shown(&file);
        assert_eq!(pictures.len(), 4);
        let near = |a: [u8; 3], b: [u8; 3]| (0..3).all(|k| a[k].abs_diff(b[k]) <= 8);
        for ((found, _), at) in pictures.iter().zip([0, 10, 20, 20]) {
            let expected = scene(at);
            for (k, colour) in found.iter().enumerate() {
                let (x, y) = (k as u32 % 64, k as u32 / 64);
                assert!(near(*colour, expected.pixel(x, y).unwrap()), "{x} {y}");
            }
        }
        // 30 a second are 3.33 hundredths each: the sum is kept.
        let delays: u16 = pictures.iter().map(|(_, delay)| delay).sum();
        assert_eq!(delays, 13);
    }

    #[test]
    fn what_does_not_change_costs_little() {
        let noise = picture(64, 64, |x, y| {
            [(x * 37 % 256) as u8, (y * 91 % 256) as u8, 0]
        });
        let mut file = Vec::new();
        let mut film = Box::new(Gif::new(&mut file, (64, 64), 25.0).unwrap());
        film.add(&noise).unwrap();
        film.finish().unwrap();
        let one = file.len();
        let mut file = Vec::new();
        let mut film = Box::new(Gif::new(&mut file, (64, 64), 25.0).unwrap());
        for _ in 0..5 {
            film.add(&noise).unwrap();
        }
        film.finish().unwrap();
        // A palette and a pixel each.
        assert!(file.len() < one + 4 * 850, "{} {one}", file.len());
    }
}
