//! The progress bar: on standard error, and only where a person looks at it.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the bar is drawn: smooth to the eye, nothing beside a step.
const INTERVAL: Duration = Duration::from_millis(66);

/// Runs that are over sooner need no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar that grows with the steps of a run, or nothing.
#[derive(Debug)]
pub(crate) struct Progress {
    scene: String,
    steps: u64,
    terminal: bool,
    /// When there is something to draw next.
    due: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar of this many steps, if standard error is a terminal.
    pub(crate) fn new(scene: &str, steps: u64) -> Self {
        Self {
            scene: scene.to_owned(),
            steps,
            terminal: std::io::stderr().is_terminal(),
            due: Instant::now() + PATIENCE,
            bar: None,
        }
    }

    /// Shows how far the run has come.
    pub(crate) fn show(&mut self, step: u64, time: f64, contacts: usize) {
        if !self.terminal || Instant::now() < self.due {
            return;
        }
        self.due = Instant::now() + INTERVAL;
        let bar = self.bar.get_or_insert_with(|| bar(&self.scene, self.steps));
        bar.set_message(format!("{time:.2} s, {contacts} contacts"));
        bar.set_position(step);
    }

    /// Takes the bar away.
    pub(crate) fn clear(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(scene: &str, steps: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    let template = "{prefix} {bar:32.cyan/dim} {percent:>3} %  {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.set_prefix(scene.to_owned());
    bar
}
