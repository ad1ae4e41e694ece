//! Simultaneous impacts: the cradle, the ball between two balls, and what must never happen.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{exact, ground2, ground3, run, surface};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{
    Body, BodyId, ImpactLaw, MaterialId, Script, Shape2, Shape3, Space, World, World2, World3,
};
use proptest::prelude::*;

/// A world without gravity that works impacts out together.
fn reflecting<S: Space>(dt: f64) -> World<S> {
    let mut world = exact(dt);
    world.settings_mut().contact.impact = ImpactLaw::Reflection;
    world.settings_mut().gravity = S::Vector::default();
    world
}

fn ball(radius: f64) -> Body<drystone::D2> {
    Body::rigid(Shape2::ball(radius).unwrap())
}

/// Five balls of 1 kg in a row; the first `moving` come in at 1 m/s from a little away.
fn cradle(world: &mut World2, material: MaterialId, moving: usize, gap: f64) -> Vec<BodyId> {
    let (radius, away) = (0.1, 0.0137);
    (0..5)
        .map(|k| {
            let x = k as f64 * (2.0 * radius + gap) - if k < moving { away } else { 0.0 };
            let speed = if k < moving { 1.0 } else { 0.0 };
            let body = ball(radius)
                .with_mass(1.0)
                .of(material)
                .at(DVec2::new(x, 0.0))
                .moving(DVec2::new(speed, 0.0));
            world.add(body).unwrap()
        })
        .collect()
}

fn speeds(world: &World2, balls: &[BodyId]) -> Vec<DVec2> {
    balls
        .iter()
        .map(|&id| world.motion(id).unwrap().linear)
        .collect()
}

/// As many leave as came, at any step, touching or nearly, with friction or without.
#[test]
fn newtons_cradle_passes_on_as_many_as_come() {
    for dt in [1e-4, 1e-3, 1.0 / 240.0, 1.0 / 60.0, 0.05] {
        for gap in [0.0, 1e-9, 1e-6, 1e-4] {
            for friction in [0.0, 0.5] {
                for moving in 1..=4 {
                    let mut world: World2 = reflecting(dt);
                    let m = surface(&mut world, friction, 1.0);
                    let balls = cradle(&mut world, m, moving, gap);
                    while world.time() < 0.06 {
                        let certificate = world.step().unwrap().certificate.unwrap();
                        assert!(certificate.energy_made_j < 1e-13);
                        assert!(certificate.momentum_n_s < 1e-13);
                        assert!(
                            certificate.residual_m_s < 1e-9,
                            "{dt} {gap} {friction} {moving} {} {certificate:?}",
                            world.time()
                        );
                    }
                    for (k, v) in speeds(&world, &balls).into_iter().enumerate() {
                        let expected = if k >= 5 - moving { 1.0 } else { 0.0 };
                        assert!(
                            (v - DVec2::new(expected, 0.0)).length() < 1e-9,
                            "{moving} in, dt {dt}, gap {gap}: ball {k} at {v}"
                        );
                    }
                }
            }
        }
    }
}

/// Newton's law makes all five bounce together: the reason for another law.
#[test]
fn newtons_law_is_wrong_about_the_cradle() {
    let mut world: World2 = reflecting(1e-3);
    world.settings_mut().contact.impact = ImpactLaw::Newton;
    let m = surface(&mut world, 0.0, 1.0);
    let balls = cradle(&mut world, m, 1, 0.0);
    run(&mut world, 0.03);
    assert!((speeds(&world, &balls)[0].x + 0.6).abs() < 1e-6);
}

/// One ball hits two that touch, at ±30°: (−.2, 0), (.6, ±.3464), and the two alike to rounding.
#[test]
fn a_ball_between_two_balls_keeps_the_symmetry() {
    for dt in [1e-4, 1e-3, 1.0 / 60.0, 0.05] {
        let mut world: World2 = reflecting(dt);
        let m = surface(&mut world, 0.0, 1.0);
        let radius = 0.1;
        let reach = 2.0 * radius;
        let (x, y) = (reach * 0.75_f64.sqrt(), 0.5 * reach);
        let places = [
            DVec2::new(-0.0123, 0.0),
            DVec2::new(x, y),
            DVec2::new(x, -y),
        ];
        let balls = places.map(|at| {
            let body = ball(radius).with_mass(1.0).of(m).at(at);
            let speed = if at.x < 0.0 { 1.0 } else { 0.0 };
            world.add(body.moving(DVec2::new(speed, 0.0))).unwrap()
        });
        run(&mut world, 0.1);
        let v = speeds(&world, &balls);
        let expected = 0.6 / 3.0_f64.sqrt();
        assert!(
            (v[0] - DVec2::new(-0.2, 0.0)).length() < 1e-9,
            "{dt}: {}",
            v[0]
        );
        assert!(
            (v[1] - DVec2::new(0.6, expected)).length() < 1e-9,
            "{}",
            v[1]
        );
        assert!((v[1] - v[2] * DVec2::new(1.0, -1.0)).length() < 1e-12);
    }
}

