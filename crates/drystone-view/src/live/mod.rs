//! The live viewer: a page in the browser where a scene plays.
//!
//! ```text
//! Gallery ─▶ Simulation ─▶ player (one thread) ─▶ hub ─▶ mailbox ─▶ client (a thread a page)
//!                              ▲                                      │
//!                              └──────────── orders ◀─────────────────┘
//! ```
//!
//! The player steps the simulation and never waits for a page: each page has a mailbox that holds
//! the newest frame only. The page is one HTML file inside the program; [`page::PAGE`] is empty
//! where the program was built without npm.

mod client;
mod command;
mod history;
mod http;
mod hub;
pub mod page;
mod past;
mod player;
mod server;
mod simulation;
pub mod wire;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::channel;

pub use server::Log;
pub use simulation::{
    About, Card, Change, ContactDetail, Gallery, Grip, Lesson, Matrix, Numbers, Settings,
    Simulation, Tape, Throw,
};

use server::Door;
use tungstenite::Message;

/// Why there is no viewer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The program was built without the page.
    #[error(
        "this program was built without the viewer: npm or its registry was not at hand. Install \
         Node.js and npm (on Debian: apt install nodejs npm), then build again"
    )]
    NoPage,
    /// The port can't be listened on.
    #[error("port {port} on this machine can't be used: {error}. Choose another with --port")]
    Port {
        /// The port.
        port: u16,
        /// Why.
        error: std::io::Error,
    },
    /// There is no randomness for a token.
    #[error("the operating system gave no random numbers: {0}")]
    Random(String),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
    /// The scene can't be opened.
    #[error("{0}")]
    Scene(String),
}

/// How a viewer is started.
pub struct Options {
    /// Port on the loopback address; 0 for any that is free.
    pub port: u16,
    /// The scene to begin with.
    pub scene: String,
    /// Whether the scene plays at once.
    pub playing: bool,
    /// Settings in place of the scene's.
    pub change: Change,
    /// Where refused messages are written.
    pub log: Log,
}

/// A viewer that runs.
#[derive(Debug)]
pub struct Viewer {
    address: SocketAddr,
    token: String,
    player: std::thread::JoinHandle<()>,
}

impl Viewer {
    /// Opens a scene and begins to listen.
    ///
    /// # Errors
    ///
    /// If there is no page, no such scene, or the port is taken.
    pub fn start(gallery: Arc<dyn Gallery>, options: Options) -> Result<Self, LiveError> {
        if page::PAGE.is_empty() {
            return Err(LiveError::NoPage);
        }
        let simulation = gallery.open(&options.scene).map_err(LiveError::Scene)?;
        let place = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let port = |error| LiveError::Port {
            port: options.port,
            error,
        };
        let listener = TcpListener::bind(place).map_err(port)?;
        let address = listener.local_addr().map_err(port)?;
        let token = new_token()?;
        let (orders, inbox) = channel();
        let door = Arc::new(Door {
            address,
            token: token.clone(),
            page: page::PAGE,
            gallery: Arc::clone(&gallery),
            orders,
            log: options.log,
        });
        let mut player =
            player::Player::new(gallery, simulation, options.change).map_err(LiveError::Scene)?;
        player.play(options.playing);
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        let player = thread("player")
            .spawn(move || player.run(&inbox))
            .map_err(LiveError::Thread)?;
        thread("viewer door")
            .spawn(move || server::listen(&listener, &door))
            .map_err(LiveError::Thread)?;
        Ok(Self {
            address,
            token,
            player,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The secret that a page needs.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The address to open in a browser. The token is in its fragment, which stays in the
    /// browser.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/#{}", self.address, self.token)
    }

    /// Waits for ever, or until the player ends.
    pub fn wait(self) {
        let _ = self.player.join();
    }
}

/// 128 random bits in hexadecimal.
fn new_token() -> Result<String, LiveError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| LiveError::Random(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A message for the person in front of the page.
fn trouble(text: &str) -> Message {
    json(&serde_json::json!({ "type": "trouble", "text": text }))
}

fn json(value: &serde_json::Value) -> Message {
    Message::text(value.to_string())
}
