//! USD as text (`.usda`).
//!
//! ```text
//! ( settings )
//! def Type "name" ( metadata ) {
//!     type property = value ( metadata )
//!     rel property = <path>
//!     def …
//!     variantSet "set" = { "variant" ( metadata ) { … } }
//! }
//! ```

mod lexer;
mod statement;
mod value;

use crate::error::SceneError;
use crate::import::usd::layer::{Edit, Layer, MAX_NAME, ROOT, Specifier};
use lexer::{Lexer, Token};

/// Reads a file.
pub(super) fn read(text: &str, file: &str) -> Result<Layer, SceneError> {
    let mut parser = Parser {
        lexer: Lexer::new(text, file),
        ahead: None,
        layer: Layer::default(),
    };
    parser.all()?;
    Ok(parser.layer)
}

/// A layer in the making.
struct Parser<'t> {
    lexer: Lexer<'t>,
    /// A token that was looked at and not taken.
    ahead: Option<Token<'t>>,
    layer: Layer,
}

impl<'t> Parser<'t> {
    fn wrong(&self, problem: impl std::fmt::Display) -> SceneError {
        self.lexer.wrong(problem)
    }

    fn next(&mut self) -> Result<Token<'t>, SceneError> {
        match self.ahead.take() {
            Some(token) => Ok(token),
            None => self.lexer.next(),
        }
    }

    fn peek(&mut self) -> Result<&Token<'t>, SceneError> {
        let token = self.next()?;
        Ok(self.ahead.insert(token))
    }

    /// Takes a sign if it is next.
    fn takes(&mut self, sign: u8) -> Result<bool, SceneError> {
        let is_next = *self.peek()? == Token::Sign(sign);
        if is_next {
            self.ahead = None;
        }
        Ok(is_next)
    }

    fn expect(&mut self, sign: u8) -> Result<(), SceneError> {
        match self.next()? {
            Token::Sign(found) if found == sign => Ok(()),
            other => Err(self.unexpected(&other, &format!("`{}`", char::from(sign)))),
        }
    }

    fn unexpected(&self, found: &Token<'_>, wanted: &str) -> SceneError {
        self.wrong(format!("{} is where {wanted} should be", found.shown()))
    }

    fn word(&mut self, wanted: &str) -> Result<&'t str, SceneError> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => Err(self.unexpected(&other, wanted)),
        }
    }

    fn text(&mut self, wanted: &str) -> Result<String, SceneError> {
        match self.next()? {
            Token::Text(text) => Ok(text),
            other => Err(self.unexpected(&other, wanted)),
        }
    }

    /// Passes everything up to the end of a block whose opening sign was taken.
    fn skip_block(&mut self) -> Result<(), SceneError> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Token::Sign(b'(' | b'[' | b'{') => depth += 1,
                Token::Sign(b')' | b']' | b'}') => depth -= 1,
                Token::End => return Err(self.wrong("a block has no end")),
                _ => {}
            }
        }
        Ok(())
    }

    /// The whole file. Prims that are open are in a list of their own, not on the stack.
    fn all(&mut self) -> Result<(), SceneError> {
        if self.takes(b'(')? {
            self.settings()?;
        }
        let mut open = vec![Open::Prim(ROOT)];
        while let Some(inner) = open.last().cloned() {
            let token = self.next()?;
            match (inner, token) {
                (Open::Prim(ROOT), Token::End) => return Ok(()),
                (_, Token::Sign(b';')) => {}
                (Open::Prim(ROOT), Token::Sign(b'}')) => {
                    return Err(self.wrong("`}` closes nothing"));
                }
                (_, Token::Sign(b'}')) => drop(open.pop()),
                (Open::Prim(prim), Token::Word(word)) => {
                    if let Some(opened) = self.in_prim(prim, word)? {
                        open.push(opened);
                    }
                }
                (Open::Set(prim, set), Token::Text(variant)) => {
                    open.push(self.variant(prim, set, variant)?);
                }
                (_, other) => return Err(self.unexpected(&other, "a prim or a property")),
            }
        }
        Ok(())
    }

    /// A statement in a prim, by its first word; what it opens.
    fn in_prim(&mut self, prim: usize, word: &'t str) -> Result<Option<Open>, SceneError> {
        let specifier = match word {
            "def" => Specifier::Def,
            "over" => Specifier::Over,
            "class" => Specifier::Class,
            "variantSet" => return self.variant_set(prim).map(Some),
            _ => {
                self.property(prim, word)?;
                return Ok(None);
            }
        };
        let (type_name, name) = match self.next()? {
            Token::Word(type_name) => (type_name, self.text("a prim's name in quotes")?),
            Token::Text(name) => ("", name),
            other => return Err(self.unexpected(&other, "a prim's type or name")),
        };
        let child = self.layer.child(prim, &name);
        let child = child.map_err(|problem| self.wrong(problem))?;
        if let Some(spec) = self.layer.prims.get_mut(child) {
            spec.specifier = specifier;
            if !type_name.is_empty() {
                type_name.clone_into(&mut spec.type_name);
            }
        }
        self.metadata(child)?;
        self.expect(b'{')?;
        Ok(Some(Open::Prim(child)))
    }

    /// Names are short, since every variant copies the one of its set.
    fn variant_set(&mut self, prim: usize) -> Result<Open, SceneError> {
        let name = self.text("the name of a set of variants")?;
        self.expect(b'=')?;
        self.expect(b'{')?;
        match name.len() <= MAX_NAME {
            true => Ok(Open::Set(prim, name)),
            false => Err(self.wrong(format!("a name has at most {MAX_NAME} bytes"))),
        }
    }

    /// The opinions of a variant of a set.
    fn variant(&mut self, prim: usize, set: String, name: String) -> Result<Open, SceneError> {
        let made = self.layer.loose(prim);
        let made = made.map_err(|problem| self.wrong(problem))?;
        if let Some(spec) = self.layer.prims.get_mut(prim) {
            spec.variants.entry(set).or_default().insert(name, made);
        }
        self.metadata(made)?;
        self.expect(b'{')?;
        Ok(Open::Prim(made))
    }

    /// The word of an edit and the one after it; or the word itself.
    fn edit(&mut self, word: &'t str, wanted: &str) -> Result<(Edit, &'t str), SceneError> {
        match Edit::named(word) {
            Some(edit) => Ok((edit, self.word(wanted)?)),
            None => Ok((Edit::Explicit, word)),
        }
    }
}

/// A block that is not closed yet.
#[derive(Clone)]
enum Open {
    /// Of a prim or variant.
    Prim(usize),
    /// Of a set of variants of a prim.
    Set(usize, String),
}
