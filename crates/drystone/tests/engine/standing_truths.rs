//! What statics says will stand stands for minutes in the default strategy, and what it says will
//! fall falls: arches, towers, walls, houses of cards, grips. Nothing sleeps here.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use super::real_time::{floor3, settings};
use drystone::glam::{DQuat, DRot2, DVec2, DVec3};
use drystone::{
    Body, BodyId, Linear, Material, MaterialId, Push, Shape2, Shape3, Space, Surface, World,
    World2, World3,
};
use std::f64::consts::PI;

const G: f64 = 9.81;

/// Numbers from −1 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    }
}

fn rough<S: Space>(world: &mut World<S>, friction: f64) -> MaterialId {
    let material = Material {
        friction,
        ..Material::default()
    };
    world.materials.add(material).unwrap()
}

fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    for _ in 0..(seconds * 60.0).round() as u32 {
        world.step().unwrap();
    }
}

/// How far bodies move in so many seconds, m, each.
fn moved<S: Space>(world: &mut World<S>, bodies: &[BodyId], seconds: f64) -> Vec<f64> {
    let places = |world: &World<S>| -> Vec<S::Vector> {
        let place = |&body: &BodyId| world.pose(body).unwrap().position;
        bodies.iter().map(place).collect()
    };
    let start = places(world);
    run(world, seconds);
    let end = places(world);
    start
        .iter()
        .zip(end)
        .map(|(p, q)| (q - *p).length())
        .collect()
}

fn most(list: &[f64]) -> f64 {
    list.iter().copied().fold(0.0, f64::max)
}

/// A semicircular arch of mean radius 1 m, of n stones.
fn arch(n: u32, thickness: f64) -> (World2, Vec<BodyId>) {
    let mut world = World2::new(settings()).unwrap();
    let stone = rough(&mut world, 0.7);
    let floor = Shape2::half_space(DVec2::Y).unwrap();
    world.add(Body::fixed(floor).of(stone)).unwrap();
    let part = PI / f64::from(n);
    let bodies = (0..n).map(|k| {
        let angle = part * f64::from(k);
        let at = |r: f64, a: f64| DVec2::from_angle(a) * r;
        let centre = at(1.0, angle + 0.5 * part);
        let (inner, outer) = (1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness);
        let corners = [
            at(inner, angle),
            at(outer, angle),
            at(outer, angle + part),
            at(inner, angle + part),
        ];
        let hull = Shape2::hull(&corners.map(|p| p - centre)).unwrap();
        world.add(Body::rigid(hull).at(centre).of(stone)).unwrap()
    });
    let bodies = bodies.collect();
    (world, bodies)
}

/// Limit analysis: 0.1070 of the radius for 25 stones, 0.0963 for 7.
#[test]
fn arches_stand_from_the_thickness_that_statics_asks_for() {
    for (n, limit) in [(25, 0.1070), (7, 0.0963)] {
        let (mut world, stones) = arch(n, limit * 1.02);
        let off = most(&moved(&mut world, &stones, 20.0));
        assert!(off < 1e-3, "{n} stones move {off} m");
        let (mut world, stones) = arch(n, limit * 0.98);
        let off = most(&moved(&mut world, &stones, 20.0));
        assert!(off > 0.1, "{n} stones that must fall move {off} m only");
    }
}

#[test]
fn towers_of_a_hundred_and_fifty_crooked_boxes_stand() {
    for seed in [1, 2] {
        let (mut world, mut random) = (floor3(), Random(seed));
        let stone = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        let stones: Vec<_> = (0..150)
            .map(|k| {
                let at = DVec3::new(
                    0.02 * random.next(),
                    0.5 + f64::from(k),
                    0.02 * random.next(),
                );
                world.add(Body::rigid(stone.clone()).at(at)).unwrap()
            })
            .collect();
        let off = most(&moved(&mut world, &stones, 20.0));
        assert!(off < 5e-3, "seed {seed}: {off} m");
    }
}

/// Courses of stones of any length, with a hole below a lintel.
fn dry_stone_wall(seed: u64) -> (World3, Vec<BodyId>) {
    let mut world = World3::new(settings()).unwrap();
    let stone = rough(&mut world, 0.6);
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    world.add(Body::fixed(floor).of(stone)).unwrap();
    let (mut random, mut stones, mut y) = (Random(seed), Vec::new(), 0.0);
    for course in 0..8 {
        let height = 0.25 + 0.05 * random.next();
        // The lintel lies on the third course, and reaches 30 cm beyond the hole on both sides.
        let gap = match course {
            1 | 2 => Some(0.35),
            3 => Some(0.65),
            _ => None,
        };
        let depth = 0.3 - 0.05 * y;
        let mut lay = |from: f64, to: f64| {
            let half = DVec3::new(0.5 * (to - from) - 0.001, 0.5 * height, depth);
            let at = DVec3::new(0.5 * (from + to), y + 0.5 * height, 0.02 * random.next());
            let body = Body::rigid(Shape3::cuboid(half).unwrap()).at(at).of(stone);
            stones.push(world.add(body).unwrap());
        };
        let mut lengths = Random(seed + 100 * course);
        let mut fill = |from: f64, to: f64| {
            let mut x = from;
            while x < to {
                let next = x + 0.5 + 0.2 * lengths.next();
                let end = if next > to - 0.3 { to } else { next };
                lay(x, end);
                x = end;
            }
        };
        match gap {
            Some(gap) => {
                fill(-3.0, -gap);
                fill(gap, 3.0);
                if course == 3 {
                    lay(-gap, gap);
                }
            }
            None => fill(-3.0, 3.0),
        }
        y += height;
    }
    (world, stones)
}

