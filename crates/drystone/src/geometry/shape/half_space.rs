//! Contact with a half-space: the points of a body that can be lowest.
//!
//! For a polytope those are its corners, for a capsule its two ends. A cylinder or a cone has a
//! rim: its lowest point and the two at ±120° hold it flat, and the lowest point of the other
//! end holds it on its side. All of them carry identifiers that last while the body rolls.

#[cfg(feature = "dim3")]
use glamx::{DVec2, DVec3};

/// A point of a body with the number of its feature.
pub(crate) type Support<V> = (V, u32);

/// The rim points of a disk of radius `radius` around `center` with unit axis y, seen along
/// `down` (in the body's axes): the lowest, then the two at ±120° from it.
#[cfg(feature = "dim3")]
fn rim(center: DVec3, radius: f64, down: DVec3) -> [DVec3; 3] {
    let flat = DVec2::new(down.x, down.z);
    // Exactly upright: any direction is lowest, take x.
    let towards = flat.try_normalize().unwrap_or(DVec2::X);
    let at = |cos: f64, sin: f64| {
        center
            + radius
                * DVec3::new(
                    cos * towards.x - sin * towards.y,
                    0.0,
                    sin * towards.x + cos * towards.y,
                )
    };
    let sin = 0.75_f64.sqrt();
    [at(1.0, 0.0), at(-0.5, sin), at(-0.5, -sin)]
}

/// The points of a cylinder (axis y) that can be lowest along `down`.
#[cfg(feature = "dim3")]
pub(crate) fn cylinder(half_height: f64, radius: f64, down: DVec3) -> Vec<Support<DVec3>> {
    let sign = if down.y > 0.0 { 1.0 } else { -1.0 };
    let lower = rim(DVec3::new(0.0, sign * half_height, 0.0), radius, down);
    let upper = rim(DVec3::new(0.0, -sign * half_height, 0.0), radius, down);
    // Features count from the end at +y, so that they do not swap as the cylinder tips over.
    let (low, high) = if sign > 0.0 { (0, 3) } else { (3, 0) };
    vec![
        (lower[0], low),
        (lower[1], low + 1),
        (lower[2], low + 2),
        (upper[0], high),
    ]
}

/// The points of a cone (axis y, tip at +y) that can be lowest along `down`.
#[cfg(feature = "dim3")]
pub(crate) fn cone(half_height: f64, radius: f64, down: DVec3) -> Vec<Support<DVec3>> {
    let base = rim(DVec3::new(0.0, -half_height, 0.0), radius, down);
    vec![
        (base[0], 0),
        (base[1], 1),
        (base[2], 2),
        (DVec3::new(0.0, half_height, 0.0), 3),
    ]
}

#[cfg(all(test, feature = "dim3"))]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rim_point_is_the_support_point() {
        let down = DVec3::new(0.3, -0.8, 0.2).normalize();
        let points = cylinder(1.0, 0.5, down);
        let lowest = points
            .iter()
            .map(|p| p.0.dot(down))
            .fold(f64::MIN, f64::max);
        let flat = DVec2::new(down.x, down.z).length();
        assert!((lowest - (1.0 * down.y.abs() + 0.5 * flat)).abs() < 1e-12);
    }

    #[test]
    fn an_upright_cylinder_stands_on_three_points() {
        let points = cylinder(1.0, 0.5, DVec3::NEG_Y);
        assert_eq!(points.iter().filter(|p| p.0.y < 0.0).count(), 3);
        let center: DVec3 = points.iter().take(3).map(|p| p.0).sum::<DVec3>() / 3.0;
        assert!((center - DVec3::new(0.0, -1.0, 0.0)).length() < 1e-12);
    }
}
