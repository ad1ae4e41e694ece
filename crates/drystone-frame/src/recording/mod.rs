//! Recordings: a run in a file, frame by frame, that survives whatever ends the run.
//!
//! `docs/recording.md` fixes every byte. In short: a signature, then blocks with length and
//! checksum: header, stage, and for each frame one block; every `group` frames a frame that needs
//! no other, followed by the state of the simulation; at the end of a finished file an index.
//!
//! * [`Writer`] appends blocks, one write each. What it writes depends on the frames alone.
//! * [`Reader`] gives frames one after another and names the block where a file is damaged.
//! * [`recover()`] finds what is good in an unfinished file, and [`Writer::resume`] goes on there.
//! * [`Scrubber`] finds any frame.
//! * [`BackgroundWriter`] packs and writes on a thread of its own while the next frame is made.
//!
//! ```
//! use drystone_frame::recording::{Header, Reader, Record, Writer};
//! use drystone_frame::{Frame, Stage};
//!
//! let mut file = Vec::new();
//! let mut writer = Writer::create(&mut file, Header::default(), &Stage::default())?;
//! writer.frame(&Record { frame: Frame { time: 0.5, ..Frame::default() }, ..Record::default() })?;
//! writer.state(b"as the simulation writes it")?;
//! writer.finish()?;
//!
//! let mut reader = Reader::open(file.as_slice())?;
//! let frames = reader.records().collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(frames[0].frame.time, 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod block;
mod bytes;
mod certificate;
mod code;
mod debug;
mod header;
mod pack;
mod planes;
mod reader;
mod recover;
mod scrub;
mod writer;

pub use background::BackgroundWriter;
pub use block::BlockKind;
pub use certificate::FrameCertificate;
pub use header::Header;
pub use pack::{Record, frame_hash};
pub use reader::{Content, Damage, ReadError, Reader};
pub use recover::{Recovered, recover};
pub use scrub::{Scrubber, is_finished};
pub use writer::{Storage, WriteError, Writer};

/// What a recording begins with: bytes that no text has, and line ends that a transfer in text
/// mode would break.
pub const SIGNATURE: [u8; 8] = *b"\x89DRY\r\n\x1a\n";

/// The version of the format that is written, and the newest that is read. Version 1 has no
/// islands, no sleep and no joints.
pub const VERSION: u32 = 2;

/// The oldest version that is read.
pub const OLDEST_VERSION: u32 = 1;
