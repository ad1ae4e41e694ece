//! The table that a person reads and the JSON that a program reads.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::race::{Outcome, Skipped};

/// All of one run of the program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// When it was made, seconds since 1970.
    pub unix_time_s: u64,
    /// The processor's own name.
    pub cpu: String,
    pub cores: usize,
    pub outcomes: Vec<Outcome>,
    pub skipped: Vec<Skipped>,
}

impl Report {
    pub fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = info.lines().find(|line| line.starts_with("model name"));
        let name = name.and_then(|line| line.split_once(':'));
        Self {
            unix_time_s: since.map_or(0, |time| time.as_secs()),
            cpu: name.map_or("unknown".into(), |(_, name)| name.trim().to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            ..Self::default()
        }
    }

    /// The scenes in the order of the run.
    pub fn scenes(&self) -> Vec<&str> {
        in_order(self.outcomes.iter().map(|outcome| outcome.scene.as_str()))
    }

    /// The engines in the order of the run.
    pub fn engines(&self) -> Vec<&str> {
        in_order(self.outcomes.iter().map(|outcome| outcome.engine.as_str()))
    }

    /// Whether an engine was stopped before the scene's end: its error is then that of a shorter
    /// time. Files of before the steps asked for were written down give what others reached.
    pub fn is_cut_short(&self, outcome: &Outcome) -> bool {
        let of_scene = self.outcomes.iter().filter(|o| o.scene == outcome.scene);
        let reached = of_scene.map(|o| o.steps).max().unwrap_or(0);
        outcome.steps < reached.max(outcome.asked_steps)
    }

    /// Drystone's time for the same scene: with the same number of threads, or else with one.
    fn drystone_ms(&self, outcome: &Outcome) -> Option<f64> {
        let with = |threads: usize| {
            self.outcomes
                .iter()
                .find(|o| {
                    o.engine == "drystone" && o.scene == outcome.scene && o.threads == threads
                })
                .map(|o| o.median_ms)
        };
        with(outcome.threads).or_else(|| with(1))
    }

    /// One line of the table.
    pub fn row(&self, outcome: &Outcome) -> String {
        let verdict = &outcome.verdict;
        let ratio = self
            .drystone_ms(outcome)
            .map_or("-".into(), |ms| format!("{:.3}", outcome.median_ms / ms));
        let drift = verdict
            .drift_mm
            .map_or("-".into(), |drift| format!("{drift:.1}"));
        let stands = match verdict.stands {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "-",
        };
        format!(
            "{:<15} {:<13} {:>2} {:>9.3} {:>9.3} {:>7} {:>9.1} {:>9.1} {:>9} {:>6}  {}",
            outcome.scene,
            outcome.engine,
            outcome.threads,
            outcome.median_ms,
            outcome.p90_ms,
            ratio,
            verdict.penetration_mm,
            verdict.error_mm,
            drift,
            stands,
            verdict.note
        )
    }
}

/// Each name once, where it comes first.
fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut list = Vec::new();
    for name in names {
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}

/// The table's first line. Times are ms a step; `ratio` is the median over Drystone's; lengths
/// are mm; `error` is the distance from the scene's truth, which `note` says in words.
pub fn header() -> String {
    format!(
        "{:<15} {:<13} {:>2} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>6}  note",
        "scene", "engine", "th", "median", "p90", "ratio", "overlap", "error", "drift", "stands"
    )
}
