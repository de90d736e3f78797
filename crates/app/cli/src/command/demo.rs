//! `drumfire demo`: a server, a load, a report, and how to read it.

use super::baseline::{self, BaselineCheck};
use crate::display::{Display, DisplayWish};
use crate::exit::{Exit, Failure};
use crate::flags::DemoFlags;
use crate::host::Machine;
use crate::output::Output;
use crate::results::{Beside, page_of_html};
use crate::signals::Signals;
use crate::{document, session, terminal};
use clap::Parser as _;
use drumfire_compare::Against;
use drumfire_compile::compile;
use drumfire_document::{Document, form};
use drumfire_measure::Summary;
use drumfire_report::comparison;
use drumfire_report::{Naming, text};
use drumfire_target::{Behaviour, Listen, Server, ServerOptions};
use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;

/// Responses take some milliseconds, and sometimes a few more, as with a real server.
const DELAY: &str = "lognormal:4ms,0.5";

/// Starts the built-in server, loads it in the open model, and explains the report.
pub(crate) fn run(flags: &DemoFlags, output: &Output) -> Result<Exit, Failure> {
    let delay = DELAY.parse().map_err(Failure::failed)?;
    let server = Server::start(ServerOptions {
        listen: vec![Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        behaviour: Behaviour {
            delay: Some(delay),
            ..Behaviour::default()
        },
        ..ServerOptions::default()
    })
    .map_err(Failure::failed)?;
    let address = server
        .tcp()
        .ok_or_else(|| Failure::failed("the server has no address"))?;
    let url = format!("http://{address}/");
    output.print(
        format!(
            "Started a server at {url} that responds in about 4 ms ({DELAY})\n\
             drumfire http -r '{}' -z {} {url}\n\n",
            flags.rate, flags.duration
        )
        .as_bytes(),
    )?;
    let written = document::of_http(&http_flags(flags, &url)?)?;
    let exit = fire(flags, &written.document, output)?;
    let _final_count = server.stop();
    output.print(next_steps().as_bytes())?;
    Ok(exit)
}

/// Three commands to try next, with the name by which this program was called.
fn next_steps() -> String {
    let program = env::args().next().unwrap_or_else(|| "drumfire".to_owned());
    format!(
        "\nTo continue, in two terminals:\n  \
         {program} serve\n  \
         {program} http -r 'line(100,2000,20s)' localhost:8080\n  \
         {program} capacity --slo 'p99<50ms' localhost:8080\n\
         The first starts a test server, the second raises its load from 100 to 2,000 requests/s, and\n\
         the third finds the highest rate at which 99 of 100 responses take less than 50 ms.\n"
    )
}

/// Runs the load, and explains the report.
fn fire(flags: &DemoFlags, document: &Document, output: &Output) -> Result<Exit, Failure> {
    let baseline = baseline::read_baseline(&document.outputs, output)?;
    let plan = compile(document, &Machine::here(output))
        .map_err(|found| Failure::from_diagnostics(&found))?;
    let wish = DisplayWish::from_outputs(&document.outputs)?;
    let output = &output.colored(flags.color);
    let (display, output) = Display::for_plan(&plan, wish, Naming::Flags, output);
    let signals = Signals::default();
    let mut session = session::build_session(session::ready(plan)?, &[], &signals, &output)?;
    if let Some(baseline) = &baseline {
        session = session.observed_by(BaselineCheck(baseline.clone()));
    }
    let summary = display.attached_to(session).run()?.summary;
    let style = terminal::stdout_style(flags.color);
    output.print(text::summary_explained(&summary, &style).as_bytes())?;
    let against = baseline::against(baseline.as_ref(), &summary, &output);
    if let Some(against) = &against {
        let text = comparison::text(&against.comparison, &style);
        output.print(format!("\nComparison with the baseline\n\n{text}").as_bytes())?;
    }
    match write_page(&summary, document, against.as_ref(), &output) {
        Ok(path) => output.print(format!("\nThis report as a page: {path}\n").as_bytes())?,
        // The report was printed, and the page is optional.
        Err(error) => output.complain(&format!("can't write the demo's page: {error}")),
    }
    Ok(session::exit_of(&summary, false))
}

/// Writes the page of a run into a new temporary file, and returns its path.
fn write_page(
    summary: &Summary,
    document: &Document,
    against: Option<&Against>,
    output: &Output,
) -> io::Result<String> {
    let beside = Beside {
        naming: Naming::Flags,
        plan: &form::print(document),
        teardown: None,
        against,
        finding: None,
        redactor: output.redactor(),
    };
    let page = page_of_html(summary, &beside);
    let path = env::temp_dir().join(format!("drumfire-demo-{}.html", summary.info.id));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        // Other users share the folder of temporary files.
        .mode(0o600)
        .open(&path)?;
    file.write_all(&output.redactor().markup(&page))?;
    Ok(path.display().to_string())
}

/// Parses the flags of the command line that the demo prints.
fn http_flags(flags: &DemoFlags, url: &str) -> Result<crate::flags::HttpFlags, Failure> {
    let mut line = vec![
        "drumfire",
        "http",
        "-r",
        &flags.rate,
        "-z",
        &flags.duration,
        url,
    ];
    let valued = [("--baseline", &flags.baseline), ("--live", &flags.live)];
    for (flag, value) in valued {
        line.extend(value.iter().flat_map(|value| [flag, value]));
    }
    line.extend(flags.no_tui.then_some("--no-tui"));
    line.extend(flags.stay.then_some("--stay"));
    match crate::flags::Cli::try_parse_from(line) {
        Ok(crate::flags::Cli {
            command: crate::flags::Command::Http(flags),
        }) => Ok(*flags),
        Ok(_) => Err(Failure::failed("the demo does not run a load")),
        Err(error) => Err(Failure::usage(error)),
    }
}
