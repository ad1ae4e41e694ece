//! Deformables against closed forms and conservation laws.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::deform_contact::{add_ball, sheet};
use drystone::glam::{DVec2, DVec3};
use drystone::{
    D2, D3, Deformable, DeformableId, Integrator, Mesh, Model, Settings, Space, Substance, World,
    World2, World3,
};

pub(crate) fn settings<S: Space>(dt: f64) -> Settings<S> {
    Settings {
        dt,
        ..Settings::reference()
    }
}

pub(crate) fn place(world: &World3, soft: DeformableId, node: usize) -> DVec3 {
    world
        .pose(world.nodes(soft).unwrap()[node])
        .unwrap()
        .position
}

pub(crate) fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    let steps = (seconds / world.settings().dt).round() as usize;
    for _ in 0..steps {
        world.step().unwrap();
    }
}

/// Momentum of all bodies, N·s.
fn momentum(world: &World3) -> DVec3 {
    let bodies = world.bodies();
    (0..bodies.len())
        .filter(|&k| bodies.is_dynamic(k))
        .map(|k| bodies.motion[k].linear * bodies.mass(k))
        .sum()
}

/// A bar that hangs by one end stretches by ρ g L²/(2E) under its own weight.
#[test]
fn a_hanging_rope_stretches_by_its_own_weight() {
    let substance = Substance {
        young: 2e6,
        density: 1200.0,
        damping: 0.05,
        ..Substance::default()
    };
    let (length, count) = (2.0, 40);
    let mut world = World3::new(settings(1.0 / 60.0)).unwrap();
    let rope = Mesh::rope(DVec3::ZERO, -DVec3::Y * length, count);
    let rope = world
        .add_deformable(Deformable::new(rope, substance).pinned([0]))
        .unwrap();
    run(&mut world, 8.0);
    let stretch = -place(&world, rope, count as usize).y - length;
    // Lumped masses put half of the last piece's weight on its end: exact for any number.
    let expected = substance.density * 9.81 * length * length / (2.0 * substance.young);
    assert!(
        (stretch / expected - 1.0).abs() < 1e-3,
        "{stretch} {expected}"
    );
}

/// The same for solids, in the plane and in space, with Poisson's ratio 0: then the bar is as if
/// of one dimension.
#[test]
fn hanging_solids_stretch_by_their_own_weight() {
    let substance = Substance {
        young: 1e6,
        poisson: 0.0,
        density: 1000.0,
        damping: 0.05,
        ..Substance::default()
    };
    let length = 1.0;
    let expected = substance.density * 9.81 * length * length / (2.0 * substance.young);

    let mut solid = World3::new(settings(1.0 / 60.0)).unwrap();
    let mesh = Mesh::<D3>::block([0.1, length, 0.1], [1, 10, 1]);
    let top = |n: usize| (0..n as u32).filter(|k| (k / 2) % 11 == 10);
    let pins: Vec<u32> = top(mesh.vertices.len()).collect();
    let low = |k: &usize| mesh.vertices[*k].y < -0.499;
    let low: Vec<usize> = (0..mesh.vertices.len()).filter(low).collect();
    let bar = solid
        .add_deformable(Deformable::new(mesh, substance).pinned(pins))
        .unwrap();
    run(&mut solid, 6.0);
    // Corners of six tetrahedra carry more than corners of two: the mean is what counts.
    let height = low.iter().map(|&k| place(&solid, bar, k).y).sum::<f64>() / low.len() as f64;
    let stretch = -0.5 * length - height;
    assert!(
        (stretch / expected - 1.0).abs() < 0.02,
        "{stretch} {expected}"
    );

    let mut flat = World2::new(settings(1.0 / 60.0)).unwrap();
    let mesh = Mesh::<D2>::block([0.2, length], [2, 10]);
    let pins = 30..33;
    let bar = flat
        .add_deformable(Deformable::new(mesh, substance).pinned(pins))
        .unwrap();
    run(&mut flat, 6.0);
    let low = flat.pose(flat.nodes(bar).unwrap()[1]).unwrap().position;
    let stretch = -0.5 * length - low.y;
    assert!(
        (stretch / expected - 1.0).abs() < 0.02,
        "{stretch} {expected}"
    );
}

