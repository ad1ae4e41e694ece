//! What tests of strategies that watch motion share.

#![allow(missing_docs, clippy::unwrap_used, unreachable_pub, dead_code)]

use drystone::glam::DVec3;
use drystone::{BodyId, Deformable, DeformableId, Mesh, Pose, Substance, World3};

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

/// The surface of a rigid body, in its own axes.
pub struct Surface {
    pub points: Vec<DVec3>,
    pub edges: Vec<[u32; 2]>,
    pub faces: Vec<[u32; 3]>,
}

/// A box.
pub fn block(half: DVec3) -> Surface {
    let sign = |k: u32, axis: u32| if k >> axis & 1 == 0 { -1.0 } else { 1.0 };
    let corner = |k: u32| half * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2));
    let edges = (0..8_u32).flat_map(|k| {
        let axes = (0..3).filter(move |axis| k >> axis & 1 == 0);
        axes.map(move |axis| [k, k | 1 << axis])
    });
    let sides = [
        [0, 1, 3, 2],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 3, 7, 6],
        [0, 2, 6, 4],
        [1, 3, 7, 5],
    ];
    Surface {
        points: (0..8).map(corner).collect(),
        edges: edges.collect(),
        faces: sides
            .into_iter()
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
    }
}

/// A prism of 32 sides around a cylinder along y, or the pyramid around a cone: a ring of corners
/// at each end, the upper one shrunk to the tip for a cone.
pub fn prism(half: f64, radius: f64, is_cone: bool) -> Surface {
    const SIDES: u32 = 32;
    let step = std::f64::consts::TAU / f64::from(SIDES);
    let corner = |k: u32| {
        let (sin, cos) = ((f64::from(k) + 0.5) * step).sin_cos();
        DVec3::new(cos, 0.0, sin) * (radius / (0.5 * step).cos())
    };
    let mut points: Vec<DVec3> = (0..SIDES).map(|k| corner(k) - DVec3::Y * half).collect();
    let (mut edges, mut faces) = (Vec::new(), Vec::new());
    let fan = |first: u32| (1..SIDES - 1).map(move |k| [first, first + k, first + k + 1]);
    faces.extend(fan(0));
    if is_cone {
        points.push(DVec3::Y * half);
    } else {
        points.extend((0..SIDES).map(|k| corner(k) + DVec3::Y * half));
        faces.extend(fan(SIDES));
    }
    for k in 0..SIDES {
        let next = (k + 1) % SIDES;
        let above = |k: u32| SIDES + if is_cone { 0 } else { k };
        edges.extend([[k, next], [k, above(k)]]);
        faces.push([k, next, above(next)]);
        if !is_cone {
            edges.push([above(k), above(next)]);
            faces.push([k, above(next), above(k)]);
        }
    }
    Surface {
        points,
        edges,
        faces,
    }
}

/// That edges and faces of deformables and boxes (by their halves) do not meet.
pub fn assert_apart(world: &World3, soft: &[DeformableId], boxes: &[(BodyId, DVec3)]) {
    let blocks: Vec<_> = boxes.iter().map(|(id, half)| (*id, block(*half))).collect();
    assert_surfaces_apart(world, soft, &blocks);
}

/// That edges and faces of deformables and rigid bodies do not meet, by exact predicates.
pub fn assert_surfaces_apart(world: &World3, soft: &[DeformableId], rigid: &[(BodyId, Surface)]) {
    let mut places: Vec<DVec3> = (0..world.bodies().len())
        .map(|k| world.bodies().position[k])
        .collect();
    let (mut edges, mut faces) = (Vec::new(), Vec::new());
    for id in soft {
        edges.extend_from_slice(world.edges(*id).unwrap());
        faces.extend_from_slice(world.faces(*id).unwrap());
    }
    for (id, surface) in rigid {
        let pose = world.pose(*id).unwrap();
        let first = places.len() as u32;
        places.extend(surface.points.iter().map(|point| pose.point(*point)));
        let after = |v: u32| first + v;
        edges.extend(surface.edges.iter().map(|edge| edge.map(after)));
        faces.extend(surface.faces.iter().map(|face| face.map(after)));
    }
    let cut = drystone::geometry::intersect::edge_face(&places, &edges, &faces).unwrap();
    assert!(
        cut.is_empty(),
        "{} meet in step {}",
        cut.len(),
        world.steps()
    );
}
