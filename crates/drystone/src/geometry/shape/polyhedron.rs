//! Convex polyhedra as corners, faces and edges: what clipping and the separating axis test read.

use glamx::DVec3;

/// Faces whose normals have at most this cosine between them are the two sides of a sheet.
const OPPOSED: f64 = -0.999_999;

/// A convex polyhedron: where its corners, edges and faces are, and how they hang together.
#[derive(Clone, Debug)]
pub(crate) struct Polyhedron {
    pub(crate) points: Vec<DVec3>,
    /// Unit normals of the faces, outward.
    pub(crate) normals: Vec<DVec3>,
    /// Height of each face over the origin along its normal, m.
    pub(crate) heights: Vec<f64>,
    pub(crate) edges: Vec<Edge>,
    /// Corners of each face in turn, counter-clockwise seen from outside, and where each begins.
    corners: Vec<u32>,
    starts: Vec<u32>,
    /// The mean of the corners, which is inside.
    pub(crate) center: DVec3,
    /// Radius of the ball around the centre that is inside of all faces, m; 0 for a sheet.
    pub(crate) inner: f64,
    /// The greatest distance of a corner from the first one, m.
    pub(crate) size: f64,
}

/// An edge between two faces.
///
/// The directions along which a polyhedron reaches furthest in an edge are the arc between the
/// normals of its two faces (the Gauss map). All of them are perpendicular to the edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) ends: [u32; 2],
    pub(crate) faces: [u32; 2],
    pub(crate) start: DVec3,
    /// From the start to the end, m.
    pub(crate) along: DVec3,
    /// A unit vector in the middle of the arc.
    pub(crate) outward: DVec3,
    /// Cosine of the angle between the faces' normals: −1 for the edge of a sheet.
    pub(crate) cosine: f64,
}

impl Polyhedron {
    /// From corners, and faces as normals with loops of corners; edges are where two loops meet.
    /// Faces without area, which hulls of slivers may have, have no normal and are left out.
    pub(crate) fn new(points: Vec<DVec3>, mut faces: Vec<(DVec3, Vec<u32>)>) -> Self {
        faces.retain(|(normal, _)| normal.is_normalized());
        let mut this = Self {
            points,
            normals: faces.iter().map(|(normal, _)| *normal).collect(),
            heights: Vec::new(),
            edges: Vec::new(),
            corners: faces
                .iter()
                .flat_map(|(_, loop_of)| loop_of)
                .copied()
                .collect(),
            starts: Vec::with_capacity(faces.len() + 1),
            center: DVec3::ZERO,
            inner: 0.0,
            size: 0.0,
        };
        let mut end = 0;
        this.starts.push(end);
        for (_, loop_of) in &faces {
            end += loop_of.len() as u32;
            this.starts.push(end);
        }
        this.measure();
        this.edges = this.find_edges();
        this
    }

    /// Finds what follows from corners and normals.
    fn measure(&mut self) {
        let sum: DVec3 = self.points.iter().sum();
        self.center = sum / self.points.len().max(1) as f64;
        let heights =
            (0..self.normals.len()).map(|k| self.normals[k].dot(self.point(self.face(k)[0])));
        self.heights = heights.collect();
        let inside = (self.normals.iter().zip(&self.heights))
            .fold(f64::INFINITY, |least: f64, (n, h)| {
                least.min(h - n.dot(self.center))
            });
        self.inner = if inside.is_finite() {
            inside.max(0.0)
        } else {
            0.0
        };
        let first = self.points.first().copied().unwrap_or_default();
        let far = |size: f64, p: &DVec3| size.max((*p - first).length());
        self.size = self.points.iter().fold(0.0, far);
    }

    fn find_edges(&self) -> Vec<Edge> {
        let mut halves: Vec<([u32; 2], u32)> = Vec::new();
        for face in 0..self.normals.len() {
            let corners = self.face(face);
            for (k, &from) in corners.iter().enumerate() {
                let to = corners[(k + 1) % corners.len()];
                halves.push(([from.min(to), from.max(to)], face as u32));
            }
        }
        halves.sort_unstable();
        halves
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|sides| match sides {
                [(ends, f), (_, g)] => Some(self.edge(*ends, [*f, *g])),
                _ => None,
            })
            .collect()
    }

    fn edge(&self, ends: [u32; 2], faces: [u32; 2]) -> Edge {
        let start = self.point(ends[0]);
        let along = self.point(ends[1]) - start;
        let [one, other] = faces.map(|face| self.normals[face as usize]);
        // Where the normals are opposed, the arc's middle is in the plane of the sheet.
        let middle = (one + other)
            .try_normalize()
            .filter(|_| one.dot(other) > OPPOSED);
        let outward = middle.unwrap_or_else(|| {
            let across = along.cross(one).normalize_or_zero();
            if across.dot(start - self.center) < 0.0 {
                -across
            } else {
                across
            }
        });
        Edge {
            ends,
            faces,
            start,
            along,
            outward,
            cosine: one.dot(other),
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
        let mut this = Self::new(
            points.to_vec(),
            vec![(DVec3::Y, vec![0, 1, 2]), (DVec3::NEG_Y, vec![0, 2, 1])],
        );
        this.set_triangle(points).then_some(this)
    }

    /// Makes a triangle another one, in the same memory. Says no, and changes nothing, where it has
    /// no area.
    pub(crate) fn set_triangle(&mut self, points: [DVec3; 3]) -> bool {
        let [a, b, c] = points;
        let Some(normal) = (b - a).cross(c - a).try_normalize() else {
            return false;
        };
        self.points.copy_from_slice(&points);
        self.normals.copy_from_slice(&[normal, -normal]);
        self.measure();
        for k in 0..self.edges.len() {
            let Edge { ends, faces, .. } = self.edges[k];
            self.edges[k] = self.edge(ends, faces);
        }
        true
    }

    /// Whether it is flat, without an inside.
    #[inline]
    pub(crate) fn is_sheet(&self) -> bool {
        self.normals.len() == 2
    }

    /// Corners of face `k`.
    #[inline]
    pub(crate) fn face(&self, k: usize) -> &[u32] {
        &self.corners[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// The corners of each face.
    pub(crate) fn faces(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.normals.len()).map(|k| self.face(k))
    }

    /// Corner `k`.
    #[inline]
    pub(crate) fn point(&self, k: u32) -> DVec3 {
        self.points[k as usize]
    }

    /// The least of `direction · p` over all corners.
    #[inline]
    pub(crate) fn lowest(&self, direction: DVec3) -> f64 {
        let mut low = f64::INFINITY;
        for p in &self.points {
            let along = direction.dot(*p);
            if along < low {
                low = along;
            }
        }
        low
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

impl Edge {
    /// Whether the faces beside it are the two sides of a sheet.
    #[inline]
    pub(crate) fn is_of_sheet(&self) -> bool {
        self.cosine <= OPPOSED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_twelve_edges_and_outward_faces() {
        let b = Polyhedron::cuboid(DVec3::new(1.0, 2.0, 3.0));
        assert_eq!((b.points.len(), b.normals.len(), b.edges.len()), (8, 6, 12));
        for (k, &normal) in b.normals.iter().enumerate() {
            let p: Vec<DVec3> = b.face(k).iter().map(|&k| b.point(k)).collect();
            let turn = (p[1] - p[0]).cross(p[2] - p[1]).normalize();
            assert!((turn - normal).length() < 1e-12);
            assert!(p.iter().all(|q| q.dot(normal) > 0.0));
        }
    }
}
