//! One page: what it says goes to the player, what waits in its mailbox goes to it.
//!
//! The thread of a page never holds anything that the player needs. Reads and writes give up
//! after a few milliseconds, so one thread can do both.

use std::io;
use std::net::TcpStream;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use super::command::Command;
use super::hub::Mailbox;
use super::player::Order;
use super::server::Log;

/// The longest message that a page may send, bytes.
pub(super) const MOST_MESSAGE_BYTES: usize = 1 << 20;

/// Bytes that may wait to be written: a frame of a very large scene, and some more.
const MOST_UNSENT_BYTES: usize = 64 << 20;

/// How long a read or a write may block.
const PATIENCE: Duration = Duration::from_millis(4);

/// How long a page may take nothing before it is let go.
const DEAD_AFTER: Duration = Duration::from_secs(20);

/// Messages that a page may get wrong before it is let go.
const MOST_REFUSED: u32 = 100;

/// Talks to a page until it is gone.
pub(super) fn serve(
    stream: TcpStream,
    already_read: Vec<u8>,
    mailbox: &Mailbox,
    orders: &Sender<Order>,
    log: &Log,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MOST_MESSAGE_BYTES))
        .max_frame_size(Some(MOST_MESSAGE_BYTES))
        .write_buffer_size(0)
        .max_write_buffer_size(MOST_UNSENT_BYTES);
    let socket = WebSocket::from_partially_read(stream, already_read, Role::Server, Some(config));
    let mut page = Page {
        socket,
        mailbox,
        orders,
        log,
        refused: 0,
        stuck_since: None,
    };
    let _ = orders.send(Order::Join(mailbox.clone()));
    while !mailbox.is_closed() && page.turn() {}
    mailbox.close();
    Ok(())
}

struct Page<'a> {
    socket: WebSocket<TcpStream>,
    mailbox: &'a Mailbox,
    orders: &'a Sender<Order>,
    log: &'a Log,
    refused: u32,
    /// Since when nothing could be written.
    stuck_since: Option<Instant>,
}

impl Page<'_> {
    /// Reads what there is and writes what waits; whether the page is still there.
    fn turn(&mut self) -> bool {
        match self.socket.read() {
            Ok(message) => self.hear(message),
            Err(Error::Io(error)) if is_patience(&error) => self.write(),
            Err(Error::Capacity(error)) => {
                (self.log)(&format!("a message was refused: {error}"));
                let _ = self.socket.close(None);
                false
            }
            Err(_) => false,
        }
    }

    fn hear(&mut self, message: Message) -> bool {
        let heard = match &message {
            Message::Text(text) => Command::parse(text),
            Message::Binary(_) => Err("a message was refused: it is not text".to_owned()),
            Message::Close(_) => return false,
            _ => return true,
        };
        match heard {
            Ok(command) => self.orders.send(Order::Command(command)).is_ok(),
            Err(reason) => {
                (self.log)(&reason);
                self.mailbox.post(super::trouble(&reason));
                self.refused += 1;
                self.refused <= MOST_REFUSED
            }
        }
    }

    fn write(&mut self) -> bool {
        // What a write left behind goes first; new frames replace each other meanwhile.
        let mut result = self.socket.flush();
        if result.is_ok() {
            for message in self.mailbox.take() {
                result = self.socket.write(message);
                match &result {
                    Err(Error::Io(error)) if is_patience(error) => {}
                    Err(_) => break,
                    Ok(()) => {}
                }
            }
            if result.is_ok() {
                result = self.socket.flush();
            }
        }
        match result {
            Ok(()) => {
                self.stuck_since = None;
                true
            }
            Err(Error::Io(error)) if is_patience(&error) => {
                let since = *self.stuck_since.get_or_insert_with(Instant::now);
                since.elapsed() < DEAD_AFTER
            }
            Err(_) => false,
        }
    }
}

fn is_patience(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
