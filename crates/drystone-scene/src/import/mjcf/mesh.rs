//! Meshes of a model: where they come from, their mass, and shapes that are fitted to them.

use std::collections::BTreeMap;

use drystone::glam::DVec3;

use super::Model;
use super::element::{Element, MAIN};
use super::load::stem;
use crate::error::SceneError;
use crate::import::files::Files;
use crate::import::principal::principal;
use crate::import::rigid::{Lump, Pose3, inverse};
use crate::import::surface::{self, MassOf, Surface};
use crate::import::tree::Node;
use crate::import::xml::{Xml, children};
use crate::schema::Shape;

/// A mesh and its mass at 1 kg/m³, or at 1 kg/m² of its surface.
pub(super) struct Mesh {
    pub(super) surface: Surface,
    pub(super) lump: Option<Lump>,
}

/// Meshes by name.
pub(super) type Meshes = BTreeMap<String, Mesh>;

/// Reads all meshes of a model.
pub(super) fn read_all(
    xml: &Xml<'_>,
    model: &Model<'_>,
    files: &mut Files,
    unsupported: &mut Vec<String>,
) -> Result<Meshes, SceneError> {
    let mut meshes = Meshes::new();
    for node in children(model.root, "asset").flat_map(|asset| children(asset, "mesh")) {
        let units = model.compiler.units;
        let element = Element::new(xml, node, (&model.defaults, MAIN), units)?;
        let file = element.text("file");
        let Some(name) = node.attribute("name").or(file.map(stem)) else {
            return Err(xml.wrong(node, "a mesh needs a `name` or a `file`"));
        };
        let surface = match (element.numbers("vertex")?, file) {
            (Some(numbers), _) => Surface {
                points: numbers.chunks_exact(3).map(<[f64]>::to_vec).collect(),
                triangles: faces(&element, numbers.len() / 3)?,
            },
            (None, Some(file)) => {
                let place = Place { xml, node, model };
                match place.read(file, files, unsupported)? {
                    Ok(surface) => surface,
                    Err(what) => {
                        unsupported.push(what);
                        continue;
                    }
                }
            }
            (None, None) => return Err(xml.wrong(node, "a mesh needs a `file`")),
        };
        meshes.insert(name.to_owned(), finished(&element, surface)?);
    }
    Ok(meshes)
}

/// Triangles that are written out.
fn faces(element: &Element<'_, '_>, points: usize) -> Result<Vec<[u32; 3]>, SceneError> {
    let text = element.text("face").unwrap_or_default();
    let wrong = || {
        let problem = format!("`face` is three places each in a list of {points} vertices");
        element.xml.wrong(element.node, problem)
    };
    let places: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    let places = places.map_err(|_| wrong())?;
    let is_sound = places.len() % 3 == 0 && places.iter().all(|&k| (k as usize) < points);
    match is_sound {
        true => Ok(places.as_chunks::<3>().0.to_vec()),
        false => Err(wrong()),
    }
}

/// Scaled, placed and weighed.
fn finished(element: &Element<'_, '_>, surface: Surface) -> Result<Mesh, SceneError> {
    let scale = element.row::<3>("scale")?.unwrap_or([1.0; 3]);
    let mut surface = surface.scaled(scale);
    if scale.iter().product::<f64>() < 0.0 {
        surface.turn_inside_out();
    }
    let origin = Pose3 {
        position: element.vector("refpos")?.unwrap_or_default(),
        rotation: element.quaternion("refquat")?.unwrap_or_default(),
    };
    if origin != Pose3::default() {
        let to_origin = inverse(&origin);
        for point in &mut surface.points {
            if let [x, y, z] = point.as_mut_slice() {
                [*x, *y, *z] = to_origin.point(DVec3::new(*x, *y, *z)).to_array();
            }
        }
    }
    let of = match element.text("inertia") {
        _ if surface.triangles.is_empty() => MassOf::Hull,
        None | Some("legacy") => MassOf::Pyramids,
        Some("exact") => MassOf::Inside,
        Some("convex") => MassOf::Hull,
        Some("shell") => MassOf::Skin,
        Some(other) => {
            let problem = format!("there is no `inertia` of meshes `{other}`");
            return Err(element.xml.wrong(element.node, problem));
        }
    };
    let lump = surface.lump(of);
    Ok(Mesh { surface, lump })
}

/// Where a mesh is named.
struct Place<'a, 'n> {
    xml: &'a Xml<'a>,
    node: Node<'n>,
    model: &'a Model<'n>,
}

