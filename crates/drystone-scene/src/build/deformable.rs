//! Deformables: checked, then added.

use drystone::{
    BodyId, Cells, Components, DeformError, Deformable as EngineDeformable, DeformableId, Linear,
    Mesh, Model, Pose, Push, Substance, World,
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
) -> Result<DeformableId, Flaw> {
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
    let attached = attached(entry, path, &mesh, world)?;
    let substance = substance(entry, &mesh);
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
        attached,
        push: Push {
            force: vector_or_zero::<S>(entry.push.as_ref(), &path.key("push"))?,
            ..Push::default()
        },
        ..EngineDeformable::new(mesh.placed(&pose), substance)
    };
    world
        .add_deformable(deformable)
        .map_err(|error| unfit(&error, path))
}

/// Nodes and the bodies they are fixed to.
fn attached<S: Dimension>(
    entry: &Deformable,
    path: &FieldPath,
    mesh: &Mesh<S>,
    world: &World<S>,
) -> Result<Vec<(u32, BodyId)>, Flaw> {
    let mut list = Vec::new();
    for (index, given) in entry.attached.iter().enumerate() {
        let path = path.key("attached").index(index);
        let body = world.body(&given.to).ok_or_else(|| {
            let problem = format!("there is no body `{}`", given.to);
            Flaw::new(path.key("to"), problem).help("name a body of this scene")
        })?;
        let mut nodes = given.nodes.clone();
        for side in &given.sides {
            nodes.extend(nodes_of(mesh, *side));
        }
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            return Err(Flaw::new(path, "names no nodes").help("give `sides` or `nodes`"));
        }
        list.extend(nodes.into_iter().map(|node| (node, body)));
    }
    Ok(list)
}

/// Largest thickness that is chosen, as a part of the shortest edge: the engine takes less than 0.7.
const THICKEST: f64 = 0.5;

/// A thickness that is not given follows the mesh where its edges are short.
fn substance<S: Dimension>(entry: &Deformable, mesh: &Mesh<S>) -> Substance {
    let mut usual = Substance::default();
    let shortest = shortest_edge(mesh);
    if shortest > 0.0 {
        usual.thickness = usual.thickness.min(THICKEST * shortest);
    }
    Substance {
        young: entry.young.unwrap_or(usual.young),
        poisson: entry.poisson.unwrap_or(usual.poisson),
        density: entry.density.unwrap_or(usual.density),
        thickness: entry.thickness.unwrap_or(usual.thickness),
        damping: entry.damping.unwrap_or(usual.damping),
        bending: entry.bending.unwrap_or(usual.bending),
    }
}

