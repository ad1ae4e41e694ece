//! Convex polyhedra as corners, faces and edges: what clipping and the separating axis test read.

use std::sync::Arc;

use glamx::{DMat3, DPose3, DVec3};

/// A convex polyhedron: where its corners and faces are, and how they hang together.
#[derive(Clone, Debug)]
pub(crate) struct Polyhedron {
    pub(crate) points: Vec<DVec3>,
    /// Unit normals of the faces, outward.
    pub(crate) normals: Vec<DVec3>,
    /// SharedSlice by all poses of the same solid.
    pub(crate) topology: Arc<Topology>,
}

/// Which corners make faces and edges.
#[derive(Debug)]
pub(crate) struct Topology {
    /// Corners of each face, counter-clockwise seen from outside.
    pub(crate) faces: Vec<Vec<u32>>,
    pub(crate) edges: Vec<Edge>,
}

/// An edge between two faces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) ends: [u32; 2],
    pub(crate) faces: [u32; 2],
}

impl Polyhedron {
    /// From corners, and faces as normals with loops of corners; edges are where two loops meet.
    /// Faces without area, which hulls of slivers may have, have no normal and are left out.
    pub(crate) fn new(points: Vec<DVec3>, mut faces: Vec<(DVec3, Vec<u32>)>) -> Self {
        faces.retain(|(normal, _)| normal.is_normalized());
        let mut halves: Vec<([u32; 2], u32)> = Vec::new();
        for (face, (_, corners)) in faces.iter().enumerate() {
            for (k, &from) in corners.iter().enumerate() {
                let to = corners[(k + 1) % corners.len()];
                halves.push(([from.min(to), from.max(to)], face as u32));
            }
        }
        halves.sort_unstable();
        let edges = halves
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|sides| match sides {
                [(ends, f), (_, g)] => Some(Edge {
                    ends: *ends,
                    faces: [*f, *g],
                }),
                _ => None,
            })
            .collect();
        let (normals, faces) = faces.into_iter().unzip();
        Self {
            points,
            normals,
            topology: Arc::new(Topology { faces, edges }),
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
        let faces = vec![
            (DVec3::NEG_X, vec![0, 4, 6, 2]),
            (DVec3::X, vec![1, 3, 7, 5]),
            (DVec3::NEG_Y, vec![0, 1, 5, 4]),
            (DVec3::Y, vec![2, 6, 7, 3]),
            (DVec3::NEG_Z, vec![0, 2, 3, 1]),
            (DVec3::Z, vec![4, 5, 7, 6]),
        ];
        Self::new(points, faces)
    }

    /// A triangle as a polyhedron without volume: one face on either side.
    pub(crate) fn triangle(points: [DVec3; 3]) -> Option<Self> {
        let normal = (points[1] - points[0])
            .cross(points[2] - points[0])
            .try_normalize()?;
        let faces = vec![(normal, vec![0, 1, 2]), (-normal, vec![0, 2, 1])];
        Some(Self::new(points.to_vec(), faces))
    }

    /// Whether it is flat, without an inside.
    #[inline]
    pub(crate) fn is_sheet(&self) -> bool {
        self.normals.len() == 2
    }

    /// The same polyhedron seen from other axes.
    pub(crate) fn transformed(&self, pose: &DPose3) -> Self {
        let turn = DMat3::from_quat(pose.rotation);
        Self {
            points: self
                .points
                .iter()
                .map(|&p| turn * p + pose.translation)
                .collect(),
            normals: self.normals.iter().map(|&n| turn * n).collect(),
            topology: Arc::clone(&self.topology),
        }
    }

    /// Corners of face `k`.
    #[inline]
    pub(crate) fn face(&self, k: usize) -> &[u32] {
        &self.topology.faces[k]
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
        for (k, normal) in self.normals.iter().enumerate() {
            let along = normal.dot(direction);
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
        assert_eq!(
            (b.points.len(), b.normals.len(), b.topology.edges.len()),
            (8, 6, 12)
        );
        for (k, &normal) in b.normals.iter().enumerate() {
            let p: Vec<DVec3> = b.face(k).iter().map(|&k| b.point(k)).collect();
            let turn = (p[1] - p[0]).cross(p[2] - p[1]).normalize();
            assert!((turn - normal).length() < 1e-12);
            assert!(p.iter().all(|q| q.dot(normal) > 0.0));
        }
    }
}
