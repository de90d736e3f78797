//! A server that records the arrival times of requests by client address.

use drumfire_net::Clock;
use drumfire_units::Nanos;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Result, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The times of requests from each address, by the server's clock.
pub type Times = BTreeMap<IpAddr, Vec<Nanos>>;

/// An HTTP/1.1 server for requests without bodies, with a thread per connection.
#[derive(Debug)]
pub struct Arrivals {
    clock: Clock,
    address: SocketAddr,
    times: Arc<Mutex<Times>>,
}

impl Arrivals {
    /// Listens at a free port of an address and uses this clock.
    ///
    /// # Errors
    /// If it can't listen there.
    pub fn listen(address: IpAddr, clock: Clock) -> Result<Self> {
        let listener = TcpListener::bind((address, 0))?;
        let address = listener.local_addr()?;
        let times: Arc<Mutex<Times>> = Arc::default();
        let shared = Arc::clone(&times);
        // The thread ends with the program.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    // A killed client breaks its connection.
                    let _broken = serve(stream, clock, &shared);
                });
            }
        });
        Ok(Self {
            clock,
            address,
            times,
        })
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The current time of the server's clock.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// The arrivals so far.
    #[must_use]
    pub fn so_far(&self) -> Times {
        lock(&self.times).clone()
    }

    /// Takes and removes the arrivals so far.
    #[must_use]
    pub fn drain(&self) -> Times {
        std::mem::take(&mut *lock(&self.times))
    }
}

/// Answers the requests of a connection.
fn serve(stream: TcpStream, clock: Clock, times: &Mutex<Times>) -> Result<()> {
    stream.set_nodelay(true)?;
    let from = stream.peer_addr()?.ip();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.trim_end().is_empty() {
            let now = clock.now();
            lock(times).entry(from).or_default().push(now);
            stream
                .get_mut()
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
        }
    }
}

fn lock(times: &Mutex<Times>) -> MutexGuard<'_, Times> {
    // No code under the lock can panic.
    times.lock().unwrap_or_else(PoisonError::into_inner)
}
