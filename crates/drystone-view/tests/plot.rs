//! Charts put points where they belong, whatever the numbers are.

// Helpers of tests may fail a test, as tests themselves may.
#![allow(clippy::unwrap_used)]

use drystone_view::ViewError;
use drystone_view::plot::{Chart, Panel, Scale, Series};

fn chart(scale: Scale, series: Vec<Vec<(f64, f64)>>) -> Chart {
    let named = series
        .into_iter()
        .enumerate()
        .map(|(index, points)| Series {
            name: format!("series {index}"),
            points,
        });
    Chart {
        title: "A chart".into(),
        panels: vec![Panel {
            title: "A panel".into(),
            x_label: "time / s".into(),
            y_label: "speed / (m/s)".into(),
            scale,
            series: named.collect(),
        }],
        ..Chart::default()
    }
}

/// The points of all lines with the colour of the first series.
fn lines(svg: &str) -> Vec<Vec<(f64, f64)>> {
    let data = svg
        .lines()
        .filter(|line| line.contains("stroke=\"#0068a8\" stroke-width=\"1.3\""));
    let points_of = |line: &str| {
        let points = line
            .split("points=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let pair = |text: &str| {
            let (x, y) = text.split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        points.split(' ').map(pair).collect()
    };
    data.map(points_of).collect()
}

#[test]
fn line_goes_through_its_points() {
    let svg = chart(
        Scale::Linear,
        vec![vec![(0.0, 1.0), (1.0, 3.0), (4.0, 2.0)]],
    )
    .svg()
    .unwrap();
    let lines = lines(&svg);
    assert_eq!(lines.len(), 1);
    let [a, b, c] = lines[0][..] else {
        panic!("three points: {lines:?}");
    };
    // Distances on the page are proportional to those of the numbers; y counts downwards.
    assert!(((b.0 - a.0) / (c.0 - a.0) - 0.25).abs() < 1e-3);
    assert!(((a.1 - c.1) / (a.1 - b.1) - 0.5).abs() < 1e-2);
    assert!(a.1 > c.1 && c.1 > b.1);
}

#[test]
fn labels_are_real_text_and_the_legend_needs_two_series() {
    let one = chart(Scale::Linear, vec![vec![(0.0, 1.0), (1.0, 3.0)]])
        .svg()
        .unwrap();
    for text in ["A chart", "A panel", "time / s", "speed / (m/s)"] {
        assert!(one.contains(&format!(">{text}</text>")), "{text}");
    }
    assert!(one.contains("sans-serif"));
    assert!(!one.contains("series 0"));
    let two = chart(Scale::Linear, vec![vec![(0.0, 1.0)], vec![(1.0, 3.0)]])
        .svg()
        .unwrap();
    assert!(two.contains(">series 0</text>") && two.contains(">series 1</text>"));
}

#[test]
fn logarithmic_scale_is_monotone_and_keeps_zero_at_the_bottom() {
    let mut points: Vec<(f64, f64)> = (1..=17).map(|k| (f64::from(k), 10_f64.powi(-k))).collect();
    points.push((18.0, 0.0));
    points.push((19.0, -1.0));
    let svg = chart(Scale::Log10, vec![points]).svg().unwrap();
    let line = &lines(&svg)[0];
    assert_eq!(line.len(), 19);
    assert!(line[..18].windows(2).all(|pair| pair[0].1 < pair[1].1));
    assert_eq!(line[17].1, line[18].1);
    // Decades are equally high.
    let steps: Vec<f64> = line[..17]
        .windows(2)
        .map(|pair| pair[1].1 - pair[0].1)
        .collect();
    assert!(
        steps.iter().all(|step| (step - steps[0]).abs() < 0.03),
        "{steps:?}"
    );
}

#[test]
fn points_that_are_not_finite_interrupt_the_line() {
    let points = vec![
        (0.0, 1.0),
        (1.0, 2.0),
        (2.0, f64::NAN),
        (3.0, 2.0),
        (4.0, 1.0),
        (f64::INFINITY, 1.0),
        (6.0, 1.5),
    ];
    let svg = chart(Scale::Linear, vec![points]).svg().unwrap();
    assert_eq!(lines(&svg).len(), 2);
    assert_eq!(svg.matches("<circle").count(), 1, "a lone point is a dot");
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn many_points_make_a_small_file_that_keeps_the_peak() {
    let wave = |k: i32| (f64::from(k), (0.37 * f64::from(k)).sin());
    let mut points: Vec<(f64, f64)> = (0..100_000).map(wave).collect();
    points[77_777].1 = 50.0;
    let svg = chart(Scale::Linear, vec![points]).svg().unwrap();
    assert!(svg.len() < 150_000, "{} bytes", svg.len());
    let line = &lines(&svg)[0];
    let peak = line.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    let (first, last) = (line[0].0, line[line.len() - 1].0);
    assert!(((peak.0 - first) / (last - first) - 0.777_77).abs() < 1e-3);
}

#[test]
fn odd_series_never_panic() {
    let odd: [&[(f64, f64)]; 8] = [
        &[],
        &[(1.0, 2.0)],
        &[(0.0, 5.0), (1.0, 5.0)],
        &[(0.0, 0.0), (0.0, 0.0)],
        &[(f64::NAN, f64::NAN), (f64::INFINITY, 0.0)],
        &[(-1e308, 1e308), (1e308, -1e308)],
        &[(0.0, 5e-324), (1.0, f64::MAX)],
        &[(0.0, 1.0), (1e-300, 1.0 + 1e-15)],
    ];
    for scale in [Scale::Linear, Scale::Log10] {
        for points in odd {
            let chart = chart(scale, vec![points.to_vec(), Vec::new()]);
            let svg = chart.svg().unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}");
            assert!(chart.png().unwrap().starts_with(b"\x89PNG"));
        }
        assert!(chart(scale, Vec::new()).png().is_ok());
    }
}

#[test]
fn impossible_charts_are_errors() {
    let empty = Chart::default();
    assert!(matches!(empty.svg(), Err(ViewError::NoPanels { .. })));
    for (width, panel_height) in [(0, 100), (100, 0), (u32::MAX, 100), (100, u32::MAX)] {
        let chart = Chart {
            width,
            panel_height,
            ..chart(Scale::Linear, Vec::new())
        };
        assert!(matches!(chart.png(), Err(ViewError::ImageSize { .. })));
    }
    let narrow = Chart {
        width: 1,
        panel_height: 1,
        ..chart(Scale::Log10, vec![vec![(0.0, 1.0), (1.0, 2.0)]])
    };
    assert!(narrow.png().is_ok());
}

#[test]
fn png_shows_the_line_where_the_svg_says() {
    let chart = chart(Scale::Linear, vec![vec![(0.0, 0.0), (1.0, 1.0)]]);
    let line = &lines(&chart.svg().unwrap())[0];
    let file = chart.png().unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let pixel = |x: f64, y: f64| {
        let (column, row) = ((2.0 * x) as usize, (2.0 * y) as usize);
        let start = 3 * (row * info.width as usize + column);
        [bytes[start], bytes[start + 1], bytes[start + 2]]
    };
    let middle = ((line[0].0 + line[1].0) / 2.0, (line[0].1 + line[1].1) / 2.0);
    let [red, _, blue] = pixel(middle.0, middle.1);
    assert!(
        blue > red.saturating_add(60),
        "the line is blue: {red} {blue}"
    );
    let [red, _, blue] = pixel(middle.0 + 13.0, middle.1 - 31.0);
    assert!(
        blue.abs_diff(red) < 10,
        "beside it the page is white or grey"
    );
}
