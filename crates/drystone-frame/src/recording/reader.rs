//! Reading a recording from front to back.

use std::io::{self, Read};

use super::block::{self, BadBlock, Block, BlockKind};
use super::bytes::Bytes;
use super::header::Header;
use super::pack::{Past, Record, number_and_key, unpack};
use super::{OLDEST_VERSION, SIGNATURE, VERSION};
use crate::Stage;

/// Where a recording is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Number of the block, from 0.
    pub block: u64,
    /// What it should hold, where that can be told.
    pub kind: Option<BlockKind>,
    /// Where it begins, in bytes from the beginning of the file.
    pub offset: u64,
    /// Frames before it, all of them good.
    pub good_frames: u64,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.kind.map_or("unknown", BlockKind::name);
        write!(
            f,
            "block {} ({kind}) at byte {} is damaged: {}; {} frames before it are good",
            self.block, self.offset, self.what, self.good_frames
        )
    }
}

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Something else.
    #[error("this is no recording: it does not begin with the signature of one")]
    NotARecording,
    /// From a later version.
    #[error("this is a recording of version {0}; this program reads up to version {VERSION}")]
    Version(u32),
    /// Cut short or changed.
    #[error("{0}")]
    Damaged(Damage),
}

/// What comes next in a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A frame.
    Frame(Box<Record>),
    /// The state of the simulation at a frame.
    State {
        /// The frame.
        frame: u64,
        /// As the simulation wrote it.
        state: Vec<u8>,
    },
    /// The end of a finished recording.
    End,
}

