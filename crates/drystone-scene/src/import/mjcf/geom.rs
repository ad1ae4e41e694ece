//! Geoms: shape, mass, friction and masks of one.

use drystone::glam::{DMat3, DQuat, DVec3};

use super::element::Element;
use super::mesh::{self, Mesh, Meshes};
use crate::error::SceneError;
use crate::import::rigid::{Lump, Piece, Pose3, then, y_to_z};
use crate::schema::Shape;

/// What a geom's contacts are filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) kind: u32,
    pub(super) affinity: u32,
}

impl Masks {
    /// Two geoms touch if the kind of one is in the affinity of the other.
    pub(super) fn touch(self, other: Self) -> bool {
        self.kind & other.affinity != 0 || other.kind & self.affinity != 0
    }
}

/// A geom in its body's axes.
pub(super) struct Geom {
    pub(super) name: Option<String>,
    pub(super) piece: Piece,
    pub(super) lump: Option<Lump>,
    pub(super) friction: f64,
    pub(super) group: f64,
    pub(super) masks: Masks,
}

/// Kinds of geoms that have a size of their own.
const SIMPLE: [&str; 5] = ["sphere", "box", "capsule", "cylinder", "ellipsoid"];

/// Reads a geom; `Ok(Err(..))` names what is not supported.
pub(super) fn read(
    element: &Element<'_, '_>,
    meshes: &Meshes,
    fits_bounds: bool,
) -> Result<Result<Geom, String>, SceneError> {
    let name = element.node.attribute("name").map(str::to_owned);
    let shown = || shown(name.as_deref());
    let mut pose = element.pose()?;
    // Those of a mesh have no size; MuJoCo does not look at it either.
    element.text("size");
    let kind = element.text("type").unwrap_or("sphere");
    let mesh = match element.text("mesh") {
        None => None,
        Some(mesh) => match meshes.get(mesh) {
            Some(found) => Some(found),
            None => {
                let problem = format!("there is no mesh `{mesh}` that can be read");
                return Ok(Err(format!("geom {}: {problem}", shown())));
            }
        },
    };
    let (shape, own) = match (kind, mesh) {
        ("mesh", Some(mesh)) => (mesh.surface.clone().into_hull(), Own::Mesh(mesh)),
        (_, Some(mesh)) if SIMPLE.contains(&kind) => match mesh::fitted(mesh, kind, fits_bounds) {
            Some((shape, on_mesh)) => {
                pose = then(&pose, &on_mesh);
                let own = own_mass(&shape);
                turn_axis(kind, &mut pose);
                (shape, own)
            }
            None => return Ok(Err(format!("geom {}: its mesh has no volume", shown()))),
        },
        ("plane", _) => (plane(), Own::Nothing),
        (kind, None) if SIMPLE.contains(&kind) => {
            let (shape, half) = simple(element, kind, &mut pose)?;
            let is_ellipsoid = kind == "ellipsoid";
            (
                shape,
                if is_ellipsoid {
                    Own::Ellipsoid(half)
                } else {
                    Own::Shape
                },
            )
        }
        (other, _) => return Ok(Err(format!("geom {} of type `{other}`", shown()))),
    };
    let friction = element.numbers("friction")?.unwrap_or_default();
    Ok(Ok(Geom {
        name,
        lump: mass(element, (&shape, own))?.map(|lump| lump.placed(&pose)),
        piece: Piece { shape, pose },
        friction: friction.first().copied().unwrap_or(1.0),
        group: element.number("group")?.unwrap_or(0.0),
        masks: Masks {
            kind: element.mask("contype")?.unwrap_or(1),
            affinity: element.mask("conaffinity")?.unwrap_or(1),
        },
    }))
}

/// A plane: its normal is z.
fn plane() -> Shape {
    Shape::HalfSpace {
        normal: vec![0.0, 0.0, 1.0],
    }
}

/// What the mass of a geom is that of.
enum Own<'m> {
    Nothing,
    Shape,
    Mesh(&'m Mesh),
    /// Half the axes, m.
    Ellipsoid(DVec3),
}

/// The mass of a shape that is fitted to a mesh.
fn own_mass<'m>(shape: &Shape) -> Own<'m> {
    match shape {
        Shape::Hull { points, .. } => {
            let point = |p: &Vec<f64>| match *p.as_slice() {
                [x, y, z] => DVec3::new(x, y, z).abs(),
                _ => DVec3::ZERO,
            };
            Own::Ellipsoid(points.iter().map(point).fold(DVec3::ZERO, DVec3::max))
        }
        _ => Own::Shape,
    }
}

