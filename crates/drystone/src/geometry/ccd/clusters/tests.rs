//! Tests of cluster searches against all pairs.

use super::*;
use crate::geometry::ccd::{edge_edge, vertex_face};
use crate::math::simd::Instructions;

/// Numbers from −1 to 1: a step of a congruential generator.
fn noise(seed: &mut u32) -> f64 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
}

/// A strip of faces with all its edges, and points far from the origin that move along together and
/// a little by themselves.
#[derive(Clone)]
struct Strip {
    start: Vec<[f64; 3]>,
    end: Vec<[f64; 3]>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    reach: [Vec<f64>; 2],
}

impl Strip {
    fn new(seed: &mut u32, count: u32) -> Self {
        let mut point = |size: f64| [0; 3].map(|_| size * noise(seed));
        let add = |x: [f64; 3], y: [f64; 3]| [0, 1, 2].map(|k| x[k] + y[k]);
        let far = point(20.0);
        let start: Vec<[f64; 3]> = (0..count).map(|_| add(point(1.0), far)).collect();
        let bulk = point(2.0);
        let moved = |&x: &[f64; 3]| add(add(x, bulk), point(0.1));
        let end = start.iter().map(moved).collect();
        let mut edges: Vec<[u32; 2]> = (1..count).map(|k| [k - 1, k]).collect();
        edges.extend((2..count).map(|k| [k, k - 2]));
        // One vertex with more edges and faces than a cluster has room for.
        edges.extend((10..20).map(|k| [0, k]));
        let mut faces: Vec<[u32; 3]> = (2..count).map(|k| [k - 2, k - 1, k]).collect();
        faces.extend((10..20).map(|k| [k, 0, k + 1]));
        Self {
            start,
            end,
            edges,
            faces,
            reach: [vec![0.01; count as usize], vec![0.02; count as usize]],
        }
    }

    /// A sheet of squares, wrinkled and squeezed at random, that moves, turns and shakes; as thick
    /// as a deformable may be.
    fn sheet(seed: &mut u32, squares: u32) -> Self {
        let row = squares + 1;
        let mut random = || noise(seed);
        let (height, width) = (0.6 * random(), 0.02 + 0.98 * random().abs());
        let (waves, turn) = (3.0 * random(), 0.4 * random());
        let bulk = [0; 3].map(|_| 0.3 * random());
        let jolt = 0.1 * random().abs();
        let (mut start, mut end) = (Vec::new(), Vec::new());
        for k in 0..row * row {
            let [i, j] = [k % row, k / row].map(|x| f64::from(x) / f64::from(squares));
            let shake = [0; 3].map(|_| 0.02 * width * random());
            let x = [
                i + shake[0],
                height * (waves * 6.0 * i).sin() * (4.0 * j).cos() + shake[1],
                width * j + shake[2],
            ];
            let turned = [x[0] - turn * x[1], x[1] + turn * x[0], x[2]];
            start.push(x);
            end.push([0, 1, 2].map(|k| turned[k] + bulk[k] + jolt * random()));
        }
        let (mut edges, mut faces) = (Vec::new(), Vec::new());
        for k in (0..row * row).filter(|k| k % row < squares) {
            edges.push([k, k + 1]);
            if k + row < row * row {
                edges.extend([[k + row, k], [k, k + row + 1]]);
                faces.extend([[k, k + 1, k + row + 1], [k + row + 1, k + row, k]]);
            }
        }
        let length = |[a, b]: &[u32; 2]| {
            let [a, b] = [a, b].map(|&v| DVec3::from_array(start[v as usize]));
            a.distance(b)
        };
        let shortest = edges.iter().map(length).fold(f64::INFINITY, f64::min);
        let reach = vec![0.345 * shortest; start.len()];
        Self {
            start,
            end,
            edges,
            faces,
            reach: [reach.clone(), reach],
        }
    }

