//! The strategy `barrier` against truths: distances stay positive, forces are what they must be.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::watched::{CLOTH, assert_apart, cloth};
use drystone::glam::{DVec2, DVec3};
use drystone::{
    Barrier, Body, Deformable, Keyframe, Material, Mesh, Motion, Pose, Script, Settings, Shape2,
    Shape3, Strategy, World, World2, World3,
};
use drystone::{Space, StepError};

const DT: f64 = 1.0 / 60.0;

fn world<S: Space>() -> World<S> {
    World::new(Settings {
        dt: DT,
        strategy: Strategy::Barrier(Barrier::default()),
        ..Settings::default()
    })
    .unwrap()
}

/// Steps and checks that nothing overlaps at any time; the last certificate's momentum error.
fn run<S: Space>(world: &mut World<S>, steps: usize) {
    for _ in 0..steps {
        let report = world.step().unwrap();
        let certificate = report.certificate.unwrap();
        assert!(
            certificate.penetration_m == 0.0,
            "step {}: {certificate:?}",
            report.step
        );
        assert!(
            report.solve.converged,
            "step {}: {:?}",
            report.step, report.solve
        );
    }
}

/// Sum of the impulses on B of all contacts of the last step, over the step: N.
fn force_on<S: Space>(world: &World<S>, body: usize) -> S::Vector {
    let mut sum = S::Vector::default();
    for contact in world.solved_contacts().iter() {
        if contact.b as usize == body {
            sum += contact.impulse * (1.0 / DT);
        } else if contact.a as usize == body {
            sum -= contact.impulse * (1.0 / DT);
        }
    }
    sum
}

#[test]
fn a_ball_falls_freely_and_comes_to_rest_with_its_weight_on_the_floor() {
    let mut world: World3 = world();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let ball = world
        .add(
            Body::rigid(Shape3::ball(0.1).unwrap())
                .at(DVec3::new(0.0, 0.4, 0.0))
                .with_mass(2.0),
        )
        .unwrap();
    run(&mut world, 6);
    let fallen = 9.81 * DT * DT * 21.0;
    let y = world.pose(ball).unwrap().position.y;
    assert!((y - (0.4 - fallen)).abs() < 1e-9, "{y}");
    run(&mut world, 60);
    let y = world.pose(ball).unwrap().position.y;
    assert!(y > 0.1 && y < 0.101, "{y}");
    assert!((force_on(&world, ball.index()).y - 2.0 * 9.81).abs() < 1e-3);
}

#[test]
fn a_box_sticks_and_slides_around_tan_theta() {
    for (mu, slides) in [(0.45, true), (0.55, false)] {
        let mut world: World3 = world();
        let stone = world
            .materials
            .add(Material {
                friction: mu,
                ..Material::default()
            })
            .unwrap();
        let slope = 0.5_f64; // tan θ
        let normal = DVec3::new(-slope, 1.0, 0.0).normalize();
        let down = DVec3::new(-1.0, -slope, 0.0).normalize();
        world
            .add(Body::fixed(Shape3::half_space(normal).unwrap()).of(stone))
            .unwrap();
        let turn = drystone::glam::DQuat::from_rotation_z(slope.atan());
        let start = normal * (0.1 + 5e-4);
        let cube = Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap())
            .of(stone)
            .at(start)
            .turned(turn);
        let cube = world.add(cube).unwrap();
        run(&mut world, 60);
        let moved = (world.pose(cube).unwrap().position - start).dot(down);
        let theta = slope.atan();
        let exact = 0.5 * 9.81 * (theta.sin() - mu * theta.cos());
        if slides {
            assert!(
                (moved - exact).abs() < 0.03 * exact + 5e-3,
                "{moved} {exact}"
            );
        } else {
            assert!(moved < 2e-3, "{moved}");
        }
    }
}

