//! Triangles of a glTF mesh.

use super::document::Document;
use super::value::{NULL, Value};
use crate::error::SceneError;
use crate::import::surface::Surface;

const FLOAT: u64 = 5126;
const TRIANGLES: u64 = 4;

/// All triangles of the mesh of that index.
pub(super) fn surface(
    document: &Document<'_>,
    index: &Value,
    place: &str,
) -> Result<Surface, SceneError> {
    let (number, mesh) = document.element("/meshes", index, place)?;
    let mut surface = Surface::default();
    let primitives = mesh.get("primitives").and_then(Value::as_array);
    for (k, primitive) in primitives.map_or(&[][..], Vec::as_slice).iter().enumerate() {
        let place = format!("meshes[{number}].primitives[{k}]");
        let mode = primitive.get("mode").map_or(Some(TRIANGLES), Value::as_u64);
        if mode != Some(TRIANGLES) {
            return Err(document.wrong(&place, "only triangles (mode 4) are read"));
        }
        let Some(positions) = primitive.pointer("/attributes/POSITION") else {
            return Err(document.wrong(&place, "it has no POSITION"));
        };
        let rows = Rows::new(document, positions, &format!("{place}.attributes.POSITION"))?;
        if (rows.component, rows.width) != (FLOAT, 3) {
            return Err(document.wrong(&place, "positions must be three floats"));
        }
        let first = surface.points.len();
        let point = |row: &[u8]| row.chunks_exact(4).map(float).collect();
        surface.points.extend(rows.iter().map(point));
        let corners = match primitive.get("indices") {
            Some(indices) => whole_numbers(document, indices, &format!("{place}.indices"))?,
            None => (0..rows.count as u64).collect(),
        };
        for corner in corners.chunks_exact(3) {
            let mut triangle = [0; 3];
            for (slot, &corner) in triangle.iter_mut().zip(corner) {
                let vertex = (corner < rows.count as u64).then(|| first as u64 + corner);
                *slot = vertex
                    .and_then(|vertex| u32::try_from(vertex).ok())
                    .ok_or_else(|| {
                        let count = rows.count;
                        document.wrong(&place, format!("vertex {corner} of {count} is named"))
                    })?;
            }
            surface.triangles.push(triangle);
        }
    }
    if surface.triangles.is_empty() {
        return Err(document.wrong(&format!("meshes[{number}]"), "there is no triangle in it"));
    }
    Ok(surface)
}

fn float(bytes: &[u8]) -> f64 {
    f64::from(f32::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

fn whole_numbers(
    document: &Document<'_>,
    index: &Value,
    place: &str,
) -> Result<Vec<u64>, SceneError> {
    let rows = Rows::new(document, index, place)?;
    if rows.component == FLOAT || rows.width != 1 {
        return Err(document.wrong(place, "indices must be single whole numbers"));
    }
    let number = |row: &[u8]| {
        row.iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    };
    Ok(rows.iter().map(number).collect())
}

/// The bytes of an accessor, row by row. All of them are there.
struct Rows<'d> {
    bytes: &'d [u8],
    component: u64,
    /// Numbers in a row.
    width: usize,
    /// Bytes of a row, and from one to the next.
    size: usize,
    stride: usize,
    count: usize,
}

/// Type of an accessor's numbers, bytes of each, and how many make a row.
fn element(
    document: &Document<'_>,
    accessor: &Value,
    place: &str,
) -> Result<(u64, usize, usize), SceneError> {
    let component = accessor.get("componentType").and_then(Value::as_u64);
    let bytes_each = match component {
        Some(5120 | 5121) => 1,
        Some(5122 | 5123) => 2,
        Some(5125 | FLOAT) => 4,
        Some(other) => return Err(document.wrong(place, format!("no component type {other}"))),
        None => return Err(document.wrong(place, "`componentType` is no whole number")),
    };
    let width = match accessor.get("type").and_then(Value::as_str) {
        Some("SCALAR") => 1,
        Some("VEC3") => 3,
        _ => return Err(document.wrong(place, "its type must be SCALAR or VEC3")),
    };
    Ok((component.unwrap_or_default(), bytes_each, width))
}

impl<'d> Rows<'d> {
    fn new(document: &'d Document<'_>, index: &Value, place: &str) -> Result<Self, SceneError> {
        let (number, accessor) = document.element("/accessors", index, place)?;
        let place = format!("accessors[{number}]");
        if accessor.get("sparse").is_some() {
            return Err(document.wrong(&place, "sparse accessors are not read"));
        }
        let Some(view) = accessor.get("bufferView") else {
            return Err(document.wrong(&place, "it has no `bufferView` (compressed?)"));
        };
        let whole = |table: &Value, key: &str, default: Option<u64>| {
            let value = table.get(key).map_or(default, Value::as_u64);
            value
                .and_then(|value| usize::try_from(value).ok())
                .ok_or_else(|| document.wrong(&place, format!("`{key}` is no whole number")))
        };
        let (component, bytes_each, width) = element(document, accessor, &place)?;
        let (_, view) = document.element("/bufferViews", view, &place)?;
        let buffer = view.get("buffer").unwrap_or(&NULL);
        let (buffer, _) = document.element("/buffers", buffer, &place)?;
        let buffer = document.buffers.get(buffer).map_or(&[][..], Vec::as_slice);
        let (start, length) = (
            whole(view, "byteOffset", Some(0))?,
            whole(view, "byteLength", None)?,
        );
        let size = bytes_each * width;
        let stride = whole(view, "byteStride", Some(size as u64))?;
        let (offset, count) = (
            whole(accessor, "byteOffset", Some(0))?,
            whole(accessor, "count", None)?,
        );
        // Everything is checked before anything is made of the count.
        let rows = || {
            let view = buffer.get(start..start.checked_add(length)?)?;
            let needed = match count {
                0 => 0,
                _ => stride.checked_mul(count - 1)?.checked_add(size)?,
            };
            view.get(offset..offset.checked_add(needed)?)
        };
        let bytes = rows().filter(|_| stride >= size);
        let bytes = bytes.ok_or_else(|| {
            document.wrong(
                &place,
                format!("its {count} elements are not all in its buffer"),
            )
        })?;
        Ok(Self {
            bytes,
            component,
            width,
            size,
            stride,
            count,
        })
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let row = |k: usize| self.bytes.get(k * self.stride..k * self.stride + self.size);
        (0..self.count).filter_map(row)
    }
}
