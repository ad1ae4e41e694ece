//! Random queries on small grids, where touching, parallel, coplanar and degenerate primitives
//! are common, near the origin and far away, large and tiny.

use drystone::geometry::ccd::{
    TimeOfImpact, distance, edge_edge, point_edge, point_point, vertex_face,
};
use drystone::glam::{DVec2, DVec3};
use drystone::{D2, D3};

use super::oracle::Points;

/// Whole numbers, the same every time.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// −reach to reach.
    pub(crate) fn whole(&mut self, reach: i64) -> f64 {
        (self.next() % (2 * reach as u64 + 1)) as f64 - reach as f64
    }
}

/// Corners on a grid near the origin or far away.
fn corners(chance: &mut Chance, count: usize, dimensions: usize) -> Points {
    let reach = [1, 2, 3, 5, 20, 1000][(chance.next() % 6) as usize];
    let far = [0.0, 0.0, 1e6, -3e9][(chance.next() % 4) as usize];
    // Some corners stand still, some queries are flat, some corners coincide.
    let still = chance.next().is_multiple_of(3);
    let flat = chance.next().is_multiple_of(5);
    let point = |chance: &mut Chance| -> [f64; 3] {
        std::array::from_fn(|axis| {
            let missing = axis >= dimensions || (flat && axis == 2);
            if missing {
                0.0
            } else {
                chance.whole(reach) + far
            }
        })
    };
    let start: Vec<[f64; 3]> = (0..count).map(|_| point(chance)).collect();
    let mut end: Vec<[f64; 3]> = (0..count).map(|_| point(chance)).collect();
    if still {
        end[1..].copy_from_slice(&start[1..]);
    }
    if chance.next().is_multiple_of(8) {
        let (from, to) = (
            (chance.next() as usize) % count,
            (chance.next() as usize) % count,
        );
        end[to] = end[from];
    }
    Points { start, end }
}

fn in_space<const K: usize>(list: &[[f64; 3]]) -> [DVec3; K] {
    std::array::from_fn(|k| DVec3::from_array(list[k]))
}

fn in_plane<const K: usize>(list: &[[f64; 3]]) -> [DVec2; K] {
    std::array::from_fn(|k| DVec2::new(list[k][0], list[k][1]))
}

/// Asks `count` random queries; none may be missed. Returns how many touch, and how many are
/// hit needlessly.
fn compare(
    seed: u64,
    count: usize,
    shape: (usize, usize),
    truth: impl Fn(&Points) -> bool,
    answer: impl Fn(&Points) -> Option<TimeOfImpact>,
) -> (usize, usize) {
    let mut chance = Chance(seed);
    let (mut touching, mut needless) = (0, 0);
    for index in 0..count {
        let points = corners(&mut chance, shape.0, shape.1);
        // A power of two changes no answer, and is too much for squares.
        let scale = [1.0, 0.125, 2_f64.powi(-620), 2_f64.powi(620)][index % 4];
        let (truth, hit) = (truth(&points), answer(&points.scaled(scale)));
        if truth {
            touching += 1;
            assert!(
                hit.is_some(),
                "missed query {index}: {:?} to {:?}",
                points.start,
                points.end
            );
        } else if hit.is_some() {
            needless += 1;
        }
        if let Some(hit) = hit {
            assert!(hit.safe <= hit.earliest && (0.0..=1.0).contains(&hit.earliest));
        }
    }
    println!("{count} queries, {touching} touch, {needless} hit needlessly");
    assert!(
        touching > count / 20,
        "too few touch to be a test: {touching}"
    );
    (touching, needless)
}

#[test]
fn vertices_never_pass_through_faces() {
    let (_, needless) = compare(1, 2500, (4, 3), Points::vertex_meets_face, |p| {
        vertex_face(&in_space(&p.start), &in_space(&p.end), 0.0, 1.0)
    });
    assert!(needless <= 3, "{needless} needless hits in 2500");
}

