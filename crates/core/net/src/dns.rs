//! Resolves names with drumfire's own DNS queries, because the system's resolver does not report
//! how long an answer is valid.
//!
//! A stub resolver (RFC 1034 section 5.3.1): it asks recursive servers for the A and AAAA records
//! of a name, both at once, over UDP, and over TCP if an answer was truncated. It ignores messages
//! from other senders, with another id, or about another question.

use crate::{Clock, ResolveError, Resolved};
use drumfire_units::Nanos;
use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, RCODE, TYPE};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};

/// The port of name servers.
const PORT: u16 = 53;
/// The maximum length of a chain of aliases; a longer chain counts as a failure.
const ALIASES_MAX: usize = 16;
/// The maximum length of an answer over UDP; no query allows a longer one.
const MESSAGE_MAX: usize = 4096;
/// The maximum number of servers and of search domains, as in glibc.
const SERVERS_MAX: usize = 3;
const SEARCH_MAX: usize = 6;
/// How many times each server is asked, unless the file specifies it.
const ATTEMPTS: usize = 2;
/// The maximum that the file may specify.
const ATTEMPTS_MAX: u64 = 5;
/// The time that a server has for its answers, unless the file specifies it.
const PATIENCE: Nanos = Nanos::from_secs(2);
/// The maximum number of seconds that the file may specify.
const PATIENCE_MAX: u64 = 30;
/// The maximum of `ndots` that the file may specify.
const DOTS_MAX: u64 = 15;
/// The address families, in the order of use.
const FAMILIES: [TYPE; 2] = [TYPE::A, TYPE::AAAA];
/// The maximum time to live, a week; a longer one counts as this.
const TTL_MAX: Nanos = Nanos::from_secs(7 * 86_400);

/// The addresses of a name in a `hosts` file (hosts(5)); empty if it lists none.
#[must_use]
pub fn in_hosts(text: &str, host: &str) -> Vec<IpAddr> {
    let host = host.trim_end_matches('.');
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let ip = words.next()?.parse().ok()?;
        words
            .any(|name| name.eq_ignore_ascii_case(host))
            .then_some(ip)
    });
    lines.collect()
}

/// Which servers are asked, and how: the content of `/etc/resolv.conf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameServers {
    servers: Vec<SocketAddr>,
    search: Vec<String>,
    /// A name with fewer dots is first looked up in the search domains.
    dots: usize,
    /// The time that a server has for its answers.
    patience: Nanos,
    /// How many times each server is asked.
    attempts: usize,
    /// Whether look-ups begin with different servers.
    rotates: bool,
}

impl NameServers {
    /// A single server.
    #[must_use]
    pub fn one(server: SocketAddr) -> Self {
        Self {
            servers: vec![server],
            ..Self::none()
        }
    }

    const fn none() -> Self {
        Self {
            servers: Vec::new(),
            search: Vec::new(),
            dots: 1,
            patience: PATIENCE,
            attempts: ATTEMPTS,
            rotates: false,
        }
    }