/// In space: one ball on three that touch each other, all three alike.
#[test]
fn a_ball_on_three_balls_keeps_the_symmetry_in_space() {
    let mut world: World3 = reflecting(1e-3);
    let m = surface(&mut world, 0.0, 1.0);
    let shape = Shape3::ball(0.5).unwrap();
    let three: Vec<BodyId> = (0..3)
        .map(|k| {
            let turn = DQuat::from_rotation_y(f64::from(k) * std::f64::consts::TAU / 3.0);
            let at = turn * DVec3::X * (1.0 / 3.0_f64.sqrt());
            let body = Body::rigid(shape.clone()).with_mass(1.0).of(m).at(at);
            world.add(body).unwrap()
        })
        .collect();
    let height = (2.0_f64 / 3.0).sqrt() + 0.01;
    let one = Body::rigid(shape).with_mass(1.0).of(m);
    let one = one.at(DVec3::Y * height).moving(-DVec3::Y);
    let one = world.add(one).unwrap();
    run(&mut world, 0.05);
    // Normals at cos θ = √(2/3) from the vertical: p = 2/(1 + 3 cos²θ) · cos θ a contact.
    let cos = (2.0_f64 / 3.0).sqrt();
    let p = 2.0 * cos / (1.0 + 3.0 * cos * cos);
    let v = world.motion(one).unwrap().linear;
    assert!(
        (v - DVec3::Y * (3.0 * p * cos - 1.0)).length() < 1e-9,
        "{v}"
    );
    let down: Vec<f64> = three
        .iter()
        .map(|&id| world.motion(id).unwrap().linear.y)
        .collect();
    for d in &down {
        assert!(
            (d + p * cos).abs() < 1e-9 && (d - down[0]).abs() < 1e-12,
            "{down:?}"
        );
    }
}

/// e blends the elastic and the inelastic outcome: 1 in with e leaves (1 − e)/5 for each of
/// the first four and (1 + 4e)/5 for the last.
#[test]
fn restitution_blends() {
    for e in [0.0, 0.25, 0.5, 0.9] {
        let mut world: World2 = reflecting(1e-3);
        let m = surface(&mut world, 0.0, e);
        let balls = cradle(&mut world, m, 1, 0.0);
        for _ in 0..100 {
            let certificate = world.step().unwrap().certificate.unwrap();
            assert!(certificate.energy_made_j < 1e-13);
        }
        for (k, v) in speeds(&world, &balls).into_iter().enumerate() {
            let expected = if k == 4 {
                (1.0 + 4.0 * e) / 5.0
            } else {
                (1.0 - e) / 5.0
            };
            assert!((v.x - expected).abs() < 1e-9, "e {e}: ball {k} at {v}");
        }
    }
}

/// A ball alone bounces by both laws alike, under gravity, for ever.
#[test]
fn one_ball_bounces_as_by_newton() {
    for e in [1.0, 0.5, 0.0] {
        let heights = [ImpactLaw::Newton, ImpactLaw::Reflection].map(|law| {
            let mut world: World2 = exact(1.0 / 240.0);
            world.settings_mut().contact.impact = law;
            let m = surface(&mut world, 0.3, e);
            ground2(&mut world, m);
            let body = ball(0.1).of(m).at(DVec2::new(0.0, 1.0));
            let id = world.add(body.moving(DVec2::new(0.7, 0.0))).unwrap();
            let mut trace = Vec::new();
            for _ in 0..1000 {
                world.step().unwrap();
                trace.push(world.pose(id).unwrap().position);
            }
            trace
        });
        for (a, b) in heights[0].iter().zip(&heights[1]) {
            assert!((*a - *b).length() < 1e-9, "e {e}: {a} and {b}");
        }
    }
}

/// A small ball on a large one, dropped together: the small one is thrown up. For one third of
/// the mass the large one stops and the small one leaves at twice the speed.
#[test]
fn a_ball_on_a_ball_is_thrown_up() {
    let mut world: World2 = reflecting(1e-3);
    let m = surface(&mut world, 0.0, 1.0);
    ground2(&mut world, m);
    let down = DVec2::new(0.0, -1.0);
    let large = ball(0.2).with_mass(3.0).of(m).at(DVec2::new(0.0, 0.21));
    let large = world.add(large.moving(down)).unwrap();
    let small = ball(0.1).with_mass(1.0).of(m).at(DVec2::new(0.0, 0.51));
    let small = world.add(small.moving(down)).unwrap();
    run(&mut world, 0.1);
    assert!(world.motion(large).unwrap().linear.length() < 1e-9);
    assert!((world.motion(small).unwrap().linear.y - 2.0).abs() < 1e-9);
}

