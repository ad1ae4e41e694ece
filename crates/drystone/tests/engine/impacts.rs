//! Impacts against closed forms.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::closed_form::{particle_on_obstacle, particle_on_particle, vertex_on_element};
use crate::common::{G, exact, ground2, ground3, run, surface};
use drystone::contact::problem::{ContactProblem, Impulses, Island, Response, Row, Side};
use drystone::glam::{DVec2, DVec3};
use drystone::solver::Solver;
use drystone::{Algebra, Body, D2, D3, Material, Motion, Pgs, Shape2, Shape3, World2, World3};
use proptest::prelude::*;

fn ball2(radius: f64) -> Shape2 {
    Shape2::ball(radius).unwrap()
}

proptest! {
    /// Two particles meet head on: relative speed times −e, momentum to round-off. The engine
    /// against the closed form; nothing depends on the step but the moment of impact.
    #[test]
    fn two_particles_head_on(
        m1 in 0.1..50.0, m2 in 0.1..50.0, e in 0.0..1.0, v1 in 0.5..5.0, v2 in -5.0..-0.5
    ) {
        let mut world: World2 = exact(1e-3);
        world.settings_mut().gravity = DVec2::ZERO;
        let m = surface(&mut world, 0.3, e);
        let a = world.add(Body::particle(ball2(0.1)).with_mass(m1).of(m)
            .moving(DVec2::new(v1, 0.0))).unwrap();
        let b = world.add(Body::particle(ball2(0.1)).with_mass(m2).of(m)
            .at(DVec2::new(0.3, 0.0)).moving(DVec2::new(v2, 0.0))).unwrap();
        run(&mut world, 0.12);
        let got = [a, b].map(|id| world.motion(id).unwrap().linear);
        let expected = particle_on_particle::<D2>(
            [m1, m2], [DVec2::new(v1, 0.0), DVec2::new(v2, 0.0)], DVec2::X, e);
        // With e = 0 they stay together, touching; the gap of the step of impact (at most
        // 10 m/s · 1 ms) is closed at leave in the step after it.
        for k in 0..2 {
            prop_assert!((got[k] - expected[k]).length() < 1e-9,
                "{:?} instead of {:?}", got[k], expected[k]);
        }
        let before = m1 * v1 + m2 * v2;
        let after = m1 * got[0].x + m2 * got[1].x;
        prop_assert!((after - before).abs() <= 1e-12 * (m1 * v1.abs() + m2 * v2.abs()));
    }

    /// A particle hits an obstacle with friction: seed 004's closed form, by the solver.
    #[test]
    fn particle_on_obstacle_with_friction(
        mass in 0.1..20.0_f64, vx in -5.0..5.0, vz in -5.0..5.0, vy in -8.0..-0.5_f64,
        e in 0.0..1.0_f64, mu in 0.0..1.5_f64
    ) {
        let velocity = DVec3::new(vx, vy, vz);
        let problem = ContactProblem::<D3> {
            dt: 0.01,
            responses: vec![Response { inv_mass: DVec3::splat(1.0 / mass), ..Default::default() }],
            free: vec![Motion { linear: velocity, spin: DVec3::ZERO }],
            rows: vec![Row {
                a: Side::Fixed,
                b: Side::Particle { body: 0 },
                basis: D3::basis(DVec3::Y),
                mu,
                target: -e * vy,
            }],
            islands: vec![Island { start: 0, end: 1 }],
            delassus: None,
        };
        let mut impulses = Impulses::default();
        Pgs { iterations: 100, tolerance: 1e-14 }.solve(&problem, &mut impulses);
        let got = problem.velocities(&impulses).motion[0].linear;
        let expected = particle_on_obstacle::<D3>(mass, velocity, DVec3::Y, e, mu);
        prop_assert!((got - expected).length() < 1e-12, "{got} instead of {expected}");
    }

    /// A vertex hits an edge or a face of free nodes: weights count twice in m_eff.
    #[test]
    fn vertex_on_edge_and_face(
        masses in prop::array::uniform4(0.2..5.0), alpha in 0.0..1.0, part in 0.0..1.0,
        e in 0.0..1.0_f64, speed in 0.1..9.0_f64
    ) {
        let edge = [(masses[1], alpha), (masses[2], 1.0 - alpha), (masses[3], 0.0)];
        let face = [
            (masses[1], alpha * part), (masses[2], alpha * (1.0 - part)), (masses[3], 1.0 - alpha),
        ];
        for element in [edge, face] {
            let problem = ContactProblem::<D3> {
                dt: 0.01,
                responses: masses.map(|m| Response {
                    inv_mass: DVec3::splat(1.0 / m),
                    ..Default::default()
                }).to_vec(),
                free: [-speed, 0.0, 0.0, 0.0].map(|vy| Motion {
                    linear: DVec3::Y * vy,
                    spin: DVec3::ZERO,
                }).to_vec(),
                rows: vec![Row {
                    a: Side::Nodes { bodies: [1, 2, 3], weights: element.map(|(_, w)| w) },
                    b: Side::Particle { body: 0 },
                    basis: D3::basis(DVec3::Y),
                    mu: 0.0,
                    target: e * speed,
                }],
                islands: vec![Island { start: 0, end: 1 }],
            delassus: None,
            };
            let mut impulses = Impulses::default();
            Pgs { iterations: 100, tolerance: 1e-14 }.solve(&problem, &mut impulses);
            let expected = vertex_on_element(masses[0], &element, -speed, e);
            prop_assert!((impulses.local[0].x - expected).abs() < 1e-12 * expected.max(1.0));
        }
    }
}

