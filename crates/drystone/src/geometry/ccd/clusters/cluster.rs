//! Clusters: vertices with the edges and faces whose lowest vertex they are.

use super::swept_vertices::Point;
use crate::geometry::ccd::broad_phase::Mesh;

/// Edges, and faces, of a cluster at most.
pub(super) const MOST: usize = 4;
/// Vertices of a cluster between which planes are looked for.
pub(super) const SPOTS: usize = 8;
/// No vertex.
pub(super) const NONE: u32 = u32::MAX;

/// A vertex with some of the edges and faces whose lowest vertex it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    /// The vertex, or [`NONE`] where another cluster has it.
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

/// The vertices of a cluster, each once, padded by repetition of the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spots(pub(super) [u32; SPOTS]);

impl Spots {
    /// Of a cluster with too many vertices.
    const NOWHERE: Self = Self([NONE; SPOTS]);

    fn of(cluster: &Cluster) -> Self {
        let mut all: Vec<u32> = cluster.vertices().collect();
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

impl Cluster {
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
pub(super) fn bind(mesh: &Mesh<'_>, vertices: usize) -> (Vec<Cluster>, Vec<Spots>) {
    let own = |v: usize| Cluster {
        vertex: v as u32,
        ..Cluster::EMPTY
    };
    let mut clusters: Vec<Cluster> = (0..vertices).map(own).collect();
    // The cluster of each vertex that still has room.
    let mut open: Vec<usize> = (0..vertices).collect();
    for (k, &ends) in mesh.edges.iter().enumerate() {
        let lowest = ends[0].min(ends[1]) as usize;
        let cluster = with_room(&mut clusters, &mut open[lowest], |b| b.edge_count);
        let at = cluster.edge_count as usize;
        (cluster.edges[at], cluster.ends[at]) = (k as u32, ends);
        cluster.edge_count += 1;
    }
    let mut open: Vec<usize> = (0..vertices).collect();
    let mut is_in_face = vec![false; vertices];
    for (k, &corners) in mesh.faces.iter().enumerate() {
        let lowest = corners[0].min(corners[1]).min(corners[2]) as usize;
        let cluster = with_room(&mut clusters, &mut open[lowest], |b| b.face_count);
        let at = cluster.face_count as usize;
        (cluster.faces[at], cluster.corners[at]) = (k as u32, corners);
        cluster.face_count += 1;
        for v in corners {
            is_in_face[v as usize] = true;
        }
    }
    for cluster in &mut clusters {
        cluster.note_kind(&is_in_face);
    }
    let spots = clusters.iter().map(Spots::of).collect();
    (clusters, spots)
}

/// A cluster with room for one more, a new one if this one is full.
fn with_room<'b>(
    clusters: &'b mut Vec<Cluster>,
    open: &mut usize,
    count: impl Fn(&Cluster) -> u32,
) -> &'b mut Cluster {
    if count(&clusters[*open]) as usize == MOST {
        *open = clusters.len();
        clusters.push(Cluster::EMPTY);
    }
    &mut clusters[*open]
}
