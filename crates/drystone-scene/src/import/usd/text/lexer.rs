//! Words, numbers, strings and signs of a text file.

use crate::error::SceneError;
use crate::import::files::shortened;

/// A piece of text that means something.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// A keyword, type or name; names of properties have their colons and dots.
    Word(&'t str),
    Number(f64),
    /// What is between quotes, with escapes undone.
    Text(String),
    /// What is between `@`.
    Asset(&'t str),
    /// What is between `<` and `>`.
    Path(&'t str),
    Sign(u8),
    End,
}

impl Token<'_> {
    /// As it is shown in an error.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", shortened(word)),
            Self::Number(number) => format!("`{number}`"),
            Self::Text(text) => format!("\"{}\"", shortened(text)),
            Self::Asset(asset) => format!("`@{}@`", shortened(asset)),
            Self::Path(path) => format!("`<{}>`", shortened(path)),
            Self::Sign(sign) => format!("`{}`", char::from(*sign)),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// Takes a text apart.
pub(super) struct Lexer<'t> {
    text: &'t str,
    file: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, file: &'t str) -> Self {
        Self { text, file, at: 0 }
    }

    /// Something wrong just before where the lexer is.
    pub(super) fn wrong(&self, problem: impl std::fmt::Display) -> SceneError {
        let before = self.text.as_bytes().get(..self.at).unwrap_or_default();
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let problem = format!("line {line}: {problem}");
        SceneError::unreadable(self.file, problem, "export the stage again, as USD text")
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek_byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), SceneError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with('#') || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/");
                let end = end.ok_or_else(|| self.wrong("a comment has no end"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token<'t>, SceneError> {
        self.skip()?;
        let Some(byte) = self.peek_byte(0) else {
            return Ok(Token::End);
        };
        match byte {
            b'"' | b'\'' => self.quoted(byte),
            b'@' => self.asset(),
            b'<' => {
                let end = self.rest().find('>');
                let end = end.ok_or_else(|| self.wrong("a path has no `>`"))?;
                let path = self.rest().get(1..end).unwrap_or_default();
                self.at += end + 1;
                Ok(Token::Path(path.trim()))
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            _ => Ok(self.word_or_sign(byte)),
        }
    }

    fn word_or_sign(&mut self, byte: u8) -> Token<'t> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.');
        let length = match rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            true => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            false => 0,
        };
        if length == 0 {
            // A sign of several bytes is none that is known: all of it is passed.
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return Token::Sign(byte);
        }
        self.at += length;
        Token::Word(rest.get(..length).unwrap_or_default())
    }

    fn number(&mut self) -> Result<Token<'t>, SceneError> {
        let rest = self.rest();
        let unsigned = rest.trim_start_matches(['+', '-']);
        if unsigned.starts_with("inf") {
            self.at += rest.len() - unsigned.len() + 3;
            let is_negative = rest.starts_with('-');
            return Ok(Token::Number(match is_negative {
                true => f64::NEG_INFINITY,
                false => f64::INFINITY,
            }));
        }
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let digits = rest.get(..length).unwrap_or_default();
        let number = digits.parse().map_err(|_| {
            let problem = format!("`{}` is no number", shortened(digits));
            self.wrong(problem)
        })?;
        self.at += length;
        Ok(Token::Number(number))
    }

    fn asset(&mut self) -> Result<Token<'t>, SceneError> {
        let fence = if self.rest().starts_with("@@@") {
            "@@@"
        } else {
            "@"
        };
        let inner = self.rest().get(fence.len()..).unwrap_or_default();
        let end = inner.find(fence);
        let end = end.ok_or_else(|| self.wrong("the name of a file has no end (`@`)"))?;
        self.at += end + 2 * fence.len();
        Ok(Token::Asset(inner.get(..end).unwrap_or_default()))
    }

    fn quoted(&mut self, quote: u8) -> Result<Token<'t>, SceneError> {
        let fence = match quote {
            b'"' => "\"\"\"",
            _ => "'''",
        };
        let is_long = self.rest().starts_with(fence);
        let width = if is_long { 3 } else { 1 };
        let fence = fence.get(..width).unwrap_or_default();
        let inner = self.rest().get(width..).unwrap_or_default();
        let mut text = String::new();
        let mut from = 0;
        let stops = ['\\', char::from(quote), '\n'];
        while let Some(found) = inner.get(from..).and_then(|rest| rest.find(stops)) {
            let at = from + found;
            text.push_str(inner.get(from..at).unwrap_or_default());
            let rest = inner.get(at..).unwrap_or_default();
            if rest.starts_with(fence) {
                self.at += 2 * width + at;
                return Ok(Token::Text(text));
            }
            let mut signs = rest.chars();
            let (first, second) = (signs.next(), signs.next());
            match (first, second) {
                (Some('\\'), Some(escaped)) => {
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        other => other,
                    });
                    from = at + 1 + escaped.len_utf8();
                }
                (Some('\n'), _) if !is_long => break,
                (Some(other), _) => {
                    text.push(other);
                    from = at + other.len_utf8();
                }
                (None, _) => break,
            }
        }
        Err(self.wrong("a string has no end"))
    }
}
