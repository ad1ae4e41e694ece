//! The door: who may come in, and to what.
//!
//! The server listens on the loopback address only. Every request must name exactly this address
//! as its host, so that no other name can be made to point here; a WebSocket must come from a page
//! of exactly this address and bring the token of this run, which only the address that the
//! program prints holds. So no other page, and no other user of the machine, can reach a scene.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use tungstenite::handshake::derive_accept_key;

use super::client;
use super::http::{Answer, Request};
use super::hub::Mailbox;
use super::player::Order;
use super::simulation::Gallery;

/// Where things worth knowing are written.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Connections at a time, at most.
const MOST_CONNECTIONS: usize = 64;

/// How long a page may take to say what it wants.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);

/// What every connection needs.
pub(super) struct Door {
    pub(super) address: SocketAddr,
    pub(super) token: String,
    pub(super) page: &'static str,
    pub(super) gallery: Arc<dyn Gallery>,
    pub(super) orders: Sender<Order>,
    pub(super) log: Log,
}

/// Answers connections for ever.
pub(super) fn listen(listener: &TcpListener, door: &Arc<Door>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Such as too many open files: there is time to close some.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if open.load(Ordering::Relaxed) >= MOST_CONNECTIONS {
            (door.log)("a connection was refused: there are too many");
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (door, open_here) = (Arc::clone(door), Arc::clone(&open));
        let thread = std::thread::Builder::new().name("viewer page".into());
        let started = thread.spawn(move || {
            let _ = door.answer(stream);
            open_here.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Door {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(HEAD_PATIENCE))?;
        stream.set_write_timeout(Some(HEAD_PATIENCE))?;
        let Ok(request) = Request::read(&mut stream) else {
            return refuse(&mut stream, "400 Bad Request", "this is not HTTP/1.1");
        };
        if !self
            .hosts()
            .iter()
            .any(|host| request.header("host") == Some(host))
        {
            (self.log)("a request for another host was refused");
            return refuse(&mut stream, "421 Misdirected Request", "wrong host");
        }
        if request.method != "GET" {
            return refuse(&mut stream, "405 Method Not Allowed", "only GET");
        }
        match request.path.as_str() {
            "/" => Answer {
                status: "200 OK",
                kind: "text/html; charset=utf-8",
                body: self.page.as_bytes(),
            }
            .send(&mut stream),
            "/live" => self.live(stream, request),
            path => match path.strip_prefix("/thumbnail/") {
                Some(name) => self.thumbnail(&mut stream, &request, name),
                None => refuse(&mut stream, "404 Not Found", "there is no such page"),
            },
        }
    }

    /// Host headers that mean this server.
    fn hosts(&self) -> [String; 2] {
        let port = self.address.port();
        [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
    }

    fn has_token(&self, request: &Request) -> bool {
        let given = request.query.strip_prefix("token=").unwrap_or("");
        same(given.as_bytes(), self.token.as_bytes())
    }

    fn live(&self, mut stream: TcpStream, request: Request) -> std::io::Result<()> {
        let host = request.header("host").unwrap_or_default();
        if request.header("origin") != Some(&format!("http://{host}")) {
            (self.log)("a page of another origin was refused");
            return refuse(&mut stream, "403 Forbidden", "wrong origin");
        }
        if !self.has_token(&request) {
            (self.log)("a page without this run's token was refused");
            return refuse(&mut stream, "403 Forbidden", "wrong token");
        }
        let upgrades = |name: &str, value: &str| {
            let header = request.header(name).unwrap_or_default();
            let mut words = header.split(',');
            words.any(|word| word.trim().eq_ignore_ascii_case(value))
        };
        let key = request.header("sec-websocket-key");
        let version = request.header("sec-websocket-version");
        let (Some(key), true, Some("13")) = (
            key,
            upgrades("upgrade", "websocket") && upgrades("connection", "upgrade"),
            version,
        ) else {
            return refuse(&mut stream, "400 Bad Request", "this is not a WebSocket");
        };
        let accept = derive_accept_key(key.as_bytes());
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mailbox = Mailbox::default();
        client::serve(stream, request.rest, &mailbox, &self.orders, &self.log)
    }

    fn thumbnail(
        &self,
        stream: &mut TcpStream,
        request: &Request,
        name: &str,
    ) -> std::io::Result<()> {
        if !self.has_token(request) || request.has("origin") {
            return refuse(stream, "403 Forbidden", "wrong token");
        }
        match self.gallery.thumbnail(name) {
            Some(png) => Answer {
                status: "200 OK",
                kind: "image/png",
                body: &png,
            }
            .send(stream),
            None => refuse(stream, "404 Not Found", "there is no such picture"),
        }
    }
}

fn refuse(stream: &mut TcpStream, status: &str, reason: &str) -> std::io::Result<()> {
    Answer {
        status,
        kind: "text/plain; charset=utf-8",
        body: reason.as_bytes(),
    }
    .send(stream)
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y));
    a.len() == b.len() && differences == 0
}
