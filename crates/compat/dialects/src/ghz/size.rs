//! Sizes in common notations: `5B`, `42 MB`, `2000mib`.

/// Bytes per unit, in lower case.
const UNITS: [(&str, u64); 26] = [
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("k", 1_000),
    ("mb", 1_000_000),
    ("m", 1_000_000),
    ("gb", 1_000_000_000),
    ("g", 1_000_000_000),
    ("kib", 1 << 10),
    ("ki", 1 << 10),
    ("mib", 1 << 20),
    ("mi", 1 << 20),
    ("gib", 1 << 30),
    ("gi", 1 << 30),
    ("tb", 1_000_000_000_000),
    ("t", 1_000_000_000_000),
    ("tib", 1 << 40),
    ("ti", 1 << 40),
    ("pb", 1_000_000_000_000_000),
    ("p", 1_000_000_000_000_000),
    ("pib", 1 << 50),
    ("pi", 1 << 50),
    ("eb", 1_000_000_000_000_000_000),
    ("e", 1_000_000_000_000_000_000),
    ("eib", 1 << 60),
    ("ei", 1 << 60),
];

/// The maximum message size of gRPC's libraries, which is ghz's default.
pub(super) const LARGEST: u64 = i32::MAX as u64;

/// Parses a size in bytes, at most [`LARGEST`], which is the default for an empty text.
///
/// # Errors
/// In ghz's words.
pub(super) fn parse(what: &str, text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(LARGEST);
    }
    let wrong = |why: String| format!("invalid max call {what} message size: {why}");
    let number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let (digits, unit) = text.split_at(text.find(|c| !number(c)).unwrap_or(text.len()));
    let digits = digits.replace(',', "");
    let value: f64 = digits.parse().map_err(|_| {
        let digits = crate::go_text::quoted(&digits);
        wrong(format!(
            "strconv.ParseFloat: parsing {digits}: invalid syntax"
        ))
    })?;
    let unit = unit.trim().to_ascii_lowercase();
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, scale) = known.ok_or_else(|| wrong(format!("unhandled size name: {unit}")))?;
    // A double has enough digits for numbers up to 2^31.
    Ok(((value * *scale as f64) as u64).min(LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("5B", 5),
            ("42 MB", 42_000_000),
            ("2000mib", 2000 << 20),
            ("1.5k", 1_500),
            ("", LARGEST),
            ("99GB", LARGEST),
            ("0.000001TB", 1_000_000),
            ("1eib", LARGEST),
        ] {
            assert_eq!(parse("recv", text), Ok(bytes), "{text}");
        }
        for (text, why) in [
            ("5nb", "unhandled size name: nb"),
            ("x", "strconv.ParseFloat: parsing \"\": invalid syntax"),
        ] {
            let text = parse("recv", text);
            assert_eq!(
                text,
                Err(format!("invalid max call recv message size: {why}"))
            );
        }
    }
}
