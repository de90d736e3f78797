//! The cost of WebSocket messages without sockets: encoding and reading, on one core, and the memory
//! of an idle connection.

use clap::Parser;
use drumfire_net::Clock;
use drumfire_units::{Nanos, Random};
use drumfire_websocket::{
    Agreed, Closing, Deflate, Event, Kind, Outgoing, Reader, Shared, Takeover, WindowBits, Writer,
};
use std::io::{self, Write};

/// Print the cost of WebSocket messages
#[derive(Debug, Parser)]
struct Flags {
    /// Processor time for each measurement, in milliseconds
    #[arg(long, default_value_t = 200)]
    millis: u64,
    /// Rounds; the table has the fastest of each
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Bytes of each read
    #[arg(long, default_value_t = 65_536)]
    read: usize,
}

/// A row of the table.
struct Row {
    name: &'static str,
    kind: Kind,
    bytes: usize,
    takeover: Option<Takeover>,
}

const fn row(name: &'static str, kind: Kind, bytes: usize, takeover: Option<Takeover>) -> Row {
    Row {
        name,
        kind,
        bytes,
        takeover,
    }
}

const ROWS: [Row; 8] = [
    row("binary, 32 B", Kind::Binary, 32, None),
    row("text, 32 B", Kind::Text, 32, None),
    row("text, 1 kB", Kind::Text, 1_000, None),
    row("text, 60 kB", Kind::Text, 60_000, None),
    row("text, 100 B, deflate", Kind::Text, 100, Some(Takeover::No)),
    row(
        "text, 100 B, deflate with context",
        Kind::Text,
        100,
        Some(Takeover::Yes),
    ),
    row("text, 1 kB, deflate", Kind::Text, 1_000, Some(Takeover::No)),
    row(
        "text, 1 kB, deflate with context",
        Kind::Text,
        1_000,
        Some(Takeover::Yes),
    ),
];

fn main() -> io::Result<()> {
    let flags = Flags::parse();
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| message | bytes sent | encode | read | a core's messages/s, both |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|")?;
    for row in &ROWS {
        let (sent, encode) = encode(row, &flags);
        let (_, read) = read(row, &flags);
        let each = (encode + read).max(f64::MIN_POSITIVE);
        writeln!(
            out,
            "| {} | {sent} | {encode:.0} ns | {read:.0} ns | {:.0} |",
            row.name,
            1e9 / each
        )?;
    }
    let (reader, writer) = (size_of::<Reader>(), size_of::<Writer>());
    let closing = size_of::<Closing>();
    let sum = reader + writer + closing;
    writeln!(
        out,
        "\nAn idle connection: {sum} bytes (reader {reader}, writer {writer}, closing {closing}), \
         and nothing on the heap without compression."
    )
}

fn agreed(row: &Row) -> Agreed {
    Agreed {
        protocol: None,
        deflate: row.takeover.map(|takeover| Deflate {
            server_takeover: takeover,
            client_takeover: takeover,
            server_window_bits: WindowBits::MAX,
            client_window_bits: WindowBits::MAX,
        }),
    }
}

/// A text as a service of prices would send.
fn payload(bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    while text.len() < bytes {
        let price = random.below(1_000_000);
        text.push_str(&format!("{{\"symbol\":\"BTC-EUR\",\"price\":{price}}},"));
    }
    text.truncate(bytes);
    text.into_bytes()
}

/// Messages of a row, each different.
fn payloads(row: &Row) -> Vec<Vec<u8>> {
    let mut random = Random::from_state(1);
    (0..64).map(|_| payload(row.bytes, &mut random)).collect()
}

/// The fastest round: the nanoseconds of one message. `turn` handles 64 messages.
fn fastest(flags: &Flags, mut turn: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..flags.rounds {
        let (start, mut turns) = (Clock::thread_cpu(), 0_u32);
        let end = start + Nanos::from_millis(flags.millis);
        while Clock::thread_cpu() < end {
            turn();
            turns += 1;
        }
        let each = (Clock::thread_cpu() - start).0 as f64 / (f64::from(turns) * 64.0);
        best = best.min(each);
    }
    best
}

/// The bytes of an encoded message on average, and the time of encoding one.
fn encode(row: &Row, flags: &Flags) -> (usize, f64) {
    let (mut writer, mut shared) = (Writer::new(&agreed(row)), Shared::default());
    let (payloads, mut random) = (payloads(row), Random::from_state(2));
    let mut out = Vec::new();
    let time = fastest(flags, || {
        out.clear();
        for payload in &payloads {
            let message = Outgoing::new(row.kind, payload);
            let mut mask = || random.bits() as u32;
            writer.message(&mut out, message, &mut mask, &mut shared);
        }
    });
    (out.len() / payloads.len(), time)
}

/// The number of messages of a turn, and the time of reading one.
fn read(row: &Row, flags: &Flags) -> (u64, f64) {
    let stream = stream(row);
    let agreed = agreed(row);
    let mut shared = Shared::default();
    // A context begins with the connection, and each turn replays its beginning.
    let mut readers = std::iter::repeat_with(|| Reader::new(&agreed, usize::MAX));
    let mut count = 0;
    let time = fastest(flags, || {
        let Some(mut reader) = readers.next() else {
            return;
        };
        for mut input in stream.chunks(flags.read) {
            while let Ok(step) = reader.handle_input(input, &mut shared) {
                input = &input[step.consumed..];
                if let Event::NeedInput = step.event {
                    break;
                }
            }
        }
        count = reader.messages();
        assert_eq!(count, 64, "every message is read");
    });
    (count, time)
}

/// The frames of a server with these messages: those of a client, without their masks.
fn stream(row: &Row) -> Vec<u8> {
    let (mut writer, mut shared) = (Writer::new(&agreed(row)), Shared::default());
    let mut stream = Vec::new();
    for payload in payloads(row) {
        let mut frame = Vec::new();
        let message = Outgoing::new(row.kind, &payload);
        writer.message(&mut frame, message, &mut || 0, &mut shared);
        let header = match frame[1] & 0x7f {
            126 => 4,
            127 => 10,
            _ => 2,
        };
        frame[1] &= 0x7f;
        stream.extend_from_slice(&frame[..header]);
        stream.extend_from_slice(&frame[header + 4..]);
    }
    stream
}
