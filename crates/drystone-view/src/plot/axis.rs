//! Axes: the range of the numbers, round ticks and their labels.

use super::Scale;

/// Numbers beyond this size are drawn at it, so that differences stay finite.
const LARGEST: f64 = 1e300;

/// The most decades that a logarithmic axis shows.
const MOST_DECADES: i32 = 32;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    /// Ends of the axis; exponents of ten if logarithmic.
    low: f64,
    high: f64,
    /// In rising order.
    pub(super) ticks: Vec<Tick>,
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// From 0 at the low end to 1 at the high end.
    pub(super) share: f64,
    /// Empty for lines of the grid without a label.
    pub(super) label: String,
}

impl Axis {
    /// An axis for the given numbers, of which those that are not finite are ignored. `padded`
    /// axes leave some room beyond the numbers; `most_labels` bounds the number of labels.
    pub(super) fn new(
        scale: Scale,
        numbers: impl Iterator<Item = f64>,
        padded: bool,
        most_labels: usize,
    ) -> Self {
        let finite = numbers.filter(|number| number.is_finite());
        let mut axis = match scale {
            Scale::Linear => Self::linear(finite, padded),
            Scale::Log10 => Self::logarithmic(finite),
        };
        axis.ticks = match scale {
            Scale::Linear => axis.linear_ticks(most_labels.max(2)),
            Scale::Log10 => axis.decade_ticks(most_labels.max(2)),
        };
        axis
    }

    fn linear(numbers: impl Iterator<Item = f64>, padded: bool) -> Self {
        let clamped = numbers.map(|number| number.clamp(-LARGEST, LARGEST));
        let ends = clamped
            .map(|n| (n, n))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (low, high) = ends.unwrap_or((0.0, 1.0));
        let size = low.abs().max(high.abs());
        // A constant, or noise at the limit of precision, gets an axis around it.
        let margin = if high - low <= 1e-12 * size {
            if size > 0.0 { 0.1 * size } else { 1.0 }
        } else if padded {
            0.06 * (high - low)
        } else {
            0.0
        };
        Self {
            scale: Scale::Linear,
            low: low - margin,
            high: high + margin,
            ticks: Vec::new(),
        }
    }

    fn logarithmic(numbers: impl Iterator<Item = f64>) -> Self {
        let (mut least, mut most, mut others) = (f64::INFINITY, 0.0_f64, false);
        for number in numbers {
            if number > 0.0 {
                least = least.min(number);
                most = most.max(number);
            } else {
                others = true;
            }
        }
        let (mut low, mut high) = if most > 0.0 {
            (
                libm::floor(libm::log10(least)),
                libm::ceil(libm::log10(most)),
            )
        } else {
            // Nothing positive: the usual range of residuals, with a line along its lower edge.
            (-16.0, 0.0)
        };
        if high <= low {
            high = low + 1.0;
        }
        low = low.max(high - f64::from(MOST_DECADES));
        if others && most > 0.0 {
            low -= 1.0;
        }
        Self {
            scale: Scale::Log10,
            low,
            high,
            ticks: Vec::new(),
        }
    }

    /// Where a number lies, from 0 at the low end to 1 at the high end; `None` if not finite.
    pub(super) fn share(&self, number: f64) -> Option<f64> {
        if !number.is_finite() {
            return None;
        }
        let position = match self.scale {
            Scale::Linear => number.clamp(-LARGEST, LARGEST),
            Scale::Log10 if number > 0.0 => libm::log10(number),
            Scale::Log10 => self.low,
        };
        let share = (position - self.low) / (self.high - self.low);
        Some(share.clamp(0.0, 1.0))
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let span = self.high - self.low;
        let step = round_step(span / most as f64);
        // A tick a hair beyond an end, as where the last time is 5.999 s, is drawn at the end.
        let hair = 1e-3 * span;
        let first = ((self.low - hair) / step).ceil();
        let count =
            (((self.high + hair) / step).floor() - first).clamp(0.0, 2.0 * most as f64) as u32;
        let tick = |k: u32| {
            let value = (first + f64::from(k)) * step;
            let share = ((value - self.low) / span).clamp(0.0, 1.0);
            Tick {
                share,
                label: linear_label(value, step, self.low.abs().max(self.high.abs())),
            }
        };
        (0..=count).map(tick).collect()
    }

