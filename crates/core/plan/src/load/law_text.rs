//! Rate laws as text: `line(5,200,60s) const(200,5m)`.

use crate::nearest::suggestion_and;
use crate::scan::{Scan, excerpt};
use crate::{Law, LawError, Sequence};
use drumfire_units::{Nanos, Rate, rate_in_words};
use std::fmt;
use std::str::FromStr;

/// The maximum length of a text in bytes; long lists belong in a trace.
const LENGTH_MAX: usize = 1 << 22;
/// The upper limit of finite durations, about 146 years.
const DURATION_LIMIT: Nanos = Nanos(1 << 62);

/// The laws: name, minimum and maximum number of arguments, form.
const FORMS: [(&str, usize, usize, &str); 8] = [
    ("const", 1, 2, "const(RATE, DURATION)"),
    ("line", 3, 3, "line(FROM, TO, DURATION)"),
    ("once", 1, 1, "once(COUNT)"),
    ("sine", 3, 4, "sine(MEAN, AMPLITUDE, PERIOD, DURATION)"),
    (
        "stairs",
        1,
        usize::MAX,
        "stairs(RATE, DURATION, RATE, DURATION, …)",
    ),
    ("step", 4, 4, "step(FROM, TO, BY, DURATION)"),
    ("trace", 1, 1, "trace(FILE)"),
    ("unlimited", 0, 1, "unlimited(DURATION)"),
];

/// The message about a text that ends inside parentheses.
const UNCLOSED: &str = "a closing parenthesis is missing; add `)`";

/// Other tools' names of the same laws, with our notation.
const FOREIGN: [(&str, &str); 11] = [
    ("constant", "const(10/s,5m)"),
    ("linear", "line(1/s,10/s,5m)"),
    ("poisson", "const(10/s,5m), and set the arrivals to poisson"),
    ("constantUsersPerSec", "const(10/s,5m)"),
    ("rampUsersPerSec", "line(1/s,10/s,5m)"),
    ("atOnceUsers", "once(10)"),
    ("ramp", "line(1/s,10/s,5m)"),
    ("ramping", "line(1/s,10/s,5m)"),
    ("pause", "const(0,10s)"),
    ("sin", "sine(100/s,50/s,1m,10m)"),
    ("burst", "once(10)"),
];

/// Reads a trace: converts the text between the parentheses to ascending times, or returns the
/// mistake.
pub type ReadTrace<'a> = dyn FnMut(&str) -> Result<Vec<Nanos>, String> + 'a;

impl FromStr for Sequence {
    type Err = LawError;

    /// Parses a law as [`Sequence::parse_with`] does, but without traces, whose files this crate
    /// cannot read.
    ///
    /// # Errors
    /// As [`Sequence::parse_with`], and for each `trace`.
    fn from_str(text: &str) -> Result<Self, LawError> {
        Self::parse_with(text, &mut |_| {
            Err("a trace can't be read here; write another law".to_owned())
        })
    }
}

impl Sequence {
    /// Parses pieces separated by white space: `line(5,200,60s) const(200,5m)`.
    ///
    /// A bare rate, such as `500/s`, means `const` without a duration. `const`, `sine` and
    /// `unlimited` without a duration continue until the stop condition; nothing may follow them.
    ///
    /// # Errors
    /// If the text has no pieces, a law is unknown, a rate, duration or count is invalid, or a
    /// law's rule is violated: durations are above zero and below 2^62 ns, `by` and `period` are
    /// not zero, an amplitude is at most the mean.
    pub fn parse_with(text: &str, read_trace: &mut ReadTrace<'_>) -> Result<Self, LawError> {
        Self::pieces(text, read_trace).map_err(|error| match rate_in_words(text) {
            // Words separated by blanks look like several pieces.
            Some(meant) => LawError {
                at: 0,
                message: format!("`{}` is not a rate; write {meant}", excerpt(text.trim())),
            },
            None => error,
        })
    }

