//! Geoms: shape, mass, friction and masks of one.

use std::collections::BTreeMap;

use drystone::glam::{DQuat, DVec3};

use super::element::Element;
use crate::error::SceneError;
use crate::import::rigid::{Lump, Piece, Pose3, then, y_to_z};
use crate::import::surface::Surface;
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
    pub(super) masks: Masks,
}

/// Reads a geom; `Err(Ok(..))` names what is not supported.
pub(super) fn read(
    element: &Element<'_, '_, '_, '_>,
    meshes: &BTreeMap<String, Surface>,
) -> Result<Result<Geom, String>, SceneError> {
    let name = element.node.attribute("name").map(str::to_owned);
    let mut pose = element.pose()?;
    let default = if element.text("mesh").is_some() {
        "mesh"
    } else {
        "sphere"
    };
    let kind = element.text("type").unwrap_or(default);
    let shape = match kind {
        "mesh" => {
            let mesh = element.text("mesh").unwrap_or_default();
            match meshes.get(mesh) {
                Some(surface) => surface.clone().into_hull(),
                None => {
                    let problem = format!("there is no mesh `{mesh}` that can be read");
                    return Ok(Err(format!("geom {}: {problem}", shown(name.as_deref()))));
                }
            }
        }
        "plane" => Shape::HalfSpace {
            normal: vec![0.0, 0.0, 1.0],
        },
        "sphere" | "box" | "capsule" | "cylinder" => simple(element, kind, &mut pose)?,
        other => {
            let what = format!("geom {} of type `{other}`", shown(name.as_deref()));
            return Ok(Err(what));
        }
    };
    let density = element.number("density")?.unwrap_or(1000.0);
    let mass = element.number("mass")?;
    if density < 0.0 || mass.is_some_and(|mass| mass < 0.0) {
        let problem = "mass and density must be 0 or more (kg, kg/m³)";
        return Err(element.xml.wrong(element.node, problem));
    }
    let lump = match kind {
        "plane" => None,
        _ => Lump::of_shape(&shape, mass, density).map(|lump| lump.placed(&pose)),
    };
    let friction = element.numbers("friction")?;
    let friction = friction
        .and_then(|list| list.first().copied())
        .unwrap_or(1.0);
    Ok(Ok(Geom {
        name,
        piece: Piece { shape, pose },
        lump: lump.filter(|lump| lump.mass > 0.0),
        friction,
        masks: Masks {
            kind: element.mask("contype")?.unwrap_or(1),
            affinity: element.mask("conaffinity")?.unwrap_or(1),
        },
    }))
}

fn shown(name: Option<&str>) -> String {
    name.map_or_else(|| "without name".to_owned(), |name| format!("`{name}`"))
}

/// A shape of few numbers. Capsules and cylinders are turned: their axis is z.
fn simple(
    element: &Element<'_, '_, '_, '_>,
    kind: &str,
    pose: &mut Pose3,
) -> Result<Shape, SceneError> {
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
            let along = to - from;
            let direction = along.try_normalize().ok_or_else(|| {
                let problem = "the ends of `fromto` must differ";
                element.xml.wrong(element.node, problem)
            })?;
            pose.position = (from + to) * 0.5;
            pose.rotation = DQuat::from_rotation_arc(DVec3::Z, direction);
            Ok(0.5 * along.length())
        }
    };
    let shape = match kind {
        "sphere" => Shape::Ball { radius: size(0)? },
        "box" => {
            let [x, y] = [size(0)?, if ends.is_some() { size(0)? } else { size(1)? }];
            Shape::Box {
                size: [x, y, half_length(2)?].map(|half| 2.0 * half).to_vec(),
                rounding: None,
            }
        }
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
    if matches!(kind, "capsule" | "cylinder") {
        pose.rotation *= y_to_z();
    }
    Ok(shape)
}

impl Geom {
    /// In the axes that `pose` is given in.
    pub(super) fn placed(mut self, pose: &Pose3) -> Self {
        self.piece.pose = then(pose, &self.piece.pose);
        self.lump = self.lump.map(|lump| lump.placed(pose));
        self
    }
}
