//! Surfaces that hang on several objects: cloth, ropes, soft solids.

use crate::{Form, Frame, Object, Part, Stage};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A surface whose corners are objects. The objects themselves are not drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Skin {
    /// Its name.
    pub name: String,
    /// All objects that belong to it.
    pub objects: Vec<u32>,
    /// Triangles by their objects, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Strings by their objects.
    pub segments: Vec<[u32; 2]>,
    /// Thickness of the cloth or the strings, m.
    pub thickness: f64,
    /// Whether it is a sheet that is seen from both sides.
    pub two_sided: bool,
}

const UPRIGHT: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

impl Stage {
    /// The stage and the frame with every skin as one more object, a mesh or capsules at the
    /// places of this frame, and nothing drawn for the objects that skins hang on. For what
    /// draws frames one by one and knows no skins.
    #[must_use]
    pub fn dressed<'a>(&'a self, frame: &'a Frame) -> (Cow<'a, Stage>, Cow<'a, Frame>) {
        if self.skins.is_empty() {
            return (Cow::Borrowed(self), Cow::Borrowed(frame));
        }
        let (mut stage, mut dressed) = (self.clone(), frame.clone());
        for skin in &self.skins {
            for &object in &skin.objects {
                if let Some(object) = stage.objects.get_mut(object as usize) {
                    object.parts.clear();
                }
            }
            stage.objects.push(Object {
                name: skin.name.clone(),
                fixed: false,
                parts: skin.parts(&frame.positions, self.dimension == 3),
            });
            dressed.positions.push([0.0; 3]);
            dressed.rotations.push(UPRIGHT);
            dressed.velocities.push([0.0; 3]);
            dressed.spins.push([0.0; 3]);
        }
        stage.skins.clear();
        (Cow::Owned(stage), Cow::Owned(dressed))
    }
}

impl Skin {
    /// Its parts in world axes, for objects at these places.
    fn parts(&self, positions: &[[f64; 3]], is_solid: bool) -> Vec<Part> {
        let at = |object: u32| positions.get(object as usize).copied();
        let mut parts: Vec<Part> = self
            .segments
            .iter()
            .filter_map(|&[a, b]| Some(string(at(a)?, at(b)?, 0.5 * self.thickness)))
            .collect();
        let known = |t: &&[u32; 3]| t.iter().all(|&k| at(k).is_some());
        let triangles: Vec<[u32; 3]> = self.triangles.iter().filter(known).copied().collect();
        if !triangles.is_empty() {
            parts.push(Part {
                position: [0.0; 3],
                rotation: UPRIGHT,
                form: self.mesh(&triangles, positions, is_solid),
            });
        }
        parts
    }

    /// The triangles, half a thickness outside of the objects; on both sides if it has two.
    fn mesh(&self, triangles: &[[u32; 3]], positions: &[[f64; 3]], is_solid: bool) -> Form {
        let sheet = self.sheet(triangles, positions, is_solid);
        Form::Mesh {
            points: sheet.points,
            triangles: sheet.triangles,
        }
    }

    /// The same, with the object that each point belongs to.
    pub(crate) fn sheet(
        &self,
        triangles: &[[u32; 3]],
        positions: &[[f64; 3]],
        is_solid: bool,
    ) -> Sheet {
        let mut number = vec![u32::MAX; positions.len()];
        let mut corners: Vec<u32> = Vec::new();
        let mut place = |object: u32| {
            let number = &mut number[object as usize];
            if *number == u32::MAX {
                *number = corners.len() as u32;
                corners.push(object);
            }
            *number
        };
        let mut numbered: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(&mut place)).collect();
        let mut points: Vec<[f64; 3]> = corners.iter().map(|&k| positions[k as usize]).collect();
        if is_solid {
            let normals = normals(&points, &numbered);
            let moved = |side: f64| {
                let by = 0.5 * self.thickness * side;
                let moved = points.iter().zip(&normals);
                moved.map(move |(p, n)| add(*p, *n, by)).collect::<Vec<_>>()
            };
            let (outer, inner) = (moved(1.0), moved(-1.0));
            points = outer;
            if self.two_sided {
                let count = points.len() as u32;
                let back: Vec<_> = numbered.iter().map(|&[a, b, c]| [a, c, b]).collect();
                numbered.extend(back.iter().map(|t| t.map(|k| k + count)));
                points.extend(inner);
                corners.extend_from_within(..);
            }
        }
        Sheet {
            points,
            triangles: numbered,
            objects: corners,
        }
    }
}

