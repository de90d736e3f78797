//! Calls of functions in templates with more arguments than the functions take. Pandora finds them
//! only when it renders a request.

use super::File;
use super::function::ARGUMENTS_MAX;
use std::collections::BTreeSet;

/// A note on each such call in a file's requests, once.
pub(super) fn notes(file: &File) -> Vec<String> {
    let mut found = BTreeSet::new();
    for request in &file.requests {
        let headers = request.headers.iter().map(|(_, value)| value);
        let body = request.body.iter();
        for text in headers.chain(body).chain([&request.uri]) {
            found.extend(in_text(text).map(|what| (&request.name, what)));
        }
    }
    for call in &file.calls {
        let metadata = call.metadata.iter().map(|(_, value)| value);
        for text in metadata.chain([&call.payload]) {
            found.extend(in_text(text).map(|what| (&call.name, what)));
        }
    }
    let found = found.into_iter();
    found
        .map(|(name, what)| format!("{}: request {name}: {what}", file.path))
        .collect()
}

/// Notes on the actions of a template that only call a function.
fn in_text(text: &str) -> impl Iterator<Item = String> {
    let actions = text.split("{{").skip(1);
    let actions = actions.filter_map(|rest| Some(rest.split_once("}}")?.0));
    actions.filter_map(|action| {
        let inner = action.trim_matches(['-', ' ']);
        let (name, args) = inner.split_once(' ')?;
        let count = arguments(args)?;
        let shown = inner.escape_debug();
        match name {
            "uuid" => Some(format!(
                "uuid takes no arguments; those in `{shown}` are not used"
            )),
            "randInt" | "randString" if count > ARGUMENTS_MAX => Some(format!(
                "`{shown}` has more than two arguments, so each request with it fails"
            )),
            _ => None,
        }
    })
}

/// The number of arguments; `None` if the action does more than call a function.
fn arguments(mut args: &str) -> Option<usize> {
    let mut count = 0;
    loop {
        args = args.trim_start();
        if args.is_empty() {
            return Some(count).filter(|count| *count > 0);
        }
        let end = match args.strip_prefix('"') {
            Some(rest) => rest.find('"')? + 2,
            None => args.find(' ').unwrap_or(args.len()),
        };
        let (arg, rest) = args.split_at(end);
        if !arg.starts_with('"') && arg.contains(['|', '(', ')', '`']) {
            return None;
        }
        count += 1;
        args = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::in_text;

    #[test]
    fn calls_with_too_many_arguments_are_found() {
        let many = "has more than two arguments, so each request with it fails";
        for (text, found) in [
            (
                "/a?{{randInt 10 5}}{{ uuid }}{{randString 3 \"a b c\"}}",
                None,
            ),
            (
                "{{randInt 10 5 3}}",
                Some(format!("`randInt 10 5 3` {many}")),
            ),
            (
                "x{{- randString 1 \"a\" .b -}}",
                Some(format!("`randString 1 \\\"a\\\" .b` {many}")),
            ),
            ("{{randInt 1 2 | printf \"%s\"}}", None),
            ("{{randInt (len .a) 2 3}}", None),
            (
                "{{uuid 4}}",
                Some("uuid takes no arguments; those in `uuid 4` are not used".to_owned()),
            ),
            ("{{printf 1 2 3}} {{", None),
        ] {
            assert_eq!(in_text(text).next(), found, "{text}");
        }
    }
}
