//! Bullets and spinning rods: nothing passes through anything, and nothing is slowed down for it.
#![allow(clippy::unwrap_used)]

use drystone::glam::{DQuat, DRot2, DVec2, DVec3};
use drystone::{
    Algebra, Body, Components, D2, D3, Geometry, Pose, Settings, Shape2, Shape3, Space, StepError,
    Strategy, World, World2, World3,
};
use proptest::prelude::*;

const STRATEGIES: [&str; 2] = ["velocity", "realtime"];
/// Half of the thickness of paper (1 mm).
const PAPER: f64 = 5e-4;

fn world<S: Space>(strategy: &str) -> World<S> {
    let strategy = Strategy::named(strategy).unwrap();
    let dt = strategy.usual_dt();
    let gravity = S::Vector::default();
    World::new(Settings {
        dt,
        strategy,
        gravity,
        ..Settings::default()
    })
    .unwrap()
}

/// Whether a straight way crosses the square (the line) x = 0 within half a metre of the origin.
fn crosses<V: Components>(from: V, to: V) -> bool {
    let (x, y) = (from.component(0), to.component(0));
    if x < 0.0 && y < 0.0 || x >= 0.0 && y >= 0.0 {
        return false;
    }
    let at = from + (to - from) * (x / (x - y));
    (1..3).all(|axis| at.component(axis).abs() < 0.5)
}

fn bullets() -> Vec<Shape3> {
    let tip = [
        DVec3::new(0.02, 0.0, 0.0),
        DVec3::new(-0.01, 0.006, 0.006),
        DVec3::new(-0.01, -0.006, 0.006),
        DVec3::new(-0.01, 0.006, -0.006),
        DVec3::new(-0.01, -0.006, -0.006),
    ];
    vec![
        Shape3::cuboid(DVec3::new(0.01, 0.004, 0.004)).unwrap(),
        Shape3::ball(0.005).unwrap(),
        Shape3::capsule(0.01, 0.003).unwrap(),
        Shape3::cylinder(0.01, 0.004).unwrap(),
        Shape3::hull(&tip).unwrap(),
        Shape3::cuboid(DVec3::new(0.01, 0.004, 0.004))
            .unwrap()
            .rounded(0.001)
            .unwrap(),
    ]
}

