//! Mistakes that clap finds, with our own words and remedies.

use crate::bare_url;
use crate::exit::Failure;
use crate::flags::result_flags;
use clap::error::ErrorKind;

/// Converts the mistake to a failure. The first argument is the command.
pub(crate) fn failure(error: &clap::Error, args: &[String]) -> Failure {
    if let Some(message) = negative_value(error, args) {
        return Failure::usage(message);
    }
    let text = error.render().to_string();
    // Remove the tip to pass an unknown flag after `--`, which would make the flag a URL.
    let is_trap = |line: &str| line.trim_start().starts_with("tip: to pass '");
    let lines = text.lines().filter(|line| !is_trap(line));
    let text = lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace("\n\n\n", "\n\n");
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    let remedy = match tip(error, text, args) {
        Some(tip) => format!("\n\n  tip: {tip}"),
        None => String::new(),
    };
    Failure::usage(text).with_remedy(remedy)
}

/// A negative number after a flag, which clap reads as a flag.
fn negative_value(error: &clap::Error, args: &[String]) -> Option<String> {
    let is_number = |arg: &str| {
        let digits = arg.strip_prefix('-');
        digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
    };
    let pair = args
        .windows(2)
        .find(|pair| pair[0].starts_with('-') && is_number(&pair[1]))?;
    (error.kind() == ErrorKind::UnknownArgument && !is_number(&pair[0])).then(|| {
        let (flag, value) = (pair[0].escape_debug(), pair[1].escape_default());
        format!("{flag}: `{value}` is below 0, which is not allowed")
    })
}

/// The remedy.
fn tip(error: &clap::Error, text: &str, args: &[String]) -> Option<String> {
    if text.contains("'--data <") && text.contains("multiple times") {
        return Some("join form fields as -d 'a=1&b=2'".to_owned());
    }
    match error.kind() {
        ErrorKind::InvalidValue => {
            let flag = result_flags().find(|flag| {
                text.starts_with(&format!("a value is required for '{flag} <FILE>'"))
            })?;
            Some(format!("{flag} - writes to standard output"))
        }
        ErrorKind::MissingRequiredArgument => {
            let is_url = |text: &str| text.contains("://") || bare_url::completed(text).is_some();
            let pair = args
                .windows(2)
                .find(|pair| result_flags().any(|flag| flag == pair[0]) && is_url(&pair[1]))?;
            let (flag, url) = (&pair[0], pair[1].escape_debug());
            Some(format!(
                "{flag} takes a file name, but got the URL; to write to standard output, use {flag} - {url}"
            ))
        }
        _ => None,
    }
}
