//! Polygons with a radius around them: mass, and the outline to draw them with.
//!
//! All that is within r of a convex polygon is the polygon, a rectangle along each side and a
//! sector of a disk at each corner, as wide as the corner's outer angle. Moments of each are in
//! closed form.

use glamx::DVec2;

use super::polygon::outward;

/// Area (m²), first moment (m³) and polar second moment (m⁴) about the origin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    pub(crate) area: f64,
    pub(crate) first: DVec2,
    pub(crate) polar: f64,
}

impl Moments {
    /// Adds moments given about `point`.
    fn add_at(&mut self, point: DVec2, other: &Self) {
        self.area += other.area;
        self.first += other.first + point * other.area;
        self.polar +=
            other.polar + 2.0 * point.dot(other.first) + point.length_squared() * other.area;
    }

    /// Centre, and inertia about it for a density of 1.
    pub(crate) fn center_and_inertia(&self) -> (DVec2, f64) {
        let center = self.first * (1.0 / self.area);
        (center, self.polar - center.length_squared() * self.area)
    }
}

/// Moments of all that is within `radius` of a polygon (corners counter-clockwise).
pub(crate) fn of_polygon(corners: &[DVec2], radius: f64) -> Moments {
    let mut sum = Moments::default();
    let count = corners.len();
    for (k, &from) in corners.iter().enumerate() {
        let to = corners[(k + 1) % count];
        // A triangle with its third corner at the origin.
        let area = 0.5 * from.perp_dot(to);
        sum.area += area;
        sum.first += (from + to) * (area / 3.0);
        let squares = from.length_squared() + from.dot(to) + to.length_squared();
        sum.polar += area * squares / 6.0;
        let (Some(before), Some(normal)) = (
            outward(corners, (k + count - 1) % count),
            outward(corners, k),
        ) else {
            continue;
        };
        let length = from.distance(to);
        let strip = Moments {
            area: length * radius,
            first: DVec2::ZERO,
            polar: length * radius * (length * length + radius * radius) / 12.0,
        };
        sum.add_at((from + to) * 0.5 + normal * (0.5 * radius), &strip);
        let (sin, cos) = (before.perp_dot(normal), before.dot(normal));
        let angle = libm::atan2(sin, cos);
        let sector = Moments {
            area: 0.5 * radius * radius * angle,
            first: (before * sin + before.perp() * (1.0 - cos)) * (radius.powi(3) / 3.0),
            polar: 0.25 * radius.powi(4) * angle,
        };
        sum.add_at(from, &sector);
    }
    sum
}

/// The outline, to draw.
pub(crate) fn draw(corners: &[DVec2], radius: f64) -> Vec<DVec2> {
    const STEPS: usize = 8;
    let count = corners.len();
    let mut points = Vec::new();
    for (k, &corner) in corners.iter().enumerate() {
        let before = outward(corners, (k + count - 1) % count);
        if let (Some(before), Some(after)) = (before, outward(corners, k)) {
            let angle = libm::atan2(before.perp_dot(after), before.dot(after));
            points.extend((0..=STEPS).map(|step| {
                let (sin, cos) = libm::sincos(angle * step as f64 / STEPS as f64);
                corner + (before * cos + before.perp() * sin) * radius
            }));
        }
    }
    points
}
