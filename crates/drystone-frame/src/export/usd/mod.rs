//! USD as text.
//!
//! What deforms is a mesh with points at every time. Objects are `Xform`s under `/World` with time samples; their meshes are written once, under
//! the class `/World/Forms`, and referenced. Rigid bodies and colliders are marked by the UsdPhysics
//! schemas. Motion is baked, so bodies that move are kinematic: a simulator that opens the stage
//! moves other things with them. Metres, kilograms, y up, one time code a frame.

mod physics;

use std::collections::HashSet;
use std::io::{self, Write};

use crate::Stage;
use crate::export::model::{Model, PlacedMesh};
use crate::export::motion::{Deforming, Motion, Track};
use crate::export::palette;
use crate::mesh::Mesh;
pub use physics::{Physics, Tie, TieKind};

/// What a stage says about time and space beyond its objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Frames in a second.
    pub frames_per_second: f64,
    /// Acceleration of free fall in m/s².
    pub gravity: [f64; 3],
    /// Masses, surfaces and joints.
    pub physics: Physics,
}

/// Names under `/World` that objects can't have.
const TAKEN: [&str; 4] = ["PhysicsScene", "Materials", "Forms", "Surfaces"];

/// Writes the file.
///
/// # Errors
///
/// What the system says.
pub fn write(
    stage: &Stage,
    model: &Model,
    motion: &Motion,
    setting: &Setting,
    out: &mut impl Write,
) -> io::Result<()> {
    write_head(motion, setting, out)?;
    physics::write_scene(setting, out)?;
    let (surfaces, surface_of) = setting.physics.distinct();
    physics::write_surfaces(&surfaces, out)?;
    write_materials(model, motion, out)?;
    writeln!(out, "\n    class Scope \"Forms\"\n    {{")?;
    for (k, mesh) in model.meshes.iter().enumerate() {
        if !mesh.triangles.is_empty() {
            write_form(k, mesh, out)?;
        }
    }
    writeln!(out, "    }}")?;
    let codes = time_codes(motion, setting);
    let mut names = Names::new();
    let mut prims = vec![None; stage.objects.len()];
    let is_shown = |k: &usize| model.hidden.get(*k) != Some(&true);
    for (k, object) in stage
        .objects
        .iter()
        .enumerate()
        .filter(|(k, _)| is_shown(k))
    {
        let body = Body {
            name: names.of(&object.name),
            mass: setting.physics.mass(k).filter(|_| !object.fixed),
            surface: surface_of.get(k).copied().flatten(),
            title: &object.name,
            is_fixed: object.fixed,
            placed: model.objects.get(k).map(Vec::as_slice).unwrap_or_default(),
            colour: model.colours.get(k).copied().unwrap_or_default(),
        };
        if let Some(track) = motion.tracks.get(k) {
            body.write(track, &codes, out)?;
        }
        let scale = body.single().map_or(1.0, |one| one.scale);
        prims[k] = Some((body.name, scale));
    }
    for tie in &setting.physics.ties {
        let prim = |k: usize| prims.get(k)?.as_ref();
        if let [Some((a, on_a)), Some((b, on_b))] = tie.objects.map(prim) {
            let name = names.of(&tie.name);
            physics::write_tie(tie, &name, [a, b], [*on_a, *on_b], out)?;
        }
    }
    for (k, deforming) in motion.deforming.iter().enumerate() {
        if !deforming.triangles.is_empty() {
            let colour = palette::colour_of_skin(k);
            write_deforming(deforming, (&names.of(&deforming.name), colour), &codes, out)?;
        }
    }
    writeln!(out, "}}")
}

