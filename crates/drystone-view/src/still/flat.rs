//! Pictures of 2D stages: flat fills with darker outlines, straight from above.

use super::framing::Standpoint;
use super::image::Image;
use super::palette::{Look, srgb_from_linear};
use super::place::{Placed, is_point, mesh_triangle};
use crate::canvas::{Canvas, HalfPlane, Ink, cut};
use drystone_frame::Form;
use glamx::{DVec2, DVec3, Vec2, Vec3};
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

/// sRGB colours of the paper, the ground and the ground's surface.
const PAPER: [u8; 3] = [248, 245, 239];
const GROUND: Ink = Ink::solid([224, 216, 203]);
const GROUND_LINE: Ink = Ink::solid([110, 101, 90]);
const HATCH: Ink = Ink {
    rgb: [110, 101, 90],
    opacity: 0.35,
};

/// Width of outlines in pixels on a picture of 720 rows.
const OUTLINE_PX: f32 = 1.7;

/// Outlines are this much darker than fills, in linear light.
const OUTLINE_SHADE: f32 = 0.30;

/// Distance between the strokes of the ground's hatching in pixels, on a picture of 720 rows.
const HATCH_STEP_PX: f32 = 13.0;

/// The part of the plane z = 0 that is seen.
pub(super) struct Window {
    width: u32,
    height: u32,
    centre: DVec2,
    pixels_per_metre: f64,
}

impl Window {
    /// What a camera over the plane sees on a picture of the given size in pixels.
    pub(super) fn new(standpoint: &Standpoint, width: u32, height: u32) -> Self {
        let half_height = standpoint.tan_half * standpoint.eye.distance(standpoint.target);
        Self {
            width,
            height,
            centre: standpoint.target.truncate(),
            pixels_per_metre: f64::from(height) / (2.0 * half_height),
        }
    }

    /// The pixel position of a world position.
    pub(super) fn pixel(&self, world: DVec3) -> Option<Vec2> {
        let offset = (world.truncate() - self.centre) * self.pixels_per_metre;
        let middle = DVec2::new(f64::from(self.width), f64::from(self.height)) / 2.0;
        let pixel = (middle + DVec2::new(offset.x, -offset.y)).as_vec2();
        pixel.is_finite().then_some(pixel)
    }

    /// Width of a line that is `px` pixels wide on a picture of 720 rows.
    fn line_width(&self, px: f32) -> f32 {
        (px * self.height as f32 / 720.0).max(0.5)
    }
}

/// The picture of the placed parts; `looks` holds one for every object.
pub(super) fn render(window: &Window, placed: &[Placed<'_>], looks: &[Look]) -> Image {
    let Some(mut canvas) = Canvas::new(window.width, window.height, PAPER) else {
        // The size was checked before, so this is never seen.
        return Image {
            width: 0,
            height: 0,
            rgb: Vec::new(),
        };
    };
    let mut painter = Painter {
        window,
        canvas: &mut canvas,
    };
    // Half-spaces are the ground: everything else lies over them.
    for part in placed {
        if let Form::HalfSpace { normal } = part.form {
            painter.ground(part, DVec3::from_array(*normal));
        }
    }
    for part in placed {
        if let Some(look) = looks.get(part.object) {
            painter.part(part, look);
        }
    }
    Image::from_pixmap(&canvas.into_pixmap())
}

struct Painter<'a> {
    window: &'a Window,
    canvas: &'a mut Canvas,
}

/// Fill and outline of a part.
#[derive(Clone, Copy)]
struct Style {
    fill: Ink,
    line: Ink,
    width: f32,
}

