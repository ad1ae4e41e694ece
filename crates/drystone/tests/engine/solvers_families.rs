//! `auto` on random relatives of the problems that it is known to solve: stacks, arches, plank
//! towers, walls and heaps, with masses, friction and speeds from wide ranges.
//!
//! `DRYSTONE_CASES=500 cargo test --release -p drystone --test engine solvers_families -- --nocapture`
//! tries more of them and prints a table.
#![allow(clippy::unwrap_used)]

use std::time::Instant;

use crate::common::{assert_honest, ground2, ground3, surface};
use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::glam::{DQuat, DRot2, DVec2, DVec3};
use drystone::{Body, Limits, Shape2, Shape3, SolverKind, Space, World2, World3};

/// Numbers that are the same in every run (a linear congruence, its upper bits).
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Every power of ten between as likely.
    fn powers(&mut self, low: f64, high: f64) -> f64 {
        10.0_f64.powf(self.between(low.log10(), high.log10()))
    }

    fn whole(&mut self, low: u32, high: u32) -> u32 {
        low + (self.unit() * f64::from(high - low + 1)) as u32
    }

    fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::from_array([0; 3].map(|_| self.between(-size, size)))
    }

    /// None, little, usual or much.
    fn friction(&mut self) -> f64 {
        match self.whole(0, 4) {
            0 => 0.0,
            1 => self.between(0.0, 0.1),
            4 => self.between(1.0, 2.0),
            _ => self.between(0.1, 1.0),
        }
    }
}

/// Boxes on each other, masses over nine orders in the worst case, some pushed.
fn stack(dice: &mut Dice) -> ContactProblem<drystone::D3> {
    let mut world = World3::reference();
    let mu = dice.friction();
    let m = surface(&mut world, mu, 0.0);
    ground3(&mut world, m);
    let (least, most) = (dice.powers(1e-3, 1.0), dice.powers(1.0, 1e6));
    let push = if dice.unit() < 0.5 { 0.0 } else { 1.0 };
    for k in 0..dice.whole(2, 30) {
        let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        let at = DVec3::new(dice.between(-0.2, 0.2), 0.5 + f64::from(k), 0.0);
        let body = Body::rigid(shape)
            .with_mass(dice.powers(least, most))
            .of(m)
            .at(at);
        world.add(body.moving(dice.vector(push))).unwrap();
    }
    world.problem()
}

/// A semicircle of wedges on the ground.
fn arch(dice: &mut Dice) -> ContactProblem<drystone::D2> {
    let mut world = World2::reference();
    let mu = dice.between(0.0, 1.5);
    let m = surface(&mut world, mu, 0.0);
    ground2(&mut world, m);
    let stones = dice.whole(3, 40);
    let (inner, outer) = (1.0, dice.between(1.05, 1.4));
    let half = 0.5 * std::f64::consts::PI / f64::from(stones);
    for k in 0..stones {
        let middle = half * (2.0 * f64::from(k) + 1.0);
        let (sin, cos) = half.sin_cos();
        let centre = 0.5 * (inner + outer) * cos;
        let corners = [
            DVec2::new(inner * cos - centre, -inner * sin),
            DVec2::new(outer * cos - centre, -outer * sin),
            DVec2::new(outer * cos - centre, outer * sin),
            DVec2::new(inner * cos - centre, inner * sin),
        ];
        let shape = Shape2::hull(&corners).unwrap();
        let turn = DRot2::new(middle);
        let at = turn * DVec2::new(centre, 0.0);
        let body = Body::rigid(shape).of(m).at(at).turned(turn);
        world.add(body.with_mass(dice.powers(0.1, 100.0))).unwrap();
    }
    world.problem()
}

/// Layers of planks, crosswise: many redundant contacts.
fn planks(dice: &mut Dice) -> ContactProblem<drystone::D3> {
    let mut world = World3::reference();
    let mu = dice.friction();
    let m = surface(&mut world, mu, 0.0);
    ground3(&mut world, m);
    let per_layer = dice.whole(2, 5);
    let spread = dice.powers(1.0, 1e3);
    let speed = dice.between(0.0, 0.2);
    for layer in 0..dice.whole(2, 15) {
        for k in 0..per_layer {
            let across = f64::from(k) / f64::from(per_layer - 1) - 0.5;
            let (half, at) = if layer % 2 == 0 {
                (DVec3::new(0.6, 0.04, 0.1), DVec3::new(0.0, 0.0, across))
            } else {
                (DVec3::new(0.1, 0.04, 0.6), DVec3::new(across, 0.0, 0.0))
            };
            let at = at + DVec3::Y * (0.04 + 0.08 * f64::from(layer));
            let body = Body::rigid(Shape3::cuboid(half).unwrap()).of(m).at(at);
            let body = body.with_mass(dice.powers(1.0, spread));
            world.add(body.moving(dice.vector(speed))).unwrap();
        }
    }
    world.problem()
}