    /// Asks all pairs, or those with a vertex that is asked about, and gives how many meet; all of
    /// them must have been found, and nothing twice.
    fn check_some(&self, found: &[Met], separation: f64, asked: Option<&[bool]>) -> usize {
        assert!(found.windows(2).all(|two| two[0] != two[1]));
        let is_due =
            |corners: &[u32]| asked.is_none_or(|asked| corners.iter().any(|&v| asked[v as usize]));
        let at = |v: u32, x: &[[f64; 3]]| DVec3::from_array(x[v as usize]);
        let mut met = 0;
        let mut check = |pair: Met, hits: bool| {
            met += usize::from(hits);
            assert!(!hits || found.contains(&pair), "{pair:?}");
        };
        for v in 0..self.start.len() as u32 {
            for (f, face) in self.faces.iter().enumerate() {
                if face.contains(&v) {
                    continue;
                }
                let corners = [v, face[0], face[1], face[2]];
                if !is_due(&corners) {
                    continue;
                }
                let [from, to] = [&self.start, &self.end].map(|x| corners.map(|v| at(v, x)));
                let hit = vertex_face(&from, &to, separation, 1.0);
                check(Met::VertexFace(v, f as u32), hit.is_some());
            }
        }
        for (i, p) in self.edges.iter().enumerate() {
            for (j, q) in self.edges.iter().enumerate().skip(i + 1) {
                if q.contains(&p[0]) || q.contains(&p[1]) {
                    continue;
                }
                let corners = [p[0], p[1], q[0], q[1]];
                if !is_due(&corners) {
                    continue;
                }
                let [from, to] = [&self.start, &self.end].map(|x| corners.map(|v| at(v, x)));
                let hit = edge_edge(&from, &to, separation, 1.0);
                check(Met::Edges(i as u32, j as u32), hit.is_some());
            }
        }
        met
    }

    fn check(&self, found: &[Met], separation: f64) -> usize {
        self.check_some(found, separation, None)
    }

    fn mesh(&self) -> Mesh<'_> {
        Mesh {
            edges: &self.edges,
            faces: &self.faces,
        }
    }

    fn swept(&self, threads: usize) -> Swept<'_> {
        Swept {
            start: &self.start,
            end: &self.end,
            reach: [&self.reach[0], &self.reach[1]],
            threads,
        }
    }

    fn gather(&self, clusters: &mut Clusters, asked: Option<&[bool]>, threads: usize) -> Vec<Met> {
        let mut found = clusters.gather(&self.mesh(), &self.swept(threads), asked, Some);
        found.sort_unstable_by_key(|met| match *met {
            Met::VertexEdge(v, e) => (0, v, e),
            Met::VertexFace(v, f) => (1, v, f),
            Met::Edges(e, f) => (2, e, f),
        });
        found
    }
}

#[test]
fn nothing_that_meets_is_left_out_and_little_else_is_found() {
    let mut seed = 7;
    for _ in 0..20 {
        let strip = Strip::new(&mut seed, 60);
        let found = strip.gather(&mut Clusters::default(), None, 1);
        let met = strip.check(&found, 0.02);
        // Of some twelve thousand; the way is longer than the strip, so boxes around whole ways
        // would find nearly all of them.
        assert!(met > 100 && found.len() < 8 * met, "{met} {}", found.len());
    }
}

#[test]
fn some_vertices_find_all_they_meet_in_old_and_new_trees() {
    let mut seed = 5;
    let mut old = Clusters::default();
    let mut strip = Strip::new(&mut seed, 120);
    for round in 0..40 {
        // Some rounds change much, most of them little.
        let size = if round % 8 == 7 { 0.05 } else { 0.002 };
        for x in strip.start.iter_mut().chain(&mut strip.end) {
            *x = x.map(|x| x + size * noise(&mut seed));
        }
        let all = strip.gather(&mut old, None, 2);
        let fresh = strip.gather(&mut Clusters::default(), None, 1);
        assert!(strip.check(&all, 0.02) > 100);
        let [all, fresh] = [all.len(), fresh.len()];
        assert!(all < fresh + fresh / 5, "{all} {fresh}");
        // Some vertices get more room: so many that all pairs are looked through, or few.
        let asked: Vec<bool> = (0..120)
            .map(|k| (k + round) % [9, 100][round % 2] == 0)
            .collect();
        for (reach, _) in strip.reach[1].iter_mut().zip(&asked).filter(|(_, a)| **a) {
            *reach += 0.01 * noise(&mut seed).abs();
        }
        let found = strip.gather(&mut old, Some(&asked), 3);
        let is_due = |&met: &Met| old.corners_of(met).any(|v| asked[v as usize]);
        assert!(found.iter().all(is_due));
        assert!(strip.check_some(&found, 0.02, Some(&asked)) > 0);
    }
}

