//! The strategies `parallel` and `sequential` against truths.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::watched::{CLOTH, assert_apart, cloth};
use drystone::glam::{DVec2, DVec3};
use drystone::{
    Body, Deformable, Impacts, Keyframe, Material, Mesh, Motion, Pose, Script, Settings, Shape2,
    Shape3, Space, StepError, Strategy, Substance, World, World2, World3,
};

const DT: f64 = 1.0 / 240.0;

const BOTH: [Strategy; 2] = [
    Strategy::Parallel(Impacts::PARALLEL),
    Strategy::Sequential(Impacts::SEQUENTIAL),
];

fn world<S: Space>(strategy: Strategy) -> World<S> {
    World::new(Settings {
        dt: DT,
        strategy,
        ..Settings::default()
    })
    .unwrap()
}

#[test]
fn a_ball_bounces_to_e_squared_of_its_height() {
    for strategy in BOTH {
        let mut world: World3 = world(strategy);
        let rubber = Material {
            restitution: 0.8,
            ..Material::default()
        };
        let rubber = world.materials.add(rubber).unwrap();
        world
            .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).of(rubber))
            .unwrap();
        let ball = Body::rigid(Shape3::ball(0.1).unwrap())
            .of(rubber)
            .at(DVec3::Y * 1.1);
        let ball = world.add(ball).unwrap();
        let mut highest = 0.0_f64;
        let mut has_bounced = false;
        for _ in 0..220 {
            world.step().unwrap();
            let up = world.bodies().motion[ball.index()].linear.y > 0.0;
            has_bounced |= up;
            if has_bounced {
                highest = highest.max(world.pose(ball).unwrap().position.y - 0.1);
            }
        }
        assert!(
            (highest - 0.64).abs() < 0.02,
            "{}: {highest}",
            strategy.name()
        );
    }
}

#[test]
fn equal_balls_exchange_their_velocities() {
    for strategy in BOTH {
        let mut world: World2 = world(strategy);
        world.settings_mut().gravity = DVec2::ZERO;
        let steel = Material {
            restitution: 1.0,
            friction: 0.0,
            ..Material::default()
        };
        let steel = world.materials.add(steel).unwrap();
        let ball = |x: f64, v: f64| {
            Body::rigid(Shape2::ball(0.1).unwrap())
                .of(steel)
                .at(DVec2::X * x)
                .moving(DVec2::X * v)
        };
        let a = world.add(ball(0.0, 30.0)).unwrap();
        let b = world.add(ball(1.0, 0.0)).unwrap();
        for _ in 0..24 {
            world.step().unwrap();
        }
        let speed = |k: drystone::BodyId| world.bodies().motion[k.index()].linear.x;
        assert!(
            speed(a).abs() < 1e-6 && (speed(b) - 30.0).abs() < 1e-6,
            "{}",
            strategy.name()
        );
    }
}

#[test]
fn a_block_sticks_and_slides_around_tan_theta() {
    for strategy in BOTH {
        for (mu, slides) in [(0.45, true), (0.55, false)] {
            let mut world: World3 = world(strategy);
            let stone = Material {
                friction: mu,
                ..Material::default()
            };
            let stone = world.materials.add(stone).unwrap();
            let theta = 0.5_f64.atan();
            let normal = DVec3::new(-0.5, 1.0, 0.0).normalize();
            let down = DVec3::new(-1.0, -0.5, 0.0).normalize();
            world
                .add(Body::fixed(Shape3::half_space(normal).unwrap()).of(stone))
                .unwrap();
            let start = normal * (0.1 + 2e-4);
            let cube = Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap())
                .of(stone)
                .at(start)
                .turned(drystone::glam::DQuat::from_rotation_z(theta));
            let cube = world.add(cube).unwrap();
            for _ in 0..240 {
                let certificate = world.step().unwrap().certificate.unwrap();
                assert!(certificate.penetration_m == 0.0, "{certificate:?}");
            }
            let moved = (world.pose(cube).unwrap().position - start).dot(down);
            let exact = 0.5 * 9.81 * (theta.sin() - mu * theta.cos());
            if slides {
                // One corner after the other: the block rattles, and rattling loses grip.
                let within = if strategy == BOTH[0] { 0.1 } else { 0.25 };
                assert!(
                    (moved - exact).abs() < within * exact,
                    "{}: {moved} {exact}",
                    strategy.name()
                );
            } else {
                let creep = if strategy == BOTH[0] { 5e-3 } else { 0.05 };
                assert!(moved.abs() < creep, "{}: {moved}", strategy.name());
            }
        }
    }
}

#[test]
fn a_stack_stands_in_parallel() {
    let mut world: World3 = world(BOTH[0]);
    let half = DVec3::splat(0.1);
    let floor = DVec3::new(1.0, 0.1, 1.0);
    let ground = Body::fixed(Shape3::cuboid(floor).unwrap()).at(DVec3::Y * -0.1);
    let ground = world.add(ground).unwrap();
    let mut boxes = Vec::new();
    for k in 0..4 {
        let at = DVec3::Y * (0.1002 + 0.2002 * f64::from(k));
        boxes.push(
            world
                .add(Body::rigid(Shape3::cuboid(half).unwrap()).at(at))
                .unwrap(),
        );
    }
    let mut solids: Vec<_> = boxes.iter().map(|id| (*id, half)).collect();
    solids.push((ground, floor));
    for _ in 0..240 {
        world.step().unwrap();
        assert_apart(&world, &[], &solids);
    }
    for (k, id) in boxes.iter().enumerate() {
        let place = world.pose(*id).unwrap().position;
        let due = DVec3::Y * (0.1 + 0.2 * k as f64);
        assert!((place - due).length() < 5e-3, "{k}: {place}");
    }
}

