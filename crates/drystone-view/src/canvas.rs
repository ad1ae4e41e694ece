//! Antialiased fills and strokes in pixels, safe for any numbers.
//!
//! Shapes are cut at a frame around the picture before they are drawn, so coordinates far
//! outside, which the rasteriser could not hold, are no trouble; points that are not finite
//! are left out.

use glamx::Vec2;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform,
};

/// Shapes are drawn this many pixels beyond the edges of the picture, so that the strokes along
/// cuts are never seen.
const BORDER_PX: f32 = 64.0;

/// An sRGB colour with its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ink {
    /// Red, green, blue.
    pub(crate) rgb: [u8; 3],
    /// 0 unseen, 1 opaque.
    pub(crate) opacity: f32,
}

impl Ink {
    /// An opaque colour.
    pub(crate) const fn solid(rgb: [u8; 3]) -> Self {
        Self { rgb, opacity: 1.0 }
    }

    fn paint(self) -> Paint<'static> {
        let mut paint = Paint::default();
        let opacity = (255.0 * self.opacity.clamp(0.0, 1.0)).round() as u8;
        paint.set_color_rgba8(self.rgb[0], self.rgb[1], self.rgb[2], opacity);
        paint.anti_alias = true;
        paint
    }
}

/// A picture that is being drawn.
pub(crate) struct Canvas {
    pixmap: Pixmap,
}

impl Canvas {
    /// A canvas of one colour; `None` if the size is not possible.
    pub(crate) fn new(width: u32, height: u32, rgb: [u8; 3]) -> Option<Self> {
        let mut pixmap = Pixmap::new(width, height)?;
        pixmap.fill(Color::from_rgba8(rgb[0], rgb[1], rgb[2], 255));
        Some(Self { pixmap })
    }

    /// A canvas over an opaque picture.
    pub(crate) fn over(pixmap: Pixmap) -> Self {
        Self { pixmap }
    }

    /// The finished picture.
    pub(crate) fn into_pixmap(self) -> Pixmap {
        self.pixmap
    }

    /// Width and height in pixels.
    pub(crate) fn size(&self) -> Vec2 {
        Vec2::new(self.pixmap.width() as f32, self.pixmap.height() as f32)
    }

    /// Fills a polygon.
    pub(crate) fn fill(&mut self, corners: &[Vec2], ink: Ink) {
        if let Some(path) = closed_path(&self.visible_part(corners)) {
            self.fill_path(&path, ink);
        }
    }

    /// Fills a path whose coordinates are known to be small.
    pub(crate) fn fill_path(&mut self, path: &Path, ink: Ink) {
        let rule = FillRule::Winding;
        let paint = ink.paint();
        self.pixmap
            .fill_path(path, &paint, rule, Transform::identity(), None);
    }

    /// Draws the outline of a polygon.
    pub(crate) fn outline(&mut self, corners: &[Vec2], ink: Ink, width: f32) {
        if let Some(path) = closed_path(&self.visible_part(corners)) {
            self.stroke_path(&path, ink, width);
        }
    }

    /// Draws a line through points.
    pub(crate) fn line(&mut self, points: &[Vec2], ink: Ink, width: f32) {
        let mut builder = PathBuilder::new();
        let mut last = None;
        for ends in points.windows(2) {
            let Some((from, to)) = self.visible_piece(ends[0], ends[1]) else {
                last = None;
                continue;
            };
            if last != Some(from) {
                builder.move_to(from.x, from.y);
            }
            builder.line_to(to.x, to.y);
            last = Some(to);
        }
        if let Some(path) = builder.finish() {
            self.stroke_path(&path, ink, width);
        }
    }

    /// Fills a disk.
    pub(crate) fn disk(&mut self, centre: Vec2, radius: f32, ink: Ink) {
        let size = self.size();
        let near = centre.cmpge(-Vec2::splat(radius)).all() && centre.cmple(size + radius).all();
        if near && radius < 1e4 {
            let circle = PathBuilder::from_circle(centre.x, centre.y, radius);
            if let Some(path) = circle {
                self.fill_path(&path, ink);
            }
        }
    }

