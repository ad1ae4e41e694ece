//! glTF 2.0 in its binary form.
//!
//! Every object is a node by its own name; what moves has a channel for translation and one for
//! rotation. Meshes are shared: the vertices of equal forms are in the file once. The frame of
//! reference is ours, metres with y up. Numbers are in single precision, as glTF has no other.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::model::{Model, PlacedMesh};
use super::motion::{Motion, Track};
use super::palette;
use crate::Stage;
use crate::mesh::Mesh;

/// A chunk's length is a 32-bit number.
const MOST_BYTES: u64 = u32::MAX as u64 - 1024;

/// Why there is no file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0} bytes are too many for a .glb file, which has at most 4 GiB; export fewer frames")]
pub struct TooLarge(pub u64);

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The views of the one buffer, in the order in which they lie in it.
#[derive(Default)]
struct Views {
    positions: Vec<u8>,
    normals: Vec<u8>,
    indices: Vec<u8>,
    animation: Vec<u8>,
}

/// Numbers of the views in the file; those that are empty are left out.
#[derive(Clone, Copy)]
enum View {
    Positions,
    Normals,
    Indices,
    Animation,
}

/// The file.
///
/// # Errors
///
/// If it would be larger than a `.glb` can be.
pub fn write(stage: &Stage, model: &Model, motion: &Motion) -> Result<Vec<u8>, TooLarge> {
    let frames = motion.times.len() as u64;
    let moving = motion
        .tracks
        .iter()
        .filter(|t| matches!(t, Track::Moving { .. }));
    let animated = 28 * frames * moving.count() as u64;
    if animated > MOST_BYTES {
        return Err(TooLarge(animated));
    }
    let mut builder = Builder::default();
    let meshes: Vec<Option<Shared>> = model
        .meshes
        .iter()
        .map(|mesh| builder.vertices(mesh))
        .collect();
    let mut nodes = Vec::new();
    let mut roots = Vec::new();
    let mut node_of_object = Vec::new();
    for (k, object) in stage.objects.iter().enumerate() {
        let placed = model.objects.get(k).map(Vec::as_slice).unwrap_or_default();
        let colour = model.colours.get(k).copied().unwrap_or_default();
        let (position, rotation) = motion.tracks.get(k).map_or(REST, |track| track.pose(0));
        let mut node = json!({ "name": object.name });
        node["translation"] = floats(position);
        node["rotation"] = floats(rotation);
        match placed {
            [one] if one.is_at_origin() => {
                builder.put_mesh(&mut node, &meshes, one, colour);
            }
            [] => {}
            parts => {
                let mut children = Vec::new();
                for (number, part) in parts.iter().enumerate() {
                    let mut child =
                        json!({ "name": format!("{} part {}", object.name, number + 1) });
                    child["translation"] = floats(part.position);
                    child["rotation"] = floats(part.rotation);
                    builder.put_mesh(&mut child, &meshes, part, colour);
                    children.push(nodes.len());
                    nodes.push(child);
                }
                node["children"] = children.into();
            }
        }
        roots.push(nodes.len());
        node_of_object.push(nodes.len());
        nodes.push(node);
    }
    builder.animate(motion, &node_of_object);
    builder.finish(nodes, &roots)
}

const REST: ([f64; 3], [f64; 4]) = ([0.0; 3], [0.0, 0.0, 0.0, 1.0]);

fn floats<const L: usize>(numbers: [f64; L]) -> Value {
    numbers.map(|x| f64::from(x as f32)).to_vec().into()
}

/// Accessors of a mesh's vertices, shared by all meshes of that form.
#[derive(Clone, Copy)]
struct Shared {
    positions: usize,
    normals: Option<usize>,
    indices: usize,
}

#[derive(Default)]
struct Builder {
    views: Views,
    accessors: Vec<(View, Value)>,
    meshes: Vec<Value>,
    /// The mesh of a form in a colour; only looked up.
    mesh_of: HashMap<(usize, usize), usize>,
    materials: Vec<usize>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
}

