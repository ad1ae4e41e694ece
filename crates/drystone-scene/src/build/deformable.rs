//! Deformables: checked, then added.

use drystone::{
    Components, DeformError, Deformable as EngineDeformable, Mesh, Model, Pose, Push, Substance,
    World,
};

use super::MAX_BODIES;
use super::check::{self, not_negative, positive, vector, vector_or_zero};
use super::dimension::Dimension;
use super::material::MaterialTable;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::{Body, Deformable, Side, SoftModel, SoftShape};

/// How near to a side a node counts as on it, as a part of the size.
const NEAR: f64 = 1e-9;

/// Adds a scene's entry at `path` to the world.
pub(super) fn add<S: Dimension>(
    entry: &Deformable,
    path: &FieldPath,
    table: &mut MaterialTable,
    world: &mut World<S>,
) -> Result<(), Flaw> {
    if let Some(name) = &entry.name {
        check::name(name, &path.key("name"))?;
    }
    let mesh = S::soft_mesh(&entry.shape, &path.key("shape"))?;
    let pose = Pose {
        position: vector_or_zero::<S>(entry.position.as_ref(), &path.key("position"))?,
        rotation: match &entry.rotation {
            Some(rotation) => S::rotation(rotation, &path.key("rotation"))?,
            None => S::Rotation::default(),
        },
    };
    let mut pinned = entry.pinned_nodes.clone();
    for side in &entry.pinned {
        pinned.extend(nodes_of(&mesh, *side));
    }
    pinned.sort_unstable();
    pinned.dedup();
    let surface = Body {
        material: entry.material.clone(),
        friction: entry.friction,
        ..Body::default()
    };
    let deformable = EngineDeformable {
        name: entry.name.clone(),
        material: table.of_body(&surface, path, &mut world.materials)?,
        model: match entry.model {
            SoftModel::Continuum => Model::Continuum,
            SoftModel::Springs => Model::Springs,
        },
        velocity: vector_or_zero::<S>(entry.velocity.as_ref(), &path.key("velocity"))?,
        linear_damping: not_negative(
            entry.linear_damping.unwrap_or(0.0),
            "1/s",
            path.key("linear_damping"),
        )?,
        pinned,
        push: Push {
            force: vector_or_zero::<S>(entry.push.as_ref(), &path.key("push"))?,
            ..Push::default()
        },
        ..EngineDeformable::new(mesh.placed(&pose), substance(entry))
    };
    world
        .add_deformable(deformable)
        .map(|_| ())
        .map_err(|error| unfit(&error, path))
}

fn substance(entry: &Deformable) -> Substance {
    let usual = Substance::default();
    Substance {
        young: entry.young.unwrap_or(usual.young),
        poisson: entry.poisson.unwrap_or(usual.poisson),
        density: entry.density.unwrap_or(usual.density),
        thickness: entry.thickness.unwrap_or(usual.thickness),
        damping: entry.damping.unwrap_or(usual.damping),
        bending: entry.bending.unwrap_or(usual.bending),
    }
}

/// The engine's error, at the field it is about.
fn unfit(error: &DeformError, path: &FieldPath) -> Flaw {
    let field = match error {
        DeformError::Substance { field, .. } => {
            let key = [
                "young",
                "poisson",
                "density",
                "thickness",
                "damping",
                "bending",
            ];
            let key = key.into_iter().find(|key| field.starts_with(key));
            key.map_or_else(|| path.clone(), |key| path.key(key))
        }
        DeformError::Thickness { .. } => path.key("thickness"),
        DeformError::NoNode { .. } => path.key("pinned_nodes"),
        DeformError::Name(_) => path.key("name"),
        _ => path.key("shape"),
    };
    Flaw::new(field, error.to_string())
}