/// A mesh whose points have time samples.
fn write_deforming(
    deforming: &Deforming,
    (name, colour): (&str, usize),
    codes: &[f64],
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(
        out,
        "\n    def Mesh \"{name}\" (\n        displayName = {}\n        \
         prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )\n    {{",
        quoted(&deforming.name)
    )?;
    writeln!(out, "        float3[] extent.timeSamples = {{")?;
    for (k, code) in codes.iter().enumerate() {
        let [low, high] = deforming
            .bounds(k)
            .map(|corner| tuple_single(&corner.map(f64::from)));
        writeln!(out, "            {}: [{low}, {high}],", number(*code))?;
    }
    let threes = vec!["3"; deforming.triangles.len()].join(", ");
    let corners = deforming.triangles.as_flattened().iter();
    let corners: Vec<String> = corners.map(ToString::to_string).collect();
    writeln!(
        out,
        "        }}\n        int[] faceVertexCounts = [{threes}]\n        \
         int[] faceVertexIndices = [{}]",
        corners.join(", ")
    )?;
    let material = palette::name(colour);
    writeln!(
        out,
        "        rel material:binding = </World/Materials/{material}>\n        \
         point3f[] points.timeSamples = {{"
    )?;
    for (code, points) in codes.iter().zip(&deforming.frames) {
        let points = points
            .iter()
            .map(|point| tuple_single(&point.map(f64::from)));
        let points = points.collect::<Vec<_>>().join(", ");
        writeln!(out, "            {}: [{points}],", number(*code))?;
    }
    writeln!(
        out,
        "        }}\n        uniform token subdivisionScheme = \"none\"\n    }}"
    )
}

fn write_head(motion: &Motion, setting: &Setting, out: &mut impl Write) -> io::Result<()> {
    let codes = time_codes(motion, setting);
    let (start, end) = (codes.first().copied(), codes.last().copied());
    let rate = setting.frames_per_second;
    writeln!(
        out,
        "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = \"Written by drystone {}\"\n    \
         endTimeCode = {}\n    framesPerSecond = {}\n    kilogramsPerUnit = 1\n    \
         metersPerUnit = 1\n    startTimeCode = {}\n    timeCodesPerSecond = {}\n    \
         upAxis = \"Y\"\n)\n\ndef Xform \"World\" (\n    kind = \"component\"\n)\n{{",
        env!("CARGO_PKG_VERSION"),
        number(end.unwrap_or_default()),
        number(rate),
        number(start.unwrap_or_default()),
        number(rate),
    )
}

fn write_materials(model: &Model, motion: &Motion, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n    def Scope \"Materials\"\n    {{")?;
    let skins = 0..motion.deforming.len();
    let of_skins: Vec<usize> = skins.map(palette::colour_of_skin).collect();
    let is_used = |colour: &usize| model.colours.contains(colour) || of_skins.contains(colour);
    for colour in (0..palette::COUNT).filter(is_used) {
        let name = palette::name(colour);
        let surface = format!("/World/Materials/{name}/Surface.outputs:surface");
        writeln!(
            out,
            "        def Material \"{name}\"\n        {{\n            \
             token outputs:surface.connect = <{surface}>\n\n            \
             def Shader \"Surface\"\n            {{\n                \
             uniform token info:id = \"UsdPreviewSurface\"\n                \
             color3f inputs:diffuseColor = {}\n                \
             float inputs:roughness = 0.8\n                \
             token outputs:surface\n            }}\n        }}",
            tuple(&palette::linear(colour)),
        )?;
    }
    writeln!(out, "    }}")
}

fn write_form(number: usize, mesh: &Mesh, out: &mut impl Write) -> io::Result<()> {
    let single = |rows: &[[f64; 3]]| {
        let rows = rows.iter().map(|row| tuple_single(row));
        rows.collect::<Vec<_>>().join(", ")
    };
    let bound = |pick: fn(f64, f64) -> f64, start: f64| {
        let fold = |i: usize| mesh.points.iter().map(|p| p[i]).fold(start, pick);
        tuple_single(&[fold(0), fold(1), fold(2)])
    };
    let corners = mesh.triangles.as_flattened().iter();
    let corners: Vec<String> = corners.map(ToString::to_string).collect();
    writeln!(out, "        def Mesh \"form_{}\"\n        {{", number + 1)?;
    writeln!(
        out,
        "            float3[] extent = [{}, {}]",
        bound(f64::min, f64::INFINITY),
        bound(f64::max, f64::NEG_INFINITY)
    )?;
    let threes = vec!["3"; mesh.triangles.len()].join(", ");
    writeln!(out, "            int[] faceVertexCounts = [{threes}]")?;
    writeln!(
        out,
        "            int[] faceVertexIndices = [{}]",
        corners.join(", ")
    )?;
    if !mesh.normals.is_empty() {
        writeln!(
            out,
            "            normal3f[] normals = [{}] (\n                \
             interpolation = \"vertex\"\n            )",
            single(&mesh.normals)
        )?;
    }
    writeln!(
        out,
        "            point3f[] points = [{}]",
        single(&mesh.points)
    )?;
    writeln!(
        out,
        "            uniform token subdivisionScheme = \"none\"\n        }}"
    )
}

