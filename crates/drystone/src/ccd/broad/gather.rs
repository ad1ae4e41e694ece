//! Candidates on several threads, from trees that are kept: all of them, or those of a few vertices.

use super::{BoxTree, BroadError, BroadPhase, Fit, Mesh, Met, nowhere};
use crate::shape::Bounds;
use crate::space::Space;
use crate::substep::crew;

/// Sweeps after which trees are sorted anew: by then what was near each other has moved apart.
const OLD: u32 = 16;
/// Groups of boxes that a thread takes at a time.
const PIECE: usize = 64;

impl<S: Space> BroadPhase<S> {
    /// What `keep` makes of every candidate, of vertices with a radius each (m), or of those
    /// with a vertex that is `asked` about. The trees are those of the last sweep until they are
    /// old, so the order is not always the same: sort what comes back. `keep` is called on several
    /// threads.
    pub(crate) fn gather<T: Send>(
        &mut self,
        mesh: &Mesh<'_>,
        [start, end]: [&[S::Vector]; 2],
        (radii, asked, threads): (&[f64], Option<&[bool]>, usize),
        keep: impl Fn(Met) -> Option<T> + Sync,
    ) -> Result<Vec<T>, BroadError> {
        let radius = |k: usize| radii.get(k).copied().unwrap_or(0.0);
        self.sweep_vertices(mesh, start, end, radius)?;
        let is_old = self.age >= OLD;
        self.fit(mesh, if is_old { Fit::Anew } else { Fit::Again });
        self.age = if is_old { 0 } else { self.age + 1 };
        let this = &*self;
        if let Some(asked) = asked {
            return Ok(this.gather_asked(mesh, asked, threads, keep));
        }
        let of_vertices = this.vertices.leaves().div_ceil(PIECE);
        let of_edges = if S::DIM == 2 {
            0
        } else {
            this.edges.leaves().div_ceil(PIECE)
        };
        let piece = |k: usize, tree: &BoxTree<S>| PIECE * k..tree.leaves().min(PIECE * (k + 1));
        Ok(crew::gather(threads, of_vertices + of_edges, |k, found| {
            if k < of_vertices {
                let leaves = piece(k, &this.vertices);
                this.meet_vertices(mesh, leaves, |met| found.extend(keep(met)));
            } else {
                let leaves = piece(k - of_vertices, &this.edges);
                this.meet_edges(mesh, leaves, |met| found.extend(keep(met)));
            }
        }))
    }

    /// Candidates with a vertex that is asked about: primitives with such a vertex look around one
    /// by one, which is faster while they are few.
    fn gather_asked<T: Send>(
        &self,
        mesh: &Mesh<'_>,
        asked: &[bool],
        threads: usize,
        keep: impl Fn(Met) -> Option<T> + Sync,
    ) -> Vec<T> {
        let any = |corners: &[u32]| corners.iter().any(|&v| asked[v as usize]);
        let numbers = |count: usize, is_asked: &dyn Fn(usize) -> bool| {
            let all = 0..count as u32;
            all.filter(|&k| is_asked(k as usize)).collect::<Vec<u32>>()
        };
        let vertices = numbers(asked.len(), &|v| asked[v]);
        let edges = numbers(mesh.edges.len(), &|e| any(&mesh.edges[e]));
        let faces = numbers(mesh.faces.len(), &|f| any(&mesh.faces[f]));
        let all = [vertices.as_slice(), &edges, &faces];
        let pieces = all.map(|list| list.len().div_ceil(PIECE));
        let lower = self.all.lower;
        crew::gather(threads, pieces.iter().sum(), |piece, found| {
            let mut met = |met: Met| found.extend(keep(met));
            if piece < pieces[0] {
                for &v in piece_of(all[0], piece) {
                    let bounds = &self.boxes[v as usize];
                    let (tree, is_flat) = (self.beside_vertices(), S::DIM == 2);
                    tree.around(bounds, lower, |other| {
                        if is_flat && !mesh.edges[other as usize].contains(&v) {
                            met(Met::VertexEdge(v, other));
                        } else if !is_flat && !mesh.faces[other as usize].contains(&v) {
                            met(Met::VertexFace(v, other));
                        }
                    });
                }
            } else if piece < pieces[0] + pieces[1] {
                for &e in piece_of(all[1], piece - pieces[0]) {
                    self.meet_edge(mesh, (e, asked), &mut met);
                }
            } else {
                for &f in piece_of(all[2], piece - pieces[0] - pieces[1]) {
                    let corners = mesh.faces[f as usize];
                    self.vertices.around(&self.union(&corners), lower, |v| {
                        // A vertex that is asked about has found the face.
                        if !asked[v as usize] && !corners.contains(&v) {
                            met(Met::VertexFace(v, f));
                        }
                    });
                }
            }
        })
    }