/// A particle on the centroid of a free triangle of equal masses: m_eff = 0.75 m. The same
/// triangle as one rigid body has its whole mass under the centroid: 1/(1/m + 1/(3m)).
#[test]
fn a_free_triangle_is_not_a_rigid_one() {
    let m = 2.0;
    let free = vertex_on_element(m, &[(m, 1.0 / 3.0); 3], -1.0, 0.0);
    assert!((free - 0.75 * m).abs() < 1e-12);
    // 1/m + 3 · (1/9)/m = 4/(3m): the centroid of three free masses answers like a mass 3m,
    // and so does the rigid triangle hit at its centre of mass. They differ off the centroid:
    // at a corner the free mass answers alone, the rigid body by 1/(3m) + r²/I.
    let corner = vertex_on_element(m, &[(m, 1.0), (m, 0.0), (m, 0.0)], -1.0, 0.0);
    assert!((corner - 0.5 * m).abs() < 1e-12);
    let side = 1.0_f64;
    let r_squared = side * side / 3.0;
    // Point masses at the corners, turned about the axis through the centroid and parallel to
    // the opposite side: one corner at distance r, two at r/2.
    let inertia = m * r_squared * (1.0 + 0.25 + 0.25);
    let rigid = 1.0 / (1.0 / m + 1.0 / (3.0 * m) + r_squared / inertia);
    assert!(
        (rigid - 0.5 * m).abs() < 1e-12,
        "for three point masses a corner is a corner"
    );
    // A uniform plate has half that inertia... and another, also closed, answer.
    let plate = 3.0 * m * side * side / 24.0;
    let of_plate = 1.0 / (1.0 / m + 1.0 / (3.0 * m) + r_squared / plate);
    assert!((of_plate - m / (4.0 / 3.0 + 8.0 / 3.0)).abs() < 1e-12);
    assert!((of_plate - rigid).abs() > 0.2 * m);
}

fn peaks(world: &mut World2, ball: drystone::BodyId, seconds: f64, rest: f64) -> Vec<f64> {
    let mut peaks = Vec::new();
    let mut rising = false;
    while world.time() < seconds {
        world.step().unwrap();
        let v = world.motion(ball).unwrap().linear.y;
        if v > 0.0 {
            rising = true;
        } else if rising {
            rising = false;
            peaks.push(world.pose(ball).unwrap().position.y - rest);
        }
    }
    peaks
}

fn dropped_ball(e: f64, height: f64, dt: f64) -> (World2, drystone::BodyId) {
    let mut world: World2 = exact(dt);
    let m = surface(&mut world, 0.5, e);
    ground2(&mut world, m);
    let ball = Body::rigid(ball2(0.1))
        .of(m)
        .at(DVec2::new(0.0, 0.1 + height));
    let id = world.add(ball).unwrap();
    (world, id)
}

