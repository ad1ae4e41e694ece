//! From text to a scene.

use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Flaw, SceneError};
use crate::import::{Files, ImportOptions};
use crate::path::FieldPath;
use crate::plain_file::open_plain;
use crate::schema::Scene;
use crate::source::{Format, Source};

/// The largest scene file that is read, in bytes (64 MiB).
pub const MAX_FILE_BYTES: u64 = 64 << 20;

impl Scene {
    /// Reads a scene from TOML. `file` names the text in errors.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, SceneError> {
        Self::from_text(text, file, Format::Toml)
    }

    /// Reads a scene from JSON of the same structure. `file` names the text in errors.
    pub fn from_json(text: &str, file: &str) -> Result<Self, SceneError> {
        Self::from_text(text, file, Format::Json)
    }

    /// Reads a scene file: `.json` is JSON, everything else must be `.toml`. Meshes that it names
    /// must be in its folder or below.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        Self::load_with(path, &ImportOptions::default())
    }

    /// Reads a scene file; options say which other files may be read.
    pub fn load_with(path: &Path, options: &ImportOptions) -> Result<Self, SceneError> {
        let file = path.display().to_string();
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Format::Toml,
            Some("json") => Format::Json,
            _ => {
                return Err(SceneError::unreadable(
                    &file,
                    "the name of a scene file must end in `.toml` or `.json`",
                    &format!(
                        "rename it, name a scene of the gallery, or give a model ({})",
                        crate::import::endings()
                    ),
                ));
            }
        };
        let mut scene = Self::from_text(&read_text(path, &file)?, &file, format)?;
        scene.read_meshes(&mut Files::new(path, options.clone()), &file)?;
        Ok(scene)
    }

    fn from_text(text: &str, file: &str, format: Format) -> Result<Self, SceneError> {
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(too_large(file, text.len() as u64));
        }
        let source = Source {
            file: file.to_owned(),
            text: Arc::from(text),
            format,
        };
        let read = match format {
            Format::Toml => toml::from_str(text).map_err(|error| {
                let span = error.span().unwrap_or(0..0);
                (error.message().to_owned(), span)
            }),
            Format::Json => serde_json::from_str(text).map_err(|error| {
                let at = offset_of(text, error.line(), error.column());
                (without_position(&error.to_string()), at..at)
            }),
        };
        let mut scene: Self = read.map_err(|(message, span)| misread(&source, &message, span))?;
        if scene.name.is_empty() {
            let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
            scene.name = stem.unwrap_or("scene").to_owned();
        }
        scene.source = Some(Arc::new(source));
        Ok(scene)
    }
}

fn too_large(file: &str, bytes: u64) -> SceneError {
    SceneError::unreadable(
        file,
        format!("{bytes} bytes are too many: a scene file has at most {MAX_FILE_BYTES} (64 MiB)"),
        "check that it is a scene file, or split it",
    )
}

/// The file's text. The size is checked before anything is read, and again while reading,
/// because what a name stands for can change or have no size.
pub(crate) fn read_text(path: &Path, file: &str) -> Result<String, SceneError> {
    let unreadable = |error: std::io::Error| {
        let problem = format!("the file can't be read: {error}");
        SceneError::unreadable(file, problem, "check the name and the permissions")
    };
    if path.is_dir() {
        let problem = "this is a folder, not a file";
        return Err(SceneError::unreadable(file, problem, "name a file in it"));
    }
    let opened = open_plain(path).map_err(unreadable)?;
    let metadata = opened.metadata().map_err(unreadable)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(too_large(file, metadata.len()));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large(file, bytes.len() as u64));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        SceneError::unreadable(
            file,
            format!("this is not a text file: byte {at} is not UTF-8"),
            "save the scene as UTF-8 text",
        )
    })
}

/// The byte at a line and column as serde_json counts them: both from 1, columns in bytes.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    (before + column.saturating_sub(1)).min(text.len().saturating_sub(1))
}

