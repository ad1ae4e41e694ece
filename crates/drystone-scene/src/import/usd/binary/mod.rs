//! USD as binary (`.usdc`, "crate" files).
//!
//! A table of contents at the end names six sections: tokens; strings, which are tokens too;
//! fields, each a token and a value; sets of fields; paths, as a tree; and specs, each a path, a set
//! of fields and a kind. Counts are checked against the bytes that are there before anything is
//! made of them, and what many specs can share is read from a budget.

mod cursor;
mod spec;
mod value;

use crate::error::SceneError;
use crate::import::usd::layer::{Layer, MAX_DEPTH, MAX_NAME};
use cursor::Cursor;
use value::Rep;

/// What such files begin with.
pub(super) const MAGIC: &[u8] = b"PXR-USDC";
/// Versions that are read: packed sections came with 0.4.
const OLDEST: [u8; 3] = [0, 4, 0];
const NEWEST: [u8; 3] = [0, 99, 0];
/// Numbers that may be read beyond one for each byte of the file: equal lists are written once.
const SHARED_NUMBERS: usize = 16_000_000;

/// A path as a step from another.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Index of the path before it; itself for the root.
    parent: u32,
    token: u32,
    is_property: bool,
    depth: usize,
}

/// A spec: indices of its path and its first field in the sets.
#[derive(Clone, Copy, Debug)]
struct Spec {
    path: u32,
    fields: u32,
    kind: i32,
}

/// A file taken apart.
struct Binary<'b> {
    bytes: &'b [u8],
    version: [u8; 3],
    tokens: Vec<String>,
    strings: Vec<u32>,
    fields: Vec<(u32, Rep)>,
    /// Indices of fields; −1 ends a set.
    sets: Vec<i32>,
    paths: Vec<Option<Step>>,
    specs: Vec<Spec>,
    /// Numbers that may still be read.
    budget: usize,
}

/// Reads one section; `None` if it is odd.
type Section<'b> = fn(&mut Binary<'b>, Cursor<'_>) -> Option<()>;

/// Reads a file.
pub(super) fn read(bytes: &[u8], file: &str) -> Result<Layer, SceneError> {
    let wrong = |problem: &str| {
        let problem = format!("the binary stage can't be read: {problem}");
        SceneError::unreadable(file, problem, "export it again, or save it as .usda")
    };
    let version: Option<[u8; 3]> = bytes.get(8..11).and_then(|three| three.try_into().ok());
    let version = version.ok_or_else(|| wrong("it ends within its first bytes"))?;
    if version < OLDEST || version > NEWEST {
        let [major, minor, patch] = version;
        return Err(wrong(&format!(
            "its version is {major}.{minor}.{patch}, not 0.4 to 0.99"
        )));
    }
    let mut binary = Binary {
        bytes,
        version,
        tokens: Vec::new(),
        strings: Vec::new(),
        fields: Vec::new(),
        sets: Vec::new(),
        paths: Vec::new(),
        specs: Vec::new(),
        budget: SHARED_NUMBERS.saturating_add(bytes.len()),
    };
    let sections: [(&str, Section<'_>); 6] = [
        ("TOKENS", Binary::read_tokens),
        ("STRINGS", Binary::read_strings),
        ("FIELDS", Binary::read_fields),
        ("FIELDSETS", Binary::read_sets),
        ("PATHS", Binary::read_paths),
        ("SPECS", Binary::read_specs),
    ];
    for (name, section) in sections {
        let place = section_place(bytes, name);
        let place = place.ok_or_else(|| wrong(&format!("its section {name} is not there")))?;
        section(&mut binary, place)
            .ok_or_else(|| wrong(&format!("its section {name} ends too early or is odd")))?;
    }
    binary.layer().map_err(|problem| wrong(&problem))
}

/// Where a section begins, by the table of contents.
fn section_place<'b>(bytes: &'b [u8], name: &str) -> Option<Cursor<'b>> {
    let table = Cursor::new(bytes, 16)?.u64()?;
    let mut cursor = Cursor::new(bytes, table)?;
    let count = cursor.count(32)?;
    for _ in 0..count {
        let own = cursor.take(16)?;
        let (start, size) = (cursor.u64()?, cursor.u64()?);
        let own = own.split(|byte| *byte == 0).next().unwrap_or_default();
        if own == name.as_bytes() {
            let end = usize::try_from(start.checked_add(size)?).ok()?;
            return Cursor::new(bytes.get(..end)?, start);
        }
    }
    None
}

