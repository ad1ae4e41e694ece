//! Text in two columns: labels at the left, words at the right.

use std::fmt::Write;
use std::io::IsTerminal;

/// The widest line on a terminal, in characters: longer ones are hard to read.
const WIDEST: usize = 100;

/// The narrowest column of words, however narrow the terminal.
const NARROWEST: usize = 30;

/// Labelled lines. On a terminal words are wrapped and stay in their column; elsewhere every
/// line is whole, for `grep` to find.
#[derive(Debug)]
pub(crate) struct Columns {
    text: String,
    label_width: usize,
    word_width: usize,
}

impl Columns {
    /// Under a heading, with labels of at most so many characters.
    pub(crate) fn new(heading: String, label_width: usize) -> Self {
        let word_width = match terminal_width() {
            Some(width) => (width.min(WIDEST).saturating_sub(label_width + 4)).max(NARROWEST),
            None => usize::MAX,
        };
        Self {
            text: heading,
            label_width,
            word_width,
        }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, label: &str, words: &str) {
        let indent = self.label_width;
        // Writing to a string can't fail.
        let _ = write!(self.text, "  {label:indent$}  ");
        let mut column = 0;
        for word in words.split_whitespace() {
            let width = word.chars().count();
            if column > 0 && column + 1 + width > self.word_width {
                let _ = write!(self.text, "\n  {:indent$}  ", "");
                column = 0;
            } else if column > 0 {
                self.text.push(' ');
                column += 1;
            }
            self.text.push_str(word);
            column += width;
        }
        self.text.push('\n');
    }

    /// All of it.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Characters in a line, if standard output is a terminal.
fn terminal_width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_in_their_column() {
        let mut columns = Columns {
            text: String::new(),
            label_width: 8,
            word_width: 60,
        };
        columns.line("time", &"word ".repeat(20));
        let text = columns.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("  time      word word"));
        assert!(lines[1].starts_with("            word word"));
        assert!(lines.iter().all(|line| line.len() <= 8 + 4 + 60));
    }
}
