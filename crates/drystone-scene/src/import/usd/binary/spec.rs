//! Specs of a binary file as prims and properties of a layer.

use std::collections::BTreeMap;

use super::value::Rep;
use super::{Binary, Spec};
use crate::import::usd::layer::{
    Layer, ListEdit, MAX_NAME, Property, ROOT, Specifier, Value, is_motion, is_wanted,
};

/// Kinds of specs.
const ATTRIBUTE: i32 = 1;
const PRIM: i32 = 6;
const PSEUDO_ROOT: i32 = 7;
const RELATIONSHIP: i32 = 8;
const VARIANT: i32 = 10;
/// The type of a payload that is no list.
const PAYLOAD: u64 = 47;

impl Binary<'_> {
    /// The layer of all specs; an error says what is odd.
    pub(super) fn layer(&mut self) -> Result<Layer, String> {
        let mut layer = Layer::default();
        let mut prims: BTreeMap<u32, usize> = BTreeMap::new();
        let specs = std::mem::take(&mut self.specs);
        let mut order: Vec<(usize, Vec<String>)> = Vec::new();
        for spec in &specs {
            match spec.kind {
                PSEUDO_ROOT | PRIM | VARIANT => {
                    let prim = self.prim_of(spec.path, &mut layer, &mut prims)?;
                    let children = self.prim(spec, prim, &mut layer);
                    let odd = || format!("the spec of <{}> is odd", self.shown(spec.path));
                    order.push((prim, children.ok_or_else(odd)?));
                }
                ATTRIBUTE | RELATIONSHIP => {
                    let Some(step) = self.step(spec.path) else {
                        return Err("a spec has no path".to_owned());
                    };
                    let name = self.token(step.token).unwrap_or_default().to_owned();
                    if !step.is_property || !is_wanted(&name) {
                        continue;
                    }
                    let prim = self.prim_of(step.parent, &mut layer, &mut prims)?;
                    let property = self.property(spec, &name);
                    let odd = || format!("<{}> is odd", self.shown(spec.path));
                    let property = property.ok_or_else(odd)?;
                    if let Some(prim) = layer.prims.get_mut(prim) {
                        prim.properties.insert(name, property);
                    }
                }
                _ => {}
            }
        }
        for (prim, names) in order {
            sort_children(&mut layer, prim, &names);
        }
        Ok(layer)
    }

    fn shown(&self, path: u32) -> String {
        crate::import::files::shortened(&self.path(path).unwrap_or_default())
    }

    /// The prim at a path, or the opinions of a variant; made if it is not there yet.
    fn prim_of(
        &self,
        path: u32,
        layer: &mut Layer,
        known: &mut BTreeMap<u32, usize>,
    ) -> Result<usize, String> {
        // Paths up to one that is known; they are bounded in depth.
        let mut missing = Vec::new();
        let mut at = path;
        let mut prim = loop {
            if let Some(&prim) = known.get(&at) {
                break prim;
            }
            let Some(step) = self.step(at) else {
                return Err("a spec has no path".to_owned());
            };
            if step.depth == 0 {
                break ROOT;
            }
            missing.push((at, step));
            at = step.parent;
        };
        for (path, step) in missing.into_iter().rev() {
            let name = self.token(step.token).unwrap_or_default();
            let variant = name
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'));
            prim = match variant.and_then(|name| name.split_once('=')) {
                None => layer.child(prim, name)?,
                Some((set, variant)) => {
                    let made = layer.loose(prim)?;
                    if let Some(spec) = layer.prims.get_mut(prim) {
                        let variants = spec.variants.entry(set.to_owned()).or_default();
                        variants.insert(variant.to_owned(), made);
                    }
                    made
                }
            };
            known.insert(path, prim);
        }
        Ok(prim)
    }

    /// The fields of a spec, by name.
    fn fields_of(&self, spec: &Spec) -> Option<Vec<(String, Rep)>> {
        let set = self.sets.get(spec.fields as usize..)?;
        let mut fields = Vec::new();
        for index in set.iter().take_while(|index| **index != -1) {
            let (token, rep) = *self.fields.get(usize::try_from(*index).ok()?)?;
            let name = self.token(token)?;
            if name.len() <= MAX_NAME {
                fields.push((name.to_owned(), rep));
            }
            // A set without an end would make every spec as long as the file.
            if fields.len() > 1000 {
                return None;
            }
        }
        Some(fields)
    }

    /// Fields of a prim, and the names of its children in order.
    fn prim(&mut self, spec: &Spec, prim: usize, layer: &mut Layer) -> Option<Vec<String>> {
        let mut children = Vec::new();
        for (name, rep) in self.fields_of(spec)? {
            if name == "primChildren" {
                if let Value::Texts(names) = self.value(rep)? {
                    children = names;
                }
            } else if prim == ROOT {
                let value = self.value(rep)?;
                match (name.as_str(), value) {
                    ("subLayers", Value::Texts(layers)) => layer.sublayers = layers,
                    (_, value @ (Value::Numbers(_) | Value::Texts(_))) => {
                        layer.settings.insert(name, value);
                    }
                    _ => {}
                }
            } else {
                self.field(&name, rep, layer.prims.get_mut(prim)?)?;
            }
        }
        Some(children)
    }

    fn field(
        &mut self,
        name: &str,
        rep: Rep,
        prim: &mut crate::import::usd::layer::PrimSpec,
    ) -> Option<()> {
        let first = |value: Value| match value {
            Value::Texts(texts) => texts.into_iter().next(),
            _ => None,
        };
        match name {
            "specifier" => {
                prim.specifier = match rep.0 & 0xff {
                    0 => Specifier::Def,
                    1 => Specifier::Over,
                    _ => Specifier::Class,
                }
            }
            "typeName" => prim.type_name = first(self.value(rep)?).unwrap_or_default(),
            "displayName" => prim.display_name = first(self.value(rep)?),
            "active" => prim.is_inactive = Some(self.value(rep)? == Value::Numbers(vec![0.0])),
            "apiSchemas" => prim.schemas = self.edits(rep, Self::one_token)?,
            "references" => prim.references = self.edits(rep, Self::one_reference)?,
            "payload" if rep.0 >> 48 & 0xff == PAYLOAD => {
                prim.payloads = ListEdit {
                    explicit: Some(vec![self.single_payload(rep)?]),
                    ..ListEdit::default()
                };
            }
            "payload" => prim.payloads = self.edits(rep, Self::one_payload)?,
            "inheritPaths" => prim.inherits = self.edits(rep, Self::one_path)?,
            "specializes" => prim.specializes = self.edits(rep, Self::one_path)?,
            "variantSelection" => prim.selections = self.selections(rep)?,
            _ => {}
        }
        Some(())
    }

    fn property(&mut self, spec: &Spec, name: &str) -> Option<Property> {
        let mut property = Property::default();
        for (field, rep) in self.fields_of(spec)? {
            match field.as_str() {
                "default" => property.value = Some(self.value(rep)?),
                "timeSamples" => property.samples = self.samples(rep, is_motion(name))?,
                "targetPaths" => property.targets = Some(self.edits(rep, Self::one_path)?),
                _ => {}
            }
        }
        Some(property)
    }
}

/// Puts children into the order of their names.
fn sort_children(layer: &mut Layer, prim: usize, names: &[String]) {
    let places: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let Some(spec) = layer.prims.get_mut(prim) else {
        return;
    };
    let mut children = std::mem::take(&mut spec.children);
    let place = |child: &usize| {
        let name = layer.prims.get(*child).map(|spec| spec.name.as_str());
        name.and_then(|name| places.get(name))
            .copied()
            .unwrap_or(usize::MAX)
    };
    children.sort_by_key(place);
    if let Some(spec) = layer.prims.get_mut(prim) {
        spec.children = children;
    }
}
