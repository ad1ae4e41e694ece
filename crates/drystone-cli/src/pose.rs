//! Rotations of the plane as people write them.

/// The angle in rad, in (−π, π], of a rotation about z given as a quaternion x, y, z, w.
pub(crate) fn angle([_, _, z, w]: [f64; 4]) -> f64 {
    use std::f64::consts::{PI, TAU};
    let angle = 2.0 * libm::atan2(z, w);
    if angle > PI {
        angle - TAU
    } else if angle <= -PI {
        angle + TAU
    } else {
        // Adding zero makes −0 a plain 0.
        angle + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_come_back_from_quaternions() {
        for expected in [0.0, 1e-9, -0.3, 1.5, 3.1, -3.1] {
            let half: f64 = 0.5 * expected;
            let found = angle([0.0, 0.0, half.sin(), half.cos()]);
            assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
            // Both signs of a quaternion are one rotation.
            let other = angle([0.0, 0.0, -half.sin(), -half.cos()]);
            assert!((other - expected).abs() < 1e-15, "{other} for {expected}");
        }
    }
}
