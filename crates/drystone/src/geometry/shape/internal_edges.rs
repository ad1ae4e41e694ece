//! Where the pieces of a surface join, so that a joint is no obstacle.
//!
//! A mesh is touched triangle by triangle, a polyline segment by segment. A body that slides over
//! a flat floor of many triangles also touches the borders of those it has not reached yet, and
//! would be kicked by edges that are no edges of the floor. What a piece says must therefore be
//! asked of the whole: a unit vector n is a normal of the surface at a point x only if nothing of
//! the surface near x is above the plane through x across n,
//!
//! $$ n\cdot(q - x) \le 0 \quad\text{for all corners } q \text{ joined to } x . $$
//!
//! On a flat floor that leaves the face's normal, over a ridge the directions between the two
//! faces' normals, in a groove none but the faces' own. Which feature of a piece n belongs to
//! follows from n: the corners of the piece that are highest along it. Contacts with other
//! normals are not the surface's; where they overlap, the face's own normal takes their place
//! (see `convex_on_surface`).
//!
//! Pieces that are joined flat are one **facet**. Its contacts are those of one large piece: what
//! is cut off at a joint inside of it is left out, and a body's corner keeps its identifier while
//! it slides from piece to piece.
//!
//! Corners at exactly the same place are one corner, so triangles may come each with their own.

use crate::geometry::Space;
use crate::math::algebra::Linear;

/// Cosines below this are rounding.
const LEVEL: f64 = 1e-9;

/// Which side of a surface is solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front {
    /// Either side holds.
    Both,
    /// Pieces hold what is in front of them, and what is behind them passes.
    One,
    /// All that touches is pushed to the front: the surface of solid ground.
    Ground,
}

/// An edge of a piece: of a triangle a side, of a segment an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Border {
    /// Its corners, ascending; an end's corner twice.
    corners: [u32; 2],
    /// The piece's corner across.
    other: u32,
    piece: u32,
    /// Edge of the piece: from this of its corners to the next.
    edge: u8,
}

/// How the pieces of a surface hang together.
#[derive(Debug)]
pub(crate) struct InternalEdges {
    /// Ends of each corner's list of neighbours.
    ends: Vec<u32>,
    /// Corners joined to a corner by an edge.
    neighbours: Vec<u32>,
    /// Corner of each vertex: the first vertex at the same place.
    corner: Vec<u32>,
    /// All edges of all pieces, sorted.
    borders: Vec<Border>,
    /// Bit k of a piece: whether its edge k is a joint inside of a facet.
    flat: Vec<u8>,
    /// The least piece of the facet that a piece belongs to.
    facet: Vec<u32>,
    pub(crate) front: Front,
}

impl InternalEdges {
    /// The seams of pieces, each with the vertices of a segment or a triangle.
    pub(crate) fn new<S: Space>(
        points: &[S::Vector],
        pieces: impl Iterator<Item = [u32; 3]>,
        front: Front,
    ) -> Self {
        let corner = weld::<S>(points);
        let mut borders = Vec::new();
        let mut count = 0;
        for (piece, vertices) in (0..).zip(pieces) {
            let at = vertices.map(|k| corner[k as usize]);
            for edge in 0..S::DIM {
                let (from, to, other) = if S::DIM == 3 {
                    (at[edge], at[(edge + 1) % 3], at[(edge + 2) % 3])
                } else {
                    (at[edge], at[edge], at[1 - edge])
                };
                borders.push(Border {
                    corners: [from.min(to), from.max(to)],
                    other,
                    piece,
                    edge: edge as u8,
                });
            }
            count += 1;
        }
        borders.sort_unstable();
        let (ends, neighbours) = rings(&borders, points.len());
        let mut seams = Self {
            ends,
            neighbours,
            corner,
            borders,
            flat: vec![0; count],
            facet: (0..count as u32).collect(),
            front,
        };
        seams.join_facets::<S>(points);
        seams
    }

    /// Finds the joints that are flat, and the facets.
    fn join_facets<S: Space>(&mut self, points: &[S::Vector]) {
        for pair in self.borders.chunk_by(|a, b| a.corners == b.corners) {
            let &[one, other] = pair else {
                continue;
            };
            let from = points[one.corners[0] as usize];
            let edge = points[one.corners[1] as usize] - from;
            let square = edge.dot(edge);
            // Into each piece, perpendicular to the edge.
            let [t, u] = [one, other].map(|border| {
                let inward = points[border.other as usize] - from;
                let along = if square > 0.0 {
                    edge.dot(inward) / square
                } else {
                    0.0
                };
                let inward = inward - edge * along;
                inward * (1.0 / inward.length())
            });
            if (t + u).length() > LEVEL {
                continue;
            }
            for border in [one, other] {
                self.flat[border.piece as usize] |= 1 << border.edge;
            }
            let [a, b] = [one.piece, other.piece].map(|piece| self.root(piece));
            self.facet[a.max(b) as usize] = a.min(b);
        }
        for piece in 0..self.facet.len() as u32 {
            self.facet[piece as usize] = self.root(piece);
        }
    }

    fn root(&self, mut piece: u32) -> u32 {
        while self.facet[piece as usize] != piece {
            piece = self.facet[piece as usize];
        }
        piece
    }

    /// The facet of a piece.
    pub(crate) fn facet(&self, piece: u32) -> u32 {
        self.facet[piece as usize]
    }

