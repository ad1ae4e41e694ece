//! What goes out to pages: one mailbox a page, filled without ever waiting for it.
//!
//! A mailbox holds the newest frame only, so a slow page misses frames and nothing else. Numbers
//! and texts must all arrive; a page that does not take them for long is let go.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tungstenite::{Bytes, Message};

/// Texts and tables that may wait for a page; a page that is this far behind is gone.
const MOST_WAITING: usize = 4096;

/// Locks, whatever a thread that held the lock did: the data is plain and always whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What waits for one page.
#[derive(Debug, Default)]
struct Slots {
    /// In order, nothing lost.
    letters: VecDeque<Message>,
    /// The newest frame of each lane.
    frames: Vec<Option<Bytes>>,
    closed: bool,
}

/// What waits for one page, shared with the thread that sends it.
#[derive(Clone, Debug, Default)]
pub(super) struct Mailbox(Arc<Mutex<Slots>>);

impl Mailbox {
    /// Adds something that must arrive.
    pub(super) fn post(&self, message: Message) {
        let mut slots = lock(&self.0);
        if slots.letters.len() >= MOST_WAITING {
            slots.closed = true;
            slots.letters.clear();
        } else if !slots.closed {
            slots.letters.push_back(message);
        }
    }

    /// Puts a frame in the place of the one that waits.
    fn show(&self, lane: usize, frame: Bytes) {
        let mut slots = lock(&self.0);
        if slots.frames.len() <= lane {
            slots.frames.resize(lane + 1, None);
        }
        slots.frames[lane] = Some(frame);
    }

    /// Takes back frames that wait: they are of a stage that is gone.
    fn forget_frames(&self) {
        lock(&self.0).frames.clear();
    }

    /// Takes everything, letters first.
    pub(super) fn take(&self) -> Vec<Message> {
        let mut slots = lock(&self.0);
        let mut messages: Vec<Message> = slots.letters.drain(..).collect();
        let frames = slots.frames.iter_mut().filter_map(Option::take);
        messages.extend(frames.map(Message::Binary));
        messages
    }

    /// Marks the page as gone.
    pub(super) fn close(&self) {
        lock(&self.0).closed = true;
    }

    /// Whether the page is gone.
    pub(super) fn is_closed(&self) -> bool {
        lock(&self.0).closed
    }
}

/// All pages.
#[derive(Debug, Default)]
pub(super) struct Hub(Mutex<Vec<Mailbox>>);

impl Hub {
    /// Adds a page.
    pub(super) fn join(&self, mailbox: Mailbox) {
        lock(&self.0).push(mailbox);
    }

    /// Sends to all something that must arrive.
    pub(super) fn post(&self, message: &Message) {
        self.for_each(|mailbox| mailbox.post(message.clone()));
    }

    /// Shows all a frame.
    pub(super) fn show(&self, lane: usize, frame: &Bytes) {
        self.for_each(|mailbox| mailbox.show(lane, frame.clone()));
    }

    /// Takes back frames that wait, before a new stage is told: letters overtake them.
    pub(super) fn forget_frames(&self) {
        self.for_each(Mailbox::forget_frames);
    }

    /// How many pages there are.
    pub(super) fn count(&self) -> usize {
        let mut pages = lock(&self.0);
        pages.retain(|mailbox| !mailbox.is_closed());
        pages.len()
    }

    fn for_each(&self, deliver: impl Fn(&Mailbox)) {
        let mut pages = lock(&self.0);
        pages.retain(|mailbox| !mailbox.is_closed());
        pages.iter().for_each(deliver);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_frame_wins_and_letters_all_arrive() {
        let hub = Hub::default();
        let mailbox = Mailbox::default();
        hub.join(mailbox.clone());
        for k in 0..100_u8 {
            hub.show(0, &Bytes::from(vec![k]));
            hub.post(&Message::text(k.to_string()));
        }
        let messages = mailbox.take();
        assert_eq!(messages.len(), 101);
        assert_eq!(messages.last(), Some(&Message::Binary(vec![99].into())));
        assert!(mailbox.take().is_empty());
    }

    #[test]
    fn no_frame_of_an_old_stage_follows_a_new_stage() {
        let hub = Hub::default();
        let mailbox = Mailbox::default();
        hub.join(mailbox.clone());
        hub.show(0, &Bytes::from(vec![1]));
        hub.forget_frames();
        hub.post(&Message::text("a new stage"));
        hub.show(0, &Bytes::from(vec![2]));
        let told = mailbox.take();
        assert_eq!(told.len(), 2);
        assert_eq!(told[1], Message::Binary(vec![2].into()));
    }

    #[test]
    fn a_page_that_takes_nothing_is_let_go() {
        let hub = Hub::default();
        let mailbox = Mailbox::default();
        hub.join(mailbox.clone());
        for _ in 0..=MOST_WAITING {
            hub.post(&Message::text("x"));
        }
        assert!(mailbox.is_closed());
        assert_eq!(hub.count(), 0);
    }
}
