//! The thread that steps: it follows orders, keeps the pace and shows frames, and never waits for
//! a page.
//!
//! Time is owed: each turn adds the time that went by, times the speed, and steps pay it back.
//! What can't be paid is forgotten, so a scene that is too much for the machine runs slower than
//! asked but never jumps. Nothing moves while no page looks.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::json;
use tungstenite::{Bytes, Message};

use super::command::Command;
use super::history::{History, Moment};
use super::hub::{Hub, Mailbox};
use super::simulation::{Change, Gallery, Grip, Numbers, Simulation, Throw};
use super::{json, trouble, wire};
use crate::still::{Still, colours};

/// Frames are shown at most this often.
const FRAME_TIME: Duration = Duration::from_micros(16_000);

/// How long steps may go on before orders are looked at again.
const STEPPING_TIME: Duration = Duration::from_millis(12);

/// Most time that can be owed, s.
const MOST_OWED_S: f64 = 0.05;

/// How often the numbers of a lesson are measured.
const LESSON_TIME: Duration = Duration::from_millis(200);

/// Rows of numbers that are kept a lane; beyond it the calmer of two neighbours goes.
const MOST_ROWS: usize = 1 << 14;

/// What reaches the player.
#[derive(Debug)]
pub(super) enum Order {
    /// A new page.
    Join(Mailbox),
    /// What a page asks for.
    Command(Command),
}

/// One of the worlds side by side.
struct Lane {
    simulation: Box<dyn Simulation>,
    log: Vec<Numbers>,
    /// Rows that were not sent yet.
    fresh: Vec<Numbers>,
}

impl Lane {
    fn new(simulation: Box<dyn Simulation>) -> Self {
        let first = simulation.numbers();
        Self {
            simulation,
            log: vec![first],
            fresh: vec![first],
        }
    }

    fn note(&mut self, numbers: Numbers) {
        self.fresh.push(numbers);
        self.log.push(numbers);
        if self.log.len() >= MOST_ROWS {
            let worse = |pair: &[Numbers]| {
                let larger = |a: Numbers, b: &Numbers| {
                    if b.residual_m_s > a.residual_m_s {
                        *b
                    } else {
                        a
                    }
                };
                pair.iter().skip(1).fold(pair[0], larger)
            };
            self.log = self.log.chunks(2).map(worse).collect();
        }
    }
}

/// Steps a scene and shows it.
pub(super) struct Player {
    gallery: Arc<dyn Gallery>,
    scene: String,
    lanes: Vec<Lane>,
    /// Solvers side by side; empty where there is no race.
    racers: Vec<String>,
    /// Changes of settings since the scene was opened.
    change: Change,
    hub: Hub,
    history: History,
    playing: bool,
    speed: f64,
    /// Simulated time that is owed, s.
    owed: f64,
    /// The moment that is shown and its time in s, where it is not the newest.
    shown: Option<(usize, f64)>,
    grip: Option<Grip>,
    changed: bool,
    published: Instant,
    lesson_sent: Instant,
}

impl Player {
    pub(super) fn new(
        gallery: Arc<dyn Gallery>,
        mut simulation: Box<dyn Simulation>,
        change: Change,
    ) -> Result<Self, String> {
        simulation.change(&change)?;
        let mut player = Self {
            gallery,
            scene: simulation.about().name,
            lanes: vec![Lane::new(simulation)],
            racers: Vec::new(),
            change,
            hub: Hub::default(),
            history: History::default(),
            playing: false,
            speed: 1.0,
            owed: 0.0,
            shown: None,
            grip: None,
            changed: true,
            published: Instant::now(),
            lesson_sent: Instant::now(),
        };
        player.remember();
        Ok(player)
    }

    pub(super) fn play(&mut self, on: bool) {
        self.playing = on;
        self.owed = 0.0;
    }

