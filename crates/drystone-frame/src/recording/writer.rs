//! Writing a recording.
//!
//! Every block is made in memory and goes out in one write, in an order that depends on frame
//! numbers alone. So whatever ends a run leaves whole blocks and at most one that is cut, and a
//! run that goes on from there writes what would have been written.
//!
//! Data goes to the operating system at once, so a program that dies loses nothing. It goes to the
//! disk itself after each frame too, unless frames come faster than the disk can follow: to wait
//! for the disk may take a twentieth of a run's time ([`SYNC_SHARE`]). So a power cut loses one
//! frame, or, where frames are quick, as many as were made in twenty times what the disk takes to
//! answer once: a tenth of a second where it takes 5 ms. [`Writer::sync_every_frame`] has it wait
//! after each frame whatever that costs.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::block::{self, BlockKind};
use super::header::Header;
use super::pack::{Past, Record, pack};
use super::recover::Recovered;
use super::{SIGNATURE, VERSION};
use crate::Stage;

/// Time between two waits for the disk at least, in lengths of the last wait.
const SYNC_SHARE: u32 = 20;
/// However slow the disk is, data is brought to it so often.
const SYNC_AT_LEAST: Duration = Duration::from_secs(1);

/// Where a recording goes to.
pub trait Storage: Write {
    /// Waits until everything written is safe from a power cut.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn sync(&mut self) -> io::Result<()>;
}

impl Storage for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Storage for Vec<u8> {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Storage + ?Sized> Storage for &mut S {
    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }
}

/// Why a recording could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The header or the stage can't be written so that they come back.
    #[error("the {0} can't be recorded: {1}")]
    Unfit(&'static str, String),
    /// Frames and states must come in their order.
    #[error("{0}")]
    Order(String),
}

/// Writes a recording.
#[derive(Debug)]
pub struct Writer<S: Storage> {
    storage: S,
    header: Header,
    /// Bytes written, from the beginning of the file.
    offset: u64,
    past: Past,
    next: u64,
    state_due: bool,
    /// Where the groups begin.
    groups: Vec<u64>,
    disk: Disk,
}

/// When data was last brought to the disk itself.
#[derive(Debug)]
struct Disk {
    /// When the last wait for it ended.
    synced: Instant,
    /// How long that was.
    wait: Duration,
    /// Whether to wait for it after every frame, however quick frames are.
    is_patient: bool,
}

impl Disk {
    fn new() -> Self {
        Self {
            synced: Instant::now(),
            wait: Duration::ZERO,
            is_patient: false,
        }
    }

    fn sync<S: Storage>(&mut self, storage: &mut S) -> io::Result<()> {
        let began = Instant::now();
        storage.sync()?;
        self.synced = Instant::now();
        self.wait = self.synced - began;
        Ok(())
    }

    /// Whether to wait for the disk again, so long after the last time.
    fn is_due(&self, since: Duration) -> bool {
        self.is_patient || since >= SYNC_AT_LEAST.min(self.wait.saturating_mul(SYNC_SHARE))
    }
}

impl<S: Storage> Writer<S> {
    /// Begins a recording: signature, header and stage.
    ///
    /// # Errors
    ///
    /// If they can't be written.
    pub fn create(mut storage: S, header: Header, stage: &Stage) -> Result<Self, WriteError> {
        if let Some(flaw) = header.flaw() {
            return Err(WriteError::Unfit("header", flaw.to_owned()));
        }
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(block::encode(BlockKind::Header, &json("header", &header)?));
        bytes.extend(block::encode(BlockKind::Stage, &json("stage", stage)?));
        storage.write_all(&bytes)?;
        storage.sync()?;
        Ok(Self {
            storage,
            header,
            offset: bytes.len() as u64,
            past: Past::default(),
            next: 0,
            state_due: false,
            groups: Vec::new(),
            disk: Disk::new(),
        })
    }

    /// Goes on where an unfinished recording stops. The storage must hold exactly the
    /// [good bytes](Recovered::good_bytes) and write after them.
    pub fn resume(storage: S, recovered: &Recovered) -> Self {
        Self {
            storage,
            header: recovered.header.clone(),
            offset: recovered.good_bytes,
            past: recovered.past.clone(),
            next: recovered.frames,
            state_due: recovered.state_due,
            groups: recovered.groups.clone(),
            disk: Disk::new(),
        }
    }

