//! Plots of energy, penetration and residual over time.

use drystone::{Space, StepReport, World};
use drystone_view::plot::{Chart, Panel, Scale, Series};

/// Points of a line beyond which neighbours are merged: more than a plot has pixels.
const MOST_POINTS: usize = 1 << 15;

/// What is plotted, gathered as the run goes.
#[derive(Debug, Default)]
pub(super) struct History {
    kinetic: Line,
    potential: Line,
    total: Line,
    penetration: Line,
    residual: Line,
}

impl History {
    /// Adds the state before the first step.
    pub(super) fn begin<S: Space>(&mut self, world: &World<S>) {
        self.add_energy(world);
    }

    /// Adds the state after a step.
    pub(super) fn add<S: Space>(&mut self, world: &World<S>, step: &StepReport) {
        self.add_energy(world);
        if let Some(certificate) = &step.certificate {
            let time = world.time();
            self.penetration.add(time, certificate.penetration_m);
            self.residual.add(time, certificate.residual_m_s);
        }
    }

    fn add_energy<S: Space>(&mut self, world: &World<S>) {
        let (time, energy) = (world.time(), world.energy());
        self.kinetic.add(time, energy.kinetic);
        self.potential.add(time, energy.potential);
        self.total.add(time, energy.kinetic + energy.potential);
    }

    /// The three plots, one above another.
    pub(super) fn chart(&self, title: &str) -> Chart {
        let panel = |title: &str, y_label: &str, scale, lines: &[(&str, &Line)]| Panel {
            title: title.into(),
            x_label: "time / s".into(),
            y_label: y_label.into(),
            scale,
            series: lines.iter().map(|(name, line)| line.series(name)).collect(),
        };
        let energies = [
            ("kinetic", &self.kinetic),
            ("potential", &self.potential),
            ("total", &self.total),
        ];
        let (unit, size) = unit_of_length(self.penetration.greatest());
        let penetration = self.penetration.scaled(1.0 / size);
        let penetration = [("penetration", &penetration)];
        let residual = [("residual", &self.residual)];
        Chart {
            title: title.into(),
            panels: vec![
                panel("Energy", "energy / J", Scale::Linear, &energies),
                panel(
                    "Deepest overlap",
                    &format!("penetration / {unit}"),
                    Scale::Linear,
                    &penetration,
                ),
                panel(
                    "Error of the contact laws",
                    "residual / (m/s)",
                    Scale::Log10,
                    &residual,
                ),
            ],
            ..Chart::default()
        }
    }
}

/// A unit in which lengths of up to `metres` are numbers that a person can read, and its size.
fn unit_of_length(metres: f64) -> (&'static str, f64) {
    if metres >= 1.0 {
        ("m", 1.0)
    } else if metres >= 1e-5 || metres <= 0.0 {
        ("mm", 1e-3)
    } else if metres >= 1e-8 {
        ("µm", 1e-6)
    } else {
        ("nm", 1e-9)
    }
}

/// A line in bounded memory: the least and the greatest of each `stride` neighbours.
#[derive(Debug)]
struct Line {
    points: Vec<(f64, f64)>,
    stride: u64,
    pending: u64,
    low: (f64, f64),
    high: (f64, f64),
}

const NO_LOW: (f64, f64) = (0.0, f64::INFINITY);
const NO_HIGH: (f64, f64) = (0.0, f64::NEG_INFINITY);

impl Default for Line {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            stride: 1,
            pending: 0,
            low: NO_LOW,
            high: NO_HIGH,
        }
    }
}

impl Line {
    fn add(&mut self, time: f64, value: f64) {
        if self.stride == 1 {
            self.points.push((time, value));
        } else {
            self.low = lower(self.low, (time, value));
            self.high = higher(self.high, (time, value));
            self.pending += 1;
            if self.pending == self.stride {
                push_pair(&mut self.points, self.low, self.high);
                (self.pending, self.low, self.high) = (0, NO_LOW, NO_HIGH);
            }
        }
        if self.points.len() >= MOST_POINTS {
            self.halve();
        }
    }

    /// Makes two of every four points.
    fn halve(&mut self) {
        let mut merged = Vec::with_capacity(self.points.len() / 2 + 2);
        for four in self.points.chunks(4) {
            let low = four.iter().copied().fold(NO_LOW, lower);
            let high = four.iter().copied().fold(NO_HIGH, higher);
            push_pair(&mut merged, low, high);
        }
        self.points = merged;
        // Two points now stand for four steps at first, later for twice as many each time.
        self.stride = if self.stride == 1 { 4 } else { 2 * self.stride };
    }

    fn greatest(&self) -> f64 {
        self.points.iter().map(|p| p.1).fold(self.high.1, f64::max)
    }

    /// The same line in another unit.
    fn scaled(&self, factor: f64) -> Self {
        let scale = |(time, value): (f64, f64)| (time, factor * value);
        Self {
            points: self.points.iter().copied().map(scale).collect(),
            low: scale(self.low),
            high: scale(self.high),
            ..*self
        }
    }

    fn series(&self, name: &str) -> Series {
        let mut points = self.points.clone();
        if self.pending > 0 {
            push_pair(&mut points, self.low, self.high);
        }
        Series {
            name: name.into(),
            points,
        }
    }
}

fn lower(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    if b.1 < a.1 { b } else { a }
}

fn higher(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    if b.1 > a.1 { b } else { a }
}

/// Adds the two in the order of time, or the one that they are. Pairs of nothing are left out.
fn push_pair(points: &mut Vec<(f64, f64)>, a: (f64, f64), b: (f64, f64)) {
    let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    points.extend([first, second].iter().filter(|p| p.1.is_finite()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_kept_whole() {
        let mut line = Line::default();
        for k in 0..1000 {
            line.add(f64::from(k), f64::from(k % 7));
        }
        assert_eq!(line.series("a").points.len(), 1000);
    }

    #[test]
    fn long_lines_keep_their_peaks_in_bounded_memory() {
        let mut line = Line::default();
        for k in 0..1_000_000 {
            let value = match k {
                123_456 => 9.0,
                876_543 => -9.0,
                _ => f64::from(k % 2),
            };
            line.add(f64::from(k), value);
        }
        let points = line.series("a").points;
        assert!(points.len() <= MOST_POINTS);
        assert!(points.contains(&(123_456.0, 9.0)));
        assert!(points.contains(&(876_543.0, -9.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(points.last().unwrap().0 > 999_000.0);
    }
}
