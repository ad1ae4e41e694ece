//! Normals of surfaces that bend: cloth and soft solids.
//!
//! At each corner of a triangle the normals of the triangles around it are averaged by area, but
//! only of those that lie within an angle of its own: a sheet looks smooth, and a cube keeps its
//! edges.

use crate::still::place::mesh_triangle;
use glamx::Vec3;

/// Cosine of the angle, about 50°, beyond which an edge is a crease.
const CREASE_COSINE: f32 = 0.64;

/// Normals at the corners of every triangle that can be drawn, in their order.
pub(super) fn corner_normals(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<[Vec3; 3]> {
    let drawn: Vec<([u32; 3], Vec3)> = triangles
        .iter()
        .filter_map(|&corners| {
            let [a, b, c] = mesh_triangle(points, corners)?;
            Some((corners, (b - a).cross(c - a).as_vec3()))
        })
        .collect();
    // Triangles around each point.
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); points.len()];
    for ((corners, _), k) in drawn.iter().zip(0..) {
        corners.iter().for_each(|&c| around[c as usize].push(k));
    }
    let corner = |own: Vec3, point: u32| {
        let unit = own.normalize_or_zero();
        let near = around[point as usize].iter().map(|&k| drawn[k as usize].1);
        let sum: Vec3 = near
            .filter(|other| other.normalize_or_zero().dot(unit) >= CREASE_COSINE)
            .sum();
        sum.normalize_or(unit)
    };
    let normals = |(corners, own): &([u32; 3], Vec3)| corners.map(|point| corner(*own, point));
    drawn.iter().map(normals).collect()
}

/// The normal at a point of a triangle, by its shares of the corners.
pub(super) fn blended(corners: &[Vec3; 3], normals: &[Vec3; 3], point: Vec3) -> Vec3 {
    let [a, b, c] = *corners;
    let whole = (b - a).cross(c - a);
    let square = whole.length_squared();
    if square <= 0.0 {
        return normals[0];
    }
    let share = |from: Vec3, to: Vec3| (to - from).cross(point - from).dot(whole) / square;
    let (of_a, of_b) = (share(b, c), share(c, a));
    let blend = normals[0] * of_a + normals[1] * of_b + normals[2] * (1.0 - of_a - of_b);
    blend.normalize_or(normals[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cylinder_of_facets_is_smooth_and_a_fold_is_a_crease() {
        // A strip of quads around the y axis, 15° each.
        let rim = |k: u32, y: f64| {
            let angle = f64::from(k) * 15_f64.to_radians();
            [libm::cos(angle), y, libm::sin(angle)]
        };
        let points: Vec<[f64; 3]> = (0..6).flat_map(|k| [rim(k, 0.0), rim(k, 1.0)]).collect();
        let strip: Vec<[u32; 3]> = (0..5)
            .flat_map(|k| [[2 * k, 2 * k + 1, 2 * k + 3], [2 * k, 2 * k + 3, 2 * k + 2]])
            .collect();
        let normals = corner_normals(&points, &strip);
        // At an inner point the normal is that of the cylinder: the point itself, without y.
        let [x, _, z] = rim(2, 0.0).map(|c| c as f32);
        let found = normals[4][0];
        assert!(found.dot(Vec3::new(x, 0.0, z)) > 0.999, "{found}");

        let folded = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ];
        let normals = corner_normals(&folded, &[[0, 1, 2], [0, 3, 1]]);
        assert!(normals[0].iter().all(|n| n.dot(Vec3::Z) > 0.9999));
        assert!(normals[1].iter().all(|n| n.dot(Vec3::Y) > 0.9999));
    }

    #[test]
    fn a_corner_has_its_own_normal() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let normals = [Vec3::Z, Vec3::X, Vec3::Y];
        for k in 0..3 {
            let found = blended(&corners, &normals, corners[k]);
            assert!(found.dot(normals[k]) > 0.9999);
        }
        let middle = blended(&corners, &normals, (Vec3::X + Vec3::Y) / 3.0);
        assert!((middle - Vec3::ONE.normalize()).length() < 1e-5);
    }
}
