//! Few colours for a picture: median cut over a coarse histogram, and an ordered dither.
//!
//! The dither shifts a pixel by its place alone, so what does not move between two pictures of
//! one palette keeps its numbers and need not be written again.

/// Bits of each component in the histogram.
const BITS: u32 = 5;
const BINS: usize = 1 << (3 * BITS);

/// Width of a bin in a component.
const BIN: i32 = 1 << (8 - BITS);

/// The order in which a square of 4 x 4 pixels is filled as it gets lighter.
const DITHER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// A palette, and which of its colours stands for each bin.
#[derive(Clone, Debug)]
pub(super) struct Palette {
    pub(super) colours: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

/// How many pixels a picture has in each bin.
#[derive(Clone, Debug)]
pub(super) struct Histogram(Vec<u32>);

fn bin(colour: [u8; 3]) -> usize {
    let [r, g, b] = colour.map(|c| usize::from(c >> (8 - BITS)));
    r << (2 * BITS) | g << BITS | b
}

/// The middle of a bin.
fn middle(bin: usize) -> [i32; 3] {
    let mask = (1 << BITS) - 1;
    [bin >> (2 * BITS), bin >> BITS & mask, bin & mask].map(|c| c as i32 * BIN + BIN / 2)
}

impl Histogram {
    pub(super) fn new(rgb: &[u8]) -> Self {
        let mut counts = vec![0; BINS];
        for pixel in rgb.chunks_exact(3) {
            counts[bin([pixel[0], pixel[1], pixel[2]])] += 1;
        }
        Self(counts)
    }
}

/// Bins of one colour of the palette to be.
struct Box {
    bins: Vec<usize>,
    pixels: u64,
}

impl Box {
    /// The component in which the bins spread most, and how far.
    fn spread(&self) -> (usize, i32) {
        let of = |axis: usize| {
            let values = self.bins.iter().map(|&bin| middle(bin)[axis]);
            let (low, high) = values.fold((255, 0), |(l, h), x| (l.min(x), h.max(x)));
            high - low
        };
        let spreads = [of(0), of(1), of(2)];
        let axis = (0..3).max_by_key(|&axis| spreads[axis]).unwrap_or(0);
        (axis, spreads[axis])
    }

    /// Two boxes with about as many pixels each.
    fn split(mut self, counts: &[u32]) -> (Self, Self) {
        let (axis, _) = self.spread();
        self.bins.sort_by_key(|&bin| (middle(bin)[axis], bin));
        let mut sum = 0;
        let at = self.bins.iter().position(|&bin| {
            sum += u64::from(counts[bin]);
            2 * sum >= self.pixels
        });
        let at = at.unwrap_or(0).clamp(1, self.bins.len().max(2) - 1);
        let rest = self.bins.split_off(at.min(self.bins.len()));
        let made = |bins: Vec<usize>| Self {
            pixels: bins.iter().map(|&bin| u64::from(counts[bin])).sum(),
            bins,
        };
        (made(self.bins), made(rest))
    }

    fn colour(&self, counts: &[u32]) -> [u8; 3] {
        let mut sums = [0_u64; 3];
        for &bin in &self.bins {
            for (sum, part) in sums.iter_mut().zip(middle(bin)) {
                *sum += part as u64 * u64::from(counts[bin]);
            }
        }
        sums.map(|sum| (sum / self.pixels.max(1)) as u8)
    }
}

impl Palette {
    /// At most `most` colours for pictures like this one.
    pub(super) fn new(histogram: &Histogram, most: usize) -> Self {
        let counts = &histogram.0;
        let bins: Vec<usize> = (0..BINS).filter(|&bin| counts[bin] > 0).collect();
        let pixels = bins.iter().map(|&bin| u64::from(counts[bin])).sum();
        let mut boxes = vec![Box { bins, pixels }];
        while boxes.len() < most {
            // Large differences first, weighted by how much of the picture they are.
            let key = |one: &Box| {
                let weight = (one.pixels as f64).sqrt() * f64::from(one.spread().1);
                if one.bins.len() > 1 { weight } else { 0.0 }
            };
            let widest = (0..boxes.len()).max_by(|&a, &b| {
                let order = key(&boxes[a]).total_cmp(&key(&boxes[b]));
                order.then(b.cmp(&a))
            });
            match widest.filter(|&k| key(&boxes[k]) > 0.0) {
                Some(k) => {
                    let (low, high) = boxes.swap_remove(k).split(counts);
                    boxes.extend([low, high]);
                }
                None => break,
            }
        }
        let colours: Vec<[u8; 3]> = boxes.iter().map(|one| one.colour(counts)).collect();
        let nearest = (0..BINS)
            .map(|bin| nearest(&colours, middle(bin)).0)
            .collect();
        Self { colours, nearest }
    }