/// A block sheared by a force on its top leans by F/(G A): tan of the angle.
#[test]
fn a_block_shears_by_hookes_law() {
    let substance = Substance {
        young: 1e6,
        poisson: 0.3,
        density: 1000.0,
        damping: 0.02,
        ..Substance::default()
    };
    let mut world = World3::new(Settings {
        gravity: DVec3::ZERO,
        ..settings(1.0 / 60.0)
    })
    .unwrap();
    // Flat and wide, so that its free sides matter little.
    let (wide, high, n) = (1.0, 0.1, 8);
    let mesh = Mesh::<D3>::block([wide, high, wide], [n, 1, n]);
    let is =
        |y: f64| (0..mesh.vertices.len()).filter(move |&k| (k as u32 / (n + 1)) % 2 == y as u32);
    let bottom: Vec<u32> = is(0.0).map(|k| k as u32).collect();
    let top: Vec<usize> = is(1.0).collect();
    let area: Vec<f64> = top
        .iter()
        .map(|&k| {
            let v = mesh.vertices[k];
            let edge = |x: f64| if x.abs() > 0.499 { 0.5 } else { 1.0 };
            edge(v.x) * edge(v.z) / f64::from(n * n)
        })
        .collect();
    let block = world
        .add_deformable(Deformable::new(mesh, substance).pinned(bottom))
        .unwrap();
    let nodes = world.nodes(block).unwrap();
    let stress = 2000.0;
    for _ in 0..240 {
        for (&k, share) in top.iter().zip(&area) {
            let at = world.pose(nodes[k]).unwrap().position;
            world
                .add_force(nodes[k], DVec3::X * (stress * share * wide * wide), at)
                .unwrap();
        }
        world.step().unwrap();
    }
    let middle = (n / 2 * 2 * (n + 1) + (n + 1) + n / 2) as usize;
    let lean = place(&world, block, middle).x / high;
    let expected = stress / (substance.young / (2.0 * (1.0 + substance.poisson)));
    assert!((lean / expected - 1.0).abs() < 0.05, "{lean} {expected}");
}

/// What flies free keeps its momentum, whatever it does inside.
#[test]
fn a_free_jelly_keeps_its_momentum_and_loses_energy() {
    let mut world = World3::new(Settings {
        gravity: DVec3::ZERO,
        ..settings(1.0 / 100.0)
    })
    .unwrap();
    let substance = Substance {
        young: 2e4,
        ..Substance::default()
    };
    let jelly = world
        .add_deformable(Deformable::new(
            Mesh::<D3>::block([0.4, 0.4, 0.4], [3, 3, 3]),
            substance,
        ))
        .unwrap();
    let nodes = world.nodes(jelly).unwrap();
    for (k, &node) in nodes.iter().enumerate() {
        let swing = DVec3::new((k % 5) as f64 - 2.0, (k % 3) as f64, 0.5 * (k % 7) as f64);
        let motion = drystone::Motion {
            linear: swing,
            spin: DVec3::ZERO,
        };
        world.set_motion(node, motion).unwrap();
    }
    let before = momentum(&world);
    let energy = |world: &World3| world.energy().kinetic + world.energy().elastic;
    let mut last = energy(&world);
    for _ in 0..200 {
        let report = world.step().unwrap();
        let now = energy(&world);
        assert!(now <= last * (1.0 + 1e-9), "{last} -> {now}");
        last = now;
        assert!(report.certificate.unwrap().momentum_n_s < 1e-11 * before.length());
    }
    assert!((momentum(&world) - before).length() < 1e-10 * before.length());
    assert!(world.energy().elastic < 1.0 && last > 0.0);
}

/// Rubber of a gigapascal at 60 steps a second.
#[test]
fn stiff_material_is_stable_at_long_steps() {
    let substance = Substance {
        young: 1e9,
        damping: 0.0,
        ..Substance::default()
    };
    for model in [Model::Continuum, Model::Springs] {
        let mut world = World3::new(settings(1.0 / 60.0)).unwrap();
        let cloth = Deformable {
            model,
            ..Deformable::new(Mesh::<D3>::cloth([1.0, 1.0], [10, 10]), substance)
        };
        world.add_deformable(cloth.pinned([0, 10])).unwrap();
        let away = drystone::Pose::at(DVec3::X * 3.0);
        let block = Mesh::<D3>::block([0.5, 0.2, 0.2], [5, 2, 2]).placed(&away);
        let block = Deformable {
            model,
            ..Deformable::new(block, substance)
        };
        world.add_deformable(block.pinned([0, 6])).unwrap();
        let start = world.energy();
        run(&mut world, 3.0);
        let end = world.energy();
        assert!(end.kinetic + end.elastic + end.potential <= start.potential + 1e-6);
    }
}

