//! Shadow maps: how near to the light the scene reaches, seen from one direction.

use super::surface::Surface;
use super::tessellate::tessellate;
use super::view::View;
use crate::still::place::Placed;
use drystone_frame::Form;
use glamx::{Pose3, Vec2, Vec3};

/// Segments of round forms other than balls, which cast exact shadows.
const SEGMENTS: u32 = 16;

/// What casts shadows, in the picture's frame of reference.
pub(super) struct Casters {
    balls: Vec<(Vec3, f32)>,
    /// Triangles of closed surfaces, of which only those that face the light matter.
    closed: Vec<[Vec3; 3]>,
    /// Triangles that may be seen from both sides.
    open: Vec<[Vec3; 3]>,
    /// Centres and radii around all of it.
    bounds: Vec<(Vec3, f32)>,
}

impl Casters {
    /// All finite parts near the subject.
    pub(super) fn new(view: &View, placed: &[Placed<'_>]) -> Self {
        let mut casters = Self {
            balls: Vec::new(),
            closed: Vec::new(),
            open: Vec::new(),
            bounds: Vec::new(),
        };
        for part in placed {
            let bounds = part.bounds();
            let relative = bounds
                .iter()
                .map(|p| (view.relative(p.centre), p.radius as f32));
            // The map ends where the subject ends; a large floor plate only reaches into it.
            let limit = Vec3::splat(view.radius);
            let clamped = relative.map(|(c, r)| (c.clamp(-limit, limit), r.min(view.radius)));
            casters.bounds.extend(clamped);
            let centre = view.relative(part.pose.translation);
            if let Form::Ball { radius } = part.form {
                casters.balls.push((centre, *radius as f32));
            } else {
                let pose = Pose3::from_parts(centre, part.pose.rotation.as_quat());
                let facets = tessellate(part.form, SEGMENTS, 0.004 * view.radius);
                let corners = facets.iter().map(|(corners, _)| corners.map(|c| pose * c));
                match Surface::of(part.form) {
                    Surface::Faceted => casters.open.extend(corners),
                    _ => casters.closed.extend(corners),
                }
            }
        }
        casters
    }

    /// Number of triangles and balls.
    pub(super) fn len(&self) -> usize {
        self.balls.len() + self.closed.len() + self.open.len()
    }
}

/// The scene seen from one direction, without perspective.
pub(super) struct ShadowMap {
    /// Unit vector towards the light.
    pub(super) direction: Vec3,
    /// Column and row of a point p are axes . p + shift, in texels.
    axes: [Vec3; 2],
    shift: Vec2,
    /// Larger edge of a texel, in m.
    texel: f32,
    side: usize,
    /// For every texel, how far the scene reaches towards the light, in m.
    heights: Vec<f32>,
}

impl ShadowMap {
    /// The map from a direction, with `side` by `side` texels.
    pub(super) fn new(casters: &Casters, direction: Vec3, side: usize) -> Self {
        let mut map = Self::around(casters, direction, side);
        for &(centre, radius) in &casters.balls {
            map.add_ball(centre, radius);
        }
        for corners in &casters.closed {
            map.add_triangle(corners, true);
        }
        for corners in &casters.open {
            map.add_triangle(corners, false);
        }
        map
    }

    /// An empty map whose texels cover the bounds of the casters.
    fn around(casters: &Casters, direction: Vec3, side: usize) -> Self {
        let right = direction.cross(Vec3::Y);
        let right = right.try_normalize().unwrap_or(Vec3::X);
        let plane = [right, right.cross(direction)];
        let (mut low, mut high) = (Vec2::MAX, Vec2::MIN);
        for &(centre, radius) in &casters.bounds {
            let middle = Vec2::new(centre.dot(plane[0]), centre.dot(plane[1]));
            low = low.min(middle - radius);
            high = high.max(middle + radius);
        }
        let extent = (high - low).max(Vec2::splat(1e-6));
        // A border of two texels stays empty, so nothing is cut.
        let scale = Vec2::splat(side as f32 - 4.0) / extent;
        Self {
            direction,
            axes: [plane[0] * scale.x, plane[1] * scale.y],
            shift: Vec2::splat(2.0) - low * scale,
            texel: (1.0 / scale).max_element(),
            side,
            heights: vec![f32::NEG_INFINITY; side * side],
        }
    }

    fn texels(&self, point: Vec3) -> Vec2 {
        self.shift + Vec2::new(point.dot(self.axes[0]), point.dot(self.axes[1]))
    }

