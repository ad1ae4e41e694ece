//! Everything that can be seen: triangles of finite parts and planes of half-spaces.

use super::creases::corner_normals;
use super::surface::Surface;
use super::tessellate::tessellate;
use super::view::View;
use crate::still::palette::Look;
use crate::still::place::Placed;
use drystone_frame::Form;
use glamx::{DVec3, Pose3, Vec2, Vec3};

/// The greatest distance in pixels between a round form and its triangles.
const ROUND_ERROR_PX: f32 = 0.1;

/// Half thickness of the bars that draw open outlines, as a share of the subject's radius.
const BAR_SHARE: f32 = 0.004;

/// A triangle in the picture's frame of reference.
pub(super) struct Triangle {
    /// Corners in m.
    pub(super) corners: [Vec3; 3],
    /// Index of its part.
    pub(super) part: u32,
    /// Number of its smooth face, unique in the model: a face is shaded once per pixel.
    pub(super) face: u32,
    /// Place of the normals of its corners in the model; [`FLAT`] where it has one normal.
    pub(super) normals: u32,
}

/// Stands for no normals of corners.
pub(super) const FLAT: u32 = u32::MAX;

/// A finite part.
pub(super) struct SolidPart {
    /// From the part's axes to the picture's frame of reference.
    pub(super) pose: Pose3,
    /// What its surface is like.
    pub(super) surface: Surface,
    /// Its colour and texture.
    pub(super) look: Look,
}

/// The surface of a half-space.
pub(super) struct Plane {
    /// Unit normal out of the solid.
    pub(super) normal: Vec3,
    /// The plane holds the points p with normal . p = offset, in m.
    pub(super) offset: f32,
    /// Unit vectors along the lines of its grid.
    pub(super) along: [Vec3; 2],
    /// Edge of the squares of its grid, in m.
    pub(super) grid_step: f32,
    /// Where the frame of reference's origin lies in its square of the grid, in m.
    pub(super) grid_phase: Vec2,
}

/// All of it.
pub(super) struct Model {
    /// Triangles, parts in order.
    pub(super) triangles: Vec<Triangle>,
    /// Unit normals at the corners of triangles of bent surfaces.
    pub(super) corner_normals: Vec<[Vec3; 3]>,
    /// Finite parts.
    pub(super) parts: Vec<SolidPart>,
    /// Half-spaces.
    pub(super) planes: Vec<Plane>,
}

impl Model {
    /// The model of the placed parts, as fine as the view needs.
    pub(super) fn new(view: &View, placed: &[Placed<'_>], looks: &[Look]) -> Self {
        let mut model = Self {
            triangles: Vec::new(),
            corner_normals: Vec::new(),
            parts: Vec::new(),
            planes: Vec::new(),
        };
        let mut faces = 0;
        for part in placed {
            if let Form::HalfSpace { normal } = part.form {
                let normal = part.pose.rotation * DVec3::from_array(*normal).normalize();
                model
                    .planes
                    .push(Plane::new(view, normal, part.pose.translation));
            } else if let Some(look) = looks.get(part.object) {
                model.add(view, part, *look, &mut faces);
            }
        }
        model
    }

    fn add(&mut self, view: &View, part: &Placed<'_>, look: Look, faces: &mut u32) {
        let translation = view.relative(part.pose.translation);
        let pose = Pose3::from_parts(translation, part.pose.rotation.as_quat());
        let index = self.parts.len() as u32;
        let segments = segments(round_radius(part.form) * view.pixels_per_metre(translation));
        let facets = tessellate(part.form, segments, BAR_SHARE * view.radius);
        let first_normals = self.add_normals(part, &look, &pose);
        let mut last_face = 0;
        for (corners, face) in facets {
            let corners = corners.map(|corner| pose * corner);
            last_face = face;
            // Positions that single precision cannot hold are not drawn.
            if corners.iter().all(|c| c.abs().max_element() < 1e15) {
                self.triangles.push(Triangle {
                    corners,
                    part: index,
                    face: faces.wrapping_add(face),
                    normals: first_normals.map_or(FLAT, |first| first + face),
                });
            }
        }
        *faces = faces.wrapping_add(last_face + 1);
        self.parts.push(SolidPart {
            pose,
            surface: Surface::of(part.form),
            look,
        });
    }
}

impl Model {
    /// Normals at the corners of a bent surface, and the place of the first; its facets are
    /// numbered in the same order.
    fn add_normals(&mut self, part: &Placed<'_>, look: &Look, pose: &Pose3) -> Option<u32> {
        let Form::Mesh { points, triangles } = part.form else {
            return None;
        };
        if !look.is_skin {
            return None;
        }
        let first = self.corner_normals.len() as u32;
        let normals = corner_normals(points, triangles).into_iter();
        let turned = normals.map(|three| three.map(|normal| pose.transform_vector(normal)));
        self.corner_normals.extend(turned);
        Some(first)
    }
}

/// Radius in m of the part of a form that is round.
fn round_radius(form: &Form) -> f32 {
    match form {
        Form::Ball { radius }
        | Form::Capsule { radius, .. }
        | Form::Cylinder { radius, .. }
        | Form::Cone { radius, .. } => *radius as f32,
        _ => 0.0,
    }
}

/// Segments of a circle whose chords stay within the error: r (1 - cos(pi / n)) is about
/// r pi^2 / (2 n^2). A multiple of 4, so that capsules get whole quarter circles.
fn segments(radius_px: f32) -> u32 {
    let needed = std::f32::consts::PI * (radius_px / (2.0 * ROUND_ERROR_PX)).sqrt();
    (needed.clamp(8.0, 160.0) / 4.0).ceil() as u32 * 4
}

impl Plane {
    fn new(view: &View, normal: DVec3, point: DVec3) -> Self {
        // The grid follows the world's axes as far as the plane allows, and starts at its origin.
        let sideways = if normal.y.abs() > 0.5 {
            DVec3::X
        } else {
            DVec3::Y
        };
        let first = (sideways - normal * normal.dot(sideways)).normalize();
        let second = normal.cross(first);
        let step = round_number(f64::from(view.radius) / 3.0);
        let phase = |axis: DVec3| view.origin.dot(axis).rem_euclid(step) as f32;
        Self {
            normal: normal.as_vec3(),
            offset: normal.dot(point - view.origin) as f32,
            along: [first.as_vec3(), second.as_vec3()],
            grid_step: step as f32,
            grid_phase: Vec2::new(phase(first), phase(second)),
        }
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is not above a positive number.
fn round_number(number: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(number)));
    let factor = number / power;
    if factor >= 5.0 {
        5.0 * power
    } else if factor >= 2.0 {
        2.0 * power
    } else {
        power
    }
}

#[cfg(test)]
mod tests {
    use super::round_number;

    #[test]
    fn grid_steps_are_round_numbers() {
        for (number, expected) in [(0.7, 0.5), (1.0, 1.0), (3.9, 2.0), (73.0, 50.0)] {
            let found = round_number(number);
            assert!((found / expected - 1.0).abs() < 1e-12, "{number}: {found}");
        }
    }
}