#[test]
fn edges_never_pass_through_edges() {
    let (_, needless) = compare(2, 2500, (4, 3), Points::edges_meet, |p| {
        edge_edge(&in_space(&p.start), &in_space(&p.end), 0.0, 1.0)
    });
    assert!(needless <= 3, "{needless} needless hits in 2500");
}

#[test]
fn points_never_pass_through_edges_in_the_plane() {
    let (_, needless) = compare(3, 2500, (3, 2), Points::point_meets_edge, |p| {
        point_edge::<D2>(&in_plane(&p.start), &in_plane(&p.end), 0.0, 1.0)
    });
    assert!(needless <= 3, "{needless} needless hits in 2500");
}

#[test]
fn points_never_miss_edges_in_space_or_points() {
    let mut chance = Chance(4);
    let mut touching = 0;
    for _ in 0..2500 {
        // On a line or a tiny grid they meet often enough.
        let mut points = corners(&mut chance, 3, 3);
        if chance.next().is_multiple_of(2) {
            for list in [&mut points.start, &mut points.end] {
                for point in list {
                    point[2] = point[0];
                }
            }
        }
        if points.point_meets_edge() {
            touching += 1;
            let hit = point_edge::<D3>(&in_space(&points.start), &in_space(&points.end), 0.0, 1.0);
            assert!(hit.is_some(), "{:?} to {:?}", points.start, points.end);
        }
        if points.points_meet() {
            touching += 1;
            let hit = point_point::<D3>(&in_space(&points.start), &in_space(&points.end), 0.0, 1.0);
            assert!(hit.is_some(), "{:?} to {:?}", points.start, points.end);
        }
    }
    assert!(touching > 250, "{touching}");
}

/// The distance of the primitives of a query at a time.
fn distance_at(kind: usize, start: &[DVec3; 4], end: &[DVec3; 4], t: f64) -> f64 {
    let at: [DVec3; 4] = std::array::from_fn(|k| start[k] * (1.0 - t) + end[k] * t);
    let square = if kind == 0 {
        distance::point_triangle(at[0], &[at[1], at[2], at[3]]).squared_distance
    } else {
        distance::edge_edge(&[at[0], at[1]], &[at[2], at[3]]).squared_distance
    };
    square.sqrt()
}

#[test]
fn motion_up_to_the_safe_time_keeps_the_separation_and_a_tenth_of_the_room() {
    let mut chance = Chance(5);
    let mut hits = 0;
    for index in 0..4000 {
        let mut corner = || DVec3::from_array(std::array::from_fn(|_| chance.whole(1 << 20) / 1e5));
        let start: [DVec3; 4] = std::array::from_fn(|_| corner());
        let end: [DVec3; 4] = std::array::from_fn(|_| corner());
        let (kind, separation) = (index % 2, [0.0, 1e-3, 0.5][index % 3]);
        let t_max = [1.0, 0.6][index / 7 % 2];
        let hit = match kind {
            0 => vertex_face(&start, &end, separation, t_max),
            _ => edge_edge(&start, &end, separation, t_max),
        };
        let free = hit.map_or(t_max, |hit| hit.earliest);
        let room = distance_at(kind, &start, &end, 0.0) - separation;
        for sample in 0..=50 {
            let t = free * f64::from(sample) / 50.0;
            let room_there = distance_at(kind, &start, &end, t) - separation;
            assert!(
                room <= 0.0 || room_there > -1e-12,
                "{index}: {room_there} at {t} of {free}"
            );
        }
        let Some(hit) = hit else { continue };
        hits += 1;
        assert!(hit.earliest <= t_max);
        if room > 0.0 {
            let left = distance_at(kind, &start, &end, hit.safe) - separation;
            assert!(left > 0.1 * room - 1e-12, "{index}: {left} left of {room}");
            // Not only safe but useful: what is called the earliest is where they meet.
            let there = distance_at(kind, &start, &end, hit.earliest) - separation;
            assert!(there < 1e-9, "{index}: stops {there} before, at {hit:?}");
        } else {
            assert_eq!((hit.safe, hit.earliest), (0.0, 0.0));
        }
    }
    assert!(hits > 200, "{hits}");
}