#[test]
fn a_stack_in_the_plane_stands_and_presses_with_its_weight() {
    let mut world: World2 = world();
    world
        .add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()))
        .unwrap();
    let mut boxes = Vec::new();
    for k in 0..5 {
        let at = DVec2::new(0.0, 0.1 + 5e-4 + f64::from(k) * 0.2005);
        let body = Body::rigid(Shape2::cuboid(DVec2::splat(0.1)).unwrap())
            .at(at)
            .with_mass(1.0);
        boxes.push(world.add(body).unwrap());
    }
    run(&mut world, 90);
    for (k, id) in boxes.iter().enumerate() {
        let place = world.pose(*id).unwrap().position;
        assert!(place.x.abs() < 1e-4, "{k}: {place}");
        assert!(
            (place.y - (0.1 + 0.2 * k as f64)).abs() < 5e-3,
            "{k}: {place}"
        );
    }
    let on_floor: f64 = (world.solved_contacts().iter())
        .filter(|c| c.a == 0)
        .map(|c| c.impulse.y / DT)
        .sum();
    assert!((on_floor - 5.0 * 9.81).abs() < 0.05, "{on_floor}");
}

#[test]
fn a_thousand_times_heavier_box_rests_on_a_light_one() {
    let mut world: World3 = world();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let size = Shape3::cuboid(DVec3::splat(0.1)).unwrap();
    let light = Body::rigid(size.clone())
        .at(DVec3::Y * 0.1005)
        .with_mass(1.0);
    let light = world.add(light).unwrap();
    let heavy = Body::rigid(size).at(DVec3::Y * 0.301).with_mass(1000.0);
    let heavy = world.add(heavy).unwrap();
    run(&mut world, 60);
    let y = world.pose(heavy).unwrap().position.y;
    assert!(y > 0.3 && y < 0.302, "{y}");
    let (above, net) = (
        force_on(&world, heavy.index()).y,
        force_on(&world, light.index()).y,
    );
    assert!((above - 9810.0).abs() < 10.0, "{above}");
    assert!((net - 9.81).abs() < 10.0, "{net}");
}

#[test]
fn a_start_that_touches_is_refused_by_name() {
    let mut world: World3 = world();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).named("floor"))
        .unwrap();
    let ball = Body::rigid(Shape3::ball(0.1).unwrap())
        .at(DVec3::Y * 0.09)
        .named("ball");
    world.add(ball).unwrap();
    let error = world.step().unwrap_err();
    assert!(matches!(error, StepError::Overlap { .. }));
    let text = error.to_string();
    assert!(
        text.contains("floor") && text.contains("ball") && text.contains("barrier"),
        "{text}"
    );
}

#[test]
fn a_cloth_drapes_over_a_box_without_intersections() {
    let mut world: World3 = world();
    let half = DVec3::new(0.15, 0.1, 0.15);
    let block = world
        .add(Body::fixed(Shape3::cuboid(half).unwrap()))
        .unwrap();
    let soft = cloth(&mut world, 12, 0.108);
    for _ in 0..40 {
        let certificate = world.step().unwrap().certificate.unwrap();
        assert!(certificate.penetration_m == 0.0, "{certificate:?}");
        assert_apart(&world, &[soft], &[(block, half)]);
    }
    let nodes = world.nodes(soft).unwrap();
    let corner = world.pose(nodes[0]).unwrap().position.y;
    let middle = world.pose(nodes[nodes.len() / 2]).unwrap().position.y;
    assert!(corner < 0.05 && middle > 0.1, "{corner} {middle}");
}

#[test]
fn a_closing_box_crumples_a_cloth_until_there_is_no_room_and_says_so() {
    let mut world: World3 = world();
    let half = DVec3::new(0.3, 0.05, 0.3);
    let wall = Shape3::cuboid(half).unwrap();
    let bottom = world
        .add(
            Body::fixed(wall.clone())
                .at(DVec3::Y * -0.06)
                .named("bottom"),
        )
        .unwrap();
    let keyframe = |time, y| Keyframe {
        time,
        pose: Pose::at(DVec3::Y * y),
    };
    let press = Script::Keyframes(vec![keyframe(0.0, 0.1), keyframe(1.0, 0.0)]);
    let top = Body::kinematic(wall, press)
        .at(DVec3::Y * 0.1)
        .named("press");
    let top = world.add(top).unwrap();
    let soft = cloth(&mut world, 5, 0.02);
    let mut closed = None;
    for _ in 0..60 {
        match world.step() {
            Ok(_) => assert_apart(&world, &[soft], &[(bottom, half), (top, half)]),
            Err(error) => {
                closed = Some(error);
                break;
            }
        }
    }
    let error = closed.expect("a 4 mm cloth can't be pressed to nothing");
    let room = world.pose(top).unwrap().position.y + 0.06 - 0.1;
    assert!(matches!(error, StepError::Infeasible { .. }), "{error}");
    assert!(error.to_string().contains("infeasible"), "{error}");
    // The cloth is as thick as the room that is left, but for the last step of the press.
    assert!(room > 4e-3 && room < 4e-3 + 2.5 * 0.1 * DT, "{room}");
}

