//! What the rays through every pixel meet first: a z-buffer with eight samples in each pixel.
//!
//! The inverse of the depth of a plane is linear over a perspective picture, so triangles and
//! endless planes alike are drawn by adding slopes.

use super::model::{Model, Triangle};
use super::surface::Surface;
use super::view::View;
use crate::parallel;
use glamx::{Vec2, Vec3};

/// Samples in each pixel.
pub(super) const SAMPLES: usize = 8;

/// What a sample that meets nothing holds.
pub(super) const NOTHING: u32 = u32::MAX;

/// Planes are numbered from here, triangles from 0.
pub(super) const FIRST_PLANE: u32 = 1 << 31;

/// Rows that are drawn together.
const BAND_ROWS: usize = 32;

/// Eight positions in a pixel, one in each of eight columns and eight rows.
const OFFSETS: [(f32, f32); SAMPLES] = [
    (0.0625, 0.3125),
    (0.1875, 0.6875),
    (0.3125, 0.0625),
    (0.4375, 0.9375),
    (0.5625, 0.5625),
    (0.6875, 0.1875),
    (0.8125, 0.8125),
    (0.9375, 0.4375),
];

/// Neighbouring triangles overlap by this many pixels, so that rounding leaves no gaps.
const OVERLAP_PX: f64 = 1e-3;

/// The samples of one pixel.
#[derive(Clone, Copy)]
pub(super) struct Pixel {
    /// One over the depth, in 1/m; 0 where there is nothing.
    pub(super) inverse_depth: [f32; SAMPLES],
    /// Number of the triangle or the plane, or [`NOTHING`].
    pub(super) hit: [u32; SAMPLES],
}

/// The samples of the picture.
pub(super) struct Samples {
    /// Rows from the top.
    pub(super) pixels: Vec<Pixel>,
}

/// Position of a sample in its pixel.
pub(super) fn offset(sample: usize) -> Vec2 {
    let (x, y) = OFFSETS[sample % SAMPLES];
    Vec2::new(x, y)
}

impl Samples {
    /// Draws the model.
    pub(super) fn new(view: &View, model: &Model) -> Self {
        let empty = Pixel {
            inverse_depth: [0.0; SAMPLES],
            hit: [NOTHING; SAMPLES],
        };
        let width = view.width as usize;
        let mut pixels = vec![empty; width * view.height as usize];
        let triangles = screen_triangles(view, model);
        let bands = pixels.chunks_mut(width * BAND_ROWS).enumerate().collect();
        parallel::for_each(bands, |(index, pixels)| {
            let mut band = Band {
                first_row: index * BAND_ROWS,
                width,
                pixels,
            };
            for triangle in &triangles {
                band.draw(triangle);
            }
            for (plane, number) in model.planes.iter().zip(FIRST_PLANE..) {
                band.draw_plane(view, plane.normal, plane.offset, number);
            }
        });
        Self { pixels }
    }
}

/// A function value + slope . (x, y) over the picture.
#[derive(Clone, Copy)]
struct Linear {
    value: f64,
    slope: [f64; 2],
}

impl Linear {
    /// Value at a pixel position.
    fn at(&self, x: f64, y: f64) -> f64 {
        self.value + self.slope[0] * x + self.slope[1] * y
    }

    /// What the eight samples of a pixel add to the value at its corner.
    fn offsets(&self) -> [f32; SAMPLES] {
        OFFSETS.map(|(x, y)| (self.slope[0] * f64::from(x) + self.slope[1] * f64::from(y)) as f32)
    }
}

/// A triangle over the picture.
struct ScreenTriangle {
    columns: [u32; 2],
    rows: [u32; 2],
    /// Positive inside, in pixels from each edge.
    edges: [Linear; 3],
    inverse_depth: Linear,
    number: u32,
}

fn screen_triangles(view: &View, model: &Model) -> Vec<ScreenTriangle> {
    let mut screen = Vec::with_capacity(model.triangles.len());
    for (triangle, number) in model.triangles.iter().zip(0..FIRST_PLANE) {
        let part = model.parts.get(triangle.part as usize);
        let closed = part.is_some_and(|part| part.surface != Surface::Faceted);
        if closed && is_turned_away(view, triangle) {
            continue;
        }
        let polygon = in_front(view, &triangle.corners);
        if let Some((&first, rest)) = polygon.split_first() {
            let fan = rest.windows(2).map(|ends| [first, ends[0], ends[1]]);
            screen.extend(fan.filter_map(|corners| screen_triangle(view, corners, number)));
        }
    }
    screen
}

fn is_turned_away(view: &View, triangle: &Triangle) -> bool {
    let [a, b, c] = triangle.corners;
    (b - a).cross(c - a).dot(view.eye - a) <= 0.0
}

/// The part of a triangle that is not nearer than the near plane; convex, maybe empty.
fn in_front(view: &View, corners: &[Vec3; 3]) -> Vec<Vec3> {
    let ahead = corners.map(|corner| view.depth(corner) - view.near);
    if ahead.iter().all(|&a| a >= 0.0) {
        return corners.to_vec();
    }
    let mut kept = Vec::with_capacity(4);
    for k in 0..3 {
        let next = (k + 1) % 3;
        if ahead[k] >= 0.0 {
            kept.push(corners[k]);
        }
        if (ahead[k] >= 0.0) != (ahead[next] >= 0.0) {
            let share = ahead[k] / (ahead[k] - ahead[next]);
            kept.push(corners[k].lerp(corners[next], share));
        }
    }
    kept
}

