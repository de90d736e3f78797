//! What a capture of the loopback interface says of the requests that cross it.
//!
//! A packet socket (packet(7)) gets a copy of each segment that arrives, with the kernel's time. On
//! loopback a request arrives when it leaves, but for the way through the queue of the interface. The
//! [`Capture`] keeps the times of segments with bytes; [`exchanges`] pairs requests and responses by
//! the client's port and their order, as a reader of a capture does: from the first segment of a
//! request to the last one of its response. Nothing of it knows the load tester.
//!
//! A capture is taken in a network namespace of its own ([`enter_namespace`]), so that nothing else
//! crosses it, and no other program's packets are seen.

use drumfire_units::Nanos;
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, ReceiveTimeout, ReceiveTimestampns};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg,
    setsockopt, socket,
};
use nix::sys::time::{TimeSpec, TimeVal};
use std::collections::BTreeMap;
use std::io::{Error, IoSliceMut, Result};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The longest wait for a segment before the reader looks whether it is to end.
const LOOK: TimeVal = TimeVal::new(0, 50_000);
/// Room for the headers of IP and TCP.
const HEADERS: usize = 128;
/// Room for the segments that wait for the reader, as far as the system allows it.
const WAITING_BYTES: usize = 32 << 20;
/// The most segments that are kept.
const SEGMENTS_MAX: usize = 4_000_000;

/// A segment of TCP that carries bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The real time at which it came.
    pub at: Nanos,
    /// The port that it came from.
    pub source: u16,
    /// The port that it went to.
    pub destination: u16,
    /// The number of its first byte.
    pub sequence: u32,
}

/// A request and its response, by the times of their segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The first segment of the request.
    pub sent: Nanos,
    /// The last segment of the response.
    pub end: Nanos,
}

impl Exchange {
    /// The time from the one to the other.
    #[must_use]
    pub fn service(self) -> Nanos {
        self.end - self.sent
    }
}

impl Segment {
    /// The segment of an IPv4 packet; `None` for any other packet, and for one without bytes of a
    /// stream.
    #[must_use]
    pub fn parse(packet: &[u8], at: Nanos) -> Option<Self> {
        let two = |from: usize| {
            Some(u16::from_be_bytes(
                packet.get(from..from + 2)?.try_into().ok()?,
            ))
        };
        let (version, words) = (packet.first()? >> 4, packet.first()? & 15);
        let is_tcp = version == 4 && *packet.get(9)? == 6;
        let tcp = usize::from(words) * 4;
        let offset = usize::from(*packet.get(tcp + 12)? >> 4) * 4;
        let bytes = usize::from(two(2)?).checked_sub(tcp + offset)?;
        let sequence = packet.get(tcp + 4..tcp + 8)?;
        (is_tcp && bytes > 0).then_some(Self {
            at,
            source: two(tcp)?,
            destination: two(tcp + 2)?,
            sequence: u32::from_be_bytes(sequence.try_into().ok()?),
        })
    }
}

/// The exchanges with the server at a port, in the order of their requests. A request whose response
/// never came is none.
#[must_use]
pub fn exchanges(segments: &[Segment], port: u16) -> Vec<Exchange> {
    let mut open: BTreeMap<u16, Conversation> = BTreeMap::new();
    let mut found = Vec::new();
    for segment in segments {
        let is_request = segment.destination == port;
        let client = match is_request {
            true => segment.source,
            false => segment.destination,
        };
        let conversation = open.entry(client).or_default();
        found.extend(conversation.take(is_request, segment));
    }
    found.extend(open.into_values().filter_map(|last| last.exchange));
    found.sort_by_key(|exchange: &Exchange| exchange.sent);
    found
}

/// The present exchange of one connection.
#[derive(Default)]
struct Conversation {
    /// A request that is unanswered.
    sent: Option<Nanos>,
    /// The exchange whose response has begun.
    exchange: Option<Exchange>,
    /// The newest byte of either side.
    newest: [Option<u32>; 2],
}

impl Conversation {
    /// Takes a segment; gives the exchange before, where this one begins another.
    fn take(&mut self, is_request: bool, segment: &Segment) -> Option<Exchange> {
        // A segment that is sent again brings nothing.
        let newest = &mut self.newest[usize::from(is_request)];
        let is_new =
            newest.is_none_or(|newest| segment.sequence.wrapping_sub(newest).cast_signed() > 0);
        if !is_new {
            return None;
        }
        *newest = Some(segment.sequence);
        if is_request {
            let before = self.exchange.take();
            self.sent.get_or_insert(segment.at);
            return before;
        }
        if let Some(sent) = self.sent.take() {
            self.exchange = Some(Exchange {
                sent,
                end: segment.at,
            });
        } else if let Some(exchange) = &mut self.exchange {
            exchange.end = segment.at;
        }
        None
    }
}

