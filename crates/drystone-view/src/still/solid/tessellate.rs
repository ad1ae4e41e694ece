//! Triangles of the forms, in the form's own axes.

use crate::still::place::{is_point, mesh_triangle};
use drystone_frame::Form;
use glamx::{DVec3, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// A triangle and the number of the smooth face that it belongs to.
pub(super) type Facet = ([Vec3; 3], u32);

/// The triangles of a form, counter-clockwise seen from outside. Round forms get `segments`
/// around their axis; open outlines become bars of the given half thickness in m. Half-spaces
/// have no triangles.
pub(super) fn tessellate(form: &Form, segments: u32, half_thickness: f32) -> Vec<Facet> {
    let mut facets = Vec::new();
    for (profile, face) in profiles(form, segments).iter().zip(0..) {
        revolve(profile, segments, face, &mut facets);
    }
    match form {
        Form::Box { half } => cuboid(box_half(*half), &mut facets),
        Form::Outline { points, closed } => outline(points, *closed, half_thickness, &mut facets),
        Form::Mesh { points, triangles } => {
            let corners = triangles.iter().filter_map(|&t| mesh_triangle(points, t));
            let numbered = corners.zip(0..);
            facets.extend(numbered.map(|(corners, face)| (corners.map(|c| c.as_vec3()), face)));
        }
        _ => {}
    }
    facets
}

/// The smooth faces of a round form as profiles of points (radius, height), from below upwards
/// on the outside; empty for other forms.
fn profiles(form: &Form, segments: u32) -> Vec<Vec<Vec2>> {
    match form {
        Form::Ball { radius } => vec![arc(*radius, 0.0, -PI / 2.0..PI / 2.0, segments / 2)],
        Form::Capsule {
            half_length,
            radius,
        } => {
            let mut profile = arc(*radius, -half_length, -PI / 2.0..0.0, segments / 4);
            profile.extend(arc(*radius, *half_length, 0.0..PI / 2.0, segments / 4));
            vec![profile]
        }
        Form::Cylinder {
            half_height,
            radius,
        } => {
            let (r, h) = (*radius as f32, *half_height as f32);
            let side = vec![Vec2::new(r, -h), Vec2::new(r, h)];
            let base = vec![Vec2::new(0.0, -h), Vec2::new(r, -h)];
            let top = vec![Vec2::new(r, h), Vec2::new(0.0, h)];
            vec![side, base, top]
        }
        Form::Cone {
            half_height,
            radius,
        } => {
            let (r, h) = (*radius as f32, *half_height as f32);
            let side = vec![Vec2::new(r, -h), Vec2::new(0.0, h)];
            let base = vec![Vec2::new(0.0, -h), Vec2::new(r, -h)];
            vec![side, base]
        }
        _ => Vec::new(),
    }
}

/// Half edges of a box that can be drawn in space: a rectangle gets a little thickness.
pub(super) fn box_half(half: [f64; 3]) -> Vec3 {
    let half = DVec3::from_array(half);
    let thinnest = 1e-3 * half.x.min(half.y);
    half.with_z(half.z.max(thinnest)).as_vec3()
}

/// Points (radius, height) of an arc around (0, `centre`), over the given angles from level.
fn arc(radius: f64, centre: f64, angles: std::ops::Range<f32>, pieces: u32) -> Vec<Vec2> {
    let (radius, centre) = (radius as f32, centre as f32);
    let pieces = pieces.max(2);
    let point = |k: u32| {
        let angle = angles.start + (angles.end - angles.start) * k as f32 / pieces as f32;
        let level = libm::cosf(angle).max(0.0);
        Vec2::new(radius * level, centre + radius * libm::sinf(angle))
    };
    (0..=pieces).map(point).collect()
}

/// Turns a profile of points (radius, height) around the y axis.
fn revolve(profile: &[Vec2], segments: u32, face: u32, facets: &mut Vec<Facet>) {
    let segments = segments.max(3);
    let directions: Vec<Vec2> = (0..=segments)
        .map(|k| {
            let angle = TAU * (k % segments) as f32 / segments as f32;
            Vec2::new(libm::cosf(angle), libm::sinf(angle))
        })
        .collect();
    let at = |p: Vec2, d: Vec2| Vec3::new(p.x * d.x, p.y, p.x * d.y);
    for ends in profile.windows(2) {
        for sides in directions.windows(2) {
            let (low, high) = (ends[0], ends[1]);
            let quad = [
                at(low, sides[0]),
                at(high, sides[0]),
                at(high, sides[1]),
                at(low, sides[1]),
            ];
            // Where the profile touches the axis, one half of the quadrilateral has no area.
            if high.x > 0.0 {
                facets.push(([quad[0], quad[1], quad[2]], face));
            }
            if low.x > 0.0 {
                facets.push(([quad[0], quad[2], quad[3]], face));
            }
        }
    }
}

/// The six faces of a box, numbered by axis and side.
fn cuboid(half: Vec3, facets: &mut Vec<Facet>) {
    for axis in 0..3 {
        for side in [-1.0_f32, 1.0] {
            let mut normal = Vec3::ZERO;
            normal[axis] = side;
            let mut across = Vec3::ZERO;
            across[(axis + 1) % 3] = 1.0;
            let along = normal.cross(across);
            let corner = |a: f32, b: f32| (normal + across * a + along * b) * half;
            let quad = [
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ];
            let face = 2 * axis as u32 + u32::from(side > 0.0);
            facets.push(([quad[0], quad[1], quad[2]], face));
            facets.push(([quad[0], quad[2], quad[3]], face));
        }
    }
}

/// A closed outline is a convex plate without thickness, an open one a chain of bars.
fn outline(points: &[[f64; 3]], closed: bool, half_thickness: f32, facets: &mut Vec<Facet>) {
    let drawable = points.iter().copied().filter(|&point| is_point(point));
    let points: Vec<Vec3> = drawable.map(|p| DVec3::from_array(p).as_vec3()).collect();
    if closed {
        if let Some((&first, rest)) = points.split_first() {
            facets.extend(rest.windows(2).map(|ends| ([first, ends[0], ends[1]], 0)));
        }
        return;
    }
    for (ends, face) in points.windows(2).zip(0..) {
        let along = (ends[1] - ends[0]) / 2.0;
        let across = along.any_orthogonal_vector().normalize_or_zero() * half_thickness;
        let other = along.cross(across).normalize_or_zero() * half_thickness;
        let mut bar = Vec::new();
        cuboid(Vec3::ONE, &mut bar);
        let middle = (ends[0] + ends[1]) / 2.0;
        let place = |c: Vec3| middle + along * c.x + across * c.y + other * c.z;
        facets.extend(
            bar.iter()
                .map(|(corners, side)| (corners.map(place), 6 * face + side)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume inside closed triangles: a sixth of the sum of triple products.
    fn volume(form: &Form) -> f32 {
        let facets = tessellate(form, 64, 0.01);
        let triple = |(c, _): &Facet| c[0].dot(c[1].cross(c[2]));
        facets.iter().map(triple).sum::<f32>() / 6.0
    }

    #[test]
    fn forms_are_closed_face_outwards_and_have_the_right_volume() {
        let close = |form: Form, expected: f32| {
            let found = volume(&form);
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "{form:?}: {found}, not {expected}"
            );
        };
        close(Form::Ball { radius: 2.0 }, 4.0 / 3.0 * PI * 8.0);
        close(
            Form::Box {
                half: [1.0, 2.0, 3.0],
            },
            48.0,
        );
        close(
            Form::Cylinder {
                half_height: 1.0,
                radius: 0.5,
            },
            PI * 0.5,
        );
        close(
            Form::Cone {
                half_height: 1.5,
                radius: 1.0,
            },
            PI,
        );
        close(
            Form::Capsule {
                half_length: 1.0,
                radius: 1.0,
            },
            PI * (2.0 + 4.0 / 3.0),
        );
    }
}
