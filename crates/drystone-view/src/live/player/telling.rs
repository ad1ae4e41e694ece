//! What the player tells pages.

use std::time::{Duration, Instant};

use serde_json::json;
use tungstenite::{Bytes, Message};

use super::Player;
use crate::live::hub::Mailbox;
use crate::live::{json, trouble, wire};
use crate::still::{Still, colours};

/// Frames are shown at most this often.
const FRAME_TIME: Duration = Duration::from_micros(16_000);

/// How often the numbers of a lesson are measured.
const LESSON_TIME: Duration = Duration::from_millis(200);

impl Player {
    /// Tells a new page everything.
    pub(super) fn welcome(&mut self, mailbox: Mailbox) {
        let hello = json!({
            "type": "hello",
            "scenes": self.gallery.cards(),
            "solvers": self.gallery.solvers(),
            "strategies": self.gallery.strategies(),
            "racers": self.gallery.racers(),
            "laws": self.gallery.laws(),
        });
        mailbox.post(json(&hello));
        mailbox.post(self.stage_message());
        mailbox.post(self.settings_message());
        mailbox.post(self.state_message());
        for (k, lane) in self.lanes.iter_mut().enumerate() {
            mailbox.post(Message::binary(wire::table(k as u32, &lane.log)));
            lane.fresh.clear();
        }
        self.hub.join(mailbox);
        self.changed = true;
    }

    pub(super) fn tell_state(&self) {
        self.hub.post(&self.state_message());
    }

    fn state_message(&self) -> Message {
        json(&json!({
            "type": "state",
            "playing": self.playing,
            "speed": self.speed,
            "past": self.shown.is_some(),
        }))
    }

    pub(super) fn settings_message(&self) -> Message {
        let settings: Vec<_> = self.lanes.iter().map(|l| l.simulation.settings()).collect();
        json(&json!({ "type": "settings", "lanes": settings }))
    }

    pub(super) fn stage_message(&self) -> Message {
        let Some(lane) = self.lanes.first() else {
            return trouble("there is nothing to show");
        };
        let (stage, frame) = (lane.simulation.stage(), lane.simulation.frame());
        let about = lane.simulation.about();
        let still = Still {
            camera: about.camera,
            ..Still::default()
        };
        let camera = still.framed(&stage, &frame);
        json(&json!({
            "type": "stage",
            "stage": stage,
            "about": about,
            "colours": colours(&stage, &frame),
            "camera": {
                "eye": camera.eye,
                "target": camera.target,
                "field_of_view": camera.field_of_view_deg,
            },
            "lanes": self.racers,
        }))
    }

    /// Shows the newest frame, or the moment that was chosen, and sends new numbers.
    pub(super) fn publish(&mut self, now: Instant) {
        if !self.changed || now.duration_since(self.published) < FRAME_TIME {
            return;
        }
        self.changed = false;
        self.published = now;
        for (k, lane) in self.lanes.iter_mut().enumerate() {
            if !lane.fresh.is_empty() {
                let table = wire::table(k as u32, &lane.fresh);
                self.hub.post(&Message::binary(table));
                lane.fresh.clear();
            }
        }
        match self.shown {
            Some((at, _)) => self.show_past(at),
            None => self.show_present(),
        }
        if now.duration_since(self.lesson_sent) > LESSON_TIME {
            self.lesson_sent = now;
            let lane = self.lanes.first_mut();
            if let Some(lesson) = lane.and_then(|lane| lane.simulation.lesson()) {
                self.hub
                    .post(&json(&json!({ "type": "lesson", "lesson": lesson })));
            }
        }
    }

    /// Shows a moment that was kept or recorded.
    fn show_past(&mut self, at: usize) {
        let head = self.past.time(self.past.last()).unwrap_or(0.0);
        if self.past.is_tape() {
            return self.show_recorded(at, head);
        }
        let Some(moment) = self.past.kept(at) else {
            return;
        };
        for (lane, frame) in moment.frames.iter().enumerate() {
            let mut bytes = frame.to_vec();
            wire::set_head_time(&mut bytes, head);
            self.hub.show(lane, &Bytes::from(bytes));
        }
    }

    fn show_recorded(&mut self, at: usize, head: f64) {
        let tape = self.lanes.first_mut().and_then(|l| l.simulation.tape());
        match tape.map(|tape| tape.moment(at)) {
            Some(Ok((frame, details))) => {
                let mut bytes = wire::frame(0, &frame, &details);
                wire::set_head_time(&mut bytes, head);
                self.hub.show(0, &Bytes::from(bytes));
            }
            Some(Err(reason)) => {
                self.playing = false;
                self.hub.post(&trouble(&reason));
                self.tell_state();
            }
            None => {}
        }
    }

    /// The present is encoded anew only where a thinned history has left it out.
    fn show_present(&self) {
        let newest = self.past.kept(self.past.last());
        for (k, lane) in self.lanes.iter().enumerate() {
            let time = lane.log.last().map_or(0.0, |numbers| numbers.time_s);
            let kept = newest.filter(|moment| moment.time == time);
            match kept.and_then(|moment| moment.frames.get(k)) {
                Some(frame) => self.hub.show(k, frame),
                None => {
                    let frame = lane.simulation.frame();
                    let bytes = wire::frame(k as u32, &frame, &lane.simulation.details());
                    self.hub.show(k, &Bytes::from(bytes));
                }
            }
        }
    }
}