    fn pieces(text: &str, read_trace: &mut ReadTrace<'_>) -> Result<Self, LawError> {
        if text.len() > LENGTH_MAX {
            let message = format!("the load is longer than {LENGTH_MAX} bytes");
            return Err(LawError {
                at: text.floor_char_boundary(LENGTH_MAX),
                message,
            });
        }
        let mut scan = Scan::new(text);
        let mut laws: Vec<Law> = Vec::new();
        scan.skip_space();
        while !scan.is_done() {
            let at = scan.position();
            let law = piece(&mut scan, read_trace)?;
            if laws.last().is_some_and(Law::runs_on) {
                return Err(LawError {
                    at,
                    message: "nothing can follow a law without an end; give that law a duration, \
                              as in const(200,5m)"
                        .to_owned(),
                });
            }
            laws.push(law);
            scan.skip_space();
        }
        if laws.is_empty() {
            return Err(LawError {
                at: 0,
                message: "the load is empty; write a rate such as 500/s, or laws such as \
                          line(5,200,60s) const(200,5m)"
                    .to_owned(),
            });
        }
        Ok(Self(laws))
    }
}

/// An argument and its byte position.
#[derive(Clone, Copy, Debug)]
struct Argument<'a> {
    at: usize,
    text: &'a str,
}

impl Argument<'_> {
    fn error(self, message: impl Into<String>) -> LawError {
        LawError {
            at: self.at,
            message: message.into(),
        }
    }

    fn rate(self) -> Result<Rate, LawError> {
        self.text.parse().map_err(|e| self.error(format!("{e}")))
    }

    /// A duration above zero and below 2^62 ns.
    fn duration(self) -> Result<Nanos, LawError> {
        let duration: Nanos = self.text.parse().map_err(|e| self.error(format!("{e}")))?;
        if duration == Nanos::ZERO {
            return Err(self.error("a duration can't be 0; write one such as 10s"));
        }
        if duration >= DURATION_LIMIT {
            let text = excerpt(self.text);
            return Err(self.error(format!(
                "`{text}` is longer than 146 years; write a shorter duration"
            )));
        }
        Ok(duration)
    }

    fn too_fine(self) -> LawError {
        let text = excerpt(self.text);
        self.error(format!(
            "`{text}` can't be combined with the rates before it; write all of them per second"
        ))
    }

    fn count(self) -> Result<u64, LawError> {
        let digits = !self.text.starts_with('+');
        let count = self.text.parse().ok().filter(|_| digits);
        let text = excerpt(self.text);
        count.ok_or_else(|| self.error(format!("`{text}` is not a count; write one such as 100")))
    }
}

/// Parses one piece.
fn piece(scan: &mut Scan<'_>, read_trace: &mut ReadTrace<'_>) -> Result<Law, LawError> {
    let start = scan.position();
    let word = scan.take_while(|c| !c.is_whitespace() && !"(),".contains(c));
    if let ("", Some(sign)) = (word, scan.rest().chars().next()) {
        return Err(LawError {
            at: start,
            message: format!(
                "unexpected `{sign}`; separate laws with spaces, as in line(5,200,60s) const(200,5m)"
            ),
        });
    }
    let after_word = scan.clone();
    scan.skip_space();
    if !scan.eat("(") {
        *scan = after_word;
        return bare(word, start);
    }
    let Some(&(name, least, most, form)) = FORMS.iter().find(|form| form.0 == word) else {
        let names = FORMS.iter().map(|form| form.0);
        let all: Vec<_> = names.clone().collect();
        let advice = match FOREIGN.iter().find(|(theirs, _)| *theirs == word) {
            Some((_, ours)) => format!("; write {ours}"),
            None => suggestion_and(word, names, &format!("the laws are {}", all.join(", "))),
        };
        return Err(LawError {
            at: start,
            message: format!("`{}` is not a law{advice}", excerpt(word)),
        });
    };
    let arguments = arguments(scan, name == "trace")?;
    if !(least..=most).contains(&arguments.len()) {
        let count = match arguments.len() {
            1 => "1 argument".to_owned(),
            count => format!("{count} arguments"),
        };
        return Err(LawError {
            at: start,
            message: format!("`{name}` has {count} here; write {form}"),
        });
    }
    law(name, &arguments, read_trace)
}

