//! Values of a binary file.
//!
//! A value is 8 bytes: two bits that say whether it is a list and whether it is in these bytes
//! itself, one whether it is packed, a byte for its type, and 6 for the value or its place.

use super::Binary;
use super::cursor::Cursor;
use crate::import::usd::layer::{ListEdit, Reference, Value};

/// Lists shorter than this are not packed.
const SHORTEST_PACKED: usize = 16;

/// A value by its 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rep(pub(super) u64);

impl Rep {
    fn is_list(self) -> bool {
        self.0 >> 63 == 1
    }

    fn is_inlined(self) -> bool {
        self.0 >> 62 & 1 == 1
    }

    fn is_packed(self) -> bool {
        self.0 >> 61 & 1 == 1
    }

    fn kind(self) -> u8 {
        (self.0 >> 48 & 0xff) as u8
    }

    fn payload(self) -> u64 {
        self.0 & 0xffff_ffff_ffff
    }

    /// The lower half of the payload, which is what single values have.
    fn low(self) -> u32 {
        self.0 as u32
    }
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Byte,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Half,
    Float,
    Double,
}

impl Number {
    fn size(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Int | Self::Unsigned | Self::Float => 4,
            Self::Long | Self::UnsignedLong | Self::Double => 8,
        }
    }

    fn read(self, bytes: &[u8]) -> Option<f64> {
        Some(match self {
            Self::Byte => f64::from(*bytes.first()?),
            Self::Int => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
            Self::Unsigned => f64::from(u32::from_le_bytes(bytes.try_into().ok()?)),
            Self::Long => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
            Self::UnsignedLong => u64::from_le_bytes(bytes.try_into().ok()?) as f64,
            Self::Half => half(u16::from_le_bytes(bytes.try_into().ok()?)),
            Self::Float => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
            Self::Double => f64::from_le_bytes(bytes.try_into().ok()?),
        })
    }
}

/// How numbers of a type are written, and how many make one value.
fn numeric(kind: u8) -> Option<(Number, usize)> {
    Some(match kind {
        1 | 2 => (Number::Byte, 1),
        3 => (Number::Int, 1),
        4 => (Number::Unsigned, 1),
        5 => (Number::Long, 1),
        6 => (Number::UnsignedLong, 1),
        7 => (Number::Half, 1),
        8 => (Number::Float, 1),
        9 | 56 => (Number::Double, 1),
        13 => (Number::Double, 4),
        14 => (Number::Double, 9),
        15 => (Number::Double, 16),
        16 => (Number::Double, 4),
        17 => (Number::Float, 4),
        18 => (Number::Half, 4),
        19..=30 => {
            let width = 2 + usize::from(kind - 19) / 4;
            let number = match (kind - 19) % 4 {
                0 => Number::Double,
                1 => Number::Float,
                2 => Number::Half,
                _ => Number::Int,
            };
            (number, width)
        }
        _ => return None,
    })
}

