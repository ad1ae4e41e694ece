//! Ctrl-C while a run is recorded: the frame in hand is finished first.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// What a shell reports for a program that Ctrl-C ended.
pub(crate) const EXIT_CODE: u8 = 130;

/// From now on the first Ctrl-C only asks; a second one ends the program at once. Where signals
/// can't be caught, the first one ends it, and the recording can be resumed all the same.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            process::exit(i32::from(EXIT_CODE));
        }
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
