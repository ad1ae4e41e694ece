//! How a stage comes together: sublayers, and arcs from prim to prim.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::assets::{Assets, is_layer, relative};
use super::layer::{Layer, ListEdit, MAX_DEPTH, PrimSpec, ROOT, Reference, Specifier, Value};
use super::stage::{Mapping, Node, Prim, Site, Stack, Stage};
use crate::error::SceneError;
use crate::import::files::shortened;

/// Most arcs that lead from one to the next.
const MAX_ARCS: usize = 30;
/// Most layers of a stage.
const MAX_LAYERS: usize = 10_000;
/// Nodes that arcs may add to those that the files spell out.
const MAX_ADDED_NODES: usize = 200_000;

impl Stage<'_> {
    /// Reads sublayers and adds the stack of a layer.
    pub(super) fn add_stack(
        &mut self,
        first: Layer,
        name: String,
        assets: &mut Assets<'_>,
    ) -> Result<usize, SceneError> {
        let mut stack = Stack::default();
        // Depth first: the sublayers of a layer are stronger than the next one beside it.
        let mut waiting = vec![(first, name, 0)];
        while let Some((layer, name, depth)) = waiting.pop() {
            let mut below = Vec::new();
            for sublayer in &layer.sublayers {
                let asset = relative(sublayer, &name);
                if depth >= MAX_ARCS || self.layers.len() + waiting.len() > MAX_LAYERS {
                    let problem = "sublayers go round in a circle, or are too deep";
                    return Err(self.wrong(sublayer, problem));
                }
                if is_layer(&asset) {
                    below.push((assets.named(&asset)?, asset, depth + 1));
                } else {
                    self.unsupported
                        .push(format!("the file `{}`", shortened(&asset)));
                }
            }
            below.reverse();
            waiting.extend(below);
            let weights = layer.prims.iter().map(|prim| prim.weight + 1);
            self.spelled_out += weights.sum::<usize>();
            self.layers.push(layer);
            stack.layers.push((self.layers.len() - 1, name));
        }
        self.stacks.push(stack);
        Ok(self.stacks.len() - 1)
    }

    /// Adds all prims below the root, parents before children, in the order of the files.
    pub(super) fn populate(
        &mut self,
        root: Node,
        assets: &mut Assets<'_>,
    ) -> Result<(), SceneError> {
        let mut waiting = self.children(None, &[root]);
        while let Some((parent, name, bases)) = waiting.pop() {
            let mut nodes = Vec::new();
            for base in bases {
                self.expand(base, 0, &mut nodes, assets)?;
            }
            let Some(prim) = self.prim(parent, name, nodes) else {
                continue;
            };
            if prim.depth > MAX_DEPTH {
                let problem = format!("it has more than {MAX_DEPTH} ancestors");
                return Err(self.wrong(&prim.name, problem));
            }
            let index = self.prims.len();
            self.by_name.insert((prim.parent, prim.name.clone()), index);
            let below = self.children(Some(index), &prim.nodes);
            self.prims.push(prim);
            waiting.extend(below);
        }
        Ok(())
    }

    /// Children of nodes with the opinions that come with their parents, the last one first.
    fn children(
        &self,
        parent: Option<usize>,
        nodes: &[Node],
    ) -> Vec<(Option<usize>, String, Vec<Node>)> {
        let mut order: Vec<(Option<usize>, String, Vec<Node>)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, node) in nodes.iter().enumerate() {
            for &(layer, prim) in &node.specs {
                let Some(spec) = self.spec((layer, prim)) else {
                    continue;
                };
                for &child in &spec.children {
                    let Some(below) = self.spec((layer, child)) else {
                        continue;
                    };
                    let place = *places.entry(&below.name).or_insert_with(|| {
                        order.push((parent, below.name.clone(), Vec::new()));
                        order.len() - 1
                    });
                    let Some((_, _, bases)) = order.get_mut(place) else {
                        continue;
                    };
                    match bases.last_mut().filter(|base| base.stack == number) {
                        Some(base) => base.specs.push((layer, child)),
                        // The number of the node for now: two nodes may have one stack.
                        None => bases.push(Node {
                            stack: number,
                            specs: vec![(layer, child)],
                            mapping: node.mapping.clone(),
                        }),
                    }
                }
            }
        }
        for base in order.iter_mut().flat_map(|(_, _, bases)| bases) {
            base.stack = nodes.get(base.stack).map_or(0, |node| node.stack);
        }
        order.reverse();
        order
    }

    /// The prim of nodes; `None` if it is not there.
    fn prim(&self, parent: Option<usize>, name: String, nodes: Vec<Node>) -> Option<Prim> {
        let mut prim = Prim {
            name,
            parent,
            type_name: String::new(),
            schemas: Vec::new(),
            display_name: None,
            depth: parent.map_or(0, |parent| {
                self.prims.get(parent).map_or(0, |p| p.depth) + 1
            }),
            nodes,
        };
        let specs = || self.opinions(&prim.nodes);
        let specifier = specs().map(|(_, spec)| spec.specifier);
        let specifier = specifier.into_iter().find(|s| *s != Specifier::Over);
        let is_inactive = specs().find_map(|(_, spec)| spec.is_inactive);
        if specifier != Some(Specifier::Def) || is_inactive == Some(true) {
            return None;
        }
        let type_name = specs().map(|(_, spec)| &spec.type_name);
        let type_name = type_name.into_iter().find(|name| !name.is_empty());
        let type_name = type_name.cloned().unwrap_or_default();
        let display_name = specs().find_map(|(_, spec)| spec.display_name.clone());
        let edits: Vec<&ListEdit<String>> = specs().map(|(_, spec)| &spec.schemas).collect();
        let schemas = edits.iter().rev();
        let schemas = schemas.fold(Vec::new(), |weaker, edit| edit.over(weaker));
        (prim.type_name, prim.display_name, prim.schemas) = (type_name, display_name, schemas);
        Some(prim)
    }

    /// Adds a node and all that its arcs bring in, strongest first.
    fn expand(
        &mut self,
        node: Node,
        arcs: usize,
        nodes: &mut Vec<Node>,
        assets: &mut Assets<'_>,
    ) -> Result<(), SceneError> {
        let Some(&first) = node.specs.first() else {
            return Ok(());
        };
        let place = |stage: &Self| {
            stage
                .layers
                .get(first.0)
                .map_or(String::new(), |l| l.path(first.1))
        };
        let weights = node.specs.iter().filter_map(|&site| self.spec(site));
        self.nodes += 1 + weights.map(|spec| spec.weight).sum::<usize>();
        if arcs > MAX_ARCS || self.nodes > self.spelled_out + MAX_ADDED_NODES {
            let problem = "references go round in a circle, or bring in too much";
            return Err(self.wrong(&place(self), problem));
        }
        nodes.push(node.clone());
        let edits: Vec<&PrimSpec> = node.specs.iter().filter_map(|&s| self.spec(s)).collect();
        let inherits = folded(&edits, |spec| &spec.inherits);
        let specializes = folded(&edits, |spec| &spec.specializes);
        let mut references = folded(&edits, |spec| &spec.references);
        references.extend(folded(&edits, |spec| &spec.payloads));
        let own = |prim: String| Reference {
            asset: String::new(),
            prim,
        };
        for path in inherits {
            self.follow(&node, &own(path), arcs, nodes, assets)?;
        }
        for chosen in self.chosen(&node, nodes) {
            self.expand(chosen, arcs + 1, nodes, assets)?;
        }
        for reference in references {
            self.follow(&node, &reference, arcs, nodes, assets)?;
        }
        for path in specializes {
            self.follow(&node, &own(path), arcs, nodes, assets)?;
        }
        Ok(())
    }

    /// The variants of a node that are chosen by the strongest that choose.
    fn chosen(&self, node: &Node, nodes: &[Node]) -> Vec<Node> {
        let sets = node.specs.iter().filter_map(|&site| self.spec(site));
        let sets: BTreeSet<&String> = sets.flat_map(|spec| spec.variants.keys()).collect();
        let variant = |set: &&String| {
            let mut all = self.opinions(nodes);
            let chosen = all.find_map(|(_, spec)| spec.selections.get(*set))?;
            let own = |&(layer, prim): &Site| {
                let variants = self.spec((layer, prim))?.variants.get(*set)?;
                Some((layer, *variants.get(chosen)?))
            };
            let specs: Vec<Site> = node.specs.iter().filter_map(own).collect();
            (!specs.is_empty()).then(|| Node {
                specs,
                ..node.clone()
            })
        };
        sets.iter().filter_map(variant).collect()
    }

    /// Brings in a prim of this stack or of another file.
    fn follow(
        &mut self,
        node: &Node,
        reference: &Reference,
        arcs: usize,
        nodes: &mut Vec<Node>,
        assets: &mut Assets<'_>,
    ) -> Result<(), SceneError> {
        let Some(&to) = node.specs.first() else {
            return Ok(());
        };
        let Some(stack) = self.stack_of(to, node.stack, &reference.asset, assets)? else {
            return Ok(());
        };
        let path = match reference.prim.is_empty() {
            false => self.absolute(to, &reference.prim),
            true => self.default_prim(stack),
        };
        let specs = self.specs_at(stack, &path);
        let Some(&from) = specs.first().filter(|site| site.1 != ROOT) else {
            let at = self
                .layers
                .get(to.0)
                .map_or(String::new(), |layer| layer.path(to.1));
            let (asset, path) = (shortened(&reference.asset), shortened(&path));
            let what = format!("<{at}>: `@{asset}@<{path}>`, which is not there");
            self.unsupported.push(what);
            return Ok(());
        };
        let mapping = Mapping {
            from,
            to,
            outer: node.mapping.clone(),
        };
        let found = Node {
            stack,
            specs,
            mapping: Some(Rc::new(mapping)),
        };
        self.expand(found, arcs + 1, nodes, assets)
    }

    fn default_prim(&self, stack: usize) -> String {
        let layer = self
            .stacks
            .get(stack)
            .and_then(|stack| stack.layers.first());
        let layer = layer.and_then(|&(layer, _)| self.layers.get(layer));
        match layer.and_then(|layer| layer.settings.get("defaultPrim")) {
            Some(Value::Texts(texts)) => {
                let name = texts.first().map_or("", String::as_str);
                format!("/{}", name.trim_start_matches('/'))
            }
            _ => "/".to_owned(),
        }
    }

    /// The stack of a file that a layer names; `None` for one that is no stage.
    fn stack_of(
        &mut self,
        by: Site,
        own: usize,
        asset: &str,
        assets: &mut Assets<'_>,
    ) -> Result<Option<usize>, SceneError> {
        if asset.is_empty() {
            return Ok(Some(own));
        }
        let layers = self.stacks.get(own).map(|stack| stack.layers.as_slice());
        let mut layers = layers.unwrap_or_default().iter();
        let named_by = layers.find(|(layer, _)| *layer == by.0);
        let name = relative(asset, named_by.map_or("", |(_, name)| name));
        if let Some(&known) = self.by_asset.get(&name) {
            return Ok(known);
        }
        if !is_layer(&name) {
            self.unsupported
                .push(format!("the file `{}`", shortened(&name)));
            self.by_asset.insert(name, None);
            return Ok(None);
        }
        let layer = assets.named(&name)?;
        let stack = self.add_stack(layer, name.clone(), assets)?;
        self.by_asset.insert(name, Some(stack));
        Ok(Some(stack))
    }
}

/// The edits of several layers, the strongest first, done to an empty list.
fn folded<T: Clone + Ord>(specs: &[&PrimSpec], list: impl Fn(&PrimSpec) -> &ListEdit<T>) -> Vec<T> {
    let edits = specs.iter().rev();
    edits.fold(Vec::new(), |weaker, spec| list(spec).over(weaker))
}