    /// The tree of what vertices meet.
    fn beside_vertices(&self) -> &BoxTree<S> {
        if S::DIM == 2 {
            &self.edges
        } else {
            &self.faces
        }
    }

    /// The box around some vertices' boxes.
    fn union(&self, corners: &[u32]) -> Bounds<S> {
        let boxes = corners.iter().map(|&v| self.boxes[v as usize]);
        boxes.fold(nowhere(), |all, one| all.union(one))
    }

    /// Candidates of one edge that has a vertex which is asked about.
    fn meet_edge(&self, mesh: &Mesh<'_>, (e, asked): (u32, &[bool]), met: &mut impl FnMut(Met)) {
        let ends = mesh.edges[e as usize];
        let bounds = self.union(&ends);
        let lower = self.all.lower;
        if S::DIM == 2 {
            self.vertices.around(&bounds, lower, |v| {
                if !asked[v as usize] && !ends.contains(&v) {
                    met(Met::VertexEdge(v, e));
                }
            });
            return;
        }
        self.edges.around(&bounds, lower, |other| {
            let others = mesh.edges[other as usize];
            // Of two that are asked about, the smaller number finds the other.
            let is_twice = other < e && others.iter().any(|&v| asked[v as usize]);
            if !is_twice && !others.contains(&ends[0]) && !others.contains(&ends[1]) {
                met(Met::Edges(e.min(other), e.max(other)));
            }
        });
    }
}

/// A piece of a list.
fn piece_of(list: &[u32], piece: usize) -> &[u32] {
    list.chunks(PIECE).nth(piece).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::D3;
    use glamx::DVec3;

    /// Numbers from −1 to 1: a step of a congruential generator.
    fn noise(seed: &mut u32) -> f64 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
    }

    fn vertices(met: Met, mesh: &Mesh<'_>) -> Vec<u32> {
        match met {
            Met::VertexEdge(v, e) => [&[v][..], &mesh.edges[e as usize]].concat(),
            Met::VertexFace(v, f) => [&[v][..], &mesh.faces[f as usize]].concat(),
            Met::Edges(e, f) => [mesh.edges[e as usize], mesh.edges[f as usize]].concat(),
        }
    }

    #[test]
    fn some_vertices_find_what_all_find_with_them_in_old_and_new_trees() {
        let mut seed = 5;
        let count = 200;
        let mut start: Vec<DVec3> = (0..count)
            .map(|_| DVec3::from_array([0; 3].map(|_| noise(&mut seed))))
            .collect();
        let edges: Vec<[u32; 2]> = (1..count).map(|k| [k - 1, k]).collect();
        let faces: Vec<[u32; 3]> = (2..count).step_by(2).map(|k| [k - 2, k - 1, k]).collect();
        let mesh = Mesh {
            edges: &edges,
            faces: &faces,
        };
        let radii = vec![0.01; count as usize];
        let mut old = BroadPhase::<D3>::default();
        for round in 0..6 {
            for p in &mut start {
                *p += DVec3::from_array([0; 3].map(|_| 0.2 * noise(&mut seed)));
            }
            let end: Vec<DVec3> = start.iter().map(|p| *p * 1.1).collect();
            let asked: Vec<bool> = (0..count).map(|k| (k + round) % 9 == 0).collect();
            let sorted = |broad: &mut BroadPhase<D3>, asked: Option<&[bool]>, threads| {
                let how = (&radii[..], asked, threads);
                let found = broad.gather(&mesh, [&start, &end], how, Some);
                let mut found = found.unwrap();
                found.sort_unstable_by_key(|met| format!("{met:?}"));
                found
            };
            let all = sorted(&mut old, None, 2);
            let fresh = sorted(&mut BroadPhase::default(), None, 1);
            assert!(all == fresh && all.len() > 500, "{}", all.len());
            let has_asked = |met: &Met| {
                let mut corners = vertices(*met, &mesh).into_iter();
                corners.any(|v| asked[v as usize])
            };
            let due: Vec<Met> = all.into_iter().filter(has_asked).collect();
            assert!(sorted(&mut old, Some(&asked), 3) == due && !due.is_empty());
        }
    }
}
