//! Nothing passes through a deformable: marbles, bullets, cards, rods and landscapes.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{
    Body, BodyId, D2, D3, Deformable, DeformableId, Mesh, Pose, Settings, Shape2, Shape3,
    StepError, Substance, World2, World3,
};

fn world(gravity: f64) -> World3 {
    World3::new(Settings {
        dt: 1.0 / 120.0,
        gravity: DVec3::NEG_Y * gravity,
        ..Settings::reference()
    })
    .unwrap()
}

fn woven() -> Substance {
    Substance {
        young: 4e5,
        density: 100.0,
        thickness: 0.01,
        damping: 5e-3,
        bending: 0.02,
        ..Substance::default()
    }
}

/// A square cloth in the plane y = 0, held at its border.
fn add_held_cloth(world: &mut World3, size: f64, n: u32) -> DeformableId {
    let mesh = Mesh::<D3>::cloth([size, size], [n, n]);
    let on_border = |k: &u32| [0, n].contains(&(k % (n + 1))) || [0, n].contains(&(k / (n + 1)));
    let border = (0..(n + 1) * (n + 1)).filter(on_border);
    let cloth = Deformable::new(mesh, woven()).pinned(border);
    world.add_deformable(cloth).unwrap()
}

/// Height of a cloth over or under a point of the plane, by its faces; `None` beside it.
fn height_at(world: &World3, cloth: DeformableId, x: f64, z: f64) -> Option<f64> {
    let at = |k: u32| world.bodies().position[k as usize];
    let p = DVec2::new(x, z);
    world.faces(cloth).unwrap().iter().find_map(|face| {
        let [a, b, c] = face.map(at);
        let flat = |v: DVec3| DVec2::new(v.x, v.z);
        let area = (flat(b) - flat(a)).perp_dot(flat(c) - flat(a));
        let wa = (flat(b) - p).perp_dot(flat(c) - p) / area;
        let wb = (flat(c) - p).perp_dot(flat(a) - p) / area;
        let wc = 1.0 - wa - wb;
        let is_in = [wa, wb, wc].iter().all(|&w| w >= -1e-12);
        is_in.then_some(wa * a.y + wb * b.y + wc * c.y)
    })
}

fn position(world: &World3, id: BodyId) -> DVec3 {
    world.pose(id).unwrap().position
}

/// Asserts that a body's centre is over the cloth, where it is over or under it at all.
fn assert_over(world: &World3, cloth: DeformableId, body: BodyId, what: &str) {
    let p = position(world, body);
    if let Some(height) = height_at(world, cloth, p.x, p.z) {
        assert!(p.y > height, "{what}: {} under {height}", p.y);
    } else {
        assert!(p.y > -0.9, "{what} fell through: {p}");
    }
}

/// Small things of every shape, each a fraction of a square, dropped on the middle of squares.
#[test]
fn small_bodies_of_every_shape_lie_on_a_coarse_cloth() {
    let shapes = [
        ("ball", Shape3::ball(0.02).unwrap()),
        ("capsule", Shape3::capsule(0.02, 0.01).unwrap()),
        ("cylinder", Shape3::cylinder(0.02, 0.015).unwrap()),
        ("cone", Shape3::cone(0.02, 0.015).unwrap()),
        ("box", Shape3::cuboid(DVec3::splat(0.015)).unwrap()),
        (
            "rounded box",
            Shape3::cuboid(DVec3::splat(0.01))
                .unwrap()
                .rounded(0.006)
                .unwrap(),
        ),
    ];
    let mut world = world(9.81);
    // Squares of 0.2 m.
    let cloth = add_held_cloth(&mut world, 1.4, 7);
    let mut list = Vec::new();
    for (k, (name, shape)) in shapes.into_iter().enumerate() {
        let x = -0.35 + 0.4 * (k % 3) as f64 + 0.02;
        let z = -0.25 + 0.4 * (k / 3) as f64;
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 0.3, 0.2).normalize(), 0.7);
        let body = Body::rigid(shape)
            .at(DVec3::new(x, 0.1, z))
            .turned(turn)
            .with_mass(0.05);
        list.push((name, world.add(body).unwrap()));
    }
    for _ in 0..240 {
        world.step().unwrap();
        for (name, body) in &list {
            assert_over(&world, cloth, *body, name);
        }
    }
    // What lies presses with its weight.
    let (_, ball) = list[0];
    let index = ball.index() as u32;
    let push: f64 = world
        .solved_contacts()
        .iter()
        .map(|c| match index {
            k if k == c.b => c.impulse.y,
            k if k == c.a => -c.impulse.y,
            _ => 0.0,
        })
        .sum();
    let weight = 0.05 * 9.81 / 120.0;
    assert!((push / weight - 1.0).abs() < 0.05, "{push} {weight}");
}

