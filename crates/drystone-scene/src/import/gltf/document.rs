//! The file: JSON, buffers, and where nodes are.

use drystone::glam::{DMat4, DQuat, DVec3};
use serde::de::DeserializeOwned;

use super::value::{NULL, Value};
use crate::error::SceneError;
use crate::export::EXTRAS;
use crate::import::files::{Files, shortened};
use crate::import::rigid::{Pose3, then};

const MAGIC: &[u8] = b"glTF";
const JSON_CHUNK: &[u8] = b"JSON";
/// Most ancestors of a node.
const MAX_DEPTH: usize = 256;
const BINARY_CHUNK: &[u8] = b"BIN\0";

/// A glTF file.
pub(super) struct Document<'a> {
    pub(super) file: &'a str,
    pub(super) json: Value,
    pub(super) buffers: Vec<Vec<u8>>,
    /// Pose and scale of each node in the world, and its parent.
    pub(super) nodes: Vec<Place>,
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) pose: Pose3,
    pub(super) scale: DVec3,
    pub(super) parent: Option<usize>,
    /// As its parent has it, the scale of all above it included.
    own: Pose3,
    depth: usize,
}

impl<'a> Document<'a> {
    pub(super) fn read(bytes: &[u8], file: &'a str, files: &mut Files) -> Result<Self, SceneError> {
        let (json, binary) = match bytes.starts_with(MAGIC) {
            true => chunks(bytes, file)?,
            false => (bytes, None),
        };
        let json: serde_json::Value = serde_json::from_slice(json).map_err(|error| {
            let problem = format!("the JSON can't be read: {error}");
            SceneError::unreadable(file, problem, "export the model again")
        })?;
        let mut document = Self {
            file,
            json: json.into(),
            buffers: Vec::new(),
            nodes: Vec::new(),
        };
        document.buffers = document.read_buffers(binary, files)?;
        document.nodes = document.place_nodes()?;
        Ok(document)
    }

    /// Something wrong at a field, such as `nodes[3].mesh`.
    pub(super) fn wrong(&self, place: &str, problem: impl std::fmt::Display) -> SceneError {
        let problem = format!("{place}: {problem}");
        SceneError::unreadable(self.file, problem, "export the model again")
    }

