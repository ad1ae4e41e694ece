//! Packages (`.usdz`): zip files whose entries are not compressed, the first of which is the stage.

use std::collections::BTreeMap;
use std::ops::Range;

/// The files of a package: where each is among its bytes.
pub(super) struct Package {
    bytes: Vec<u8>,
    entries: BTreeMap<String, Range<usize>>,
    /// Name of the first entry.
    pub(super) first: String,
}

/// What zip files begin with.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";
/// Begins the entry of a file in the list at the end, and the end itself.
const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
/// Bytes of these, and of the head before each file, without names.
const ENTRY_LENGTH: usize = 46;
const END_LENGTH: usize = 22;
const HEAD_LENGTH: usize = 30;
/// A comment at the end has at most so many bytes.
const MAX_COMMENT: usize = 0xffff;

impl Package {
    /// Takes a package apart; an error says what is wrong with it.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let from = bytes.len().saturating_sub(END_LENGTH + MAX_COMMENT);
        let tail = bytes.get(from..).unwrap_or_default();
        let end = tail.windows(END.len()).rposition(|four| four == END);
        let end = from + end.ok_or("it has no list of files at its end")?;
        let count = number(&bytes, end + 10, 2).unwrap_or(0);
        let mut at = number(&bytes, end + 16, 4).unwrap_or(0);
        let mut entries = BTreeMap::new();
        let mut first = None;
        for k in 0..count {
            let odd = || format!("entry {k} of its list of files is odd");
            let (name, range, next) = entry(&bytes, at)?.ok_or_else(odd)?;
            first.get_or_insert_with(|| name.clone());
            entries.insert(name, range);
            at = next;
        }
        let first = first.ok_or("there is no file in it")?;
        Ok(Self {
            bytes,
            entries,
            first,
        })
    }

    /// The bytes of a file of the package.
    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        let mut parts: Vec<&str> = Vec::new();
        for part in name.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        let range = self.entries.get(&parts.join("/"))?;
        self.bytes.get(range.clone())
    }
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let own = bytes.get(at..at.checked_add(length)?)?;
    Some(
        own.iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | usize::from(byte)),
    )
}

/// Name and place of a file by its entry at a place of the list, and the place of the next entry;
/// `Ok(None)` if something is not where it should be.
#[allow(clippy::type_complexity)] // Three things that only the caller needs.
fn entry(bytes: &[u8], at: usize) -> Result<Option<(String, Range<usize>, usize)>, String> {
    let read = || {
        bytes.get(at..)?.starts_with(ENTRY).then_some(())?;
        let field = |offset: usize, length: usize| number(bytes, at + offset, length);
        let (name_length, extra, comment) = (field(28, 2)?, field(30, 2)?, field(32, 2)?);
        let name_at = at + ENTRY_LENGTH;
        let name = std::str::from_utf8(bytes.get(name_at..name_at + name_length)?).ok()?;
        let (size, head) = (field(24, 4)?, field(42, 4)?);
        let is_plain = field(10, 2)? == 0 && field(8, 2)? & 1 == 0 && field(20, 4)? == size;
        let start =
            head + HEAD_LENGTH + number(bytes, head + 26, 2)? + number(bytes, head + 28, 2)?;
        let range = start..start + size;
        let _ = bytes.get(range.clone())?;
        let next = name_at + name_length + extra + comment;
        Some((name.to_owned(), range, next, is_plain))
    };
    match read() {
        Some((name, _, _, false)) => {
            let name = crate::import::files::shortened(&name);
            Err(format!(
                "`{name}` is compressed or encrypted, which a package may not be"
            ))
        }
        Some((name, range, next, true)) => Ok(Some((name, range, next))),
        None => Ok(None),
    }
}
