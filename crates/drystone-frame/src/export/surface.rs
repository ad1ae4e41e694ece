//! What skins look like: triangles whose number and order never change, so that the points of
//! one frame belong to those of the next.

use std::f64::consts::TAU;

use crate::Skin;
use crate::skin::{Sheet, add, cross, difference, length};

/// Sides of a string.
const SIDES: u32 = 6;

/// The surface of a skin for objects at these places: its triangles, and a prism for each string.
pub(super) fn of_skin(skin: &Skin, positions: &[[f64; 3]], is_flat: bool) -> Sheet {
    let is_known = |object: &u32| (*object as usize) < positions.len();
    let triangles = skin.triangles.iter().copied();
    let triangles: Vec<_> = triangles.filter(|t| t.iter().all(is_known)).collect();
    let mut sheet = skin.sheet(&triangles, positions, !is_flat);
    for ends in skin.segments.iter().filter(|s| s.iter().all(is_known)) {
        let [a, b] = ends.map(|object| positions[object as usize]);
        let first = sheet.points.len() as u32;
        sheet.points.extend(prism(a, b, 0.5 * skin.thickness));
        let side = |end: usize| (0..SIDES).map(move |_| ends[end]);
        sheet.objects.extend(side(0).chain(side(1)));
        sheet.triangles.extend(prism_triangles(first));
    }
    sheet
}

/// Corners around a, then around b.
fn prism(a: [f64; 3], b: [f64; 3], radius: f64) -> Vec<[f64; 3]> {
    let along = difference(b, a);
    // Any direction that is not along it will do.
    let other = if along[1].abs() > 0.8 * length(along) {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let u = unit(cross(other, along));
    let v = unit(cross(along, u));
    let around = |centre: [f64; 3]| {
        (0..SIDES).map(move |k| {
            let (sine, cosine) = libm::sincos(TAU * f64::from(k) / f64::from(SIDES));
            add(add(centre, u, radius * cosine), v, radius * sine)
        })
    };
    around(a).chain(around(b)).collect()
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    let size = length(v);
    if size > 0.0 {
        v.map(|x| x / size)
    } else {
        [0.0; 3]
    }
}

/// Sides and lids of a prism whose corners begin at `first`.
fn prism_triangles(first: u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for k in 0..SIDES {
        let next = (k + 1) % SIDES;
        triangles.push([k, next, SIDES + next]);
        triangles.push([k, SIDES + next, SIDES + k]);
    }
    for k in 1..SIDES - 1 {
        triangles.push([0, k + 1, k]);
        triangles.push([SIDES, SIDES + k, SIDES + k + 1]);
    }
    let from_first = |t: [u32; 3]| t.map(|corner| first + corner);
    triangles.into_iter().map(from_first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The volume within is that of a prism with six sides, 3√3/2 r² l, whichever way it points.
    #[test]
    fn a_string_is_a_closed_prism() {
        for b in [
            [0.0, 2.0, 0.0],
            [2.0, 0.0, 0.0],
            [0.0, 0.0, -2.0],
            [1.2, -1.6, 0.0],
        ] {
            let skin = Skin {
                segments: vec![[0, 1]],
                thickness: 0.2,
                ..Skin::default()
            };
            let sheet = of_skin(&skin, &[[0.0; 3], b], false);
            let corner = |k: u32| sheet.points[k as usize];
            let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            let six: f64 = sheet
                .triangles
                .iter()
                .map(|&[a, b, c]| dot(corner(a), cross(corner(b), corner(c))))
                .sum();
            let expected = 1.5 * 3.0_f64.sqrt() * 0.01 * 2.0;
            assert!((six / 6.0 - expected).abs() < 1e-12, "{}", six / 6.0);
            assert_eq!(sheet.objects.len(), sheet.points.len());
        }
    }

    #[test]
    fn objects_that_are_not_there_are_left_out() {
        let skin = Skin {
            triangles: vec![[0, 1, 2], [0, 1, 9]],
            segments: vec![[0, 9]],
            ..Skin::default()
        };
        let places = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(of_skin(&skin, &places, false).triangles.len(), 1);
    }
}
