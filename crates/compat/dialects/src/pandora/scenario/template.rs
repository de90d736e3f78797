//! Translates Pandora's templates, which are Go templates: paths and functions become expressions
//! of drumfire's templates, and the filter `go` executes the rest unchanged.

use super::function;
use super::scope::Scope;

/// Translates a text.
///
/// # Errors
/// If a path has no value.
pub(super) fn translated(text: &str, scope: &mut Scope<'_>) -> Result<String, String> {
    match simple(text, "", scope)? {
        Some(translated) => Ok(translated),
        None => Ok(format!("{{{{ {} }}}}", scope.go(text)?)),
    }
}

/// Translates a path that may contain templates; text before the first template is kept.
///
/// # Errors
/// See [`translated`].
pub(super) fn translated_path(text: &str, scope: &mut Scope<'_>) -> Result<String, String> {
    if let Some(translated) = simple(text, " | string | urlescape", scope)? {
        return Ok(translated);
    }
    let start = match text.find("{{") {
        Some(at) if !text[at..].starts_with("{{-") => at,
        _ => usize::from(text.starts_with('/')),
    };
    let (before, rest) = text.split_at(start);
    Ok(format!(
        "{before}{{{{ ({}) | string | urlescape }}}}",
        scope.go(rest)?
    ))
}

/// Translates a text whose actions are only paths and functions of literals, and appends `filter`
/// to each; `None` if the text contains other actions.
fn simple(text: &str, filter: &str, scope: &mut Scope<'_>) -> Result<Option<String>, String> {
    if scope.escapes && text.contains("{{") {
        return Ok(None);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once("{{") {
        push_literal(literal, &mut out);
        let Some((action, after)) = after.split_once("}}") else {
            return Ok(None);
        };
        let (before, inner) = match action.strip_prefix("- ") {
            Some(inner) => ("-", inner),
            None => ("", action),
        };
        let (inner, behind) = match inner.strip_suffix(" -") {
            Some(inner) => (inner, "-"),
            None => (inner, ""),
        };
        let Some(is) = expression(inner.trim(), scope)? else {
            return Ok(None);
        };
        let is = match filter {
            "" => is,
            filter => format!("({is}){filter}"),
        };
        out.push_str(&format!("{{{{{before} {is} {behind}}}}}"));
        rest = after;
    }
    push_literal(rest, &mut out);
    Ok(Some(out))
}

/// Appends a text with template syntax escaped.
fn push_literal(text: &str, out: &mut String) {
    let escaped = text
        .replace("{%", "{{ \"{%\" }}")
        .replace("{#", "{{ \"{#\" }}");
    out.push_str(&escaped);
}

/// Translates a path of names, or a function of literals.
fn expression(inner: &str, scope: &mut Scope<'_>) -> Result<Option<String>, String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if let Some(path) = inner.strip_prefix('.') {
        let mut names = path.split('.');
        let is_path = names.all(|name| !name.is_empty() && name.chars().all(is_name));
        let is_deep = path.contains('.');
        let is_table = path.starts_with("source.") && path.matches('.').count() == 1;
        if !is_path || !is_deep || is_table {
            return Ok(None);
        }
        let known = scope.printed(inner)?;
        return Ok((!known.is_printed_by_go()).then_some(known.is));
    }
    let mut words = inner.split_whitespace();
    let name = words.next().unwrap_or_default();
    let args: Vec<&str> = words.collect();
    let is_literal = |arg: &&str| {
        let text = arg.strip_prefix('"').and_then(|arg| arg.strip_suffix('"'));
        text.is_some_and(|text| !text.contains(['"', '\\'])) || arg.parse::<i64>().is_ok()
    };
    if !function::is_known(name) || !args.iter().all(is_literal) {
        return Ok(None);
    }
    // If this refuses the function, Go's message is used.
    Ok(function::expression(name, &args).ok())
}