    /// Whether edge `edge` of a piece is inside of its facet.
    pub(crate) fn is_flat(&self, piece: u32, edge: usize) -> bool {
        self.flat[piece as usize] >> edge & 1 == 1
    }

    /// Whether `normal` is a normal of the surface where it is one of this piece (vertices).
    pub(crate) fn admits<S: Space>(
        &self,
        points: &[S::Vector],
        piece: &[u32],
        normal: S::Vector,
    ) -> bool {
        let heights = |k: u32| normal.dot(points[k as usize]);
        let top = piece.iter().map(|&k| heights(k)).fold(f64::MIN, f64::max);
        let size = piece.iter().fold(0.0, |size: f64, &k| {
            size.max((points[k as usize] - points[piece[0] as usize]).length())
        });
        let mut highest = [0; 3];
        let mut count = 0;
        for &k in piece {
            if heights(k) >= top - LEVEL * size {
                highest[count] = self.corner[k as usize];
                count += 1;
            }
        }
        let is_below = |from: u32, q: u32| {
            let along = points[q as usize] - points[from as usize];
            normal.dot(along) <= LEVEL * along.length()
        };
        if count == piece.len() {
            return true;
        }
        let from = highest[0];
        if count == 1 {
            return self.around(from).iter().all(|&q| is_below(from, q));
        }
        let edge = [from.min(highest[1]), from.max(highest[1])];
        let start = self.borders.partition_point(|b| b.corners < edge);
        self.borders[start..]
            .iter()
            .take_while(|b| b.corners == edge)
            .all(|b| is_below(from, b.other))
    }

    fn around(&self, corner: u32) -> &[u32] {
        let corner = corner as usize;
        let start = if corner == 0 {
            0
        } else {
            self.ends[corner - 1]
        };
        &self.neighbours[start as usize..self.ends[corner] as usize]
    }
}

/// The corners joined to each corner: ends of the lists, and the lists.
fn rings(borders: &[Border], corners: usize) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<[u32; 2]> = borders
        .iter()
        .flat_map(|border| {
            let [from, to] = border.corners;
            let to = if from == to { border.other } else { to };
            [[from, to], [to, from]]
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut ends = vec![0; corners];
    for pair in &pairs {
        ends[pair[0] as usize] += 1;
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    (ends, pairs.into_iter().map(|pair| pair[1]).collect())
}

/// For each point the first of those at the same place.
fn weld<S: Space>(points: &[S::Vector]) -> Vec<u32> {
    use crate::math::algebra::Components as _;
    // Adding nothing makes -0 to 0.
    let key = |k: u32| points[k as usize].to_array3().map(|x| (x + 0.0).to_bits());
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by_key(|&k| (key(k), k));
    let mut first = vec![0; points.len()];
    for same in order.chunk_by(|&a, &b| key(a) == key(b)) {
        for &k in same {
            first[k as usize] = same[0];
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D3;
    use glamx::DVec3;

    /// Two triangles that share the edge along z, the second one rising or falling by `slope`.
    /// Every triangle has its own vertices.
    fn roof(slope: f64) -> (Vec<DVec3>, InternalEdges) {
        let points = vec![
            DVec3::new(0.0, 0.0, 0.0),
            DVec3::new(0.0, 0.0, 1.0),
            DVec3::new(-1.0, 0.0, 0.5),
            DVec3::new(0.0, 0.0, 1.0),
            DVec3::new(-0.0, 0.0, 0.0),
            DVec3::new(1.0, slope, 0.5),
        ];
        let pieces = [[0, 1, 2], [3, 4, 5]];
        let seams = InternalEdges::new::<D3>(&points, pieces.into_iter(), Front::Both);
        (points, seams)
    }

    #[test]
    fn a_flat_joint_has_the_normal_of_the_faces_only() {
        let (points, seams) = roof(0.0);
        let admits = |n: DVec3| seams.admits::<D3>(&points, &[0, 1, 2], n.normalize());
        assert!(admits(DVec3::Y) && admits(DVec3::NEG_Y));
        assert!(!admits(DVec3::new(0.1, 1.0, 0.0)) && !admits(DVec3::X));
        // The outer border is a border.
        assert!(admits(DVec3::new(-0.5, 0.2, 0.0)));
    }

    #[test]
    fn flat_joints_make_facets() {
        let (_, flat) = roof(0.0);
        assert_eq!((flat.facet(0), flat.facet(1)), (0, 0));
        assert!(flat.is_flat(0, 0) && flat.is_flat(1, 0));
        assert!(!flat.is_flat(0, 1) && !flat.is_flat(1, 2));
        let (_, ridge) = roof(-1e-3);
        assert_eq!((ridge.facet(0), ridge.facet(1)), (0, 1));
    }

    #[test]
    fn a_ridge_has_the_normals_between_its_faces_and_a_groove_none() {
        let (points, seams) = roof(-1.0);
        let admits = |n: DVec3| seams.admits::<D3>(&points, &[0, 1, 2], n.normalize());
        assert!(admits(DVec3::new(0.5, 1.0, 0.0)) && admits(DVec3::new(0.99, 1.0, 0.0)));
        assert!(!admits(DVec3::new(1.01, 1.0, 0.0)));
        let (points, seams) = roof(1.0);
        assert!(!seams.admits::<D3>(&points, &[0, 1, 2], DVec3::new(0.1, 1.0, 0.0).normalize()));
        assert!(seams.admits::<D3>(&points, &[0, 1, 2], DVec3::Y));
    }
}
