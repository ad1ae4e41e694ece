//! Draws a chart of made-up residuals and writes it as SVG and PNG.
//!
//! ```text
//! cargo run --release -p drystone-view --example charts -- pictures
//! ```

use drystone_view::plot::{Chart, Panel, Scale, Series};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    std::fs::create_dir_all(&folder)?;
    let chart = certificate();
    std::fs::write(Path::new(&folder).join("chart.svg"), chart.svg()?)?;
    std::fs::write(Path::new(&folder).join("chart.png"), chart.png()?)?;
    Ok(())
}

/// Energy, residuals and momentum of an impact at 2 s.
fn certificate() -> Chart {
    let times = (0..100_000).map(|k| 6.0 * f64::from(k) / 1e5);
    let ripple = |t: f64, speed: f64| 1.0 + 0.8 * (speed * t).sin() * (31.7 * speed * t).cos();
    let after = |t: f64| if t < 2.0 { 0.0 } else { (-(t - 2.0)).exp() };
    let line = |name: &str, value: &dyn Fn(f64) -> f64| Series {
        name: name.into(),
        points: times.clone().map(|t| (t, value(t))).collect(),
    };
    let panel = |title: &str, y_label: &str, scale: Scale, series: Vec<Series>| Panel {
        title: title.into(),
        x_label: "time / s".into(),
        y_label: y_label.into(),
        scale,
        series,
    };
    let kinetic = line("kinetic", &|t| {
        9.0 * (t * t / 4.0).min(1.0) * if t < 2.0 { 1.0 } else { after(t) }
    });
    let potential = line("potential", &|t| 12.0 - 9.0 * (t * t / 4.0).min(1.0));
    let residuals = vec![
        line("complementarity", &|t| {
            1e-12 * ripple(t, 41.0) + 1e-3 * after(t).powi(9)
        }),
        line("friction cone", &|t| {
            if t < 2.0 { 0.0 } else { 3e-9 * ripple(t, 17.0) }
        }),
        line("overlap", &|t| 1e-16 * ripple(t, 5.0) + 1e-7 * after(t)),
    ];
    let drift = line("drift", &|t| 4e-15 * ripple(t, 3.0) * t);
    Chart {
        title: "A ball meets a wall: how well the laws of contact hold".into(),
        panels: vec![
            panel(
                "Energy",
                "energy / J",
                Scale::Linear,
                vec![kinetic, potential],
            ),
            panel("Residuals", "residual / (m/s)", Scale::Log10, residuals),
            panel("Momentum", "drift / (kg·m/s)", Scale::Linear, vec![drift]),
        ],
        ..Chart::default()
    }
}