#[test]
fn nothing_is_left_out_of_thick_sheets_that_wrinkle_turn_and_shake() {
    let mut seed = 23;
    let (mut old, mut all) = (Clusters::default(), 0);
    for _ in 0..12 {
        let sheet = Strip::sheet(&mut seed, 7);
        let found = sheet.gather(&mut old, None, 2);
        all += sheet.check(&found, 2.0 * sheet.reach[0][0]);
        // Some vertices are asked about.
        let asked: Vec<bool> = (0..sheet.start.len()).map(|k| k % 7 == 3).collect();
        let found = sheet.gather(&mut old, Some(&asked), 3);
        sheet.check_some(&found, 2.0 * sheet.reach[0][0], Some(&asked));
    }
    assert!(all > 500, "{all}");
}

/// Two sheets that slide over each other, turn, come near and go apart, step by step.
#[test]
fn proofs_that_are_kept_leave_nothing_out_and_save_most_of_the_work() {
    let mut seed = 31;
    let mut both = Strip::sheet(&mut seed, 6);
    let count = both.start.len();
    let other = both.clone();
    let shift = |pair: [u32; 2]| pair.map(|v| v + count as u32);
    both.edges
        .extend(other.edges.iter().map(|&edge| shift(edge)));
    let faces = other.faces.iter();
    both.faces
        .extend(faces.map(|face| face.map(|v| v + count as u32)));
    both.start.extend(other.start.clone());
    let reach = vec![0.01; 2 * count];
    both.reach = [reach.clone(), reach];
    let flat = both.start.clone();
    let (mut old, mut met, mut held) = (Clusters::default(), 0, [0, 0]);
    for step in 0..300 {
        let place = |time: f64, v: usize| {
            let [x, y, z] = flat[v];
            let own = if v < count { 0.0 } else { 1.0 };
            let turn = 0.3 * own * (0.05 * time).sin();
            let height = 0.02 + own * (0.04 + 0.035 * (0.11 * time).sin());
            let slide = own * 0.1 * (0.07 * time).cos();
            [x - turn * z + slide, 0.3 * y + height, z + turn * x]
        };
        let time = 0.3 * f64::from(step);
        both.start = (0..2 * count).map(|v| place(time, v)).collect();
        both.end = (0..2 * count).map(|v| place(time + 0.3, v)).collect();
        // How many of the proofs of the last step do for this one.
        old.fit(&both.mesh(), &both.swept(1));
        for blocks in [&old.near.blocks, &old.related.blocks] {
            let mut answers = vec![Column::default(); blocks.len()];
            kept_pairs::hold::<D3>(Instructions::best(), &old.cores, blocks, &mut answers);
            let all = answers.iter().flat_map(|column| column.0);
            held[0] += all.clone().filter(|&answer| answer == 1.0).count();
            held[1] += all.count();
        }
        let found = both.gather(&mut old, None, 1 + step as usize % 3);
        met += both.check(&found, 0.02);
    }
    assert!(met > 500, "{met}");
    assert!(4 * held[0] > 3 * held[1], "{held:?}");
}

/// A triangle above a sheet leaves its cover, comes back and leaves again: no pair is known twice.
#[test]
fn what_leaves_and_comes_back_is_found_once() {
    let mut both = Strip::sheet(&mut 12, 12);
    let first = both.start.len() as u32;
    let [a, b, c] = [first, first + 1, first + 2];
    both.edges.extend([[a, b], [b, c], [a, c]]);
    both.faces.push([a, b, c]);
    let middle = both.start[6 * 13 + 6];
    for side in 0..3 {
        both.start.push(middle);
        both.start[(first + side) as usize][side as usize] += 0.05;
    }
    let reach = vec![0.01; both.start.len()];
    both.reach = [reach.clone(), reach];
    let mut old = Clusters::default();
    for step in 0..12 {
        for x in &mut both.start[first as usize..] {
            x[1] += [0.0, 0.5, -0.5, -0.5, 0.5][step % 5];
        }
        both.end.clone_from(&both.start);
        let found = both.gather(&mut old, None, 1);
        both.check(&found, 0.02);
        let mut pairs: Vec<[u32; 2]> = old.near.blocks.iter().flat_map(|b| b.pairs).collect();
        pairs.truncate(old.near.len());
        let count = pairs.len();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), count);
    }
}