/// Symplectic Euler keeps the energy of a swinging spring and explodes beyond h = 2/ω.
#[test]
fn symplectic_euler_keeps_energy_while_it_is_stable() {
    let substance = Substance {
        young: 1e5,
        density: 1000.0,
        thickness: 0.01,
        poisson: 0.0,
        damping: 0.0,
        bending: 1.0,
    };
    // One segment: k = E A/L, m = ρ A L/2, so ω² = 2E/(ρL²).
    let omega = (2.0 * substance.young / substance.density).sqrt();
    let swing = |h: f64| {
        let mut world = World2::new(Settings {
            gravity: DVec2::ZERO,
            integrator: Integrator::Symplectic,
            ..settings(h)
        })
        .unwrap();
        let mesh = Mesh::<D2>::rope(DVec2::ZERO, DVec2::X, 1);
        let rope = world
            .add_deformable(Deformable::new(mesh, substance).pinned([0]))
            .unwrap();
        let end = world.nodes(rope).unwrap()[1];
        let motion = drystone::Motion {
            linear: DVec2::X * 0.1,
            spin: 0.0,
        };
        world.set_motion(end, motion).unwrap();
        let start = world.energy().kinetic;
        let mut most = 0.0_f64;
        for _ in 0..2000 {
            if world.step().is_err() {
                return f64::INFINITY;
            }
            most = most.max((world.energy().kinetic + world.energy().elastic) / start);
        }
        most
    };
    let kept = swing(0.1 / omega);
    assert!(kept < 1.06, "{kept}");
    let exploded = swing(2.1 / omega);
    // Less than it would by itself: steps that make energy are made again in parts.
    assert!(exploded > 10.0, "{exploded}");
}

/// What is wrong with a mesh is named.
#[test]
fn bad_meshes_and_substances_are_refused() {
    use drystone::{Cells, DeformError};
    let good = Mesh::<D3>::block([1.0, 1.0, 1.0], [1, 1, 1]);
    let error = |change: &dyn Fn(&mut Deformable<D3>)| {
        let mut deformable = Deformable::new(good.clone(), Substance::default());
        change(&mut deformable);
        let mut world = World3::reference();
        let error = world.add_deformable(deformable).unwrap_err();
        assert!(world.bodies().is_empty());
        error
    };
    let cells = |d: &mut Deformable<D3>, change: &dyn Fn(&mut Vec<[u32; 4]>)| {
        if let Cells::Tetrahedra(list) = &mut d.mesh.cells {
            change(list);
        }
    };
    assert_eq!(
        error(&|d| d.mesh.vertices[3].x = f64::NAN),
        DeformError::NotFinite { vertex: 3 }
    );
    assert_eq!(
        error(&|d| d.mesh.vertices[3] = d.mesh.vertices[1]),
        DeformError::Duplicate {
            first: 1,
            vertex: 3
        }
    );
    assert_eq!(
        error(&|d| d.mesh.vertices.push(DVec3::splat(9.0))),
        DeformError::Unused { vertex: 8 }
    );
    assert_eq!(
        error(&|d| cells(d, &|list| list[2].swap(0, 1))),
        DeformError::Inverted { cell: 2 }
    );
    assert_eq!(
        error(&|d| cells(d, &|list| list[2][1] = list[2][0])),
        DeformError::Degenerate { cell: 2 }
    );
    assert!(matches!(
        error(&|d| cells(d, &|list| list[2][1] = 77)),
        DeformError::NoVertex {
            cell: 2,
            vertex: 77,
            ..
        }
    ));
    assert!(matches!(
        error(&|d| d.substance.poisson = 0.5),
        DeformError::Substance {
            field: "poisson",
            ..
        }
    ));
    assert!(matches!(
        error(&|d| d.substance.thickness = 0.8),
        DeformError::Thickness { .. }
    ));
    assert!(matches!(
        error(&|d| d.pinned.push(8)),
        DeformError::NoNode { node: 8, count: 8 }
    ));
}

/// A world goes on from a snapshot bit by bit, and nodes come and go with their deformable.
#[test]
fn snapshots_hold_deformables_and_removal_takes_their_nodes() {
    let mut world = World3::new(settings(1.0 / 120.0)).unwrap();
    add_ball(&mut world, 0.3);
    let cloth = world.add_deformable(sheet(0.8, 6, 0.03, 0.35)).unwrap();
    run(&mut world, 0.2);
    let saved = world.snapshot();
    run(&mut world, 0.3);
    let there = world.state_hash();
    world.restore(&saved).unwrap();
    run(&mut world, 0.3);
    assert_eq!(world.state_hash(), there);

    let node = world.nodes(cloth).unwrap()[3];
    assert!(world.remove(node).is_err());
    world.remove_deformable(cloth).unwrap();
    assert!(world.pose(node).is_none() && world.nodes(cloth).is_err());
    assert!(world.stage().skins.is_empty());
    world.step().unwrap();
    assert_eq!(world.energy().elastic, 0.0);
}