impl Binary<'_> {
    fn token(&self, index: u32) -> Option<&str> {
        self.tokens.get(index as usize).map(String::as_str)
    }

    fn string(&self, index: u32) -> Option<&str> {
        self.token(*self.strings.get(index as usize)?)
    }

    /// A count that a packed section says, if it is one of things of which so many take a byte of
    /// the file somewhere. Names hardly pack; sets of fields, which repeat, do.
    fn plausible(&self, count: u64, of_a_byte: usize) -> Option<usize> {
        let count = usize::try_from(count).ok()?;
        (count / of_a_byte <= self.bytes.len()).then_some(count)
    }

    fn read_tokens(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        let count = self.plausible(cursor.u64()?, 1)?;
        let unpacked = usize::try_from(cursor.u64()?).ok()?;
        let block = cursor.block(unpacked)?;
        let text = std::str::from_utf8(&block).ok()?;
        self.tokens = text.split('\0').take(count).map(str::to_owned).collect();
        (self.tokens.len() == count).then_some(())
    }

    fn read_strings(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        let count = cursor.count(4)?;
        for _ in 0..count {
            self.strings.push(cursor.u32()?);
        }
        Some(())
    }

    fn read_fields(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        let count = self.plausible(cursor.u64()?, 8)?;
        let tokens = cursor.integers(count)?;
        let values = cursor.block(count.checked_mul(8)?)?;
        let values = values.chunks_exact(8);
        for (token, value) in tokens.into_iter().zip(values) {
            let rep = Rep(u64::from_le_bytes(value.try_into().ok()?));
            self.fields.push((token.cast_unsigned(), rep));
        }
        (self.fields.len() == count).then_some(())
    }

    fn read_sets(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        let count = self.plausible(cursor.u64()?, 8)?;
        self.sets = cursor.integers(count)?;
        Some(())
    }

    fn read_specs(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        let count = self.plausible(cursor.u64()?, 1)?;
        let paths = cursor.integers(count)?;
        let fields = cursor.integers(count)?;
        let kinds = cursor.integers(count)?;
        let specs = paths.into_iter().zip(fields).zip(kinds);
        let spec = |((path, fields), kind): ((i32, i32), i32)| Spec {
            path: path.cast_unsigned(),
            fields: fields.cast_unsigned(),
            kind,
        };
        self.specs = specs.map(spec).collect();
        Some(())
    }

    /// The tree of paths, each followed by its first child, or else by its next sibling; `jumps`
    /// say where the sibling is of one that has both.
    fn read_paths(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        let count = self.plausible(cursor.u64()?, 1)?;
        let encoded = self.plausible(cursor.u64()?, 1)?;
        let indices = cursor.integers(encoded)?;
        let tokens = cursor.integers(encoded)?;
        let jumps = cursor.integers(encoded)?;
        self.paths = vec![None; count];
        // Places to go on from, each with the path before it. Every place is passed once.
        let mut waiting: Vec<(usize, Option<u32>)> = vec![(0, None)];
        let mut passed = vec![false; encoded];
        while let Some((mut at, mut parent)) = waiting.pop() {
            while let Some(was) = passed.get_mut(at) {
                if std::mem::replace(was, true) {
                    return None;
                }
                let own = indices.get(at)?.cast_unsigned();
                let depth = match parent {
                    Some(parent) => self.paths.get(parent as usize).copied()??.depth + 1,
                    None => 0,
                };
                // Of each prim's depth, a property and variants are on top.
                if depth > 2 * MAX_DEPTH {
                    return None;
                }
                let token = *tokens.get(at)?;
                // One that is named twice could come to be before itself.
                let slot = self.paths.get_mut(own as usize)?;
                if slot.is_some() {
                    return None;
                }
                *slot = Some(Step {
                    parent: parent.unwrap_or(own),
                    token: token.unsigned_abs(),
                    is_property: token < 0,
                    depth,
                });
                let jump = *jumps.get(at)?;
                let (has_child, has_sibling) = (jump > 0 || jump == -1, jump >= 0);
                if has_child && has_sibling {
                    let sibling = at.checked_add(usize::try_from(jump).ok()?)?;
                    waiting.push((sibling, parent));
                }
                if has_child {
                    parent = Some(own);
                }
                if !has_child && !has_sibling {
                    break;
                }
                at += 1;
            }
        }
        Some(())
    }

    fn step(&self, path: u32) -> Option<Step> {
        self.paths.get(path as usize).copied().flatten()
    }

    /// A path as text.
    fn path(&self, path: u32) -> Option<String> {
        let mut parts = Vec::new();
        let mut at = path;
        let mut step = self.step(at)?;
        while step.depth > 0 {
            let name = self.token(step.token)?;
            if name.len() > MAX_NAME {
                return None;
            }
            parts.push(match (step.is_property, name.starts_with('{')) {
                (true, _) => format!(".{name}"),
                // The path of a variant is that of its prim here.
                (false, true) => String::new(),
                (false, false) => format!("/{name}"),
            });
            at = step.parent;
            step = self.step(at)?;
        }
        parts.reverse();
        Some(match parts.is_empty() {
            true => "/".to_owned(),
            false => parts.concat(),
        })
    }
}
