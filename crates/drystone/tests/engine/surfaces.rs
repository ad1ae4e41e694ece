//! Meshes, polylines and height fields: joints are no obstacles, fronts are fronts.
#![allow(clippy::unwrap_used)]

use drystone::glam::{DQuat, DRot2, DVec2, DVec3};
use drystone::{
    Body, BodyId, Components, D2, D3, Linear, Material, Pgs, Settings, Shape2, Shape3, ShapeError,
    SolverKind, Space, Strategy, World, World2, World3,
};
use std::f64::consts::FRAC_PI_2;

const STRATEGIES: [&str; 2] = ["velocity", "realtime"];
const SPEED: f64 = 5.0;

fn world<S: Space>(strategy: &str) -> World<S> {
    let strategy = Strategy::named(strategy).unwrap();
    let dt = strategy.usual_dt();
    // Exact enough to see the smallest kick.
    let solver = SolverKind::Pgs(Pgs {
        iterations: 5000,
        tolerance: 1e-12,
    });
    World::new(Settings {
        dt,
        strategy,
        solver,
        ..Settings::default()
    })
    .unwrap()
}

/// A flat floor of many triangles of uneven sizes, each with its own corners.
fn floor_of_triangles(turn: DQuat) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let line = |k: i32, step: f64| f64::from(k) * step + 0.03 * f64::from(k * k % 5);
    let mut points = Vec::new();
    for i in -4..32 {
        for j in -8..8 {
            let at = |i: i32, j: i32| turn * DVec3::new(line(i, 0.21), 0.0, line(j, 0.17));
            let [p, q, r, s] = [at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)];
            points.extend(if (i + j) % 2 == 0 {
                [p, q, r, r, q, s]
            } else {
                [p, q, s, p, s, r]
            });
        }
    }
    let triangles = (0..points.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
    let triangles = triangles.collect();
    (points, triangles)
}

/// A body that slides without friction.
fn slider<S: Space>(
    strategy: &str,
    floor: &S::Shape,
    (shape, rotation, height): &(S::Shape, S::Rotation, f64),
) -> (World<S>, BodyId) {
    let mut world = world::<S>(strategy);
    let smooth = Material {
        friction: 0.0,
        ..Material::default()
    };
    let smooth = world.materials.add(smooth).unwrap();
    world.add(Body::fixed(floor.clone()).of(smooth)).unwrap();
    let along = S::Vector::default().with_component(0, SPEED);
    let up = S::Vector::default().with_component(1, *height);
    let body = Body::rigid(shape.clone()).at(up).turned(*rotation);
    let id = world.add(body.moving(along).of(smooth)).unwrap();
    (world, id)
}

/// Slides a body of each shape over a floor for a second. Its velocity along the floor stays, and
/// everything else is as over a plane (where bodies settle a little, and a solver stops somewhere).
fn slides<S: Space>(floor: &S::Shape, plane: &S::Shape, bodies: &[(S::Shape, S::Rotation, f64)]) {
    for strategy in STRATEGIES {
        for (which, body) in bodies.iter().enumerate() {
            let (mut world, id) = slider::<S>(strategy, floor, body);
            let (mut even, same) = slider::<S>(strategy, plane, body);
            while world.time() < 1.0 {
                world.step().unwrap();
                even.step().unwrap();
                let (pose, motion) = (world.pose(id).unwrap(), world.motion(id).unwrap());
                let (expected, ideal) = (even.pose(same).unwrap(), even.motion(same).unwrap());
                let what = format!("{strategy}, body {which}, {} s: {motion:?}", world.time());
                let up = S::Vector::default().with_component(1, motion.linear.component(1));
                let level = motion.linear - up - S::Vector::default().with_component(0, SPEED);
                assert!(level.length() < 1e-6 * SPEED, "{what}");
                assert!(
                    (motion.linear - ideal.linear).length() < 1e-6 * SPEED,
                    "{what} {ideal:?}"
                );
                assert!(
                    (motion.spin - ideal.spin).length() < 1e-5,
                    "{what} {ideal:?}"
                );
                let apart = (pose.position - expected.position).length();
                assert!(apart < 1e-6, "{what}: {apart} m");
            }
            assert!(world.pose(id).unwrap().position.component(0) > 4.9);
        }
    }
}

fn solids() -> Vec<(Shape3, DQuat, f64)> {
    let lying = DQuat::from_rotation_x(FRAC_PI_2);
    let along = DQuat::from_rotation_z(FRAC_PI_2);
    let corners: Vec<DVec3> = (0..6)
        .map(|k| {
            let (sin, cos) = f64::from(k % 3).mul_add(2.0, 0.3).sin_cos();
            DVec3::new(0.3 * cos, if k < 3 { 0.2 } else { -0.2 }, 0.3 * sin)
        })
        .collect();
    vec![
        (
            Shape3::cuboid(DVec3::new(0.25, 0.25, 0.25)).unwrap(),
            DQuat::IDENTITY,
            0.25,
        ),
        (
            Shape3::cuboid(DVec3::new(0.05, 0.02, 0.04)).unwrap(),
            DQuat::from_rotation_y(0.7),
            0.02,
        ),
        (Shape3::ball(0.2).unwrap(), DQuat::IDENTITY, 0.2),
        (Shape3::capsule(0.3, 0.1).unwrap(), lying, 0.1),
        (Shape3::capsule(0.3, 0.1).unwrap(), along, 0.1),
        (Shape3::cylinder(0.1, 0.2).unwrap(), DQuat::IDENTITY, 0.1),
        (Shape3::hull(&corners).unwrap(), DQuat::IDENTITY, 0.2),
    ]
}