    /// First and last column and row between two positions, or `None` if there is none. Texels
    /// are tested at their centres, half a texel from their corners.
    fn covered(&self, low: Vec2, high: Vec2) -> Option<[usize; 4]> {
        let most = self.side as i32 - 1;
        // The first centre at or after x, and the last one before it; conversion rounds down.
        let first = |x: f32| (x + 0.5).clamp(0.0, 1e6) as i32;
        let last = |x: f32| {
            if x < 0.5 {
                -1
            } else {
                ((x - 0.5).min(1e6) as i32).min(most)
            }
        };
        let (left, right) = (first(low.x), last(high.x));
        let (top, bottom) = (first(low.y), last(high.y));
        let some = left <= right && top <= bottom;
        some.then(|| [left, right, top, bottom].map(|x| x as usize))
    }

    fn add_ball(&mut self, centre: Vec3, radius: f32) {
        let middle = self.texels(centre);
        let scale = Vec2::new(self.axes[0].length(), self.axes[1].length());
        let Some([left, right, top, bottom]) =
            self.covered(middle - radius * scale, middle + radius * scale)
        else {
            return;
        };
        let height = centre.dot(self.direction);
        for row in top..=bottom {
            for column in left..=right {
                let texel = Vec2::new(column as f32, row as f32) + 0.5;
                let aside = (texel - middle) / scale;
                let rest = radius * radius - aside.length_squared();
                let highest = &mut self.heights[row * self.side + column];
                if rest > 0.0 {
                    *highest = highest.max(height + rest.sqrt());
                }
            }
        }
    }

    fn add_triangle(&mut self, corners: &[Vec3; 3], facing_only: bool) {
        let points = corners.map(|corner| self.texels(corner));
        let (first, second) = (points[1] - points[0], points[2] - points[0]);
        // Rows and columns are left-handed seen from the light: what faces it turns clockwise.
        let area = first.perp_dot(second);
        if area.abs() < 1e-9 || (facing_only && area > 0.0) {
            return;
        }
        let low = points[0].min(points[1]).min(points[2]);
        let high = points[0].max(points[1]).max(points[2]);
        let Some([left, right, top, bottom]) = self.covered(low, high) else {
            return;
        };
        // A texel at q is points[0] + share1 first + share2 second; both shares grow linearly.
        let slope1 = Vec2::new(second.y, -second.x) / area;
        let slope2 = Vec2::new(-first.y, first.x) / area;
        let heights = corners.map(|corner| corner.dot(self.direction));
        let (rise1, rise2) = (heights[1] - heights[0], heights[2] - heights[0]);
        let start = Vec2::new(left as f32, 0.5) + Vec2::new(0.5, 0.0) - points[0];
        for row in top..=bottom {
            let from = start + Vec2::Y * row as f32;
            let (mut share1, mut share2) = (slope1.dot(from), slope2.dot(from));
            let begin = row * self.side;
            for highest in &mut self.heights[begin + left..=begin + right] {
                if share1 >= 0.0 && share2 >= 0.0 && share1 + share2 <= 1.0 {
                    let height = heights[0] + share1 * rise1 + share2 * rise2;
                    *highest = highest.max(height);
                }
                share1 += slope1.x;
                share2 += slope2.x;
            }
        }
    }

    /// How much of the light reaches a point with a unit normal, 0 to 1: the four texels around
    /// it, each weighted by how near it is.
    pub(super) fn visibility(&self, point: Vec3, normal: Vec3) -> f32 {
        // A surface must not shade itself between the centres of texels: the point is lifted
        // off by more than a texel, which is enough at any slope.
        let lifted = point + normal * (1.5 * self.texel);
        let position = self.texels(lifted) - 0.5;
        let most = self.side as f32 - 2.0;
        if !(position.x >= 0.0 && position.y >= 0.0 && position.x < most && position.y < most) {
            return 1.0;
        }
        let (column, row) = (position.x as i32, position.y as i32);
        let share = position - Vec2::new(column as f32, row as f32);
        let index = row as usize * self.side + column as usize;
        let height = lifted.dot(self.direction);
        let pair = |index: usize| match self.heights.get(index..index + 2) {
            Some(&[left, right]) => {
                let lit = |highest: f32| f32::from(highest <= height);
                lit(left) * (1.0 - share.x) + lit(right) * share.x
            }
            _ => 1.0,
        };
        pair(index) * (1.0 - share.y) + pair(index + self.side) * share.y
    }
}
