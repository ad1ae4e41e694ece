//! Deformables that touch: weights, and the exact checker after every step.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::deform::{place, run, settings};
use drystone::glam::DVec3;
use drystone::{Body, D3, Deformable, DeformableId, Mesh, Settings, Shape3, Substance, World3};

/// A jelly on the floor weighs what it weighs.
#[test]
fn a_jelly_rests_on_the_floor_with_its_weight() {
    for young in [5e4, 1e6] {
        let mut world = World3::new(settings(1.0 / 120.0)).unwrap();
        world
            .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
            .unwrap();
        let substance = Substance {
            young,
            damping: 0.01,
            ..Substance::default()
        };
        let mesh = Mesh::<D3>::block([0.3, 0.3, 0.3], [3, 3, 3])
            .placed(&drystone::Pose::at(DVec3::Y * 0.25));
        world
            .add_deformable(Deformable::new(mesh, substance))
            .unwrap();
        run(&mut world, 4.0);
        let report = world.step().unwrap();
        let certificate = report.certificate.unwrap();
        assert!(certificate.penetration_m < 1e-3, "{certificate:?}");
        let bodies = world.bodies();
        let weight: f64 = (0..bodies.len())
            .filter(|&k| bodies.is_dynamic(k))
            .map(|k| 9.81 * bodies.mass(k))
            .sum();
        let push: f64 = world.solved_contacts().iter().map(|c| c.impulse.y).sum();
        let force = push / world.settings().dt;
        assert!(
            (force / weight - 1.0).abs() < 0.01,
            "{young}: {force} {weight}"
        );
        let speed = world.energy().kinetic;
        assert!(speed < 1e-6, "{young}: {speed}");
    }
}

/// A stone a thousand times as heavy as the cloth's nodes lies on a trampoline.
#[test]
fn a_trampoline_carries_a_heavy_block() {
    let substance = Substance {
        young: 2e6,
        poisson: 0.3,
        density: 500.0,
        thickness: 0.01,
        damping: 0.01,
        bending: 1.0,
    };
    let n = 12;
    let mesh = Mesh::<D3>::cloth([1.2, 1.2], [n, n]);
    let border: Vec<u32> = (0..(n + 1) * (n + 1))
        .filter(|k| [0, n].contains(&(k % (n + 1))) || [0, n].contains(&(k / (n + 1))))
        .collect();
    let mut world = World3::new(settings(1.0 / 120.0)).unwrap();
    world
        .add_deformable(Deformable::new(mesh, substance).pinned(border))
        .unwrap();
    let stone = Body::rigid(Shape3::cuboid(DVec3::new(0.2, 0.1, 0.2)).unwrap())
        .at(DVec3::Y * 0.12)
        .with_mass(20.0);
    let stone = world.add(stone).unwrap();
    run(&mut world, 5.0);
    world.step().unwrap();
    let force: f64 = world
        .solved_contacts()
        .iter()
        .filter(|c| c.a == stone.index() as u32 || c.b == stone.index() as u32)
        .map(|c| {
            c.impulse.y
                * if c.b == stone.index() as u32 {
                    1.0
                } else {
                    -1.0
                }
        })
        .sum::<f64>()
        / world.settings().dt;
    let weight = 20.0 * 9.81;
    assert!((force / weight - 1.0).abs() < 0.01, "{force}");
    let height = world.pose(stone).unwrap().position.y;
    assert!(height < 0.1 && height > -0.4, "{height}");
}

/// Places of all bodies of a world.
fn places(world: &World3) -> Vec<DVec3> {
    world.bodies().position.clone()
}

/// Edges and faces of all deformables.
fn skin(world: &World3, list: &[DeformableId]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let edges = list.iter().flat_map(|&id| world.edges(id).unwrap());
    let faces = list.iter().flat_map(|&id| world.faces(id).unwrap());
    (edges.copied().collect(), faces.copied().collect())
}

/// A sheet of woven stuff.
pub(crate) fn sheet(size: f64, cells: u32, thickness: f64, height: f64) -> Deformable<D3> {
    let mesh = Mesh::<D3>::cloth([size, size], [cells, cells])
        .placed(&drystone::Pose::at(DVec3::Y * height));
    let substance = Substance {
        young: 2e4,
        density: 30.0,
        thickness,
        damping: 5e-3,
        bending: 0.02,
        ..Substance::default()
    };
    Deformable {
        linear_damping: 1.0,
        ..Deformable::new(mesh, substance)
    }
}

pub(crate) fn add_ball(world: &mut World3, radius: f64) {
    let ball = Body::fixed(Shape3::ball(radius).unwrap());
    world.add(ball).unwrap();
}

/// Steps, and asks the independent checker after every step.
fn run_without_intersections(world: &mut World3, list: &[DeformableId], steps: usize) {
    let (edges, faces) = skin(world, list);
    for step in 0..steps {
        world.step().unwrap();
        let cut = drystone::geometry::intersect::edge_face(&places(world), &edges, &faces).unwrap();
        assert!(cut.is_empty(), "step {step}: {cut:?}");
    }
}