/// A word without parentheses: a rate, or `unlimited`.
fn bare(word: &str, at: usize) -> Result<Law, LawError> {
    if word == "unlimited" {
        return Ok(Law::Unlimited {
            duration: Nanos::MAX,
        });
    }
    match word.parse::<Rate>() {
        Ok(rate) => {
            return Ok(Law::Const {
                rate,
                duration: Nanos::MAX,
            });
        }
        Err(error) if error.is_beyond() => {
            return Err(LawError {
                at,
                message: error.to_string(),
            });
        }
        Err(_) => {}
    }
    let names = FORMS.iter().map(|form| form.0);
    let message = match FORMS.iter().find(|form| form.0 == word) {
        Some(form) => format!("`{word}` needs arguments; write {}", form.3),
        None if let Some(meant) = rate_in_words(word) => {
            format!("`{}` is not a rate; write {meant}", excerpt(word))
        }
        None if word.parse::<Nanos>().is_ok() => {
            format!("`{word}` is a time, not a rate; for one request every {word}, write 1/{word}")
        }
        None => format!(
            "`{}` is neither a rate nor a law{}",
            excerpt(word),
            suggestion_and(
                word,
                names,
                "write a rate such as 500/s, or a law such as const(200,5m)"
            )
        ),
    };
    Err(LawError { at, message })
}

/// The arguments between the parentheses, after the opening one. A file's name may contain commas.
fn arguments<'a>(scan: &mut Scan<'a>, is_file: bool) -> Result<Vec<Argument<'a>>, LawError> {
    let mut arguments = Vec::new();
    loop {
        scan.skip_space();
        let at = scan.position();
        let text = scan.take_while(|c| c != ')' && (is_file || !",(".contains(c)));
        let text = text.trim_end();
        let end = scan.position();
        let last = scan.eat(")");
        if !last && !scan.eat(",") {
            let message = UNCLOSED.to_owned();
            return Err(LawError { at: end, message });
        }
        let argument = Argument { at, text };
        if !text.is_empty() {
            arguments.push(argument);
        } else if !last || !arguments.is_empty() {
            return Err(argument.error("an argument is missing"));
        }
        if last {
            return Ok(arguments);
        }
    }
}

/// A law from its name and the correct number of arguments.
fn law(
    name: &str,
    arguments: &[Argument<'_>],
    read_trace: &mut ReadTrace<'_>,
) -> Result<Law, LawError> {
    let optional = |k: usize| arguments.get(k).map_or(Ok(Nanos::MAX), |a| a.duration());
    Ok(match (name, arguments) {
        ("const", [rate, ..]) => Law::Const {
            rate: rate.rate()?,
            duration: optional(1)?,
        },
        ("line", [from, to, duration]) => Law::Line {
            from: from.rate()?,
            to: to.rate()?,
            duration: duration.duration()?,
        },
        ("stairs", steps) => Law::Stairs {
            steps: stairs(steps)?.into(),
        },
        ("once", [count]) => Law::Once {
            count: count.count()?,
        },
        ("sine", [mean, amplitude, period, ..]) => Law::Sine {
            mean: mean.rate()?,
            amplitude: amplitude_below(mean.rate()?, amplitude)?,
            period: period.duration()?,
            duration: optional(3)?,
        },
        ("step", [from, to, by, duration]) => Law::Step {
            from: from.rate()?,
            to: to.rate()?,
            by: match by.rate()? {
                Rate { events: 0, .. } => {
                    return Err(
                        by.error("a step of 0 never reaches the end; write the change, such as 10")
                    );
                }
                rate => rate,
            },
            duration: duration.duration()?,
        },
        ("trace", [file]) => Law::Trace {
            times: read_trace(file.text)
                .map_err(|message| file.error(message))?
                .into(),
        },
        _ => Law::Unlimited {
            duration: optional(0)?,
        },
    })
}

/// Alternating rates and durations, converted to one `per` for all rates. The last duration may be
/// omitted.
fn stairs(arguments: &[Argument<'_>]) -> Result<Vec<(Rate, Nanos)>, LawError> {
    let mut steps = Vec::with_capacity(arguments.len() / 2 + 1);
    let mut per = 1;
    for pair in arguments.chunks(2) {
        let rate = pair[0].rate()?;
        let duration = pair.get(1).map_or(Ok(Nanos::MAX), |span| span.duration())?;
        per = common_multiple(per, rate.per.0).ok_or_else(|| pair[0].too_fine())?;
        steps.push((rate, duration));
    }
    for (pair, (rate, _)) in arguments.chunks(2).zip(&mut steps) {
        let events = rate.events.checked_mul(per / rate.per.0);
        *rate = Rate {
            events: events.ok_or_else(|| pair[0].too_fine())?,
            per: Nanos(per),
        };
    }
    Ok(steps)
}

/// The least common multiple of two numbers above 0, if it fits.
const fn common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).checked_mul(b)
}