/// Bullets and cards at 100 m/s and more, at nodes, edges and faces.
#[test]
fn nothing_shoots_through_cloth() {
    let ball = Shape3::ball(0.01).unwrap();
    let stone = Shape3::cuboid(DVec3::splat(0.02)).unwrap();
    let card = Shape3::cuboid(DVec3::new(0.05, 0.001, 0.03)).unwrap();
    for (what, shape, mass) in [
        ("ball", ball, 0.01),
        ("box", stone, 0.1),
        ("card", card, 0.02),
    ] {
        for speed in [100.0, 400.0] {
            for aim in [DVec2::ZERO, DVec2::new(0.04, 0.0), DVec2::new(0.05, 0.02)] {
                let mut world = world(0.0);
                let cloth = add_held_cloth(&mut world, 1.0, 8);
                let bullet = Body::rigid(shape.clone())
                    .at(DVec3::new(aim.x, 0.6, aim.y))
                    .moving(DVec3::new(0.0, -speed, 0.0))
                    .turned(DQuat::from_rotation_z(1.3))
                    .with_mass(mass);
                let bullet = world.add(bullet).unwrap();
                let particle = Body::particle(Shape3::ball(0.008).unwrap())
                    .at(DVec3::new(aim.x + 0.2, 0.5, aim.y))
                    .moving(DVec3::new(0.0, -speed, 0.0))
                    .with_mass(0.005);
                let particle = world.add(particle).unwrap();
                for step in 0..60 {
                    world.step().unwrap();
                    let label = format!("{what} at {speed} m/s, aim {aim}, step {step}");
                    let side = side_of_sheet(&world, cloth, position(&world, bullet));
                    assert!(side, "{label}");
                    let side = side_of_sheet(&world, cloth, position(&world, particle));
                    assert!(side, "particle, {label}");
                }
            }
        }
    }
}

/// Whether a point is over a sheet that is held at its border and may be stretched to any shape: a
/// ray up from what is over it crosses it an even number of times.
fn side_of_sheet(world: &World3, cloth: DeformableId, p: DVec3) -> bool {
    let at = |k: u32| world.bodies().position[k as usize];
    // A direction that meets no edge exactly.
    let up = DVec3::new(0.003_1, 1.0, 0.001_7);
    let crossings = world
        .faces(cloth)
        .unwrap()
        .iter()
        .filter(|face| {
            let [a, b, c] = face.map(at);
            let normal = (b - a).cross(c - a);
            let t = normal.dot(a - p) / normal.dot(up);
            let q = p + up * t;
            let inside = |u: DVec3, v: DVec3| (v - u).cross(q - u).dot(normal) >= 0.0;
            t > 0.0 && inside(a, b) && inside(b, c) && inside(c, a)
        })
        .count();
    // Beside the sheet it has flown over the border.
    let outside = p.x.abs() > 0.5 || p.z.abs() > 0.5;
    crossings % 2 == 0 || outside
}

/// A cloth thrown at a spinning rod, a spike and a landscape.
#[test]
fn a_fast_cloth_does_not_pass_fixed_things() {
    let spike = Shape3::cone(0.3, 0.02).unwrap();
    let bumps: Vec<DVec3> = (0..36)
        .map(|k| {
            let (x, z) = (f64::from(k % 6), f64::from(k / 6));
            DVec3::new(
                0.08 * (x - 2.5),
                0.03 * f64::from((k * 7) % 3),
                0.08 * (z - 2.5),
            )
        })
        .collect();
    let mut faces = Vec::new();
    for j in 0..5 {
        for i in 0..5 {
            let k = j * 6 + i;
            faces.extend([[k, k + 6, k + 1], [k + 1, k + 6, k + 7]]);
        }
    }
    let land = Shape3::mesh(bumps, faces).unwrap();
    for (what, shape) in [("spike", spike), ("landscape", land)] {
        let mut world = world(0.0);
        let obstacle = world.add(Body::fixed(shape)).unwrap();
        let mesh = Mesh::<D3>::cloth([1.2, 1.2], [6, 6]).placed(&Pose::at(DVec3::Y * 0.8));
        let cloth = Deformable {
            velocity: DVec3::new(1.0, -80.0, 0.5),
            ..Deformable::new(mesh, woven())
        };
        let cloth = world.add_deformable(cloth).unwrap();
        for step in 0..30 {
            world.step().unwrap();
            let cut = world.intersections().unwrap();
            assert!(cut.is_empty(), "{what}, step {step}: {cut:?}");
            let _ = (obstacle, cloth);
        }
    }
}

