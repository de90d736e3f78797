//! Header names as Go's HTTP client writes them, and texts with templates disabled.

/// A field's name as Go's client spells it: `Content-Type`.
pub(crate) fn canonical(name: &str) -> String {
    let mut first = true;
    let spelled = name.chars().map(|c| {
        let spelled = match first {
            true => c.to_ascii_uppercase(),
            false => c.to_ascii_lowercase(),
        };
        first = c == '-';
        spelled
    });
    spelled.collect()
}

/// Escapes a text so that nothing in it is a template.
pub(crate) fn untemplated(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let is_tag = ["{{", "{%", "{#"].iter().any(|open| tag.starts_with(open));
        out.push_str(if is_tag { "{{ \"{\" }}" } else { "{" });
        rest = &tag[1..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_template_stays_as_it_is() {
        for (text, wanted) in [
            ("plain {x}", "plain {x}"),
            ("{{ a }}", "{{ \"{\" }}{ a }}"),
            ("{% a %}{", "{{ \"{\" }}% a %}{"),
        ] {
            assert_eq!(untemplated(text), wanted);
        }
    }

    #[test]
    fn names_are_spelled_as_go_does() {
        for (name, wanted) in [("x-a", "X-A"), ("HOST", "Host"), ("Sc-Req-Id", "Sc-Req-Id")] {
            assert_eq!(canonical(name), wanted);
        }
    }
}
