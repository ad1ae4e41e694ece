//! Where the camera stands: the bounds of what matters and the distance that shows all of it.

use super::Camera;
use super::place::{Placed, RoundedPoint};
use glamx::{DVec2, DVec3};

/// How much wider than the subject the picture is.
const MARGIN: f64 = 1.16;

/// Below this many moving objects none of them can be called a stray.
const FEWEST_FOR_STRAYS: usize = 5;

/// Fixed objects count as far as this part of the moving ones' diagonal around them, so a large
/// floor plate does not make the rest small.
const FIXED_REACH: f64 = 0.35;

/// What the picture is about: points whose hull must be seen. Never empty.
pub(super) struct Subject {
    points: Vec<RoundedPoint>,
    /// Centre of the bounding box in m.
    pub(super) centre: DVec3,
    /// Radius in m of a ball around the centre that holds all points; positive.
    pub(super) radius: f64,
    /// Edges of the bounding box in m.
    extent: DVec3,
}

/// A camera with nothing left to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Standpoint {
    /// Where the camera is, in m.
    pub(super) eye: DVec3,
    /// What it looks at, in m; never where it is.
    pub(super) target: DVec3,
    /// Tangent of half of the vertical field of view.
    pub(super) tan_half: f64,
}

impl Subject {
    /// The moving objects without strays, and what is near them of the finite fixed ones.
    pub(super) fn new(placed: &[Placed<'_>]) -> Self {
        let bounds_of = |fixed: bool| {
            let chosen = placed.iter().filter(move |part| part.fixed == fixed);
            chosen
                .map(Placed::bounds)
                .filter(|points| !points.is_empty())
        };
        let mut points = without_strays(bounds_of(false).collect());
        let fixed = bounds_of(true).flatten();
        if let Some((low, high)) = bounding_box(&points) {
            let reach = DVec3::splat(FIXED_REACH * (high - low).length());
            points.extend(fixed.map(|point| RoundedPoint {
                centre: point.centre.clamp(low - reach, high + reach),
                radius: point.radius.min(reach.x),
            }));
        } else {
            points.extend(fixed);
        }
        Self::around(points)
    }

    fn around(mut points: Vec<RoundedPoint>) -> Self {
        let (low, high) = bounding_box(&points).unwrap_or_else(|| {
            points = vec![RoundedPoint {
                centre: DVec3::Y,
                radius: 1.0,
            }];
            (-DVec3::ONE + DVec3::Y, DVec3::ONE + DVec3::Y)
        });
        let centre = (low + high) / 2.0;
        let reach = |point: &RoundedPoint| point.centre.distance(centre) + point.radius;
        let radius = points.iter().map(reach).fold(0.0, f64::max);
        Self {
            points,
            centre,
            // A subject of no size (one point) is seen from 1 mm away and more.
            radius: radius.max(1e-3),
            extent: high - low,
        }
    }
}

/// Corners of the box around all points, or `None` without points.
fn bounding_box(points: &[RoundedPoint]) -> Option<(DVec3, DVec3)> {
    let corners = |point: &RoundedPoint| {
        let radius = DVec3::splat(point.radius);
        (point.centre - radius, point.centre + radius)
    };
    let boxes = points.iter().map(corners);
    boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// The points of all parts but those that have flown or fallen far from the rest.
fn without_strays(parts: Vec<Vec<RoundedPoint>>) -> Vec<RoundedPoint> {
    if parts.len() < FEWEST_FOR_STRAYS {
        return parts.into_iter().flatten().collect();
    }
    let boxes: Vec<_> = parts
        .iter()
        .filter_map(|points| bounding_box(points))
        .collect();
    let centres: Vec<DVec3> = boxes.iter().map(|(low, high)| (low + high) / 2.0).collect();
    let along = |axis: usize| quantile(centres.iter().map(|c| c[axis]).collect(), 0.5);
    let middle = DVec3::new(along(0), along(1), along(2));
    let away = |centre: &DVec3| centre.distance(middle);
    let usual_distance = quantile(centres.iter().map(away).collect(), 0.8);
    let sizes = boxes.iter().map(|(low, high)| (high - low).length());
    let usual_size = quantile(sizes.collect(), 0.5);
    // Four times as far as four fifths of the parts, and some sizes more for tight heaps.
    let limit = 4.0 * usual_distance + 4.0 * usual_size;
    let near = parts
        .into_iter()
        .zip(&centres)
        .filter(|(_, centre)| away(centre) <= limit);
    near.flat_map(|(points, _)| points).collect()
}

/// The value below which a share of the values lies; 0 without values.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (share * values.len().saturating_sub(1) as f64).round() as usize;
    values.get(index).copied().unwrap_or(0.0)
}

impl Standpoint {
    /// The camera in space for a subject, what the user left open chosen so that all is seen.
    /// `aspect` is width by height.
    pub(super) fn in_space(camera: &Camera, subject: &Subject, aspect: f64) -> Self {
        let tan_half = camera.tan_half();
        let chosen_eye = finite(camera.eye);
        let chosen_target = finite(camera.target);
        if let Some(eye) = chosen_eye {
            let target = chosen_target.unwrap_or(subject.centre);
            if eye.distance(target) > 1e-9 * (1.0 + eye.length()) {
                return Self {
                    eye,
                    target,
                    tan_half,
                };
            }
        }
        let (right, up, back) = axes(camera.direction(subject));
        let fit = Fit {
            axes: [right, up, back],
            tan: DVec2::new(tan_half * aspect, tan_half) / MARGIN,
        };
        match chosen_target {
            Some(target) => Self {
                eye: target + back * fit.distance_from(target, subject),
                target,
                tan_half,
            },
            None => fit.eye_and_target(subject, tan_half),
        }
    }

