//! Time against error, a panel a scene: bottom left wins.
//!
//! Both axes are logarithmic. An engine has one colour and one mark in all panels (the colours
//! are Okabe and Ito's, which stay apart for the colour-blind); filled is one thread, hollow is
//! more; faint was stopped before the end; a cross says that what should stand fell.

use std::fmt::Write;

use crate::race::Outcome;
use crate::report::Report;

const PANEL_WIDTH: f64 = 300.0;
const PANEL_HEIGHT: f64 = 240.0;
const COLUMNS: usize = 3;
/// Room for the legend, px.
const HEAD: f64 = 70.0;
/// Margins of a panel's plot: left, top, right, bottom, px.
const MARGIN: [f64; 4] = [52.0, 26.0, 14.0, 40.0];
/// Smaller errors than this are drawn here, mm.
const LEAST_ERROR_MM: f64 = 1e-3;

/// Colour and mark of an engine.
fn style(engine: &str) -> (&'static str, Mark) {
    match engine {
        "drystone" => ("#D55E00", Mark::Circle),
        "drystone-auto" => ("#D55E00", Mark::Diamond),
        "rapier" => ("#0072B2", Mark::Square),
        "box2d" | "box3d" => ("#009E73", Mark::Triangle),
        "jolt" => ("#E69F00", Mark::Diamond),
        "bullet" => ("#CC79A7", Mark::Square),
        _ => ("#56B4E9", Mark::Diamond),
    }
}

#[derive(Clone, Copy)]
enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
}

fn draw_mark(svg: &mut String, engine: &str, at: (f64, f64), is_filled: bool) {
    let (colour, mark) = style(engine);
    let (x, y) = at;
    let fill = if is_filled { colour } else { "white" };
    let look = format!(r#"fill="{fill}" stroke="{colour}" stroke-width="2""#);
    let polygon = |points: &[(f64, f64)]| {
        let list: Vec<String> = points
            .iter()
            .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy))
            .collect();
        format!(r#"<polygon points="{}" {look}/>"#, list.join(" "))
    };
    let drawn = match mark {
        Mark::Circle => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="5.5" {look}/>"#),
        Mark::Square => polygon(&[(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)]),
        Mark::Triangle => polygon(&[(0.0, -6.5), (6.0, 4.5), (-6.0, 4.5)]),
        Mark::Diamond => polygon(&[(0.0, -6.5), (6.5, 0.0), (0.0, 6.5), (-6.5, 0.0)]),
    };
    let _ = writeln!(svg, "{drawn}");
}

/// A logarithmic axis over whole decades, from a to b in px.
struct Axis {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .map(f64::log10)
            .fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
        let (low, high) = (low.floor() as i32, high.ceil() as i32);
        Self {
            low,
            high: high.max(low + 1),
            from,
            to,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + (self.to - self.from) * share
    }

    /// Powers of ten to label, at most about six.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        let stride = ((self.high - self.low) / 6 + 1) as usize;
        (self.low..=self.high).step_by(stride).map(|power| {
            let label = match power {
                -3..=4 => format!("{}", 10f64.powi(power)),
                _ => format!("1e{power}"),
            };
            (self.place(10f64.powi(power)), label)
        })
    }
}

fn error_of(outcome: &Outcome) -> f64 {
    let error = outcome.verdict.error_mm;
    if error.is_finite() {
        error.max(LEAST_ERROR_MM)
    } else {
        1e6
    }
}

fn text(svg: &mut String, at: (f64, f64), look: &str, words: &str) {
    let (x, y) = at;
    let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" {look}>{words}</text>"#);
}