#[test]
fn a_point_meets_faces_and_not_their_edges_too() {
    let mut sheet = Strip::sheet(&mut 23, 7);
    let point = sheet.start.len() as u32;
    for x in [&mut sheet.start, &mut sheet.end] {
        x.push([0.5; 3]);
    }
    sheet.edges.push([point; 2]);
    sheet.reach.iter_mut().for_each(|reach| reach.push(10.0));
    let found = sheet.gather(&mut Clusters::default(), None, 1);
    let with_point = |met: &&Met| matches!(met, Met::VertexFace(v, _) if *v == point);
    assert_eq!(found.iter().filter(with_point).count(), sheet.faces.len());
    let number = sheet.edges.len() as u32 - 1;
    let has_point = |met: &Met| matches!(met, Met::Edges(_, f) if *f == number);
    assert!(!found.iter().any(has_point));
}

#[test]
fn nothing_is_left_out_that_meets_vertices_which_end_elsewhere() {
    let mut seed = 6;
    for _ in 0..10 {
        let mut strip = Strip::new(&mut seed, 60);
        let mut clusters = Clusters::default();
        let mut found = strip.gather(&mut clusters, None, 2);
        let asked: Vec<bool> = (0..60).map(|k| k % 7 == 0).collect();
        for (end, _) in strip.end.iter_mut().zip(&asked).filter(|(_, a)| **a) {
            *end = end.map(|x| x + 0.3 * noise(&mut seed));
        }
        found.retain(|&met| !clusters.corners_of(met).any(|v| asked[v as usize]));
        let before = found.len();
        found.extend(strip.gather(&mut clusters, Some(&asked), 2));
        assert!(strip.check(&found, 0.02) > 100 && found.len() > before + 100);
    }
}

/// A vertex that strays is found by the tree; those that are asked about next, so many that known
/// pairs are looked through, must meet it there.
#[test]
fn what_strayed_before_is_met_by_what_is_asked_about_later() {
    let mut sheet = Strip::sheet(&mut 23, 20);
    let reach = vec![0.005; sheet.start.len()];
    sheet.reach = [reach.clone(), reach];
    let mut old = Clusters::default();
    sheet.gather(&mut old, None, 1);
    sheet.end[5] = sheet.end[430].map(|x| x + 0.001);
    let is_asked = |meant: &dyn Fn(usize) -> bool| (0..sheet.start.len()).map(meant).collect();
    let strays: Vec<bool> = is_asked(&|v| v == 5);
    let others: Vec<bool> = is_asked(&|v| v % 15 == 10);
    sheet.gather(&mut old, Some(&strays), 1);
    assert!(!old.strays.is_empty());
    let found = sheet.gather(&mut old, Some(&others), 1);
    assert!(old.strays.is_empty(), "the tree was asked again");
    assert!(sheet.check_some(&found, 0.01, Some(&others)) > 0);
    let has_both = |met: &&Met| {
        let corners: Vec<u32> = old.corners_of(**met).collect();
        corners.contains(&5) && corners.contains(&430)
    };
    assert!(found.iter().filter(has_both).count() > 0);
}

#[test]
fn what_ends_far_outside_is_found_as_well() {
    let mut seed = 9;
    let mut strip = Strip::new(&mut seed, 60);
    let mut old = Clusters::default();
    strip.gather(&mut old, None, 1);
    // Single precision was made for a thousandth of this way.
    strip.end[30] = [1e3, 0.0, 0.0];
    let asked: Vec<bool> = (0..60).map(|k| k == 30).collect();
    let found = strip.gather(&mut old, Some(&asked), 1);
    let due: Vec<Met> = (strip.gather(&mut Clusters::default(), None, 1).into_iter())
        .filter(|&met| old.corners_of(met).any(|v| v == 30))
        .collect();
    assert!(
        found == due && due.len() > 100,
        "{} {}",
        found.len(),
        due.len()
    );
    assert!(strip.check_some(&found, 0.02, Some(&asked)) > 10);
}