impl Builder {
    /// The vertices of a mesh, where it has any: glTF has no empty lists.
    fn vertices(&mut self, mesh: &Mesh) -> Option<Shared> {
        if mesh.triangles.is_empty() {
            return None;
        }
        let positions = self.accessor(View::Positions, &mesh.points, true);
        let normals =
            (!mesh.normals.is_empty()).then(|| self.accessor(View::Normals, &mesh.normals, false));
        let offset = self.views.indices.len();
        for corner in mesh.triangles.as_flattened() {
            self.views.indices.extend(corner.to_le_bytes());
        }
        let indices = json!({
            "byteOffset": offset,
            "componentType": UNSIGNED_INT,
            "count": 3 * mesh.triangles.len(),
            "type": "SCALAR",
        });
        self.accessors.push((View::Indices, indices));
        Some(Shared {
            positions,
            normals,
            indices: self.accessors.len() - 1,
        })
    }

    /// Adds numbers to a view.
    fn accessor<const L: usize>(
        &mut self,
        view: View,
        numbers: &[[f64; L]],
        bounds: bool,
    ) -> usize {
        let bytes = match view {
            View::Positions => &mut self.views.positions,
            View::Normals => &mut self.views.normals,
            View::Indices => &mut self.views.indices,
            View::Animation => &mut self.views.animation,
        };
        let mut accessor = json!({
            "byteOffset": bytes.len(),
            "componentType": FLOAT,
            "count": numbers.len(),
            "type": match L { 1 => "SCALAR", 3 => "VEC3", _ => "VEC4" },
        });
        let (mut low, mut high) = ([f32::INFINITY; L], [f32::NEG_INFINITY; L]);
        for row in numbers {
            for (i, &x) in row.iter().enumerate() {
                let x = x as f32;
                (low[i], high[i]) = (low[i].min(x), high[i].max(x));
                bytes.extend(x.to_le_bytes());
            }
        }
        if bounds {
            accessor["min"] = floats(low.map(f64::from));
            accessor["max"] = floats(high.map(f64::from));
        }
        self.accessors.push((view, accessor));
        self.accessors.len() - 1
    }

    /// Gives a node its mesh.
    fn put_mesh(
        &mut self,
        node: &mut Value,
        shared: &[Option<Shared>],
        placed: &PlacedMesh,
        colour: usize,
    ) {
        if let Some(Some(shared)) = shared.get(placed.mesh) {
            node["mesh"] = self.mesh(*shared, placed, colour).into();
            if placed.scale != 1.0 {
                node["scale"] = floats([placed.scale; 3]);
            }
        }
    }

    /// The mesh of a form in a colour.
    fn mesh(&mut self, shared: Shared, placed: &PlacedMesh, colour: usize) -> usize {
        if let Some(&known) = self.mesh_of.get(&(placed.mesh, colour)) {
            return known;
        }
        let material = self.materials.iter().position(|&known| known == colour);
        let material = material.unwrap_or_else(|| {
            self.materials.push(colour);
            self.materials.len() - 1
        });
        let Shared {
            positions,
            normals,
            indices,
        } = shared;
        let mut attributes = json!({ "POSITION": positions });
        if let Some(normals) = normals {
            attributes["NORMAL"] = normals.into();
        }
        self.meshes.push(json!({
            "name": format!("form {} {}", placed.mesh + 1, palette::name(colour)),
            "primitives": [{ "attributes": attributes, "indices": indices, "material": material }],
        }));
        self.mesh_of
            .insert((placed.mesh, colour), self.meshes.len() - 1);
        self.meshes.len() - 1
    }