#[test]
fn nothing_passes_a_card_or_a_cloth() {
    for strategy in BOTH {
        let mut world: World3 = world(strategy);
        let mesh = Mesh::cloth([0.6; 2], [8; 2]);
        let border = (0..81).filter(|k| k % 9 == 0 || k % 9 == 8 || k / 9 == 0 || k / 9 == 8);
        let sheet = Deformable::new(mesh, CLOTH).pinned(border);
        let sheet = world.add_deformable(sheet).unwrap();
        let half = DVec3::new(0.05, 2e-3, 0.08);
        let card = Body::rigid(Shape3::cuboid(half).unwrap())
            .at(DVec3::new(0.02, 0.5, 0.01))
            .moving(DVec3::Y * -60.0)
            .spinning(DVec3::new(30.0, 5.0, -12.0))
            .with_mass(0.01);
        let card = world.add(card).unwrap();
        for _ in 0..12 {
            world.step().unwrap();
            assert_apart(&world, &[sheet], &[(card, half)]);
        }
        let y = world.pose(card).unwrap().position.y;
        let lowest = world
            .nodes(sheet)
            .unwrap()
            .iter()
            .map(|n| world.pose(*n).unwrap().position.y)
            .fold(f64::INFINITY, f64::min);
        assert!(y > lowest - 0.01, "{}: {y} {lowest}", strategy.name());
    }
}

#[test]
fn fast_nodes_are_caught_by_the_fail_safe_and_the_report_says_so() {
    for strategy in BOTH {
        let few = Impacts {
            most: 1,
            ..Impacts::PARALLEL
        };
        let strategy = match strategy {
            Strategy::Parallel(_) => Strategy::Parallel(few),
            _ => Strategy::Sequential(few),
        };
        let mut world: World3 = world(strategy);
        world.settings_mut().gravity = DVec3::ZERO;
        let sheets = [cloth(&mut world, 5, 0.0), cloth(&mut world, 5, 0.02)];
        // The same numbers every time: a step of a congruential generator.
        let mut seed = 12345_u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1_u32 << 24) - 0.5
        };
        for sheet in sheets {
            for node in world.nodes(sheet).unwrap() {
                let linear = DVec3::new(random(), random(), random()) * 200.0;
                let motion = Motion {
                    linear,
                    ..Motion::default()
                };
                world.set_motion(node, motion).unwrap();
            }
        }
        let mut gave_up = false;
        for _ in 0..8 {
            let report = world.step().unwrap();
            gave_up |= report.resolution.gave_up;
            assert_apart(&world, &sheets, &[]);
        }
        assert!(gave_up, "{}", strategy.name());
    }
}

#[test]
fn a_closing_press_is_infeasible_when_there_is_no_room() {
    for strategy in BOTH {
        let mut world: World3 = world(strategy);
        let half = DVec3::new(0.3, 0.05, 0.3);
        let wall = Shape3::cuboid(half).unwrap();
        let bottom = world
            .add(Body::fixed(wall.clone()).at(DVec3::Y * -0.06))
            .unwrap();
        let keyframe = |time, y| Keyframe {
            time,
            pose: Pose::at(DVec3::Y * y),
        };
        let press = Script::Keyframes(vec![keyframe(0.0, 0.08), keyframe(0.25, 0.0)]);
        let top = Body::kinematic(wall, press)
            .at(DVec3::Y * 0.08)
            .named("press");
        let top = world.add(top).unwrap();
        let substance = Substance {
            thickness: 0.01,
            ..CLOTH
        };
        let mesh = Mesh::cloth([0.15; 2], [3; 2]);
        let soft = world
            .add_deformable(Deformable::new(mesh, substance))
            .unwrap();
        let mut ended = None;
        for _ in 0..60 {
            match world.step() {
                Ok(_) => assert_apart(&world, &[soft], &[(bottom, half), (top, half)]),
                Err(error) => {
                    ended = Some(error);
                    break;
                }
            }
        }
        let error = ended.expect("there is no room for it");
        assert!(matches!(error, StepError::Infeasible { .. }), "{error}");
        let room = world.pose(top).unwrap().position.y + 0.06 - 0.1;
        assert!(room > 0.01 && room < 0.013, "{}: {room}", strategy.name());
    }
}

/// A fast ball hits the first of two that lie together; the second, which nothing has hit, is
/// pushed on within the same step, and must be seen to reach a fourth.
#[test]
fn what_is_pushed_through_an_old_contact_is_looked_at_again() {
    for strategy in BOTH {
        for case in 0..24 {
            let mut world: World3 = world(strategy);
            world.settings_mut().gravity = DVec3::ZERO;
            let ball = Shape3::ball(0.5).unwrap();
            let gap = 0.004 + 0.002 * f64::from(case);
            let row = [(-4.0, 60.0), (0.0, 0.1), (1.001, 0.0), (2.02 + gap, 0.05)];
            let balls = row.map(|(x, speed)| {
                let ball = Body::rigid(ball.clone()).at(DVec3::X * x);
                world.add(ball.moving(DVec3::X * speed)).unwrap()
            });
            for step in 0..30 {
                world.step().unwrap();
                let places = balls.map(|ball| world.pose(ball).unwrap().position.x);
                for pair in places.windows(2) {
                    let apart = pair[1] - pair[0] - 1.0;
                    assert!(apart > 0.0, "{} {case} {step}: {apart}", strategy.name());
                }
            }
        }
    }
}
