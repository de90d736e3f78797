//! URLs from the command line, from files and from standard input.

use crate::exit::Failure;
use crate::input;
use drumfire_plan::Url;

/// All URLs that the arguments name, in order.
pub(crate) fn targets(args: &[String]) -> Result<Vec<Url>, Failure> {
    let mut urls = Vec::new();
    for arg in args {
        if let Some(name) = arg.strip_prefix('@') {
            let bytes = input::text_or_file("URL list", arg)?;
            listed(&bytes, if name == "-" { "stdin" } else { name }, &mut urls)?;
        } else {
            urls.push(Url::parse(arg).map_err(Failure::usage)?);
        }
    }
    if urls.is_empty() {
        return Err(Failure::usage(
            "the list of URLs is empty; write one URL a line",
        ));
    }
    Ok(urls)
}

/// One URL a line; empty lines and lines that begin with `#` are passed over.
fn listed(bytes: &[u8], name: &str, urls: &mut Vec<Url>) -> Result<(), Failure> {
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let place = || format!("{}:{}", name.escape_default(), index + 1);
        let line = std::str::from_utf8(line.trim_ascii())
            .map_err(|_| Failure::usage(format!("{}: the line is not valid UTF-8", place())))?;
        if !line.is_empty() && !line.starts_with('#') {
            let url = Url::parse(line)
                .map_err(|error| Failure::usage(format!("{}: {error}", place())))?;
            urls.push(url);
        }
    }
    Ok(())
}