    /// The camera straight above a subject in the plane z = 0.
    pub(super) fn over_plane(camera: &Camera, subject: &Subject, aspect: f64) -> Self {
        let tan_half = camera.tan_half();
        let target = finite(camera.target).unwrap_or(subject.centre);
        let fitting = || {
            // The farthest edge of the bounding box from the target, which may be off centre.
            let far = (subject.centre - target).abs() + subject.extent / 2.0;
            let half_height = MARGIN * far.y.max(far.x / aspect);
            half_height.max(subject.radius * 1e-3) / tan_half
        };
        let distance = match finite(camera.eye) {
            Some(eye) if eye.distance(target) > 0.0 => eye.distance(target),
            _ => fitting(),
        };
        Self {
            eye: target + DVec3::Z * distance,
            target,
            tan_half,
        }
    }

    /// Right, up and back of the camera.
    pub(super) fn axes(&self) -> (DVec3, DVec3, DVec3) {
        axes(self.eye - self.target)
    }
}

fn finite(point: Option<[f64; 3]>) -> Option<DVec3> {
    let point = point.map(DVec3::from_array)?;
    (point.abs().max_element() <= 1e15).then_some(point)
}

/// Right, up and back of a camera that stands in the direction `back`; y is up.
fn axes(back: DVec3) -> (DVec3, DVec3, DVec3) {
    let back = back.normalize_or(DVec3::Z);
    // Straight down or up there is no horizon: the top of the picture is then -z.
    let right = DVec3::Y.cross(back);
    let right = if right.length_squared() > 1e-12 {
        right.normalize()
    } else {
        DVec3::X
    };
    (right, back.cross(right), back)
}

impl Camera {
    /// Tangent of half of the vertical field of view.
    fn tan_half(&self) -> f64 {
        let degrees = if self.field_of_view_deg.is_finite() {
            self.field_of_view_deg.clamp(2.0, 140.0)
        } else {
            Self::default().field_of_view_deg
        };
        libm::tan(degrees.to_radians() / 2.0)
    }

    /// From the subject to the camera; by default its broad side is seen, a little from the
    /// right.
    fn direction(&self, subject: &Subject) -> DVec3 {
        let long_in_z = subject.extent.z > 1.4 * subject.extent.x;
        let broadside_deg = if long_in_z { 62.0 } else { 28.0 };
        let given = |degrees: f64, other: f64| if degrees.is_finite() { degrees } else { other };
        let azimuth = given(self.azimuth_deg.unwrap_or(broadside_deg), broadside_deg).to_radians();
        let elevation = given(self.elevation_deg, Self::default().elevation_deg);
        let elevation = elevation.clamp(-90.0, 90.0).to_radians();
        let level = libm::cos(elevation);
        DVec3::new(
            level * libm::sin(azimuth),
            libm::sin(elevation),
            level * libm::cos(azimuth),
        )
    }
}

/// Finds how far away a camera with given axes sees all points.
///
/// A point at (x, y, z) in the camera's axes is inside the right side of the view of a camera at
/// (X, Y, Z) if x - X <= t (Z - z), t being the tangent of half of the horizontal field of view:
/// x + t z <= X + t Z. The largest left side over all points bounds X + t Z; the left side of
/// the view bounds -X + t Z alike; their sum gives Z and their difference X.
struct Fit {
    axes: [DVec3; 3],
    tan: DVec2,
}

impl Fit {
    /// Largest x + t z and -x + t z over all points, where x lies along the given axis.
    fn supports(&self, subject: &Subject, axis: usize, tan: f64) -> (f64, f64) {
        // A ball touches the slanted side of the view at its radius, measured across it.
        let slant = (1.0 + tan * tan).sqrt();
        let mut most = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for point in &subject.points {
            let relative = point.centre - subject.centre;
            let x = relative.dot(self.axes[axis]);
            let depth = tan * relative.dot(self.axes[2]) + slant * point.radius;
            most = (most.0.max(x + depth), most.1.max(-x + depth));
        }
        most
    }