fn screen_triangle(view: &View, corners: [Vec3; 3], number: u32) -> Option<ScreenTriangle> {
    // Clipped corners may lie a rounding error before the near plane.
    let depths = corners.map(|corner| view.depth(corner).max(0.5 * view.near));
    let points = corners.map(|corner| view.project(corner).as_dvec2());
    let low = points[0].min(points[1]).min(points[2]);
    let high = points[0].max(points[1]).max(points[2]);
    let size = [f64::from(view.width), f64::from(view.height)];
    let seen = low.is_finite() && high.is_finite() && low.x < size[0] && low.y < size[1];
    let area = (points[1] - points[0]).perp_dot(points[2] - points[0]);
    if !seen || high.x < 0.0 || high.y < 0.0 || area.abs() < 1e-9 {
        return None;
    }
    let edge = |k: usize| {
        let (from, to) = (points[k], points[(k + 1) % 3]);
        let along = to - from;
        let scale = area.signum() / along.length().max(1e-12);
        let slope = [-along.y * scale, along.x * scale];
        Linear {
            value: OVERLAP_PX - slope[0] * from.x - slope[1] * from.y,
            slope,
        }
    };
    let inverse = depths.map(|depth| 1.0 / f64::from(depth));
    let (first, second) = (points[1] - points[0], points[2] - points[0]);
    let (rise1, rise2) = (inverse[1] - inverse[0], inverse[2] - inverse[0]);
    let slope = [
        (rise1 * second.y - rise2 * first.y) / area,
        (rise2 * first.x - rise1 * second.x) / area,
    ];
    let clamp =
        |range: [f64; 2], most: u32| range.map(|x| x.clamp(0.0, f64::from(most - 1)) as u32);
    Some(ScreenTriangle {
        columns: clamp([low.x, high.x], view.width),
        rows: clamp([low.y, high.y], view.height),
        edges: [edge(0), edge(1), edge(2)],
        inverse_depth: Linear {
            value: inverse[0] - slope[0] * points[0].x - slope[1] * points[0].y,
            slope,
        },
        number,
    })
}

/// Some rows of the picture.
struct Band<'a> {
    first_row: usize,
    width: usize,
    pixels: &'a mut [Pixel],
}

impl Band<'_> {
    fn rows(&self) -> usize {
        self.pixels.len() / self.width.max(1)
    }

    fn draw(&mut self, triangle: &ScreenTriangle) {
        let [top, bottom] = triangle.rows.map(|row| row as usize);
        let end_row = self.first_row + self.rows();
        if bottom < self.first_row || top >= end_row {
            return;
        }
        let edge_offsets = triangle.edges.map(|edge| edge.offsets());
        let depth_offsets = triangle.inverse_depth.offsets();
        let [left, right] = triangle.columns.map(|column| column as usize);
        for row in top.max(self.first_row)..=bottom.min(end_row - 1) {
            let start = (row - self.first_row) * self.width;
            let Some(pixels) = self.pixels.get_mut(start + left..=start + right) else {
                return;
            };
            for (pixel, column) in pixels.iter_mut().zip(left..) {
                let (x, y) = (column as f64, row as f64);
                let inside = triangle.edges.map(|edge| edge.at(x, y) as f32);
                // A pixel that lies wholly beyond an edge is the usual case for large boxes.
                if inside.iter().any(|&distance| distance < -2.0) {
                    continue;
                }
                let depth = triangle.inverse_depth.at(x, y) as f32;
                for k in 0..SAMPLES {
                    let inverse = depth + depth_offsets[k];
                    let covered = inside[0] + edge_offsets[0][k] >= 0.0
                        && inside[1] + edge_offsets[1][k] >= 0.0
                        && inside[2] + edge_offsets[2][k] >= 0.0;
                    if covered && inverse > pixel.inverse_depth[k] {
                        pixel.inverse_depth[k] = inverse;
                        pixel.hit[k] = triangle.number;
                    }
                }
            }
        }
    }

    /// Draws the plane normal . p = offset where it is seen from outside.
    fn draw_plane(&mut self, view: &View, normal: Vec3, offset: f32, number: u32) {
        // A ray meets the plane at depth t: normal . (eye + t ray) = offset.
        let height = normal.dot(view.eye) - offset;
        if height <= 0.0 {
            return;
        }
        let (value, slope) = view.linear_over_picture(-normal / height);
        let inverse = Linear {
            value: f64::from(value),
            slope: [f64::from(slope.x), f64::from(slope.y)],
        };
        let offsets = inverse.offsets();
        for (index, pixel) in self.pixels.iter_mut().enumerate() {
            let row = self.first_row + index / self.width;
            let column = index % self.width;
            let depth = inverse.at(column as f64, row as f64) as f32;
            for (k, extra) in offsets.iter().enumerate() {
                if depth + extra > pixel.inverse_depth[k] {
                    pixel.inverse_depth[k] = depth + extra;
                    pixel.hit[k] = number;
                }
            }
        }
    }
}
