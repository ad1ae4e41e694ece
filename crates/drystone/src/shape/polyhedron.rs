//! Convex polyhedra as corners, faces and edges: what clipping and the separating axis test read.

use glamx::{DPose3, DVec3};

/// A convex polyhedron in its own axes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polyhedron {
    pub(crate) points: Vec<DVec3>,
    pub(crate) faces: Vec<Face>,
    pub(crate) edges: Vec<Edge>,
}

/// A flat face: corners counter-clockwise seen from outside.
#[derive(Clone, Debug)]
pub(crate) struct Face {
    pub(crate) normal: DVec3,
    pub(crate) corners: Vec<u32>,
}

/// An edge between two faces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) ends: [u32; 2],
    /// Normals of the faces on its two sides.
    pub(crate) normals: [DVec3; 2],
}

impl Edge {
    /// Whether its two faces are the sides of one sheet. Such an edge's arc of normals spans
    /// half the sphere, and any direction may lie in it.
    #[inline]
    pub(crate) fn is_flat(&self) -> bool {
        self.normals[0].dot(self.normals[1]) < -0.999_999
    }
}

impl Polyhedron {
    /// From corners and face loops; edges are where two loops meet.
    pub(crate) fn new(points: Vec<DVec3>, faces: Vec<Face>) -> Self {
        let mut halves: Vec<([u32; 2], DVec3)> = Vec::new();
        for face in &faces {
            for (k, &from) in face.corners.iter().enumerate() {
                let to = face.corners[(k + 1) % face.corners.len()];
                halves.push(([from.min(to), from.max(to)], face.normal));
            }
        }
        halves.sort_by_key(|half| half.0);
        let edges = halves
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|side| match side {
                [(ends, n0), (_, n1)] => Some(Edge {
                    ends: *ends,
                    normals: [*n0, *n1],
                }),
                _ => None,
            })
            .collect();
        Self {
            points,
            faces,
            edges,
        }
    }

    /// A box from half of its edges.
    ///
    /// ```text
    ///      6 ─────── 7      corner k is at (±x, ±y, ±z):
    ///     /|        /|      bit 0 of k is the sign of x, bit 1 of y, bit 2 of z
    ///    4 ─────── 5 |
    ///    | 2 ──────|─3
    ///    |/        |/
    ///    0 ─────── 1
    /// ```
    pub(crate) fn cuboid(half: DVec3) -> Self {
        let sign = |k: u32, bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let points = (0..8)
            .map(|k| DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)) * half)
            .collect();
        let face = |normal, corners: [u32; 4]| Face {
            normal,
            corners: corners.to_vec(),
        };
        let faces = vec![
            face(DVec3::NEG_X, [0, 4, 6, 2]),
            face(DVec3::X, [1, 3, 7, 5]),
            face(DVec3::NEG_Y, [0, 1, 5, 4]),
            face(DVec3::Y, [2, 6, 7, 3]),
            face(DVec3::NEG_Z, [0, 2, 3, 1]),
            face(DVec3::Z, [4, 5, 7, 6]),
        ];
        Self::new(points, faces)
    }

    /// A triangle as a polyhedron without volume: one face on either side.
    pub(crate) fn triangle(points: [DVec3; 3]) -> Option<Self> {
        let normal = (points[1] - points[0])
            .cross(points[2] - points[0])
            .try_normalize()?;
        let faces = vec![
            Face {
                normal,
                corners: vec![0, 1, 2],
            },
            Face {
                normal: -normal,
                corners: vec![0, 2, 1],
            },
        ];
        Some(Self::new(points.to_vec(), faces))
    }

    /// The same polyhedron seen from other axes.
    pub(crate) fn transformed(&self, pose: &DPose3) -> Self {
        Self {
            points: self
                .points
                .iter()
                .map(|&p| pose.transform_point(p))
                .collect(),
            faces: self
                .faces
                .iter()
                .map(|face| Face {
                    normal: pose.rotation * face.normal,
                    corners: face.corners.clone(),
                })
                .collect(),
            edges: self
                .edges
                .iter()
                .map(|edge| Edge {
                    ends: edge.ends,
                    normals: edge.normals.map(|n| pose.rotation * n),
                })
                .collect(),
        }
    }

    /// Corner `k`.
    #[inline]
    pub(crate) fn point(&self, k: u32) -> DVec3 {
        self.points[k as usize]
    }

    /// The least of `direction · p` over all corners.
    #[inline]
    pub(crate) fn lowest(&self, direction: DVec3) -> f64 {
        self.points
            .iter()
            .fold(f64::INFINITY, |low, p| low.min(direction.dot(*p)))
    }

    /// The face whose normal is most along `direction`; the first of equals.
    pub(crate) fn face_towards(&self, direction: DVec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, face) in self.faces.iter().enumerate() {
            let along = face.normal.dot(direction);
            if along > best.1 {
                best = (k, along);
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_twelve_edges_and_outward_faces() {
        let b = Polyhedron::cuboid(DVec3::new(1.0, 2.0, 3.0));
        assert_eq!((b.points.len(), b.faces.len(), b.edges.len()), (8, 6, 12));
        for face in &b.faces {
            let p: Vec<DVec3> = face.corners.iter().map(|&k| b.point(k)).collect();
            let turn = (p[1] - p[0]).cross(p[2] - p[1]).normalize();
            assert!((turn - face.normal).length() < 1e-12);
            assert!(p.iter().all(|q| q.dot(face.normal) > 0.0));
        }
    }
}
