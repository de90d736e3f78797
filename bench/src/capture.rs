//! A capture of the loopback interface, and the requests in it.
//!
//! A packet socket (packet(7)) gets a copy of each arriving segment, with the kernel's time. On
//! loopback a request arrives when it leaves, except for its time in the interface's queue.
//! [`Capture`] records the times of segments with bytes. [`exchanges`] pairs requests and responses
//! by the client's port and their order, like a reader of a capture: from the first segment of a
//! request to the last segment of its response. None of this depends on the load tester.
//!
//! A capture runs in a separate network namespace ([`enter_namespace`]), so that no other traffic
//! crosses it and no other program's packets are visible.

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

/// The maximum wait for a segment before the reader checks whether to end.
const LOOK: TimeVal = TimeVal::new(0, 50_000);
/// Room for the headers of IP and TCP.
const HEADERS: usize = 128;
/// The buffer for segments that wait for the reader, if the system allows it.
const WAITING_BYTES: usize = 32 << 20;
/// The maximum number of recorded segments.
const SEGMENTS_MAX: usize = 4_000_000;

/// A TCP segment that carries bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSegment {
    /// The real time of arrival.
    pub at: Nanos,
    /// The source port.
    pub source: u16,
    /// The destination port.
    pub destination: u16,
    /// The sequence number of the first byte.
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
    /// The time from the first segment of the request to the last segment of the response.
    #[must_use]
    pub fn service(self) -> Nanos {
        self.end - self.sent
    }
}

impl TcpSegment {
    /// Parses the segment in an IPv4 packet; `None` for other packets, and for segments without
    /// bytes.
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

/// The exchanges with the server at a port, in the order of their requests. Requests without a
/// response are left out.
#[must_use]
pub fn exchanges(segments: &[TcpSegment], port: u16) -> Vec<Exchange> {
    let mut open: BTreeMap<u16, CapturedConversation> = BTreeMap::new();
    let mut found = Vec::new();
    for segment in segments {
        let is_request = segment.destination == port;
        let client = match is_request {
            true => segment.source,
            false => segment.destination,
        };
        let conversation = open.entry(client).or_default();
        found.extend(conversation.push_segment(is_request, segment));
    }
    found.extend(open.into_values().filter_map(|last| last.exchange));
    found.sort_by_key(|exchange: &Exchange| exchange.sent);
    found
}

/// The current exchange of one connection.
#[derive(Default)]
struct CapturedConversation {
    /// An unanswered request.
    sent: Option<Nanos>,
    /// The exchange whose response has begun.
    exchange: Option<Exchange>,
    /// The newest byte of each side.
    newest: [Option<u32>; 2],
}

impl CapturedConversation {
    /// Processes a segment; returns the previous exchange if this segment begins another.
    fn push_segment(&mut self, is_request: bool, segment: &TcpSegment) -> Option<Exchange> {
        // A retransmitted segment contains nothing new.
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

/// Moves this thread, and all threads and processes that it starts later, into a separate network
/// namespace with a loopback interface. Returns `false` if the system does not allow it.
///
/// # Errors
/// If the interface can't be brought up.
pub fn enter_namespace() -> Result<bool> {
    let alone = CloneFlags::CLONE_NEWNET;
    // Without privileges, a program may do this as root of a user namespace.
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

/// A running capture.
#[derive(Debug)]
pub struct Capture {
    ends: Arc<AtomicBool>,
    reader: JoinHandle<Vec<TcpSegment>>,
}

impl Capture {
    /// Begins a capture of all packets that arrive in this thread's network namespace.
    ///
    /// # Errors
    /// If this program may not see packets.
    pub fn start() -> Result<Self> {
        // A socket for one protocol sees only arriving packets; a socket for all protocols also
        // sees leaving ones.
        let socket = socket(
            AddressFamily::Packet,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::EthIp,
        )?;
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        setsockopt(&socket, ReceiveTimeout, &LOOK)?;
        // With the necessary rights, the buffer may exceed the system's limit.
        setsockopt(&socket, RcvBufForce, &WAITING_BYTES)
            .or_else(|_| setsockopt(&socket, RcvBuf, &WAITING_BYTES))?;
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ends);
        let reader = thread::spawn(move || read(&socket, &is_over));
        Ok(Self { ends, reader })
    }

    /// Ends the capture. Returns the segments in the order of their arrival.
    ///
    /// # Errors
    /// If the thread of the capture panicked.
    pub fn finish(self) -> Result<Vec<TcpSegment>> {
        self.ends.store(true, Ordering::Relaxed);
        let segments = self.reader.join();
        segments.map_err(|_| Error::other("the capture's thread panicked"))
    }
}

/// Reads segments until none arrive and the capture has ended.
fn read(socket: &OwnedFd, is_over: &AtomicBool) -> Vec<TcpSegment> {
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
        segments.extend(at.and_then(|at| TcpSegment::parse(&packet[..length], at)));
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet with a TCP segment, both without options.
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
        let segment = TcpSegment {
            at,
            source: 40_000,
            destination: 80,
            sequence: 9,
        };
        assert_eq!(TcpSegment::parse(&whole, at), Some(segment));
        assert_eq!(TcpSegment::parse(&packet([40_000, 80], 9, 0), at), None);
        for length in 0..whole.len() {
            assert_eq!(
                TcpSegment::parse(&whole[..length.min(33)], at).is_some(),
                length >= 33
            );
        }
        let mut other = whole;
        other[9] = 17;
        assert_eq!(TcpSegment::parse(&other, at), None);
    }

    #[test]
    fn requests_and_responses_are_paired_on_each_connection() {
        let segment = |at: u64, source: u16, destination: u16, sequence: u32| TcpSegment {
            at: Nanos(at),
            source,
            destination,
            sequence,
        };
        let segments = [
            segment(10, 40_001, 80, 1),
            segment(12, 40_002, 80, 500),
            segment(15, 80, 40_001, 1),
            // The rest of a response, and a retransmitted segment.
            segment(18, 80, 40_001, 1_000),
            segment(19, 80, 40_001, 1),
            segment(20, 80, 40_002, u32::MAX - 10),
            // A request in two segments.
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
