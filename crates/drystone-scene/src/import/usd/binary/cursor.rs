//! Bytes of a file, read one after the other, and what is packed in them.
//!
//! Blocks are LZ4, in chunks if they are large. Lists of whole numbers are differences from one to
//! the next, each of no, 1, 2 or 4 bytes (of no, 2, 4 or 8 where numbers have 8), packed again.

use lz4_flex::block::decompress;

/// A place in a file. Every read is `None` beyond its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8], at: u64) -> Option<Self> {
        let at = usize::try_from(at).ok().filter(|at| *at <= bytes.len())?;
        Some(Self { bytes, at })
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of things that have so many bytes each and follow: no more than there are.
    pub(super) fn count(&mut self, bytes_each: usize) -> Option<usize> {
        let count = usize::try_from(self.u64()?).ok()?;
        let left = self.bytes.len().checked_sub(self.at)?;
        (count <= left / bytes_each.max(1)).then_some(count)
    }

    /// A place that is given relative to itself.
    pub(super) fn jump(&mut self) -> Option<()> {
        let from = i64::try_from(self.at).ok()?;
        let offset = i64::from_le_bytes(self.array()?);
        let to = usize::try_from(from.checked_add(offset)?).ok()?;
        self.at = (to <= self.bytes.len()).then_some(to)?;
        Some(())
    }

    /// A packed block whose length in the file is written before it, of at most `most` bytes.
    pub(super) fn block(&mut self, most: usize) -> Option<Vec<u8>> {
        let length = self.count(1)?;
        unpack(self.take(length)?, most)
    }

    /// So many packed whole numbers of 4 bytes.
    pub(super) fn integers(&mut self, count: usize) -> Option<Vec<i32>> {
        let most = count.checked_mul(5)?.checked_add(16)?;
        let packed = self.block(most)?;
        let numbers = differences(&packed, count, [1, 2, 4])?;
        Some(numbers.into_iter().map(|number| number as i32).collect())
    }

    /// So many packed whole numbers of 8 bytes.
    pub(super) fn long_integers(&mut self, count: usize) -> Option<Vec<i64>> {
        let most = count.checked_mul(9)?.checked_add(16)?;
        let packed = self.block(most)?;
        differences(&packed, count, [2, 4, 8])
    }
}

/// A packed block. LZ4 makes at most 255 bytes of one, so what is asked for and what is allocated
/// is never more than that.
fn unpack(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let (&chunks, mut rest) = packed.split_first()?;
    if chunks == 0 {
        return decompress(rest, most.min(rest.len().saturating_mul(255))).ok();
    }
    let mut whole = Vec::new();
    for _ in 0..chunks {
        let (length, after) = rest.split_at_checked(4)?;
        let length = usize::try_from(i32::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (chunk, after) = after.split_at_checked(length)?;
        let left = most.checked_sub(whole.len())?;
        whole.extend(decompress(chunk, left.min(chunk.len().saturating_mul(255))).ok()?);
        rest = after;
    }
    Some(whole)
}

/// Numbers of their differences: the commonest difference, two bits for each number that say how
/// long its own is, and these.
fn differences(bytes: &[u8], count: usize, lengths: [usize; 3]) -> Option<Vec<i64>> {
    let [_, _, widest] = lengths;
    let codes_length = count.div_ceil(4);
    let common = signed(bytes.get(..widest)?);
    let codes = bytes.get(widest..widest.checked_add(codes_length)?)?;
    let mut rest = bytes.get(widest + codes_length..)?;
    let mut numbers = Vec::with_capacity(count);
    let mut number = 0_i64;
    for k in 0..count {
        let code = codes.get(k / 4)? >> (2 * (k % 4)) & 3;
        let difference = match code {
            0 => common,
            code => {
                let length = *lengths.get(usize::from(code) - 1)?;
                let (own, after) = rest.split_at_checked(length)?;
                rest = after;
                signed(own)
            }
        };
        number = number.wrapping_add(difference);
        numbers.push(number);
    }
    Some(numbers)
}

/// A signed number of 1, 2, 4 or 8 bytes, the lowest first.
fn signed(bytes: &[u8]) -> i64 {
    let unsigned = bytes
        .iter()
        .rev()
        .fold(0_i64, |sum, &byte| sum << 8 | i64::from(byte));
    let shift = 64 - 8 * bytes.len().min(8) as u32;
    unsigned << shift >> shift
}
