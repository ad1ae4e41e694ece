//! Metadata of layers and prims, and properties.

use super::Parser;
use super::lexer::Token;
use crate::error::SceneError;
use crate::import::usd::layer::{Edit, PrimSpec, Property, Value, is_motion, is_wanted};

impl<'t> Parser<'t> {
    /// What the layer says of itself, after its `(`.
    pub(super) fn settings(&mut self) -> Result<(), SceneError> {
        while let Some((edit, key)) = self.key()? {
            if key == "subLayers" {
                let layers = self.items(Self::one_sublayer)?;
                self.layer.sublayers.extend(layers);
            } else {
                let value = self.value()?;
                if edit == Edit::Explicit {
                    self.layer.settings.insert(key.to_owned(), value);
                }
            }
        }
        Ok(())
    }

    /// The next key of metadata, its `=` taken; `None` at the `)`, which is taken too.
    fn key(&mut self) -> Result<Option<(Edit, &'t str)>, SceneError> {
        loop {
            match self.next()? {
                Token::Sign(b')') => return Ok(None),
                // A string alone is a comment.
                Token::Sign(b';' | b',') | Token::Text(_) => {}
                Token::Word(word) => {
                    let found = self.edit(word, "the name of metadata")?;
                    self.expect(b'=')?;
                    return Ok(Some(found));
                }
                other => return Err(self.unexpected(&other, "the name of metadata")),
            }
        }
    }

    /// Metadata of a prim, if there is some.
    pub(super) fn metadata(&mut self, prim: usize) -> Result<(), SceneError> {
        if !self.takes(b'(')? {
            return Ok(());
        }
        // Taken out while the parser is at work.
        let slot = self.layer.prims.get_mut(prim);
        let mut spec = slot.map(std::mem::take).unwrap_or_default();
        while let Some((edit, key)) = self.key()? {
            self.one_metadatum(&mut spec, edit, key)?;
        }
        if let Some(slot) = self.layer.prims.get_mut(prim) {
            *slot = spec;
        }
        Ok(())
    }

    fn one_metadatum(
        &mut self,
        spec: &mut PrimSpec,
        edit: Edit,
        key: &str,
    ) -> Result<(), SceneError> {
        match key {
            "apiSchemas" => spec.schemas.state(edit, self.items(Self::one_text)?),
            "references" => spec
                .references
                .state(edit, self.items(Self::one_reference)?),
            "payload" => spec.payloads.state(edit, self.items(Self::one_reference)?),
            "inherits" => spec.inherits.state(edit, self.items(Self::one_path)?),
            "specializes" => spec.specializes.state(edit, self.items(Self::one_path)?),
            "variants" => spec.selections = self.selections()?,
            "active" => {
                let value = self.value()?;
                spec.is_inactive = Some(value == Value::Numbers(vec![0.0]));
            }
            "displayName" => {
                if let Value::Texts(texts) = self.value()? {
                    spec.display_name = texts.into_iter().next();
                }
            }
            _ => drop(self.value()?),
        }
        Ok(())
    }

    /// `{ string set = "variant" }`.
    fn selections(&mut self) -> Result<std::collections::BTreeMap<String, String>, SceneError> {
        let mut chosen = std::collections::BTreeMap::new();
        self.expect(b'{')?;
        while !self.takes(b'}')? {
            let _ = self.word("`string`")?;
            let set = match self.next()? {
                Token::Word(word) => word.to_owned(),
                Token::Text(text) => text,
                other => return Err(self.unexpected(&other, "the name of a set of variants")),
            };
            self.expect(b'=')?;
            chosen.insert(set, self.text("the name of a variant")?);
            let _ = self.takes(b';')?;
        }
        Ok(chosen)
    }

    /// A property, or another statement of a prim that begins with this word.
    pub(super) fn property(&mut self, prim: usize, word: &'t str) -> Result<(), SceneError> {
        let (edit, mut word) = self.edit(word, "`rel` or a type")?;
        if edit == Edit::Reorder || word == "relocates" {
            // `reorder nameChildren = […]`: an order that nothing depends on.
            self.expect(b'=')?;
            return self.value().map(drop);
        }
        while matches!(word, "custom" | "uniform" | "varying" | "config") {
            word = self.word("`rel` or a type")?;
        }
        // An edit may also stand after `custom`.
        let (edit, word) = match edit {
            Edit::Explicit => self.edit(word, "`rel` or a type")?,
            edit => (edit, word),
        };
        if word == "rel" {
            return self.relationship(prim, edit);
        }
        if self.takes(b'[')? {
            self.expect(b']')?;
        }
        let name = self.word("the name of an attribute")?;
        let (name, field) = match name.split_once('.') {
            Some((name, field)) => (name, field),
            None => (name, ""),
        };
        self.attribute(prim, name, field)?;
        self.skip_metadata()
    }

    fn attribute(&mut self, prim: usize, name: &str, field: &str) -> Result<(), SceneError> {
        let is_given = self.takes(b'=')?;
        match field {
            _ if !is_given => {
                if is_wanted(name) {
                    let _ = self.slot(prim, name);
                }
            }
            "timeSamples" => {
                let samples = self.samples(is_motion(name))?;
                if let Some(slot) = self.slot(prim, name) {
                    slot.samples = samples;
                }
            }
            "" | "default" => {
                let value = self.value()?;
                if let Some(slot) = self.slot(prim, name) {
                    slot.value = Some(value);
                }
            }
            // Connections and splines say nothing of physics.
            _ => drop(self.value()?),
        }
        Ok(())
    }

    fn relationship(&mut self, prim: usize, edit: Edit) -> Result<(), SceneError> {
        let name = self.word("the name of a relationship")?;
        let name = name.split_once('.').map_or(name, |(name, _)| name);
        if self.takes(b'=')? {
            let targets = self.items(Self::one_path)?;
            if let Some(slot) = self.slot(prim, name) {
                slot.targets.get_or_insert_default().state(edit, targets);
            }
        }
        self.skip_metadata()
    }

    fn skip_metadata(&mut self) -> Result<(), SceneError> {
        match self.takes(b'(')? {
            true => self.skip_block(),
            false => Ok(()),
        }
    }

    /// Where a property is kept, if it is.
    fn slot(&mut self, prim: usize, name: &str) -> Option<&mut Property> {
        let spec = self.layer.prims.get_mut(prim).filter(|_| is_wanted(name))?;
        Some(spec.properties.entry(name.to_owned()).or_default())
    }
}