#[test]
fn planes_between_bundles_are_the_same_with_any_instructions() {
    let mut seed = 4;
    let strip = Strip::new(&mut seed, 300);
    let mut clusters = Clusters::default();
    strip.gather(&mut clusters, None, 1);
    let pairs: Vec<[u32; 2]> = (0..61).map(|k| [k, (7 * k + 5) % 300]).collect();
    let views = Instructions::every().iter().map(|&instructions| {
        let mut views = [[0.0; separating_planes::BATCH]; 5];
        separating_planes::bundles_apart::<D3>(instructions, clusters.moving(), &pairs, &mut views);
        views.map(|view| {
            let seen = view[..pairs.len()].iter().copied();
            seen.map(f32::to_bits).collect()
        })
    });
    let views: Vec<[Vec<u32>; 5]> = views.collect();
    assert!(views.iter().all(|one| *one == views[0]));
    let left = views[0][0].iter().map(|&bits| f32::from_bits(bits));
    let apart = left.filter(|&left| left > 0.0).count();
    assert!((5..56).contains(&apart), "{apart}");
    let held = Instructions::every().iter().map(|&instructions| {
        let blocks = &clusters.near.blocks;
        let mut answers = vec![Column::default(); blocks.len()];
        kept_pairs::hold::<D3>(instructions, &clusters.cores, blocks, &mut answers);
        answers
    });
    let held: Vec<Vec<Column>> = held.collect();
    assert!(held.iter().all(|one| *one == held[0]));
}

/// Two sheets around a cylinder, one on the other and half a square aside: between their clusters are
/// planes along their faces, but hardly any across the line between their middles.
#[test]
fn sheets_that_lie_on_each_other_are_told_apart_by_their_faces() {
    const SIDE: u32 = 20;
    let (square, radius, reach) = (0.014, 0.5, 0.0028);
    let (mut places, mut edges, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for sheet in 0..2 {
        let first = places.len() as u32;
        let (out, aside) = ([radius, radius + 0.006][sheet], [0.0, 0.5 * square][sheet]);
        for (i, j) in (0..SIDE * SIDE).map(|k| (k % SIDE, k / SIDE)) {
            let (x, angle) = (
                f64::from(i) * square + aside,
                (f64::from(j) * square + aside) / radius,
            );
            places.push([x, out * angle.cos(), out * angle.sin()]);
            let at = first + i + SIDE * j;
            if i + 1 < SIDE && j + 1 < SIDE {
                let corners = [at, at + 1, at + SIDE, at + SIDE + 1];
                let [a, b, c, d] = corners;
                edges.extend([[a, b], [a, c], [b, c]]);
                faces.extend([[a, b, c], [b, c, d]]);
            }
        }
    }
    let reaches = vec![reach; places.len()];
    let swept = Swept {
        start: &places,
        end: &places,
        reach: [&reaches; 2],
        threads: 1,
    };
    let mesh = Mesh {
        edges: &edges,
        faces: &faces,
    };
    let mut clusters = Clusters::default();
    clusters.gather(&mesh, &swept, None, Some);
    let sheet_of = |k: u32| clusters.clusters[k as usize].vertices().next().unwrap() < SIDE * SIDE;
    let mut pairs = Vec::new();
    let leaves = clusters.tree.leaves();
    clusters.tree.pairs_from(0..leaves, |a, b| {
        if sheet_of(a) != sheet_of(b) {
            pairs.push([a, b]);
        }
    });
    let mut near = 0;
    separating_planes::see(clusters.moving(), &pairs, |_, plane| {
        near += usize::from(plane.is_none())
    });
    assert!(
        pairs.len() > 2000 && 20 * near < pairs.len(),
        "{near} of {}",
        pairs.len()
    );
}