/// Dropped from 2 m with e = 1 the ball returns to 2 m for ever: symplectic Euler with the
/// speed at the start of the step keeps ½v² + gx − ½ghv exactly, so nothing drifts. Off the
/// peak by less than a step's fall, g h² / 2 and the term ½ghv at |v| < gh: 2 g h² in all.
#[test]
fn an_elastic_ball_keeps_its_height_for_ever() {
    let dt = 1.0 / 240.0;
    let (mut world, ball) = dropped_ball(1.0, 2.0, dt);
    let peaks = peaks(&mut world, ball, 60.0, 0.1);
    assert!(peaks.len() > 40);
    for (k, peak) in peaks.iter().enumerate() {
        assert!((peak - 2.0).abs() < 2.0 * G * dt * dt, "peak {k} is {peak}");
    }
}

/// Peaks e²ⁿ h. The bounce is early by at most a step of travel, v h, and rises from there:
/// (1 − e²) v h, and at the next bounce a part e² of that is left.
#[test]
fn a_ball_bounces_to_e_squared_of_its_height() {
    let dt = 1.0 / 2000.0;
    let (mut world, ball) = dropped_ball(0.5, 1.0, dt);
    let peaks = peaks(&mut world, ball, 3.0, 0.1);
    let step = (2.0 * G).sqrt() * dt;
    for (n, expected) in [0.25, 0.0625, 0.015_625].into_iter().enumerate() {
        assert!((peaks[n] - expected).abs() < step, "peak {n}: {}", peaks[n]);
    }
}

/// It stops at √(2h/g)(1+e)/(1−e): 1.355 s for h = 1 m, e = 0.5. Bounces below the threshold
/// (5 cm/s, 5 ms of flight each way) are cut off, and each bounce is off by half a step.
#[test]
fn a_bouncing_ball_stops_in_time() {
    let dt = 1.0 / 2000.0;
    let (mut world, ball) = dropped_ball(0.5, 1.0, dt);
    let mut stopped = 0.0;
    while world.time() < 2.0 {
        world.step().unwrap();
        if world.motion(ball).unwrap().linear.length() > 1e-6 {
            stopped = world.time();
        }
    }
    let expected = (2.0 / G).sqrt() * 1.5 / 0.5;
    assert!(
        (stopped - expected).abs() < 0.02,
        "stopped after {stopped} s, not {expected} s"
    );
}

/// A block rocks about a corner; at impact of its other corner (no bounce, no slip) the spin
/// falls to 1 − 1.5 sin²α of what it was. The drop is read between two steps, over which
/// gravity changes the spin by at most 1.5 g b/(b² + h²) Δt.
#[test]
fn a_rocking_block_keeps_the_spin_that_housner_says() {
    let (b, h) = (0.1_f64, 0.4_f64);
    let dt = 1e-4;
    let mut world: World2 = exact(dt);
    let m = surface(&mut world, 10.0, 0.0);
    ground2(&mut world, m);
    let tilt = 0.05_f64;
    // Standing on its lower right corner, tilted to the right.
    let corner = DVec2::from_angle(-tilt).rotate(DVec2::new(b, -h));
    let block = Body::rigid(Shape2::cuboid(DVec2::new(b, h)).unwrap())
        .of(m)
        .at(-corner)
        .turned(drystone::glam::DRot2::new(-tilt));
    let id = world.add(block).unwrap();
    let mut last = 0.0_f64;
    let mut ratio = None;
    for _ in 0..20_000 {
        world.step().unwrap();
        let spin = world.motion(id).unwrap().spin;
        if last > 0.1 && spin < 0.995 * last {
            ratio = Some(spin / last);
            break;
        }
        last = spin;
    }
    let sin_squared = b * b / (b * b + h * h);
    let expected = 1.0 - 1.5 * sin_squared;
    let ratio = ratio.expect("the block should fall back on its other corner");
    let per_step = 1.5 * G * b / (b * b + h * h) * dt / last;
    assert!(
        (ratio - expected).abs() < 5.0 * per_step + 1e-4,
        "{ratio} instead of {expected}"
    );
}

