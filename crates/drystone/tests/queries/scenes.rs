//! What the tests of queries ask about: one solid of every kind, and scenes of them.

use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::world::query::{Filter, Which};
use drystone::{Algebra, Body, D2, D3, Pose, Shape2, Shape3, Space, World2, World3};
use proptest::prelude::*;

/// Looks at every body.
pub(crate) const ALL: Filter<'static> = Filter {
    which: Which::All,
    exclude: &[],
    predicate: None,
};

pub(crate) fn turned(axis: [f64; 3]) -> DQuat {
    D3::turn(DQuat::IDENTITY, DVec3::from_array(axis))
}

/// One solid of every kind, each about half a metre large.
pub(crate) fn solids3() -> Vec<Shape3> {
    let tetra = [
        DVec3::new(0.5, -0.3, 0.5),
        DVec3::new(-0.5, -0.3, 0.4),
        DVec3::new(0.1, -0.4, -0.5),
        DVec3::new(0.0, 0.5, 0.0),
    ];
    let brick = Shape3::cuboid(DVec3::new(0.2, 0.3, 0.1)).unwrap();
    let stick = Shape3::capsule(0.3, 0.1).unwrap();
    let tee = [
        (Pose::at(DVec3::new(0.0, 0.3, 0.0)), brick.clone()),
        (Pose::at(DVec3::new(0.1, -0.3, 0.0)), stick.clone()),
    ];
    vec![
        Shape3::ball(0.4).unwrap(),
        brick,
        stick,
        Shape3::cylinder(0.3, 0.4).unwrap(),
        Shape3::cone(0.4, 0.3).unwrap(),
        Shape3::hull(&tetra).unwrap(),
        Shape3::compound(&tee).unwrap(),
    ]
}

pub(crate) fn solids2() -> Vec<Shape2> {
    let triangle = [
        DVec2::new(0.5, -0.3),
        DVec2::new(0.1, 0.4),
        DVec2::new(-0.5, -0.2),
    ];
    let brick = Shape2::cuboid(DVec2::new(0.2, 0.3)).unwrap();
    let stick = Shape2::capsule(0.3, 0.1).unwrap();
    let tee = [
        (Pose::at(DVec2::new(0.0, 0.3)), brick.clone()),
        (Pose::at(DVec2::new(0.1, -0.3)), stick.clone()),
    ];
    vec![
        Shape2::ball(0.4).unwrap(),
        brick,
        stick,
        Shape2::hull(&triangle).unwrap(),
        Shape2::compound(&tee).unwrap(),
    ]
}

/// A wavy sheet of triangles, 6 m wide.
pub(crate) fn sheet() -> Shape3 {
    let n = 7_u32;
    let points = (0..n * n)
        .map(|k| {
            let (x, z) = (f64::from(k % n) - 3.0, f64::from(k / n) - 3.0);
            DVec3::new(x, 0.3 * (x * 1.3).sin() * (z * 0.7).cos(), z)
        })
        .collect();
    let triangles = (0..(n - 1) * (n - 1))
        .flat_map(|k| {
            let a = k % (n - 1) + k / (n - 1) * n;
            [[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]
        })
        .collect();
    Shape3::mesh(points, triangles).unwrap()
}

pub(crate) type Placed = (usize, [f64; 3], [f64; 3]);

/// Solids here and there: kind, position, rotation vector.
pub(crate) fn places(most: usize) -> impl Strategy<Value = Vec<Placed>> {
    let one = (
        0..7_usize,
        prop::array::uniform3(-4.0..4.0),
        prop::array::uniform3(-3.0..3.0),
    );
    prop::collection::vec(one, 0..most)
}

pub(crate) type Standing<S> = (<S as Space>::Shape, Pose<S>);

/// A scene in space with a floor and a sheet, moved by `offset`.
pub(crate) fn scene3(places: &[Placed], offset: DVec3) -> (World3, Vec<Standing<D3>>) {
    let mut world = World3::reference();
    let mut all = vec![
        (
            Shape3::half_space(DVec3::new(0.1, 1.0, 0.2)).unwrap(),
            Pose::<D3>::at(offset + DVec3::new(0.0, -3.0, 0.0)),
        ),
        (sheet(), Pose::at(offset + DVec3::new(0.0, -2.0, 0.0))),
    ];
    let kinds = solids3();
    for &(kind, at, axis) in places {
        let pose = Pose {
            position: offset + DVec3::from_array(at),
            rotation: turned(axis),
        };
        all.push((kinds[kind % kinds.len()].clone(), pose));
    }
    for (k, (shape, pose)) in all.iter().enumerate() {
        let body = match k {
            0 | 1 => Body::fixed(shape.clone()),
            _ => Body::rigid(shape.clone()),
        };
        let id = world
            .add(body.at(pose.position).turned(pose.rotation))
            .unwrap();
        // What the world made of it: bodies keep their centre of mass.
        all_close(world.pose(id).unwrap().position, pose.position);
    }
    let exact = |k: usize| {
        world
            .pose(world.body(&format!("body {k}")).unwrap())
            .unwrap()
    };
    let all = all
        .into_iter()
        .enumerate()
        .map(|(k, (s, _))| (s, exact(k)))
        .collect();
    (world, all)
}

pub(crate) fn all_close(a: DVec3, b: DVec3) {
    assert!((a - b).length() <= 1e-12 * (1.0 + b.length()), "{a} {b}");
}

/// The same in the plane, with a polyline for a sheet.
pub(crate) fn scene2(places: &[Placed]) -> (World2, Vec<Standing<D2>>) {
    let mut world = World2::reference();
    let line = (0..9)
        .map(|k| DVec2::new(f64::from(k) - 4.0, 0.3 * f64::from(k % 2)))
        .collect();
    let mut all = vec![
        (
            Shape2::half_space(DVec2::new(0.1, 1.0)).unwrap(),
            Pose::at(DVec2::new(0.0, -3.0)),
        ),
        (
            Shape2::polyline(line).unwrap(),
            Pose::at(DVec2::new(0.0, -2.0)),
        ),
    ];
    let kinds = solids2();
    for &(kind, at, axis) in places {
        let pose = Pose {
            position: DVec2::new(at[0], at[1]),
            rotation: D2::turn(Default::default(), axis[0]),
        };
        all.push((kinds[kind % kinds.len()].clone(), pose));
    }
    for (k, (shape, pose)) in all.iter_mut().enumerate() {
        let body = match k {
            0 | 1 => Body::fixed(shape.clone()),
            _ => Body::rigid(shape.clone()),
        };
        let id = world
            .add(body.at(pose.position).turned(pose.rotation))
            .unwrap();
        *pose = world.pose(id).unwrap();
    }
    (world, all)
}

pub(crate) fn unit3(v: [f64; 3]) -> DVec3 {
    DVec3::from_array(v).try_normalize().unwrap_or(DVec3::X)
}

pub(crate) fn unit2(v: [f64; 3]) -> DVec2 {
    DVec2::new(v[0], v[1]).try_normalize().unwrap_or(DVec2::X)
}