    /// A list of the document; empty if there is none.
    pub(super) fn list(&self, pointer: &str) -> &[Value] {
        let list = self.json.pointer(pointer).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    /// An element of a list by an index that `place` holds.
    pub(super) fn element(
        &self,
        pointer: &str,
        index: &Value,
        place: &str,
    ) -> Result<(usize, &Value), SceneError> {
        let list = self.list(pointer);
        let found = index.as_u64().and_then(|index| usize::try_from(index).ok());
        let found = found.and_then(|index| Some((index, list.get(index)?)));
        found.ok_or_else(|| {
            let count = list.len();
            self.wrong(
                place,
                format!("{index} is not the index of one of {count} `{pointer}`"),
            )
        })
    }

    /// A number that must be finite; `default` if it is not there.
    pub(super) fn number(&self, table: &Value, key: &str, default: f64) -> Result<f64, SceneError> {
        match table.get(key) {
            None => Ok(default),
            Some(value) if value.is_null() => Ok(default),
            Some(value) => value
                .as_f64()
                .filter(|number| number.is_finite())
                .ok_or_else(|| self.wrong(key, format!("{value} is not a finite number"))),
        }
    }

    /// So many numbers; `None` if they are not there.
    pub(super) fn row<const N: usize>(
        &self,
        table: &Value,
        key: &str,
    ) -> Result<Option<[f64; N]>, SceneError> {
        let Some(value) = table.get(key) else {
            return Ok(None);
        };
        let list = value.as_array().map_or(&[][..], Vec::as_slice);
        let numbers: Option<Vec<f64>> = list.iter().map(Value::as_f64).collect();
        let row = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        match row.filter(|row| row.iter().all(|x| x.is_finite())) {
            Some(row) => Ok(Some(row)),
            None => Err(self.wrong(key, format!("these must be {N} finite numbers"))),
        }
    }

    /// A rotation x, y, z, w, made of unit length.
    pub(super) fn quaternion(&self, table: &Value, key: &str) -> Result<DQuat, SceneError> {
        let given = self.row::<4>(table, key)?.map(DQuat::from_array);
        match given {
            None => Ok(DQuat::IDENTITY),
            // Those of unit length keep their bits.
            Some(given) if (given.length() - 1.0).abs() < 1e-15 => Ok(given),
            Some(given) if given.length() > 1e-9 => Ok(given.normalize()),
            Some(_) => Err(self.wrong(key, "a rotation must have some length")),
        }
    }

    fn read_buffers(
        &self,
        mut binary: Option<&[u8]>,
        files: &mut Files,
    ) -> Result<Vec<Vec<u8>>, SceneError> {
        let mut buffers = Vec::new();
        for (index, buffer) in self.list("/buffers").iter().enumerate() {
            let place = format!("buffers[{index}]");
            let bytes = match buffer.get("uri").and_then(Value::as_str) {
                None => binary.take().unwrap_or_default().to_vec(),
                Some(uri) if uri.starts_with("data:") => {
                    let data = uri
                        .split_once(";base64,")
                        .and_then(|(_, data)| base64(data));
                    data.ok_or_else(|| self.wrong(&place, "its data is not base64"))?
                }
                Some(uri) => {
                    let name = percent_decoded(uri);
                    let name = name.ok_or_else(|| self.wrong(&place, "its `uri` is none"))?;
                    files.bytes(&files.resolve(&name, self.file)?)?
                }
            };
            let length = buffer.get("byteLength").and_then(Value::as_u64);
            let length = length.ok_or_else(|| self.wrong(&place, "it has no `byteLength`"))?;
            if length > bytes.len() as u64 {
                let present = bytes.len();
                let problem = format!("{length} bytes are named, {present} are there");
                return Err(self.wrong(&place, problem));
            }
            buffers.push(bytes);
        }
        Ok(buffers)
    }

    /// Parents and poses of all nodes, parents before children; a node has one parent at most.
    fn place_nodes(&self) -> Result<Vec<Place>, SceneError> {
        let nodes = self.list("/nodes");
        let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            let children = node.get("children").and_then(Value::as_array);
            for child in children.map_or(&[][..], Vec::as_slice) {
                let place = format!("nodes[{index}].children");
                let (child, _) = self.element("/nodes", child, &place)?;
                match parents.get_mut(child) {
                    Some(parent @ None) => *parent = Some(index),
                    _ => return Err(self.wrong(&place, format!("node {child} has two parents"))),
                }
            }
        }
        let mut placed: Vec<Option<Place>> = vec![None; nodes.len()];
        for start in 0..nodes.len() {
            // Up to what is known, then down again.
            let mut row = vec![start];
            while let Some(above) = row.last().and_then(|&last| parents.get(last).copied())
                && let Some(above) = above
                && placed.get(above).is_some_and(Option::is_none)
            {
                if row.len() > MAX_DEPTH {
                    let place = format!("nodes[{start}]");
                    let problem = format!("it is its own ancestor, or has more than {MAX_DEPTH}");
                    return Err(self.wrong(&place, problem));
                }
                row.push(above);
            }
            while let Some(index) = row.pop() {
                let parent = parents.get(index).copied().flatten();
                let around = parent.and_then(|parent| placed.get(parent).copied().flatten());
                let own = self.own_place(index, parent, around.as_ref())?;
                if let Some(slot) = placed.get_mut(index) {
                    *slot = Some(own);
                }
            }
        }
        Ok(placed.into_iter().flatten().collect())
    }

    /// Where a node is as an ancestor of it sees it. A child's pose keeps its bits.
    pub(super) fn seen_from(&self, ancestor: usize, node: usize) -> Pose3 {
        let mut pose: Option<Pose3> = None;
        let mut index = node;
        while index != ancestor {
            let Some(place) = self.nodes.get(index) else {
                break;
            };
            pose = Some(match pose {
                Some(inner) => then(&place.own, &inner),
                None => place.own,
            });
            let Some(parent) = place.parent else {
                break;
            };
            index = parent;
        }
        pose.unwrap_or_default()
    }

    /// What `extras.drystone` of an object holds, if there is something; `place` names the object.
    pub(super) fn extra<T: DeserializeOwned>(
        &self,
        object: &Value,
        place: &str,
    ) -> Result<Option<T>, SceneError> {
        let Some(extra) = object.pointer(EXTRAS) else {
            return Ok(None);
        };
        T::deserialize(extra.plain()).map(Some).map_err(|error| {
            let problem = format!("{error}; remove it, or write what a scene file would have");
            self.wrong(&format!("{place}.extras.drystone"), problem)
        })
    }

