//! Counts as people write them: `10k`, `2M`, `1_000`.

/// Parses a count.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let wrong = || {
        let shown: String = text.chars().take(64).collect();
        let shown = shown.escape_debug();
        Err(format!(
            "`{shown}` is not a number; use one such as 200, 1_000, 10k or 2M"
        ))
    };
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        Some((_, 'm')) => {
            let digits = text.trim_end_matches('m');
            return Err(format!("for millions, use a capital M: {digits}M"));
        }
        _ => (text, 1),
    };
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return wrong();
    }
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return wrong();
    }
    let number = digits
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor));
    number.ok_or_else(|| format!("{text} is too large; use at most {}", u64::MAX))
}

/// Parses a count with a smaller maximum.
pub(crate) fn small_count(text: &str) -> Result<u32, String> {
    let number = count(text)?;
    u32::try_from(number).map_err(|_| format!("{text} is too large; use at most {}", u32::MAX))
}

/// Parses a count of at least one, with a smaller maximum.
pub(crate) fn small_positive(text: &str) -> Result<u32, String> {
    match small_count(text)? {
        0 => Err("0 has no meaning here; use at least 1".to_owned()),
        number => Ok(number),
    }
}

/// Parses a count of things in memory.
pub(crate) fn length(text: &str) -> Result<usize, String> {
    let number = count(text)?;
    usize::try_from(number).map_err(|_| format!("{text} is too large; use at most {}", usize::MAX))
}

/// Parses the maximum number of failures for `--max-errors`, which is a share in other tools.
pub(crate) fn failures(text: &str) -> Result<u64, String> {
    match text.strip_suffix('%').map(str::parse::<f64>) {
        Some(Ok(share)) if (0.0..=100.0).contains(&share) => Err(format!(
            "`{text}` is a share, not a number; use --abort-on 'failed>{text}'"
        )),
        _ => count(text),
    }
}

/// Parses the number of redirects to follow. curl's `-L` takes no number.
pub(crate) fn redirects(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| "-L takes the number of redirects to follow, such as -L 10".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_a_number() {
        assert_eq!(failures("1k"), Ok(1_000));
        for share in ["5%", "0.5%", "100%"] {
            let message = failures(share).unwrap_err();
            let instead = format!("use --abort-on 'failed>{share}'");
            assert!(message.ends_with(&instead), "{message}");
        }
        assert!(!failures("500%").unwrap_err().contains("--abort-on"));
    }

    #[test]
    fn counts_have_suffixes() {
        for (text, n) in [
            ("0", 0),
            ("200", 200),
            ("10k", 10_000),
            ("10K", 10_000),
            ("2M", 2_000_000),
            ("1_000", 1_000),
            ("3G", 3_000_000_000),
        ] {
            assert_eq!(count(text), Ok(n), "{text}");
        }
        for text in [
            "",
            "k",
            "-1",
            "1.5",
            "ten",
            "1e3",
            "99999999999999999999",
            "99999999999999999G",
            "5m",
            "+5",
            "_1",
            "1_",
            "1__0",
            "_",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
        assert_eq!(small_count("64"), Ok(64));
        assert!(small_count("5G").is_err());
        assert_eq!(small_positive("1k"), Ok(1_000));
        assert!(small_positive("0").is_err());
        assert_eq!(length("10k"), Ok(10_000));
    }
}