#[test]
fn dry_stone_walls_with_a_hole_stand_and_do_not_creep() {
    for seed in [1, 2, 3] {
        let (mut world, stones) = dry_stone_wall(seed);
        let off = most(&moved(&mut world, &stones, 20.0));
        assert!(off < 1e-3, "seed {seed}: {off} m in 20 s");
        let off = most(&moved(&mut world, &stones, 20.0));
        assert!(off < 2e-5, "seed {seed}: {off} m in the 20 s after");
    }
}

/// A heavy ball goes through a wall of bricks; the columns at its ends stand, as a rule: debris may
/// sweep one along.
#[test]
fn stumps_of_a_brick_wall_stand_after_the_ball() {
    let throws = [(0.3, 11.0), (-0.4, 14.0), (0.0, 12.0), (0.1, 10.0)];
    let mut standing = 0;
    for (x, speed) in throws {
        let mut world = World3::new(settings()).unwrap();
        let stone = rough(&mut world, 0.7);
        let floor = Shape3::half_space(DVec3::Y).unwrap();
        world.add(Body::fixed(floor).of(stone)).unwrap();
        let brick = Shape3::cuboid(DVec3::new(0.25, 0.1, 0.125)).unwrap();
        let mut ends = [Vec::new(), Vec::new()];
        for row in 0..10_u32 {
            for k in 0..12_u32 {
                let column = f64::from(k) + 0.5 * f64::from(row % 2) - 5.75;
                let at = DVec3::new(0.507 * column, 0.1 + 0.2 * f64::from(row), 0.0);
                let body = Body::rigid(brick.clone()).at(at).of(stone);
                let body = world.add(body).unwrap();
                if !(2..10).contains(&k) && row < 6 {
                    ends[usize::from(k >= 10)].push(body);
                }
            }
        }
        let ball = Body::rigid(Shape3::ball(0.35).unwrap()).of(stone);
        let ball = ball.at(DVec3::new(x, 0.9, -4.0)).with_mass(1400.0);
        let ball = ball.moving(DVec3::new(0.0, 2.0, speed));
        world.add(ball).unwrap();
        let both = ends.concat();
        let off = moved(&mut world, &both, 20.0);
        let (left, right) = off.split_at(both.len() / 2);
        standing += [left, right].iter().filter(|off| most(off) < 0.15).count();
        let off = most(&moved(&mut world, &both, 20.0));
        assert!(
            off < 5e-3,
            "{speed} m/s: moves by {off} m in the 20 s after"
        );
    }
    assert!(standing >= 6, "{standing} of 8 stumps stand");
}

/// A box between two plates on a smooth floor, pressed by `pressure` times what friction needs.
fn grip(friction: f64, pressure: f64) -> (World3, BodyId) {
    let mut world = World3::new(settings()).unwrap();
    let (stone, ice) = (rough(&mut world, friction), rough(&mut world, 0.0));
    let smooth = Surface {
        friction: 0.0,
        restitution: 0.0,
    };
    world.materials.set_pair(stone, ice, smooth).unwrap();
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    world.add(Body::fixed(floor).of(ice)).unwrap();
    let mass = 8.0;
    let force = pressure * mass * G / (2.0 * friction);
    for side in [-1.0, 1.0] {
        let half = DVec3::new(0.5, 1.0, 0.5);
        let mut plate = Body::rigid(Shape3::cuboid(half).unwrap())
            .with_mass(50.0)
            .at(DVec3::new(side * 0.6, 1.0, 0.0))
            .of(stone);
        plate.pushes = vec![Push {
            force: DVec3::new(-side * force, 0.0, 0.0),
            rate: DVec3::ZERO,
            point: DVec3::ZERO,
        }];
        world.add(plate).unwrap();
    }
    let held = Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap());
    let held = held.with_mass(mass).at(DVec3::new(0.0, 1.0, 0.0)).of(stone);
    let held = world.add(held).unwrap();
    (world, held)
}

