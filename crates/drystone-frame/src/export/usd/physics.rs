//! Masses, surfaces and joints by the UsdPhysics schemas.

use std::io::{self, Write};

use super::{Setting, number, quaternion, quoted, tuple, tuple_single};

/// What a simulator needs to know of objects beyond their looks. What is left out is not written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Physics {
    /// Mass of each object of the stage, kg.
    pub masses: Vec<Option<f64>>,
    /// Coefficients of friction and restitution of each object's surface.
    pub surfaces: Vec<Option<[f64; 2]>>,
    /// What ties objects together.
    pub ties: Vec<Tie>,
}

/// A joint of two objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    /// Its name.
    pub name: String,
    /// Indices of its objects on the stage.
    pub objects: [usize; 2],
    /// Where it is on each, in the object's axes: m, and a unit quaternion x, y, z, w.
    pub frames: [([f64; 3], [f64; 4]); 2],
    /// What it allows.
    pub kind: TieKind,
}

/// What a joint allows. Axes are the frames' x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TieKind {
    /// Nothing.
    Fixed,
    /// Turning about a point.
    Ball,
    /// Turning about an axis, from and to these angles in degrees.
    Hinge(Option<[f64; 2]>),
    /// Sliding along an axis, from and to these places in m.
    Slider(Option<[f64; 2]>),
    /// A distance from and to, m.
    Distance([f64; 2]),
}

impl Physics {
    /// Friction and restitution of all surfaces that differ, in the order of the objects, and
    /// which of them each object has.
    pub(super) fn distinct(&self) -> (Vec<[f64; 2]>, Vec<Option<usize>>) {
        let mut distinct: Vec<[f64; 2]> = Vec::new();
        let number = |surface: &Option<[f64; 2]>| {
            let own = (*surface)?;
            let known = distinct.iter().position(|known| *known == own);
            known.or_else(|| {
                distinct.push(own);
                Some(distinct.len() - 1)
            })
        };
        let numbers = self.surfaces.iter().map(number).collect();
        (distinct, numbers)
    }

    pub(super) fn mass(&self, object: usize) -> Option<f64> {
        self.masses.get(object).copied().flatten()
    }
}

/// Gravity.
pub(super) fn write_scene(setting: &Setting, out: &mut impl Write) -> io::Result<()> {
    let gravity = setting.gravity;
    let magnitude = gravity.iter().map(|x| x * x).sum::<f64>().sqrt();
    let direction = if magnitude > 0.0 {
        gravity.map(|x| x / magnitude)
    } else {
        [0.0, -1.0, 0.0]
    };
    writeln!(
        out,
        "    def PhysicsScene \"PhysicsScene\"\n    {{\n        \
         vector3f physics:gravityDirection = {}\n        \
         float physics:gravityMagnitude = {}\n    }}",
        tuple(&direction),
        number(magnitude)
    )
}

/// The path of a surface.
pub(super) fn surface_path(surface: usize) -> String {
    format!("/World/Surfaces/surface_{}", surface + 1)
}

/// A material for each surface.
pub(super) fn write_surfaces(distinct: &[[f64; 2]], out: &mut impl Write) -> io::Result<()> {
    if distinct.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n    def Scope \"Surfaces\"\n    {{")?;
    for (k, &[friction, restitution]) in distinct.iter().enumerate() {
        let (friction, restitution) = (number(friction), number(restitution));
        writeln!(
            out,
            "        def Material \"surface_{}\" (\n            \
             prepend apiSchemas = [\"PhysicsMaterialAPI\"]\n        )\n        {{\n            \
             float physics:dynamicFriction = {friction}\n            \
             float physics:restitution = {restitution}\n            \
             float physics:staticFriction = {friction}\n        }}",
            k + 1,
        )?;
    }
    writeln!(out, "    }}")
}

/// A joint by the name that its prim has, between prims of these names.
pub(super) fn write_tie(
    tie: &Tie,
    name: &str,
    bodies: [&str; 2],
    scales: [f64; 2],
    out: &mut impl Write,
) -> io::Result<()> {
    let (schema, limits) = match tie.kind {
        TieKind::Fixed => ("PhysicsFixedJoint", None),
        TieKind::Ball => ("PhysicsSphericalJoint", None),
        TieKind::Hinge(limits) => ("PhysicsRevoluteJoint", limits.map(|l| ("Limit", l))),
        TieKind::Slider(limits) => ("PhysicsPrismaticJoint", limits.map(|l| ("Limit", l))),
        TieKind::Distance(limits) => ("PhysicsDistanceJoint", Some(("Distance", limits))),
    };
    writeln!(
        out,
        "\n    def {schema} \"{name}\" (\n        displayName = {}\n    )\n    {{",
        quoted(&tie.name)
    )?;
    if matches!(
        tie.kind,
        TieKind::Hinge(_) | TieKind::Slider(_) | TieKind::Ball
    ) {
        writeln!(out, "        uniform token physics:axis = \"X\"")?;
    }
    for (k, body) in bodies.into_iter().enumerate() {
        let (position, rotation) = tie.frames[k];
        // A place on a prim is scaled with it.
        let position = tuple_single(&position.map(|x| x / scales[k]));
        let rotation = quaternion(&rotation);
        writeln!(out, "        rel physics:body{k} = </World/{body}>")?;
        writeln!(out, "        point3f physics:localPos{k} = {position}")?;
        writeln!(out, "        quatf physics:localRot{k} = {rotation}")?;
    }
    if let Some((what, [low, high])) = limits {
        let ends = match what {
            "Limit" => ["lower", "upper"],
            _ => ["min", "max"],
        };
        for (end, value) in ends.into_iter().zip([low, high]) {
            writeln!(out, "        float physics:{end}{what} = {}", number(value))?;
        }
    }
    writeln!(out, "    }}")
}