struct Body<'a> {
    name: String,
    /// kg.
    mass: Option<f64>,
    surface: Option<usize>,
    title: &'a str,
    is_fixed: bool,
    placed: &'a [PlacedMesh],
    colour: usize,
}

/// Schemas of a collider.
const COLLIDER: [&str; 3] = [
    "PhysicsCollisionAPI",
    "PhysicsMeshCollisionAPI",
    "MaterialBindingAPI",
];

impl Body<'_> {
    /// The mesh of a body that has only one, at its origin.
    fn single(&self) -> Option<&PlacedMesh> {
        match self.placed {
            [one] if one.is_at_origin() => Some(one),
            _ => None,
        }
    }

    /// A body of one mesh is that mesh, so that programs that drop transforms without a shape keep
    /// its name; others are transforms with a mesh for each part.
    fn write(&self, track: &Track, codes: &[f64], out: &mut impl Write) -> io::Result<()> {
        let single = self.single();
        let mut schemas = Vec::new();
        if !self.is_fixed {
            schemas.push("PhysicsRigidBodyAPI");
        }
        if self.mass.is_some() {
            schemas.push("PhysicsMassAPI");
        }
        if single.is_some() {
            schemas.extend(COLLIDER);
        }
        let kind = if single.is_some() { "Mesh" } else { "Xform" };
        writeln!(out, "\n    def {kind} \"{}\" (", self.name)?;
        writeln!(out, "        displayName = {}", quoted(self.title))?;
        write_schemas(&schemas, "        ", out)?;
        if let Some(one) = single {
            write_reference(one, "        ", out)?;
        }
        writeln!(out, "    )\n    {{")?;
        if !self.is_fixed {
            writeln!(out, "        bool physics:kinematicEnabled = 1")?;
        }
        if let Some(mass) = self.mass {
            // Says to our own reader that it is kinematic only because its motion is written out.
            writeln!(out, "        custom bool drystone:baked = 1")?;
            writeln!(out, "        float physics:mass = {}", number(mass))?;
        }
        write_track(track, codes, out)?;
        let mut order = vec!["\"xformOp:translate\"", "\"xformOp:orient\""];
        if let Some(one) = single {
            self.write_material("        ", out)?;
            write_scale(one, &mut order, "        ", out)?;
        }
        let order = order.join(", ");
        writeln!(out, "        uniform token[] xformOpOrder = [{order}]")?;
        if single.is_none() {
            for (k, placed) in self.placed.iter().enumerate() {
                self.write_part(k, placed, out)?;
            }
        }
        writeln!(out, "    }}")
    }

    fn write_part(&self, k: usize, placed: &PlacedMesh, out: &mut impl Write) -> io::Result<()> {
        let indent = "            ";
        writeln!(out, "\n        def Mesh \"part_{}\" (", k + 1)?;
        write_schemas(&COLLIDER, indent, out)?;
        write_reference(placed, indent, out)?;
        writeln!(out, "        )\n        {{")?;
        self.write_material(indent, out)?;
        let (position, rotation) = (tuple(&placed.position), quaternion(&placed.rotation));
        writeln!(out, "{indent}double3 xformOp:translate = {position}")?;
        writeln!(out, "{indent}quatf xformOp:orient = {rotation}")?;
        let mut order = vec!["\"xformOp:translate\"", "\"xformOp:orient\""];
        write_scale(placed, &mut order, indent, out)?;
        let order = order.join(", ");
        writeln!(
            out,
            "{indent}uniform token[] xformOpOrder = [{order}]\n        }}"
        )
    }

    fn write_material(&self, indent: &str, out: &mut impl Write) -> io::Result<()> {
        let material = palette::name(self.colour);
        writeln!(
            out,
            "{indent}rel material:binding = </World/Materials/{material}>"
        )?;
        let Some(surface) = self.surface else {
            return Ok(());
        };
        let surface = physics::surface_path(surface);
        writeln!(out, "{indent}rel material:binding:physics = <{surface}>")
    }
}

