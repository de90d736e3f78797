//! Pandora's templates, which are Go's, as ours: names, paths and functions.

use super::mapping::{Scope, function};

/// Translates a text.
///
/// # Errors
/// When it says more than a path or a function.
pub(super) fn translated(text: &str, scope: &mut Scope<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once("{{") {
        push_literal(literal, &mut out);
        let (action, after) = after
            .split_once("}}")
            .ok_or_else(|| format!("`{}` lacks its end, `}}}}`", text.escape_debug()))?;
        let (before, inner) = match action.strip_prefix("- ") {
            Some(inner) => ("-", inner),
            None => ("", action),
        };
        let (inner, behind) = match inner.strip_suffix(" -") {
            Some(inner) => (inner, "-"),
            None => (inner, ""),
        };
        let is = expression(inner.trim(), scope)?;
        out.push_str(&format!("{{{{{before} {is} {behind}}}}}"));
        rest = after;
    }
    push_literal(rest, &mut out);
    Ok(out)
}

/// Appends a text in which nothing is a template.
fn push_literal(text: &str, out: &mut String) {
    let escaped = text
        .replace("{%", "{{ \"{%\" }}")
        .replace("{#", "{{ \"{#\" }}");
    out.push_str(&escaped);
}

fn expression(inner: &str, scope: &mut Scope<'_>) -> Result<String, String> {
    if inner.starts_with('.') {
        if inner.contains(char::is_whitespace) || inner.contains('|') {
            return Err(not_yet(inner));
        }
        return scope.path(inner, 0);
    }
    let mut words = inner.split_whitespace();
    let name = words.next().unwrap_or_default();
    let args: Vec<&str> = words.collect();
    function(name, &args).map_err(|_| not_yet(inner))
}

fn not_yet(inner: &str) -> String {
    let inner = inner.escape_debug();
    format!("the template `{{{{{inner}}}}}` can't be run by drumfire yet")
}
