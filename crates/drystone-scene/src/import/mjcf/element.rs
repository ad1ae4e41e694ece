//! Elements with the defaults of their class filled in.

use std::collections::BTreeMap;

use drystone::glam::{DMat3, DQuat, DVec3};
use roxmltree::Node;

use crate::error::SceneError;
use crate::import::rigid::{Pose3, turn};
use crate::import::xml::{Xml, child, children};

/// Attributes by key, of one kind of element.
type Attributes<'n> = BTreeMap<&'n str, &'n str>;

/// Defaults: attributes by class and kind of element. The root class is "main".
#[derive(Default)]
pub(super) struct Defaults<'n> {
    classes: BTreeMap<&'n str, BTreeMap<&'n str, Attributes<'n>>>,
}

/// The class of everything that names none.
pub(super) const MAIN: &str = "main";

impl<'n> Defaults<'n> {
    /// Reads `<default>`; each class begins with what the one around it has.
    pub(super) fn read(&mut self, node: Node<'n, '_>, around: &str) {
        let class = node.attribute("class").unwrap_or(MAIN);
        let mut own = self.classes.get(around).cloned().unwrap_or_default();
        let is_class = |child: &Node<'n, '_>| child.has_tag_name("default");
        for element in node.children().filter(|c| c.is_element() && !is_class(c)) {
            let attributes = own.entry(element.tag_name().name()).or_default();
            let given = element.attributes();
            attributes.extend(given.map(|attribute| (attribute.name(), attribute.value())));
        }
        self.classes.insert(class, own);
        for below in children(node, "default") {
            self.read(below, class);
        }
    }
}

/// An element, its attributes and those of its class.
pub(super) struct Element<'a, 'x, 'n, 'd> {
    pub(super) xml: &'a Xml<'x>,
    pub(super) node: Node<'n, 'd>,
    defaults: Option<&'a Attributes<'n>>,
    units: Units,
}

/// How angles are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// rad of one unit.
    pub(super) angle: f64,
    /// Axes of `euler`, one after another: small letters turn with the body.
    pub(super) sequence: [char; 3],
}

impl<'a, 'x, 'n, 'd> Element<'a, 'x, 'n, 'd> {
    pub(super) fn new(
        xml: &'a Xml<'x>,
        node: Node<'n, 'd>,
        (defaults, class): (&'a Defaults<'n>, &str),
        units: Units,
    ) -> Self {
        let class = node.attribute("class").unwrap_or(class);
        let of_class = defaults.classes.get(class);
        Self {
            xml,
            node,
            defaults: of_class.and_then(|kinds| kinds.get(node.tag_name().name())),
            units,
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&'n str> {
        let default = || self.defaults.and_then(|map| map.get(key).copied());
        self.node.attribute(key).or_else(default)
    }

    pub(super) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, SceneError> {
        let text = self.text(key);
        text.map(|text| self.xml.numbers_of(self.node, key, text))
            .transpose()
    }

    pub(super) fn row<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, SceneError> {
        let wrong = |list: Vec<f64>| {
            let problem = format!("`{key}` must be {N} numbers, not {}", list.len());
            self.xml.wrong(self.node, problem)
        };
        let numbers = self.numbers(key)?;
        numbers
            .map(|list| list.try_into().map_err(wrong))
            .transpose()
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, SceneError> {
        Ok(self.row::<1>(key)?.map(|[number]| number))
    }

    pub(super) fn vector(&self, key: &str) -> Result<Option<DVec3>, SceneError> {
        Ok(self.row::<3>(key)?.map(DVec3::from_array))
    }

    /// A whole number, 0 or more.
    pub(super) fn mask(&self, key: &str) -> Result<Option<u32>, SceneError> {
        let wrong = |_| {
            let problem = format!("`{key}` must be a whole number, 0 or more");
            self.xml.wrong(self.node, problem)
        };
        self.text(key)
            .map(|text| text.trim().parse().map_err(wrong))
            .transpose()
    }

    /// `pos` with one of `quat`, `axisangle`, `euler`, `xyaxes` and `zaxis`.
    pub(super) fn pose(&self) -> Result<Pose3, SceneError> {
        Ok(Pose3 {
            position: self.vector("pos")?.unwrap_or_default(),
            rotation: self.rotation()?,
        })
    }

    fn rotation(&self) -> Result<DQuat, SceneError> {
        let angle = self.units.angle;
        let flat = |key: &str| {
            let problem = format!("`{key}` must have some length");
            self.xml.wrong(self.node, problem)
        };
        let unit = |v: DVec3, key: &str| v.try_normalize().ok_or_else(|| flat(key));
        if let Some([w, x, y, z]) = self.row::<4>("quat")? {
            let quaternion = DQuat::from_xyzw(x, y, z, w);
            return match quaternion.length() > 1e-9 {
                true => Ok(quaternion.normalize()),
                false => Err(flat("quat")),
            };
        }
        if let Some([x, y, z, turned]) = self.row::<4>("axisangle")? {
            return Ok(turn(
                unit(DVec3::new(x, y, z), "axisangle")?,
                turned * angle,
            ));
        }
        if let Some(angles) = self.row::<3>("euler")? {
            return Ok(self.euler(angles));
        }
        if let Some([a, b, c, d, e, f]) = self.row::<6>("xyaxes")? {
            let x = unit(DVec3::new(a, b, c), "xyaxes")?;
            let y = DVec3::new(d, e, f);
            let y = unit(y - x * x.dot(y), "xyaxes")?;
            return Ok(DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize());
        }
        if let Some(z) = self.vector("zaxis")? {
            return Ok(DQuat::from_rotation_arc(DVec3::Z, unit(z, "zaxis")?));
        }
        Ok(DQuat::IDENTITY)
    }

    fn euler(&self, angles: [f64; 3]) -> DQuat {
        let mut rotation = DQuat::IDENTITY;
        for (letter, angle) in self.units.sequence.into_iter().zip(angles) {
            let axis = match letter.to_ascii_lowercase() {
                'x' => DVec3::X,
                'y' => DVec3::Y,
                _ => DVec3::Z,
            };
            let turned = turn(axis, angle * self.units.angle);
            rotation = match letter.is_ascii_lowercase() {
                true => rotation * turned,
                false => turned * rotation,
            };
        }
        rotation.normalize()
    }
}

/// Reads `<compiler>`.
pub(super) fn units(xml: &Xml<'_>, model: Node<'_, '_>) -> Result<Units, SceneError> {
    let mut units = Units {
        angle: std::f64::consts::PI / 180.0,
        sequence: ['x', 'y', 'z'],
    };
    let Some(compiler) = child(model, "compiler") else {
        return Ok(units);
    };
    match compiler.attribute("angle") {
        Some("radian") => units.angle = 1.0,
        Some("degree") | None => {}
        Some(_) => return Err(xml.wrong(compiler, "`angle` is `degree` or `radian`")),
    }
    if let Some(given) = compiler.attribute("eulerseq") {
        let letters: Vec<char> = given.chars().collect();
        let is_axis = |c: &char| "xyzXYZ".contains(*c);
        let letters = <[char; 3]>::try_from(letters).ok();
        units.sequence = letters
            .filter(|letters| letters.iter().all(is_axis))
            .ok_or_else(|| xml.wrong(compiler, "`eulerseq` is three of x, y, z, X, Y, Z"))?;
    }
    if compiler.attribute("coordinate") == Some("global") {
        return Err(xml.wrong(compiler, "global coordinates are no longer a part of MJCF"));
    }
    Ok(units)
}
