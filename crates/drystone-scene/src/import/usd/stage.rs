//! The prims of a stage and what all layers together say of them.
//!
//! A prim has opinions from several places. In order of strength: the layer that is opened and
//! its sublayers; prims that it inherits; chosen variants; references; payloads; prims that it
//! specializes. Each of these is a [`Node`], a prim spec in each layer of a stack, and may bring
//! in others in the same order. Children of all nodes together are the prim's children.
//!
//! Not modelled: relocations, and classes of a referencing layer that change what a referenced
//! file inherits.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::assets::Assets;
use super::layer::{Layer, ListEdit, MAX_DEPTH, PrimSpec, Property, Value};
use crate::error::SceneError;
use crate::import::files::shortened;

/// A prim spec: index of the layer, and of the prim in it.
pub(super) type Site = (usize, usize);

/// What the layers of one stack say of a prim.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) stack: usize,
    /// Strongest first; never empty.
    pub(super) specs: Vec<Site>,
    pub(super) mapping: Option<Rc<Mapping>>,
}

/// Where paths of a node lead: what is below one prim is below another.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) from: Site,
    pub(super) to: Site,
    /// From the namespace of `to` on.
    pub(super) outer: Option<Rc<Mapping>>,
}

/// A prim with the opinions of all layers.
#[derive(Debug)]
pub(super) struct Prim {
    pub(super) name: String,
    /// `None` for prims at the root.
    pub(super) parent: Option<usize>,
    pub(super) type_name: String,
    /// Schemas that are applied to it.
    pub(super) schemas: Vec<String>,
    pub(super) display_name: Option<String>,
    pub(super) depth: usize,
    pub(super) nodes: Vec<Node>,
}

/// A stack: its layers, strongest first, each with the name it was read by.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pub(super) layers: Vec<(usize, String)>,
}

/// All prims that are there: defined, active, and no patterns. Parents come before children.
pub(super) struct Stage<'a> {
    pub(super) file: &'a str,
    pub(super) prims: Vec<Prim>,
    /// What the opened layer says of itself.
    pub(super) settings: BTreeMap<String, Value>,
    /// What could not be brought in, a sentence each.
    pub(super) unsupported: Vec<String>,
    pub(super) by_name: BTreeMap<(Option<usize>, String), usize>,
    pub(super) layers: Vec<Layer>,
    pub(super) stacks: Vec<Stack>,
    /// Stacks of files that are named; `None` for a file that is no stage.
    pub(super) by_asset: BTreeMap<String, Option<usize>>,
    /// What was asked for: properties by prim, schemas.
    pub(super) asked: RefCell<BTreeSet<(usize, String)>>,
    pub(super) asked_schemas: RefCell<BTreeSet<String>>,
    /// Prims that the files spell out, and nodes that were made of them.
    pub(super) spelled_out: usize,
    pub(super) nodes: usize,
}

impl<'a> Stage<'a> {
    /// The stage that begins with a layer, which has a name if it is in a package.
    pub(super) fn compose(
        (first, name): (Layer, String),
        assets: &mut Assets<'_>,
        file: &'a str,
    ) -> Result<Self, SceneError> {
        let mut stage = Self {
            file,
            prims: Vec::new(),
            settings: first.settings.clone(),
            unsupported: Vec::new(),
            by_name: BTreeMap::new(),
            layers: Vec::new(),
            stacks: Vec::new(),
            by_asset: BTreeMap::new(),
            asked: RefCell::default(),
            asked_schemas: RefCell::default(),
            spelled_out: 0,
            nodes: 0,
        };
        let stack = stage.add_stack(first, name, assets)?;
        let root = Node {
            stack,
            specs: stage.specs_at(stack, "/"),
            mapping: None,
        };
        stage.populate(root, assets)?;
        Ok(stage)
    }

    pub(super) fn wrong(&self, place: &str, problem: impl std::fmt::Display) -> SceneError {
        let problem = format!("<{}>: {problem}", shortened(place));
        SceneError::unreadable(self.file, problem, "change the stage or export it again")
    }

    pub(super) fn spec(&self, site: Site) -> Option<&PrimSpec> {
        self.layers.get(site.0)?.prims.get(site.1)
    }

    pub(super) fn specs_at(&self, stack: usize, path: &str) -> Vec<Site> {
        let layers = self.stacks.get(stack).map(|stack| stack.layers.as_slice());
        let layers = layers.unwrap_or_default().iter();
        layers
            .filter_map(|&(layer, _)| Some((layer, self.layers.get(layer)?.find(path)?)))
            .collect()
    }

