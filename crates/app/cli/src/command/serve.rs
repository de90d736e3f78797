//! `drumfire serve`.

use crate::exit::{Exit, Failure};
use crate::flags::{ServeFlags, parsed};
use crate::output::{Output, why_not_written};
use crate::signals;
use drumfire_target::{
    ArrivalLog, Behaviour, Chance, ClientCertificate, Discipline, Exposure, Listen, Running,
    Server, ServerOptions, ServerTlsOptions, Services, Storefront,
};
use drumfire_units::ByteSize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;

/// Starts the server and runs it until a signal arrives.
pub(crate) fn run(flags: &ServeFlags, output: &Output) -> Result<Exit, Failure> {
    let options = options(flags)?;
    let scheme = if options.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::failed)?;
    if !signals::ignores_hangup() {
        signals.add_signal(SIGHUP).map_err(Failure::failed)?;
    }
    let server = Server::start(options).map_err(Failure::usage)?;
    write_certificates(flags, &server)?;
    for address in server.addresses() {
        match address {
            Listen::Tcp(address) => output.print(format!("{scheme}://{address}/\n").as_bytes())?,
            Listen::Unix(path) => output.print(format!("unix:{}\n", path.display()).as_bytes())?,
        }
    }
    signals.forever().next();
    let counters = server.stop();
    output.remark(&format!(
        "{} requests on {} connections\n",
        counters.requests, counters.connections
    ));
    Ok(Exit::Done)
}

/// Converts the flags to the server's options.
fn options(flags: &ServeFlags) -> Result<ServerOptions, Failure> {
    let chance = |flag: &str, text: &Option<String>| {
        parsed::<Chance>(flag, text.as_deref()).map(|chance| chance.unwrap_or(Chance::NEVER))
    };
    let behaviour = Behaviour {
        delay: parsed("--delay", flags.delay.as_deref())?,
        size: flags
            .size
            .parse::<ByteSize>()
            .map_err(|error| Failure::usage(format!("--size: {error}")))?
            .0,
        status: parsed("--status", flags.status.as_deref())?,
        grpc_status: parsed("--grpc-status", flags.grpc_status.as_deref())?,
        close: chance("--close", &flags.close)?,
        close_after: flags.close_after,
        hangup: chance("--hangup", &flags.hangup)?,
        reset: chance("--reset", &flags.reset)?,
        drip: parsed("--drip", flags.drip.as_deref())?,
        chunked: flags.chunked.as_deref().map(chunk_size).transpose()?,
        cut: chance("--cut", &flags.cut)?,
    };
    let client_certificate = if flags.require_client_cert {
        ClientCertificate::Required
    } else {
        ClientCertificate::Ignored
    };
    Ok(ServerOptions {
        listen: flags
            .listen
            .iter()
            .map(|text| listen(text))
            .collect::<Result<_, _>>()?,
        exposure: if flags.expose {
            Exposure::Anywhere
        } else {
            Exposure::Loopback
        },
        threads: flags.threads,
        tls: flags.tls.then_some(ServerTlsOptions { client_certificate }),
        seed: flags.seed,
        behaviour,
        stall: parsed("--stall", flags.stall.as_deref())?,
        discipline: if flags.serial {
            Discipline::Serial
        } else {
            Discipline::Concurrent
        },
        arrival_log: flags.arrival_log.map_or(ArrivalLog::Off, ArrivalLog::First),
        services: if flags.grpc {
            Services::Grpc
        } else {
            Services::None
        },
        storefront: if flags.shop {
            Storefront::Open
        } else {
            Storefront::Closed
        },
        llm: flags.llm.options()?,
        max_streams: flags.max_streams,
        goaway_after: flags.goaway_after,
    })
}

/// The size of a chunk, at least one byte.
fn chunk_size(text: &str) -> Result<NonZeroU32, Failure> {
    let size: ByteSize = text
        .parse()
        .map_err(|error| Failure::usage(format!("--chunked: {error}")))?;
    u32::try_from(size.0)
        .ok()
        .and_then(NonZeroU32::new)
        .ok_or_else(|| Failure::usage("--chunked: use a size from 1 byte to 4 GiB"))
}

/// `ADDRESS:PORT`, `PORT`, `localhost:PORT` or `unix:PATH`.
fn listen(text: &str) -> Result<Listen, Failure> {
    match text.strip_prefix("unix:") {
        // The kernel would choose an address that no client knows.
        Some("") => {
            return Err(Failure::usage(
                "--listen: `unix:` has no path; write one such as unix:target.sock",
            ));
        }
        Some(path) => return Ok(Listen::Unix(path.into())),
        None => {}
    }
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
    }
    text.parse().map(Listen::Tcp).map_err(|_| {
        Failure::usage(format!(
            "--listen: `{}` is not an address; use 127.0.0.1:8080, 8080, [::1]:8080 or unix:PATH",
            text.escape_debug()
        ))
    })
}

/// Writes the certificates that clients need to trust the server, and the server to trust clients.
fn write_certificates(flags: &ServeFlags, server: &Running) -> Result<(), Failure> {
    let Some(tls) = server.tls() else {
        return Ok(());
    };
    let write = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|error| {
            let why = why_not_written(path, &error);
            Failure::usage(format!("can't write {}: {why}", path.display()))
        })
    };
    if let Some(path) = &flags.tls_ca {
        write(path, &tls.authority)?;
    }
    if let Some(path) = &flags.tls_client {
        write(&path.with_extension("crt"), &tls.client_certificate)?;
        write(&path.with_extension("key"), &tls.client_key)?;
    }
    Ok(())
}