    fn animate(&mut self, motion: &Motion, node_of_object: &[usize]) {
        let times: Vec<[f64; 1]> = motion.times.iter().map(|&time| [time]).collect();
        let mut input = None;
        for (track, &node) in motion.tracks.iter().zip(node_of_object) {
            let Track::Moving {
                positions,
                rotations,
            } = track
            else {
                continue;
            };
            let input = *input.get_or_insert_with(|| self.accessor(View::Animation, &times, true));
            let outputs = [
                (
                    "translation",
                    self.accessor(View::Animation, positions, false),
                ),
                ("rotation", self.accessor(View::Animation, rotations, false)),
            ];
            for (path, output) in outputs {
                self.channels.push(json!({
                    "sampler": self.samplers.len(),
                    "target": { "node": node, "path": path },
                }));
                self.samplers
                    .push(json!({ "input": input, "output": output }));
            }
        }
    }

    fn finish(self, nodes: Vec<Value>, roots: &[usize]) -> Result<Vec<u8>, TooLarge> {
        let Views {
            positions,
            normals,
            indices,
            animation,
        } = self.views;
        let vertex = json!({ "byteStride": 12, "target": ARRAY_BUFFER });
        let index = json!({ "target": ELEMENT_ARRAY_BUFFER });
        let parts = [
            (positions, vertex.clone()),
            (normals, vertex),
            (indices, index),
            (animation, json!({})),
        ];
        let mut buffer = Vec::new();
        let mut views = Vec::new();
        let mut number_of_view = [0; 4];
        for (k, (bytes, mut view)) in parts.into_iter().enumerate() {
            number_of_view[k] = views.len();
            if bytes.is_empty() {
                continue;
            }
            view["buffer"] = 0.into();
            view["byteOffset"] = buffer.len().into();
            view["byteLength"] = bytes.len().into();
            views.push(view);
            buffer.extend(bytes);
        }
        let accessors = self.accessors.into_iter().map(|(view, mut accessor)| {
            accessor["bufferView"] = number_of_view[view as usize].into();
            accessor
        });
        let mut scene = json!({ "name": "drystone" });
        list(
            &mut scene,
            "nodes",
            roots.iter().map(|&k| k.into()).collect(),
        );
        let mut file = json!({
            "asset": { "version": "2.0", "generator": concat!("drystone ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [scene],
        });
        list(&mut file, "nodes", nodes);
        list(&mut file, "meshes", self.meshes);
        list(
            &mut file,
            "materials",
            self.materials.iter().map(|&m| material(m)).collect(),
        );
        list(&mut file, "accessors", accessors.collect());
        list(&mut file, "bufferViews", views);
        if !buffer.is_empty() {
            file["buffers"] = json!([{ "byteLength": buffer.len() }]);
        }
        if !self.channels.is_empty() {
            file["animations"] = json!([{
                "name": "run",
                "channels": self.channels,
                "samplers": self.samplers,
            }]);
        }
        container(file.to_string().into_bytes(), buffer)
    }
}

/// glTF has no empty lists: they are left out.
fn list(object: &mut Value, key: &str, values: Vec<Value>) {
    if !values.is_empty() {
        object[key] = values.into();
    }
}

fn material(colour: usize) -> Value {
    let [r, g, b] = palette::linear(colour);
    json!({
        "name": palette::name(colour),
        "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, 1.0],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.8,
        },
    })
}

/// The two chunks, each padded to four bytes, behind the head of the file.
fn container(mut text: Vec<u8>, mut buffer: Vec<u8>) -> Result<Vec<u8>, TooLarge> {
    text.resize(text.len().next_multiple_of(4), b' ');
    buffer.resize(buffer.len().next_multiple_of(4), 0);
    let mut chunks = vec![(*b"JSON", text)];
    if !buffer.is_empty() {
        chunks.push((*b"BIN\0", buffer));
    }
    let length = 12
        + chunks
            .iter()
            .map(|(_, bytes)| 8 + bytes.len() as u64)
            .sum::<u64>();
    if length > MOST_BYTES {
        return Err(TooLarge(length));
    }
    let mut file = b"glTF".to_vec();
    file.extend(2_u32.to_le_bytes());
    file.extend((length as u32).to_le_bytes());
    for (kind, bytes) in chunks {
        file.extend((bytes.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(bytes);
    }
    Ok(file)
}