/// Reads a recording.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    /// What the recording says about its run.
    pub header: Header,
    /// The objects.
    pub stage: Stage,
    /// The version of its format.
    pub version: u32,
    offset: u64,
    /// Where the block that was read last begins.
    block_start: u64,
    block: u64,
    frames: u64,
    /// Whether a state must come before the next frame.
    state_due: bool,
    past: Past,
    has_index: bool,
    has_ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads up to the first frame.
    ///
    /// # Errors
    ///
    /// If this is no recording, or is damaged before the first frame.
    pub fn open(mut source: R) -> Result<Self, ReadError> {
        let version = check_signature(&mut source)?;
        let mut reader = Self {
            source,
            header: Header::default(),
            stage: Stage::default(),
            version,
            offset: 16,
            block_start: 16,
            block: 0,
            frames: 0,
            state_due: false,
            past: Past::default(),
            has_index: false,
            has_ended: false,
        };
        let bytes = reader.expect(BlockKind::Header)?;
        reader.header = serde_json::from_slice(&bytes)
            .map_err(|error| reader.past_damage(BlockKind::Header, error.to_string()))?;
        if let Some(flaw) = reader.header.flaw() {
            return Err(reader.past_damage(BlockKind::Header, flaw.to_owned()));
        }
        let bytes = reader.expect(BlockKind::Stage)?;
        reader.stage = serde_json::from_slice(&bytes)
            .map_err(|error| reader.past_damage(BlockKind::Stage, error.to_string()))?;
        Ok(reader)
    }

    /// Where the next block begins, in bytes from the beginning of the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Blocks read so far.
    pub(super) fn blocks(&self) -> u64 {
        self.block
    }

    /// Frames read so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    pub(super) fn into_past(self) -> Past {
        self.past
    }

    /// Whether the end of a finished recording was read.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// What comes next; `None` at the end of the file, finished or not.
    ///
    /// # Errors
    ///
    /// Where the file is damaged; all that came before is good.
    pub fn content(&mut self) -> Result<Option<Content>, ReadError> {
        loop {
            if self.has_ended {
                return Ok(None);
            }
            let Some(block) = self.block()? else {
                return Ok(None);
            };
            let Some(kind) = block.kind else {
                continue;
            };
            let content = match kind {
                BlockKind::Frame => self.frame(&block.payload),
                BlockKind::State => self.state(&block.payload),
                BlockKind::Index => {
                    self.check_index(&block.payload)?;
                    self.has_index = true;
                    continue;
                }
                BlockKind::Tail => {
                    self.has_ended = true;
                    Some(Content::End)
                }
                BlockKind::Header | BlockKind::Stage => None,
            };
            return match content {
                Some(content) => Ok(Some(content)),
                None => Err(self.past_damage(kind, "it does not fit in its place".to_owned())),
            };
        }
    }

    /// All frames from here on; the last is an error where the file is damaged.
    pub fn records(&mut self) -> impl Iterator<Item = Result<Record, ReadError>> {
        let mut is_over = false;
        std::iter::from_fn(move || {
            while !is_over {
                match self.content() {
                    Ok(Some(Content::Frame(record))) => return Some(Ok(*record)),
                    Ok(Some(Content::State { .. })) => {}
                    Ok(Some(Content::End) | None) => is_over = true,
                    Err(error) => {
                        is_over = true;
                        return Some(Err(error));
                    }
                }
            }
            None
        })
    }

    fn frame(&mut self, payload: &[u8]) -> Option<Content> {
        let is_key = self.header.is_key(self.frames);
        let is_due = !self.state_due && !self.has_index;
        if !is_due || number_and_key(payload)? != (self.frames, is_key) {
            return None;
        }
        let record = unpack(payload, &mut self.past)?;
        self.frames += 1;
        self.state_due = is_key;
        Some(Content::Frame(Box::new(record)))
    }

    fn state(&mut self, payload: &[u8]) -> Option<Content> {
        let mut bytes = Bytes(payload);
        let frame = bytes.u64()?;
        if !self.state_due || frame.checked_add(1)? != self.frames {
            return None;
        }
        self.state_due = false;
        Some(Content::State {
            frame,
            state: bytes.0.to_vec(),
        })
    }

    fn check_index(&self, payload: &[u8]) -> Result<(), ReadError> {
        let frames = Bytes(payload).u64();
        if frames == Some(self.frames) {
            return Ok(());
        }
        let what = "it does not count the frames that are there".to_owned();
        Err(self.past_damage(BlockKind::Index, what))
    }

    /// The next block, of a kind that must be there.
    fn expect(&mut self, kind: BlockKind) -> Result<Vec<u8>, ReadError> {
        match self.block()? {
            Some(block) if block.kind == Some(kind) => Ok(block.payload),
            Some(_) => Err(self.past_damage(kind, "another block is in its place".to_owned())),
            None => Err(self.damage(Some(kind), "the file ends before it".to_owned())),
        }
    }

    fn block(&mut self) -> Result<Option<Block>, ReadError> {
        match block::read(&mut self.source) {
            Ok(None) => Ok(None),
            Ok(Some(block)) => {
                self.block_start = self.offset;
                self.offset += block.bytes;
                self.block += 1;
                Ok(Some(block))
            }
            Err(BadBlock::Io(error)) => Err(ReadError::Io(error)),
            Err(BadBlock::Damaged(kind, what)) => Err(self.damage(kind, what)),
        }
    }

    /// Damage of the block that comes next.
    fn damage(&self, kind: Option<BlockKind>, what: String) -> ReadError {
        ReadError::Damaged(Damage {
            block: self.block,
            kind,
            offset: self.offset,
            good_frames: self.frames,
            what,
        })
    }

    /// Damage of the block that was read last.
    fn past_damage(&self, kind: BlockKind, what: String) -> ReadError {
        ReadError::Damaged(Damage {
            block: self.block.saturating_sub(1),
            kind: Some(kind),
            offset: self.block_start,
            good_frames: self.frames,
            what,
        })
    }
}

/// Reads the sixteen bytes before the first block and gives the version.
fn check_signature(source: &mut impl Read) -> Result<u32, ReadError> {
    let mut start = Vec::new();
    source.by_ref().take(16).read_to_end(&mut start)?;
    if start.len() < 16 || start[..8] != SIGNATURE {
        return Err(ReadError::NotARecording);
    }
    let mut bytes = Bytes(&start[8..]);
    match (bytes.u32(), bytes.u32()) {
        (Some(version @ OLDEST_VERSION..=VERSION), Some(0)) => Ok(version),
        (Some(OLDEST_VERSION..=VERSION), _) => Err(ReadError::NotARecording),
        (version, _) => Err(ReadError::Version(version.unwrap_or_default())),
    }
}
