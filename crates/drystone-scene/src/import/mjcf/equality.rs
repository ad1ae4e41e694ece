//! Equalities: bodies that are held together outside of the tree.

use roxmltree::Node;

use super::{Group, Reader, WORLD};
use crate::error::SceneError;
use crate::import::rigid::{self, Pose3};
use crate::import::xml::children;
use crate::schema::{Joint, JointKind, Scene};

impl Reader<'_, '_, '_> {
    /// Adds joints for `connect` and `weld`.
    pub(super) fn equalities(
        &mut self,
        model: Node<'_, '_>,
        scene: &mut Scene,
    ) -> Result<(), SceneError> {
        let all = children(model, "equality").flat_map(|list| list.children());
        for node in all.filter(Node::is_element) {
            let kind = match node.tag_name().name() {
                "connect" => JointKind::Ball,
                "weld" => JointKind::Fixed,
                _ => continue,
            };
            let Some(one) = node.attribute("body1") else {
                let what = format!("`{}` between sites", node.tag_name().name());
                self.unsupported.push(what);
                continue;
            };
            if node.has_attribute("relpose") {
                self.unsupported
                    .push("`relpose` of `weld`: bodies are held as they are".to_owned());
            }
            let (a, pose) = self.end_of(node, Some(one))?;
            let (b, _) = self.end_of(node, node.attribute("body2"))?;
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

    /// The scene's body that a body of the model is in, and its pose.
    fn end_of(
        &self,
        node: Node<'_, '_>,
        name: Option<&str>,
    ) -> Result<(String, Pose3), SceneError> {
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
        let holds = |group: &Group<'_>| group.members.contains(&name);
        self.groups.iter().position(holds)
    }
}
