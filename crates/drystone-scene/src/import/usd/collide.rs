//! Which bodies touch which: `PhysicsCollisionGroup` and `PhysicsFilteredPairsAPI`.

use std::collections::{BTreeMap, BTreeSet};

use super::scene::Maker;
use crate::import::filter;

/// Most groups that are looked at; scenes have fewer.
const MAX_GROUPS: usize = 256;
/// Most bodies that pairs can name, each of which is a group of the scene.
const MAX_PAIRED: usize = 32;

/// What filters see of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// Prims of the groups it is in.
    pub(super) groups: BTreeSet<usize>,
    /// Its own prim, if a filtered pair names it.
    pub(super) alone: Option<usize>,
}

/// The rules of a stage.
#[derive(Default)]
pub(super) struct Rules {
    /// Groups that name a prim, and whether its colliders are in them or left out.
    named_by: BTreeMap<usize, BTreeMap<usize, bool>>,
    /// Groups that a group does not touch, and whether it is those that it alone touches.
    filtered: BTreeMap<usize, (BTreeSet<usize>, bool)>,
    /// Prims that do not touch each other.
    pairs: BTreeSet<(usize, usize)>,
    /// All prims of pairs.
    in_pairs: BTreeSet<usize>,
}

impl Rules {
    /// Whether two bodies touch, by the prims from each body up.
    fn touch(&self, (a, up_a): (&Class, &[usize]), (b, up_b): (&Class, &[usize])) -> bool {
        let spares = |group: &usize, others: &BTreeSet<usize>| match self.filtered.get(group) {
            None => false,
            Some((listed, false)) => others.iter().any(|other| listed.contains(other)),
            Some((listed, true)) => !others.iter().any(|other| listed.contains(other)),
        };
        if a.groups.iter().any(|group| spares(group, &b.groups))
            || b.groups.iter().any(|group| spares(group, &a.groups))
        {
            return false;
        }
        !up_a.iter().any(|&p| {
            up_b.iter()
                .any(|&q| self.pairs.contains(&(p, q)) || self.pairs.contains(&(q, p)))
        })
    }
}

impl Maker<'_> {
    /// Reads the rules of the stage.
    pub(super) fn read_rules(&mut self) {
        let stage = self.stage;
        let mut rules = Rules::default();
        let mut more_groups = None;
        for (index, prim) in stage.prims.iter().enumerate() {
            let prims = |name: &str| -> BTreeSet<usize> {
                let targets = stage.targets(index, name).unwrap_or_default();
                targets.iter().filter_map(|path| stage.find(path)).collect()
            };
            if prim.type_name == "PhysicsCollisionGroup" {
                if rules.filtered.len() >= MAX_GROUPS {
                    more_groups.get_or_insert(index);
                    continue;
                }
                for (what, is_in) in [("includes", true), ("excludes", false)] {
                    for prim in prims(&format!("collection:colliders:{what}")) {
                        let groups = rules.named_by.entry(prim).or_default();
                        groups.insert(index, is_in);
                    }
                }
                let is_inverted = stage
                    .flag(index, "physics:invertFilteredGroups", false)
                    .unwrap_or(false);
                let groups = prims("physics:filteredGroups");
                rules.filtered.insert(index, (groups, is_inverted));
                if !stage.token(index, "physics:mergeGroup").is_empty() {
                    self.list(index, "`physics:mergeGroup`");
                }
            }
            if stage.has_schema(index, "PhysicsFilteredPairsAPI") {
                for other in prims("physics:filteredPairs") {
                    rules.pairs.insert((index, other));
                    rules.in_pairs.extend([index, other]);
                }
            }
        }
        if let Some(first) = more_groups {
            self.list(first, format!("more than {MAX_GROUPS} collision groups"));
        }
        self.rules = rules;
    }

    /// Groups that a collider is in: the nearest prim above it that a group names decides.
    pub(super) fn groups_of(&self, collider: usize) -> BTreeSet<usize> {
        let mut decided: BTreeMap<usize, bool> = BTreeMap::new();
        for (prim, _) in self.stage.upwards(collider) {
            for (&group, &is_in) in self.rules.named_by.get(&prim).into_iter().flatten() {
                decided.entry(group).or_insert(is_in);
            }
        }
        let groups = decided.into_iter().filter(|(_, is_in)| *is_in);
        groups.map(|(group, _)| group).collect()
    }

    /// Whether a filtered pair names a prim or something above it.
    pub(super) fn is_in_pair(&self, prim: usize) -> bool {
        let mut up = self.stage.upwards(prim);
        !self.rules.in_pairs.is_empty() && up.any(|(prim, _)| self.rules.in_pairs.contains(&prim))
    }

    /// Puts bodies into groups of the scene.
    pub(super) fn filter(&mut self) {
        let too_many = "collision groups and pairs: more than 32 kinds of bodies";
        let is_alone = |class: &&Class| class.alone.is_some();
        if self.classes.iter().flatten().filter(is_alone).count() > MAX_PAIRED {
            self.unsupported.push(too_many.to_owned());
            return;
        }
        // Prims of a body that pairs may name: those above it, and its colliders.
        let mut reach: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for class in self.classes.iter().flatten() {
            if let Some(body) = class.alone {
                let up = self.stage.upwards(body).map(|(prim, _)| prim);
                let below = self.rules.in_pairs.iter().copied();
                let held = |prim: &usize| self.holders.get(*prim).copied().flatten() == Some(body);
                reach.insert(body, up.chain(below.filter(held)).collect());
            }
        }
        let prims = |class: &Class| {
            let found = class.alone.and_then(|body| reach.get(&body));
            found.map_or(&[][..], Vec::as_slice)
        };
        let rules = &self.rules;
        let touch = |a: &Class, b: &Class| rules.touch((a, prims(a)), (b, prims(b)));
        if !filter::assign(&mut self.scene.bodies, &self.classes, touch) {
            self.unsupported.push(too_many.to_owned());
        }
    }
}
