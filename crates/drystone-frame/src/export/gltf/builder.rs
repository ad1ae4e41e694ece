//! The lists of a glTF file, filled one after the other.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Document, floats, list};
use crate::export::model::{Model, PlacedMesh};
use crate::export::motion::{Deforming, Motion, Track};
use crate::export::palette;
use crate::mesh::Mesh;

pub(super) const FLOAT: u32 = 5126;
pub(super) const UNSIGNED_INT: u32 = 5125;
pub(super) const ARRAY_BUFFER: u32 = 34962;
pub(super) const ELEMENT_ARRAY_BUFFER: u32 = 34963;

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

/// Accessors of a mesh's vertices, shared by all meshes of that form.
#[derive(Clone, Copy)]
struct Shared {
    positions: usize,
    normals: Option<usize>,
    indices: usize,
}

/// A file in the making.
pub(super) struct Builder<'m> {
    model: &'m Model,
    /// Vertices of the model's meshes.
    shared: Vec<Option<Shared>>,
    nodes: Vec<Value>,
    roots: Vec<usize>,
    /// The node of each object.
    pub(super) node_of_object: Vec<Option<usize>>,
    views: Views,
    accessors: Vec<(View, Value)>,
    meshes: Vec<Value>,
    /// The mesh of a form in a colour; only looked up.
    mesh_of: HashMap<(usize, usize), usize>,
    materials: Vec<usize>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
}

impl<'m> Builder<'m> {
    /// With the meshes of a model and nothing else.
    pub(super) fn new(model: &'m Model) -> Self {
        let mut builder = Self {
            model,
            shared: Vec::new(),
            nodes: Vec::new(),
            roots: Vec::new(),
            node_of_object: Vec::new(),
            views: Views::default(),
            accessors: Vec::new(),
            meshes: Vec::new(),
            mesh_of: HashMap::new(),
            materials: Vec::new(),
            channels: Vec::new(),
            samplers: Vec::new(),
        };
        builder.shared = model.meshes.iter().map(|m| builder.vertices(m)).collect();
        builder
    }

    /// The node of an object: with its mesh, or with children that have one each.
    pub(super) fn object(&mut self, k: usize, name: &str, pose: ([f64; 3], [f64; 4])) {
        let placed = self.model.objects.get(k).map(Vec::as_slice);
        let colour = self.model.colours.get(k).copied().unwrap_or_default();
        let mut node = json!({ "name": name });
        node["translation"] = floats(pose.0);
        node["rotation"] = floats(pose.1);
        match placed.unwrap_or_default() {
            [one] if one.is_at_origin() => self.put_mesh(&mut node, one, colour),
            [] => {}
            parts => {
                let mut children = Vec::new();
                for (number, part) in parts.iter().enumerate() {
                    let mut child = json!({ "name": format!("{name} part {}", number + 1) });
                    child["translation"] = floats(part.position);
                    child["rotation"] = floats(part.rotation);
                    self.put_mesh(&mut child, part, colour);
                    children.push(self.nodes.len());
                    self.nodes.push(child);
                }
                node["children"] = children.into();
            }
        }
        self.node_of_object.push(Some(self.nodes.len()));
        self.roots.push(self.nodes.len());
        self.nodes.push(node);
    }

    /// The vertices of a mesh, where it has any: glTF has no empty lists.
    fn vertices(&mut self, mesh: &Mesh) -> Option<Shared> {
        if mesh.triangles.is_empty() {
            return None;
        }
        let positions = self.accessor(View::Positions, &mesh.points, true);
        let normals =
            (!mesh.normals.is_empty()).then(|| self.accessor(View::Normals, &mesh.normals, false));
        Some(Shared {
            positions,
            normals,
            indices: self.indices(&mesh.triangles),
        })
    }

    fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let offset = self.views.indices.len();
        for corner in triangles.as_flattened() {
            self.views.indices.extend(corner.to_le_bytes());
        }
        let indices = json!({
            "byteOffset": offset,
            "componentType": UNSIGNED_INT,
            "count": 3 * triangles.len(),
            "type": "SCALAR",
        });
        self.accessors.push((View::Indices, indices));
        self.accessors.len() - 1
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
    fn put_mesh(&mut self, node: &mut Value, placed: &PlacedMesh, colour: usize) {
        if let Some(Some(shared)) = self.shared.get(placed.mesh).copied() {
            node["mesh"] = self.mesh(shared, placed, colour).into();
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
        let material = self.material(colour);
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

    /// The material of a colour.
    fn material(&mut self, colour: usize) -> usize {
        let known = self.materials.iter().position(|&known| known == colour);
        known.unwrap_or_else(|| {
            self.materials.push(colour);
            self.materials.len() - 1
        })
    }

    /// What deforms: a mesh at its first frame, and targets that lead to each later one.
    pub(super) fn deforming(&mut self, number: usize, deforming: &Deforming, times: &[f64]) {
        let Some((base, later)) = deforming.frames.split_first() else {
            return;
        };
        if deforming.triangles.is_empty() {
            return;
        }
        let wide = |points: &[[f32; 3]]| -> Vec<[f64; 3]> {
            points.iter().map(|point| point.map(f64::from)).collect()
        };
        let positions = self.accessor(View::Positions, &wide(base), true);
        let indices = self.indices(&deforming.triangles);
        let mut targets = Vec::new();
        for points in later {
            let away = points.iter().zip(base);
            let away: Vec<[f64; 3]> = away
                .map(|(p, b)| std::array::from_fn(|i| f64::from(p[i]) - f64::from(b[i])))
                .collect();
            let target = self.accessor(View::Positions, &away, true);
            targets.push(json!({ "POSITION": target }));
        }
        let mut primitive = json!({
            "attributes": { "POSITION": positions },
            "indices": indices,
            "material": self.material(palette::colour_of_skin(number)),
        });
        let mut mesh = json!({ "name": deforming.name });
        let node = self.nodes.len();
        if !targets.is_empty() {
            self.weights(node, times);
            let names: Vec<String> = (1..times.len()).map(|k| format!("frame {k}")).collect();
            mesh["extras"] = json!({ "targetNames": names });
            mesh["weights"] = vec![0.0; targets.len()].into();
        }
        list(&mut primitive, "targets", targets);
        mesh["primitives"] = json!([primitive]);
        self.nodes
            .push(json!({ "name": deforming.name, "mesh": self.meshes.len() }));
        self.meshes.push(mesh);
        self.roots.push(node);
    }

    /// Animates weights: at frame k > 0 that of target k − 1 is 1, all others are 0.
    fn weights(&mut self, node: usize, times: &[f64]) {
        let weight = |frame: usize, target: usize| [f64::from(u8::from(frame == target + 1))];
        let rows = (0..times.len())
            .flat_map(|frame| (0..times.len() - 1).map(move |target| weight(frame, target)));
        let output = self.accessor(View::Animation, &rows.collect::<Vec<_>>(), false);
        let input: Vec<[f64; 1]> = times.iter().map(|&time| [time]).collect();
        let input = self.accessor(View::Animation, &input, true);
        self.channel(node, "weights", [input, output]);
    }

    fn channel(&mut self, node: usize, path: &str, [input, output]: [usize; 2]) {
        self.channels.push(json!({
            "sampler": self.samplers.len(),
            "target": { "node": node, "path": path },
        }));
        self.samplers
            .push(json!({ "input": input, "output": output }));
    }

    /// Animates the nodes of all objects that move.
    pub(super) fn animate(&mut self, motion: &Motion) {
        let times: Vec<[f64; 1]> = motion.times.iter().map(|&time| [time]).collect();
        let mut input = None;
        for (track, node) in motion.tracks.iter().zip(self.node_of_object.clone()) {
            let (
                Track::Moving {
                    positions,
                    rotations,
                },
                Some(node),
            ) = (track, node)
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
                self.channel(node, path, [input, output]);
            }
        }
    }

    /// All lists together.
    pub(super) fn finish(self) -> Document {
        let (buffer, views, number_of_view) = self.views.joined();
        let accessors = self.accessors.into_iter().map(|(view, mut accessor)| {
            accessor["bufferView"] = number_of_view[view as usize].into();
            accessor
        });
        let mut scene = json!({ "name": "drystone" });
        let roots = self.roots.iter().map(|&k| k.into()).collect();
        list(&mut scene, "nodes", roots);
        let mut file = json!({
            "asset": { "version": "2.0", "generator": concat!("drystone ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [scene],
        });
        list(&mut file, "nodes", self.nodes);
        list(&mut file, "meshes", self.meshes);
        let materials = self.materials.iter().map(|&m| material(m)).collect();
        list(&mut file, "materials", materials);
        list(&mut file, "accessors", accessors.collect());
        list(&mut file, "bufferViews", views);
        if !self.channels.is_empty() {
            file["animations"] = json!([{
                "name": "run",
                "channels": self.channels,
                "samplers": self.samplers,
            }]);
        }
        Document {
            json: file,
            buffer,
            nodes: self.node_of_object,
        }
    }
}

impl Views {
    /// One buffer of all views, the views in it, and the number that each has there.
    fn joined(self) -> (Vec<u8>, Vec<Value>, [usize; 4]) {
        let vertex = json!({ "byteStride": 12, "target": ARRAY_BUFFER });
        let index = json!({ "target": ELEMENT_ARRAY_BUFFER });
        let parts = [
            (self.positions, vertex.clone()),
            (self.normals, vertex),
            (self.indices, index),
            (self.animation, json!({})),
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
        (buffer, views, number_of_view)
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
