use super::*;
use crate::ccd::{edge_edge, vertex_face};
use crate::substep::simd::Instructions;

/// Numbers from −1 to 1: a step of a congruential generator.
fn noise(seed: &mut u32) -> f64 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
}

/// A strip of faces with all its edges, and points far from the origin that move along together and
/// a little by themselves.
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
        // One vertex with more edges and faces than a bundle has room for.
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

    /// Asks all pairs, and gives how many meet; all of them must have been found.
    fn check(&self, found: &[Met], separation: f64) -> usize {
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
                let [from, to] = [&self.start, &self.end].map(|x| corners.map(|v| at(v, x)));
                let hit = edge_edge(&from, &to, separation, 1.0);
                check(Met::Edges(i as u32, j as u32), hit.is_some());
            }
        }
        met
    }

    fn mesh(&self) -> Mesh<'_> {
        Mesh {
            edges: &self.edges,
            faces: &self.faces,
        }
    }

    fn gather(&self, bundles: &mut Bundles, asked: Option<&[bool]>, threads: usize) -> Vec<Met> {
        let swept = Swept {
            start: &self.start,
            end: &self.end,
            reach: [&self.reach[0], &self.reach[1]],
            threads,
        };
        let mut found = bundles.gather(&self.mesh(), &swept, asked, Some);
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
        let found = strip.gather(&mut Bundles::default(), None, 1);
        let met = strip.check(&found, 0.02);
        // Of some twelve thousand; the way is longer than the strip, so boxes around whole ways
        // would find nearly all of them.
        assert!(met > 100 && found.len() < 8 * met, "{met} {}", found.len());
    }
}

#[test]
fn some_vertices_find_what_all_find_with_them_in_old_and_new_trees() {
    let mut seed = 5;
    let mut old = Bundles::default();
    let mut strip = Strip::new(&mut seed, 200);
    for round in 0..40 {
        for x in strip.start.iter_mut().chain(&mut strip.end) {
            *x = x.map(|x| x + 0.05 * noise(&mut seed));
        }
        let all = strip.gather(&mut old, None, 2);
        let fresh = strip.gather(&mut Bundles::default(), None, 1);
        assert!(all == fresh && all.len() > 500, "{}", all.len());
        // Some vertices get more room.
        let asked: Vec<bool> = (0..200).map(|k| (k + round) % 9 == 0).collect();
        for (reach, _) in strip.reach[1].iter_mut().zip(&asked).filter(|(_, a)| **a) {
            *reach += 0.01 * noise(&mut seed).abs();
        }
        let due: Vec<Met> = strip
            .gather(&mut Bundles::default(), None, 1)
            .into_iter()
            .filter(|&met| old.corners_of(met).any(|v| asked[v as usize]))
            .collect();
        assert!(strip.gather(&mut old, Some(&asked), 3) == due && !due.is_empty());
    }
}

#[test]
fn nothing_is_left_out_of_thick_sheets_that_wrinkle_turn_and_shake() {
    let mut seed = 23;
    let (mut old, mut all) = (Bundles::default(), 0);
    for _ in 0..12 {
        let sheet = Strip::sheet(&mut seed, 7);
        let found = sheet.gather(&mut old, None, 2);
        let fresh = sheet.gather(&mut Bundles::default(), None, 1);
        assert!(found == fresh, "{} {}", found.len(), fresh.len());
        all += sheet.check(&found, 2.0 * sheet.reach[0][0]);
        // Some vertices are asked about: the same pairs as all find with them.
        let asked: Vec<bool> = (0..sheet.start.len()).map(|k| k % 7 == 3).collect();
        let due = found.iter().copied();
        let due: Vec<Met> = due
            .filter(|&met| old.corners_of(met).any(|v| asked[v as usize]))
            .collect();
        assert!(sheet.gather(&mut old, Some(&asked), 3) == due);
    }
    assert!(all > 500, "{all}");
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
    let found = sheet.gather(&mut Bundles::default(), None, 1);
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
        let mut bundles = Bundles::default();
        let mut found = strip.gather(&mut bundles, None, 2);
        let asked: Vec<bool> = (0..60).map(|k| k % 7 == 0).collect();
        for (end, _) in strip.end.iter_mut().zip(&asked).filter(|(_, a)| **a) {
            *end = end.map(|x| x + 0.3 * noise(&mut seed));
        }
        found.retain(|&met| !bundles.corners_of(met).any(|v| asked[v as usize]));
        let before = found.len();
        found.extend(strip.gather(&mut bundles, Some(&asked), 2));
        assert!(strip.check(&found, 0.02) > 100 && found.len() > before + 100);
    }
}

#[test]
fn what_ends_far_outside_is_found_as_well() {
    let mut seed = 9;
    let mut strip = Strip::new(&mut seed, 60);
    let mut old = Bundles::default();
    strip.gather(&mut old, None, 1);
    // Single precision was made for a thousandth of this way.
    strip.end[30] = [1e3, 0.0, 0.0];
    let asked: Vec<bool> = (0..60).map(|k| k == 30).collect();
    let found = strip.gather(&mut old, Some(&asked), 1);
    let due: Vec<Met> = (strip.gather(&mut Bundles::default(), None, 1).into_iter())
        .filter(|&met| old.corners_of(met).any(|v| v == 30))
        .collect();
    assert!(
        found == due && due.len() > 100,
        "{} {}",
        found.len(),
        due.len()
    );
}

#[test]
fn planes_between_bundles_are_the_same_with_any_instructions() {
    let mut seed = 4;
    let strip = Strip::new(&mut seed, 300);
    let mut bundles = Bundles::default();
    strip.gather(&mut bundles, None, 1);
    let pairs: Vec<[u32; 2]> = (0..61).map(|k| [k, (7 * k + 5) % 300]).collect();
    let answers = Instructions::every().iter().map(|&instructions| {
        let mut answers = [0.0; planes::BATCH];
        planes::bundles_apart::<D3>(instructions, bundles.moving(), &pairs, &mut answers);
        answers[..pairs.len()].to_vec()
    });
    let answers: Vec<Vec<f32>> = answers.collect();
    assert!(answers.iter().all(|one| *one == answers[0]));
    let apart = answers[0].iter().filter(|&&answer| answer == 1.0).count();
    assert!((5..56).contains(&apart), "{apart}");
}

/// Two sheets around a cylinder, one on the other and half a square aside: between their bundles are
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
    let mut bundles = Bundles::default();
    bundles.gather(&mesh, &swept, None, Some);
    let sheet_of = |k: u32| bundles.bundles[k as usize].vertices().next().unwrap() < SIDE * SIDE;
    let mut pairs = Vec::new();
    let leaves = bundles.tree.leaves();
    bundles.tree.pairs_from(0..leaves, |a, b| {
        if sheet_of(a) != sheet_of(b) {
            pairs.push([a, b]);
        }
    });
    let mut near = 0;
    planes::not_apart(bundles.moving(), &pairs, |_| near += 1);
    assert!(
        pairs.len() > 2000 && 20 * near < pairs.len(),
        "{near} of {}",
        pairs.len()
    );
}
