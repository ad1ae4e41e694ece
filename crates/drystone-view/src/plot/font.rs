//! Widths and outlines of text in the built-in fonts.

use crate::ViewError;
use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// A sans-serif font, and one with more signs for what it lacks.
pub(crate) struct Font {
    faces: [Face<'static>; 2],
}

/// Where and how a text is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placement {
    /// Start of the base line.
    pub(crate) at: [f32; 2],
    /// Font size, in the units of the position.
    pub(crate) size: f32,
    /// Whether it runs upwards instead of to the right.
    pub(crate) upwards: bool,
}

impl Font {
    /// Reads the fonts.
    pub(crate) fn new() -> Result<Self, ViewError> {
        let sans = Face::parse(epaint_default_fonts::UBUNTU_LIGHT, 0)?;
        let signs = Face::parse(epaint_default_fonts::HACK_REGULAR, 0)?;
        Ok(Self {
            faces: [sans, signs],
        })
    }

    /// The glyph of a sign and its face; an empty box if no face has it.
    fn glyph(&self, sign: char) -> (&Face<'static>, GlyphId) {
        let found = self
            .faces
            .iter()
            .find_map(|face| Some((face, face.glyph_index(sign)?)));
        found.unwrap_or((&self.faces[0], GlyphId(0)))
    }

    /// How far a sign moves the pen, for font size 1.
    fn advance(face: &Face<'_>, glyph: GlyphId) -> f32 {
        let units = f32::from(face.units_per_em().max(1));
        f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / units
    }

    /// Width of a text.
    pub(crate) fn width(&self, text: &str, size: f32) -> f32 {
        let advances = text.chars().map(|sign| {
            let (face, glyph) = self.glyph(sign);
            Self::advance(face, glyph)
        });
        size * advances.sum::<f32>()
    }

    /// The outline of a text, `None` if it has no ink.
    pub(crate) fn outline(&self, text: &str, placement: Placement) -> Option<Path> {
        let mut pen = Pen {
            builder: PathBuilder::new(),
            placement,
            scale: 0.0,
            along: 0.0,
        };
        for sign in text.chars() {
            let (face, glyph) = self.glyph(sign);
            pen.scale = placement.size / f32::from(face.units_per_em().max(1));
            face.outline_glyph(glyph, &mut pen);
            pen.along += placement.size * Self::advance(face, glyph);
        }
        pen.builder.finish()
    }
}

/// Moves glyphs to their places.
struct Pen {
    builder: PathBuilder,
    placement: Placement,
    scale: f32,
    /// Distance from the start of the text.
    along: f32,
}

impl Pen {
    /// From a glyph's axes, y upwards, to the picture's, y downwards.
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        let (along, above) = (self.along + self.scale * x, self.scale * y);
        let [start_x, start_y] = self.placement.at;
        if self.placement.upwards {
            (start_x - above, start_y - along)
        } else {
            (start_x + along, start_y - above)
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, end) = (self.place(x1, y1), self.place(x, y));
        self.builder.quad_to(control.0, control.1, end.0, end.1);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second, end) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.builder
            .cubic_to(first.0, first.1, second.0, second.1, end.0, end.1);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

#[cfg(test)]
mod tests {
    use super::Font;

    #[test]
    fn usual_signs_of_units_are_in_the_fonts() {
        let font = Font::new().unwrap();
        for sign in "abcXYZ0189 .,-+/()[]·µ−²³⁻¹×°‖γλΔ".chars() {
            let (_, glyph) = font.glyph(sign);
            assert_ne!(glyph.0, 0, "no glyph for {sign:?}");
        }
        assert!(font.width("wide", 10.0) > font.width("il", 10.0));
    }
}
