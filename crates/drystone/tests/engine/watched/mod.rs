//! What tests of strategies that watch motion share.

#![allow(missing_docs, clippy::unwrap_used, unreachable_pub, dead_code)]

use drystone::glam::DVec3;
use drystone::{Deformable, DeformableId, Mesh, Pose, Substance, World3};

/// A light cloth.
pub const CLOTH: Substance = Substance {
    young: 1e5,
    poisson: 0.3,
    density: 300.0,
    thickness: 4e-3,
    damping: 1e-3,
    bending: 0.05,
};

/// A cloth of `cells`² squares of 5 cm, level, at a height.
pub fn cloth(world: &mut World3, cells: u32, height: f64) -> DeformableId {
    let side = 0.05 * f64::from(cells);
    let mesh = Mesh::cloth([side; 2], [cells; 2]).placed(&Pose::at(DVec3::Y * height));
    world.add_deformable(Deformable::new(mesh, CLOTH)).unwrap()
}

/// Edges and faces of deformables and corners of boxes; that none meet.
pub fn assert_apart(world: &World3, soft: &[DeformableId], boxes: &[(drystone::BodyId, DVec3)]) {
    let mut places: Vec<DVec3> = (0..world.bodies().len())
        .map(|k| world.bodies().position[k])
        .collect();
    let (mut edges, mut faces) = (Vec::new(), Vec::new());
    for id in soft {
        edges.extend_from_slice(world.edges(*id).unwrap());
        faces.extend_from_slice(world.faces(*id).unwrap());
    }
    for (id, half) in boxes {
        let pose = world.pose(*id).unwrap();
        let first = places.len() as u32;
        for k in 0..8 {
            let sign = |axis: u32| if k >> axis & 1 == 0 { -1.0 } else { 1.0 };
            places.push(pose.point(*half * DVec3::new(sign(0), sign(1), sign(2))));
        }
        for k in 0..8_u32 {
            for axis in 0..3 {
                if k >> axis & 1 == 0 {
                    edges.push([first + k, first + (k | 1 << axis)]);
                }
            }
        }
        for [a, b, c, d] in [
            [0, 1, 3, 2],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 3, 7, 6],
            [0, 2, 6, 4],
            [1, 3, 7, 5],
        ] {
            faces.push([first + a, first + b, first + c]);
            faces.push([first + a, first + c, first + d]);
        }
    }
    let cut = drystone::intersect::edge_face(&places, &edges, &faces).unwrap();
    assert!(
        cut.is_empty(),
        "{} meet in step {}",
        cut.len(),
        world.steps()
    );
}