    /// Mean square distance of a picture's colours from those of the palette.
    pub(super) fn error(&self, histogram: &Histogram) -> f64 {
        let (mut error, mut pixels) = (0.0, 0.0);
        for (bin, &count) in histogram.0.iter().enumerate().filter(|(_, c)| **c > 0) {
            let colour = self.colours.get(usize::from(self.nearest[bin]));
            let distance = colour.map_or(0, |&colour| distance(colour, middle(bin)));
            error += f64::from(distance) * f64::from(count);
            pixels += f64::from(count);
        }
        error / f64::max(pixels, 1.0)
    }

    /// The number of the colour that stands for each pixel.
    pub(super) fn numbers(&self, rgb: &[u8], width: usize) -> Vec<u8> {
        let number = |(k, pixel): (usize, &[u8])| {
            let (x, y) = (k % width.max(1), k / width.max(1));
            let shift = (2 * DITHER[y % 4][x % 4] - 15) * BIN / 32;
            let shifted = |c: u8| (i32::from(c) + shift).clamp(0, 255) as u8;
            self.nearest[bin([shifted(pixel[0]), shifted(pixel[1]), shifted(pixel[2])])]
        };
        rgb.chunks_exact(3).enumerate().map(number).collect()
    }
}

fn distance(colour: [u8; 3], point: [i32; 3]) -> i32 {
    let apart = |k: usize| i32::from(colour[k]) - point[k];
    (0..3).map(|k| apart(k) * apart(k)).sum()
}

fn nearest(colours: &[[u8; 3]], point: [i32; 3]) -> (u8, i32) {
    let distances = colours.iter().map(|&colour| distance(colour, point));
    let best = (0..).zip(distances).min_by_key(|&(_, distance)| distance);
    best.unwrap_or((0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let rgb: Vec<u8> = [[200, 30, 30], [20, 200, 40], [10, 20, 250]]
            .repeat(50)
            .concat();
        let histogram = Histogram::new(&rgb);
        let palette = Palette::new(&histogram, 255);
        assert_eq!(palette.colours.len(), 3);
        // Half a bin in each component at most.
        assert!(palette.error(&histogram) <= 3.0 * 16.0);
        let numbers = palette.numbers(&rgb, 50);
        assert_eq!(numbers.len(), 150);
    }

    #[test]
    fn a_gradient_comes_near_on_average() {
        let rgb: Vec<u8> = (0..=255_u8).flat_map(|c| [c; 3].repeat(64)).collect();
        let histogram = Histogram::new(&rgb);
        let palette = Palette::new(&histogram, 255);
        let numbers = palette.numbers(&rgb, 64);
        // Rows of one grey each: the dither must not make them lighter or darker.
        for (row, grey) in numbers.chunks_exact(64).zip(0..=255_u8).skip(8).take(240) {
            let sum: u32 = row
                .iter()
                .map(|&number| u32::from(palette.colours[usize::from(number)][0]))
                .sum();
            let mean = f64::from(sum) / 64.0;
            assert!((mean - f64::from(grey)).abs() <= 5.0, "{grey}: {mean}");
        }
    }

    #[test]
    fn other_colours_are_noticed() {
        let red = Histogram::new(&[255, 0, 0].repeat(100));
        let blue = Histogram::new(&[0, 0, 255].repeat(100));
        let palette = Palette::new(&red, 255);
        assert!(palette.error(&red) < 100.0 && palette.error(&blue) > 10_000.0);
    }
}
