//! A list of marks that becomes SVG or pixels.

use super::font::{Font, Placement};
use crate::ViewError;
use crate::canvas::{Canvas, Ink};
use crate::still::Image;
use glamx::{DVec2, Vec2};
use std::fmt::Write;

/// Pixels of a PNG for each SVG unit.
const PIXELS_PER_UNIT: u32 = 2;

/// A list of marks over a white ground; units are SVG units, y counts downwards.
pub(super) struct Drawing {
    /// Width.
    pub(super) width: u32,
    /// Height.
    pub(super) height: u32,
    /// What the picture is called by programs that read it aloud.
    pub(super) title: String,
    /// In the order in which they are drawn.
    pub(super) marks: Vec<Mark>,
}

/// Something that is drawn.
pub(super) enum Mark {
    /// A line through points.
    Line {
        points: Vec<DVec2>,
        rgb: [u8; 3],
        width: f32,
    },
    /// A filled disk.
    Dot {
        centre: DVec2,
        radius: f32,
        rgb: [u8; 3],
    },
    /// A line of text.
    Text(Text),
}

/// A line of text.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) text: String,
    /// Where the anchor lies on the base line.
    pub(super) at: DVec2,
    pub(super) anchor: Anchor,
    pub(super) size: f32,
    pub(super) rgb: [u8; 3],
    /// Whether it runs upwards instead of to the right.
    pub(super) upwards: bool,
}

/// Which point of a text its position means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    /// The drawing as an SVG file.
    pub(super) fn svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Ubuntu, 'Helvetica Neue', Arial, sans-serif\">\n"
        );
        svg += &format!("<title>{}</title>\n", escape(&self.title));
        svg += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
        for mark in &self.marks {
            // Writing to a string cannot fail.
            let _ = write_mark(&mut svg, mark);
        }
        svg += "</svg>\n";
        svg
    }

    /// The drawing as pixels.
    pub(super) fn image(&self, font: &Font) -> Result<Image, ViewError> {
        super::check_size(self.width, self.height)?;
        let (width, height) = (self.width * PIXELS_PER_UNIT, self.height * PIXELS_PER_UNIT);
        let canvas = Canvas::new(width, height, [255; 3]);
        let mut canvas = canvas.ok_or(ViewError::ImageSize {
            width,
            height,
            max_pixels: super::MAX_PIXELS,
            max_side: super::MAX_SIDE,
        })?;
        for mark in &self.marks {
            paint_mark(&mut canvas, mark, font);
        }
        Ok(Image::from_pixmap(&canvas.into_pixmap()))
    }
}

fn hex(rgb: [u8; 3]) -> String {
    format!("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2])
}

/// A coordinate with at most two decimals and no needless zeros.
fn short(coordinate: f64) -> String {
    let fixed = format!("{coordinate:.2}");
    let short = fixed.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" {
        "0".into()
    } else {
        short.into()
    }
}

fn write_mark(svg: &mut String, mark: &Mark) -> std::fmt::Result {
    match mark {
        Mark::Line { points, rgb, width } => {
            let pairs = points
                .iter()
                .map(|p| format!("{},{}", short(p.x), short(p.y)));
            let pairs: Vec<String> = pairs.collect();
            let (stroke, width) = (hex(*rgb), short(f64::from(*width)));
            writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\" stroke-linecap=\"round\" points=\"{}\"/>",
                pairs.join(" ")
            )
        }
        Mark::Dot {
            centre,
            radius,
            rgb,
        } => {
            let (x, y, r) = (short(centre.x), short(centre.y), short(f64::from(*radius)));
            let fill = hex(*rgb);
            writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\"/>"
            )
        }
        Mark::Text(text) => {
            let anchor = match text.anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (short(text.at.x), short(text.at.y));
            let turn = if text.upwards {
                format!(" transform=\"rotate(-90 {x} {y})\"")
            } else {
                String::new()
            };
            writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\" \
                 text-anchor=\"{anchor}\"{turn}>{}</text>",
                short(f64::from(text.size)),
                hex(text.rgb),
                escape(&text.text)
            )
        }
    }
}

/// Text for an XML file; signs that XML forbids become spaces.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            sign if sign.is_control() => escaped.push(' '),
            sign => escaped.push(sign),
        }
    }
    escaped
}

fn paint_mark(canvas: &mut Canvas, mark: &Mark, font: &Font) {
    let scale = PIXELS_PER_UNIT as f32;
    let pixel = |point: &DVec2| -> Vec2 { point.as_vec2() * scale };
    match mark {
        Mark::Line { points, rgb, width } => {
            let points: Vec<Vec2> = points.iter().map(pixel).collect();
            canvas.line(&points, Ink::solid(*rgb), width * scale);
        }
        Mark::Dot {
            centre,
            radius,
            rgb,
        } => {
            canvas.disk(pixel(centre), radius * scale, Ink::solid(*rgb));
        }
        Mark::Text(text) => {
            let size = text.size * scale;
            let back = match text.anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => font.width(&text.text, size) / 2.0,
                Anchor::End => font.width(&text.text, size),
            };
            let along = if text.upwards { -Vec2::Y } else { Vec2::X };
            let placement = Placement {
                at: (pixel(&text.at) - along * back).to_array(),
                size,
                upwards: text.upwards,
            };
            if let Some(path) = font.outline(&text.text, placement) {
                canvas.fill_path(&path, Ink::solid(text.rgb));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_safe_in_xml() {
        assert_eq!(escape("a<b & \"c\"\u{0}"), "a&lt;b &amp; &quot;c&quot; ");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(short(1.0), "1");
        assert_eq!(short(-0.001), "0");
        assert_eq!(short(2.346), "2.35");
    }
}
