//! The picture of a race: relative residual over time and over iterations.
//!
//! A chart has one x axis, so a race is two charts on one sheet. Solvers differ by powers of ten
//! in time and iterations: both x axes show logarithms.

use drystone::solver::TracePoint;
use drystone_view::plot::{Chart, Panel, Scale, Series};
use drystone_view::still::Image;

use crate::case::Case;
use crate::contest::Entry;
use crate::fault::Fault;
use crate::units::counted;

/// Solvers in the order of the legend, and so of colours; others follow.
const ORDER: [&str; 11] = [
    "auto",
    "newton",
    "block-gs",
    "pgs",
    "nncg",
    "anderson",
    "admm",
    "apgd",
    "jacobi",
    "lemke",
    "enumerate",
];

/// Lines with a colour of their own; those after them are dots instead.
const LINES: usize = 7;

/// Dots of a solver, at most.
const MOST_DOTS: usize = 200;

/// Relative residuals above this are no answers at all and are not drawn.
const LARGEST: f64 = 1e3;

/// Sizes in SVG units.
const WIDTH: u32 = 900;
const PANEL_HEIGHT: u32 = 280;

/// A race, ready to be drawn.
#[derive(Debug)]
pub(super) struct Picture {
    /// From top to bottom.
    charts: [Chart; 2],
}

impl Picture {
    /// The picture of what the solvers did.
    pub(super) fn new(case: &Case, entries: &[Entry]) -> Self {
        let mut entries: Vec<&Entry> = entries.iter().collect();
        let place = |entry: &&Entry| ORDER.iter().position(|name| *name == entry.solver);
        entries.sort_by_key(|entry| place(entry).unwrap_or(ORDER.len()));
        let chart = |title: &str, label: &str, x: fn(&TracePoint) -> f64| Chart {
            title: title.to_owned(),
            panels: vec![Panel {
                title: String::new(),
                x_label: label.to_owned(),
                y_label: "relative residual".to_owned(),
                scale: Scale::Log10,
                series: entries
                    .iter()
                    .enumerate()
                    .map(|(k, entry)| series(entry, k < LINES, x))
                    .collect(),
            }],
            width: WIDTH,
            panel_height: PANEL_HEIGHT,
        };
        let time = case.time.map_or(String::new(), |t| format!(" at {t:.2} s"));
        let title = format!(
            "{}{time}: {}, {}",
            case.name,
            counted(case.contacts() as u64, "contact"),
            counted(case.unknowns() as u64, "unknown"),
        );
        let charts = [
            chart(&title, "log10(time / s)", |point| point.seconds),
            chart("", "log10(iterations)", |point| f64::from(point.iteration)),
        ];
        Self { charts }
    }

    /// As an SVG file.
    pub(super) fn svg(&self) -> Result<String, Fault> {
        let mut body = String::new();
        let mut top = 0;
        for chart in &self.charts {
            let svg = chart.svg().map_err(Fault::Picture)?;
            let height = height(&svg).unwrap_or(PANEL_HEIGHT);
            body += &format!("<g transform=\"translate(0 {top})\">\n{svg}</g>\n");
            top += height;
        }
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" \
             height=\"{top}\" viewBox=\"0 0 {WIDTH} {top}\">\n{body}</svg>\n"
        ))
    }

    /// As a PNG file.
    pub(super) fn png(&self) -> Result<Vec<u8>, Fault> {
        let mut sheet = Image {
            width: 2 * WIDTH,
            height: 0,
            rgb: Vec::new(),
        };
        for chart in &self.charts {
            let (height, mut rgb) = pixels(&chart.png().map_err(Fault::Picture)?)?;
            sheet.height += height;
            sheet.rgb.append(&mut rgb);
        }
        sheet.png().map_err(Fault::Picture)
    }
}

/// The line of a solver, or its dots, over the logarithm of `x`. The guess before the first
/// iteration, which all share, is left out: it has no place on such an axis.
fn series(entry: &Entry, as_line: bool, x: fn(&TracePoint) -> f64) -> Series {
    let drawn = entry
        .history
        .iter()
        .filter(|point| point.iteration > 0 && x(point) > 0.0 && point.relative <= LARGEST);
    let points: Vec<(f64, f64)> = drawn
        .map(|point| (libm::log10(x(point)), point.relative))
        .collect();
    let name = match points.len() {
        0 => format!("{} (no answer)", entry.solver),
        1 => format!("{} (dot)", entry.solver),
        _ if as_line => entry.solver.to_owned(),
        _ => format!("{} (dots)", entry.solver),
    };
    let points = if as_line { points } else { dots(&points) };
    Series { name, points }
}

/// Points that are not joined: a number that is none interrupts a line.
fn dots(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(MOST_DOTS).max(1);
    let gap = (f64::NAN, f64::NAN);
    // Counted from the end: the last point is the answer.
    let mut dots: Vec<(f64, f64)> = points
        .iter()
        .rev()
        .step_by(every)
        .flat_map(|point| [*point, gap])
        .collect();
    dots.reverse();
    dots
}

/// The height that an SVG file says it has.
fn height(svg: &str) -> Option<u32> {
    let (_, rest) = svg.split_once(" height=\"")?;
    rest.split_once('"')?.0.parse().ok()
}

/// Height and colours of a chart's PNG file.
fn pixels(file: &[u8]) -> Result<(u32, Vec<u8>), Fault> {
    let unreadable = |error: png::DecodingError| Fault::Sheet(error.to_string());
    let decoder = png::Decoder::new(std::io::Cursor::new(file));
    let mut reader = decoder.read_info().map_err(unreadable)?;
    let mut rgb = vec![0; reader.output_buffer_size().unwrap_or(0)];
    let info = reader.next_frame(&mut rgb).map_err(unreadable)?;
    Ok((info.height, rgb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::SolverKind;

    #[test]
    fn every_solver_has_its_place() {
        for name in SolverKind::NAMES {
            assert!(ORDER.contains(&name), "{name}");
        }
    }

    #[test]
    fn dots_are_few_and_end_at_the_answer() {
        let points: Vec<(f64, f64)> = (0..1_000).map(|k| (f64::from(k), 1.0)).collect();
        let dots = dots(&points);
        assert!(dots.len() <= 2 * MOST_DOTS);
        assert_eq!(dots.last(), points.last());
        assert!(
            dots.windows(2)
                .all(|pair| pair[0].0.is_nan() != pair[1].0.is_nan())
        );
    }

    #[test]
    fn the_height_of_a_drawing_is_read_off() {
        assert_eq!(height("<svg width=\"9\" height=\"12\">"), Some(12));
        assert_eq!(height("<svg>"), None);
    }
}