/// Triangles of a skin.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    /// Vertices, m.
    pub(crate) points: Vec<[f64; 3]>,
    /// Corners, counter-clockwise seen from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The object that each vertex belongs to.
    pub(crate) objects: Vec<u32>,
}

pub(crate) fn add(p: [f64; 3], n: [f64; 3], by: f64) -> [f64; 3] {
    [p[0] + n[0] * by, p[1] + n[1] * by, p[2] + n[2] * by]
}

pub(crate) fn difference(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    add(a, b, -1.0)
}

pub(crate) fn length(v: [f64; 3]) -> f64 {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Unit normals of the points: the mean of the triangles around, by area.
fn normals(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<[f64; 3]> {
    let mut sums = vec![[0.0; 3]; points.len()];
    for corners in triangles {
        let [a, b, c] = corners.map(|k| points[k as usize]);
        let twice_area = cross(difference(b, a), difference(c, a));
        for &k in corners {
            sums[k as usize] = add(sums[k as usize], twice_area, 1.0);
        }
    }
    for sum in &mut sums {
        let size = length(*sum);
        *sum = if size > 0.0 {
            sum.map(|x| x / size)
        } else {
            [0.0; 3]
        };
    }
    sums
}

/// A capsule from a to b.
fn string(a: [f64; 3], b: [f64; 3], radius: f64) -> Part {
    let along = difference(b, a);
    let size = length(along);
    let [x, y, z] = along.map(|c| if size > 0.0 { c / size } else { 0.0 });
    // Half-way from +y to the direction: (y × d, 1 + y·d), normalised; about x where opposite.
    let half = [z, 0.0, -x, 1.0 + y];
    let norm = half.iter().map(|c| c * c).sum::<f64>().sqrt();
    Part {
        position: add(a, along, 0.5),
        rotation: if norm > 1e-9 {
            half.map(|c| c / norm)
        } else {
            [1.0, 0.0, 0.0, 0.0]
        },
        form: Form::Capsule {
            half_length: 0.5 * size,
            radius,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_reaches_from_end_to_end() {
        for b in [[1.0, 2.0, -0.5], [0.0, -1.0, 0.0], [0.0, 1.0, 0.0]] {
            let part = string([0.0; 3], b, 0.1);
            let Form::Capsule { half_length, .. } = part.form else {
                panic!("{part:?}");
            };
            // The capsule's upper end, q (0, h, 0) q⁻¹ + centre.
            let [x, y, z, w] = part.rotation;
            let up = [
                2.0 * (x * y - w * z),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z + w * x),
            ];
            let end = add(part.position, up, half_length);
            assert!(length(difference(end, b)) < 1e-12, "{end:?} {b:?}");
        }
    }

    #[test]
    fn a_sheet_has_two_sides_and_hides_its_nodes() {
        let node = Object {
            name: "node".into(),
            fixed: false,
            parts: vec![string([0.0; 3], [0.0, 1.0, 0.0], 0.1)],
        };
        let stage = Stage {
            dimension: 3,
            objects: vec![node; 3],
            skins: vec![Skin {
                name: "cloth".into(),
                objects: vec![0, 1, 2],
                triangles: vec![[0, 1, 2]],
                thickness: 0.2,
                two_sided: true,
                ..Skin::default()
            }],
            ..Stage::default()
        };
        let frame = Frame {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            ..Frame::default()
        };
        let (stage, frame) = stage.dressed(&frame);
        assert_eq!((stage.objects.len(), frame.positions.len()), (4, 4));
        assert!(
            stage.objects[..3]
                .iter()
                .all(|object| object.parts.is_empty())
        );
        let Form::Mesh { points, triangles } = &stage.objects[3].parts[0].form else {
            panic!("no mesh");
        };
        assert_eq!(triangles, &[[0, 1, 2], [3, 5, 4]]);
        assert!((points[0][2] - 0.1).abs() < 1e-12 && (points[3][2] + 0.1).abs() < 1e-12);
    }
}
