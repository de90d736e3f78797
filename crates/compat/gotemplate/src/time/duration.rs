//! Durations such as `1h2m3.5s`: printing and parsing.

const SECOND: u64 = 1_000_000_000;

/// Prints a duration as `time.Duration` does.
pub(crate) fn print(nanos: i64) -> String {
    let magnitude = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    if magnitude == 0 {
        return "0s".to_owned();
    }
    if magnitude < SECOND {
        let (unit, name) = match magnitude {
            0..1_000 => (1, "ns"),
            1_000..1_000_000 => (1_000, "µs"),
            _ => (1_000_000, "ms"),
        };
        return format!("{sign}{}{name}", decimal(magnitude, unit));
    }
    let (minutes, rest) = (magnitude / (60 * SECOND), magnitude % (60 * SECOND));
    let seconds = decimal(rest, SECOND);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// A quotient by a power of ten, without trailing zeros.
fn decimal(number: u64, unit: u64) -> String {
    let (whole, part) = (number / unit, number % unit);
    if part == 0 {
        return whole.to_string();
    }
    let places = unit.ilog10() as usize;
    let digits = format!("{part:0places$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

/// Parses a duration to nanoseconds, with Go's error message.
pub(crate) fn parse(text: &str) -> Result<i64, String> {
    let quoted = crate::quote::quoted(text);
    let invalid = || format!("time: invalid duration {quoted}");
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0u128;
    while !rest.is_empty() {
        let number = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
                .len();
        let (digits, after) = rest.split_at(number);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if (whole.is_empty() && part.is_empty()) || part.contains('.') {
            return Err(invalid());
        }
        let name = after
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(after.len());
        let (name, after) = after.split_at(name);
        if name.is_empty() {
            return Err(format!("time: missing unit in duration {quoted}"));
        }
        let Some(unit) = unit(name) else {
            let name = crate::quote::quoted(name);
            return Err(format!("time: unknown unit {name} in duration {quoted}"));
        };
        let amount = amount(whole, part, unit).ok_or_else(invalid)?;
        total += amount;
        if total > 1 << 63 {
            return Err(invalid());
        }
        rest = after;
    }
    let total = if negative {
        -(total as i128)
    } else {
        total as i128
    };
    i64::try_from(total).map_err(|_| invalid())
}

fn amount(whole: &str, part: &str, unit: u64) -> Option<u128> {
    let whole: u128 = match whole {
        "" => 0,
        digits if digits.len() > 19 => return None,
        digits => digits.parse().ok()?,
    };
    // Digits beyond the precision of nanoseconds have no effect.
    let part = &part[..part.len().min(18)];
    let fraction: u128 = if part.is_empty() {
        0
    } else {
        part.parse().ok()?
    };
    let scale = 10u128.pow(u32::try_from(part.len()).ok()?);
    Some(whole * u128::from(unit) + fraction * u128::from(unit) / scale)
}

fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        _ => return None,
    })
}