/// serde_json's message without its own "at line 3 column 4".
fn without_position(message: &str) -> String {
    match message.rfind(" at line ") {
        Some(at) => message.get(..at).unwrap_or(message).to_owned(),
        None => message.to_owned(),
    }
}

/// The error for what serde or a parser says.
fn misread(source: &Source, message: &str, span: Range<usize>) -> SceneError {
    // A file that is no TOML or JSON at all has no fields to name.
    let path = source
        .tree()
        .map_or_else(FieldPath::default, |tree| tree.path_at(span.start));
    let mut flaw = reworded(message);
    flaw.path = path;
    let mut place = source.place(&flaw.path);
    place.span = source.clip(span);
    flaw.placed(place)
}

/// serde's message in the words of a scene file, with a remedy where there is one.
fn reworded(message: &str) -> Flaw {
    let message = message.trim().replace('\n', "; ");
    if let Some(flaw) = unknown_name(&message) {
        return flaw;
    }
    let worded = [
        ("missing field", "missing key"),
        ("duplicate field", "duplicate key"),
        ("expected f64", "expected a number"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u8", "expected a small whole number"),
        ("expected a sequence", "expected a list"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: table"),
        ("expected enum", "expected one of the choices of"),
        ("expected struct", "expected a table:"),
    ]
    .into_iter()
    .fold(message, |text, (from, to)| text.replace(from, to));
    Flaw::new(FieldPath::default(), worded)
}

/// The flaw of a key or word that does not exist, with the nearest that does.
fn unknown_name(message: &str) -> Option<Flaw> {
    let (what, names): (_, Vec<&str>) =
        if let Some(lists) = message.strip_prefix("unexpected keys in table: ") {
            // The TOML reader's own words for a table that stands for a choice.
            let (wrong, known) = lists.split_once(", available keys: ")?;
            let wrong = wrong.split(", ").next()?;
            (
                "key",
                std::iter::once(wrong).chain(known.split(", ")).collect(),
            )
        } else {
            let is_key = message.starts_with("unknown field");
            message.strip_prefix("unknown ")?;
            let between_backticks = message.split('`').skip(1).step_by(2);
            (
                if is_key { "key" } else { "word" },
                between_backticks.collect(),
            )
        };
    let (wrong, known) = names.split_first()?;
    let flaw = Flaw::new(FieldPath::default(), format!("unknown {what} `{wrong}`"));
    let list: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let list = list.join(", ");
    Some(match nearest(wrong, known.iter().copied()) {
        Some(near) => flaw.help(format!("did you mean `{near}`? It can be {list}")),
        None => flaw.help(format!("it can be {list}")),
    })
}

/// The known name that is most like `wrong`, if one is near.
pub(crate) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wrong: Vec<char> = wrong.to_lowercase().chars().take(64).collect();
    known
        .map(|name| (edits(&wrong, &name.chars().collect::<Vec<_>>()), name))
        .filter(|(edits, name)| *edits <= (name.chars().count().max(wrong.len()) / 3).max(1))
        .min()
        .map(|(_, name)| name)
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let at = |row: Option<&Vec<usize>>, k: usize| {
                row.and_then(|row| row.get(k))
                    .copied()
                    .unwrap_or(usize::MAX / 2)
            };
            let above = rows.get(i);
            let mut least = (at(above, j + 1) + 1)
                .min(at(Some(&row), j) + 1)
                .min(at(above, j) + usize::from(from != to));
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from);
            if swapped {
                least = least.min(at(rows.get(i - 1), j - 1) + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["radius", "size", "restitution"];
        let near = |wrong: &str| nearest(wrong, known.into_iter());
        assert_eq!(near("raduis"), Some("radius"));
        assert_eq!(near("Radius"), Some("radius"));
        assert_eq!(near("sise"), Some("size"));
        assert_eq!(near("colour"), None);
        assert_eq!(near(""), None);
    }
}