#[test]
fn a_box_between_two_plates_is_held_by_friction() {
    for friction in [0.3, 0.5, 0.9] {
        let (mut world, held) = grip(friction, 1.5);
        let off = most(&moved(&mut world, &[held], 20.0));
        assert!(off < 1e-5, "μ = {friction}: {off} m in 20 s");
        let (mut world, held) = grip(friction, 0.9);
        let off = most(&moved(&mut world, &[held], 2.0));
        assert!(
            off > 0.5,
            "μ = {friction}: too weak a grip lets it sink {off} m only"
        );
    }
}

/// A block on a slope of exactly the angle of friction stays; a thousandth less, and it slides.
#[test]
fn blocks_hold_on_slopes_up_to_the_angle_of_friction() {
    for friction in [0.2, 0.5, 0.8] {
        let slope = f64::atan(friction);
        let slide = |friction: f64| {
            let normal = DVec3::new(-slope.sin(), slope.cos(), 0.0);
            let mut world = World3::new(settings()).unwrap();
            let stone = rough(&mut world, friction);
            let floor = Shape3::half_space(normal).unwrap();
            world.add(Body::fixed(floor).of(stone)).unwrap();
            let block = Body::rigid(Shape3::cuboid(DVec3::splat(0.25)).unwrap());
            let block = block.at(normal * 0.25).of(stone);
            let turned = block.turned(DQuat::from_rotation_z(slope));
            let block = world.add(turned).unwrap();
            most(&moved(&mut world, &[block], 20.0))
        };
        let off = slide(friction);
        // On the edge, rounding decides.
        assert!(off < 2e-3, "μ = tan θ = {friction}: {off} m in 20 s");
        let off = slide(friction * 1.001);
        assert!(
            off < 2e-5,
            "μ a thousandth more than {friction}: {off} m in 20 s"
        );
        let less = 0.99 * friction;
        let way = 0.5 * G * (slope.sin() - less * slope.cos()) * 400.0;
        let off = slide(less);
        assert!((off / way - 1.0).abs() < 1e-2, "slides {off} m, not {way}");
    }
}

/// Storeys of leaning pairs of cards, with flat ones from peak to peak.
#[test]
fn a_house_of_cards_stands() {
    let mut world = World2::new(settings()).unwrap();
    let paper = rough(&mut world, 0.6);
    let floor = Shape2::half_space(DVec2::Y).unwrap();
    world.add(Body::fixed(floor).of(paper)).unwrap();
    let (length, thin, lean) = (1.0_f64, 0.02_f64, 0.35_f64);
    let card = Shape2::cuboid(DVec2::new(0.5 * thin, 0.5 * length)).unwrap();
    // A leaning card stands on a corner and touches its partner with another one.
    let height = length * lean.cos() + thin * lean.sin();
    let width = length * lean.sin() + thin * lean.cos();
    // A little shorter than from peak to peak: two lie side by side on a peak.
    let flat = Shape2::cuboid(DVec2::new(width - 0.001, 0.5 * thin)).unwrap();
    let mut cards = Vec::new();
    for storey in 0..3_u32 {
        let pairs = 3 - storey;
        let y = f64::from(storey) * (height + thin);
        for pair in 0..pairs {
            let x = 2.0 * width * (f64::from(pair) - 0.5 * f64::from(pairs - 1));
            for side in [-1.0, 1.0] {
                let at = DVec2::new(x + side * 0.5 * width, y + 0.5 * height);
                let body = Body::rigid(card.clone()).at(at).of(paper);
                let turned = body.turned(DRot2::from_angle(side * lean));
                cards.push(world.add(turned).unwrap());
            }
            if pair > 0 {
                let at = DVec2::new(x - width, y + height + 0.5 * thin);
                let body = Body::rigid(flat.clone()).at(at).of(paper);
                cards.push(world.add(body).unwrap());
            }
        }
    }
    let off = most(&moved(&mut world, &cards, 20.0));
    assert!(off < 1e-3, "{off} m in 20 s");
}

/// What is heavy, dropped on what is light, neither squeezes it out nor falls off.
#[test]
fn a_thousand_to_one_dropped_on_a_stack_stays_on_it() {
    for (count, mass, drop) in [(5, 1e3, 0.3), (10, 1e3, 0.3), (4, 1e2, 1.0)] {
        let mut world = floor3();
        let stone = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        for k in 0..count {
            let at = DVec3::new(0.0, 0.5 + f64::from(k), 0.0);
            let body = Body::rigid(stone.clone()).at(at).with_mass(1.0);
            world.add(body).unwrap();
        }
        let at = DVec3::new(0.0, f64::from(count) + 0.5 + drop, 0.0);
        let heavy = world
            .add(Body::rigid(stone).at(at).with_mass(mass))
            .unwrap();
        run(&mut world, 10.0);
        let off = world.pose(heavy).unwrap().position - (at - DVec3::Y * drop);
        assert!(off.length() < 2e-3, "{mass} on {count}: {off}");
    }
}
