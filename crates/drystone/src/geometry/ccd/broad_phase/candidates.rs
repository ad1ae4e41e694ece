//! Candidates on several threads, from trees that are kept: all of them, or those of a few vertices.

use super::{BroadError, BroadPhase, Fit, Mesh, Met, Swept, check, check_separation};
use crate::geometry::bvh::curve_order::BoxTree;
use crate::math::algebra::{Algebra, vector};
use crate::parallel::thread_pool;
use glamx::DVec3;

/// Sweeps after which trees are sorted anew: by then what was near each other has moved apart.
const OLD: u32 = 16;
/// Groups of boxes that a thread takes at a time.
const PIECE: usize = 64;

impl<S: Algebra> BroadPhase<S> {
    /// What `keep` makes of every candidate, or of those with a vertex that is `asked` about, where
    /// nothing but the ends and the reach of such vertices have changed since the last search. The
    /// trees are those of the last sweep until they are old, so the order is not always the same:
    /// sort what comes back. `keep` is called on several threads.
    pub(crate) fn gather<T: Send>(
        &mut self,
        mesh: &Mesh<'_>,
        swept: &Swept<'_>,
        asked: Option<&[bool]>,
        keep: impl Fn(Met) -> Option<T> + Sync,
    ) -> Result<Vec<T>, BroadError> {
        match asked {
            Some(asked) => {
                let mut due = (0..asked.len()).filter(|&v| asked[v]);
                due.try_for_each(|v| check_vertex(swept, v))?;
            }
            None => {
                // What is known has been checked.
                let (start, end) = (swept.start.len(), swept.end.len());
                if start != end || !self.clusters.are_of(mesh, end) {
                    check(mesh, start, end)?;
                }
                (0..start).try_for_each(|v| check_vertex(swept, v))?;
            }
        }
        if S::DIM == 3 {
            return Ok(self.clusters.gather(mesh, swept, asked, keep));
        }
        self.gather_flat(mesh, swept, asked, keep)
    }

    /// The same in the plane.
    fn gather_flat<T: Send>(
        &mut self,
        mesh: &Mesh<'_>,
        swept: &Swept<'_>,
        asked: Option<&[bool]>,
        keep: impl Fn(Met) -> Option<T> + Sync,
    ) -> Result<Vec<T>, BroadError> {
        let points = |list: &[[f64; 3]]| -> Vec<S::Vector> {
            let point = |&p: &[f64; 3]| vector::<S>(DVec3::from_array(p));
            list.iter().map(point).collect()
        };
        let reach = |k: usize| swept.reach[0][k].max(swept.reach[1][k]);
        self.sweep_vertices(mesh, &points(swept.start), &points(swept.end), reach)?;
        let is_old = self.age >= OLD;
        self.fit(mesh, if is_old { Fit::Anew } else { Fit::Again });
        self.age = if is_old { 0 } else { self.age + 1 };
        let this = &*self;
        let pieces = this.vertices.leaves().div_ceil(PIECE);
        let piece = |k: usize, tree: &BoxTree<S>| PIECE * k..tree.leaves().min(PIECE * (k + 1));
        let is_asked = |v: u32| asked.is_none_or(|asked| asked[v as usize]);
        Ok(thread_pool::gather(swept.threads, pieces, |k, found| {
            this.meet_vertices(mesh, piece(k, &this.vertices), |met| {
                let is_due = match met {
                    Met::VertexEdge(v, e) => {
                        is_asked(v) || mesh.edges[e as usize].into_iter().any(is_asked)
                    }
                    Met::VertexFace(..) | Met::Edges(..) => true,
                };
                if is_due {
                    found.extend(keep(met));
                }
            });
        }))
    }
}

/// Fails if a vertex is nowhere, or reaches no distance.
fn check_vertex(swept: &Swept<'_>, vertex: usize) -> Result<(), BroadError> {
    let [from, to] = [swept.start[vertex], swept.end[vertex]];
    if !from.iter().chain(&to).all(|x| x.is_finite()) {
        return Err(BroadError::NotFinite { vertex });
    }
    check_separation(swept.reach[0][vertex])?;
    check_separation(swept.reach[1][vertex])
}