/// The mass of a geom in the axes of its shape; `None` for one without.
fn mass(
    element: &Element<'_, '_>,
    (shape, own): (&Shape, Own<'_>),
) -> Result<Option<Lump>, SceneError> {
    let density = element.number("density")?.unwrap_or(1000.0);
    let mass = element.number("mass")?;
    if density < 0.0 || mass.is_some_and(|mass| mass < 0.0) {
        let problem = "mass and density must be 0 or more (kg, kg/m³)";
        return Err(element.xml.wrong(element.node, problem));
    }
    let unit = match own {
        Own::Nothing => None,
        Own::Shape => Lump::of_shape(shape, None, 1.0),
        Own::Mesh(mesh) => mesh.lump,
        Own::Ellipsoid(half) => Some(ellipsoid_lump(half)),
    };
    let scaled = unit.map(|unit| unit.times(mass.map_or(density, |mass| mass / unit.mass)));
    Ok(scaled.filter(|lump| lump.mass > 0.0))
}

/// A solid ellipsoid of 1 kg/m³.
fn ellipsoid_lump(half: DVec3) -> Lump {
    let mass = 4.0 / 3.0 * std::f64::consts::PI * half.x * half.y * half.z;
    let square = half * half;
    let moments = DVec3::splat(square.element_sum()) - square;
    Lump {
        mass,
        center: DVec3::ZERO,
        inertia: DMat3::from_diagonal(moments * (0.2 * mass)),
    }
}

/// How often the faces of an octahedron are cut into four.
const CUTS: usize = 3;

/// The hull of points on an ellipsoid, within it by at most 1.3 % of its size.
pub(super) fn ellipsoid(half: DVec3) -> Shape {
    let steps = 1 << CUTS;
    let mut points = Vec::new();
    for x in -steps..=steps {
        for y in -steps..=steps {
            let rest: i32 = steps - i32::abs(x) - i32::abs(y);
            if rest < 0 {
                continue;
            }
            let sides: &[i32] = if rest == 0 { &[0] } else { &[-1, 1] };
            for side in sides {
                let on_octahedron = DVec3::new(x.into(), y.into(), (side * rest).into());
                let point = on_octahedron.normalize_or_zero() * half;
                points.push(point.to_array().to_vec());
            }
        }
    }
    Shape::Hull {
        points,
        rounding: None,
    }
}

fn shown(name: Option<&str>) -> String {
    name.map_or_else(|| "without name".to_owned(), |name| format!("`{name}`"))
}

/// Capsules and cylinders are turned: their axis is z.
fn turn_axis(kind: &str, pose: &mut Pose3) {
    if matches!(kind, "capsule" | "cylinder") {
        pose.rotation *= y_to_z();
    }
}

/// A shape of few numbers, and half the axes of an ellipsoid.
fn simple(
    element: &Element<'_, '_>,
    kind: &str,
    pose: &mut Pose3,
) -> Result<(Shape, DVec3), SceneError> {
    let given = element.numbers("size")?.unwrap_or_default();
    let size = |k: usize| match given.get(k) {
        Some(&size) if size > 0.0 => Ok(size),
        _ => {
            let problem = format!(
                "number {} of the `size` of a {kind} must be above 0 (m)",
                k + 1
            );
            Err(element.xml.wrong(element.node, problem))
        }
    };
    let ends = element.row::<6>("fromto")?;
    let mut half_length = |k: usize| match ends {
        None => size(k),
        Some([a, b, c, d, e, f]) => {
            let (from, to) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
            // The z axis of the geom points to its beginning, which matters where it is not round.
            let along = from - to;
            let direction = along.try_normalize().ok_or_else(|| {
                let problem = "the ends of `fromto` must differ";
                element.xml.wrong(element.node, problem)
            })?;
            pose.position = (from + to) * 0.5;
            pose.rotation = DQuat::from_rotation_arc(DVec3::Z, direction);
            Ok(0.5 * along.length())
        }
    };
    let mut half = DVec3::ZERO;
    if matches!(kind, "box" | "ellipsoid") {
        let [x, y] = [size(0)?, if ends.is_some() { size(0)? } else { size(1)? }];
        half = DVec3::new(x, y, half_length(2)?);
    }
    let shape = match kind {
        "sphere" => Shape::Ball { radius: size(0)? },
        "box" => Shape::Box {
            size: (2.0 * half).to_array().to_vec(),
            rounding: None,
        },
        "ellipsoid" => ellipsoid(half),
        "capsule" => Shape::Capsule {
            radius: size(0)?,
            length: 2.0 * half_length(1)?,
        },
        _ => Shape::Cylinder {
            radius: size(0)?,
            height: 2.0 * half_length(1)?,
            rounding: None,
        },
    };
    turn_axis(kind, pose);
    Ok((shape, half))
}

impl Geom {
    /// In the axes that `pose` is given in.
    pub(super) fn placed(mut self, pose: &Pose3) -> Self {
        self.piece.pose = then(pose, &self.piece.pose);
        self.lump = self.lump.map(|lump| lump.placed(pose));
        self
    }
}