    fn decade_ticks(&self, most: usize) -> Vec<Tick> {
        let decades = (self.high - self.low) as i32;
        let stride = (decades + most as i32 - 1).div_euclid(most as i32).max(1);
        let exponents = self.low as i32..=self.high as i32;
        let tick = |exponent: i32| {
            let labelled = exponent.rem_euclid(stride) == 0;
            Tick {
                share: (f64::from(exponent) - self.low) / (self.high - self.low),
                label: if labelled {
                    decade_label(exponent)
                } else {
                    String::new()
                },
            }
        };
        exponents.map(tick).collect()
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below a positive number.
fn round_step(number: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(number)));
    let factors = [1.0, 2.0, 5.0, 10.0];
    let enough = |factor: &&f64| **factor * power >= number * (1.0 - 1e-9);
    factors.iter().find(enough).unwrap_or(&10.0) * power
}

fn decade_label(exponent: i32) -> String {
    match exponent {
        -2..=3 => {
            let decimals = (-exponent).max(0) as usize;
            let value = libm::pow(10.0, f64::from(exponent));
            format!("{value:.decimals$}")
        }
        _ => format!("1e{exponent}"),
    }
}

/// A label with as many decimals as the step between ticks needs.
fn linear_label(value: f64, step: f64, largest: f64) -> String {
    let exponent = |number: f64| libm::floor(libm::log10(number) + 1e-9) as i32;
    if value.abs() < 1e-6 * step {
        return "0".into();
    }
    let step_exponent = exponent(step);
    if (1e-3..1e5).contains(&largest) && step_exponent >= -6 {
        let decimals = (-step_exponent).max(0) as usize;
        return format!("{value:.decimals$}");
    }
    let digits = (exponent(value.abs()) - step_exponent).clamp(0, 15) as usize;
    format!("{value:.digits$e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        let all = axis.ticks.iter().map(|tick| tick.label.as_str());
        all.filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let axis = Axis::new(Scale::Linear, [0.0, 10.0].into_iter(), false, 6);
        assert_eq!(labels(&axis), ["0", "2", "4", "6", "8", "10"]);
        let small = Axis::new(Scale::Linear, [0.0, 4e-6].into_iter(), false, 5);
        assert_eq!(labels(&small), ["0", "1e-6", "2e-6", "3e-6", "4e-6"]);
        let halves = Axis::new(Scale::Linear, [-1.0, 1.0].into_iter(), false, 5);
        assert_eq!(labels(&halves), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
    }

    #[test]
    fn residuals_from_large_to_tiny_are_in_order() {
        let values: Vec<f64> = (1..=17).map(|k| libm::pow(10.0, -f64::from(k))).collect();
        let axis = Axis::new(Scale::Log10, values.iter().copied().chain([0.0]), true, 6);
        let shares: Vec<f64> = values.iter().filter_map(|&v| axis.share(v)).collect();
        assert_eq!(shares.len(), 17);
        assert!(shares.windows(2).all(|pair| pair[0] > pair[1]));
        // Zero lies on the lower edge, below the smallest positive number.
        assert_eq!(axis.share(0.0), Some(0.0));
        assert_eq!(axis.share(-1.0), Some(0.0));
        assert!(shares[16] > 0.0);
        assert!(labels(&axis).contains(&"1e-6"), "{:?}", labels(&axis));
    }

    #[test]
    fn odd_numbers_give_a_usable_axis() {
        let sets: [&[f64]; 8] = [
            &[],
            &[f64::NAN, f64::INFINITY],
            &[0.0],
            &[5.0, 5.0],
            &[1e300, -1e308],
            &[1.0, 1.0 + 1e-15],
            &[5e-324, f64::MAX],
            &[-3.0, -4.0],
        ];
        for scale in [Scale::Linear, Scale::Log10] {
            for numbers in sets {
                let axis = Axis::new(scale, numbers.iter().copied(), true, 5);
                assert!(axis.low < axis.high, "{numbers:?}");
                assert!(
                    !axis.ticks.is_empty() && axis.ticks.len() < 50,
                    "{numbers:?}"
                );
                for tick in &axis.ticks {
                    assert!((0.0..=1.0).contains(&tick.share), "{numbers:?}");
                }
                for &number in numbers.iter().filter(|number| number.is_finite()) {
                    assert!(axis.share(number).is_some_and(f64::is_finite));
                }
            }
        }
    }
}
