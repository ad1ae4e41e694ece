//! Triangles of forms, in the form's own axes, for exports.
//!
//! Round forms become polyhedra with [`SEGMENTS`] sides around their axis. In 2D, forms are plates
//! around the plane z = 0. Half-spaces have no end, so they become slabs as large as they are
//! asked for.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::Form;

/// Sides of a round form around its axis; a multiple of 4, so that capsules get whole quarters.
pub const SEGMENTS: u32 = 24;

/// Triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices in m.
    pub points: Vec<[f64; 3]>,
    /// Unit normals of the vertices; none where faces are flat and share vertices.
    pub normals: Vec<[f64; 3]>,
    /// Corners, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// How large things without an extent of their own become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Half of the thickness of the plates of 2D worlds and of open outlines, m.
    pub half_depth: f64,
    /// Half of the edge of the slabs of half-spaces, m.
    pub reach: f64,
    /// Where the slabs of half-spaces are centred, in the form's axes; moved to the surface.
    pub centre: [f64; 3],
}

/// The triangles of a form in a world of 2 or 3 dimensions.
#[must_use]
pub fn mesh_of(form: &Form, dimension: u8, extent: &Extent) -> Mesh {
    match (form, dimension) {
        (Form::HalfSpace { normal }, _) => slab(*normal, dimension, extent),
        (
            Form::Outline {
                points,
                closed: false,
            },
            _,
        ) => bars(points, extent.half_depth),
        (Form::Mesh { points, triangles }, _) => indexed(points, triangles),
        (_, 2) => plate(&outline(form), extent.half_depth),
        (Form::Ball { radius }, _) => {
            revolved(&[arc(*radius, 0.0, -FRAC_PI_2, FRAC_PI_2, SEGMENTS / 2)])
        }
        (
            Form::Capsule {
                half_length,
                radius,
            },
            _,
        ) => {
            let mut profile = arc(*radius, -half_length, -FRAC_PI_2, 0.0, SEGMENTS / 4);
            profile.extend(arc(*radius, *half_length, 0.0, FRAC_PI_2, SEGMENTS / 4));
            revolved(&[profile])
        }
        (
            Form::Cylinder {
                half_height,
                radius,
            },
            _,
        ) => {
            let (r, h) = (*radius, *half_height);
            revolved(&[
                line([0.0, -h], [r, -h]),
                line([r, -h], [r, h]),
                line([r, h], [0.0, h]),
            ])
        }
        (
            Form::Cone {
                half_height,
                radius,
            },
            _,
        ) => {
            let (r, h) = (*radius, *half_height);
            revolved(&[line([0.0, -h], [r, -h]), line([r, -h], [0.0, h])])
        }
        (Form::Box { half }, _) => cuboid([0.0; 3], axes(*half)),
        (
            Form::Outline {
                points,
                closed: true,
            },
            _,
        ) => plate(
            &points.iter().map(|p| [p[0], p[1]]).collect::<Vec<_>>(),
            extent.half_depth,
        ),
    }
}

/// Radius in m of the ball around a form's origin that holds it; 0 for half-spaces.
#[must_use]
pub fn radius_of(form: &Form) -> f64 {
    let length = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    match form {
        Form::Ball { radius } => *radius,
        Form::Box { half } => length(half),
        Form::Capsule {
            half_length,
            radius,
        } => half_length + radius,
        Form::Cylinder {
            half_height,
            radius,
        }
        | Form::Cone {
            half_height,
            radius,
        } => length(&[*half_height, *radius, 0.0]),
        Form::HalfSpace { .. } => 0.0,
        Form::Outline { points, .. } | Form::Mesh { points, .. } => {
            points.iter().map(length).fold(0.0, f64::max)
        }
    }
}

/// A point of a profile: radius and height, and the normal in the same plane.
type Profile = Vec<([f64; 2], [f64; 2])>;

/// An arc around (0, `centre`) from one angle above level to another.
fn arc(radius: f64, centre: f64, from: f64, to: f64, pieces: u32) -> Profile {
    let point = |k: u32| {
        let angle = from + (to - from) * f64::from(k) / f64::from(pieces);
        // A quarter turn has no exact cosine, and poles lie on the axis.
        let level = if angle.abs() >= FRAC_PI_2 {
            0.0
        } else {
            libm::cos(angle)
        };
        let normal = [level, libm::sin(angle)];
        ([radius * level, centre + radius * normal[1]], normal)
    };
    (0..=pieces).map(point).collect()
}

