//! As much of HTTP as a page on the same machine needs.

use std::io::{self, Read, Write};

/// The longest head of a request, bytes.
const MOST_HEAD_BYTES: usize = 16 << 10;

/// The head of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    /// GET and so on.
    pub(super) method: String,
    /// Path without the query.
    pub(super) path: String,
    /// What follows the question mark.
    pub(super) query: String,
    headers: Vec<(String, String)>,
    /// Bytes that were read beyond the head.
    pub(super) rest: Vec<u8>,
}

impl Request {
    /// Reads a head.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut piece = [0; 1024];
        let end = loop {
            if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            let count = stream.read(&mut piece)?;
            if count == 0 || bytes.len() + count > MOST_HEAD_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            bytes.extend_from_slice(&piece[..count]);
        };
        let rest = bytes.split_off(end + 4);
        let head = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        let mut request = Self::parse(&head).ok_or(io::ErrorKind::InvalidData)?;
        request.rest = rest;
        Ok(request)
    }

    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target, version) = (first.next()?, first.next()?, first.next()?);
        if version != "HTTP/1.1" || first.next().is_some() || !target.starts_with('/') {
            return None;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let lines = lines.filter(|line| !line.is_empty());
        Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: lines.map(header).collect::<Option<_>>()?,
            rest: Vec::new(),
        })
    }

    /// The value of a header that is there exactly once; names are in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(key, _)| key == name);
        let value = values.next()?;
        values.next().is_none().then_some(value.1.as_str())
    }

    /// Whether there is a header of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(key, _)| key == name)
    }
}

/// An answer with a body; the connection ends after it.
pub(super) struct Answer<'a> {
    /// Such as "200 OK".
    pub(super) status: &'a str,
    /// Its content type.
    pub(super) kind: &'a str,
    /// The body.
    pub(super) body: &'a [u8],
}

/// What a page of ours may do: run its own script, talk to this server, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

impl Answer<'_> {
    /// Sends the answer.
    pub(super) fn send(&self, stream: &mut impl Write) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\nContent-Security-Policy: {POLICY}\r\n\r\n",
            self.status,
            self.kind,
            self.body.len(),
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(self.body)?;
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_and_what_follows_is_kept() {
        let text = b"GET /live?token=a HTTP/1.1\r\nHost: x\r\nOrigin:  y \r\n\r\nmore";
        let request = Request::read(&mut &text[..]).unwrap();
        assert_eq!(request.path, "/live");
        assert_eq!(request.query, "token=a");
        assert_eq!(request.header("host"), Some("x"));
        assert_eq!(request.header("origin"), Some("y"));
        assert_eq!(request.rest, b"more");
    }

    #[test]
    fn bad_heads_are_refused() {
        let long = format!(
            "GET / HTTP/1.1\r\nA: {}\r\n\r\n",
            "x".repeat(MOST_HEAD_BYTES)
        );
        let bad = [
            "GET / HTTP/1.1\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "GET http://x/ HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "\r\n\r\n",
            &long,
        ];
        for text in bad {
            assert!(Request::read(&mut text.as_bytes()).is_err(), "{text:.40}");
        }
    }

    #[test]
    fn a_header_that_is_there_twice_counts_as_none() {
        let text = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
        let request = Request::read(&mut &text[..]).unwrap();
        assert_eq!(request.header("host"), None);
        assert!(request.has("host"));
    }
}