#[test]
fn bodies_slide_over_a_flat_floor_of_triangles_as_over_a_plane() {
    let plane = Shape3::half_space(DVec3::Y).unwrap();
    let (points, triangles) = floor_of_triangles(DQuat::IDENTITY);
    let floor = Shape3::mesh(points.clone(), triangles.clone()).unwrap();
    slides::<D3>(&floor, &plane, &solids());
    let floor = Shape3::one_sided_mesh(points, triangles).unwrap();
    slides::<D3>(&floor, &plane, &solids());
}

#[test]
fn bodies_slide_over_a_flat_height_field() {
    let plane = Shape3::half_space(DVec3::Y).unwrap();
    let floor = Shape3::height_field(DVec2::new(0.23, 0.31), 61, &[0.0; 61 * 21]).unwrap();
    slides::<D3>(&floor, &plane, &solids());
}

#[test]
fn flat_bodies_slide_over_straight_chains() {
    let turned = DRot2::from_angle(FRAC_PI_2);
    let bodies = [
        (
            Shape2::cuboid(DVec2::splat(0.25)).unwrap(),
            DRot2::IDENTITY,
            0.25,
        ),
        (
            Shape2::cuboid(DVec2::new(0.05, 0.02)).unwrap(),
            DRot2::IDENTITY,
            0.02,
        ),
        (Shape2::ball(0.2).unwrap(), DRot2::IDENTITY, 0.2),
        (Shape2::capsule(0.3, 0.1).unwrap(), turned, 0.1),
    ];
    let plane = Shape2::half_space(DVec2::Y).unwrap();
    let points: Vec<DVec2> = (-20..60)
        .map(|k| DVec2::X * (0.13 * f64::from(k)))
        .collect();
    let chain = Shape2::polyline(points.clone()).unwrap();
    let one_sided = Shape2::one_sided_polyline(points).unwrap();
    let field = Shape2::height_field(0.13, &[0.0; 120]).unwrap();
    for floor in [chain, one_sided, field] {
        slides::<D2>(&floor, &plane, &bodies);
    }
}

/// A wall that stands on a floor of triangles still stops what slides into it, and a step's edge
/// still is an edge.
#[test]
fn real_edges_and_walls_still_hold() {
    for strategy in STRATEGIES {
        let mut world: World3 = world(strategy);
        let smooth = world
            .materials
            .add(Material {
                friction: 0.0,
                ..Material::default()
            })
            .unwrap();
        let mut points: Vec<DVec3> = Vec::new();
        let mut triangles = Vec::new();
        // Floor, riser and upper floor of a step, each in four strips along z.
        let profile = [
            (-4.0, 0.0),
            (-1.0, 0.0),
            (2.0, 0.0),
            (2.0, 0.6),
            (2.2, 0.6),
            (6.0, 0.6),
        ];
        for (x, y) in profile {
            points.extend((0..5).map(|k| DVec3::new(x, y, f64::from(k) - 2.0)));
        }
        for i in 0..5 {
            for j in 0..4 {
                let [p, q] = [5 * i + j, 5 * i + j + 1];
                triangles.extend([[p, q, p + 5], [p + 5, q, q + 5]]);
            }
        }
        let step = Shape3::mesh(points, triangles).unwrap();
        world.add(Body::fixed(step).of(smooth)).unwrap();
        let stone = Shape3::cuboid(DVec3::splat(0.25)).unwrap();
        let body = Body::rigid(stone)
            .at(DVec3::new(0.0, 0.25, 0.1))
            .moving(DVec3::X * 2.0);
        let id = world.add(body.of(smooth)).unwrap();
        while world.time() < 1.5 {
            world.step().unwrap();
            let x = world.pose(id).unwrap().position.x;
            assert!(x < 1.76, "{strategy}: the stone is in the riser, at {x} m");
        }
        let motion = world.motion(id).unwrap();
        assert!(motion.linear.x < 0.01, "{strategy}: {motion:?}");
    }
}

fn fall<S: Space>(world: &mut World<S>, id: BodyId, seconds: f64) -> f64 {
    let end = world.time() + seconds;
    while world.time() < end {
        world.step().unwrap();
    }
    world.pose(id).unwrap().position.component(1)
}

