//! Any frame of a recording, by its number.

use std::io::{Read, Seek, SeekFrom};

use super::block::{self, BlockKind};
use super::bytes::Bytes;
use super::header::Header;
use super::pack::{Past, Record, unpack};
use super::reader::{Damage, ReadError, Reader};
use crate::Stage;

/// Bytes of the tail of a finished file: a head and one number.
const TAIL_BYTES: i64 = block::HEAD_BYTES as i64 + 8;

/// Finds frames. In a finished recording the index says where groups begin; an unfinished one is
/// read through once.
#[derive(Debug)]
pub struct Scrubber<R> {
    source: R,
    /// What the recording says about its run.
    pub header: Header,
    /// The objects.
    pub stage: Stage,
    groups: Vec<u64>,
    frames: u64,
    /// The frame that was found last, from where to go on.
    last: Option<(u64, Past)>,
}

impl<R: Read + Seek> Scrubber<R> {
    /// Reads header, stage and index.
    ///
    /// # Errors
    ///
    /// If this is no recording, or its header or stage is damaged.
    pub fn open(mut source: R) -> Result<Self, ReadError> {
        source.rewind()?;
        let reader = Reader::open(&mut source)?;
        let (header, stage) = (reader.header.clone(), reader.stage.clone());
        let (frames, groups) = match read_index(&mut source)? {
            Some(index) => index,
            None => {
                source.rewind()?;
                let recovered = super::recover(&mut source)?;
                (recovered.frames, recovered.groups)
            }
        };
        Ok(Self {
            source,
            header,
            stage,
            groups,
            frames,
            last: None,
        })
    }

    /// How many frames there are.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// A frame; `None` if there is none of that number.
    ///
    /// # Errors
    ///
    /// If a block on the way to it is damaged.
    pub fn frame(&mut self, number: u64) -> Result<Option<Record>, ReadError> {
        if number >= self.frames {
            return Ok(None);
        }
        let group = number / u64::from(self.header.group.max(1));
        let Some(&start) = self.groups.get(group as usize) else {
            return Ok(None);
        };
        let from = group * u64::from(self.header.group);
        // The source stands behind the last frame: go on from there where that is nearer.
        let mut past = match self.last.take() {
            Some((last, past)) if last < number && last >= from => past,
            _ => {
                self.source.seek(SeekFrom::Start(start))?;
                Past::default()
            }
        };
        loop {
            let offset = self.source.stream_position()?;
            let block = match block::read(&mut self.source) {
                Ok(Some(block)) => block,
                Ok(None) => return Err(self.damage(offset, "the file ends before it")),
                Err(block::BadBlock::Io(error)) => return Err(error.into()),
                Err(block::BadBlock::Damaged(_, what)) => return Err(self.damage(offset, &what)),
            };
            if block.kind != Some(BlockKind::Frame) {
                continue;
            }
            match unpack(&block.payload, &mut past) {
                Some(record) if record.number == number => {
                    self.last = Some((number, past));
                    return Ok(Some(record));
                }
                Some(record) if record.number < number => {}
                _ => return Err(self.damage(offset, "it does not fit in its place")),
            }
        }
    }

    /// Damage of the block at a place; its number is found by counting from the beginning.
    fn damage(&mut self, offset: u64, what: &str) -> ReadError {
        let counted = self.source.rewind().ok().and_then(|()| {
            let mut reader = Reader::open(&mut self.source).ok()?;
            while reader.offset() < offset && matches!(reader.content(), Ok(Some(_))) {}
            Some((reader.blocks(), reader.frames()))
        });
        let (block, good_frames) = counted.unwrap_or_default();
        ReadError::Damaged(Damage {
            block,
            kind: Some(BlockKind::Frame),
            offset,
            good_frames,
            what: what.to_owned(),
        })
    }
}

/// Whether a recording has its end. Looks at both ends of the file only.
///
/// # Errors
///
/// If this is no recording.
pub fn is_finished(source: &mut (impl Read + Seek)) -> Result<bool, ReadError> {
    source.rewind()?;
    Reader::open(&mut *source)?;
    Ok(read_index(source)?.is_some())
}

/// The number of frames and the beginnings of groups; `None` if there is no sound index.
fn read_index(source: &mut (impl Read + Seek)) -> Result<Option<(u64, Vec<u64>)>, ReadError> {
    let length = source.seek(SeekFrom::End(0))?;
    if length < TAIL_BYTES as u64 {
        return Ok(None);
    }
    source.seek(SeekFrom::End(-TAIL_BYTES))?;
    let Ok(Some(tail)) = block::read(source) else {
        return Ok(None);
    };
    let start = Bytes(&tail.payload).u64();
    let (Some(BlockKind::Tail), Some(start)) = (tail.kind, start) else {
        return Ok(None);
    };
    source.seek(SeekFrom::Start(start.min(length)))?;
    let Ok(Some(index)) = block::read(source) else {
        return Ok(None);
    };
    let mut bytes = Bytes(&index.payload);
    let (Some(BlockKind::Index), Some(frames)) = (index.kind, bytes.u64()) else {
        return Ok(None);
    };
    let groups = std::iter::from_fn(|| bytes.u64()).collect();
    Ok(Some((frames, groups)))
}