    /// Reads a `resolv.conf` (resolv.conf(5)); the machine itself is the server if the file names
    /// none.
    #[must_use]
    pub fn of_file(text: &str) -> Self {
        let mut found = Self::none();
        for line in text.lines() {
            let line = line.split(['#', ';']).next().unwrap_or_default();
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => {
                    // The zone of an IPv6 address is dropped.
                    let ip = words.next().and_then(|word| word.split('%').next());
                    let ip = ip.and_then(|ip| ip.parse::<IpAddr>().ok());
                    found.servers.extend(ip.map(|ip| SocketAddr::new(ip, PORT)));
                }
                Some("search" | "domain") => {
                    found.search = words.map(str::to_owned).take(SEARCH_MAX).collect();
                }
                Some("options") => words.for_each(|option| found.apply_option(option)),
                _ => {}
            }
        }
        found.servers.truncate(SERVERS_MAX);
        if found.servers.is_empty() {
            found.servers.push(SocketAddr::from(([127, 0, 0, 1], PORT)));
        }
        found
    }

    /// Applies an option; ignores options that have no effect here.
    fn apply_option(&mut self, option: &str) {
        let (name, number) = option.split_once(':').unwrap_or((option, ""));
        match (name, number.parse::<u64>()) {
            ("ndots", Ok(dots)) => self.dots = dots.min(DOTS_MAX) as usize,
            ("timeout", Ok(seconds)) => {
                self.patience = Nanos::from_secs(seconds.clamp(1, PATIENCE_MAX));
            }
            ("attempts", Ok(attempts)) => {
                self.attempts = attempts.clamp(1, ATTEMPTS_MAX) as usize;
            }
            ("rotate", _) => self.rotates = true,
            _ => {}
        }
    }

    /// The servers in the order of the attempts; each occurs once per attempt.
    fn in_turn(&self) -> impl Iterator<Item = SocketAddr> {
        let first = match self.rotates {
            true => usize::from(random_id()) % self.servers.len().max(1),
            false => 0,
        };
        let count = self.servers.len() * self.attempts;
        self.servers.iter().copied().cycle().skip(first).take(count)
    }

    /// The full names that a name may mean, in the order in which they are queried.
    fn candidates(&self, host: &str) -> Vec<String> {
        let bare = host.strip_suffix('.');
        if let Some(bare) = bare {
            return vec![bare.to_owned()];
        }
        let searched = self.search.iter().map(|domain| format!("{host}.{domain}"));
        let itself = std::iter::once(host.to_owned());
        match host.matches('.').count() >= self.dots {
            true => itself.chain(searched).collect(),
            false => searched.chain(itself).collect(),
        }
    }

    /// Resolves all addresses of a name, with the shortest time to live of the records that lead to
    /// them. `localhost` needs no query.
    ///
    /// Blocks for at most `timeout`.
    ///
    /// # Errors
    /// If the name has no address.
    pub fn resolve(&self, host: &str, port: u16, timeout: Nanos) -> Result<Resolved, ResolveError> {
        if is_localhost(host) {
            let own: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            return Resolved::from_addresses(own.map(|ip| SocketAddr::new(ip, port)), None);
        }
        let clock = Clock::start();
        let mut why = ResolveError::NotFound;
        for name in self.candidates(host) {
            let mut answers = Vec::new();
            for asked in self.ask(&name, clock, timeout)? {
                match asked.said.unwrap_or(Err(asked.why)) {
                    Ok(answer) => answers.push(answer),
                    Err(error) => why = error,
                }
            }
            let ttl = answers.iter().filter(|answer| !answer.addresses.is_empty());
            let ttl = ttl.map(|answer| answer.ttl).min();
            let is_answered = answers.len() == FAMILIES.len();
            let all = answers.into_iter().flat_map(|answer| answer.addresses);
            match Resolved::from_addresses(all.map(|ip| SocketAddr::new(ip, port)), ttl) {
                Ok(found) => return Ok(found),
                Err(empty) if is_answered => why = empty,
                Err(_) => {}
            }
        }
        Err(why)
    }

    /// Asks each server in turn for the records of all families, until each has an answer.
    fn ask<'a>(
        &self,
        name: &'a str,
        clock: Clock,
        timeout: Nanos,
    ) -> Result<Vec<Asked<'a>>, ResolveError> {
        let asked = FAMILIES.iter().map(|kind| Asked::new(name, *kind));
        let mut asked: Vec<Asked<'_>> = asked.collect::<Result<_, _>>()?;
        for server in self.in_turn() {
            let mut open: Vec<_> = asked.iter_mut().filter(|one| one.said.is_none()).collect();
            let left = timeout - clock.now();
            if open.is_empty() || left == Nanos::ZERO {
                open.iter_mut()
                    .for_each(|one| one.why = ResolveError::TimedOut);
                break;
            }
            ask_server(server, left.min(self.patience), open);
        }
        Ok(asked)
    }
}

/// Whether a name means this machine: `localhost`, or a subdomain of it (RFC 6761 section 6.3). No
/// server is asked for it.
fn is_localhost(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    last.eq_ignore_ascii_case("localhost")
}

/// Asks one server all questions at once, and waits for the answers up to `patience`.
fn ask_server(server: SocketAddr, patience: Nanos, mut open: Vec<&mut Asked<'_>>) {
    if let Err(error) = exchange(server, patience, &mut open) {
        for asked in open {
            asked.why = why_silent(server, &error);
        }
    }
}