fn line(from: [f64; 2], to: [f64; 2]) -> Profile {
    let (along, up) = (to[0] - from[0], to[1] - from[1]);
    let length = (along * along + up * up).sqrt();
    let normal = if length > 0.0 {
        [up / length, -along / length]
    } else {
        [0.0, 1.0]
    };
    vec![(from, normal), (to, normal)]
}

/// Turns profiles, each from below upwards on the outside, around the y axis.
fn revolved(profiles: &[Profile]) -> Mesh {
    let mut mesh = Mesh::default();
    for profile in profiles {
        let first = mesh.points.len() as u32;
        for (point, normal) in profile {
            for side in 0..SEGMENTS {
                let angle = TAU * f64::from(side) / f64::from(SEGMENTS);
                let (c, s) = (libm::cos(angle), libm::sin(angle));
                mesh.points.push([point[0] * c, point[1], point[0] * s]);
                mesh.normals.push([normal[0] * c, normal[1], normal[0] * s]);
            }
        }
        for (row, ends) in (0..).zip(profile.windows(2)) {
            for side in 0..SEGMENTS {
                let at = |row: u32, side: u32| first + row * SEGMENTS + side % SEGMENTS;
                let [low, high] = [at(row, side), at(row + 1, side)];
                let [next_low, next_high] = [at(row, side + 1), at(row + 1, side + 1)];
                // Where the profile touches the axis, half of the quadrilateral has no area.
                if ends[1].0[0] > 0.0 {
                    mesh.triangles.push([low, high, next_high]);
                }
                if ends[0].0[0] > 0.0 {
                    mesh.triangles.push([low, next_high, next_low]);
                }
            }
        }
    }
    mesh
}

fn axes(half: [f64; 3]) -> [[f64; 3]; 3] {
    [
        [half[0], 0.0, 0.0],
        [0.0, half[1], 0.0],
        [0.0, 0.0, half[2]],
    ]
}

/// A box around a point, from its centre to its faces along three right-handed half edges.
fn cuboid(centre: [f64; 3], half: [[f64; 3]; 3]) -> Mesh {
    let mut mesh = Mesh::default();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let (u, v) = (half[(axis + 1) % 3], half[(axis + 2) % 3]);
            let first = mesh.points.len() as u32;
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let corner = |i: usize| centre[i] + side * half[axis][i] + a * u[i] + b * v[i];
                mesh.points.push(std::array::from_fn(corner));
                mesh.normals.push(unit(half[axis].map(|x| side * x)));
            }
            let [a, b, c, d] = std::array::from_fn(|k| first + k as u32);
            mesh.triangles.extend(if side > 0.0 {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, c, b], [a, d, c]]
            });
        }
    }
    mesh
}

/// The surface of a half-space and a little of what is below it.
fn slab(normal: [f64; 3], dimension: u8, extent: &Extent) -> Mesh {
    let normal = unit(normal);
    let [along, across] = across(normal);
    let depth = 0.01 * extent.reach;
    let above = dot(normal, extent.centre);
    let centre = std::array::from_fn(|i| extent.centre[i] - (above + depth) * normal[i]);
    let breadth = if dimension == 2 {
        extent.half_depth
    } else {
        extent.reach
    };
    let times = |v: [f64; 3], factor: f64| v.map(|x| factor * x);
    cuboid(
        centre,
        [
            times(along, extent.reach),
            times(normal, depth),
            times(across, breadth),
        ],
    )
}

/// Two unit vectors across a unit vector n so that first, n, second are right-handed; the second
/// along z where n lies in the plane z = 0.
fn across(n: [f64; 3]) -> [[f64; 3]; 2] {
    let aside = if n[2].abs() < 0.9 {
        [0.0, 0.0, 1.0]
    } else {
        [1.0, 0.0, 0.0]
    };
    let first = unit(cross(n, aside));
    [first, cross(first, n)]
}