/// The nodes of a part.
fn nodes_of<S: Dimension>(mesh: &Mesh<S>, side: Side) -> Vec<u32> {
    let count = mesh.vertices.len();
    // Of each axis: whether a node has the least and the most there, in a mesh that has an extent.
    let ends = |axis: usize| {
        let all = || mesh.vertices.iter().map(|v| v.component(axis));
        let (low, high) = (
            all().fold(f64::INFINITY, f64::min),
            all().fold(f64::NEG_INFINITY, f64::max),
        );
        let near = NEAR * (high - low);
        move |v: &S::Vector| {
            let x = v.component(axis);
            (x - low <= near, high - x <= near, high > low)
        }
    };
    let (x, y, z) = (ends(0), ends(1), ends(2));
    let either = |(low, high, extended): (bool, bool, bool)| extended && (low || high);
    let is_on = |k: usize| {
        let v = &mesh.vertices[k];
        match side {
            Side::Left => x(v).0,
            Side::Right => x(v).1,
            Side::Bottom => y(v).0,
            Side::Top => y(v).1,
            Side::Back => z(v).0,
            Side::Front => z(v).1,
            Side::Border => either(x(v)) || either(z(v)),
            Side::Corners => [x(v), y(v), z(v)]
                .into_iter()
                .all(|end| !end.2 || either(end)),
            Side::Start => k == 0,
            Side::End => k + 1 == count,
        }
    };
    (0..count).filter(|&k| is_on(k)).map(|k| k as u32).collect()
}

/// A rope of the scene's dimension.
pub(super) fn rope<S: Dimension>(
    (from, to): (&[f64], &[f64]),
    segments: u32,
    path: &FieldPath,
) -> Result<Mesh<S>, Flaw> {
    count(&[segments], &path.key("segments"))?;
    let from = vector::<S>(from, &path.key("from"))?;
    let to = vector::<S>(to, &path.key("to"))?;
    Ok(Mesh::rope(from, to, segments))
}

/// Sizes and cells along as many axes.
pub(super) fn grid<const K: usize>(
    size: &[f64],
    cells: &[u32],
    path: &FieldPath,
) -> Result<([f64; K], [u32; K]), Flaw> {
    let wrong = |key: &'static str, found: usize| {
        Flaw::new(path.key(key), format!("needs {K} numbers, not {found}"))
    };
    let size: [f64; K] = size.try_into().map_err(|_| wrong("size", size.len()))?;
    let cells: [u32; K] = cells.try_into().map_err(|_| wrong("cells", cells.len()))?;
    for (index, &edge) in size.iter().enumerate() {
        positive(edge, "m", path.key("size").index(index))?;
    }
    count(&cells, &path.key("cells"))?;
    Ok((size, cells))
}

/// Refuses no cells, and more nodes than a scene can have.
fn count(cells: &[u32], path: &FieldPath) -> Result<(), Flaw> {
    if let Some(index) = cells.iter().position(|&n| n == 0) {
        let at = if cells.len() > 1 {
            path.index(index)
        } else {
            path.clone()
        };
        return Err(Flaw::new(at, "must be 1 or more"));
    }
    let nodes = cells
        .iter()
        .try_fold(1_u64, |product, &n| product.checked_mul(u64::from(n) + 1));
    match nodes {
        Some(nodes) if nodes <= MAX_BODIES => Ok(()),
        _ => {
            let problem = format!("makes more than {MAX_BODIES} nodes");
            Err(Flaw::new(path.clone(), problem))
        }
    }
}

/// A shape that the scene's dimension does not have.
pub(super) fn other_dimension(shape: &SoftShape, path: &FieldPath) -> Flaw {
    let key = match shape {
        SoftShape::Rope { .. } => "rope",
        SoftShape::Net { .. } => "net",
        SoftShape::Cloth { .. } => "cloth",
        SoftShape::Block { .. } => "block",
    };
    let flaw = Flaw::new(path.key(key), "needs `dimension = 3`");
    flaw.help("in 2D there are `rope` and `block`")
}
