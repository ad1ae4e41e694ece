//! A simulation without physics, and a page without a browser.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use drystone_frame::{Form, Frame, Object, Part, Stage};
use drystone_view::live::{
    About, Card, Change, ContactDetail, Gallery, Grip, Lesson, Matrix, Numbers, Options, Settings,
    Simulation, Tape, Throw, Viewer,
};
use serde_json::Value;
use tungstenite::{Message, WebSocket};

/// How long anything may take in a test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Balls that move by one metre in a step of a hundredth of a second.
pub(crate) struct Balls {
    count: usize,
    step: u64,
    settings: Settings,
    steps_of_all: Arc<AtomicU64>,
    pulled: Option<Grip>,
    /// Of a recording; empty where this is none.
    times: Vec<f64>,
}

impl Simulation for Balls {
    fn stage(&self) -> Stage {
        let ball = |k: usize| Object {
            name: format!("ball {k}"),
            fixed: false,
            parts: vec![Part {
                position: [0.0; 3],
                rotation: [0.0, 0.0, 0.0, 1.0],
                form: Form::Ball { radius: 0.5 },
            }],
        };
        Stage {
            dimension: 3,
            objects: (0..self.count).map(ball).collect(),
            ..Stage::default()
        }
    }

    fn about(&self) -> About {
        About {
            name: format!("balls-{}", self.count),
            ..About::default()
        }
    }

    fn frame(&self) -> Frame {
        let x = self.step as f64;
        // Where a hand pulls, the first ball is.
        let first = self.pulled.map(|grip| grip.target);
        let mut positions = vec![[x, 0.0, 0.0]; self.count];
        positions[0] = first.unwrap_or(positions[0]);
        Frame {
            time: x * self.settings.dt,
            step: self.step,
            positions,
            rotations: vec![[0.0, 0.0, 0.0, 1.0]; self.count],
            ..Frame::default()
        }
    }

    fn details(&self) -> Vec<ContactDetail> {
        Vec::new()
    }

    fn step(&mut self) -> Result<Numbers, String> {
        self.step += 1;
        self.steps_of_all.fetch_add(1, Ordering::SeqCst);
        Ok(self.numbers())
    }

    fn numbers(&self) -> Numbers {
        Numbers {
            step: self.step,
            time_s: self.step as f64 * self.settings.dt,
            ..Numbers::default()
        }
    }

    fn settings(&self) -> Settings {
        self.settings.clone()
    }

    fn change(&mut self, change: &Change) -> Result<(), String> {
        if change.friction.is_some_and(|friction| friction < 0.0) {
            return Err("friction must be 0 or more".to_owned());
        }
        if let Some(friction) = change.friction {
            self.settings.friction = friction;
        }
        if let Some(solver) = &change.solver {
            self.settings.solver.clone_from(solver);
        }
        Ok(())
    }

    fn pull(&mut self, grip: &Grip) {
        self.pulled = Some(*grip);
    }

    fn throw(&mut self, _: &Throw) -> Result<(), String> {
        self.count += 1;
        Ok(())
    }

    fn matrix(&mut self) -> Matrix {
        Matrix::default()
    }

    fn lesson(&mut self) -> Option<Lesson> {
        None
    }

    fn tape(&mut self) -> Option<&mut dyn Tape> {
        if self.times.is_empty() {
            None
        } else {
            Some(self)
        }
    }
}

impl Tape for Balls {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn moment(&mut self, number: usize) -> Result<(Frame, Vec<ContactDetail>), String> {
        self.step = number as u64;
        Ok((self.frame(), Vec::new()))
    }

    fn rows(&self) -> Vec<Numbers> {
        let row = |k: usize| Numbers {
            step: k as u64,
            time_s: self.times[k],
            ..Numbers::default()
        };
        (0..self.times.len()).map(row).collect()
    }
}

/// Frames of "tape-N".
pub(crate) const TAPE_FRAMES: usize = 101;

/// Opens "balls-N", and "tape-N" as a recording.
pub(crate) struct BallGallery {
    pub(crate) steps: Arc<AtomicU64>,
}

impl Gallery for BallGallery {
    fn cards(&self) -> Vec<Card> {
        vec![Card {
            name: "balls-2".into(),
            ..Card::default()
        }]
    }

    fn solvers(&self) -> Vec<String> {
        vec!["a".into(), "b".into()]
    }

    fn strategies(&self) -> Vec<String> {
        Vec::new()
    }