/// Sends all questions, and removes each from `open` when the server has answered it or the query
/// over TCP has failed.
fn exchange(server: SocketAddr, patience: Nanos, open: &mut Vec<&mut Asked<'_>>) -> io::Result<()> {
    let clock = Clock::start();
    let any: IpAddr = match server.is_ipv4() {
        true => Ipv4Addr::UNSPECIFIED.into(),
        false => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    // The system drops packets from other senders.
    socket.connect(server)?;
    for asked in open.iter_mut() {
        asked.query.renew();
        socket.send(&asked.query.bytes)?;
    }
    let left = || match patience - clock.now() {
        Nanos::ZERO => Err(io::Error::from(io::ErrorKind::TimedOut)),
        left => Ok(left),
    };
    let mut buffer = [0; MESSAGE_MAX];
    while !open.is_empty() {
        socket.set_read_timeout(Some(left()?.as_duration()))?;
        let length = socket.recv(&mut buffer)?;
        open.retain_mut(|asked| {
            let said = match asked.query.read(&buffer[..length], server) {
                Reply::Foreign => return true,
                Reply::Said(answer) => Ok(answer),
                Reply::Truncated => left().and_then(|left| asked.query.ask_over_tcp(server, left)),
            };
            match said {
                Ok(answer) => asked.said = Some(answer),
                Err(error) => asked.why = why_silent(server, &error),
            }
            false
        });
    }
    Ok(())
}

/// Why a server has not answered.
fn why_silent(server: SocketAddr, error: &io::Error) -> ResolveError {
    match is_silence(error) {
        true => ResolveError::TimedOut,
        false => ResolveError::Failed(format!("{server}: {error}")),
    }
}

/// A random id for a question, taken from the random keys of a new hash map. A forger has to guess
/// it, and the port.
fn random_id() -> u16 {
    RandomState::new().hash_one(0) as u16
}

fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// The addresses of one family.
#[derive(Debug)]
struct Answer {
    addresses: Vec<IpAddr>,
    ttl: Nanos,
}

/// The question for the addresses of one family, and its result.
struct Asked<'a> {
    query: Query<'a>,
    /// A server's answer.
    said: Option<Result<Answer, ResolveError>>,
    /// Why no server has answered.
    why: ResolveError,
}

impl<'a> Asked<'a> {
    fn new(name: &'a str, kind: TYPE) -> Result<Self, ResolveError> {
        Ok(Self {
            query: Query::new(name, kind)?,
            said: None,
            why: ResolveError::TimedOut,
        })
    }
}

/// One question.
struct Query<'a> {
    id: u16,
    name: Name<'a>,
    kind: TYPE,
    bytes: Vec<u8>,
}

/// How a received message was interpreted.
enum Reply {
    /// The message does not answer this question.
    Foreign,
    /// The message is truncated.
    Truncated,
    /// The message is the server's answer.
    Said(Result<Answer, ResolveError>),
}

impl<'a> Query<'a> {
    fn new(name: &'a str, kind: TYPE) -> Result<Self, ResolveError> {
        if name.split('.').any(str::is_empty) {
            return Err(ResolveError::NotFound);
        }
        let malformed = |_| ResolveError::NotFound;
        let name = Name::new(name).map_err(malformed)?;
        let id = random_id();
        let mut packet = Packet::new_query(id);
        packet.set_flags(PacketFlag::RECURSION_DESIRED);
        let class = QCLASS::CLASS(CLASS::IN);
        let question = Question::new(name.clone(), QTYPE::TYPE(kind), class, false);
        packet.questions.push(question);
        let bytes = packet.build_bytes_vec().map_err(malformed)?;
        Ok(Self {
            id,
            name,
            kind,
            bytes,
        })
    }

    /// Gives the question a new id for the next server (RFC 1035 section 4.1.1: the message's first
    /// bytes).
    fn renew(&mut self) {
        self.id = random_id();
        if let Some(id) = self.bytes.first_chunk_mut() {
            *id = self.id.to_be_bytes();
        }
    }

