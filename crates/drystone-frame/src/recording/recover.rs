//! What is good in a recording that was cut short.

use std::io::Read;

use super::header::Header;
use super::pack::{Past, frame_hash};
use super::reader::{Content, Damage, ReadError, Reader};
use crate::{Frame, Stage};

/// The good part of a recording, and all that is needed to go on.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// What the recording says about its run.
    pub header: Header,
    /// The objects.
    pub stage: Stage,
    /// The version of its format; only those of [`VERSION`](super::VERSION) can be gone on with.
    pub version: u32,
    /// Bytes that stay; what comes after them must be cut off before going on.
    pub good_bytes: u64,
    /// Good frames.
    pub frames: u64,
    /// The last good frame.
    pub last: Option<Frame>,
    /// The last good state and its frame.
    pub state: Option<(u64, Vec<u8>)>,
    /// [`frame_hash`] of the frames after that state, or of all frames if there is none: what
    /// comes out again when they are made again.
    pub hashes: Vec<u64>,
    /// Whether the state at the last good frame is missing.
    pub state_due: bool,
    /// Whether the recording is finished and whole: there is nothing to do.
    pub is_finished: bool,
    /// Where it is damaged, if it does not merely end too early.
    pub damage: Option<Damage>,
    pub(super) groups: Vec<u64>,
    pub(super) past: Past,
}

/// Reads a recording as far as it is good, holding one frame and one state at a time.
///
/// # Errors
///
/// If this is no recording, or not even its header and stage are good.
pub fn recover(source: impl Read) -> Result<Recovered, ReadError> {
    let mut reader = Reader::open(source)?;
    let mut recovered = Recovered {
        header: reader.header.clone(),
        stage: reader.stage.clone(),
        version: reader.version,
        good_bytes: reader.offset(),
        frames: 0,
        last: None,
        state: None,
        hashes: Vec::new(),
        state_due: false,
        is_finished: false,
        damage: None,
        groups: Vec::new(),
        past: Past::default(),
    };
    loop {
        let start = reader.offset();
        match reader.content() {
            Ok(Some(Content::Frame(record))) => {
                recovered.state_due = recovered.header.is_key(record.number);
                if recovered.state_due {
                    recovered.groups.push(start);
                }
                recovered.hashes.push(frame_hash(&record.frame));
                recovered.frames = record.number + 1;
                recovered.last = Some(record.frame);
            }
            Ok(Some(Content::State { frame, state })) => {
                recovered.state = Some((frame, state));
                recovered.hashes.clear();
                recovered.state_due = false;
            }
            Ok(Some(Content::End)) => {
                recovered.is_finished = true;
                recovered.good_bytes = reader.offset();
                break;
            }
            Ok(None) => break,
            Err(ReadError::Damaged(damage)) => {
                recovered.damage = Some(damage);
                break;
            }
            Err(error) => return Err(error),
        }
        // An index without a tail is not counted, so it is written again.
        recovered.good_bytes = reader.offset();
    }
    recovered.past = reader.into_past();
    Ok(recovered)
}