#[test]
fn a_sheet_at_fifty_metres_a_second_does_not_pass_one_that_is_held() {
    let mut world: World3 = world();
    world.settings_mut().dt = 1.0 / 240.0;
    let border = (0..81).filter(|k| k % 9 == 0 || k % 9 == 8 || k / 9 == 0 || k / 9 == 8);
    let held = Deformable::new(Mesh::cloth([0.8; 2], [8; 2]), CLOTH).pinned(border);
    let held = world.add_deformable(held).unwrap();
    let thrown = cloth(&mut world, 4, 0.1);
    for node in world.nodes(thrown).unwrap() {
        let motion = Motion {
            linear: DVec3::new(1.0, -50.0, 0.5),
            ..Motion::default()
        };
        world.set_motion(node, motion).unwrap();
    }
    for _ in 0..12 {
        world.step().unwrap();
        assert_apart(&world, &[held, thrown], &[]);
    }
    let heights = |id| -> Vec<f64> {
        let nodes = world.nodes(id).unwrap();
        nodes
            .iter()
            .map(|n| world.pose(*n).unwrap().position.y)
            .collect()
    };
    let lowest = |id| heights(id).into_iter().fold(f64::INFINITY, f64::min);
    // It would be two metres down.
    assert!(
        lowest(thrown) > lowest(held),
        "{} {}",
        lowest(thrown),
        lowest(held)
    );
}

#[test]
fn a_spinning_box_lands_on_another_and_both_come_to_rest() {
    let mut world: World3 = world();
    let half = DVec3::new(0.1, 0.05, 0.15);
    let shape = Shape3::cuboid(half).unwrap();
    let floor = DVec3::new(1.0, 0.1, 1.0);
    let ground = world
        .add(Body::fixed(Shape3::cuboid(floor).unwrap()).at(DVec3::Y * -0.1))
        .unwrap();
    let still = world
        .add(Body::rigid(shape.clone()).at(DVec3::Y * 0.0505))
        .unwrap();
    let thrown = Body::rigid(shape)
        .at(DVec3::new(0.05, 0.3, 0.02))
        .spinning(DVec3::new(3.0, 5.0, -4.0));
    let thrown = world.add(thrown).unwrap();
    for _ in 0..120 {
        let certificate = world.step().unwrap().certificate.unwrap();
        assert!(certificate.penetration_m < 1e-9, "{certificate:?}");
        assert_apart(
            &world,
            &[],
            &[(ground, floor), (still, half), (thrown, half)],
        );
    }
    let energy = world.energy().kinetic;
    assert!(energy < 1e-3, "{energy}");
}

/// A ball on a slope of tan θ = 0.3 with μ = 0.5 rolls without slipping: 5/7 g sin θ.
#[test]
fn a_ball_rolls_down_a_slope() {
    let mut world: World3 = world();
    let stone = Material {
        friction: 0.5,
        ..Material::default()
    };
    let stone = world.materials.add(stone).unwrap();
    let normal = DVec3::new(-0.3, 1.0, 0.0).normalize();
    let slope = Body::fixed(Shape3::half_space(normal).unwrap()).of(stone);
    world.add(slope).unwrap();
    let start = normal * 0.1005;
    let ball = Body::rigid(Shape3::ball(0.1).unwrap()).of(stone).at(start);
    let ball = world.add(ball).unwrap();
    run(&mut world, 60);
    let moved = (world.pose(ball).unwrap().position - start).length();
    let theta = 0.3_f64.atan();
    let exact = 0.5 * 5.0 / 7.0 * 9.81 * theta.sin();
    assert!((moved - exact).abs() < 0.03 * exact, "{moved} {exact}");
    let motion = world.bodies().motion[ball.index()];
    let rolling = motion.linear.length() - 0.1 * motion.spin.length();
    // A step turns it by a third of a radian, whose chord is 2 % shorter than its arc.
    assert!(rolling.abs() < 0.03 * motion.linear.length(), "{motion:?}");
}
