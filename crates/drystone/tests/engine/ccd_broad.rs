//! The broad phase against testing all pairs, and its habits.

use drystone::geometry::ccd::broad_phase::{BroadError, BroadPhase, Mesh};
use drystone::geometry::ccd::{edge_edge, vertex_face};
use drystone::glam::{DVec2, DVec3};
use drystone::{D2, D3};
use proptest::prelude::*;

/// Vertices that move, with edges and faces between any of them.
#[derive(Clone, Debug)]
struct Soup {
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
}

impl Soup {
    fn mesh(&self) -> Mesh<'_> {
        Mesh {
            edges: &self.edges,
            faces: &self.faces,
        }
    }

    /// The swept box of some vertices.
    fn swept(&self, corners: &[u32]) -> (DVec3, DVec3) {
        let places = corners
            .iter()
            .flat_map(|&v| [self.start[v as usize], self.end[v as usize]]);
        places.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
            (low.min(p), high.max(p))
        })
    }

    fn boxes_apart(&self, first: &[u32], second: &[u32]) -> f64 {
        let (a, b) = (self.swept(first), self.swept(second));
        (b.0 - a.1).max(a.0 - b.1).max_element()
    }
}

fn soups() -> impl Strategy<Value = Soup> {
    let point =
        || prop::array::uniform3(-8_i32..8).prop_map(|p| DVec3::from_array(p.map(f64::from)));
    (4_usize..60).prop_flat_map(move |count| {
        let corner = move || 0..count as u32;
        (
            prop::collection::vec(point(), count),
            prop::collection::vec(point(), count),
            prop::collection::vec([corner(), corner()], 0..90),
            prop::collection::vec([corner(), corner(), corner()], 0..70),
        )
            .prop_map(|(start, moved, edges, faces)| Soup {
                end: start
                    .iter()
                    .zip(&moved)
                    .map(|(a, b)| *a + *b * 0.25)
                    .collect(),
                start,
                edges,
                faces,
            })
    })
}

proptest! {
    #[test]
    fn every_pair_of_near_boxes_is_a_candidate_and_no_far_one(
        soup in soups(),
        separation in prop::sample::select(vec![0.0, 0.5, 1.0]),
    ) {
        let mut broad = BroadPhase::<D3>::default();
        broad.sweep(&soup.mesh(), &soup.start, &soup.end, separation).unwrap();
        for v in 0..soup.start.len() as u32 {
            for (f, face) in soup.faces.iter().enumerate() {
                let found = broad.vertex_face().binary_search(&[v, f as u32]).is_ok();
                let apart = soup.boxes_apart(&[v], face) - separation;
                if face.contains(&v) || apart > 1e-4 {
                    prop_assert!(!found);
                } else if apart <= 0.0 {
                    prop_assert!(found);
                }
            }
        }
        for (i, p) in soup.edges.iter().enumerate() {
            for (j, q) in soup.edges.iter().enumerate().skip(i + 1) {
                let found = broad.edge_edge().binary_search(&[i as u32, j as u32]).is_ok();
                let apart = soup.boxes_apart(p, q) - separation;
                if p.iter().any(|v| q.contains(v)) || apart > 1e-4 {
                    prop_assert!(!found);
                } else if apart <= 0.0 {
                    prop_assert!(found);
                }
            }
        }
    }

    /// What the boxes leave out, the proofs leave out as well.
    #[test]
    fn nothing_that_meets_is_left_out(soup in soups()) {
        let mut broad = BroadPhase::<D3>::default();
        broad.sweep(&soup.mesh(), &soup.start, &soup.end, 0.25).unwrap();
        let corners = |list: [u32; 4], at: &[DVec3]| list.map(|v| at[v as usize]);
        for v in 0..soup.start.len() as u32 {
            for (f, face) in soup.faces.iter().enumerate().filter(|(_, face)| !face.contains(&v)) {
                let list = [v, face[0], face[1], face[2]];
                let (start, end) = (corners(list, &soup.start), corners(list, &soup.end));
                if vertex_face(&start, &end, 0.25, 1.0).is_some() {
                    prop_assert!(broad.vertex_face().contains(&[v, f as u32]));
                }
            }
        }
        for (i, p) in soup.edges.iter().enumerate() {
            for (j, q) in soup.edges.iter().enumerate().skip(i + 1) {
                let list = [p[0], p[1], q[0], q[1]];
                let (start, end) = (corners(list, &soup.start), corners(list, &soup.end));
                let shared = p.iter().any(|v| q.contains(v));
                if !shared && edge_edge(&start, &end, 0.25, 1.0).is_some() {
                    prop_assert!(broad.edge_edge().contains(&[i as u32, j as u32]));
                }
            }
        }
    }

    #[test]
    fn refitted_trees_find_the_same_in_the_same_order(first in soups(), second in soups()) {
        let mut warm = BroadPhase::<D3>::default();
        warm.sweep(&first.mesh(), &first.start, &first.end, 0.0).unwrap();
        warm.sweep_again(&second.mesh(), &second.start, &second.end, 0.0).unwrap();
        let mut fresh = BroadPhase::<D3>::default();
        fresh.sweep(&second.mesh(), &second.start, &second.end, 0.0).unwrap();
        prop_assert_eq!(warm.vertex_face(), fresh.vertex_face());
        prop_assert_eq!(warm.edge_edge(), fresh.edge_edge());
    }

    #[test]
    fn a_plane_has_vertices_and_edges(soup in soups(), far in prop::sample::select(vec![0.0, 1e7])) {
        let flat = |list: &[DVec3]| -> Vec<DVec2> {
            list.iter().map(|p| p.truncate() + DVec2::splat(far)).collect()
        };
        let mut broad = BroadPhase::<D2>::default();
        let mesh = Mesh { edges: &soup.edges, faces: &[] };
        broad.sweep(&mesh, &flat(&soup.start), &flat(&soup.end), 0.0).unwrap();
        let mut plane = soup.clone();
        for p in plane.start.iter_mut().chain(&mut plane.end) {
            p.z = 0.0;
        }
        for v in 0..soup.start.len() as u32 {
            for (e, edge) in soup.edges.iter().enumerate().filter(|(_, edge)| !edge.contains(&v)) {
                let found = broad.vertex_edge().binary_search(&[v, e as u32]).is_ok();
                prop_assert_eq!(found, plane.boxes_apart(&[v], edge) <= 0.0);
            }
        }
    }
}

#[test]
fn meshes_that_make_no_sense_are_refused() {
    let mut broad = BroadPhase::<D3>::default();
    let places = [DVec3::ZERO, DVec3::X];
    let mesh = Mesh {
        edges: &[[0, 2]],
        faces: &[],
    };
    let error = broad.sweep(&mesh, &places, &places, 0.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "edge 0 names vertex 2, but there are only 2"
    );
    let mesh = Mesh::default();
    let error = broad.sweep(&mesh, &places, &places[..1], 0.0).unwrap_err();
    assert_eq!(error, BroadError::Lengths { start: 2, end: 1 });
    let error = broad.sweep(&mesh, &places, &[DVec3::ZERO, DVec3::NAN], 0.0);
    assert_eq!(error, Err(BroadError::NotFinite { vertex: 1 }));
    let error = broad.sweep(&mesh, &places, &places, -1.0);
    assert_eq!(error, Err(BroadError::Separation { separation: -1.0 }));
    assert_eq!(broad.sweep(&mesh, &[], &[], 0.0), Ok(()));
}