/// A wall of boxes that touch below, above and beside.
fn wall(dice: &mut Dice) -> ContactProblem<drystone::D3> {
    let mut world = World3::reference();
    let mu = dice.friction();
    let m = surface(&mut world, mu, 0.0);
    ground3(&mut world, m);
    let (rows, columns) = (dice.whole(2, 8), dice.whole(2, 8));
    let (spread, speed) = (dice.powers(1.0, 1e4), dice.between(0.0, 0.5));
    for row in 0..rows {
        for column in 0..columns {
            let shift = if row % 2 == 0 { 0.0 } else { 0.5 };
            let at = DVec3::new(f64::from(column) + shift, 0.5 + f64::from(row), 0.0);
            let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
            let body = Body::rigid(shape).of(m).at(at);
            let body = body.with_mass(dice.powers(1.0, spread));
            world.add(body.moving(dice.vector(speed))).unwrap();
        }
    }
    world.problem()
}

/// Boxes and balls that fell on each other for a while.
fn heap(dice: &mut Dice) -> ContactProblem<drystone::D3> {
    let mut world = World3::reference();
    let mu = dice.friction();
    let m = surface(&mut world, mu, 0.0);
    ground3(&mut world, m);
    for k in 0..dice.whole(5, 30) {
        let size = dice.between(0.1, 0.3);
        let shape = if dice.unit() < 0.6 {
            Shape3::cuboid(DVec3::splat(size) + dice.vector(0.05)).unwrap()
        } else {
            Shape3::ball(size).unwrap()
        };
        let at = DVec3::new(
            dice.between(-0.4, 0.4),
            0.4 + 0.25 * f64::from(k),
            dice.between(-0.4, 0.4),
        );
        let turn = DQuat::from_rotation_z(dice.unit()) * DQuat::from_rotation_x(dice.unit());
        let body = Body::rigid(shape).of(m).at(at).turned(turn);
        world.add(body.with_mass(dice.powers(0.1, 1e3))).unwrap();
    }
    for _ in 0..dice.whole(60, 300) {
        world.step().unwrap();
    }
    world.problem()
}

/// How many problems of each family to try, and when to give up. Without the variable few enough
/// to wait for, and with a limit that does not depend on the machine; with it, 10 s each.
fn cases_and_limits() -> (u64, Limits) {
    let told = std::env::var("DRYSTONE_CASES").ok();
    let cases = told.and_then(|text| text.parse().ok());
    let limits = Limits {
        iterations: cases.map_or(20_000, |_| 1_000_000),
        tolerance: 0.0,
        relative: 1e-8,
        budget: cases.map(|_| 10.0),
        trace: false,
    };
    (cases.unwrap_or(20), limits)
}

/// Solves random members of a family to 1e-8 and says how it went. One in ten may be missed
/// (where everything slides against strong friction no method is sure to converge), but none by
/// much.
fn try_family<S: Space>(name: &str, make: impl Fn(&mut Dice) -> ContactProblem<S>) {
    let (cases, limits) = cases_and_limits();
    let (mut missed, mut slowest, mut most) = (Vec::new(), 0.0_f64, 0);
    for case in 0..cases {
        let problem = make(&mut Dice(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1));
        let mut impulses = Impulses::default();
        let began = Instant::now();
        let mut auto = SolverKind::named("auto").unwrap().limited(limits);
        let report = auto.solve(&problem, &mut impulses);
        assert_honest(name, &problem, &impulses, &report);
        slowest = slowest.max(began.elapsed().as_secs_f64());
        most = most.max(problem.rows.len());
        assert!(report.relative < 1e-4, "{name} {case}: {}", report.relative);
        if report.relative > limits.relative {
            missed.push((case, report.relative));
        }
    }
    println!(
        "{name:8} {cases} cases, up to {most} contacts, slowest {slowest:.3} s, missed {missed:?}"
    );
    assert!(
        10 * missed.len() as u64 <= cases,
        "{name}: case and residual: {missed:?}"
    );
}

#[test]
fn stacks_with_masses_over_nine_orders() {
    try_family("stack", stack);
}

#[test]
fn arches_of_any_thickness() {
    try_family("arch", arch);
}

#[test]
fn towers_of_planks() {
    try_family("planks", planks);
}

#[test]
fn walls_whose_stones_touch_all_round() {
    try_family("wall", wall);
}

#[test]
fn heaps_after_a_fall() {
    try_family("heap", heap);
}