fn flat_bullets() -> Vec<Shape2> {
    vec![
        Shape2::cuboid(DVec2::new(0.01, 0.004)).unwrap(),
        Shape2::ball(0.005).unwrap(),
        Shape2::capsule(0.01, 0.003).unwrap(),
        Shape2::hull(&[
            DVec2::new(0.02, 0.0),
            DVec2::new(-0.01, 0.01),
            DVec2::new(-0.01, -0.01),
        ])
        .unwrap(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// 1,000 m/s at a fixed sheet of paper from any side, tumbling.
    #[test]
    fn no_bullet_goes_through_paper(
        from in prop::array::uniform3(-3.0..3.0_f64), aim in prop::array::uniform2(-0.45..0.45),
        away in 0.3..12.0, spin in prop::array::uniform3(-300.0..300.0), mesh in prop::bool::ANY,
    ) {
        for strategy in STRATEGIES {
            for (which, bullet) in bullets().into_iter().enumerate() {
                let mut world: World3 = world(strategy);
                let paper = if mesh {
                    let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
                    let corners = corners.map(|[y, z]| DVec3::new(0.0, y, z)).to_vec();
                    Shape3::mesh(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
                } else {
                    Shape3::cuboid(DVec3::new(PAPER, 0.5, 0.5)).unwrap()
                };
                world.add(Body::fixed(paper)).unwrap();
                let target = DVec3::new(0.0, aim[0], aim[1]);
                let direction = DVec3::new(1.0 + from[0].abs(), from[1], from[2]).normalize();
                let start = target - direction * (away + 0.05);
                let body = Body::rigid(bullet).at(start).moving(direction * 1000.0);
                let id = world.add(body.spinning(DVec3::from_array(spin))).unwrap();
                let mut before = start;
                for _ in 0..30 {
                    world.step().unwrap();
                    let now = world.pose(id).unwrap().position;
                    prop_assert!(!crosses(before, now), "{strategy}, {which}: {before} {now}");
                    before = now;
                }
            }
        }
    }

    #[test]
    fn no_flat_bullet_goes_through_paper(
        from in -3.0..3.0, aim in -0.45..0.45, away in 0.3..12.0, spin in -300.0..300.0,
        line in prop::bool::ANY,
    ) {
        for strategy in STRATEGIES {
            for (which, bullet) in flat_bullets().into_iter().enumerate() {
                let mut world: World2 = world(strategy);
                let paper = if line {
                    Shape2::polyline(vec![DVec2::new(0.0, -0.5), DVec2::new(0.0, 0.5)]).unwrap()
                } else {
                    Shape2::cuboid(DVec2::new(PAPER, 0.5)).unwrap()
                };
                world.add(Body::fixed(paper)).unwrap();
                let direction = DVec2::new(1.0, from).normalize();
                let start = DVec2::new(0.0, aim) - direction * (away + 0.05);
                let body = Body::rigid(bullet).at(start).moving(direction * 1000.0);
                let id = world.add(body.spinning(spin)).unwrap();
                let mut before = start;
                for _ in 0..30 {
                    world.step().unwrap();
                    let now = world.pose(id).unwrap().position;
                    prop_assert!(!crosses(before, now), "{strategy}, {which}: {before} {now}");
                    before = now;
                }
            }
        }
    }

    /// A rod of 2 m on a pivot that spins at up to 400 rad/s (its tips at 400 m/s) into a piece of
    /// paper does not come out on the other side.
    #[test]
    fn no_rod_spins_through_paper(
        angle in 0.6..2.5_f64, rate in 20.0..400.0_f64, side in prop::bool::ANY, at in 0.2..0.9,
        round in prop::bool::ANY,
    ) {
        let spin = if side { rate } else { -rate };
        for strategy in STRATEGIES {
            let mut world: World2 = world(strategy);
            // The rod turns about the origin; the paper stands on the x axis.
            world.add(Body::fixed(Shape2::cuboid(DVec2::new(0.05, PAPER)).unwrap())
                .at(DVec2::X * at)).unwrap();
            let rod = if round {
                Shape2::capsule(1.0, 0.002).unwrap()
            } else {
                Shape2::cuboid(DVec2::new(0.002, 1.0)).unwrap()
            };
            // Upright means an angle of 90° of its one half, -90° of the other.
            let turn = DRot2::from_angle(angle - std::f64::consts::FRAC_PI_2);
            let mut pivoted = Body::rigid(rod.clone()).turned(turn).spinning(spin);
            pivoted.locked_axes = [true; 3];
            let id = world.add(pivoted).unwrap();
            let start = world.pose(id).unwrap().rotation;
            for _ in 0..20 {
                world.step().unwrap();
                // Its halves meet the paper when it has turned by so much.
                let (up, down) = (angle, std::f64::consts::PI - angle);
                let turned = D2::turn_between(start, world.pose(id).unwrap().rotation);
                prop_assert!(turned < down + 0.02 && turned > -up - 0.02,
                    "{strategy}: turned by {turned}, paper at {down} and -{up}");
            }
        }
    }

    /// A rod in space that spins into a thin wall.
    #[test]
    fn no_rod_spins_through_a_wall(
        angle in 0.5..1.4_f64, rate in 20.0..400.0_f64, tilt in -0.3..0.3, at in 0.3..0.9,
    ) {
        for strategy in STRATEGIES {
            let mut world: World3 = world(strategy);
            let wall = Shape3::cuboid(DVec3::new(0.2, PAPER, 1.0)).unwrap();
            world.add(Body::fixed(wall).at(DVec3::X * (at + 0.2))).unwrap();
            let rod = Shape3::cuboid(DVec3::new(1.0, 0.003, 0.003)).unwrap();
            let turn = DQuat::from_rotation_z(angle) * DQuat::from_rotation_x(tilt);
            let spin = DVec3::Z * -rate;
            let id = world.add(Body::rigid(rod).turned(turn).spinning(spin)).unwrap();
            for _ in 0..4 {
                let step = world.step();
                // Struck at its tip it may whirl beyond all bounds: the run ends, and says so.
                if matches!(step, Err(StepError::OutOfRange { .. } | StepError::EnergyMade { .. })) {
                    break;
                }
                step.unwrap();
                let pose = world.pose(id).unwrap();
                // The half that was above the wall is above it still, or away from it.
                let tip = pose.point(DVec3::X);
                let middle = pose.point(DVec3::X * (at + 0.02));
                let crossed = middle.y < -0.01 && tip.y < -0.01 && tip.x > at + 0.1
                    && pose.position.x.abs() < 0.05 && pose.position.y.abs() < 0.05;
                prop_assert!(!crossed, "{strategy}: {pose:?}");
                // A step later it has bounced or been stopped.
                if world.motion(id).unwrap().spin.z > -0.5 * rate { break; }
            }
        }
    }

    /// Two boxes at 500 m/s each towards each other do not change places.
    #[test]
    fn fast_bodies_do_not_pass_each_other(
        gap in 0.5..8.0_f64, offset in -0.015..0.015, turn in prop::array::uniform3(-1.0..1.0),
    ) {
        for strategy in STRATEGIES {
            let mut world: World3 = world(strategy);
            let stone = Shape3::cuboid(DVec3::splat(0.02)).unwrap();
            let speed = DVec3::X * 500.0;
            let left = Body::rigid(stone.clone()).at(DVec3::X * -gap).moving(speed);
            let right = Body::rigid(stone).at(DVec3::new(gap, offset, 0.0)).moving(-speed);
            let left = left.turned(D3::turn(DQuat::IDENTITY, DVec3::from_array(turn)));
            let (left, right) = (world.add(left).unwrap(), world.add(right).unwrap());
            let apart = |world: &World3| {
                let at = |id| world.pose(id).unwrap().position;
                at(right) - at(left)
            };
            let mut before = apart(&world);
            for _ in 0..20 {
                world.step().unwrap();
                let now = apart(&world);
                let crossing = before + (now - before) * (before.x / (before.x - now.x));
                let is_through = now.x < 0.0 && before.x >= 0.0
                    && crossing.y.abs() < 0.03 && crossing.z.abs() < 0.03;
                prop_assert!(!is_through, "{strategy}: from {before} to {now}");
                before = now;
            }
        }
    }
}

/// What meets nothing flies as if nothing watched, and what passes close by as well.
#[test]
fn passing_bodies_keep_their_speed_and_their_way() {
    for strategy in STRATEGIES {
        let mut world: World3 = world(strategy);
        let dt = world.settings().dt;
        let stone = Shape3::cuboid(DVec3::new(0.1, 0.1, 0.1)).unwrap();
        world.add(Body::fixed(stone.clone())).unwrap();
        // Past its face at 5 cm, and far away.
        let bullet = Shape3::cuboid(DVec3::new(0.01, 0.004, 0.004)).unwrap();
        let speed = DVec3::X * 1000.0;
        for y in [0.154, 3.0] {
            let body = Body::rigid(bullet.clone()).at(DVec3::new(-6.3, y, 0.0));
            let id = world.add(body.moving(speed)).unwrap();
            for step in 1..10 {
                world.step().unwrap();
                let (at, motion) = (world.pose(id).unwrap().position, world.motion(id).unwrap());
                let expected = -6.3 + 1000.0 * dt * f64::from(step);
                assert!(
                    (at.x - expected).abs() < 1e-6,
                    "{strategy}, y = {y}: {at} {expected}"
                );
                assert!(
                    (motion.linear - speed).length() < 1e-9,
                    "{strategy}: {motion:?}"
                );
            }
            world.remove(id).unwrap();
        }
    }
}

/// A brick over another, less than a millimetre away, both flung and turning: they graze for the
/// whole step, which is no reason to hold either back.
#[test]
fn bricks_that_graze_each_other_go_as_far_as_they_are_fast() {
    for strategy in STRATEGIES {
        let mut world: World3 = world(strategy);
        let dt = world.settings().dt;
        let brick = Shape3::cuboid(DVec3::new(0.25, 0.1, 0.125)).unwrap();
        let fling = |at: DVec3, speed: f64, spin: f64| {
            let body = Body::rigid(brick.clone()).at(at).moving(DVec3::Z * speed);
            body.spinning(DVec3::Y * spin)
        };
        let low = world.add(fling(DVec3::ZERO, 3.7, -6.8)).unwrap();
        let above = DVec3::new(0.25, 0.2004, 0.05);
        let high = world.add(fling(above, 6.4, -7.6)).unwrap();
        for step in 0..4 {
            let before = [low, high].map(|id| world.pose(id).unwrap().position);
            world.step().unwrap();
            for (id, before) in [low, high].into_iter().zip(before) {
                let way = world.pose(id).unwrap().position - before;
                let expected = world.motion(id).unwrap().linear * dt;
                let short = (way - expected).length();
                assert!(short < 1e-6, "{strategy}, step {step}: {short} m short");
            }
        }
    }
}

/// A bullet at a plate that it would pass in one step: its momentum arrives, it does not.
/// (Six rounds of the real-time strategy do not conserve momentum in such a hit.)
#[test]
fn a_held_back_bullet_still_delivers_its_momentum() {
    let mut world: World3 = world("velocity");
    let plate = Shape3::cuboid(DVec3::new(PAPER, 0.5, 0.5)).unwrap();
    let plate = world.add(Body::rigid(plate).with_mass(1.0)).unwrap();
    let bullet = Shape3::cuboid(DVec3::new(0.01, 0.004, 0.004)).unwrap();
    let start = DVec3::new(-7.0, 2.0, 0.0);
    let velocity = -start.normalize() * 1000.0;
    let bullet = Body::rigid(bullet).at(start).moving(velocity);
    let bullet = world.add(bullet.with_mass(0.01)).unwrap();
    let before = velocity.x * 0.01;
    for _ in 0..40 {
        world.step().unwrap();
    }
    let along = |id| world.motion(id).unwrap().linear.component(0);
    let after = along(plate) + 0.01 * along(bullet);
    assert!(
        (after - before).abs() < 1e-6 * before,
        "{after} of {before} N s"
    );
    assert!(along(plate) > 5.0, "{} m/s", along(plate));
}

#[test]
fn clearance_is_the_distance_within_its_limit() {
    let a = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    let at = |x: f64| Pose::<D3>::at(DVec3::X * x);
    let found = Shape3::clearance((&a, &at(0.0)), (&a, &at(1.5)), 1.0).unwrap();
    assert!((found.distance - 0.5).abs() < 1e-9 && (found.normal - DVec3::X).length() < 1e-9);
    assert!(Shape3::clearance((&a, &at(0.0)), (&a, &at(3.5)), 1.0).is_none());
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    let found = Shape3::clearance((&a, &Pose::at(DVec3::Y)), (&floor, &at(0.0)), 1.0).unwrap();
    assert!((found.distance - 0.5).abs() < 1e-12 && (found.normal + DVec3::Y).length() < 1e-12);
}

/// A rod two hundred times as long as it is thick, about an axis across: it keeps spinning so. (The
/// midpoint rule's iteration diverges for it, and made 10⁶ rad/s of 90.)
#[test]
fn a_thin_rod_that_spins_keeps_its_spin_and_its_energy() {
    for strategy in STRATEGIES {
        for size in [0.003, 0.02] {
            let mut world: World3 = world(strategy);
            let rod = Shape3::cuboid(DVec3::new(1.0, size, size)).unwrap();
            let turn = DQuat::from_rotation_z(1.1) * DQuat::from_rotation_x(0.3);
            let spin = DVec3::Z * -91.5;
            let id = world.add(Body::rigid(rod).turned(turn).spinning(spin));
            let id = id.unwrap();
            for step in 0..300 {
                world.step().unwrap();
                let now = world.motion(id).unwrap().spin;
                let off = (now - spin).length();
                assert!(
                    off < 1e-6,
                    "{strategy}, {size} m: {now} rad/s after step {step}"
                );
            }
        }
    }
}
