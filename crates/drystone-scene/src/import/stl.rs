//! STL: triangles without order, as text or bytes.
//!
//! A binary file has 80 bytes of anything, the number of triangles (`u32`), and 50 bytes a
//! triangle: normal and three corners (`f32` each, little-endian) and two bytes of anything. Text
//! begins with `solid`, but so do some binary files: a file is binary if its length is that of the
//! number of triangles it names. Corners with the same numbers become one vertex.

use std::collections::BTreeMap;

use super::surface::Surface;
use crate::error::SceneError;

const HEADER: usize = 84;
const RECORD: usize = 50;

/// Reads an STL file.
pub(super) fn read(bytes: &[u8], file: &str) -> Result<Surface, SceneError> {
    let named = bytes
        .get(80..HEADER)
        .and_then(|count| <[u8; 4]>::try_from(count).ok())
        .map(|count| u64::from(u32::from_le_bytes(count)));
    let fits = named.map(|count| HEADER as u64 + RECORD as u64 * count == bytes.len() as u64);
    if fits != Some(true) && bytes.trim_ascii_start().starts_with(b"solid") {
        return read_text(bytes, file);
    }
    match (named, fits) {
        (Some(_), Some(true)) => Ok(read_binary(bytes)),
        (Some(count), _) => {
            let length = bytes.len();
            let problem = format!(
                "byte 80: {count} triangles are named, but a file of {length} bytes does not hold \
                 just these"
            );
            Err(wrong(file, problem))
        }
        (None, _) => Err(wrong(
            file,
            format!("byte {}: it ends within the header", bytes.len()),
        )),
    }
}

fn wrong(file: &str, problem: String) -> SceneError {
    SceneError::unreadable(file, problem, "export the mesh as STL again")
}

/// Vertices that are told apart by their numbers.
#[derive(Default)]
struct Welder {
    surface: Surface,
    known: BTreeMap<[u64; 3], u32>,
}

impl Welder {
    fn vertex(&mut self, point: [f64; 3]) -> u32 {
        // Adding 0 makes one of the two zeros.
        let key = point.map(|x| (x + 0.0).to_bits());
        let points = &mut self.surface.points;
        *self.known.entry(key).or_insert_with(|| {
            points.push(point.to_vec());
            u32::try_from(points.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn triangle(&mut self, corners: [[f64; 3]; 3]) {
        let corners = corners.map(|corner| self.vertex(corner));
        self.surface.triangles.push(corners);
    }
}

fn read_binary(bytes: &[u8]) -> Surface {
    let mut welder = Welder::default();
    let body = bytes.get(HEADER..).unwrap_or_default();
    for record in body.chunks_exact(RECORD) {
        let number = |k: usize| {
            let at = 12 + 4 * k;
            let bytes = record.get(at..at + 4).unwrap_or(&[0; 4]);
            f64::from(f32::from_le_bytes(bytes.try_into().unwrap_or_default()))
        };
        welder.triangle([0, 3, 6].map(|k| [number(k), number(k + 1), number(k + 2)]));
    }
    welder.surface
}

fn read_text(bytes: &[u8], file: &str) -> Result<Surface, SceneError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        wrong(
            file,
            format!("byte {at}: neither text nor a binary STL file"),
        )
    })?;
    let mut welder = Welder::default();
    let mut corners = Vec::with_capacity(3);
    for (line, words) in (1..).zip(text.lines()) {
        let mut words = words.split_whitespace();
        match words.next() {
            Some("vertex") => {
                let numbers: Result<Vec<f64>, _> = words.take(3).map(str::parse).collect();
                match numbers
                    .ok()
                    .and_then(|list| <[f64; 3]>::try_from(list).ok())
                {
                    Some(corner) => corners.push(corner),
                    None => {
                        let problem = format!("line {line}: a vertex has three numbers");
                        return Err(wrong(file, problem));
                    }
                }
            }
            Some("endloop") => {
                let Ok(loop_of_three) = <[[f64; 3]; 3]>::try_from(std::mem::take(&mut corners))
                else {
                    let problem = format!("line {line}: a loop has three vertices");
                    return Err(wrong(file, problem));
                };
                welder.triangle(loop_of_three);
            }
            _ => {}
        }
    }
    if corners.is_empty() {
        return Ok(welder.surface);
    }
    let problem = "it ends within a loop".to_owned();
    Err(wrong(file, problem))
}