    /// Sends the question over TCP, where its length precedes each message (RFC 7766).
    fn ask_over_tcp(
        &self,
        server: SocketAddr,
        patience: Nanos,
    ) -> io::Result<Result<Answer, ResolveError>> {
        let patience = patience.as_duration();
        let mut stream = TcpStream::connect_timeout(&server, patience)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        let length = self.bytes.len() as u16;
        stream.write_all(&[&length.to_be_bytes()[..], &self.bytes].concat())?;
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut message)?;
        match self.read(&message, server) {
            Reply::Said(answer) => Ok(answer),
            Reply::Foreign | Reply::Truncated => Err(io::Error::other(
                "its answer over TCP does not match the query",
            )),
        }
    }

    /// Reads a message that may be the answer.
    fn read(&self, message: &[u8], server: SocketAddr) -> Reply {
        let Ok(packet) = Packet::parse(message) else {
            return Reply::Foreign;
        };
        let asked = packet.questions.iter().any(|question| {
            question.qtype == QTYPE::TYPE(self.kind) && is_same(&question.qname, &self.name)
        });
        if packet.id() != self.id || !packet.has_flags(PacketFlag::RESPONSE) || !asked {
            return Reply::Foreign;
        }
        if packet.has_flags(PacketFlag::TRUNCATION) {
            return Reply::Truncated;
        }
        Reply::Said(match packet.rcode() {
            RCODE::NoError => self.addresses(&packet),
            RCODE::NameError => Err(ResolveError::NotFound),
            code => Err(ResolveError::Failed(format!("{server} answered {code:?}"))),
        })
    }

    /// The addresses at the end of the name's chain of aliases.
    fn addresses(&self, packet: &Packet<'_>) -> Result<Answer, ResolveError> {
        let mut name = self.name.clone();
        let mut ttl = u32::MAX;
        for _ in 0..ALIASES_MAX {
            let records = packet.answers.iter();
            // Records of other classes do not belong to the Internet (RFC 1035 section 3.2.4).
            let own =
                records.filter(|record| record.class == CLASS::IN && is_same(&record.name, &name));
            let mut addresses = Vec::new();
            let mut alias = None;
            let mut least = u32::MAX;
            for record in own {
                match &record.rdata {
                    RData::A(a) => addresses.push(Ipv4Addr::from(a.address).into()),
                    RData::AAAA(a) => addresses.push(Ipv6Addr::from(a.address).into()),
                    RData::CNAME(to) => alias = Some(to.0.clone()),
                    _ => continue,
                }
                least = least.min(time_to_live(record.ttl));
            }
            ttl = ttl.min(least);
            match alias {
                Some(alias) if addresses.is_empty() => name = alias,
                _ => {
                    let ttl = Nanos::from_secs(u64::from(ttl)).min(TTL_MAX);
                    return Ok(Answer { addresses, ttl });
                }
            }
        }
        let message = format!("the name leads to more than {ALIASES_MAX} aliases in a row");
        Err(ResolveError::Failed(message))
    }
}

/// A time to live in seconds; a value whose first bit is set counts as zero (RFC 2181 section 8).
fn time_to_live(written: u32) -> u32 {
    if i32::try_from(written).is_ok() {
        written
    } else {
        0
    }
}