    /// Follows orders and steps until no one can give orders any more.
    pub(super) fn run(&mut self, inbox: &Receiver<Order>) {
        let mut last = Instant::now();
        loop {
            match inbox.recv_timeout(self.idle_time()) {
                Ok(order) => {
                    self.follow(order);
                    while let Ok(order) = inbox.try_recv() {
                        self.follow(order);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = Instant::now();
            let elapsed = now.duration_since(last).as_secs_f64();
            last = now;
            if self.playing && self.hub.count() > 0 {
                self.advance(elapsed);
            }
            self.publish(now);
        }
    }

    /// How long there is nothing to do but to hear orders.
    fn idle_time(&self) -> Duration {
        if !self.playing || self.hub.count() == 0 {
            return if self.changed {
                Duration::from_millis(4)
            } else {
                Duration::from_millis(100)
            };
        }
        let missing = (self.dt() - self.owed) / self.speed;
        Duration::from_secs_f64(missing.clamp(0.0, 0.008))
    }

    fn dt(&self) -> f64 {
        let lane = self.lanes.first();
        lane.map_or(1e-2, |lane| lane.simulation.settings().dt)
    }

    fn follow(&mut self, order: Order) {
        match order {
            Order::Join(mailbox) => self.welcome(mailbox),
            Order::Command(command) => {
                if let Err(reason) = self.obey(command) {
                    self.hub.post(&trouble(&reason));
                }
                self.changed = true;
            }
        }
    }

    fn obey(&mut self, command: Command) -> Result<(), String> {
        match command {
            Command::Open { scene } => self.open(&scene),
            Command::Play { on } => {
                self.play(on);
                self.tell_state();
                Ok(())
            }
            Command::Step {} => self.step_once(),
            Command::Back {} => {
                self.play(false);
                let newest = self.history.len().saturating_sub(1);
                let at = self.shown.map_or(newest, |(at, _)| at);
                self.show_moment(at.saturating_sub(1));
                self.tell_state();
                Ok(())
            }
            Command::Speed { factor } => {
                self.speed = factor;
                self.owed = 0.0;
                self.tell_state();
                Ok(())
            }
            Command::Restart {} => self.restart(),
            Command::Seek { time } => {
                self.play(false);
                self.show_moment(self.history.nearest(time));
                self.tell_state();
                Ok(())
            }
            Command::Set { change } => self.set(&change),
            Command::Grab { grip } => {
                self.grip = Some(grip);
                Ok(())
            }
            Command::Release {} => {
                self.grip = None;
                Ok(())
            }
            Command::Throw { throw } => self.throw(&throw),
            Command::Race { solvers } => {
                self.racers = if solvers.len() > 1 {
                    solvers
                } else {
                    Vec::new()
                };
                self.restart()
            }
            Command::Matrix {} => self.send_matrix(),
        }
    }

    /// Pays what is owed by steps, or moves on in what is remembered.
    fn advance(&mut self, elapsed: f64) {
        if let Some((_, time)) = self.shown {
            let time = time + elapsed * self.speed;
            let at = self.history.nearest(time);
            self.shown = (at + 1 < self.history.len()).then_some((at, time));
            self.changed = true;
            return;
        }
        let dt = self.dt();
        self.owed += elapsed * self.speed;
        let start = Instant::now();
        while self.owed >= dt && self.playing {
            self.step();
            self.owed -= dt;
            if start.elapsed() > STEPPING_TIME {
                break;
            }
        }
        self.owed = self.owed.min((MOST_OWED_S * self.speed).max(dt));
    }

    /// Steps all lanes. A step that fails is told and ends playing.
    fn step(&mut self) {
        for lane in &mut self.lanes {
            if let Some(grip) = &self.grip {
                lane.simulation.pull(grip);
            }
            let start = Instant::now();
            match lane.simulation.step() {
                Ok(numbers) => lane.note(Numbers {
                    milliseconds: 1e3 * start.elapsed().as_secs_f64(),
                    ..numbers
                }),
                Err(reason) => {
                    self.playing = false;
                    self.hub.post(&trouble(&reason));
                    self.tell_state();
                    return;
                }
            }
        }
        self.remember();
        self.changed = true;
    }

    fn step_once(&mut self) -> Result<(), String> {
        self.play(false);
        match self.shown {
            Some((at, _)) => self.show_moment(at + 1),
            None => self.step(),
        }
        self.tell_state();
        Ok(())
    }

    /// Keeps the present state in the history.
    fn remember(&mut self) {
        let encode = |(k, lane): (usize, &Lane)| {
            let frame = lane.simulation.frame();
            Bytes::from(wire::frame(k as u32, &frame, &lane.simulation.details()))
        };
        let time = self.lanes.first().map_or(0.0, |lane| {
            lane.log.last().map_or(0.0, |numbers| numbers.time_s)
        });
        let frames = self.lanes.iter().enumerate().map(encode).collect();
        self.history.push(Moment { time, frames });
    }

    /// Shows a moment of the past; the newest one is the present again.
    fn show_moment(&mut self, at: usize) {
        let moment = self.history.get(at);
        let is_past = at + 1 < self.history.len();
        self.shown = moment.filter(|_| is_past).map(|moment| (at, moment.time));
    }

    fn open(&mut self, scene: &str) -> Result<(), String> {
        let simulation = self.gallery.open(scene)?;
        self.scene = simulation.about().name;
        self.change = Change::default();
        self.racers.clear();
        self.begin(vec![simulation]);
        self.play(true);
        self.tell_state();
        Ok(())
    }

    fn restart(&mut self) -> Result<(), String> {
        let solvers: Vec<Option<String>> = if self.racers.is_empty() {
            vec![None]
        } else {
            self.racers.iter().cloned().map(Some).collect()
        };
        let mut lanes = Vec::new();
        for solver in solvers {
            let mut simulation = self.gallery.open(&self.scene)?;
            let racer = Change {
                solver,
                ..Change::default()
            };
            simulation.change(&self.change.clone().then(&racer))?;
            lanes.push(simulation);
        }
        self.begin(lanes);
        Ok(())
    }

    /// Puts new worlds in place of the present ones.
    fn begin(&mut self, simulations: Vec<Box<dyn Simulation>>) {
        self.lanes = simulations.into_iter().map(Lane::new).collect();
        self.history = History::default();
        self.shown = None;
        self.grip = None;
        self.owed = 0.0;
        self.remember();
        self.hub.forget_frames();
        self.hub.post(&self.stage_message());
        self.hub.post(&self.settings_message());
        self.changed = true;
    }

    fn set(&mut self, change: &Change) -> Result<(), String> {
        // In a race every lane keeps its own solver.
        let change = Change {
            solver: change.solver.clone().filter(|_| self.racers.is_empty()),
            ..change.clone()
        };
        let mut changed = Ok(());
        for lane in &mut self.lanes {
            changed = changed.and(lane.simulation.change(&change));
        }
        if changed.is_ok() {
            self.change = self.change.clone().then(&change);
        }
        self.hub.post(&self.settings_message());
        changed
    }

    fn throw(&mut self, throw: &Throw) -> Result<(), String> {
        for lane in &mut self.lanes {
            lane.simulation.throw(throw)?;
        }
        self.shown = None;
        self.hub.post(&self.stage_message());
        self.play(true);
        self.tell_state();
        Ok(())
    }

    fn send_matrix(&mut self) -> Result<(), String> {
        let Some(lane) = self.lanes.first_mut() else {
            return Ok(());
        };
        let matrix = lane.simulation.matrix();
        let message = json!({ "type": "matrix", "matrix": matrix });
        self.hub.post(&json(&message));
        Ok(())
    }
}

/// What is told.
impl Player {
    /// Tells a new page everything.
    fn welcome(&mut self, mailbox: Mailbox) {
        let hello = json!({
            "type": "hello",
            "scenes": self.gallery.cards(),
            "solvers": self.gallery.solvers(),
            "strategies": self.gallery.strategies(),
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

    fn tell_state(&self) {
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

    fn settings_message(&self) -> Message {
        let settings: Vec<_> = self.lanes.iter().map(|l| l.simulation.settings()).collect();
        json(&json!({ "type": "settings", "lanes": settings }))
    }

    fn stage_message(&self) -> Message {
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
    fn publish(&mut self, now: Instant) {
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
        let newest = self.history.len().saturating_sub(1);
        let head = self.history.get(newest).map_or(0.0, |moment| moment.time);
        match self.shown.and_then(|(at, _)| self.history.get(at)) {
            Some(moment) => {
                for (lane, frame) in moment.frames.iter().enumerate() {
                    let mut bytes = frame.to_vec();
                    wire::set_head_time(&mut bytes, head);
                    self.hub.show(lane, &Bytes::from(bytes));
                }
            }
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

    /// The present is encoded anew only where a thinned history has left it out.
    fn show_present(&self) {
        let newest = self.history.get(self.history.len().saturating_sub(1));
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