#[test]
fn one_sided_surfaces_hold_from_the_front_and_let_pass_from_behind() {
    for strategy in STRATEGIES {
        let (points, triangles) = floor_of_triangles(DQuat::IDENTITY);
        for (start, speed, lands) in [(0.5, 0.0, 0.1), (-1.0, 8.0, 0.1)] {
            let mut world: World3 = world(strategy);
            let floor = Shape3::one_sided_mesh(points.clone(), triangles.clone()).unwrap();
            world.add(Body::fixed(floor)).unwrap();
            let body = Body::rigid(Shape3::cuboid(DVec3::splat(0.1)).unwrap());
            let body = body
                .at(DVec3::new(0.5, start, 0.1))
                .moving(DVec3::Y * speed);
            let id = world.add(body).unwrap();
            // Thrown up from below it flies freely to its peak, then lands on top.
            if speed > 0.0 {
                let peak = start + speed * speed / (2.0 * 9.81);
                let reached = fall(&mut world, id, speed / 9.81);
                assert!(
                    (reached - peak).abs() < 0.1,
                    "{strategy}: {reached} of {peak} m"
                );
            }
            let height = fall(&mut world, id, 2.0);
            assert!((height - lands).abs() < 2e-3, "{strategy}: {height} m");
        }
        let line: Vec<DVec2> = (-20..20)
            .map(|k| DVec2::X * (0.13 * f64::from(k)))
            .collect();
        let mut world: World2 = world(strategy);
        world
            .add(Body::fixed(Shape2::one_sided_polyline(line).unwrap()))
            .unwrap();
        let body = Body::rigid(Shape2::ball(0.1).unwrap());
        let id = world
            .add(body.at(DVec2::Y * -1.0).moving(DVec2::Y * 8.0))
            .unwrap();
        let reached = fall(&mut world, id, 8.0 / 9.81);
        assert!(
            (reached - (64.0 / (2.0 * 9.81) - 1.0)).abs() < 0.1,
            "{strategy}: {reached} m"
        );
        let height = fall(&mut world, id, 2.0);
        assert!((height - 0.1).abs() < 2e-3, "{strategy}: {height} m");
    }
}

/// A ball without friction in a valley of the height field y = x²/2 + z²/2 swings about its
/// bottom and keeps its energy; put into the ground it comes up again.
#[test]
fn a_height_field_is_a_landscape() {
    let (columns, spacing) = (81, 0.05);
    let height = |k: usize| (k as f64 - 40.0) * spacing;
    let heights: Vec<f64> = (0..columns * columns)
        .map(|k| 0.5 * (height(k % columns).powi(2) + height(k / columns).powi(2)))
        .collect();
    for strategy in STRATEGIES {
        let field = Shape3::height_field(DVec2::splat(spacing), columns, &heights).unwrap();
        let mut world: World3 = world(strategy);
        // Of the size of a cell in a step, so that bodies see the slopes they come to.
        world.settings_mut().dt = 1.0 / 240.0;
        let smooth = world
            .materials
            .add(Material {
                friction: 0.0,
                ..Material::default()
            })
            .unwrap();
        world.add(Body::fixed(field.clone()).of(smooth)).unwrap();
        let ball = Shape3::ball(0.1).unwrap();
        let at = DVec3::new(0.8, 0.365 + 0.14, 0.3);
        let id = world
            .add(Body::rigid(ball.clone()).at(at).of(smooth))
            .unwrap();
        let start = at.y;
        for _ in 0..400 {
            world.step().unwrap();
            let at = world.pose(id).unwrap().position;
            assert!(at.y < start + 0.01, "{strategy}: up to {} m", at.y);
            let ground = 0.5 * (at.x * at.x + at.z * at.z);
            assert!(at.y > ground + 0.08, "{strategy}: below ground at {at}");
        }
        let mut world: World3 = self::world(strategy);
        world.add(Body::fixed(field)).unwrap();
        let id = world
            .add(Body::rigid(ball).at(DVec3::new(0.01, -0.05, 0.01)))
            .unwrap();
        let height = fall(&mut world, id, 3.0);
        assert!(height > 0.09, "{strategy}: {height} m");
    }
}

#[test]
fn bad_height_fields_are_refused() {
    assert!(matches!(
        Shape3::height_field(DVec2::ONE, 3, &[0.0; 7]),
        Err(ShapeError::Grid {
            heights: 7,
            columns: 3
        })
    ));
    assert!(Shape3::height_field(DVec2::ONE, 0, &[]).is_err());
    assert!(Shape3::height_field(DVec2::ONE, 3, &[0.0; 3]).is_err());
    assert!(Shape3::height_field(DVec2::new(0.0, 1.0), 2, &[0.0; 4]).is_err());
    assert!(matches!(
        Shape3::height_field(DVec2::ONE, 2, &[0.0, 1.0, f64::NAN, 0.0]),
        Err(ShapeError::Point { index: 2 })
    ));
    assert!(Shape2::height_field(1.0, &[0.0]).is_err());
    assert!(Shape2::height_field(-1.0, &[0.0, 1.0]).is_err());
}
