//! Equalities: bodies that are held together outside of the tree.

use super::{Group, Reader, WORLD};
use crate::error::SceneError;
use crate::import::rigid::{self, Pose3};
use crate::import::tree::Node;
use crate::import::xml::children;
use crate::schema::{Joint, JointKind, Scene};

impl Reader<'_, '_> {
    /// Adds joints for `connect` and `weld` of a model whose names begin with `prefix`.
    pub(super) fn equalities(
        &mut self,
        (model, prefix): (Node<'_>, &str),
        scene: &mut Scene,
    ) -> Result<(), SceneError> {
        let all = children(model, "equality").flat_map(Node::children);
        for node in all {
            let kind = match node.name() {
                "connect" => JointKind::Ball,
                "weld" => JointKind::Fixed,
                _ => continue,
            };
            node.take();
            if node.attribute("active") == Some("false") {
                continue;
            }
            let Some(one) = node.attribute("body1") else {
                let what = format!("`{}` between sites", node.name());
                self.unsupported.push(what);
                continue;
            };
            let named = |name: &str| format!("{prefix}{name}");
            let ends = [Some(one), node.attribute("body2")].map(|name| name.map(named));
            if self.is_elsewhere(&ends, prefix, node) {
                continue;
            }
            if node.attribute("relpose").is_some() {
                self.unsupported
                    .push("`relpose` of `weld`: bodies are held as they are".to_owned());
            }
            let (a, pose) = self.end_of(node, ends[0].as_deref())?;
            let (b, _) = self.end_of(node, ends[1].as_deref())?;
            let anchor = self.xml.vector(node, "anchor")?.unwrap_or_default();
            scene.joints.push(Joint {
                name: node.attribute("name").map(str::to_owned),
                kind,
                a: Some(a),
                b: Some(b),
                at: Some(rigid::list(pose.point(anchor))),
                // Contacts are filtered by masks and `exclude` alone.
                collides: true,
                ..Joint::default()
            });
        }
        Ok(())
    }

    /// Whether one of the bodies is not there, because it is not what was attached of a model, or
    /// has other names, because it is there several times. The latter is listed.
    pub(super) fn is_elsewhere(
        &mut self,
        names: &[Option<String>],
        prefix: &str,
        node: Node<'_>,
    ) -> bool {
        let missing = |name: &&String| self.place_of(name).is_none();
        let Some(name) = names.iter().flatten().find(missing) else {
            return false;
        };
        let is_copied = self.copied.contains(name);
        if is_copied {
            let what = format!("`{}` of `{name}`, which is replicated", node.name());
            self.unsupported.push(what);
        }
        is_copied || !prefix.is_empty()
    }

    /// The scene's body that a body of the model is in, and its pose.
    fn end_of(&self, node: Node<'_>, name: Option<&str>) -> Result<(String, Pose3), SceneError> {
        let Some(name) = name else {
            return Ok((WORLD.to_owned(), rigid::upright()));
        };
        match self.place_of(name) {
            Some(0) => Ok((WORLD.to_owned(), rigid::upright())),
            Some(place) => match self.groups.get(place) {
                Some(group) => Ok((group.name.clone(), group.pose)),
                None => Ok((WORLD.to_owned(), rigid::upright())),
            },
            None => Err(self.xml.wrong(node, format!("there is no body `{name}`"))),
        }
    }

    /// The group that holds a body of the model.
    pub(super) fn place_of(&self, name: &str) -> Option<usize> {
        if name == WORLD {
            return Some(0);
        }
        let holds = |group: &Group| group.members.iter().any(|own| own == name);
        self.groups.iter().position(holds)
    }
}
