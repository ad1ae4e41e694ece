//! Bundles: vertices with the edges and faces whose lowest vertex they are.

use super::swept_vertices::Point;
use crate::geometry::ccd::broad_phase::Mesh;

/// Edges, and faces, of a bundle at most.
pub(super) const MOST: usize = 4;
/// Vertices of a bundle between which planes are looked for.
pub(super) const SPOTS: usize = 8;
/// No vertex.
pub(super) const NONE: u32 = u32::MAX;

/// A vertex with some of the edges and faces whose lowest vertex it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bundle {
    /// The vertex, or [`NONE`] where another bundle has it.
    pub(super) vertex: u32,
    edge_count: u32,
    face_count: u32,
    pub(super) edges: [u32; MOST],
    pub(super) faces: [u32; MOST],
    ends: [[u32; 2]; MOST],
    corners: [[u32; 3]; MOST],
    /// Whether a face has any of the vertices, and whether no edge has a length.
    has_faces: bool,
    is_point: bool,
}

/// The vertices of a bundle, each once, padded by repetition of the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spots(pub(super) [u32; SPOTS]);

impl Spots {
    /// Of a bundle with too many vertices.
    const NOWHERE: Self = Self([NONE; SPOTS]);

    fn of(bundle: &Bundle) -> Self {
        let mut all: Vec<u32> = bundle.vertices().collect();
        all.sort_unstable();
        all.dedup();
        match all.last() {
            Some(&last) if all.len() <= SPOTS => {
                Self(std::array::from_fn(|k| all.get(k).copied().unwrap_or(last)))
            }
            _ => Self::NOWHERE,
        }
    }

    /// Whether the vertices are known.
    #[inline(always)]
    pub(super) fn are_known(&self) -> bool {
        self.0[0] != NONE
    }

    /// All vertices, padding left out as far as half the places are.
    #[inline(always)]
    pub(super) fn each(&self) -> &[u32] {
        &self.0[..if self.are_many() { SPOTS } else { SPOTS / 2 }]
    }

    /// Whether there are more than the first half of places has room for.
    #[inline(always)]
    pub(super) fn are_many(&self) -> bool {
        self.0[SPOTS / 2] != self.0[SPOTS / 2 - 1]
    }
}

impl Bundle {
    const EMPTY: Self = Self {
        vertex: NONE,
        edge_count: 0,
        face_count: 0,
        edges: [0; MOST],
        faces: [0; MOST],
        ends: [[0; 2]; MOST],
        corners: [[0; 3]; MOST],
        has_faces: false,
        is_point: false,
    };

    pub(super) fn ends(&self) -> &[[u32; 2]] {
        &self.ends[..self.edge_count as usize]
    }

    pub(super) fn corners(&self) -> &[[u32; 3]] {
        &self.corners[..self.face_count as usize]
    }

    /// All vertices, some of them several times.
    pub(super) fn vertices(&self) -> impl Iterator<Item = u32> + Clone {
        let own = (self.vertex != NONE).then_some(self.vertex);
        let ends = self.ends().iter().flatten();
        own.into_iter()
            .chain(ends.chain(self.corners().iter().flatten()).copied())
    }

    /// The direction across all its faces at the start, 0 where it has none.
    pub(super) fn normal(&self, point: impl Fn(u32) -> Point) -> [f32; 3] {
        let mut sum = [0.0; 3];
        for corners in self.corners() {
            let [a, b, c] = corners.map(|v| point(v).at(0).array());
            let less = |p: [f32; 4], q: [f32; 4]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
            let ([p, q, r], [s, t, u]) = (less(b, a), less(c, a));
            let cross = [q * u - r * t, r * s - p * u, p * t - q * s];
            // Faces may be turned either way.
            let along = sum[0] * cross[0] + sum[1] * cross[1] + sum[2] * cross[2];
            let sign = if along < 0.0 { -1.0 } else { 1.0 };
            sum = [0, 1, 2].map(|axis| sum[axis] + sign * cross[axis]);
        }
        sum
    }

    /// Whether edges of the two have nothing to look for: an edge without length, a point, meets
    /// what has faces by its vertex.
    pub(super) fn meets_as_vertex(&self, other: &Self) -> bool {
        self.has_faces && other.is_point || other.has_faces && self.is_point
    }

    fn note_kind(&mut self, is_in_face: &[bool]) {
        let has_faces = self.vertices().any(|v| is_in_face[v as usize]);
        self.has_faces = has_faces;
        self.is_point = self.ends().iter().all(|[a, b]| a == b);
    }
}

/// Ties edges and faces to their lowest vertices.
pub(super) fn bind(mesh: &Mesh<'_>, vertices: usize) -> (Vec<Bundle>, Vec<Spots>) {
    let own = |v: usize| Bundle {
        vertex: v as u32,
        ..Bundle::EMPTY
    };
    let mut bundles: Vec<Bundle> = (0..vertices).map(own).collect();
    // The bundle of each vertex that still has room.
    let mut open: Vec<usize> = (0..vertices).collect();
    for (k, &ends) in mesh.edges.iter().enumerate() {
        let lowest = ends[0].min(ends[1]) as usize;
        let bundle = with_room(&mut bundles, &mut open[lowest], |b| b.edge_count);
        let at = bundle.edge_count as usize;
        (bundle.edges[at], bundle.ends[at]) = (k as u32, ends);
        bundle.edge_count += 1;
    }
    let mut open: Vec<usize> = (0..vertices).collect();
    let mut is_in_face = vec![false; vertices];
    for (k, &corners) in mesh.faces.iter().enumerate() {
        let lowest = corners[0].min(corners[1]).min(corners[2]) as usize;
        let bundle = with_room(&mut bundles, &mut open[lowest], |b| b.face_count);
        let at = bundle.face_count as usize;
        (bundle.faces[at], bundle.corners[at]) = (k as u32, corners);
        bundle.face_count += 1;
        for v in corners {
            is_in_face[v as usize] = true;
        }
    }
    for bundle in &mut bundles {
        bundle.note_kind(&is_in_face);
    }
    let spots = bundles.iter().map(Spots::of).collect();
    (bundles, spots)
}

/// A bundle with room for one more, a new one if this one is full.
fn with_room<'b>(
    bundles: &'b mut Vec<Bundle>,
    open: &mut usize,
    count: impl Fn(&Bundle) -> u32,
) -> &'b mut Bundle {
    if count(&bundles[*open]) as usize == MOST {
        *open = bundles.len();
        bundles.push(Bundle::EMPTY);
    }
    &mut bundles[*open]
}
