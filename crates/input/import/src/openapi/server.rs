//! The servers of a document, a path or an operation.

use crate::exchange::origin;
use crate::library::Node;
use crate::notes::Notes;
use crate::shape::shown;
use drumfire_plan::Url;

/// The target of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Server {
    /// Scheme, host and port; `None` for a URL that is relative to the document's.
    pub(super) origin: Option<String>,
    /// The path before the document's paths, without a trailing slash.
    pub(super) path: String,
}

/// The first server, with its variables' defaults; `None` without servers.
pub(super) fn first(servers: Node<'_>, notes: &mut Notes) -> Option<Server> {
    let server = servers.list().next()?;
    let count = servers.list().count();
    if count > 1 {
        let finding = format!("the first of {count} servers is used");
        notes.add_at(finding, || server.get("url").text().unwrap_or_default());
    }
    let given = server.get("url").text()?;
    let mut url = String::new();
    let mut rest = given.as_str();
    while let Some((before, name, behind)) = variable(rest) {
        url.push_str(before);
        let variable = server.get("variables").whole().get(name);
        let values = [variable.get("default"), variable.get("enum")];
        let values = values.map(|it| it.text().or_else(|| it.list().next()?.text()));
        match values.into_iter().flatten().find(|value| !value.is_empty()) {
            Some(value) => url.push_str(&value),
            None => {
                let finding = format!(
                    "the server variable `{}` has no default; use --target to set the server",
                    shown(name)
                );
                notes.add_at(finding, || server.place());
                url.push_str(name);
            }
        }
        rest = behind;
    }
    url.push_str(rest);
    let url = url
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .trim_end_matches('/');
    // The URL is relative to the scheme of the document's URL.
    let whole = match url.strip_prefix("//") {
        Some(rest) => format!("http://{rest}"),
        None => url.to_owned(),
    };
    let found = origin(&whole);
    if let Some(error) = found
        .as_ref()
        .and_then(|(origin, _)| Url::parse(origin).err())
    {
        let finding = format!("a server is not used, because {error}; set it with --target");
        notes.add_at(finding, || server.place());
        return Some(Server {
            origin: None,
            path: found.map_or_else(String::new, |(_, path)| {
                path.trim_end_matches('/').to_owned()
            }),
        });
    }
    Some(match found {
        Some((origin, path)) => Server {
            path: path.trim_end_matches('/').to_owned(),
            origin: Some(origin.to_owned()),
        },
        None => {
            let path = whole.trim_start_matches("./").trim_matches('/');
            let slash = if path.is_empty() { "" } else { "/" };
            Server {
                origin: None,
                path: format!("{slash}{path}"),
            }
        }
    })
}

/// The text before `{name}`, the name, and the text after; `${name}` does not count.
fn variable(text: &str) -> Option<(&str, &str, &str)> {
    let mut braces = text.match_indices('{').map(|(at, _)| at);
    let at = braces.find(|at| !text[..*at].ends_with('$'))?;
    // Some documents have two braces, as for a Postman variable.
    let (name, behind) = text[at..].trim_start_matches('{').split_once('}')?;
    Some((
        &text[..at],
        name,
        behind.strip_prefix('}').unwrap_or(behind),
    ))
}
