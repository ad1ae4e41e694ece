//! Files for ParaView: for each frame the bodies and the contacts as `.vtp`, and one `.pvd` that
//! says which belong to which time.
//!
//! | file | fields |
//! |---|---|
//! | bodies | `object` (index), `velocity` of its centre of mass in m/s, `spin` in rad/s, on points; a skin's points have the object that carries them |
//! | contacts | `force` on object b in N, `normal` from a to b, `separation` in m, `object_a`, `object_b`, on points |
//!
//! The force is the impulse of the step over the length of the step: a mean over the step.
//! Numbers are appended as they are, little-endian, each array behind its length in bytes.

use std::fmt::Write;

use super::model::{Model, place};
use super::surface;
use crate::{Frame, Stage};

/// The surfaces of all bodies at a frame.
#[must_use]
pub fn bodies(stage: &Stage, model: &Model, frame: &Frame) -> Vec<u8> {
    let mut points = Vec::new();
    let (mut objects, mut velocities, mut spins) = (Vec::new(), Vec::new(), Vec::new());
    let (mut corners, mut ends) = (Vec::new(), Vec::new());
    for k in 0..stage.objects.len() {
        let position = frame.positions.get(k).copied().unwrap_or_default();
        let rotation = frame.rotations.get(k).copied();
        let rotation = rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let velocity = frame.velocities.get(k).copied().unwrap_or_default();
        let spin = frame.spins.get(k).copied().unwrap_or_default();
        for placed in model.objects.get(k).into_iter().flatten() {
            let mesh = &model.meshes[placed.mesh];
            let first = points.len() as i64;
            for &vertex in &mesh.points {
                points.push(place(placed, position, rotation, vertex));
                objects.push(k as i64);
                velocities.push(velocity);
                spins.push(spin);
            }
            for triangle in &mesh.triangles {
                corners.extend(triangle.map(|corner| first + i64::from(corner)));
                ends.push(corners.len() as i64);
            }
        }
    }
    for skin in &stage.skins {
        let surface = surface::of_skin(skin, &frame.positions, stage.dimension == 2);
        let first = points.len() as i64;
        for (point, &object) in surface.points.iter().zip(&surface.objects) {
            let k = object as usize;
            points.push(*point);
            objects.push(i64::from(object));
            velocities.push(frame.velocities.get(k).copied().unwrap_or_default());
            spins.push(frame.spins.get(k).copied().unwrap_or_default());
        }
        for triangle in &surface.triangles {
            corners.extend(triangle.map(|corner| first + i64::from(corner)));
            ends.push(corners.len() as i64);
        }
    }
    let mut file = File::new(points.len(), 0, ends.len());
    file.open("PointData");
    file.whole("object", &objects);
    file.vectors("velocity", &velocities);
    file.vectors("spin", &spins);
    file.close("PointData");
    file.points(&points);
    file.cells("Polys", &corners, &ends);
    file.finish()
}

/// The contacts of a frame; `dt` is the length of a step in s.
#[must_use]
pub fn contacts(frame: &Frame, dt: f64) -> Vec<u8> {
    let all = &frame.contacts;
    let points: Vec<[f64; 3]> = all.iter().map(|c| c.position).collect();
    let forces: Vec<[f64; 3]> = all.iter().map(|c| c.impulse.map(|x| x / dt)).collect();
    let normals: Vec<[f64; 3]> = all.iter().map(|c| c.normal).collect();
    let separations: Vec<f64> = all.iter().map(|c| c.separation).collect();
    let a: Vec<i64> = all.iter().map(|c| i64::from(c.object_a)).collect();
    let b: Vec<i64> = all.iter().map(|c| i64::from(c.object_b)).collect();
    let corners: Vec<i64> = (0..all.len() as i64).collect();
    let ends: Vec<i64> = (1..=all.len() as i64).collect();
    let mut file = File::new(all.len(), all.len(), 0);
    file.open("PointData");
    file.vectors("force", &forces);
    file.vectors("normal", &normals);
    file.numbers("separation", 1, &separations);
    file.whole("object_a", &a);
    file.whole("object_b", &b);
    file.close("PointData");
    file.points(&points);
    file.cells("Verts", &corners, &ends);
    file.finish()
}

/// The file that names the others: time in s, file of bodies, file of contacts.
#[must_use]
pub fn series(frames: &[(f64, String, String)]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n",
    );
    for (time, bodies, contacts) in frames {
        for (part, file) in [bodies, contacts].into_iter().enumerate() {
            let file = escaped(file);
            // Writing to a string can't fail.
            let _ = writeln!(
                text,
                "<DataSet timestep=\"{time:?}\" part=\"{part}\" file=\"{file}\"/>"
            );
        }
    }
    text + "</Collection>\n</VTKFile>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

/// A `.vtp` file: text that says which numbers lie where, and then the numbers.
struct File {
    text: String,
    data: Vec<u8>,
}

impl File {
    fn new(points: usize, verts: usize, polys: usize) -> Self {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" \
             byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n\
             <Piece NumberOfPoints=\"{points}\" NumberOfVerts=\"{verts}\" NumberOfLines=\"0\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{polys}\">\n"
        );
        Self {
            text,
            data: Vec::new(),
        }
    }

    fn open(&mut self, tag: &str) {
        self.text += &format!("<{tag}>\n");
    }

    fn close(&mut self, tag: &str) {
        self.text += &format!("</{tag}>\n");
    }

    fn array(&mut self, kind: &str, name: &str, components: u32, bytes: Vec<u8>) {
        let offset = self.data.len();
        self.text += &format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{offset}\"/>\n"
        );
        self.data.extend((bytes.len() as u64).to_le_bytes());
        self.data.extend(bytes);
    }

    fn numbers(&mut self, name: &str, components: u32, numbers: &[f64]) {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.array("Float64", name, components, bytes);
    }

    fn vectors(&mut self, name: &str, vectors: &[[f64; 3]]) {
        self.numbers(name, 3, vectors.as_flattened());
    }

    fn whole(&mut self, name: &str, numbers: &[i64]) {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.array("Int64", name, 1, bytes);
    }

    fn points(&mut self, points: &[[f64; 3]]) {
        self.open("Points");
        self.vectors("Points", points);
        self.close("Points");
    }

    fn cells(&mut self, tag: &str, corners: &[i64], ends: &[i64]) {
        self.open(tag);
        self.whole("connectivity", corners);
        self.whole("offsets", ends);
        self.close(tag);
    }

    fn finish(self) -> Vec<u8> {
        let mut file = self.text.into_bytes();
        file.extend(b"</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
        file.extend(self.data);
        file.extend(b"\n</AppendedData>\n</VTKFile>\n");
        file
    }
}
