//! Where everything of a chart goes.

use super::axis::Axis;
use super::decimate::decimate;
use super::drawing::{Anchor, Drawing, Mark, Text};
use super::font::Font;
use super::{Chart, Panel, Scale, Series};
use crate::ViewError;
use glamx::DVec2;

/// Colours of series, safe for any common colour blindness; they repeat after the last.
const COLOURS: [[u8; 3]; 7] = [
    [0, 104, 168],
    [204, 84, 0],
    [0, 140, 104],
    [196, 130, 0],
    [150, 70, 120],
    [74, 160, 205],
    [70, 70, 70],
];

const TEXT_COLOUR: [u8; 3] = [62, 58, 54];
const TITLE_COLOUR: [u8; 3] = [24, 22, 20];
const GRID_COLOUR: [u8; 3] = [230, 228, 225];
const AXIS_COLOUR: [u8; 3] = [150, 146, 140];

/// Font sizes in SVG units.
const TITLE_SIZE: f32 = 19.0;
const PANEL_SIZE: f32 = 14.5;
const LABEL_SIZE: f32 = 12.5;

/// Distances in SVG units.
const EDGE: f64 = 16.0;
const GAP: f64 = 7.0;
const LINE_HEIGHT: f64 = 20.0;
const PANEL_GAP: f64 = 14.0;
const SWATCH: f64 = 18.0;

/// Width of lines of data in SVG units.
const LINE_WIDTH: f32 = 1.3;

/// Width of the columns in which points are thinned out: a pixel of the PNG.
const COLUMN: f64 = 0.5;

/// Draws a chart.
pub(super) fn draw(chart: &Chart, font: &Font) -> Result<Drawing, ViewError> {
    if chart.panels.is_empty() {
        return Err(ViewError::NoPanels {
            title: chart.title.clone(),
        });
    }
    // Refused before anything is computed; the room for text is added later.
    let panels = u32::try_from(chart.panels.len()).unwrap_or(u32::MAX);
    super::check_size(chart.width, chart.panel_height.saturating_mul(panels))?;
    let axes = Axes::new(chart);
    let left = EDGE + f64::from(LABEL_SIZE) + GAP + axes.label_width(font) + GAP;
    let width = f64::from(chart.width);
    let mut page = Page {
        font,
        marks: Vec::new(),
        left,
        // Charts narrower than their labels keep a little room for the lines.
        right: (width - EDGE).max(left + 10.0),
        y: EDGE,
    };
    page.title(&chart.title);
    for (panel, y_axis) in chart.panels.iter().zip(&axes.y) {
        page.panel(panel, &axes.x, y_axis, f64::from(chart.panel_height));
    }
    if let Some(lowest) = chart.panels.last() {
        page.x_labels(&axes.x, &lowest.x_label);
    }
    let height = (page.y + EDGE / 2.0).ceil() as u32;
    super::check_size(chart.width, height)?;
    Ok(Drawing {
        width: chart.width,
        height,
        title: chart.title.clone(),
        marks: page.marks,
    })
}

/// All axes of a chart.
struct Axes {
    x: Axis,
    y: Vec<Axis>,
}

impl Axes {
    fn new(chart: &Chart) -> Self {
        let drawn = |points: &(f64, f64)| points.0.is_finite() && points.1.is_finite();
        let points = |panel: &Panel| {
            let all = panel.series.iter().flat_map(|series| series.points.clone());
            all.filter(drawn).collect::<Vec<_>>()
        };
        let all = chart.panels.iter().flat_map(points);
        let x_labels = chart.width as usize / 110;
        let y_labels = chart.panel_height as usize / 32;
        let y_axis = |panel: &Panel| {
            let numbers = points(panel).into_iter().map(|(_, y)| y);
            Axis::new(panel.scale, numbers, true, y_labels)
        };
        Self {
            x: Axis::new(Scale::Linear, all.map(|(x, _)| x), false, x_labels),
            y: chart.panels.iter().map(y_axis).collect(),
        }
    }

    /// Width of the widest label of the y axes.
    fn label_width(&self, font: &Font) -> f64 {
        let ticks = self.y.iter().flat_map(|axis| &axis.ticks);
        let widths = ticks.map(|tick| f64::from(font.width(&tick.label, LABEL_SIZE)));
        widths.fold(0.0, f64::max)
    }
}

/// A chart that grows downwards.
struct Page<'a> {
    font: &'a Font,
    marks: Vec<Mark>,
    /// Left and right end of all x axes.
    left: f64,
    right: f64,
    /// Upper edge of what comes next.
    y: f64,
}

/// The rectangle of a panel's lines.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }
}

