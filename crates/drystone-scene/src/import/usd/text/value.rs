//! Values of attributes and metadata.

use super::Parser;
use super::lexer::Token;
use crate::error::SceneError;
use crate::import::usd::layer::{Reference, Value};

/// Most brackets within each other in a value: a list of matrices has three.
const MAX_NESTING: usize = 8;

impl Parser<'_> {
    /// A value. Lists and tuples of numbers are read flat; dictionaries are passed over.
    pub(super) fn value(&mut self) -> Result<Value, SceneError> {
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        let mut open: Vec<u8> = Vec::new();
        // Length of the tuples of numbers, which all have the same, and of the one that is open.
        let (mut width, mut start) = (None, 0);
        let mut is_odd = false;
        loop {
            match self.next()? {
                Token::Number(number) => numbers.push(number),
                Token::Text(text) => texts.push(text),
                Token::Asset(text) | Token::Path(text) => texts.push(text.to_owned()),
                Token::Word(word) => match word {
                    "true" | "True" => numbers.push(1.0),
                    "false" | "False" => numbers.push(0.0),
                    "inf" => numbers.push(f64::INFINITY),
                    "nan" => numbers.push(f64::NAN),
                    "None" => is_odd = true,
                    word => {
                        let problem = format!("`{word}` is no value");
                        return Err(self.wrong(problem));
                    }
                },
                Token::Sign(b'{') => {
                    self.skip_block()?;
                    is_odd = true;
                }
                Token::Sign(sign @ (b'(' | b'[')) => {
                    if open.len() >= MAX_NESTING {
                        return Err(self.wrong("brackets are nested too deep"));
                    }
                    open.push(if sign == b'(' { b')' } else { b']' });
                    start = numbers.len();
                    continue;
                }
                Token::Sign(sign @ (b')' | b']')) if open.last() == Some(&sign) => {
                    let _ = open.pop();
                    let length = numbers.len() - start;
                    // The closing bracket of an outer one sees what its last inner one left.
                    if sign == b')' && length > 0 && length != *width.get_or_insert(length) {
                        return Err(self.wrong("tuples of one value differ in length"));
                    }
                    start = numbers.len();
                }
                other => return Err(self.unexpected(&other, "a value")),
            }
            if !self.more(&open)? {
                break;
            }
        }
        Ok(match (numbers.is_empty(), texts.is_empty()) {
            _ if is_odd && numbers.is_empty() && texts.is_empty() => Value::Nothing,
            (true, false) => Value::Texts(texts),
            (_, true) => Value::Numbers(numbers),
            _ => Value::Other,
        })
    }

    /// After an element: whether the value goes on. Takes commas.
    fn more(&mut self, open: &[u8]) -> Result<bool, SceneError> {
        let Some(&close) = open.last() else {
            return Ok(false);
        };
        if !self.takes(b',')? && *self.peek()? != Token::Sign(close) {
            let found = self.next()?;
            return Err(self.unexpected(&found, "`,` or a closing bracket"));
        }
        Ok(true)
    }

    /// Values at times, in the order of time; only the first one unless `all` are wanted.
    pub(super) fn samples(&mut self, all: bool) -> Result<Vec<(f64, Value)>, SceneError> {
        self.expect(b'{')?;
        let mut samples: Vec<(f64, Value)> = Vec::new();
        while !self.takes(b'}')? {
            let time = match self.next()? {
                Token::Number(time) if time.is_finite() => time,
                other => return Err(self.unexpected(&other, "a time")),
            };
            self.expect(b':')?;
            let value = self.value()?;
            let is_first = samples.first().is_none_or(|(known, _)| time < *known);
            if value != Value::Nothing && (all || is_first) {
                if !all {
                    samples.clear();
                }
                samples.push((time, value));
            }
            let _ = self.takes(b',')?;
        }
        samples.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Ok(samples)
    }

    /// What a list-valued statement names: single items need no brackets.
    pub(super) fn items<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, SceneError>,
    ) -> Result<Vec<T>, SceneError> {
        let mut items = Vec::new();
        if *self.peek()? == Token::Word("None") {
            self.ahead = None;
            return Ok(items);
        }
        if !self.takes(b'[')? {
            items.push(one(self)?);
            return Ok(items);
        }
        while !self.takes(b']')? {
            items.push(one(self)?);
            if !self.takes(b',')? && *self.peek()? != Token::Sign(b']') {
                let found = self.next()?;
                return Err(self.unexpected(&found, "`,` or `]`"));
            }
        }
        Ok(items)
    }

    pub(super) fn one_text(&mut self) -> Result<String, SceneError> {
        self.text("a name in quotes")
    }

    pub(super) fn one_path(&mut self) -> Result<String, SceneError> {
        match self.next()? {
            Token::Path(path) => Ok(path.to_owned()),
            other => Err(self.unexpected(&other, "a path `<…>`")),
        }
    }

    /// `@file@</prim> (offset)`, with any of them left out.
    pub(super) fn one_reference(&mut self) -> Result<Reference, SceneError> {
        let mut reference = Reference::default();
        match self.next()? {
            Token::Asset(asset) => {
                asset.clone_into(&mut reference.asset);
                if matches!(self.peek()?, Token::Path(_)) {
                    reference.prim = self.one_path()?;
                }
            }
            Token::Path(path) => path.clone_into(&mut reference.prim),
            other => return Err(self.unexpected(&other, "a reference `@file@</prim>`")),
        }
        if self.takes(b'(')? {
            self.skip_block()?;
        }
        Ok(reference)
    }

    pub(super) fn one_sublayer(&mut self) -> Result<String, SceneError> {
        Ok(self.one_reference()?.asset)
    }
}
