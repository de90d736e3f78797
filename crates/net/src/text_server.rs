//! One text that changes, served over HTTP/1.1 to programs on this machine.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a client may take for its request, and for taking the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A longer request is not read to its end.
const REQUEST_BYTES_MAX: usize = 8_192;

/// A text at a path, on loopback only. Clients are answered one after the other, by threads that
/// do nothing else; they end with the program.
#[derive(Clone, Debug)]
pub struct TextServer {
    text: Arc<Mutex<String>>,
}

impl TextServer {
    /// Serves an empty text at `path` of this port, of 127.0.0.1 and, where there is one, of ::1.
    ///
    /// # Errors
    /// When the port can't be listened on, or no thread can be started.
    pub fn start(port: u16, path: &'static str) -> io::Result<Self> {
        let server = Self {
            text: Arc::default(),
        };
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let listeners = [Ok(first), TcpListener::bind((Ipv6Addr::LOCALHOST, port))];
        for listener in listeners.into_iter().flatten() {
            let text = Arc::clone(&server.text);
            let body = move || {
                // A client that goes away is no one's loss.
                for stream in listener.incoming().flatten() {
                    let _gone = answer(stream, path, &text);
                }
            };
            let name = "counters".to_owned();
            thread::Builder::new().name(name).spawn(body)?;
        }
        Ok(server)
    }

    /// Replaces the text.
    pub fn set(&self, text: String) {
        *lock(&self.text) = text;
    }
}

/// Nothing that could panic is done under the lock.
fn lock(text: &Mutex<String>) -> MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a request's head and answers it.
fn answer(mut stream: TcpStream, path: &str, text: &Mutex<String>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = Vec::new();
    let mut chunk = [0; 1_024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < REQUEST_BYTES_MAX {
        match stream.read(&mut chunk)? {
            0 => return Ok(()),
            count => head.extend_from_slice(&chunk[..count]),
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let asked = target.split(|byte| *byte == b'?').next();
    let (status, body) = match asked == Some(path.as_bytes()) {
        true => ("200 OK", lock(text).clone()),
        false => ("404 Not Found", String::new()),
    };
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(reply.as_bytes())
}