/// A wire in the plane stops a fast disk and a fast box.
#[test]
fn nothing_shoots_through_a_wire_in_the_plane() {
    for shape in [
        Shape2::ball(0.02).unwrap(),
        Shape2::cuboid(DVec2::new(0.03, 0.01)).unwrap(),
    ] {
        let mut world = World2::new(Settings {
            dt: 1.0 / 120.0,
            gravity: DVec2::ZERO,
            ..Settings::reference()
        })
        .unwrap();
        let mesh = Mesh::<D2>::rope(DVec2::new(-0.5, 0.0), DVec2::new(0.5, 0.0), 6);
        let wire = Deformable::new(mesh, woven()).pinned([0, 6]);
        let wire = world.add_deformable(wire).unwrap();
        let bullet = Body::rigid(shape)
            .at(DVec2::new(0.08, 0.5))
            .moving(DVec2::new(3.0, -200.0))
            .with_mass(0.05);
        let bullet = world.add(bullet).unwrap();
        for step in 0..60 {
            world.step().unwrap();
            let p = world.pose(bullet).unwrap().position;
            let at = |id: BodyId| world.pose(id).unwrap().position;
            let nodes: Vec<DVec2> = world.nodes(wire).unwrap().into_iter().map(at).collect();
            // Wire and a roof over it are closed: a ray down crosses the wire an odd number of times.
            let crossings = nodes
                .windows(2)
                .filter(|pair| {
                    let part = (p.x - pair[0].x) / (pair[1].x - pair[0].x);
                    (0.0..1.0).contains(&part) && pair[0].lerp(pair[1], part).y < p.y
                })
                .count();
            assert!(crossings % 2 == 1 || p.x.abs() > 0.5, "step {step}: {p}");
        }
    }
}

/// Walls that close on a cloth: it folds while it fits; then the step says that it can't.
#[test]
fn a_closing_box_ends_infeasible_and_never_cuts_the_cloth() {
    use drystone::Script;
    let mut world = world(9.81);
    let lid = Shape3::cuboid(DVec3::new(0.5, 0.05, 0.5)).unwrap();
    world
        .add(
            Body::fixed(lid.clone())
                .at(DVec3::NEG_Y * 0.05)
                .named("floor"),
        )
        .unwrap();
    let press = Script::Steady {
        velocity: DVec3::NEG_Y * 0.2,
        spin: DVec3::ZERO,
    };
    world
        .add(Body::kinematic(lid, press).at(DVec3::Y * 0.3).named("lid"))
        .unwrap();
    let mesh = Mesh::<D3>::cloth([0.4, 0.4], [6, 6]).placed(&Pose::at(DVec3::Y * 0.05));
    let cloth = world
        .add_deformable(Deformable::new(mesh, woven()).named("cloth"))
        .unwrap();
    let mut end = None;
    for _ in 0..400 {
        match world.step() {
            Ok(_) => assert_eq!(world.intersections().unwrap(), []),
            Err(error) => {
                end = Some(error);
                break;
            }
        }
    }
    let Some(StepError::Infeasible { time, place, .. }) = end else {
        panic!("{end:?}");
    };
    // The lid's lower side starts at 0.25 m and comes down at 0.2 m/s; a cloth of 10 mm between
    // two walls is pressed to nothing before 1.25 s.
    assert!((1.1..1.26).contains(&time), "{time}");
    assert!(place[1].abs() < 0.03, "{place:?}");
    assert_eq!(world.intersections().unwrap(), []);
    assert!(world.nodes(cloth).is_ok());
}

/// A cloth falls on a floor, ten bricks after it: nodes that the floor holds back take their faces
/// along, and no corner of a brick may be where these come to be. Floors with and without bounds.
#[test]
fn bricks_on_a_falling_cloth_do_not_pass_it_on_a_floor_without_bounds() {
    let half = DVec3::new(0.06, 0.03, 0.1);
    let floors = [
        (Shape3::half_space(DVec3::Y).unwrap(), 0.0),
        (Shape3::cuboid(DVec3::new(2.0, 0.1, 2.0)).unwrap(), -0.1),
    ];
    for (floor, height) in floors {
        for dt in [1.0 / 120.0, 1.0 / 60.0] {
            let mut world = world(9.81);
            world.settings_mut().dt = dt;
            let floor = Body::fixed(floor.clone()).at(DVec3::Y * height);
            world.add(floor).unwrap();
            let mesh = Mesh::<D3>::cloth([1.0; 2], [12; 2]);
            let mesh = mesh.placed(&Pose::at(DVec3::Y * 0.3));
            world
                .add_deformable(Deformable::new(mesh, woven()))
                .unwrap();
            let mut bricks = Vec::new();
            for k in 0..10 {
                let (row, column) = (f64::from(k / 5), f64::from(k % 5));
                let at = DVec3::new(0.16 * (column - 2.0), 0.45 + 0.25 * row, 0.1 * (row - 0.5));
                let turn =
                    DQuat::from_axis_angle(DVec3::new(0.3, 1.0, 0.2).normalize(), f64::from(k));
                let brick = Body::rigid(Shape3::cuboid(half).unwrap());
                bricks.push(world.add(brick.at(at).turned(turn)).unwrap());
            }
            for step in 1..=(1.0 / dt) as u32 {
                world.step().unwrap();
                let found = world.audit().unwrap().intersections;
                let with_brick = found
                    .iter()
                    .find(|i| i.bodies.iter().any(|id| bricks.contains(id)));
                assert!(
                    with_brick.is_none(),
                    "step {step} of {dt} s: {with_brick:?}"
                );
            }
        }
    }
}