    /// Has it wait for the disk after every frame, so that a power cut loses one at most, however
    /// quick frames are.
    #[must_use]
    pub fn sync_every_frame(mut self, is_patient: bool) -> Self {
        self.disk.is_patient = is_patient;
        self
    }

    /// What the recording says about its run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of the next frame.
    pub fn next_frame(&self) -> u64 {
        self.next
    }

    /// Bytes written so far, from the beginning of the file.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    /// Whether the state at the last frame must be written before the next frame.
    pub fn state_due(&self) -> bool {
        self.state_due
    }

    /// Writes the next frame. Its number must be [`Writer::next_frame`].
    ///
    /// # Errors
    ///
    /// If it can't be written; the file can be recovered then.
    pub fn frame(&mut self, record: &Record) -> Result<(), WriteError> {
        if record.number != self.next || self.state_due {
            let what = if self.state_due {
                "the state"
            } else {
                "another frame"
            };
            let (number, next) = (record.number, self.next);
            return Err(WriteError::Order(format!(
                "frame {number} can't be recorded: {what} comes before frame {next}"
            )));
        }
        let is_key = self.header.is_key(record.number);
        let payload = pack(record, is_key, &mut self.past);
        if is_key {
            self.groups.push(self.offset);
        }
        self.write(BlockKind::Frame, &payload)?;
        self.next += 1;
        self.state_due = is_key;
        Ok(())
    }

    /// Writes the state at the last frame, where it is due.
    ///
    /// # Errors
    ///
    /// If it can't be written, or is not due.
    pub fn state(&mut self, state: &[u8]) -> Result<(), WriteError> {
        if !self.state_due {
            let what = "a state is recorded after the first frame of a group only";
            return Err(WriteError::Order(what.to_owned()));
        }
        let mut payload = (self.next - 1).to_le_bytes().to_vec();
        payload.extend_from_slice(state);
        self.write(BlockKind::State, &payload)?;
        self.state_due = false;
        Ok(())
    }

    /// Writes the index and brings everything to the disk.
    ///
    /// # Errors
    ///
    /// If it can't be written; the file can be recovered then.
    pub fn finish(mut self) -> Result<u64, WriteError> {
        let start = self.offset;
        let mut payload = self.next.to_le_bytes().to_vec();
        for offset in &self.groups {
            payload.extend(offset.to_le_bytes());
        }
        self.write(BlockKind::Index, &payload)?;
        self.write(BlockKind::Tail, &start.to_le_bytes())?;
        self.storage.sync()?;
        Ok(self.offset)
    }

    /// Brings everything to the disk and leaves the recording unfinished.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn pause(mut self) -> Result<(), WriteError> {
        Ok(self.storage.sync()?)
    }

    fn write(&mut self, kind: BlockKind, payload: &[u8]) -> Result<(), WriteError> {
        let bytes = block::encode(kind, payload);
        self.storage.write_all(&bytes)?;
        self.offset += bytes.len() as u64;
        if self.disk.is_due(self.disk.synced.elapsed()) {
            self.disk.sync(&mut self.storage)?;
        }
        Ok(())
    }
}

/// A value as JSON that reads back as the same value: what is no number would not.
fn json<T>(what: &'static str, value: &T) -> Result<Vec<u8>, WriteError>
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq,
{
    let unfit = |error: serde_json::Error| WriteError::Unfit(what, error.to_string());
    let bytes = serde_json::to_vec(value).map_err(unfit)?;
    let back: T = serde_json::from_slice(&bytes).map_err(unfit)?;
    if back == *value {
        Ok(bytes)
    } else {
        let problem = "it does not read back as it was".to_owned();
        Err(WriteError::Unfit(what, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_keeps_up_has_every_frame_and_a_slow_one_at_least_one_a_second() {
        let ms = Duration::from_millis;
        let after = |wait| Disk {
            wait,
            ..Disk::new()
        };
        // 2 ms of waiting: frames of 40 ms and longer are each brought to the disk.
        assert!(after(ms(2)).is_due(ms(40)));
        assert!(!after(ms(2)).is_due(ms(39)));
        assert!(after(ms(0)).is_due(ms(0)));
        assert!(after(ms(500)).is_due(ms(1000)));
        let patient = Disk {
            is_patient: true,
            ..after(ms(500))
        };
        assert!(patient.is_due(ms(0)));
    }
}
