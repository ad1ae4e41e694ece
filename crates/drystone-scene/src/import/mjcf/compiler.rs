//! What `compiler` and `option` say of all of a model.

use crate::error::SceneError;
use crate::import::tree::Node;
use crate::import::xml::{Xml, children};

use super::element::Units;

/// Where the mass of a body comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MassFrom {
    /// Of `inertial`, and of geoms where there is none.
    Either,
    /// Of geoms alone.
    Geoms,
    /// Of `inertial` alone.
    Inertial,
}

/// Settings of a model.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    pub(super) units: Units,
    pub(super) mesh_folder: String,
    pub(super) strips_paths: bool,
    /// Whether a joint with a range is limited though it does not say so.
    pub(super) limits_by_range: bool,
    pub(super) mass_from: MassFrom,
    /// Geoms of these groups have mass.
    pub(super) groups_with_mass: [f64; 2],
    /// kg; of all bodies together.
    pub(super) total_mass: Option<f64>,
    /// Least mass of a body in kg and least moment of inertia in kg·m².
    pub(super) least: [f64; 2],
    /// Whether inertias that no mass has become those of balls.
    pub(super) balances: bool,
    /// Whether shapes are fitted to the bounds of meshes, not to their inertia.
    pub(super) fits_bounds: bool,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            units: Units {
                angle: std::f64::consts::PI / 180.0,
                sequence: ['x', 'y', 'z'],
            },
            mesh_folder: String::new(),
            strips_paths: false,
            limits_by_range: true,
            mass_from: MassFrom::Either,
            groups_with_mass: [f64::NEG_INFINITY, f64::INFINITY],
            total_mass: None,
            least: [0.0; 2],
            balances: false,
            fits_bounds: false,
        }
    }
}

impl Compiler {
    /// Of all `compiler` elements of a model; the last one counts.
    pub(super) fn read(xml: &Xml<'_>, model: Node<'_>) -> Result<Self, SceneError> {
        let mut own = Self::default();
        for node in children(model, "compiler") {
            own.angles(xml, node)?;
            own.folders(node);
            own.masses(xml, node)?;
            if let Some(limits) = flag(xml, node, "autolimits")? {
                own.limits_by_range = limits;
            }
        }
        Ok(own)
    }

    fn angles(&mut self, xml: &Xml<'_>, node: Node<'_>) -> Result<(), SceneError> {
        match node.attribute("angle") {
            Some("radian") => self.units.angle = 1.0,
            Some("degree") => self.units.angle = std::f64::consts::PI / 180.0,
            None => {}
            Some(_) => return Err(xml.wrong(node, "`angle` is `degree` or `radian`")),
        }
        if let Some(given) = node.attribute("eulerseq") {
            let letters: Vec<char> = given.chars().collect();
            let is_axis = |c: &char| "xyzXYZ".contains(*c);
            let letters = <[char; 3]>::try_from(letters).ok();
            self.units.sequence = letters
                .filter(|letters| letters.iter().all(is_axis))
                .ok_or_else(|| xml.wrong(node, "`eulerseq` is three of x, y, z, X, Y, Z"))?;
        }
        if node.attribute("coordinate") == Some("global") {
            return Err(xml.wrong(node, "global coordinates are no longer a part of MJCF"));
        }
        Ok(())
    }

    fn folders(&mut self, node: Node<'_>) {
        let folders = [node.attribute("meshdir"), node.attribute("assetdir")];
        // A folder for meshes alone is nearer than one for all.
        if let Some(folder) = folders.into_iter().flatten().next() {
            self.mesh_folder = folder.trim_end_matches('/').to_owned();
        }
        if let Some(strips) = node.attribute("strippath") {
            self.strips_paths = strips == "true";
        }
    }

    fn masses(&mut self, xml: &Xml<'_>, node: Node<'_>) -> Result<(), SceneError> {
        match node.attribute("inertiafromgeom") {
            Some("true") => self.mass_from = MassFrom::Geoms,
            Some("false") => self.mass_from = MassFrom::Inertial,
            Some("auto") => self.mass_from = MassFrom::Either,
            None => {}
            Some(_) => {
                let problem = "`inertiafromgeom` is `true`, `false` or `auto`";
                return Err(xml.wrong(node, problem));
            }
        }
        let range = xml.row::<2>(node, "inertiagrouprange")?;
        self.groups_with_mass = range.unwrap_or(self.groups_with_mass);
        if let Some(total) = xml.number(node, "settotalmass")? {
            self.total_mass = Some(total).filter(|total| *total > 0.0);
        }
        for (least, key) in self.least.iter_mut().zip(["boundmass", "boundinertia"]) {
            *least = xml.number(node, key)?.unwrap_or(*least);
        }
        self.balances = flag(xml, node, "balanceinertia")?.unwrap_or(self.balances);
        self.fits_bounds = flag(xml, node, "fitaabb")?.unwrap_or(self.fits_bounds);
        // Neither changes masses or motion.
        for key in ["discardvisual", "fusestatic", "usethread", "saveinertial"] {
            flag(xml, node, key)?;
        }
        Ok(())
    }
}

/// `true` or `false`.
fn flag(xml: &Xml<'_>, node: Node<'_>, key: &str) -> Result<Option<bool>, SceneError> {
    match node.attribute(key) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(xml.wrong(node, format!("`{key}` is `true` or `false`"))),
    }
}

/// What `option` says that scenes can.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) gravity: Option<[f64; 3]>,
    pub(super) has_no_contacts: bool,
}

impl Options {
    pub(super) fn read(xml: &Xml<'_>, model: Node<'_>) -> Result<Self, SceneError> {
        let mut own = Self::default();
        let mut is_weightless = false;
        for option in children(model, "option") {
            own.gravity = xml.row::<3>(option, "gravity")?.or(own.gravity);
            for flags in children(option, "flag") {
                let is_off = |key: &str| match flags.attribute(key) {
                    None => Ok(None),
                    Some("disable") => Ok(Some(true)),
                    Some("enable") => Ok(Some(false)),
                    Some(_) => Err(xml.wrong(flags, format!("`{key}` is `enable` or `disable`"))),
                };
                own.has_no_contacts = is_off("contact")?.unwrap_or(own.has_no_contacts);
                is_weightless = is_off("gravity")?.unwrap_or(is_weightless);
            }
        }
        if is_weightless {
            own.gravity = Some([0.0; 3]);
        }
        Ok(own)
    }
}