fn write_schemas(schemas: &[&str], indent: &str, out: &mut impl Write) -> io::Result<()> {
    if schemas.is_empty() {
        return Ok(());
    }
    let quoted: Vec<String> = schemas.iter().map(|name| format!("\"{name}\"")).collect();
    writeln!(out, "{indent}prepend apiSchemas = [{}]", quoted.join(", "))
}

fn write_reference(placed: &PlacedMesh, indent: &str, out: &mut impl Write) -> io::Result<()> {
    let form = placed.mesh + 1;
    writeln!(
        out,
        "{indent}prepend references = </World/Forms/form_{form}>"
    )
}

fn write_scale(
    placed: &PlacedMesh,
    order: &mut Vec<&str>,
    indent: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    if placed.scale != 1.0 {
        order.push("\"xformOp:scale\"");
        let scale = tuple(&[placed.scale; 3]);
        writeln!(out, "{indent}float3 xformOp:scale = {scale}")?;
    }
    Ok(())
}

fn write_track(track: &Track, codes: &[f64], out: &mut impl Write) -> io::Result<()> {
    match track {
        Track::Still { position, rotation } => {
            let (position, rotation) = (tuple(position), quaternion(rotation));
            writeln!(out, "        double3 xformOp:translate = {position}")?;
            writeln!(out, "        quatf xformOp:orient = {rotation}")
        }
        Track::Moving {
            positions,
            rotations,
        } => {
            writeln!(out, "        double3 xformOp:translate.timeSamples = {{")?;
            for (code, position) in codes.iter().zip(positions) {
                writeln!(out, "            {}: {},", number(*code), tuple(position))?;
            }
            writeln!(
                out,
                "        }}\n        quatf xformOp:orient.timeSamples = {{"
            )?;
            for (code, rotation) in codes.iter().zip(rotations) {
                writeln!(
                    out,
                    "            {}: {},",
                    number(*code),
                    quaternion(rotation)
                )?;
            }
            writeln!(out, "        }}")
        }
    }
}

/// The time of each frame in frames; whole where it is whole but for round-off.
fn time_codes(motion: &Motion, setting: &Setting) -> Vec<f64> {
    let code = |time: &f64| {
        let code = time * setting.frames_per_second;
        let whole = libm::round(code);
        if (code - whole).abs() < 1e-6 {
            whole
        } else {
            code
        }
    };
    motion.times.iter().map(code).collect()
}

/// As many digits as it takes to read the same bits back.
fn number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn tuple(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|&x| number(x)).collect();
    format!("({})", numbers.join(", "))
}

fn tuple_single(numbers: &[f64]) -> String {
    let single = |&x: &f64| {
        let text = format!("{:?}", x as f32);
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    };
    let numbers: Vec<String> = numbers.iter().map(single).collect();
    format!("({})", numbers.join(", "))
}

/// USD writes the real part first.
fn quaternion([x, y, z, w]: &[f64; 4]) -> String {
    tuple_single(&[*w, *x, *y, *z])
}

fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// Names that USD can have: letters, digits and underscores, no digit first, none twice.
struct Names(HashSet<String>);

impl Names {
    fn new() -> Self {
        Self(TAKEN.map(str::to_owned).into())
    }

    fn of(&mut self, title: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut base: String = title.chars().map(letter).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        let mut name = base.clone();
        let mut number = 2_u64;
        while !self.0.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_for_usd_and_never_twice() {
        let mut names = Names::new();
        let found = ["stone 7", "stone_7", "7up", "", "Forms", "größe"].map(|n| names.of(n));
        assert_eq!(
            found,
            ["stone_7", "stone_7_2", "_7up", "_", "Forms_2", "gr__e"]
        );
    }

    #[test]
    fn numbers_read_back_and_whole_ones_are_short() {
        assert_eq!(
            [number(3.0), number(0.1), number(1e-9)],
            ["3", "0.1", "1e-9"]
        );
        assert_eq!(quaternion(&[0.0, 0.5, 0.0, 1.0]), "(1, 0, 0.5, 0)");
        assert_eq!(quoted("a \"b\"\\\n"), "\"a \\\"b\\\"\\\\\\n\"");
    }
}
