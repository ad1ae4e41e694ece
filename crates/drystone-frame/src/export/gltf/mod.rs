//! glTF 2.0 in its binary form.
//!
//! Every object is a node by its own name; what moves has a channel for translation and one for
//! rotation. Meshes are shared: the vertices of equal forms are in the file once. What deforms is
//! a mesh with a morph target for each frame after the first, whose weights are animated: at frame
//! k the weight of target k is 1 and all others are 0. The frame of reference is ours, metres with
//! y up. Numbers are in single precision, as glTF has no other in its arrays.

mod builder;

use serde_json::{Value, json};

use super::model::Model;
use super::motion::{Motion, Track};
use crate::Stage;
use builder::Builder;

/// A chunk's length is a 32-bit number.
const MOST_BYTES: u64 = u32::MAX as u64 - 1024;

/// Why there is no file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0} bytes are too many for a .glb file, which has at most 4 GiB; export fewer frames")]
pub struct TooLarge(pub u64);

/// A file to which more can be added.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its JSON.
    pub json: Value,
    /// Its one buffer.
    pub buffer: Vec<u8>,
    /// The node of each object; `None` for those that only carry a skin.
    pub nodes: Vec<Option<usize>>,
}

/// The file.
///
/// # Errors
///
/// If it would be larger than a `.glb` can be.
pub fn write(stage: &Stage, model: &Model, motion: &Motion) -> Result<Vec<u8>, TooLarge> {
    Document::new(stage, model, motion)?.into_glb()
}

impl Document {
    /// Objects, skins and their motion.
    ///
    /// # Errors
    ///
    /// If it would be larger than a `.glb` can be.
    pub fn new(stage: &Stage, model: &Model, motion: &Motion) -> Result<Self, TooLarge> {
        let bytes = bytes_of_motion(motion);
        if bytes > MOST_BYTES {
            return Err(TooLarge(bytes));
        }
        let mut builder = Builder::new(model);
        for (k, object) in stage.objects.iter().enumerate() {
            if model.hidden.get(k) == Some(&true) {
                builder.node_of_object.push(None);
                continue;
            }
            let pose = motion.tracks.get(k).map_or(REST, |track| track.pose(0));
            builder.object(k, &object.name, pose);
        }
        builder.animate(motion);
        for (k, deforming) in motion.deforming.iter().enumerate() {
            builder.deforming(k, deforming, &motion.times);
        }
        Ok(builder.finish())
    }

    /// Adds an element to a list and gives its index.
    pub fn push(&mut self, key: &str, value: Value) -> usize {
        match self.json.get_mut(key).and_then(Value::as_array_mut) {
            Some(list) => {
                list.push(value);
                list.len() - 1
            }
            None => {
                self.json[key] = json!([value]);
                0
            }
        }
    }

    /// Adds a mesh without material and gives its index.
    pub fn add_mesh(&mut self, name: &str, points: &[[f64; 3]], triangles: &[[u32; 3]]) -> usize {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        let mut positions = Vec::new();
        for point in points {
            for (i, &x) in point.iter().enumerate() {
                let x = x as f32;
                (low[i], high[i]) = (low[i].min(x), high[i].max(x));
                positions.extend(x.to_le_bytes());
            }
        }
        let corners = triangles.as_flattened().iter();
        let indices = corners.flat_map(|corner| corner.to_le_bytes()).collect();
        let vertices = self.accessor(positions, builder::ARRAY_BUFFER, builder::FLOAT);
        let indices = self.accessor(
            indices,
            builder::ELEMENT_ARRAY_BUFFER,
            builder::UNSIGNED_INT,
        );
        let accessor = &mut self.json["accessors"][vertices];
        accessor["count"] = points.len().into();
        accessor["type"] = "VEC3".into();
        accessor["min"] = floats(low.map(f64::from));
        accessor["max"] = floats(high.map(f64::from));
        let accessor = &mut self.json["accessors"][indices];
        accessor["count"] = (3 * triangles.len()).into();
        accessor["type"] = "SCALAR".into();
        let primitive = json!({ "attributes": { "POSITION": vertices }, "indices": indices });
        self.push("meshes", json!({ "name": name, "primitives": [primitive] }))
    }

    /// An accessor of all of these bytes, but for its count and type.
    fn accessor(&mut self, bytes: Vec<u8>, target: u32, component: u32) -> usize {
        let view = json!({
            "buffer": 0,
            "byteOffset": self.buffer.len(),
            "byteLength": bytes.len(),
            "target": target,
        });
        self.buffer.extend(bytes);
        let view = self.push("bufferViews", view);
        let accessor = json!({ "bufferView": view, "componentType": component });
        self.push("accessors", accessor)
    }

    /// The file.
    ///
    /// # Errors
    ///
    /// If it would be larger than a `.glb` can be.
    pub fn into_glb(mut self) -> Result<Vec<u8>, TooLarge> {
        if !self.buffer.is_empty() {
            self.json["buffers"] = json!([{ "byteLength": self.buffer.len() }]);
        }
        container(self.json.to_string().into_bytes(), self.buffer)
    }
}

const REST: ([f64; 3], [f64; 4]) = ([0.0; 3], [0.0, 0.0, 0.0, 1.0]);

/// Bytes that poses and points of all frames take.
fn bytes_of_motion(motion: &Motion) -> u64 {
    let frames = motion.times.len() as u64;
    let is_moving = |track: &&Track| matches!(track, Track::Moving { .. });
    let moving = motion.tracks.iter().filter(is_moving).count() as u64;
    let deforming = motion.deforming.iter().map(|deforming| {
        let points = deforming.frames.first().map_or(0, Vec::len) as u64;
        frames * (12 * points + 4 * frames)
    });
    28 * frames * moving + deforming.sum::<u64>()
}

fn floats<const L: usize>(numbers: [f64; L]) -> Value {
    numbers.map(|x| f64::from(x as f32)).to_vec().into()
}

/// glTF has no empty lists: they are left out.
fn list(object: &mut Value, key: &str, values: Vec<Value>) {
    if !values.is_empty() {
        object[key] = values.into();
    }
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