/// A tower at rest does not know which law it stands under, bit for bit.
#[test]
fn a_resting_stack_stays_at_rest() {
    let stand = |law: ImpactLaw| {
        let mut world: World3 = exact(1.0 / 240.0);
        world.settings_mut().contact.impact = law;
        let m = surface(&mut world, 0.5, 0.8);
        ground3(&mut world, m);
        for k in 0..5 {
            let body = Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap());
            let at = DVec3::new(0.0, 0.1 + 0.2 * f64::from(k), 0.0);
            world.add(body.of(m).at(at)).unwrap();
        }
        run(&mut world, 0.5);
        assert!(
            world
                .bodies()
                .motion
                .iter()
                .all(|m| m.linear.length() < 1e-6)
        );
        world.state_hash()
    };
    assert_eq!(stand(ImpactLaw::Reflection), stand(ImpactLaw::Newton));
}

/// Energy of all bodies that move, J, and momentum, N·s.
fn ledger<S: Space>(world: &World<S>) -> (f64, S::Vector) {
    let bodies = world.bodies();
    let mut momentum = S::Vector::default();
    for k in (0..bodies.len()).filter(|&k| bodies.mass(k).is_finite()) {
        momentum += bodies.motion[k].linear * bodies.mass(k);
    }
    (world.energy().kinetic, momentum)
}