    fn stroke_path(&mut self, path: &Path, ink: Ink, width: f32) {
        let stroke = Stroke {
            width,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        let paint = ink.paint();
        self.pixmap
            .stroke_path(path, &paint, &stroke, Transform::identity(), None);
    }

    /// The part of a polygon that lies in the picture or its border.
    fn visible_part(&self, corners: &[Vec2]) -> Vec<Vec2> {
        let finite = corners.iter().copied().filter(|corner| corner.is_finite());
        let sides = self.sides();
        sides
            .iter()
            .fold(finite.collect(), |polygon, side| cut(&polygon, side))
    }

    /// The part of a segment that lies in the picture or its border.
    fn visible_piece(&self, mut from: Vec2, mut to: Vec2) -> Option<(Vec2, Vec2)> {
        if !from.is_finite() || !to.is_finite() {
            return None;
        }
        for side in self.sides() {
            let (a, b) = (side.inside(from), side.inside(to));
            if a < 0.0 && b < 0.0 {
                return None;
            } else if a < 0.0 {
                from = from.lerp(to, a / (a - b));
            } else if b < 0.0 {
                to = from.lerp(to, a / (a - b));
            }
        }
        Some((from, to))
    }

    fn sides(&self) -> [HalfPlane; 4] {
        let size = self.size();
        let side = |normal: Vec2, most: f32| HalfPlane {
            normal,
            offset: most + BORDER_PX,
        };
        [
            side(-Vec2::X, 0.0),
            side(Vec2::X, size.x),
            side(-Vec2::Y, 0.0),
            side(Vec2::Y, size.y),
        ]
    }
}

/// The points p with normal . p <= offset.
pub(crate) struct HalfPlane {
    /// Out of the half-plane.
    pub(crate) normal: Vec2,
    /// In pixels.
    pub(crate) offset: f32,
}

impl HalfPlane {
    /// Positive inside.
    fn inside(&self, point: Vec2) -> f32 {
        self.offset - self.normal.dot(point)
    }
}

/// The part of a polygon inside a half-plane.
pub(crate) fn cut(corners: &[Vec2], half_plane: &HalfPlane) -> Vec<Vec2> {
    let mut kept = Vec::with_capacity(corners.len() + 1);
    let next = corners.iter().cycle().skip(1);
    for (&from, &to) in corners.iter().zip(next) {
        let (a, b) = (half_plane.inside(from), half_plane.inside(to));
        if a >= 0.0 {
            kept.push(from);
        }
        if (a >= 0.0) != (b >= 0.0) {
            kept.push(from.lerp(to, a / (a - b)));
        }
    }
    kept
}

fn closed_path(corners: &[Vec2]) -> Option<Path> {
    let (first, rest) = corners.split_first()?;
    let mut builder = PathBuilder::new();
    builder.move_to(first.x, first.y);
    for corner in rest {
        builder.line_to(corner.x, corner.y);
    }
    builder.close();
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_a_square_leaves_its_half() {
        let square = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        let left = HalfPlane {
            normal: Vec2::X,
            offset: 0.5,
        };
        let half = cut(&square, &left);
        assert_eq!(half.len(), 4);
        assert!(half.iter().all(|corner| corner.x <= 0.5));
    }

    #[test]
    fn wild_coordinates_are_drawn_without_trouble() {
        let Some(mut canvas) = Canvas::new(8, 8, [0; 3]) else {
            panic!("no canvas");
        };
        let white = Ink::solid([255; 3]);
        let wild = [
            Vec2::new(-1e30, -1e30),
            Vec2::new(1e30, -1e30),
            Vec2::new(f32::NAN, 0.0),
            Vec2::new(0.0, 1e30),
        ];
        canvas.fill(&wild, white);
        canvas.line(&wild, white, 1.0);
        canvas.outline(&wild, white, 1.0);
        canvas.disk(Vec2::splat(f32::NAN), 1.0, white);
        canvas.disk(Vec2::ZERO, f32::INFINITY, white);
        assert_eq!(canvas.size(), Vec2::splat(8.0));
    }
}
