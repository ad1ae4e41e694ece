//! `drystone info`: what a recording holds.

use std::path::Path;

use drystone_frame::recording::{FrameCertificate, Header, ReadError, Reader};
use drystone_frame::{Frame, Stage};

use super::print;
use crate::fault::Fault;
use crate::recording::{open_to_read, unreadable};
use crate::text::Columns;
use crate::units::{bytes, count, counted, duration, length, plain};

/// Width of the labels at the left.
const LABEL: usize = 11;

/// What is gathered on the way through a recording.
#[derive(Default)]
struct Sum {
    frames: u64,
    seconds: f64,
    /// Numbers of all frames, 8 bytes each.
    raw_bytes: u64,
    most_contacts: usize,
    certificate: Option<FrameCertificate>,
}

/// Says what a recording holds; an error names the block where it is damaged.
pub(crate) fn info(path: &Path) -> Result<(), Fault> {
    let mut reader = Reader::open(open_to_read(path)?).map_err(|error| unreadable(path, error))?;
    let mut sum = Sum::default();
    let mut damage = None;
    for record in reader.records() {
        match record {
            Ok(record) => sum.add(&record.frame, record.certificate.as_ref()),
            Err(error) => damage = Some(error),
        }
    }
    let (header, stage) = (&reader.header, &reader.stage);
    let bodies = counted(stage.objects.len() as u64, "body");
    let title = format!("{} ({}D, {bodies})\n", header.title, stage.dimension);
    let mut text = Columns::new(title, LABEL);
    text.line("recorded", &format!("by {}", header.program));
    text.line("steps", &steps(header));
    text.line(
        "frames",
        &frames(header, &sum, reader.has_ended(), damage.as_ref()),
    );
    text.line(
        "contacts",
        &format!("{} at most in a frame", count(sum.most_contacts as u64)),
    );
    text.line("certificate", &certificate(sum.certificate.as_ref(), stage));
    let seeds: Vec<String> = header.seeds.iter().map(ToString::to_string).collect();
    text.line(
        "seeds",
        if seeds.is_empty() {
            "none".into()
        } else {
            seeds.join(", ")
        }
        .as_str(),
    );
    text.line("settings", &settings(header));
    text.line("size", &size(path, &sum));
    print(&text.finish())?;
    damage.map_or(Ok(()), |error| Err(unreadable(path, error)))
}

impl Sum {
    fn add(&mut self, frame: &Frame, certificate: Option<&FrameCertificate>) {
        self.frames += 1;
        self.seconds = frame.time;
        self.most_contacts = self.most_contacts.max(frame.contacts.len());
        // Poses and velocities; of a contact two indices and ten numbers.
        let numbers = 13 * frame.positions.len() + 11 * frame.contacts.len();
        self.raw_bytes += 8 * numbers as u64;
        if let Some(certificate) = certificate {
            self.certificate.get_or_insert_default().merge(certificate);
        }
    }
}

fn steps(header: &Header) -> String {
    format!(
        "{} of {}, {} a frame",
        count(header.steps),
        duration(header.dt),
        header.steps_per_frame
    )
}

fn frames(header: &Header, sum: &Sum, has_ended: bool, damage: Option<&ReadError>) -> String {
    let rate = plain(header.frames_per_second());
    let number = format!(
        "{}, {rate} a second, to {:.2} s",
        count(sum.frames),
        sum.seconds
    );
    let all = count(header.frames());
    match (has_ended, damage) {
        (_, Some(_)) => format!("{number}; what comes after them is damaged"),
        (true, None) if sum.frames == header.frames() => number,
        (true, None) => format!("{number}; the run failed before its {all} frames"),
        (false, None) => format!("{number}; unfinished: {all} in all, `drystone resume` goes on"),
    }
}

fn certificate(worst: Option<&FrameCertificate>, stage: &Stage) -> String {
    let Some(worst) = worst else {
        return "no step was judged".to_owned();
    };
    let name = |k: u32| {
        stage
            .objects
            .get(k as usize)
            .map_or("?", |object| &object.name)
    };
    let pair = worst.worst.map_or(String::new(), |[a, b]| {
        format!(", {} on {}", name(a), name(b))
    });
    format!(
        "worst residual {} m/s at step {}{pair}; penetration never above {}",
        plain(worst.residual_m_s),
        count(worst.step),
        length(worst.penetration_m)
    )
}

fn settings(header: &Header) -> String {
    let fields = header.settings.as_object().into_iter().flatten();
    let words: Vec<String> = fields
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    if words.is_empty() {
        "the scene's".to_owned()
    } else {
        words.join(", ")
    }
}

fn size(path: &Path, sum: &Sum) -> String {
    let stored = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if stored == 0 || sum.frames == 0 {
        return bytes(stored);
    }
    format!(
        "{}, {} a frame; as plain numbers of 8 bytes it would be {}, {} times as much",
        bytes(stored),
        bytes(stored / sum.frames),
        bytes(sum.raw_bytes),
        plain(sum.raw_bytes as f64 / stored as f64)
    )
}