/// A number of 16 bits: 1 of sign, 5 of exponent, 10 of mantissa.
fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => libm::ldexp(mantissa, -24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => libm::ldexp(1024.0 + mantissa, exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

impl<'b> Binary<'b> {
    /// A value; `None` for one that is not where it says it is.
    pub(super) fn value(&mut self, rep: Rep) -> Option<Value> {
        if let Some((number, width)) = numeric(rep.kind()) {
            return self.numbers(rep, (number, width)).map(Value::Numbers);
        }
        Some(match rep.kind() {
            10..=12 if rep.is_list() => Value::Texts(self.texts(rep)?),
            10 if rep.is_inlined() => Value::Texts(vec![self.string(rep.low())?.to_owned()]),
            11 | 12 if rep.is_inlined() => Value::Texts(vec![self.token(rep.low())?.to_owned()]),
            41 | 50 => Value::Texts(self.texts(rep)?),
            51 => Value::Nothing,
            _ => Value::Other,
        })
    }

    /// Takes so many numbers from what may still be read: places may be named again and again.
    fn spend(&mut self, count: usize) -> Option<usize> {
        self.budget = self.budget.checked_sub(count)?;
        Some(count)
    }

    fn numbers(&mut self, rep: Rep, (number, width): (Number, usize)) -> Option<Vec<f64>> {
        if rep.is_list() {
            return self.list(rep, (number, width));
        }
        self.spend(width)?;
        if !rep.is_inlined() {
            let mut cursor = Cursor::new(self.bytes, rep.payload())?;
            let bytes = cursor.take(width * number.size())?;
            let read = |bytes| number.read(bytes);
            let mut numbers: Option<Vec<f64>> =
                bytes.chunks_exact(number.size()).map(read).collect();
            if let (16..=18, Some([x, y, z, w])) = (rep.kind(), numbers.as_deref()) {
                // In memory the real part is the last; text has it first.
                numbers = Some(vec![*w, *x, *y, *z]);
            }
            return numbers;
        }
        let low = rep.low().to_le_bytes();
        let small = |k: usize| low.get(k).map_or(0.0, |byte| f64::from(byte.cast_signed()));
        Some(match (number, width) {
            (Number::Double, 1) => vec![f64::from(f32::from_le_bytes(low))],
            (Number::Long, 1) => vec![f64::from(i32::from_le_bytes(low))],
            (Number::UnsignedLong, 1) => vec![f64::from(u32::from_le_bytes(low))],
            (number, 1) => vec![number.read(low.get(..number.size())?)?],
            // Matrices have their diagonal, vectors all of their numbers, as bytes.
            (_, 4 | 9 | 16) if matches!(rep.kind(), 13..=15) => {
                let side = match width {
                    4 => 2,
                    9 => 3,
                    _ => 4,
                };
                let entry = |k: usize| match k.is_multiple_of(side + 1) {
                    true => small(k / (side + 1)),
                    false => 0.0,
                };
                (0..width).map(entry).collect()
            }
            (_, width) => (0..width).map(small).collect(),
        })
    }

    /// The count of a list; older files have 4 bytes for it.
    fn list_count(&self, cursor: &mut Cursor<'_>) -> Option<usize> {
        if self.version < [0, 5, 0] {
            let _ = cursor.u32()?;
        }
        match self.version < [0, 7, 0] {
            true => usize::try_from(cursor.u32()?).ok(),
            false => usize::try_from(cursor.u64()?).ok(),
        }
    }

    fn list(&mut self, rep: Rep, (number, width): (Number, usize)) -> Option<Vec<f64>> {
        if rep.payload() == 0 {
            return Some(Vec::new());
        }
        let mut cursor = Cursor::new(self.bytes, rep.payload())?;
        let count = self.list_count(&mut cursor)?.checked_mul(width)?;
        self.spend(count)?;
        if rep.is_packed() && count >= SHORTEST_PACKED {
            return packed(&mut cursor, count, number);
        }
        let bytes = cursor.take(count.checked_mul(number.size())?)?;
        let read = |bytes| number.read(bytes);
        let mut numbers: Vec<f64> = bytes
            .chunks_exact(number.size())
            .map(read)
            .collect::<Option<_>>()?;
        if matches!(rep.kind(), 16..=18) {
            numbers
                .chunks_exact_mut(4)
                .for_each(|four| four.rotate_right(1));
        }
        Some(numbers)
    }

    /// Strings, tokens or assets: a list of indices.
    fn texts(&mut self, rep: Rep) -> Option<Vec<String>> {
        if rep.payload() == 0 && rep.is_list() {
            return Some(Vec::new());
        }
        let mut cursor = Cursor::new(self.bytes, rep.payload())?;
        let count = match rep.is_list() {
            true => self.list_count(&mut cursor)?,
            false => cursor.count(4)?,
        };
        let indices = cursor.take(count.checked_mul(4)?)?;
        let is_token = matches!(rep.kind(), 11 | 41);
        let mut texts = Vec::new();
        for index in indices.chunks_exact(4) {
            let index = u32::from_le_bytes(index.try_into().ok()?);
            let text = match is_token {
                true => self.token(index)?,
                false => self.string(index)?,
            };
            let text = text.to_owned();
            self.spend(4 + text.len() / 8)?;
            texts.push(text);
        }
        Some(texts)
    }

    /// Times and values; only the first one that has a value unless `all` are wanted.
    pub(super) fn samples(&mut self, rep: Rep, all: bool) -> Option<Vec<(f64, Value)>> {
        let mut cursor = Cursor::new(self.bytes, rep.payload())?;
        cursor.jump()?;
        let times = Rep(cursor.u64()?);
        let mut at_times = Cursor::new(self.bytes, times.payload())?;
        let count = at_times.count(8)?;
        self.spend(count)?;
        let times = at_times.take(count.checked_mul(8)?)?;
        cursor.jump()?;
        let values = cursor.count(8)?;
        let values = cursor.take(values.checked_mul(8)?)?;
        let mut samples = Vec::new();
        for (time, value) in times.chunks_exact(8).zip(values.chunks_exact(8)) {
            let time = f64::from_le_bytes(time.try_into().ok()?);
            let value = self.value(Rep(u64::from_le_bytes(value.try_into().ok()?)))?;
            if value != Value::Nothing && time.is_finite() {
                samples.push((time, value));
                if !all {
                    break;
                }
            }
        }
        samples.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Some(samples)
    }

    /// An edited list, its items read by `one`.
    pub(super) fn edits<T>(
        &mut self,
        rep: Rep,
        one: impl Fn(&mut Self, &mut Cursor<'b>) -> Option<T>,
    ) -> Option<ListEdit<T>> {
        let mut cursor = Cursor::new(self.bytes, rep.payload())?;
        let has = cursor.u8()?;
        let mut edits = ListEdit::default();
        if has & 1 != 0 {
            edits.explicit = Some(Vec::new());
        }
        // In the order of the file; the last one is an order, which nothing depends on.
        for bit in [1, 2, 5, 6, 3] {
            if has >> bit & 1 == 0 {
                continue;
            }
            let count = cursor.count(4)?;
            let mut items = Vec::new();
            for _ in 0..count {
                self.spend(4)?;
                items.push(one(self, &mut cursor)?);
            }
            match bit {
                1 => edits.explicit = Some(items),
                5 => edits.prepended = items,
                3 => edits.deleted = items,
                _ => edits.appended.extend(items),
            }
        }
        Some(edits)
    }

    pub(super) fn one_token(&mut self, cursor: &mut Cursor<'b>) -> Option<String> {
        let text = self.token(cursor.u32()?)?.to_owned();
        self.spend(text.len() / 8)?;
        Some(text)
    }

    pub(super) fn one_path(&mut self, cursor: &mut Cursor<'b>) -> Option<String> {
        let path = self.path(cursor.u32()?)?;
        self.spend(path.len() / 8)?;
        Some(path)
    }

    /// A reference: file, prim, offset in time, and a dictionary, which is passed over.
    pub(super) fn one_reference(&mut self, cursor: &mut Cursor<'b>) -> Option<Reference> {
        let reference = self.one_payload_of(cursor)?;
        let _ = cursor.take(16)?;
        let entries = cursor.count(12)?;
        for _ in 0..entries {
            let _ = cursor.u32()?;
            cursor.jump()?;
            let _ = cursor.u64()?;
            self.spend(1)?;
        }
        Some(reference)
    }

    /// A payload; newer files have an offset in time with it.
    pub(super) fn one_payload(&mut self, cursor: &mut Cursor<'b>) -> Option<Reference> {
        let payload = self.one_payload_of(cursor)?;
        if self.version >= [0, 8, 0] {
            let _ = cursor.take(16)?;
        }
        Some(payload)
    }

    fn one_payload_of(&mut self, cursor: &mut Cursor<'b>) -> Option<Reference> {
        let asset = self.string(cursor.u32()?)?.to_owned();
        let prim = self.path(cursor.u32()?).unwrap_or_default();
        self.spend((asset.len() + prim.len()) / 8)?;
        Some(Reference { asset, prim })
    }

    /// A payload that stands alone.
    pub(super) fn single_payload(&mut self, rep: Rep) -> Option<Reference> {
        let mut cursor = Cursor::new(self.bytes, rep.payload())?;
        self.one_payload(&mut cursor)
    }

    /// Chosen variants.
    pub(super) fn selections(
        &mut self,
        rep: Rep,
    ) -> Option<std::collections::BTreeMap<String, String>> {
        let mut cursor = Cursor::new(self.bytes, rep.payload())?;
        let count = cursor.count(8)?;
        let mut chosen = std::collections::BTreeMap::new();
        for _ in 0..count {
            let set = self.string(cursor.u32()?)?.to_owned();
            let variant = self.string(cursor.u32()?)?.to_owned();
            self.spend(4 + (set.len() + variant.len()) / 8)?;
            chosen.insert(set, variant);
        }
        Some(chosen)
    }
}

/// A packed list: whole numbers as such; others as whole numbers, or as indices into a table.
fn packed(cursor: &mut Cursor<'_>, count: usize, number: Number) -> Option<Vec<f64>> {
    let wide = |numbers: Vec<i32>| numbers.into_iter().map(f64::from).collect();
    match number {
        Number::Int => cursor.integers(count).map(wide),
        Number::Unsigned => {
            let numbers = cursor.integers(count)?.into_iter();
            Some(numbers.map(|n| f64::from(n.cast_unsigned())).collect())
        }
        Number::Long | Number::UnsignedLong => {
            let numbers = cursor.long_integers(count)?.into_iter();
            Some(numbers.map(|n| n as f64).collect())
        }
        Number::Byte => None,
        Number::Half | Number::Float | Number::Double => match cursor.u8()? {
            b'i' => cursor.integers(count).map(wide),
            b't' => {
                let size = usize::try_from(cursor.u32()?).ok()?;
                let table = cursor.take(size.checked_mul(number.size())?)?;
                let table: Vec<f64> = table
                    .chunks_exact(number.size())
                    .map(|bytes| number.read(bytes))
                    .collect::<Option<_>>()?;
                let indices = cursor.integers(count)?.into_iter();
                let entry = |k: i32| table.get(usize::try_from(k).ok()?).copied();
                indices.map(entry).collect()
            }
            _ => None,
        },
    }
}