/// Random touching clusters in space, some masses a thousand times others.
fn cluster(seed: &[f64], friction: f64, e: f64, dt: f64) -> World3 {
    let mut world: World3 = reflecting(dt);
    world.settings_mut().contact.restitution_threshold = 1e-9;
    let m = surface(&mut world, friction, e);
    let mut at = DVec3::ZERO;
    for (k, s) in seed.chunks_exact(4).enumerate() {
        let turn = DQuat::from_rotation_z(s[0]) * DQuat::from_rotation_y(s[1]);
        let speed = if k == 0 { DVec3::X * 2.0 } else { DVec3::ZERO };
        let body = Body::rigid(Shape3::ball(0.5).unwrap())
            .with_mass(10.0_f64.powf(3.0 * s[2].abs()))
            .of(m)
            .at(at - speed * 0.004 * s[3].abs())
            .moving(speed);
        world.add(body).unwrap();
        at += turn * DVec3::X;
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Elastic clusters keep energy and momentum through every impact.
    #[test]
    fn elastic_clusters_keep_energy_and_momentum(
        seed in prop::collection::vec(-0.9..0.9, 24), dt in 1e-3..2e-2
    ) {
        let mut world = cluster(&seed, 0.0, 1.0, dt);
        let (energy, momentum) = ledger(&world);
        for _ in 0..20 {
            let certificate = world.step().unwrap().certificate.unwrap();
            prop_assert!(certificate.energy_made_j < 1e-9 * energy, "{certificate:?}");
            prop_assert!(certificate.momentum_n_s < 1e-9 * momentum.length());
        }
        let (after, carried) = ledger(&world);
        prop_assert!((after - energy).abs() < 1e-8 * energy, "{energy} J became {after} J");
        prop_assert!((carried - momentum).length() < 1e-10 * momentum.length());
    }

    /// With any restitution energy only falls.
    #[test]
    fn clusters_never_gain_energy(
        seed in prop::collection::vec(-0.9..0.9, 24), e in 0.0..1.0, dt in 1e-3..2e-2
    ) {
        let mut world = cluster(&seed, 0.0, e, dt);
        let mut last = ledger(&world).0;
        for _ in 0..20 {
            world.step().unwrap();
            let now = ledger(&world).0;
            prop_assert!(now <= last * (1.0 + 1e-9), "{last} J became {now} J");
            last = now;
        }
    }

    /// With friction too: balls are hit along their centres, so that friction takes only.
    #[test]
    fn clusters_with_friction_never_gain_energy(
        seed in prop::collection::vec(-0.9..0.9, 24), e in 0.0..1.0, mu in 0.0..1.0
    ) {
        let mut world = cluster(&seed, mu, e, 5e-3);
        let mut last = ledger(&world).0;
        for _ in 0..20 {
            world.step().unwrap();
            let now = ledger(&world).0;
            prop_assert!(now <= last * (1.0 + 1e-9), "{last} J became {now} J");
            last = now;
        }
    }
}

/// A box that lands flat bounces flat: redundant corners share the impact.
#[test]
fn a_box_lands_flat_and_rises_flat() {
    let mut world: World3 = reflecting(1e-3);
    let m = surface(&mut world, 0.5, 0.6);
    ground3(&mut world, m);
    let body = Body::rigid(Shape3::cuboid(DVec3::new(0.3, 0.1, 0.2)).unwrap());
    let body = body.of(m).at(DVec3::Y * 0.105).moving(-DVec3::Y);
    let id = world.add(body).unwrap();
    run(&mut world, 0.02);
    let motion = world.motion(id).unwrap();
    assert!((motion.linear - DVec3::Y * 0.6).length() < 1e-9);
    assert!(motion.spin.length() < 1e-9);
}

/// A piston at 1 m/s hits a row of balls: it sends them off one by one, the last first, each at
/// twice its own speed, and the work is the piston's.
#[test]
fn a_scripted_body_takes_part() {
    let mut world: World2 = reflecting(1e-3);
    let m = surface(&mut world, 0.0, 1.0);
    let script = Script::Steady {
        velocity: DVec2::X,
        spin: 0.0,
    };
    let piston = Body::kinematic(Shape2::ball(0.1).unwrap(), script);
    world
        .add(piston.of(m).at(DVec2::new(-0.2103, 0.0)))
        .unwrap();
    let balls = cradle(&mut world, m, 0, 0.0);
    for _ in 0..100 {
        let certificate = world.step().unwrap().certificate.unwrap();
        assert!(certificate.energy_made_j < 1e-12);
    }
    for v in speeds(&world, &balls) {
        assert!((v - DVec2::X * 2.0).length() < 1e-9, "{v}");
    }
}

/// Eighty balls of unequal masses: hundreds of reflections in one step, and an end to them.
#[test]
fn a_long_unequal_chain_comes_to_an_end() {
    let mut world: World2 = reflecting(1e-2);
    let m = surface(&mut world, 0.0, 1.0);
    for k in 0..80 {
        let mass = [1.0, 0.3, 2.0, 0.7][k % 4];
        let body = ball(0.1).with_mass(mass).of(m);
        let speed = if k == 0 { 1.0 } else { 0.0 };
        let at = DVec2::new(0.2 * k as f64 - if k == 0 { 0.005 } else { 0.0 }, 0.0);
        world
            .add(body.at(at).moving(DVec2::new(speed, 0.0)))
            .unwrap();
    }
    let (energy, momentum) = ledger(&world);
    for _ in 0..5 {
        let certificate = world.step().unwrap().certificate.unwrap();
        assert!(certificate.energy_made_j < 1e-9 * energy);
        assert!(certificate.penetration_m < 1e-9);
    }
    let (after, carried) = ledger(&world);
    assert!(
        after <= energy * (1.0 + 1e-9),
        "{energy} J became {after} J"
    );
    assert!((carried - momentum).length() < 1e-10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Boxes that tumble on a floor and on each other with friction and gravity: eccentric
    /// impacts, where restitution and friction together make energy if nobody looks.
    #[test]
    fn tumbling_boxes_make_no_energy(
        seed in prop::collection::vec(-1.0..1.0, 20), e in 0.0..1.0, mu in 0.0..1.0
    ) {
        let mut world: World2 = exact(2e-3);
        world.settings_mut().contact.impact = ImpactLaw::Reflection;
        world.settings_mut().contact.repair_rate = 0.0;
        let m = surface(&mut world, mu, e);
        ground2(&mut world, m);
        for (k, s) in seed.chunks_exact(5).enumerate() {
            let shape = Shape2::cuboid(DVec2::new(0.2, 0.1 + 0.05 * s[0])).unwrap();
            let body = Body::rigid(shape).of(m).at(DVec2::new(0.05 * s[1], 0.3 + 0.4 * k as f64));
            let turn = drystone::glam::DRot2::new(s[2]);
            world.add(body.turned(turn).moving(DVec2::new(s[3], -2.0)).spinning(3.0 * s[4])).unwrap();
        }
        let energy = world.energy();
        let energy = energy.kinetic + energy.potential;
        for _ in 0..300 {
            let certificate = world.step().unwrap().certificate.unwrap();
            // Of all boxes together: with friction and gravity in the same step one of them may gain
            // energy in an eccentric impact (Kane's paradox), and the certificate says so.
            let now = certificate.energy;
            let gained = now.made_j - now.lost_j - now.dissipated_j;
            prop_assert!(gained < 1e-3 * energy, "{certificate:?} of {energy} J");
        }
        let end = world.energy();
        prop_assert!(end.kinetic + end.potential < energy * (1.0 + 1e-3));
    }
}