/// An amplitude with which the rate stays at 0 or above.
fn amplitude_below(mean: Rate, argument: &Argument<'_>) -> Result<Rate, LawError> {
    let amplitude = argument.rate()?;
    let product = |a: Rate, b: Rate| u128::from(a.events) * u128::from(b.per.0);
    if product(amplitude, mean) > product(mean, amplitude) {
        return Err(argument.error(format!(
            "an amplitude of {amplitude} would make the rate negative; write at most {mean}"
        )));
    }
    Ok(amplitude)
}

impl LawError {
    /// Whether the text ends inside parentheses.
    #[must_use]
    pub fn is_unclosed(&self) -> bool {
        self.message == UNCLOSED
    }
}

impl Law {
    /// Whether the piece lasts until the stop condition.
    #[must_use]
    pub fn runs_on(&self) -> bool {
        match self {
            Self::Const { duration, .. }
            | Self::Unlimited { duration }
            | Self::Sine { duration, .. } => *duration == Nanos::MAX,
            Self::Stairs { steps } => steps.last().is_some_and(|(_, span)| *span == Nanos::MAX),
            Self::Line { .. } | Self::Step { .. } | Self::Once { .. } | Self::Trace { .. } => false,
        }
    }
}

/// A duration as a further argument, or nothing if it is unlimited.
struct Lasting(Nanos);

impl fmt::Display for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Nanos::MAX => Ok(()),
            duration => write!(f, ",{duration}"),
        }
    }
}

impl fmt::Display for Law {
    /// Prints the form that parses back to the same law. A trace does not know its file, and prints
    /// the number of its times.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const { rate, duration } => write!(f, "const({rate}{})", Lasting(*duration)),
            Self::Line { from, to, duration } => write!(f, "line({from},{to},{duration})"),
            Self::Step {
                from,
                to,
                by,
                duration,
            } => write!(f, "step({from},{to},{by},{duration})"),
            Self::Once { count } => write!(f, "once({count})"),
            Self::Unlimited {
                duration: Nanos::MAX,
            } => f.write_str("unlimited"),
            Self::Unlimited { duration } => write!(f, "unlimited({duration})"),
            Self::Sine {
                mean,
                amplitude,
                period,
                duration,
            } => write!(f, "sine({mean},{amplitude},{period}{})", Lasting(*duration)),
            Self::Trace { times } => write!(f, "trace({} times)", times.len()),
            Self::Stairs { steps } => {
                f.write_str("stairs(")?;
                for (n, (rate, duration)) in steps.iter().enumerate() {
                    let comma = if n == 0 { "" } else { "," };
                    write!(f, "{comma}{rate}{}", Lasting(*duration))?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Sequence {
    /// Prints the pieces separated by spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, law) in self.0.iter().enumerate() {
            let space = if k == 0 { "" } else { " " };
            write!(f, "{space}{law}")?;
        }
        Ok(())
    }
}

impl fmt::Display for LawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.message)
    }
}

impl std::error::Error for LawError {}