impl Painter<'_> {
    fn part(&mut self, part: &Placed<'_>, look: &Look) {
        let style = self.style(part, look.colour);
        match part.form {
            Form::HalfSpace { .. } => {}
            Form::Outline {
                points,
                closed: false,
            } => {
                let drawable = points.iter().copied().filter(|&point| is_point(point));
                let points: Vec<DVec3> = drawable.map(DVec3::from_array).collect();
                let pixels = self.pixels(part, &points);
                let width = self.window.line_width(2.0 * OUTLINE_PX);
                self.canvas.line(&pixels, style.line, width);
            }
            Form::Mesh { points, triangles } => self.mesh(part, points, triangles, style),
            form => {
                let outline = self.outline_of(form);
                let pixels = self.pixels(part, &outline);
                self.canvas.fill(&pixels, style.fill);
                if let Form::Ball { radius } = form {
                    // A line from the centre shows how the disk turns.
                    let spoke = self.pixels(part, &[DVec3::ZERO, DVec3::X * *radius]);
                    self.canvas.line(&spoke, style.line, style.width);
                }
                self.canvas.outline(&pixels, style.line, style.width);
            }
        }
    }

    /// Small things get thin outlines, so that they keep their colour.
    fn style(&self, part: &Placed<'_>, colour: Vec3) -> Style {
        let bounds = part.bounds();
        let centre = part.pose.translation;
        let reach = |p: &super::place::RoundedPoint| p.centre.distance(centre) + p.radius;
        let size_m = bounds.iter().map(reach).fold(0.0, f64::max);
        let size_px = (size_m * self.window.pixels_per_metre) as f32;
        Style {
            fill: Ink::solid(srgb_from_linear(colour)),
            line: Ink::solid(srgb_from_linear(colour * OUTLINE_SHADE)),
            width: self.window.line_width(OUTLINE_PX).min(0.2 * size_px),
        }
    }

    fn pixels(&self, part: &Placed<'_>, points: &[DVec3]) -> Vec<Vec2> {
        let seen = points
            .iter()
            .map(|&point| self.window.pixel(part.pose * point));
        seen.flatten().collect()
    }

    /// The closed outline of a form, in its own axes.
    fn outline_of(&self, form: &Form) -> Vec<DVec3> {
        let rectangle = |x: f64, y: f64| {
            let corners = [(-x, -y), (x, -y), (x, y), (-x, y)];
            corners.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec()
        };
        match form {
            Form::Ball { radius } => self.arc(*radius, 0.0, 0.0..TAU),
            Form::Box { half } => rectangle(half[0], half[1]),
            Form::Capsule {
                half_length,
                radius,
            } => {
                let mut points = self.arc(*radius, *half_length, 0.0..PI);
                points.extend(self.arc(*radius, -*half_length, PI..TAU));
                points
            }
            Form::Cylinder {
                half_height,
                radius,
            } => rectangle(*radius, *half_height),
            Form::Cone {
                half_height,
                radius,
            } => vec![
                DVec3::new(-*radius, -*half_height, 0.0),
                DVec3::new(*radius, -*half_height, 0.0),
                DVec3::new(0.0, *half_height, 0.0),
            ],
            Form::Outline { points, .. } => {
                let drawable = points.iter().copied().filter(|&point| is_point(point));
                drawable.map(DVec3::from_array).collect()
            }
            Form::HalfSpace { .. } | Form::Mesh { .. } => Vec::new(),
        }
    }

    /// Points of an arc around (0, `centre`), finer than can be seen.
    fn arc(&self, radius: f64, centre: f64, angles: std::ops::Range<f64>) -> Vec<DVec3> {
        let radius_px = radius * self.window.pixels_per_metre;
        let turn = (angles.end - angles.start) / TAU;
        let pieces = (turn * (8.0 * radius_px.max(1.0).sqrt()).clamp(16.0, 720.0)).ceil();
        let point = |k: u32| {
            let angle = angles.start + (angles.end - angles.start) * f64::from(k) / pieces;
            DVec3::new(
                radius * libm::cos(angle),
                centre + radius * libm::sin(angle),
                0.0,
            )
        };
        (0..=pieces as u32).map(point).collect()
    }

    /// Triangles seen from above; edges of one triangle alone are the outline.
    fn mesh(
        &mut self,
        part: &Placed<'_>,
        points: &[[f64; 3]],
        triangles: &[[u32; 3]],
        style: Style,
    ) {
        let mut uses: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for &corners in triangles {
            let Some(triangle) = mesh_triangle(points, corners) else {
                continue;
            };
            let pixels = self.pixels(part, &triangle);
            self.canvas.fill(&pixels, style.fill);
            // A hair of the same colour closes the seams between antialiased triangles.
            self.canvas.outline(&pixels, style.fill, 0.6);
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                *uses.entry([a.min(b), a.max(b)]).or_default() += 1;
            }
        }
        for (&[a, b], _) in uses.iter().filter(|&(_, &count)| count == 1) {
            if let Some([from, to, _]) = mesh_triangle(points, [a, b, b]) {
                let pixels = self.pixels(part, &[from, to]);
                self.canvas.line(&pixels, style.line, style.width);
            }
        }
    }

    /// A half-space: solid ground with a hatched edge.
    fn ground(&mut self, part: &Placed<'_>, normal: DVec3) {
        let normal = (part.pose.rotation * normal).truncate();
        let Some(surface) = self.window.pixel(part.pose.translation) else {
            return;
        };
        // Rows count downwards.
        let out = DVec2::new(normal.x, -normal.y)
            .as_vec2()
            .normalize_or_zero();
        let size = self.canvas.size();
        let picture = [Vec2::ZERO, size.with_y(0.0), size, size.with_x(0.0)];
        let border = 8.0;
        let grown = picture.map(|corner| corner + (corner - size / 2.0).signum() * border);
        let offset = out.dot(surface);
        let solid = HalfPlane {
            normal: out,
            offset,
        };
        self.canvas.fill(&cut(&grown, &solid), GROUND);
        // The middle of the picture, moved onto the surface, is where hatching starts.
        let along = out.perp();
        let middle = size / 2.0 - out * (out.dot(size / 2.0) - offset);
        let reach = size.length();
        let step = self.window.line_width(HATCH_STEP_PX);
        let strokes = (reach / step) as i32;
        let width = self.window.line_width(1.0);
        for k in -strokes..=strokes {
            let start = middle + along * (k as f32 * step);
            let end = start - out * (0.9 * step) - along * (0.9 * step);
            self.canvas.line(&[start, end], HATCH, width);
        }
        let ends = [middle - along * reach, middle + along * reach];
        self.canvas
            .line(&ends, GROUND_LINE, self.window.line_width(1.3 * OUTLINE_PX));
    }
}