    fn eye_and_target(&self, subject: &Subject, tan_half: f64) -> Standpoint {
        let need = |axis: usize| {
            let (plus, minus) = self.supports(subject, axis, self.tan[axis]);
            (plus + minus) / (2.0 * self.tan[axis])
        };
        let distance = need(0).max(need(1)).max(subject.radius * 1e-3);
        let target = subject.centre
            + self.axes[0] * self.middle(subject, 0, distance)
            + self.axes[1] * self.middle(subject, 1, distance);
        Standpoint {
            eye: target + self.axes[2] * distance,
            target,
            tan_half,
        }
    }

    /// Where along an axis a camera at a distance sees the subject in its middle: where a view
    /// that is just wide enough for the subject fits it.
    fn middle(&self, subject: &Subject, axis: usize, distance: f64) -> f64 {
        let (mut narrow, mut wide) = (0.0, self.tan[axis]);
        for _ in 0..40 {
            let tan = (narrow + wide) / 2.0;
            let (plus, minus) = self.supports(subject, axis, tan);
            if plus + minus > 2.0 * tan * distance {
                narrow = tan;
            } else {
                wide = tan;
            }
        }
        let (plus, minus) = self.supports(subject, axis, wide);
        (plus - minus) / 2.0
    }

    /// The distance from a given target at which all points are seen.
    fn distance_from(&self, target: DVec3, subject: &Subject) -> f64 {
        let offset = subject.centre - target;
        let need = |axis: usize| {
            let (plus, minus) = self.supports(subject, axis, self.tan[axis]);
            let aside = offset.dot(self.axes[axis]);
            let tan = self.tan[axis];
            ((plus + aside).max(minus - aside)) / tan + offset.dot(self.axes[2])
        };
        need(0).max(need(1)).max(subject.radius * 1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64, z: f64, radius: f64) -> RoundedPoint {
        RoundedPoint {
            centre: DVec3::new(x, y, z),
            radius,
        }
    }

    #[test]
    fn fitted_camera_sees_every_point_and_touches_the_margin() {
        let points = vec![
            point(-3.0, 0.0, 1.0, 0.5),
            point(4.0, 2.0, -2.0, 0.0),
            point(0.0, 5.0, 0.0, 1.0),
        ];
        let subject = Subject::around(points.clone());
        let camera = Camera::default();
        let aspect = 16.0 / 9.0;
        let stand = Standpoint::in_space(&camera, &subject, aspect);
        let (right, up, back) = stand.axes();
        let mut fullest: f64 = 0.0;
        for p in points {
            let relative = p.centre - stand.eye;
            let depth = -relative.dot(back);
            let reach_x = relative.dot(right).abs() + p.radius;
            let reach_y = relative.dot(up).abs() + p.radius;
            fullest = fullest.max(reach_x / (depth * stand.tan_half * aspect));
            fullest = fullest.max(reach_y / (depth * stand.tan_half));
        }
        assert!(fullest < 1.0, "a point lies outside the picture: {fullest}");
        assert!(fullest > 0.8, "the subject is too small: {fullest}");
    }

    #[test]
    fn one_stray_among_many_does_not_move_the_camera() {
        let parts = |stray: f64| {
            let mut parts: Vec<_> = (0..20)
                .map(|k| vec![point(f64::from(k), 0.0, 0.0, 0.5)])
                .collect();
            parts.push(vec![point(0.0, stray, 0.0, 0.5)]);
            Subject::around(without_strays(parts))
        };
        assert!(parts(-1e6).radius < 20.0);
        assert!(parts(-15.0).extent.y > 15.0);
    }

    #[test]
    fn nothing_to_see_still_gives_a_camera() {
        let subject = Subject::new(&[]);
        let stand = Standpoint::in_space(&Camera::default(), &subject, 1.0);
        assert!(stand.eye.is_finite() && stand.eye != stand.target);
    }
}