    fn own_place(
        &self,
        index: usize,
        parent: Option<usize>,
        around: Option<&Place>,
    ) -> Result<Place, SceneError> {
        let node = self.list("/nodes").get(index).unwrap_or(&NULL);
        let (scale, rotation, position) = match self.row::<16>(node, "matrix")? {
            Some(matrix) => {
                let parts = DMat4::from_cols_array(&matrix).to_scale_rotation_translation();
                let is_sound = parts.1.is_finite() && (parts.1.length() - 1.0).abs() < 1e-3;
                if !is_sound {
                    let place = format!("nodes[{index}].matrix");
                    return Err(self.wrong(&place, "this is no translation, rotation and scale"));
                }
                (parts.0, parts.1.normalize(), parts.2)
            }
            None => (
                self.row::<3>(node, "scale")?
                    .map_or(DVec3::ONE, DVec3::from_array),
                self.quaternion(node, "rotation")?,
                self.row::<3>(node, "translation")?
                    .map_or(DVec3::ZERO, DVec3::from_array),
            ),
        };
        let own = Pose3 { position, rotation };
        let Some(around) = around else {
            return Ok(Place {
                pose: own,
                scale,
                parent,
                own,
                depth: 0,
            });
        };
        if around.depth >= MAX_DEPTH {
            let problem = format!("it has more than {MAX_DEPTH} ancestors");
            return Err(self.wrong(&format!("nodes[{index}]"), problem));
        }
        let local = Pose3 {
            position: position * around.scale,
            rotation,
        };
        Ok(Place {
            pose: then(&around.pose, &local),
            scale: scale * around.scale,
            parent,
            own: local,
            depth: around.depth + 1,
        })
    }
}

/// JSON and binary chunk of a GLB file, which says its length three times.
fn chunks<'b>(bytes: &'b [u8], file: &str) -> Result<(&'b [u8], Option<&'b [u8]>), SceneError> {
    let wrong = |at: usize, problem: &str| {
        let problem = format!("byte {at}: {problem}");
        SceneError::unreadable(file, problem, "export the model again")
    };
    let number = |at: usize| {
        let four = bytes.get(at..at.checked_add(4)?)?;
        usize::try_from(u32::from_le_bytes(four.try_into().ok()?)).ok()
    };
    if number(4) != Some(2) {
        return Err(wrong(4, "only version 2 of glTF is read"));
    }
    let length = number(8).unwrap_or(0);
    if length > bytes.len() {
        let problem = format!("{length} bytes are named, {} are there", bytes.len());
        return Err(wrong(8, &problem));
    }
    let (mut json, mut binary, mut at) = (None, None, 12);
    while at < length {
        let (size, kind) = (number(at), bytes.get(at + 4..at + 8));
        let body = size.and_then(|size| bytes.get(at + 8..(at + 8).checked_add(size)?));
        let (Some(body), Some(kind)) = (body, kind) else {
            return Err(wrong(at, "a chunk is longer than the file"));
        };
        if kind == JSON_CHUNK {
            json = json.or(Some(body));
        } else if kind == BINARY_CHUNK {
            binary = binary.or(Some(body));
        }
        at += 8 + body.len();
    }
    let json = json.ok_or_else(|| wrong(12, "there is no JSON chunk"))?;
    Ok((json, binary))
}

/// A name with `%20` and the like written out, before it is looked at where it leads; `None` for
/// what is no name.
fn percent_decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut parts = uri.split('%');
    bytes.extend(parts.next()?.as_bytes());
    for part in parts {
        let digits = part
            .get(..2)
            .filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(part.as_bytes().get(2..)?);
    }
    String::from_utf8(bytes).ok()
}

/// What base64 stands for; `None` for what is none.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for four in digits.chunks(4) {
        let mut value = 0u32;
        for k in 0..4 {
            let digit = match four.get(k).copied() {
                Some(c @ b'A'..=b'Z') => c - b'A',
                Some(c @ b'a'..=b'z') => c - b'a' + 26,
                Some(c @ b'0'..=b'9') => c - b'0' + 52,
                Some(b'+') => 62,
                Some(b'/') => 63,
                None => 0,
                Some(_) => return None,
            };
            value = value << 6 | u32::from(digit);
        }
        let whole = four.len().checked_sub(1).filter(|&whole| whole > 0)?;
        let [_, made @ ..] = value.to_be_bytes();
        bytes.extend(made.iter().take(whole));
    }
    Some(bytes)
}

/// A name for a node.
pub(super) fn node_name(node: &Value, index: usize) -> String {
    match node.get("name").and_then(Value::as_str) {
        Some(name) if !name.trim().is_empty() => shortened(name),
        _ => format!("node {index}"),
    }
}
