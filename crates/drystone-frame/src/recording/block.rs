//! Blocks: what a recording is made of, each with its length and a checksum.

use std::io::{self, Read};

/// Bytes before the payload.
pub(super) const HEAD_BYTES: usize = 32;

/// What every block begins with.
const MAGIC: [u8; 4] = *b"DRYB";

/// Bytes that one byte of LZ4 can stand for at most; a length beyond is a lie.
const MOST_EXPANSION: u64 = 255;

/// Payloads shorter than this are not worth compressing.
const LEAST_COMPRESSED: usize = 64;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// The run: scene, settings, seeds, lengths.
    Header,
    /// The objects.
    Stage,
    /// One frame.
    Frame,
    /// The state of the simulation at the frame before.
    State,
    /// Where the groups begin.
    Index,
    /// Where the index begins; the last block of a finished file.
    Tail,
}

impl BlockKind {
    const ALL: [Self; 6] = [
        Self::Header,
        Self::Stage,
        Self::Frame,
        Self::State,
        Self::Index,
        Self::Tail,
    ];

    /// Its four letters in the file.
    #[must_use]
    pub fn code(self) -> [u8; 4] {
        *match self {
            Self::Header => b"HEAD",
            Self::Stage => b"STAG",
            Self::Frame => b"FRAM",
            Self::State => b"STAT",
            Self::Index => b"INDX",
            Self::Tail => b"TAIL",
        }
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Stage => "stage",
            Self::Frame => "frame",
            Self::State => "state",
            Self::Index => "index",
            Self::Tail => "tail",
        }
    }

    fn of(code: [u8; 4]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// A whole block, its payload as it was before compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// What it holds; `None` for a kind of a later version, to be passed over.
    pub(super) kind: Option<BlockKind>,
    pub(super) payload: Vec<u8>,
    /// Bytes in the file, head included.
    pub(super) bytes: u64,
}

/// The bytes of a block.
pub(super) fn encode(kind: BlockKind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEAD_BYTES];
    let mut codec = 0_u32;
    if payload.len() >= LEAST_COMPRESSED && kind != BlockKind::Header {
        bytes.resize(
            HEAD_BYTES + lz4_flex::block::get_maximum_output_size(payload.len()),
            0,
        );
        // The room is what the worst case needs, so this does not fail; if it did, the payload
        // would be stored as it is.
        if let Ok(length) = lz4_flex::block::compress_into(payload, &mut bytes[HEAD_BYTES..])
            && length < payload.len()
        {
            bytes.truncate(HEAD_BYTES + length);
            codec = 1;
        }
    }
    if codec == 0 {
        bytes.truncate(HEAD_BYTES);
        bytes.extend_from_slice(payload);
    }
    let stored = (bytes.len() - HEAD_BYTES) as u64;
    bytes[0..4].copy_from_slice(&MAGIC);
    bytes[4..8].copy_from_slice(&kind.code());
    bytes[8..12].copy_from_slice(&codec.to_le_bytes());
    bytes[16..24].copy_from_slice(&stored.to_le_bytes());
    bytes[24..32].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    let sum = checksum(&bytes[..HEAD_BYTES], &bytes[HEAD_BYTES..]);
    bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// CRC-32 of a head without its checksum, and of what is stored.
fn checksum(head: &[u8], stored: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&head[..12]);
    sum.update(&head[16..HEAD_BYTES]);
    sum.update(stored);
    sum.finalize()
}

/// Why there is no block.
#[derive(Debug)]
pub(super) enum BadBlock {
    /// What is wrong, and of which kind the block seems to be.
    Damaged(Option<BlockKind>, String),
    /// The file can't be read.
    Io(io::Error),
}

impl From<io::Error> for BadBlock {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The next block; `None` at the end of the file.
///
/// What is allocated is at most a small multiple of the bytes that are there, whatever the head
/// says.
pub(super) fn read(source: &mut impl Read) -> Result<Option<Block>, BadBlock> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    source
        .by_ref()
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    if head.len() < HEAD_BYTES {
        let what = format!("the file ends after {} bytes of its head", head.len());
        return Err(BadBlock::Damaged(None, what));
    }
    if head[..4] != MAGIC {
        let what = "it does not begin like a block".to_owned();
        return Err(BadBlock::Damaged(None, what));
    }
    let kind = BlockKind::of(word4(&head, 4));
    let damaged = |what: String| BadBlock::Damaged(kind, what);
    let codec = u32::from_le_bytes(word4(&head, 8));
    let sum = u32::from_le_bytes(word4(&head, 12));
    let (stored_length, length) = (word8(&head, 16), word8(&head, 24));
    let mut stored = Vec::new();
    source
        .by_ref()
        .take(stored_length)
        .read_to_end(&mut stored)?;
    if (stored.len() as u64) < stored_length {
        let there = stored.len();
        return Err(damaged(format!(
            "the file ends after {there} of its {stored_length} bytes"
        )));
    }
    if checksum(&head, &stored) != sum {
        return Err(damaged("its checksum is wrong".to_owned()));
    }
    let bytes = HEAD_BYTES as u64 + stored_length;
    let payload = match codec {
        0 if length == stored_length => stored,
        1 if length <= MOST_EXPANSION.saturating_mul(stored_length) => {
            expand(&stored, length).map_err(damaged)?
        }
        0 | 1 => return Err(damaged("its lengths contradict each other".to_owned())),
        _ => {
            let what = format!("its compression {codec} is not known to this version");
            return Err(damaged(what));
        }
    };
    Ok(Some(Block {
        kind,
        payload,
        bytes,
    }))
}

fn expand(stored: &[u8], length: u64) -> Result<Vec<u8>, String> {
    let mut payload = vec![0; length as usize];
    match lz4_flex::block::decompress_into(stored, &mut payload) {
        Ok(written) if written as u64 == length => Ok(payload),
        Ok(written) => Err(format!("it holds {written} bytes, not {length}")),
        Err(error) => Err(format!("it can't be decompressed: {error}")),
    }
}

fn word4(bytes: &[u8], at: usize) -> [u8; 4] {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    word
}

fn word8(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_back_compressed_or_not() {
        for payload in [vec![], b"short".to_vec(), vec![7; 10_000]] {
            let bytes = encode(BlockKind::State, &payload);
            let block = read(&mut bytes.as_slice()).unwrap().unwrap();
            assert_eq!(
                (&block.payload, block.kind),
                (&payload, Some(BlockKind::State))
            );
            assert_eq!(block.bytes, bytes.len() as u64);
        }
        assert!(encode(BlockKind::State, &[7; 10_000]).len() < 200);
    }

    #[test]
    fn no_flipped_bit_and_no_cut_passes() {
        let bytes = encode(BlockKind::Frame, &(0..100).collect::<Vec<u8>>());
        for at in 0..bytes.len() {
            assert!(at == 0 || read(&mut &bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert!(read(&mut flipped.as_slice()).is_err(), "bit {bit} of {at}");
            }
        }
    }

    #[test]
    fn a_lying_length_asks_for_no_memory() {
        // Sound checksum, but lengths that no machine has.
        let mut bytes = encode(BlockKind::Frame, &[1; 1000]);
        bytes[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        let sum = checksum(&bytes[..HEAD_BYTES], &bytes[HEAD_BYTES..]);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        assert!(matches!(
            read(&mut bytes.as_slice()),
            Err(BadBlock::Damaged(Some(BlockKind::Frame), _))
        ));
        bytes[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(read(&mut bytes.as_slice()).is_err());
    }
}