impl Page<'_> {
    fn text(&mut self, text: &str, at: (f64, f64), anchor: Anchor, size: f32) {
        if text.is_empty() {
            return;
        }
        self.marks.push(Mark::Text(Text {
            text: text.into(),
            at: DVec2::new(at.0, at.1),
            anchor,
            size,
            rgb: if size > LABEL_SIZE {
                TITLE_COLOUR
            } else {
                TEXT_COLOUR
            },
            upwards: false,
        }));
    }

    fn rule(&mut self, from: (f64, f64), to: (f64, f64), rgb: [u8; 3]) {
        self.marks.push(Mark::Line {
            points: vec![DVec2::new(from.0, from.1), DVec2::new(to.0, to.1)],
            rgb,
            width: 1.0,
        });
    }

    fn title(&mut self, title: &str) {
        if !title.is_empty() {
            self.y += f64::from(TITLE_SIZE);
            self.text(title, (self.left, self.y - 3.0), Anchor::Start, TITLE_SIZE);
            self.y += GAP;
        }
    }

    fn panel(&mut self, panel: &Panel, x_axis: &Axis, y_axis: &Axis, height: f64) {
        self.header(panel);
        let area = Area {
            left: self.left,
            right: self.right,
            top: self.y,
            bottom: self.y + height,
        };
        self.grid(&area, x_axis, y_axis);
        self.y_label(&panel.y_label, &area);
        for (series, colour) in panel.series.iter().zip(COLOURS.iter().cycle()) {
            self.series(series, &area, (x_axis, y_axis), *colour);
        }
        self.y = area.bottom + PANEL_GAP;
    }

    /// The panel's title to the left and its legend to the right, on as many lines as needed.
    fn header(&mut self, panel: &Panel) {
        let title_width = f64::from(self.font.width(&panel.title, PANEL_SIZE));
        let legend = panel.series.len() > 1;
        if panel.title.is_empty() && !legend {
            return;
        }
        let base = self.y + f64::from(PANEL_SIZE);
        self.text(&panel.title, (self.left, base), Anchor::Start, PANEL_SIZE);
        self.y += LINE_HEIGHT;
        if !legend {
            return;
        }
        let entry_width = |series: &Series| {
            let text = f64::from(self.font.width(&series.name, LABEL_SIZE));
            SWATCH + GAP + text + 2.0 * GAP
        };
        let widths: Vec<f64> = panel.series.iter().map(entry_width).collect();
        let total: f64 = widths.iter().sum();
        // One line beside the title if it fits, otherwise lines of their own.
        let beside = title_width + 3.0 * GAP + total <= self.right - self.left;
        let mut base = base;
        let mut x = self.right - total + 2.0 * GAP;
        if !beside {
            if !panel.title.is_empty() {
                base += LINE_HEIGHT;
                self.y += LINE_HEIGHT;
            }
            x = self.left;
        }
        let colours = COLOURS.iter().cycle();
        for ((series, width), colour) in panel.series.iter().zip(widths).zip(colours) {
            if !beside && x > self.left && x + width > self.right {
                x = self.left;
                base += LINE_HEIGHT;
                self.y += LINE_HEIGHT;
            }
            let middle = base - 0.35 * f64::from(LABEL_SIZE);
            self.marks.push(Mark::Line {
                points: vec![DVec2::new(x, middle), DVec2::new(x + SWATCH, middle)],
                rgb: *colour,
                width: 2.5,
            });
            self.text(
                &series.name,
                (x + SWATCH + GAP, base),
                Anchor::Start,
                LABEL_SIZE,
            );
            x += width;
        }
    }

    fn grid(&mut self, area: &Area, x_axis: &Axis, y_axis: &Axis) {
        for tick in &x_axis.ticks {
            let x = area.x(tick.share);
            self.rule((x, area.top), (x, area.bottom), GRID_COLOUR);
        }
        for tick in &y_axis.ticks {
            let y = area.y(tick.share);
            self.rule((area.left, y), (area.right, y), GRID_COLOUR);
            let at = (area.left - GAP, y + 0.35 * f64::from(LABEL_SIZE));
            self.text(&tick.label, at, Anchor::End, LABEL_SIZE);
        }
        let corner = (area.left, area.bottom);
        self.rule((area.left, area.top), corner, AXIS_COLOUR);
        self.rule(corner, (area.right, area.bottom), AXIS_COLOUR);
    }

    fn y_label(&mut self, label: &str, area: &Area) {
        if label.is_empty() {
            return;
        }
        self.marks.push(Mark::Text(Text {
            text: label.into(),
            at: DVec2::new(
                EDGE + f64::from(LABEL_SIZE) - 4.0,
                (area.top + area.bottom) / 2.0,
            ),
            anchor: Anchor::Middle,
            size: LABEL_SIZE,
            rgb: TEXT_COLOUR,
            upwards: true,
        }));
    }

    fn x_labels(&mut self, axis: &Axis, label: &str) {
        self.y += f64::from(LABEL_SIZE) + GAP - PANEL_GAP;
        for tick in &axis.ticks {
            let x = self.left + tick.share * (self.right - self.left);
            // Labels of ticks at the edge must not leave the picture.
            let half = f64::from(self.font.width(&tick.label, LABEL_SIZE)) / 2.0;
            let x = x.min(self.right + EDGE - half - 2.0);
            self.text(&tick.label, (x, self.y), Anchor::Middle, LABEL_SIZE);
        }
        if !label.is_empty() {
            self.y += f64::from(LABEL_SIZE) + GAP;
            let middle = (self.left + self.right) / 2.0;
            self.text(label, (middle, self.y), Anchor::Middle, LABEL_SIZE);
        }
    }

    /// A line for every run of finite points, a dot for a run of one.
    fn series(&mut self, series: &Series, area: &Area, axes: (&Axis, &Axis), rgb: [u8; 3]) {
        let place = |&(x, y): &(f64, f64)| {
            Some(DVec2::new(
                area.x(axes.0.share(x)?),
                area.y(axes.1.share(y)?),
            ))
        };
        let places: Vec<Option<DVec2>> = series.points.iter().map(place).collect();
        for run in places.split(Option::is_none) {
            let run: Vec<DVec2> = run.iter().copied().flatten().collect();
            match decimate(&run, COLUMN).as_slice() {
                [] => {}
                &[centre] => self.marks.push(Mark::Dot {
                    centre,
                    radius: 2.0,
                    rgb,
                }),
                points => self.marks.push(Mark::Line {
                    points: points.to_vec(),
                    rgb,
                    width: LINE_WIDTH,
                }),
            }
        }
    }
}