/// The chain of bars that an open outline is drawn as.
fn bars(points: &[[f64; 3]], half_depth: f64) -> Mesh {
    let mut mesh = Mesh::default();
    for ends in points.windows(2) {
        let half: [f64; 3] = std::array::from_fn(|i| 0.5 * (ends[1][i] - ends[0][i]));
        let centre = std::array::from_fn(|i| 0.5 * (ends[0][i] + ends[1][i]));
        let direction = unit(half);
        let [first, second] = across(direction);
        let thin = |v: [f64; 3]| v.map(|x| half_depth * x);
        let bar = cuboid(centre, [thin(first), half, thin(second)]);
        let start = mesh.points.len() as u32;
        mesh.points.extend(bar.points);
        mesh.normals.extend(bar.normals);
        mesh.triangles
            .extend(bar.triangles.iter().map(|t| t.map(|k| k + start)));
    }
    mesh
}

/// Triangles with corners that exist.
fn indexed(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Mesh {
    let exists = |t: &&[u32; 3]| t.iter().all(|&k| (k as usize) < points.len());
    Mesh {
        points: points.to_vec(),
        normals: Vec::new(),
        triangles: triangles.iter().filter(exists).copied().collect(),
    }
}

/// The outline of a form in the plane, counter-clockwise.
fn outline(form: &Form) -> Vec<[f64; 2]> {
    let circle = |centre: f64, radius: f64, from: u32, to: u32| {
        (from..=to).map(move |k| {
            let angle = TAU * f64::from(k) / f64::from(SEGMENTS);
            [
                radius * libm::cos(angle),
                centre + radius * libm::sin(angle),
            ]
        })
    };
    match form {
        Form::Ball { radius } => circle(0.0, *radius, 0, SEGMENTS - 1).collect(),
        Form::Box { half } => {
            let [x, y, _] = *half;
            vec![[-x, -y], [x, -y], [x, y], [-x, y]]
        }
        Form::Capsule {
            half_length,
            radius,
        } => {
            let top = circle(*half_length, *radius, 0, SEGMENTS / 2);
            top.chain(circle(-half_length, *radius, SEGMENTS / 2, SEGMENTS))
                .collect()
        }
        Form::Cylinder {
            half_height,
            radius,
        } => {
            let (r, h) = (*radius, *half_height);
            vec![[-r, -h], [r, -h], [r, h], [-r, h]]
        }
        Form::Cone {
            half_height,
            radius,
        } => {
            let (r, h) = (*radius, *half_height);
            vec![[-r, -h], [r, -h], [0.0, h]]
        }
        Form::Outline { points, .. } => points.iter().map(|p| [p[0], p[1]]).collect(),
        Form::HalfSpace { .. } | Form::Mesh { .. } => Vec::new(),
    }
}

/// A convex outline, counter-clockwise, with thickness along z.
fn plate(outline: &[[f64; 2]], half_depth: f64) -> Mesh {
    let mut mesh = Mesh::default();
    let count = outline.len() as u32;
    if count < 3 {
        return mesh;
    }
    for side in [1.0, -1.0] {
        let first = mesh.points.len() as u32;
        mesh.points
            .extend(outline.iter().map(|p| [p[0], p[1], side * half_depth]));
        mesh.normals
            .extend(outline.iter().map(|_| [0.0, 0.0, side]));
        mesh.triangles
            .extend((1..count - 1).map(|k| match side > 0.0 {
                true => [first, first + k, first + k + 1],
                false => [first, first + k + 1, first + k],
            }));
    }
    for (k, p) in outline.iter().enumerate() {
        let q = outline[(k + 1) % outline.len()];
        let normal = unit([q[1] - p[1], p[0] - q[0], 0.0]);
        let first = mesh.points.len() as u32;
        for (end, z) in [
            (p, -half_depth),
            (&q, -half_depth),
            (&q, half_depth),
            (p, half_depth),
        ] {
            mesh.points.push([end[0], end[1], z]);
            mesh.normals.push(normal);
        }
        mesh.triangles.push([first, first + 1, first + 2]);
        mesh.triangles.push([first, first + 2, first + 3]);
    }
    mesh
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The unit vector, or up where there is no direction.
fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = dot(v, v).sqrt();
    if length > 0.0 && length.is_finite() {
        v.map(|x| x / length)
    } else {
        [0.0, 1.0, 0.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const EXTENT: Extent = Extent {
        half_depth: 0.25,
        reach: 10.0,
        centre: [3.0, 7.0, 0.0],
    };

    /// Volume inside closed triangles: a sixth of the sum of triple products.
    fn volume(mesh: &Mesh) -> f64 {
        let triple = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|k| mesh.points[k as usize]);
            dot(a, cross(b, c))
        };
        mesh.triangles.iter().map(triple).sum::<f64>() / 6.0
    }

    /// Normals have length 1 and point to the same side as the triangles they belong to.
    fn normals_fit(mesh: &Mesh) -> bool {
        mesh.triangles.iter().all(|t| {
            let [a, b, c] = t.map(|k| mesh.points[k as usize]);
            let edge = |p: [f64; 3]| std::array::from_fn(|i| p[i] - a[i]);
            let outwards = cross(edge(b), edge(c));
            t.iter().all(|&k| {
                let normal = mesh.normals[k as usize];
                (dot(normal, normal) - 1.0).abs() < 1e-12 && dot(normal, outwards) > 0.0
            })
        })
    }

    #[test]
    fn solids_are_closed_face_outwards_and_have_the_right_volume() {
        let ball = Form::Ball { radius: 2.0 };
        let capsule = Form::Capsule {
            half_length: 1.0,
            radius: 1.0,
        };
        let cylinder = Form::Cylinder {
            half_height: 1.0,
            radius: 0.5,
        };
        let cone = Form::Cone {
            half_height: 1.5,
            radius: 1.0,
        };
        let cuboid = Form::Box {
            half: [1.0, 2.0, 3.0],
        };
        // A polygon of 24 sides has sin(2π/24) / (2π/24) of the circle's area, 1.1 % less, and a
        // ball is cut in both directions.
        for (form, expected) in [
            (ball, 32.0 / 3.0 * PI),
            (capsule, PI * (2.0 + 4.0 / 3.0)),
            (cylinder, PI * 0.5),
            (cone, PI),
            (cuboid, 48.0),
        ] {
            let mesh = mesh_of(&form, 3, &EXTENT);
            let share = volume(&mesh) / expected;
            assert!((0.97..=1.0 + 1e-12).contains(&share), "{form:?}: {share}");
            assert!(normals_fit(&mesh), "{form:?}");
        }
    }

    #[test]
    fn plates_have_the_area_of_the_form_times_their_depth() {
        let depth = 2.0 * EXTENT.half_depth;
        let triangle = vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for (form, area) in [
            (Form::Ball { radius: 2.0 }, 4.0 * PI),
            (
                Form::Box {
                    half: [1.0, 2.0, 9.0],
                },
                8.0,
            ),
            (
                Form::Capsule {
                    half_length: 1.0,
                    radius: 1.0,
                },
                4.0 + PI,
            ),
            (
                Form::Cone {
                    half_height: 1.0,
                    radius: 1.0,
                },
                2.0,
            ),
            (
                Form::Outline {
                    points: triangle,
                    closed: true,
                },
                1.0,
            ),
        ] {
            let mesh = mesh_of(&form, 2, &EXTENT);
            let share = volume(&mesh) / (depth * area);
            assert!((0.98..=1.0 + 1e-12).contains(&share), "{form:?}: {share}");
            assert!(normals_fit(&mesh), "{form:?}");
        }
    }

    #[test]
    fn a_slab_lies_under_its_surface_and_around_the_centre() {
        for dimension in [2, 3] {
            for normal in [[0.0, 1.0, 0.0], [0.6, 0.8, 0.0]] {
                let mesh = mesh_of(&Form::HalfSpace { normal }, dimension, &EXTENT);
                let highest = mesh
                    .points
                    .iter()
                    .map(|&p| dot(p, normal))
                    .fold(f64::MIN, f64::max);
                assert!(highest.abs() < 1e-12);
                assert!(volume(&mesh) > 0.0 && normals_fit(&mesh));
            }
        }
        let floor = mesh_of(
            &Form::HalfSpace {
                normal: [0.0, 1.0, 0.0],
            },
            3,
            &EXTENT,
        );
        let x: Vec<f64> = floor.points.iter().map(|p| p[0]).collect();
        assert!(x.iter().all(|x| (x - 3.0).abs() == 10.0), "{x:?}");
    }

    #[test]
    fn corners_that_do_not_exist_are_left_out() {
        let form = Form::Mesh {
            points: vec![[0.0; 3]; 3],
            triangles: vec![[0, 1, 2], [0, 1, 3]],
        };
        assert_eq!(mesh_of(&form, 3, &EXTENT).triangles, [[0, 1, 2]]);
    }
}