fn draw_axes(svg: &mut String, time: &Axis, error: &Axis) {
    let rule = r##"stroke="#ddd" stroke-width="1""##;
    for (x, label) in time.ticks() {
        let _ = writeln!(
            svg,
            r#"<line x1="{x:.1}" y1="{}" x2="{x:.1}" y2="{}" {rule}/>"#,
            error.from, error.to
        );
        text(
            svg,
            (x, error.from + 14.0),
            r#"text-anchor="middle""#,
            &label,
        );
    }
    for (y, label) in error.ticks() {
        let _ = writeln!(
            svg,
            r#"<line x1="{}" y1="{y:.1}" x2="{}" y2="{y:.1}" {rule}/>"#,
            time.from, time.to
        );
        text(
            svg,
            (time.from - 6.0, y + 4.0),
            r#"text-anchor="end""#,
            &label,
        );
    }
}

fn draw_panel(svg: &mut String, report: &Report, outcomes: &[&Outcome], corner: (f64, f64)) {
    let [left, top, right, bottom] = MARGIN;
    let (x0, x1) = (corner.0 + left, corner.0 + PANEL_WIDTH - right);
    let (y0, y1) = (corner.1 + PANEL_HEIGHT - bottom, corner.1 + top);
    let time = Axis::over(outcomes.iter().map(|o| o.median_ms), x0, x1);
    let error = Axis::over(outcomes.iter().map(|o| error_of(o)), y0, y1);
    draw_axes(svg, &time, &error);
    text(
        svg,
        (x0, y1 - 9.0),
        r#"font-weight="bold" font-size="13""#,
        &outcomes[0].scene,
    );
    text(
        svg,
        (0.5 * (x0 + x1), y0 + 30.0),
        r#"text-anchor="middle""#,
        "ms a step",
    );
    let (tx, ty) = (corner.0 + 12.0, 0.5 * (y0 + y1));
    let turned = format!(r#"text-anchor="middle" transform="rotate(-90 {tx:.1} {ty:.1})""#);
    text(svg, (tx, ty), &turned, "error, mm");
    for outcome in outcomes {
        let opacity = if report.is_cut_short(outcome) {
            0.35
        } else {
            1.0
        };
        let _ = writeln!(svg, r#"<g opacity="{opacity}">"#);
        let at = (
            time.place(outcome.median_ms),
            error.place(error_of(outcome)),
        );
        draw_mark(svg, &outcome.engine, at, outcome.threads == 1);
        if outcome.verdict.stands == Some(false) {
            let (x, y) = at;
            let _ = writeln!(
                svg,
                r#"<path d="M{:.1} {:.1}l16 16m0 -16l-16 16" stroke="black" stroke-width="1.5"/>"#,
                x - 8.0,
                y - 8.0
            );
        }
        svg.push_str("</g>\n");
    }
}

fn draw_legend(svg: &mut String, report: &Report) {
    text(
        svg,
        (16.0, 24.0),
        r#"font-weight="bold" font-size="15""#,
        "Time against error: bottom left wins",
    );
    let mut x = 24.0;
    for engine in report.engines() {
        draw_mark(svg, engine, (x, 46.0), true);
        text(svg, (x + 12.0, 50.0), "", engine);
        x += 32.0 + 7.0 * engine.len() as f64;
    }
    let key = "filled: one thread · hollow: more · faint: stopped early · crossed: fell";
    text(svg, (330.0, 24.0), r##"fill="#555""##, key);
}

/// The whole drawing.
pub fn draw(report: &Report) -> String {
    let scenes = report.scenes();
    let columns = COLUMNS.min(scenes.len().max(1));
    let (width, height) = (
        (PANEL_WIDTH * columns as f64).max(700.0),
        HEAD + PANEL_HEIGHT * scenes.len().div_ceil(columns) as f64,
    );
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11" fill="#222">
<rect width="100%" height="100%" fill="white"/>
"##
    );
    draw_legend(&mut svg, report);
    for (k, scene) in scenes.iter().enumerate() {
        let outcomes: Vec<&Outcome> = report
            .outcomes
            .iter()
            .filter(|outcome| outcome.scene == *scene)
            .collect();
        let corner = (
            PANEL_WIDTH * (k % columns) as f64,
            HEAD + PANEL_HEIGHT * (k / columns) as f64,
        );
        draw_panel(&mut svg, report, &outcomes, corner);
    }
    svg.push_str("</svg>\n");
    svg
}