/// Puts this thread, and all that it starts from now on, into a network namespace of its own with
/// a loopback interface. `false` where this system does not let it.
///
/// # Errors
/// When the interface can't be brought up.
pub fn enter_namespace() -> Result<bool> {
    let alone = CloneFlags::CLONE_NEWNET;
    // Without rights a program may do so as the root of a namespace of users.
    if unshare(alone).is_err() && unshare(alone | CloneFlags::CLONE_NEWUSER).is_err() {
        return Ok(false);
    }
    let up = Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .status()?;
    match up.success() {
        true => Ok(true),
        false => Err(Error::other("`ip link set lo up` failed")),
    }
}

/// A capture under way.
#[derive(Debug)]
pub struct Capture {
    ends: Arc<AtomicBool>,
    reader: JoinHandle<Vec<Segment>>,
}

impl Capture {
    /// Begins a capture of all that arrives in this thread's network namespace.
    ///
    /// # Errors
    /// When this program may not see packets.
    pub fn start() -> Result<Self> {
        // Of one protocol a packet is seen when it arrives, of all also when it leaves.
        let socket = socket(
            AddressFamily::Packet,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::EthIp,
        )?;
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        setsockopt(&socket, ReceiveTimeout, &LOOK)?;
        // Beyond the system's limit with the rights for it, else up to that.
        setsockopt(&socket, RcvBufForce, &WAITING_BYTES)
            .or_else(|_| setsockopt(&socket, RcvBuf, &WAITING_BYTES))?;
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ends);
        let reader = thread::spawn(move || read(&socket, &is_over));
        Ok(Self { ends, reader })
    }

    /// Ends it. Gives the segments in the order in which they came.
    ///
    /// # Errors
    /// When its thread has panicked.
    pub fn finish(self) -> Result<Vec<Segment>> {
        self.ends.store(true, Ordering::Relaxed);
        let segments = self.reader.join();
        segments.map_err(|_| Error::other("the capture's thread panicked"))
    }
}

/// Reads segments until nothing comes and the capture is over.
fn read(socket: &OwnedFd, is_over: &AtomicBool) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut control = nix::cmsg_space!(TimeSpec);
    let mut packet = [0; HEADERS];
    while segments.len() < SEGMENTS_MAX {
        let mut parts = [IoSliceMut::new(&mut packet)];
        let received = recvmsg::<()>(
            socket.as_raw_fd(),
            &mut parts,
            Some(&mut control),
            MsgFlags::empty(),
        );
        let (length, at) = match received {
            Ok(message) => {
                let mut times = message.cmsgs().into_iter().flatten();
                let at = times.find_map(|message| match message {
                    ControlMessageOwned::ScmTimestampns(time) => Some(time),
                    _ => None,
                });
                (message.bytes, at)
            }
            Err(Errno::EINTR) => continue,
            Err(Errno::EAGAIN) if !is_over.load(Ordering::Relaxed) => continue,
            Err(_) => break,
        };
        let at = at.map(|at| Nanos(at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64));
        segments.extend(at.and_then(|at| Segment::parse(&packet[..length], at)));
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of IPv4 with a segment of TCP, both without options.
    fn packet(ports: [u16; 2], sequence: u32, bytes: u16) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(40 + bytes).to_be_bytes());
        packet[9] = 6;
        packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
        packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        packet[32] = 0x50;
        packet
    }

    #[test]
    fn a_segment_has_ports_and_bytes() {
        let at = Nanos(7);
        let whole = packet([40_000, 80], 9, 100);
        let segment = Segment {
            at,
            source: 40_000,
            destination: 80,
            sequence: 9,
        };
        assert_eq!(Segment::parse(&whole, at), Some(segment));
        assert_eq!(Segment::parse(&packet([40_000, 80], 9, 0), at), None);
        for length in 0..whole.len() {
            assert_eq!(
                Segment::parse(&whole[..length.min(33)], at).is_some(),
                length >= 33
            );
        }
        let mut other = whole;
        other[9] = 17;
        assert_eq!(Segment::parse(&other, at), None);
    }

    #[test]
    fn requests_and_responses_are_paired_on_each_connection() {
        let segment = |at: u64, source: u16, destination: u16, sequence: u32| Segment {
            at: Nanos(at),
            source,
            destination,
            sequence,
        };
        let segments = [
            segment(10, 40_001, 80, 1),
            segment(12, 40_002, 80, 500),
            segment(15, 80, 40_001, 1),
            // The rest of a response, and a segment that is sent again.
            segment(18, 80, 40_001, 1_000),
            segment(19, 80, 40_001, 1),
            segment(20, 80, 40_002, u32::MAX - 10),
            // A request of two segments.
            segment(30, 40_001, 80, 50),
            segment(31, 40_001, 80, 90),
            segment(35, 80, 40_001, 2_000),
            segment(40, 40_002, 80, 700),
            segment(44, 80, 40_002, 5),
            // A request without a response.
            segment(50, 40_001, 80, 200),
        ];
        let found = exchanges(&segments, 80);
        let found: Vec<_> = found.iter().map(|it| (it.sent.0, it.end.0)).collect();
        assert_eq!(found, [(10, 18), (12, 20), (30, 35), (40, 44)]);
    }
}
