//! URLs of curl with sets and ranges: `{a,b}`, `[1-9]`, `[001-100:10]`, `[a-z]`.

/// The maximum number of URLs that one text expands to.
const URLS_MAX: usize = 1_000;

/// The URLs that a text expands to.
///
/// # Errors
/// A message on the mistake.
pub(super) fn expanded(text: &str) -> Result<Vec<String>, String> {
    let mut urls = vec![String::new()];
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[', '}', ']', '\\']) {
        let (before, from) = rest.split_at(at);
        urls.iter_mut().for_each(|url| url.push_str(before));
        let (values, length) = match from.as_bytes()[0] {
            // An escaped sign is literal.
            b'\\' => {
                let next = from[1..].chars().next().filter(|c| "{}[]".contains(*c));
                match next {
                    Some(c) => (vec![c.to_string()], 2),
                    None => (vec!["\\".to_owned()], 1),
                }
            }
            b'{' => {
                let (inner, _) = from[1..].split_once('}').ok_or("`{` has no `}`")?;
                let values: Vec<String> = inner.split(',').map(str::to_owned).collect();
                (values, inner.len() + 2)
            }
            b'[' => {
                let (inner, _) = from[1..].split_once(']').ok_or("`[` has no `]`")?;
                // An IPv6 address, or empty brackets.
                let is_literal = inner.is_empty() || inner.contains(':') && is_address(inner);
                let values = match is_literal {
                    true => vec![format!("[{inner}]")],
                    false => range(inner).ok_or_else(|| format!("`[{inner}]` is not a range"))?,
                };
                (values, inner.len() + 2)
            }
            _ => return Err(format!("`{}` has no begin", &from[..1])),
        };
        if urls.len().saturating_mul(values.len()) > URLS_MAX {
            return Err(format!("it expands to more than {URLS_MAX} URLs"));
        }
        let with = |url: &String| values.iter().map(|value| format!("{url}{value}")).collect();
        urls = urls
            .iter()
            .flat_map(|url| -> Vec<String> { with(url) })
            .collect();
        rest = &from[length..];
    }
    urls.iter_mut().for_each(|url| url.push_str(rest));
    Ok(urls)
}

fn is_address(text: &str) -> bool {
    let address = text.split('%').next().unwrap_or_default();
    address.parse::<std::net::Ipv6Addr>().is_ok()
}

/// The values of `1-9`, `001-100:10` or `a-z:2`.
fn range(text: &str) -> Option<Vec<String>> {
    let (ends, step) = text.split_once(':').unwrap_or((text, "1"));
    let step = step.parse::<usize>().ok().filter(|step| *step > 0)?;
    let (first, last) = ends.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if is_number(first) && is_number(last) {
        let (low, high) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        let width = if first.starts_with('0') {
            first.len()
        } else {
            0
        };
        let numbers = (low..=high).step_by(step).take(URLS_MAX + 1);
        return (low <= high).then(|| numbers.map(|n| format!("{n:0width$}")).collect());
    }
    let letter = |text: &str| {
        let mut letters = text.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic)?;
        letters.next().is_none().then_some(letter)
    };
    let (low, high) = (letter(first)?, letter(last)?);
    let is_range = low <= high && low.is_ascii_lowercase() == high.is_ascii_lowercase();
    is_range.then(|| (low..=high).step_by(step).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::expanded;

    #[test]
    fn sets_and_ranges_become_urls() {
        for (text, urls) in [
            ("http://h/a", "http://h/a"),
            (
                "http://h/{a,b}/{1,2}",
                "http://h/a/1 http://h/a/2 http://h/b/1 http://h/b/2",
            ),
            ("http://h/[8-10]", "http://h/8 http://h/9 http://h/10"),
            ("http://h/[08-10:2]", "http://h/08 http://h/10"),
            ("http://h/[a-c]", "http://h/a http://h/b http://h/c"),
            ("http://[::1]:80/", "http://[::1]:80/"),
            ("http://h/?a[]=1", "http://h/?a[]=1"),
            (r"http://h/\{a\}", "http://h/{a}"),
        ] {
            assert_eq!(expanded(text).unwrap().join(" "), urls, "{text}");
        }
        for (text, error) in [
            ("http://h/{a", "`{` has no `}`"),
            ("http://h/]", "`]` has no begin"),
            ("http://h/[b-a]", "is not a range"),
            ("http://h/?a[key]=1", "is not a range"),
            ("http://h/[1-2000]", "more than 1000 URLs"),
        ] {
            assert!(expanded(text).unwrap_err().contains(error), "{text}");
        }
    }
}
