//! The thread that steps: it follows orders, keeps the pace and shows frames, and never waits for
//! a page.
//!
//! Time is owed: each turn adds the time that went by, times the speed, and steps pay it back.
//! What can't be paid is forgotten, so a scene that is too much for the machine runs slower than
//! asked but never jumps. Nothing moves while no page looks.

mod telling;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::json;
use tungstenite::Bytes;

use super::command::Command;
use super::history::Moment;
use super::hub::{Hub, Mailbox};
use super::past::Past;
use super::simulation::{Change, Gallery, Grip, Numbers, Simulation, Throw};
use super::{json, trouble, wire};

/// How long steps may go on before orders are looked at again.
const STEPPING_TIME: Duration = Duration::from_millis(12);

/// Most time that can be owed, s.
const MOST_OWED_S: f64 = 0.05;

/// Why a recording can't be changed.
const RECORDED: &str = "this is a recording: it can be looked at but not changed; open its scene in \
    the gallery, or with `drystone view SCENE`, to run it anew";

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
    fn new(mut simulation: Box<dyn Simulation>) -> Self {
        let log = match simulation.tape() {
            Some(tape) => short(tape.rows()),
            None => vec![simulation.numbers()],
        };
        Self {
            simulation,
            fresh: log.clone(),
            log,
        }
    }

    fn note(&mut self, numbers: Numbers) {
        self.fresh.push(numbers);
        self.log.push(numbers);
        if self.log.len() >= MOST_ROWS {
            self.log = Numbers::thinned(&self.log);
        }
    }
}

/// Rows, few enough to be kept.
fn short(mut rows: Vec<Numbers>) -> Vec<Numbers> {
    while rows.len() >= MOST_ROWS {
        rows = Numbers::thinned(&rows);
    }
    rows
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
    past: Past,
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
        let is_tape = simulation.tape().is_some();
        if is_tape && change != Change::default() {
            return Err(RECORDED.to_owned());
        }
        if !is_tape {
            simulation.change(&change)?;
        }
        let mut player = Self {
            gallery,
            scene: simulation.about().name,
            lanes: vec![Lane::new(simulation)],
            racers: Vec::new(),
            change,
            hub: Hub::default(),
            past: Past::default(),
            playing: false,
            speed: 1.0,
            owed: 0.0,
            shown: None,
            grip: None,
            changed: true,
            published: Instant::now(),
            lesson_sent: Instant::now(),
        };
        player.rewind();
        Ok(player)
    }

    pub(super) fn play(&mut self, on: bool) {
        // A recording that is over begins anew.
        if on && self.past.is_tape() && self.shown.is_some_and(|(at, _)| at == self.past.last()) {
            self.show_moment(0);
        }
        self.playing = on;
        self.owed = 0.0;
    }

    /// To the start of a recording, or of what will be simulated.
    fn rewind(&mut self) {
        let tape = self.lanes.first_mut().and_then(|l| l.simulation.tape());
        self.past = tape.map_or_else(Past::default, |tape| Past::Tape(tape.times().to_vec()));
        self.shown = None;
        if self.past.is_tape() {
            self.show_moment(0);
        } else {
            self.remember();
        }
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
        if self.past.is_tape() && command.changes_the_run() {
            return Err(RECORDED.to_owned());
        }
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
                let at = self.shown.map_or(self.past.last(), |(at, _)| at);
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
                self.show_moment(self.past.nearest(time));
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
            Command::Race { racers } => self.race(racers),
            Command::Matrix {} => self.send_matrix(),
        }
    }

    /// Pays what is owed by steps, or moves on in what is remembered.
    fn advance(&mut self, elapsed: f64) {
        if let Some((_, time)) = self.shown {
            let time = time + elapsed * self.speed;
            let at = self.past.nearest(time);
            let is_over = at >= self.past.last();
            self.shown = (self.past.is_tape() || !is_over).then_some((at, time));
            self.changed = true;
            if is_over && self.past.is_tape() {
                self.playing = false;
                self.tell_state();
            }
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
        self.past.keep(Moment { time, frames });
    }

    /// Shows a moment of the past; the newest one of a simulation is the present again, that of a
    /// recording its end.
    fn show_moment(&mut self, at: usize) {
        let at = at.min(self.past.last());
        let is_past = self.past.is_tape() || at < self.past.last();
        let time = self.past.time(at).filter(|_| is_past);
        self.shown = time.map(|time| (at, time));
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
        if self.past.is_tape() {
            self.show_moment(0);
            return Ok(());
        }
        let lanes = self.lanes_of(&self.racers)?;
        self.begin(lanes);
        Ok(())
    }

    /// Begins a race, or ends it where there are fewer than two racers. Where one of them can't
    /// run this scene, nothing changes.
    fn race(&mut self, mut racers: Vec<String>) -> Result<(), String> {
        if racers.len() < 2 {
            racers.clear();
        }
        let lanes = self.lanes_of(&racers)?;
        self.racers = racers;
        self.begin(lanes);
        Ok(())
    }

    /// The scene at its start, once for each racer, or once.
    fn lanes_of(&self, racers: &[String]) -> Result<Vec<Box<dyn Simulation>>, String> {
        let lane = |racer: Change| {
            let mut simulation = self.gallery.open(&self.scene)?;
            simulation.change(&self.change.clone().then(&racer))?;
            Ok(simulation)
        };
        if racers.is_empty() {
            return Ok(vec![lane(Change::default())?]);
        }
        let named = |name: &String| {
            let lane = self.gallery.racer(name).and_then(lane);
            lane.map_err(|reason: String| format!("{name} can't race here: {reason}"))
        };
        racers.iter().map(named).collect()
    }

    /// Puts new worlds in place of the present ones.
    fn begin(&mut self, simulations: Vec<Box<dyn Simulation>>) {
        self.lanes = simulations.into_iter().map(Lane::new).collect();
        self.grip = None;
        self.owed = 0.0;
        self.rewind();
        self.hub.forget_frames();
        self.hub.post(&self.stage_message());
        self.hub.post(&self.settings_message());
        self.changed = true;
    }

    fn set(&mut self, change: &Change) -> Result<(), String> {
        // In a race every lane keeps its own solver and strategy.
        let is_free = self.racers.is_empty();
        let change = Change {
            solver: change.solver.clone().filter(|_| is_free),
            strategy: change.strategy.clone().filter(|_| is_free),
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
