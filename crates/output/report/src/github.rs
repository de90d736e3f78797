//! The annotations of a step of GitHub Actions: a line for each bad answer and each failed
//! threshold.
//!
//! A line is `::error title=TITLE::MESSAGE`. `%` and line ends are percent-encoded, in the title
//! also `:` and `,`, so that no text from a server begins a command. The runner reads the lines
//! from standard output.

use crate::answers::{Grade, answers, rule};
use crate::failure_kind::explanations;
use crate::remedy::{Naming, sentence};
use crate::style::Unicode;
use crate::untrusted::foreign;
use drumfire_measure::Summary;

/// The maximum number of annotations of thresholds. GitHub keeps ten annotations of a kind.
const THRESHOLDS: usize = 7;

/// The annotations of a finished run, a line each; empty if all is well.
#[must_use]
pub fn annotations(summary: &Summary, naming: Naming) -> String {
    let mut out = String::new();
    for answer in answers(summary) {
        let command = match answer.grade {
            Grade::Bad => "error",
            Grade::Fair => "warning",
            Grade::Good | Grade::Open => continue,
        };
        let reasons = answer.reasons.iter();
        let reasons = reasons.map(|reason| foreign(&sentence(reason, naming), Unicode::On));
        let mut lines: Vec<String> = reasons.collect();
        if answer.subject == "target" {
            lines.extend(explanations(summary, naming, &lines.join("\n")));
        }
        let mut message = lines.join("\n");
        if message.is_empty() {
            message.clone_from(&answer.text);
        }
        push(&mut out, command, &answer.text, &message);
    }
    let failed = summary.thresholds.iter().filter(|rule| !rule.passed);
    for threshold in failed.take(THRESHOLDS) {
        let measured = foreign(&threshold.actual_text, Unicode::On);
        let rule = foreign(&rule(threshold), Unicode::On);
        push(&mut out, "error", &format!("threshold {rule}"), &measured);
    }
    out
}

/// Appends a command.
fn push(out: &mut String, command: &str, title: &str, message: &str) {
    let title = data(&format!("drumfire: {title}"));
    let title = title.replace(':', "%3A").replace(',', "%2C");
    out.push_str(&format!("::{command} title={title}::{}\n", data(message)));
}

/// A text as the data of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::push;

    #[test]
    fn a_text_ends_no_command() {
        let mut out = String::new();
        push(&mut out, "error", "p99<5ms, 100%", "a: b\r\n::add-mask::x");
        assert_eq!(
            out,
            "::error title=drumfire%3A p99<5ms%2C 100%25::a: b%0D%0A::add-mask::x\n"
        );
    }
}