#[test]
fn a_cloth_comes_to_rest_on_a_sphere_without_intersections() {
    let mut world = World3::new(settings(1.0 / 120.0)).unwrap();
    add_ball(&mut world, 0.3);
    let cloth = world.add_deformable(sheet(1.2, 16, 0.02, 0.4)).unwrap();
    run_without_intersections(&mut world, &[cloth], 360);
    let lowest = places(&world)
        .iter()
        .skip(1)
        .map(|p| p.length())
        .fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.31 - 1e-3, "{lowest}");
    let top = places(&world)[1 + 8 * 17 + 8];
    assert!(top.y > 0.3, "{top}");
    let corner = places(&world)[1];
    assert!(corner.y < 0.0, "{corner}");
    assert!(world.energy().kinetic < 1e-2, "{:?}", world.energy());
}

#[test]
fn five_sheets_on_a_sphere_keep_their_order() {
    let mut world = World3::new(settings(1.0 / 120.0)).unwrap();
    add_ball(&mut world, 0.3);
    let list: Vec<DeformableId> = (0..5)
        .map(|k| {
            let height = 0.36 + 0.06 * f64::from(k);
            world.add_deformable(sheet(0.8, 8, 0.03, height)).unwrap()
        })
        .collect();
    run_without_intersections(&mut world, &list, 240);
    let heights: Vec<f64> = list.iter().map(|&id| place(&world, id, 40).y).collect();
    assert!(
        heights.windows(2).all(|pair| pair[1] > pair[0]),
        "{heights:?}"
    );
}

/// Two sheets thrown at each other at 50 m/s, forty thicknesses a step.
#[test]
fn fast_sheets_never_pass_each_other() {
    let mut world = World3::new(Settings {
        gravity: DVec3::ZERO,
        ..settings(1.0 / 120.0)
    })
    .unwrap();
    let list: Vec<DeformableId> = [-1.0, 1.0]
        .map(|side| {
            let sheet = Deformable {
                velocity: DVec3::new(0.3, -50.0 * side, 0.1),
                ..sheet(0.6, 6, 0.01, 0.5 * side)
            };
            world.add_deformable(sheet).unwrap()
        })
        .to_vec();
    run_without_intersections(&mut world, &list, 60);
    let height = |id: DeformableId| (0..49).map(|k| place(&world, id, k).y).sum::<f64>();
    assert!(height(list[0]) < height(list[1]));
}

/// The corner of a stone that is finer than the cloth's squares does not poke through.
#[test]
fn a_corner_does_not_pass_between_nodes() {
    let mut world = World3::new(settings(1.0 / 120.0)).unwrap();
    let mut cloth = sheet(1.0, 5, 0.02, 0.0);
    cloth.substance.young = 4e5;
    let border = (0..36).filter(|k| [0, 5].contains(&(k % 6)) || [0, 5].contains(&(k / 6)));
    let cloth = world.add_deformable(cloth.pinned(border)).unwrap();
    // Standing on its corner over the middle of a square, of a fifth of the square's size.
    let stone = Body::rigid(Shape3::cuboid(DVec3::splat(0.02)).unwrap())
        .at(DVec3::new(0.03, 0.1, 0.02))
        .turned(drystone::glam::DQuat::from_rotation_arc(
            DVec3::ONE.normalize(),
            DVec3::Y,
        ))
        .with_mass(0.2);
    let stone = world.add(stone).unwrap();
    for _ in 0..240 {
        world.step().unwrap();
        let lowest = (0..36)
            .map(|k| place(&world, cloth, k).y)
            .fold(0.0, f64::min);
        let height = world.pose(stone).unwrap().position.y;
        assert!(height > lowest, "{height} {lowest}");
    }
    // It lies flat at last.
    let height = world.pose(stone).unwrap().position.y;
    assert!(height < 0.035, "{height}");
    let force: f64 = world
        .solved_contacts()
        .iter()
        .map(|c| match stone.index() as u32 {
            body if body == c.b => c.impulse.y,
            body if body == c.a => -c.impulse.y,
            _ => 0.0,
        })
        .sum();
    let weight = 0.2 * 9.81 / 120.0;
    assert!((force / weight - 1.0).abs() < 0.05, "{force} {weight}");
}

/// A cloth whose nodes fly in all directions is saved from cutting itself by the last check.
#[test]
fn a_crumpling_cloth_never_cuts_itself() {
    let mut world = World3::new(Settings {
        gravity: DVec3::ZERO,
        ..settings(1.0 / 60.0)
    })
    .unwrap();
    let mut cloth = sheet(1.0, 10, 0.02, 0.0);
    cloth.substance.young = 500.0;
    let cloth = world.add_deformable(cloth).unwrap();
    let mut seed = 1_u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    for node in world.nodes(cloth).unwrap() {
        let motion = drystone::Motion {
            linear: DVec3::new(noise(), noise(), noise()) * 60.0,
            spin: DVec3::ZERO,
        };
        world.set_motion(node, motion).unwrap();
    }
    let (edges, faces) = skin(&world, &[cloth]);
    let mut impacts = 0;
    for step in 0..60 {
        let report = world.step().unwrap();
        impacts += report.rescue.impacts;
        let cut =
            drystone::geometry::intersect::edge_face(&places(&world), &edges, &faces).unwrap();
        assert!(cut.is_empty(), "step {step}: {cut:?}");
    }
    assert!(impacts > 0);
}