    fn racers(&self) -> Vec<String> {
        self.solvers()
    }

    fn racer(&self, name: &str) -> Result<Change, String> {
        Ok(Change {
            solver: Some(name.to_owned()),
            ..Change::default()
        })
    }

    fn laws(&self) -> Vec<String> {
        vec!["a law fails".into()]
    }

    fn open(&self, name: &str) -> Result<Box<dyn Simulation>, String> {
        let is_tape = name.starts_with("tape-");
        let count = name.strip_prefix("balls-").or(name.strip_prefix("tape-"));
        let count = count.and_then(|n| n.parse().ok());
        let frames = if is_tape { TAPE_FRAMES } else { 0 };
        Ok(Box::new(Balls {
            count: count.ok_or(format!("there is no scene `{name}`"))?,
            step: 0,
            settings: Settings {
                dt: 0.01,
                ..Settings::default()
            },
            steps_of_all: Arc::clone(&self.steps),
            pulled: None,
            times: (0..frames).map(|k| 0.01 * k as f64).collect(),
        }))
    }

    fn thumbnail(&self, name: &str) -> Option<Vec<u8>> {
        (name == "balls-2").then(|| b"picture".to_vec())
    }
}

/// A viewer of balls that is paused, what it logs, and the steps it made.
pub(crate) struct Stand {
    pub(crate) viewer: Viewer,
    pub(crate) steps: Arc<AtomicU64>,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

/// Starts a viewer; `None`, with a message, where the program was built without the page.
pub(crate) fn stand(scene: &str) -> Option<Stand> {
    if drystone_view::live::page::PAGE.is_empty() {
        eprintln!("skipped: built without the viewer's page, which needs npm");
        return None;
    }
    let steps = Arc::new(AtomicU64::new(0));
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    let gallery = Arc::new(BallGallery {
        steps: Arc::clone(&steps),
    });
    let options = Options {
        port: 0,
        scene: scene.to_owned(),
        playing: false,
        change: Change::default(),
        log: Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())),
    };
    Some(Stand {
        viewer: Viewer::start(gallery, options).unwrap(),
        steps,
        log,
    })
}

impl Stand {
    /// Waits until something was logged that holds these words.
    pub(crate) fn wait_for_log(&self, words: &str) {
        wait_until(|| {
            let log = self.log.lock().unwrap();
            log.iter().any(|line| line.contains(words))
        });
    }

    /// A page that is let in.
    pub(crate) fn page(&self) -> Page {
        let host = self.viewer.address().to_string();
        let origin = format!("http://{host}");
        let headers = [("Host", host.as_str()), ("Origin", origin.as_str())];
        let path = format!("/live?token={}", self.viewer.token());
        self.knock(&path, &headers).expect("the page was refused")
    }

    /// Tries to open a WebSocket with these headers; the status of a refusal.
    pub(crate) fn knock(&self, path: &str, headers: &[(&str, &str)]) -> Result<Page, u16> {
        let stream = TcpStream::connect(self.viewer.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut request = tungstenite::http::Request::get(path)
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header(
                "Sec-WebSocket-Key",
                tungstenite::handshake::client::generate_key(),
            );
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        // tungstenite's client wants a full address; the server must not.
        let uri = format!("ws://{}{path}", self.viewer.address());
        let request = request.uri(uri).body(()).unwrap();
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Page { socket }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits until something is so.
pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A page without a browser.
pub(crate) struct Page {
    pub(crate) socket: WebSocket<TcpStream>,
}

impl Page {
    pub(crate) fn say(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// The next text of a type.
    pub(crate) fn text(&mut self, kind: &str) -> Value {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "{kind} never came");
            if let Message::Text(text) = self.socket.read().unwrap() {
                let value: Value = serde_json::from_str(&text).unwrap();
                if value["type"] == kind {
                    return value;
                }
            }
        }
    }

    /// Step, time and number of objects of the next frame of a lane.
    pub(crate) fn frame(&mut self, lane: u32) -> (f64, f64, u32) {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "a frame never came");
            let Message::Binary(bytes) = self.socket.read().unwrap() else {
                continue;
            };
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let number = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            if word(0) == 1 && word(4) == lane {
                return (number(8), number(16), word(56));
            }
        }
    }

    /// Reads frames until one has this step.
    pub(crate) fn frame_of_step(&mut self, step: f64) -> (f64, f64, u32) {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "step {step} was never shown");
            let frame = self.frame(0);
            if frame.0 == step {
                return frame;
            }
        }
    }
}
