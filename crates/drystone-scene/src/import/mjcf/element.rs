//! Elements with the defaults of their class filled in.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use drystone::glam::{DMat3, DQuat, DVec3};

use crate::error::SceneError;
use crate::import::rigid::{Pose3, turn};
use crate::import::tree::{Attribute, Node};
use crate::import::unread::{self, Listing};
use crate::import::xml::{Xml, children};

/// Attributes by key, of one kind of element.
type Attributes<'n> = BTreeMap<&'n str, &'n Attribute>;

/// Defaults: attributes by class and kind of element. The root class is "main".
#[derive(Default)]
pub(super) struct Defaults<'n> {
    classes: BTreeMap<&'n str, BTreeMap<&'n str, Attributes<'n>>>,
    /// All attributes, with the element that each is in.
    all: Vec<(Node<'n>, &'n Attribute)>,
    /// Kinds of elements that there are, and what was asked of them.
    met: RefCell<BTreeSet<&'n str>>,
    asked: RefCell<BTreeSet<(&'n str, String)>>,
}

/// The class of everything that names none.
pub(super) const MAIN: &str = "main";

impl<'n> Defaults<'n> {
    /// Reads `<default>`; each class begins with what the one around it has.
    pub(super) fn read(&mut self, node: Node<'n>, around: &str) {
        let class = node.attribute("class").unwrap_or(MAIN);
        let mut own = match self.classes.get(class) {
            // A class may be spread over several places.
            Some(begun) => begun.clone(),
            None => self.classes.get(around).cloned().unwrap_or_default(),
        };
        for element in node.children().filter(|child| child.name() != "default") {
            let attributes = own.entry(element.take().name()).or_default();
            for attribute in element.attributes() {
                attributes.insert(&attribute.name, attribute);
                self.all.push((element, attribute));
            }
        }
        self.classes.insert(class, own);
        for below in children(node, "default") {
            self.read(below, class);
        }
    }

    /// Notes that something asked for an attribute of a kind of element.
    fn ask(&self, kind: &'n str, key: &str) {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&(kind, key.to_owned())) {
            asked.insert((kind, key.to_owned()));
        }
    }

    /// Lists defaults of elements that are read, but not for this. Defaults of others are not
    /// listed: either there is no such element, or it is listed itself.
    pub(super) fn list(&self, listing: &mut Listing) {
        let (met, asked) = (self.met.borrow(), self.asked.borrow());
        for &(element, attribute) in &self.all {
            let kind = element.name();
            let is_asked = asked.contains(&(kind, attribute.name.clone()));
            let is_listed = met.contains(kind) && !is_asked && attribute.name != "class";
            // What is left is no matter of the element itself.
            attribute.read();
            if is_listed {
                let what = unread::words("", kind, Some(&attribute.name));
                let effect = unread::effect(kind, Some(&attribute.name));
                listing.add(&what, effect, || element.place_of(attribute));
            }
        }
    }
}

/// An element, its attributes and those of its class.
pub(super) struct Element<'a, 'n> {
    pub(super) xml: &'a Xml<'a>,
    pub(super) node: Node<'n>,
    all: &'a Defaults<'n>,
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

impl<'a, 'n> Element<'a, 'n> {
    pub(super) fn new(
        xml: &'a Xml<'a>,
        node: Node<'n>,
        (all, class): (&'a Defaults<'n>, &str),
        units: Units,
    ) -> Result<Self, SceneError> {
        node.take();
        let own = node.attribute("class");
        let of_class = all.classes.get(own.unwrap_or(class));
        if let Some(own) = own.filter(|own| of_class.is_none() && *own != MAIN) {
            return Err(xml.wrong(node, format!("there is no class `{own}` of defaults")));
        }
        all.met.borrow_mut().insert(node.name());
        Ok(Self {
            xml,
            node,
            all,
            defaults: of_class.and_then(|kinds| kinds.get(node.name())),
            units,
        })
    }

    pub(super) fn text(&self, key: &str) -> Option<&'n str> {
        self.all.ask(self.node.name(), key);
        let default = || Some(self.defaults?.get(key)?.read());
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

    /// A rotation w, x, y, z, made of unit length.
    pub(super) fn quaternion(&self, key: &str) -> Result<Option<DQuat>, SceneError> {
        let Some([w, x, y, z]) = self.row::<4>(key)? else {
            return Ok(None);
        };
        let quaternion = DQuat::from_xyzw(x, y, z, w);
        if quaternion.length() > 1e-9 {
            return Ok(Some(quaternion.normalize()));
        }
        let problem = format!("`{key}` must have some length");
        Err(self.xml.wrong(self.node, problem))
    }

    fn rotation(&self) -> Result<DQuat, SceneError> {
        let angle = self.units.angle;
        let flat = |key: &str| {
            let problem = format!("`{key}` must have some length");
            self.xml.wrong(self.node, problem)
        };
        let unit = |v: DVec3, key: &str| v.try_normalize().ok_or_else(|| flat(key));
        if let Some(quaternion) = self.quaternion("quat")? {
            return Ok(quaternion);
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

    /// The rotation of three angles in the model's unit and order.
    pub(super) fn euler(&self, angles: [f64; 3]) -> DQuat {
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
