//! `drumfire demo`: a server, a load, a report, and how to read it.

use crate::display::Display;
use crate::exit::{Exit, Failure};
use crate::flags::DemoFlags;
use crate::host::Machine;
use crate::output::Output;
use crate::{document, session, terminal};
use clap::Parser as _;
use drumfire_compile::compile;
use drumfire_report::{Naming, text};
use drumfire_session::Shown;
use drumfire_target::{Behaviour, Listen, Options, Server};
use std::net::{Ipv4Addr, SocketAddr};

/// Answers take some milliseconds, now and then a few more, as real ones do.
const DELAY: &str = "lognormal:4ms,0.5";

/// Starts the built-in server, fires at it in the open model, and explains the report.
pub(crate) fn run(flags: &DemoFlags, output: &Output) -> Result<Exit, Failure> {
    let delay = DELAY.parse().map_err(Failure::failed)?;
    let server = Server::start(Options {
        listen: vec![Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        behaviour: Behaviour {
            delay: Some(delay),
            ..Behaviour::default()
        },
        ..Options::default()
    })
    .map_err(Failure::failed)?;
    let address = server
        .tcp()
        .ok_or_else(|| Failure::failed("the server has no address"))?;
    let url = format!("http://{address}/");
    output.print(
        format!(
            "A server whose answers take about 4 ms ({DELAY}) listens at {url}\n\
             drumfire http -r '{}' -z {} {url}\n\n",
            flags.rate, flags.duration
        )
        .as_bytes(),
    )?;
    let written = document::of_http(&http_flags(flags, &url)?)?;
    let plan =
        compile(&written.document, &Machine::here(output)).map_err(|found| Failure::of(&found))?;
    let shown = match flags.no_tui {
        true => Shown::Remarks,
        false => terminal::shown(Shown::Live),
    };
    let output = &output.colored(flags.color);
    let (display, output) = Display::of(&plan, shown, Naming::Flags, output);
    let session = display.attached_to(session::of(plan, &[], &output)?);
    let summary = session.run()?.summary;
    let style = terminal::stdout_style(flags.color);
    output.print(text::summary_explained(&summary, &style).as_bytes())?;
    let _final_count = server.stop();
    Ok(session::exit_of(&summary, false))
}

/// The same flags as the command line that is shown.
fn http_flags(flags: &DemoFlags, url: &str) -> Result<crate::flags::HttpFlags, Failure> {
    let line = [
        "drumfire",
        "http",
        "-r",
        &flags.rate,
        "-z",
        &flags.duration,
        url,
    ];
    match crate::flags::Cli::try_parse_from(line) {
        Ok(crate::flags::Cli {
            command: crate::flags::Command::Http(flags),
        }) => Ok(*flags),
        Ok(_) => Err(Failure::failed("the demo is no load")),
        Err(error) => Err(Failure::usage(error)),
    }
}