/// The shortest distance of two corners of a cell, m.
fn shortest_edge<S: Dimension>(mesh: &Mesh<S>) -> f64 {
    let at = |k: u32| mesh.vertices.get(k as usize).copied();
    let of_cell = |cell: &[u32]| {
        let mut shortest = f64::INFINITY;
        for (first, a) in cell.iter().enumerate() {
            for b in cell.iter().skip(first + 1) {
                if let (Some(a), Some(b)) = (at(*a), at(*b)) {
                    shortest = shortest.min(Linear::length(a - b));
                }
            }
        }
        shortest
    };
    let least =
        |cells: &mut dyn Iterator<Item = &[u32]>| cells.map(of_cell).fold(f64::INFINITY, f64::min);
    match &mesh.cells {
        Cells::Segments(list) => least(&mut list.iter().map(|cell| cell.as_slice())),
        Cells::Triangles(list) => least(&mut list.iter().map(|cell| cell.as_slice())),
        Cells::Tetrahedra(list) => least(&mut list.iter().map(|cell| cell.as_slice())),
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
        DeformError::NoNode { .. } => path.clone(),
        DeformError::NoBody { .. } | DeformError::Twice { .. } => path.key("attached"),
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

/// A rope through points.
pub(super) fn path<S: Dimension>(
    (points, is_closed): (&[Vec<f64>], bool),
    path: &FieldPath,
) -> Result<Mesh<S>, Flaw> {
    let least = if is_closed { 3 } else { 2 };
    if points.len() < least {
        let problem = format!("needs {least} points or more, not {}", points.len());
        return Err(Flaw::new(path.key("points"), problem));
    }
    let vertices = vectors::<S>(points, path)?;
    let count = vertices.len() as u32;
    let last = is_closed.then(|| [count - 1, 0]);
    let along = (1..count).map(|k| [k - 1, k]);
    Ok(Mesh {
        vertices,
        cells: Cells::Segments(along.chain(last).collect()),
    })
}

fn vectors<S: Dimension>(points: &[Vec<f64>], path: &FieldPath) -> Result<Vec<S::Vector>, Flaw> {
    let path = path.key("points");
    if points.len() as u64 > MAX_BODIES {
        let problem = format!("makes more than {MAX_BODIES} nodes");
        return Err(Flaw::new(path, problem));
    }
    let all = points.iter().enumerate();
    all.map(|(k, point)| vector::<S>(point, &path.index(k)))
        .collect()
}

/// A mesh that a scene gives with all its cells; a file's are in place already.
pub(super) fn mesh<S: Dimension>(shape: &SoftShape, path: &FieldPath) -> Result<Mesh<S>, Flaw> {
    let SoftShape::Mesh {
        file,
        points,
        segments,
        triangles,
        tetrahedra,
        scale,
    } = shape
    else {
        return Err(other_dimension(shape, path));
    };
    if points.is_empty() {
        let flaw = match file {
            Some(_) => Flaw::new(path.key("file"), "can only be read beside a scene's file"),
            None => Flaw::new(path.clone(), "has no points"),
        };
        return Err(flaw.help("give `file`, or `points` with cells"));
    }
    let kinds = [
        !segments.is_empty(),
        !triangles.is_empty(),
        !tetrahedra.is_empty(),
    ];
    let cells = match kinds {
        [true, false, false] => Cells::Segments(segments.clone()),
        [false, true, false] => Cells::Triangles(triangles.clone()),
        [false, false, true] if S::DIM == 3 => Cells::Tetrahedra(tetrahedra.clone()),
        [false, false, true] => {
            return Err(Flaw::new(path.key("tetrahedra"), "needs `dimension = 3`"));
        }
        _ => {
            let flaw = Flaw::new(path.clone(), "must have cells of exactly one kind");
            return Err(flaw.help("give one of `segments`, `triangles` and `tetrahedra`"));
        }
    };
    let scale = positive(scale.unwrap_or(1.0), "m", path.key("scale"))?;
    let mut vertices = vectors::<S>(points, path)?;
    for vertex in &mut vertices {
        *vertex = *vertex * scale;
    }
    Ok(Mesh { vertices, cells })
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
        SoftShape::Path { .. } => "path",
        SoftShape::Mesh { .. } => "mesh",
    };
    let flaw = Flaw::new(path.key(key), "needs `dimension = 3`");
    flaw.help("in 2D there are `rope`, `path`, `block` and `mesh`")
}

/// Refuses a start state in which a deformable intersects something.
pub(super) fn check_start<S: Dimension>(world: &World<S>) -> Result<(), Flaw> {
    let path = FieldPath::default().key("deformables");
    let found = world
        .intersections()
        .map_err(|error| Flaw::new(path.clone(), error.to_string()))?;
    let Some(first) = found.first() else {
        return Ok(());
    };
    let [a, b] = first
        .bodies
        .map(|id| world.bodies().name(id.index()).to_owned());
    let [x, y, z] = first.place;
    let more = match found.len() {
        1 => String::new(),
        count => format!(" and {} more pairs", count - 1),
    };
    let problem =
        format!("`{a}` and `{b}` intersect at the start, near [{x:.4}, {y:.4}, {z:.4}] m{more}");
    let entry = a.rsplit_once('/').map_or(a.as_str(), |(name, _)| name);
    let flaw = Flaw::new(path, problem);
    Err(flaw.help(format!("move `{entry}` or what it goes through")))
}
