//! A writer on a thread of its own: the next frame is made while this one is packed and written.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::pack::Record;
use super::writer::{Storage, WriteError, Writer};

/// What the thread is asked to write: a frame, and the state where it is due.
type Job = (Record, Option<Vec<u8>>);

/// A [`Writer`] on a thread of its own.
///
/// There is no queue: a frame is handed over when the one before it is written. So at most one
/// frame that was made is not yet in the file, and memory does not grow.
#[derive(Debug)]
pub struct BackgroundWriter<S: Storage> {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Result<Writer<S>, WriteError>>>,
    /// What the writer will expect next, as far as frames were handed over.
    next: u64,
    group: u64,
}

impl<S: Storage + Send + 'static> BackgroundWriter<S> {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If the writer still waits for a state, or there can be no more threads.
    pub fn new(writer: Writer<S>) -> Result<Self, WriteError> {
        if writer.state_due() {
            let what = "the state of the last frame comes before the next frame";
            return Err(WriteError::Order(what.to_owned()));
        }
        let (next, group) = (writer.next_frame(), u64::from(writer.header().group));
        let (jobs, incoming) = sync_channel::<Job>(0);
        let write_all = move || {
            let mut writer = writer;
            for (record, state) in incoming {
                writer.frame(&record)?;
                if let Some(state) = state {
                    writer.state(&state)?;
                }
            }
            Ok(writer)
        };
        let thread = std::thread::Builder::new()
            .name("recording".to_owned())
            .spawn(write_all)?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
            next,
            group,
        })
    }

    /// Whether the next frame needs the state with it.
    pub fn wants_state(&self) -> bool {
        self.next.is_multiple_of(self.group.max(1))
    }

    /// The number of the next frame.
    pub fn next_frame(&self) -> u64 {
        self.next
    }

    /// Hands the next frame over, with the state where [`BackgroundWriter::wants_state`].
    ///
    /// # Errors
    ///
    /// What went wrong with this frame or one before it.
    pub fn frame(&mut self, record: Record, state: Option<Vec<u8>>) -> Result<(), WriteError> {
        let jobs = self.jobs.as_ref();
        if jobs.is_some_and(|jobs| jobs.send((record, state)).is_ok()) {
            self.next += 1;
            return Ok(());
        }
        // The thread ended by itself: it knows why.
        self.join().and(Err(ended()))
    }

    /// Waits for the last frame and gives the writer back, to finish it or to leave it.
    ///
    /// # Errors
    ///
    /// What went wrong with the last frame.
    pub fn into_writer(mut self) -> Result<Writer<S>, WriteError> {
        self.join()
    }

    fn join(&mut self) -> Result<Writer<S>, WriteError> {
        self.jobs = None;
        let Some(thread) = self.thread.take() else {
            return Err(ended());
        };
        thread.join().unwrap_or_else(|_| Err(ended()))
    }
}

fn ended() -> WriteError {
    WriteError::Order("the recording has ended before".to_owned())
}