impl Place<'_, '_> {
    /// Reads a mesh from its file; `Ok(Err(..))` says why it is left out.
    fn read(
        &self,
        file: &str,
        files: &mut Files,
        unsupported: &mut Vec<String>,
    ) -> Result<Result<Surface, String>, SceneError> {
        let compiler = &self.model.compiler;
        let bare = match compiler.strips_paths {
            true => file.rsplit(['/', '\\']).next().unwrap_or(file),
            false => file,
        };
        let named = match compiler.mesh_folder.as_str() {
            "" => bare.to_owned(),
            _ if bare.starts_with('/') => bare.to_owned(),
            folder => format!("{folder}/{bare}"),
        };
        let folders = [
            self.model.root.source().folder.as_str(),
            self.node.source().folder.as_str(),
        ];
        let path = files.resolve_in(&folders, &named, self.xml.file)?;
        let shown = path.display().to_string();
        if shown.to_ascii_lowercase().ends_with(".msh") {
            let found = binary(&files.bytes(&path)?);
            let problem = "this is no mesh in MuJoCo's own format, or it is cut short";
            let wrong = || SceneError::unreadable(&shown, problem, "save the mesh as .obj or .stl");
            return found.map(Ok).ok_or_else(wrong);
        }
        if !surface::is_read(&shown) {
            let what = format!("mesh `{named}`: only .obj, .stl and .msh are read");
            return Ok(Err(what));
        }
        surface::read(&files.bytes(&path)?, &shown, unsupported).map(Ok)
    }
}

/// MuJoCo's own format: numbers of vertices, normals, texture coordinates and triangles, then these,
/// in four bytes each.
fn binary(bytes: &[u8]) -> Option<Surface> {
    let (words, rest) = bytes.as_chunks::<4>();
    let count = |k: usize| {
        let count = i32::from_le_bytes(*words.get(k)?);
        usize::try_from(count).ok()
    };
    let [points, normals, texts, faces] = [count(0)?, count(1)?, count(2)?, count(3)?];
    let [points, normals, texts, faces] = [
        points.checked_mul(3)?,
        normals.checked_mul(3)?,
        texts.checked_mul(2)?,
        faces.checked_mul(3)?,
    ];
    let skipped = points.checked_add(normals)?.checked_add(texts)?;
    let body = words.get(4..)?;
    if !rest.is_empty() || skipped.checked_add(faces)? != body.len() {
        return None;
    }
    let number = |word: &[u8; 4]| f64::from(f32::from_le_bytes(*word));
    let places: Vec<f64> = body.get(..points)?.iter().map(number).collect();
    let corners: Vec<u32> = body
        .get(skipped..)?
        .iter()
        .map(|w| u32::from_le_bytes(*w))
        .collect();
    let is_sound = places.iter().all(|x| x.is_finite())
        && corners.iter().all(|&corner| (corner as usize) < points / 3);
    is_sound.then(|| Surface {
        points: places
            .as_chunks::<3>()
            .0
            .iter()
            .map(|p| p.to_vec())
            .collect(),
        triangles: corners.as_chunks::<3>().0.to_vec(),
    })
}

/// A shape of a kind fitted to a mesh, and where it is in the axes of the mesh.
///
/// By its inertia: the box with the mesh's mass and moments; or by its bounds along the principal
/// axes.
pub(super) fn fitted(mesh: &Mesh, kind: &str, by_bounds: bool) -> Option<(Shape, Pose3)> {
    let lump = mesh.lump?;
    let (moments, rotation) = principal(lump.inertia);
    let mut pose = Pose3 {
        position: lump.center,
        rotation,
    };
    let half = match by_bounds {
        true => {
            let (low, high) = bounds(&mesh.surface, &pose);
            pose.position = pose.point(0.5 * (low + high));
            0.5 * (high - low)
        }
        false => {
            let [x, y, z] = moments.to_array();
            let half = |inner: f64| 0.5 * (6.0 * inner.max(0.0) / lump.mass).sqrt();
            DVec3::new(half(y + z - x), half(x + z - y), half(x + y - z))
        }
    };
    let radius = match by_bounds {
        true => half.x.max(half.y),
        false => 0.5 * (half.x + half.y),
    };
    let shape = match kind {
        "sphere" if by_bounds => Shape::Ball {
            radius: half.max_element(),
        },
        "sphere" => Shape::Ball {
            radius: half.element_sum() / 3.0,
        },
        "capsule" => {
            let half_length = match by_bounds {
                true => half.z - radius,
                false => half.z - 0.5 * radius,
            };
            Shape::Capsule {
                radius,
                length: 2.0 * half_length.max(0.0),
            }
        }
        "cylinder" => Shape::Cylinder {
            radius,
            height: 2.0 * half.z,
            rounding: None,
        },
        "ellipsoid" => super::geom::ellipsoid(half),
        _ => Shape::Box {
            size: (2.0 * half).to_array().to_vec(),
            rounding: None,
        },
    };
    Some((shape, pose))
}

/// The least and the largest coordinates of a mesh in the axes of a pose.
fn bounds(surface: &Surface, pose: &Pose3) -> (DVec3, DVec3) {
    let back = inverse(pose);
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let local = |k: usize| back.point(surface.point(k));
    let wider = |(low, high): (DVec3, DVec3), k| (low.min(local(k)), high.max(local(k)));
    (0..surface.points.len()).fold(start, wider)
}