/// A long rod touching down at tan θ = 2 with μ ≥ 4/3, Painlevé's paradox: rigid dynamics has
/// no finite force, time stepping with impulses stays finite and makes no energy.
#[test]
fn painleves_rod_stays_finite_and_makes_no_energy() {
    for mu in [1.4, 2.0, 5.0] {
        let mut world: World2 = exact(1e-3);
        let m = surface(&mut world, mu, 0.0);
        ground2(&mut world, m);
        let half = 1.0;
        let angle = 2.0_f64.atan();
        let rod = Shape2::cuboid(DVec2::new(half, 0.005)).unwrap();
        let down = DVec2::from_angle(angle) * half;
        let rod = Body::rigid(rod)
            .of(m)
            .at(DVec2::new(0.0, down.y + 0.01))
            .turned(drystone::glam::DRot2::new(angle))
            .moving(DVec2::new(-3.0, -0.5));
        world.add(rod).unwrap();
        let start = world.energy();
        for _ in 0..3000 {
            let certificate = world.step().unwrap().certificate.unwrap();
            // Friction and normal impulse drive each other up until the slip ends; a sweep goes
            // one small step of that way, and the certificate says how much is left.
            assert!(
                certificate.residual_m_s < 0.1,
                "{}",
                certificate.residual_m_s
            );
            // Repair of what the linearised gap misses (½ω²r h² a step) may lift by a hair.
            assert!(certificate.energy_made_j < 1e-3 * start.kinetic);
        }
        let end = world.energy();
        assert!(end.kinetic + end.potential <= start.kinetic + start.potential);
    }
}

/// A ball between two others, and fast balls: no overlap however fast, no contact for passers-by.
#[test]
fn fast_balls_neither_overlap_nor_touch_in_passing() {
    let mut world: World2 = exact(1.0 / 60.0);
    world.settings_mut().gravity = DVec2::ZERO;
    let m = surface(&mut world, 0.0, 1.0);
    let bullet = world
        .add(
            Body::rigid(ball2(0.05))
                .of(m)
                .moving(DVec2::new(1000.0, 0.0)),
        )
        .unwrap();
    let passed = world
        .add(Body::rigid(ball2(0.05)).of(m).at(DVec2::new(5.0, 0.101)))
        .unwrap();
    let hit = world
        .add(Body::rigid(ball2(0.05)).of(m).at(DVec2::new(40.0, 0.0)))
        .unwrap();
    for _ in 0..10 {
        let certificate = world.step().unwrap().certificate.unwrap();
        assert!(certificate.penetration_m < 1e-9);
    }
    assert_eq!(world.motion(passed).unwrap().linear, DVec2::ZERO);
    assert!((world.motion(hit).unwrap().linear.x - 1000.0).abs() < 1e-9);
    assert!(world.motion(bullet).unwrap().linear.length() < 1e-9);
}

/// Momentum and energy of a three-dimensional billiards break, e = 1: both are kept.
#[test]
fn an_elastic_break_keeps_momentum() {
    let mut world: World3 = exact(1e-3);
    world.settings_mut().gravity = DVec3::ZERO;
    let m = world
        .materials
        .add(Material {
            friction: 0.0,
            restitution: 1.0,
            ..Material::default()
        })
        .unwrap();
    let shape = Shape3::ball(0.1).unwrap();
    world
        .add(Body::rigid(shape.clone()).of(m).moving(DVec3::X * 6.0))
        .unwrap();
    for k in 0..4 {
        let at = DVec3::new(
            0.5 + 0.25 * f64::from(k),
            0.03 * f64::from(k),
            -0.02 * f64::from(k),
        );
        world.add(Body::rigid(shape.clone()).of(m).at(at)).unwrap();
    }
    let energy = world.energy().kinetic;
    run(&mut world, 0.5);
    assert!((world.energy().kinetic - energy).abs() < 1e-9 * energy);
    let momentum: DVec3 = (0..5).map(|k| world.bodies().motion[k].linear).sum();
    assert!((momentum - DVec3::X * 6.0).length() < 1e-12);
}

/// Balls come to rest on a floor in space, and the certificate says that the laws held.
#[test]
fn a_ball_lands_softly() {
    let mut world: World3 = exact(1.0 / 240.0);
    let m = surface(&mut world, 0.5, 0.0);
    ground3(&mut world, m);
    let ball = world
        .add(
            Body::rigid(Shape3::ball(0.5).unwrap())
                .of(m)
                .at(DVec3::new(0.0, 3.0, 0.0)),
        )
        .unwrap();
    let mut deepest = 0.0_f64;
    while world.time() < 2.0 {
        let certificate = world.step().unwrap().certificate.unwrap();
        deepest = deepest.max(certificate.penetration_m);
        assert!(certificate.residual_m_s < 1e-9);
        assert!(certificate.energy_made_j < 1e-10, "round-off of some 1e4 J");
    }
    assert!(deepest < 1e-12, "{deepest}");
    assert!((world.pose(ball).unwrap().position.y - 0.5).abs() < 1e-12);
}