/// Compares names without regard to case (RFC 4343).
fn is_same(one: &Name<'_>, other: &Name<'_>) -> bool {
    let (one, other) = (one.get_labels(), other.get_labels());
    let mut pairs = one.iter().zip(other);
    one.len() == other.len() && pairs.all(|(a, b)| a.as_ref().eq_ignore_ascii_case(b.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simple_dns::ResourceRecord;
    use simple_dns::rdata::{A, AAAA, CNAME};
    use std::net::TcpListener;
    use std::thread;

    const SECOND: Nanos = Nanos::from_secs(1);
    /// More than an answer takes on any machine.
    const LONG: Nanos = Nanos::from_secs(60);

    /// A test name server's answers to each question, in order.
    type Replies = Vec<fn(&Packet<'_>) -> Vec<Vec<u8>>>;

    /// A name server that follows its script, and repeats the last entry for further questions.
    fn serve(script: Replies) -> NameServers {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let server = socket.local_addr().unwrap();
        thread::spawn(move || {
            let last = script.last().copied();
            for answer in script
                .into_iter()
                .chain(std::iter::repeat_with(|| last.unwrap()))
            {
                let mut buffer = [0; 512];
                let (length, from) = socket.recv_from(&mut buffer).unwrap();
                for message in answer(&Packet::parse(&buffer[..length]).unwrap()) {
                    socket.send_to(&message, from).unwrap();
                }
            }
        });
        asked_once(server)
    }

    /// A name server that is not asked again if it is late.
    fn asked_once(server: SocketAddr) -> NameServers {
        NameServers {
            patience: LONG,
            ..NameServers::one(server)
        }
    }

    fn record(name: &'static str, ttl: u32, rdata: RData<'static>) -> ResourceRecord<'static> {
        ResourceRecord::new(Name::new(name).unwrap(), CLASS::IN, ttl, rdata)
    }

    fn a(name: &'static str, ttl: u32, last: u8) -> ResourceRecord<'static> {
        let address = Ipv4Addr::new(10, 0, 0, last).into();
        record(name, ttl, RData::A(A { address }))
    }

    fn alias(name: &'static str, ttl: u32, to: &'static str) -> ResourceRecord<'static> {
        record(name, ttl, RData::CNAME(CNAME(Name::new(to).unwrap())))
    }

    fn reply(to: &Packet<'_>, answers: Vec<ResourceRecord<'static>>) -> Vec<u8> {
        let mut packet = to.clone().into_reply();
        packet.answers = answers;
        packet.build_bytes_vec().unwrap()
    }

    fn refused(to: &Packet<'_>, code: RCODE) -> Vec<Vec<u8>> {
        let mut packet = to.clone().into_reply();
        *packet.rcode_mut() = code;
        vec![packet.build_bytes_vec().unwrap()]
    }

    fn nothing(to: &Packet<'_>) -> Vec<Vec<u8>> {
        vec![reply(to, Vec::new())]
    }

    fn ips(resolved: &Resolved) -> Vec<String> {
        let all = resolved.addresses.iter();
        all.map(|address| address.ip().to_string()).collect()
    }

    #[test]
    fn both_families_come_with_the_least_time_to_live() {
        let servers = serve(vec![
            |to| {
                let records = vec![
                    alias("Shop.Test", 300, "a.cdn.test"),
                    a("other.test", 1, 9),
                    a("a.cdn.test", 60, 1),
                    a("a.cdn.test", 60, 2),
                ];
                vec![reply(to, records)]
            },
            |to| {
                let address = Ipv6Addr::LOCALHOST.into();
                vec![reply(
                    to,
                    vec![record("shop.test", 45, RData::AAAA(AAAA { address }))],
                )]
            },
        ]);
        let found = servers.resolve("shop.test", 80, LONG).unwrap();
        assert_eq!(ips(&found), ["10.0.0.1", "10.0.0.2", "::1"]);
        assert_eq!(found.ttl, Some(Nanos::from_secs(45)));
    }

    #[test]
    fn both_families_are_asked_for_at_once() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let server = socket.local_addr().unwrap();
        thread::spawn(move || {
            let mut questions = Vec::new();
            let mut from = server;
            for _ in 0..2 {
                let mut buffer = [0; 512];
                let (length, sender) = socket.recv_from(&mut buffer).unwrap();
                questions.push(buffer[..length].to_vec());
                from = sender;
            }
            // The last question is answered first.
            for question in questions.iter().rev() {
                let question = Packet::parse(question).unwrap();
                let records = match question.questions[0].qtype {
                    QTYPE::TYPE(TYPE::A) => vec![a("shop.test", 60, 1)],
                    _ => Vec::new(),
                };
                socket.send_to(&reply(&question, records), from).unwrap();
            }
        });
        let found = asked_once(server).resolve("shop.test", 80, LONG).unwrap();
        assert_eq!(ips(&found), ["10.0.0.1"]);
    }

    #[test]
    fn only_what_was_not_answered_is_asked_for_again() {
        let mut servers = serve(vec![
            |to| vec![reply(to, vec![a("shop.test", 60, 1)])],
            |_| Vec::new(),
            |to| {
                let address = Ipv6Addr::LOCALHOST.into();
                let rdata = RData::AAAA(AAAA { address });
                vec![reply(to, vec![record("shop.test", 45, rdata)])]
            },
        ]);
        // The first answer comes within this time on any machine.
        servers.patience = Nanos::from_secs(3);
        let found = servers.resolve("shop.test", 80, LONG).unwrap();
        assert_eq!(ips(&found), ["10.0.0.1", "::1"]);
    }

    #[test]
    fn the_machine_is_known_without_a_question() {
        // Nothing answers at this address.
        let servers = NameServers::one(SocketAddr::from(([127, 0, 0, 1], 9)));
        for name in ["localhost", "LocalHost.", "api.localhost"] {
            let found = servers.resolve(name, 80, SECOND).unwrap();
            assert_eq!(ips(&found), ["127.0.0.1", "::1"], "{name}");
        }
        for name in ["localhost.test", "mylocalhost"] {
            assert!(servers.resolve(name, 80, SECOND).is_err(), "{name}");
        }
    }

    #[test]
    fn records_of_other_classes_and_times_beyond_the_range_do_not_count() {
        let servers = serve(vec![
            |to| {
                let mut chaos = a("shop.test", 60, 66);
                chaos.class = CLASS::CH;
                vec![reply(to, vec![chaos, a("shop.test", 1 << 31, 1)])]
            },
            nothing,
        ]);
        let found = servers.resolve("shop.test", 80, LONG).unwrap();
        assert_eq!(ips(&found), ["10.0.0.1"]);
        assert_eq!(found.ttl, Some(Nanos::ZERO));
    }

    #[test]
    fn each_refusal_has_its_name() {
        let ask = |script: Replies| serve(script).resolve("shop.test", 80, LONG).unwrap_err();
        let no = |to: &Packet<'_>| refused(to, RCODE::NameError);
        assert_eq!(ask(vec![no, no]), ResolveError::NotFound);
        assert_eq!(ask(vec![nothing, nothing]), ResolveError::Empty);
        let fails = |to: &Packet<'_>| refused(to, RCODE::ServerFailure);
        let failure = ask(vec![fails, fails]);
        assert!(
            matches!(&failure, ResolveError::Failed(text) if text.ends_with("answered ServerFailure"))
        );
        // One family is enough.
        let found = serve(vec![fails, |to| {
            let address = Ipv6Addr::LOCALHOST.into();
            vec![reply(
                to,
                vec![record("shop.test", 45, RData::AAAA(AAAA { address }))],
            )]
        }]);
        assert_eq!(ips(&found.resolve("shop.test", 80, LONG).unwrap()), ["::1"]);
    }

    #[test]
    fn what_was_not_asked_for_is_ignored() {
        let servers = serve(vec![
            |to| {
                let mut forged = to.clone();
                forged.set_id(to.id() ^ 1);
                let mut other = to.clone();
                other.questions[0].qname = Name::new("evil.test").unwrap();
                vec![
                    b"noise".to_vec(),
                    reply(&forged, vec![a("shop.test", 1, 66)]),
                    reply(&other, vec![a("evil.test", 1, 66)]),
                    to.build_bytes_vec().unwrap(),
                    reply(to, vec![a("shop.test", 30, 1)]),
                ]
            },
            nothing,
        ]);
        let found = servers.resolve("shop.test", 80, LONG).unwrap();
        assert_eq!(ips(&found), ["10.0.0.1"]);
    }

    #[test]
    fn aliases_that_go_in_circles_end() {
        let circle = |to: &Packet<'_>| {
            let records = vec![
                alias("shop.test", 9, "b.test"),
                alias("b.test", 9, "shop.test"),
            ];
            vec![reply(to, records)]
        };
        let why = serve(vec![circle, circle])
            .resolve("shop.test", 80, LONG)
            .unwrap_err();
        assert!(matches!(&why, ResolveError::Failed(text) if text.contains("16 aliases")));
    }

    #[test]
    fn an_answer_that_was_cut_off_is_asked_for_over_tcp() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = tcp.local_addr().unwrap();
        let udp = UdpSocket::bind(server).unwrap();
        thread::spawn(move || {
            for _ in 0..2 {
                let mut buffer = [0; 512];
                let (length, from) = udp.recv_from(&mut buffer).unwrap();
                let mut cut = Packet::parse(&buffer[..length]).unwrap().into_reply();
                cut.set_flags(PacketFlag::TRUNCATION);
                udp.send_to(&cut.build_bytes_vec().unwrap(), from).unwrap();
                let (mut stream, _) = tcp.accept().unwrap();
                let mut message = vec![0; length + 2];
                stream.read_exact(&mut message).unwrap();
                let question = Packet::parse(&message[2..]).unwrap();
                let whole = reply(&question, vec![a("shop.test", 30, 1)]);
                let length = (whole.len() as u16).to_be_bytes();
                stream.write_all(&[&length[..], &whole].concat()).unwrap();
            }
        });
        let servers = asked_once(server);
        assert_eq!(
            ips(&servers.resolve("shop.test", 80, LONG).unwrap()),
            ["10.0.0.1"]
        );
    }

    #[test]
    fn a_silent_server_takes_no_longer_than_it_may() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let servers = NameServers::one(silent.local_addr().unwrap());
        let clock = Clock::start();
        let patience = Nanos::from_millis(50);
        assert_eq!(
            servers.resolve("shop.test", 80, patience),
            Err(ResolveError::TimedOut)
        );
        assert!(clock.now() >= patience);
    }

    #[test]
    fn files_of_the_system_are_understood() {
        let text = "# who\nnameserver 192.0.2.1 ; first\nnameserver fe80::1%eth0\nnameserver x\n\
                    search corp.test lab.test\noptions timeout:1 ndots:2\n";
        let found = NameServers::of_file(text);
        let servers: Vec<String> = found.servers.iter().map(ToString::to_string).collect();
        assert_eq!(servers, ["192.0.2.1:53", "[fe80::1]:53"]);
        assert_eq!(
            found.candidates("db.eu"),
            ["db.eu.corp.test", "db.eu.lab.test", "db.eu"]
        );
        assert_eq!(found.candidates("a.b.c")[0], "a.b.c");
        assert_eq!(found.candidates("db."), ["db"]);
        assert_eq!((found.patience, found.attempts), (SECOND, ATTEMPTS));
        let own = NameServers::of_file("");
        assert_eq!(own.patience, PATIENCE);
        assert_eq!(own.servers, ["127.0.0.1:53".parse().unwrap()]);
        let hosts = "127.0.0.1 localhost\n10.1.1.1 Db db.test # old\n::2 db\nno address\n";
        let ips = in_hosts(hosts, "db");
        assert_eq!(
            ips.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["10.1.1.1", "::2"]
        );
        assert!(in_hosts(hosts, "old").is_empty());
    }

    #[test]
    fn options_have_bounds() {
        let of = |options: &str| NameServers::of_file(&format!("options {options}\n"));
        for (options, seconds, attempts, dots) in [
            ("timeout:7 attempts:3", 7, 3, 1),
            ("timeout:0 attempts:0 ndots:0", 1, 1, 0),
            ("timeout:99 attempts:99 ndots:99", 30, 5, 15),
            ("timeout attempts:x edns0 trust-ad", 2, 2, 1),
        ] {
            let found = of(options);
            assert_eq!(found.patience, Nanos::from_secs(seconds), "{options}");
            assert_eq!((found.attempts, found.dots), (attempts, dots), "{options}");
        }
    }

    #[test]
    fn servers_are_asked_in_turn() {
        let text = "nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n";
        let last = |server: SocketAddr| match server.ip() {
            IpAddr::V4(ip) => ip.octets()[3],
            IpAddr::V6(_) => 0,
        };
        let order = |servers: &NameServers| servers.in_turn().map(last).collect::<Vec<_>>();
        assert_eq!(order(&NameServers::of_file(text)), [1, 2, 3, 1, 2, 3]);
        let rotating = NameServers::of_file(&format!("{text}options rotate\n"));
        let orders: Vec<_> = (0..200).map(|_| order(&rotating)).collect();
        for expected in [[1, 2, 3, 1, 2, 3], [2, 3, 1, 2, 3, 1], [3, 1, 2, 3, 1, 2]] {
            assert!(
                orders.iter().any(|order| *order == expected),
                "{expected:?}"
            );
        }
    }

    #[test]
    fn names_that_can_t_be_are_not_found() {
        let servers = NameServers::one(SocketAddr::from(([127, 0, 0, 1], 9)));
        for name in ["a..b", &"x".repeat(64), &"x.".repeat(130)] {
            let why = servers.resolve(name, 80, SECOND);
            assert_eq!(why, Err(ResolveError::NotFound), "{name}");
        }
    }
}