    /// Specs of nodes, strongest first.
    pub(super) fn opinions<'s>(
        &'s self,
        nodes: &'s [Node],
    ) -> impl Iterator<Item = (&'s Node, &'s PrimSpec)> {
        let specs = |node: &'s Node| {
            let found = node.specs.iter().filter_map(|&site| self.spec(site));
            found.map(move |spec| (node, spec))
        };
        nodes.iter().flat_map(specs)
    }

    /// A path as a layer writes it at a prim, from the root on.
    pub(super) fn absolute(&self, at: Site, path: &str) -> String {
        if path.starts_with('/') {
            return path.to_owned();
        }
        let own = self
            .layers
            .get(at.0)
            .map_or(String::new(), |layer| layer.path(at.1));
        let mut parts: Vec<&str> = own.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            match part {
                ".." => drop(parts.pop()),
                "" | "." => {}
                name => parts.push(name),
            }
        }
        format!("/{}", parts.join("/"))
    }

    /// A path of a node as a path of the stage.
    fn mapped(&self, node: &Node, path: &str) -> String {
        let first = node.specs.first().copied().unwrap_or_default();
        let mut path = self.absolute(first, path);
        let mut mapping = node.mapping.as_deref();
        while let Some(Mapping { from, to, outer }) = mapping {
            let path_of = |site: &Site| self.layers.get(site.0).map(|layer| layer.path(site.1));
            let (from, to) = (path_of(from), path_of(to));
            let rest = path.strip_prefix(from.as_deref().unwrap_or("/"));
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                path = format!("{}{rest}", to.unwrap_or_default());
            }
            mapping = outer.as_deref();
        }
        path
    }

    /// The prim at a path, which may be that of a property.
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        let path = path.split('.').next().unwrap_or_default();
        let parts = path.split('/').filter(|part| !part.is_empty());
        let mut at = None;
        for name in parts.take(MAX_DEPTH + 1) {
            at = Some(*self.by_name.get(&(at, name.to_owned()))?);
        }
        at
    }

    /// The path of a prim.
    pub(super) fn path(&self, prim: usize) -> String {
        let mut names: Vec<&str> = self.upwards(prim).map(|(_, p)| p.name.as_str()).collect();
        names.reverse();
        format!("/{}", names.join("/"))
    }

    /// A prim and all above it.
    pub(super) fn upwards(&self, prim: usize) -> impl Iterator<Item = (usize, &Prim)> {
        let with = |index: usize| Some((index, self.prims.get(index)?));
        std::iter::successors(with(prim), move |(_, prim)| with(prim.parent?))
    }

    /// What the strongest layer that says something says of an attribute: its value, or else the
    /// first in time.
    pub(super) fn value(&self, prim: usize, name: &str) -> Option<&Value> {
        let property = self.stated(prim, name)?;
        let first = || property.samples.first().map(|(_, value)| value);
        let value = property.value.as_ref().or_else(first);
        value.filter(|value| **value != Value::Nothing)
    }

    /// Values of an attribute at times; none if it has one outside time.
    pub(super) fn samples(&self, prim: usize, name: &str) -> &[(f64, Value)] {
        match self.stated(prim, name) {
            Some(property) if property.value.is_none() => &property.samples,
            _ => &[],
        }
    }

    /// Notes that something asked for a property.
    fn ask(&self, prim: usize, name: &str) {
        self.asked.borrow_mut().insert((prim, name.to_owned()));
    }

    /// The strongest opinion of an attribute.
    fn stated(&self, prim: usize, name: &str) -> Option<&Property> {
        self.ask(prim, name);
        let found = self.properties(prim, name).map(|(_, property)| property);
        let stated =
            |property: &&Property| property.value.is_some() || !property.samples.is_empty();
        found.into_iter().find(stated)
    }

    fn properties<'s, 'n>(
        &'s self,
        prim: usize,
        name: &'n str,
    ) -> impl Iterator<Item = (&'s Node, &'s Property)> + use<'s, 'n, 'a> {
        let nodes = self.prims.get(prim).map_or(&[][..], |prim| &prim.nodes);
        let found =
            move |(node, spec): (&'s Node, &'s PrimSpec)| Some((node, spec.properties.get(name)?));
        self.opinions(nodes).filter_map(found)
    }

    /// Paths that a relationship names, on the stage; `None` if nothing is said of it.
    pub(super) fn targets(&self, prim: usize, name: &str) -> Option<Vec<String>> {
        self.ask(prim, name);
        let edits: Vec<_> = self
            .properties(prim, name)
            .filter_map(|(node, property)| Some((node, property.targets.as_ref()?)))
            .collect();
        let fold = |weaker, (node, edit): &(&Node, &ListEdit<String>)| {
            let mapped = |paths: &[String]| -> Vec<String> {
                paths.iter().map(|path| self.mapped(node, path)).collect()
            };
            let edit = ListEdit {
                explicit: edit.explicit.as_deref().map(mapped),
                prepended: mapped(&edit.prepended),
                appended: mapped(&edit.appended),
                deleted: mapped(&edit.deleted),
            };
            edit.over(weaker)
        };
        (!edits.is_empty()).then(|| edits.iter().rev().fold(Vec::new(), fold))
    }

    pub(super) fn has_schema(&self, prim: usize, schema: &str) -> bool {
        if !self.asked_schemas.borrow().contains(schema) {
            self.asked_schemas.borrow_mut().insert(schema.to_owned());
        }
        let prim = self.prims.get(prim);
        prim.is_some_and(|prim| prim.schemas.iter().any(|own| own == schema))
    }
}
