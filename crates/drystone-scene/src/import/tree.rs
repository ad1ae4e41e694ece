//! XML as a tree that knows what was asked of it.
//!
//! Every attribute and element has a mark, set when code asks for it. What has none in the end is
//! listed. Trees own their text, so that other files can be put into them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::unread::{self, Listing};

/// A file that elements stand in.
#[derive(Debug)]
pub(super) struct Text {
    /// As it is shown.
    pub(super) file: String,
    /// Its folder, relative to that of the model.
    pub(super) folder: String,
    pub(super) text: Arc<str>,
    /// Whether it is the model's own file.
    pub(super) is_main: bool,
}

impl Text {
    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// An attribute and whether something asked for it.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    value: String,
    at: usize,
    is_asked: Cell<bool>,
}

impl Attribute {
    /// Its value; it counts as read from now on.
    pub(super) fn read(&self) -> &str {
        self.is_asked.set(true);
        &self.value
    }
}

/// An element with all that is in it.
#[derive(Debug)]
pub(super) struct Tree {
    name: String,
    attributes: Vec<Attribute>,
    children: Vec<Tree>,
    source: Rc<Text>,
    at: usize,
    is_asked: Cell<bool>,
}

impl Tree {
    /// The tree of a parsed element, which is not nested deeper than readers go.
    pub(super) fn new(node: roxmltree::Node<'_, '_>, source: &Rc<Text>) -> Self {
        let attribute = |attribute: roxmltree::Attribute<'_, '_>| Attribute {
            name: attribute.name().to_owned(),
            value: attribute.value().to_owned(),
            at: attribute.range().start,
            is_asked: Cell::new(false),
        };
        let children = node.children().filter(roxmltree::Node::is_element);
        Self {
            name: node.tag_name().name().to_owned(),
            attributes: node.attributes().map(attribute).collect(),
            children: children.map(|child| Self::new(child, source)).collect(),
            source: Rc::clone(source),
            at: node.range().start,
            is_asked: Cell::new(false),
        }
    }

    /// Its root; asked for by being looked at.
    pub(super) fn root(&self) -> Node<'_> {
        self.is_asked.set(true);
        Node(self)
    }

    /// Its name, without asking for it.
    pub(super) fn root_name(&self) -> &str {
        &self.name
    }

    /// What is below, to change it.
    pub(super) fn children_mut(&mut self) -> &mut Vec<Tree> {
        &mut self.children
    }
}

/// An element that can be asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'n>(&'n Tree);

impl<'n> Node<'n> {
    pub(super) fn name(self) -> &'n str {
        &self.0.name
    }

    pub(super) fn source(self) -> &'n Text {
        &self.0.source
    }

    /// Where it begins, in bytes.
    pub(super) fn at(self) -> usize {
        self.0.at
    }

    /// An attribute; it counts as read from now on.
    pub(super) fn attribute(self, key: &str) -> Option<&'n str> {
        let found = self.0.attributes.iter().find(|own| own.name == key);
        found.map(Attribute::read)
    }

    /// All attributes, which do not count as read by this.
    pub(super) fn attributes(self) -> &'n [Attribute] {
        &self.0.attributes
    }

    /// Elements directly below, which do not count as read by this.
    pub(super) fn children(self) -> impl Iterator<Item = Node<'n>> + use<'n> {
        self.0.children.iter().map(Node)
    }

    /// It counts as read from now on; what is in it does not.
    pub(super) fn take(self) -> Self {
        self.0.is_asked.set(true);
        self
    }

    /// Lists what nothing asked for, in it and below.
    pub(super) fn list(self, listing: &mut Listing) {
        for own in &self.0.attributes {
            if !own.is_asked.get() {
                let what = unread::words("", self.name(), Some(&own.name));
                let effect = unread::effect(self.name(), Some(&own.name));
                listing.add(&what, effect, || self.place(own.at));
            }
        }
        for child in self.children() {
            if child.0.is_asked.get() {
                child.list(listing);
                continue;
            }
            let what = unread::words(self.name(), child.name(), None);
            let effect = unread::effect(child.name(), None);
            listing.add(&what, effect, || child.place(child.at()));
        }
    }

    /// The line of an attribute.
    pub(super) fn place_of(self, attribute: &Attribute) -> String {
        self.place(attribute.at)
    }

    fn place(self, at: usize) -> String {
        let source = self.source();
        match source.is_main {
            true => format!("line {}", source.line(at)),
            false => format!("{}:{}", source.file, source.line(at)),
        }
    }
}
