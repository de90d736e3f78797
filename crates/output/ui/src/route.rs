//! The addresses of the server's pages, after its token.

use percent_encoding::percent_decode_str;

/// The page, the stream or the command at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/`: the list of runs.
    Runs,
    /// `/compare?base=RUN&candidate=RUN`: two runs compared.
    Compare { base: String, candidate: String },
    /// `/history?run=RUN`: the runs of the plan of a run.
    History(String),
    /// `/run/RUN/`: a run's page.
    Page(String),
    /// `/run/RUN/events`: the changed parts of the page, while the run is active.
    Events(String),
    /// `/run/RUN/command`: commands for the run.
    Command(String),
    /// A page without the slash at its end, with which its relative links would be wrong.
    Slash,
}

impl Route {
    /// The route of a path and a query; `None` if the path is unknown.
    pub(crate) fn parse(path: &str, query: Option<&str>) -> Option<Self> {
        match path.split('/').collect::<Vec<_>>()[..] {
            [""] => Some(Self::Slash),
            ["", ""] => Some(Self::Runs),
            ["", "compare"] => {
                let query = query.unwrap_or_default();
                Some(Self::Compare {
                    base: value(query, "base")?,
                    candidate: value(query, "candidate")?,
                })
            }
            ["", "history"] => Some(Self::History(value(query.unwrap_or_default(), "run")?)),
            ["", "run", run] => name(run).map(|_| Self::Slash),
            ["", "run", run, ""] => Some(Self::Page(name(run)?)),
            ["", "run", run, "events"] => Some(Self::Events(name(run)?)),
            ["", "run", run, "command"] => Some(Self::Command(name(run)?)),
            _ => None,
        }
    }
}

/// The value of a query's field.
fn value(query: &str, field: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(name, _)| *name == field)
        .and_then(|(_, value)| name(value))
}

/// The name of a run: a name in the folder of runs, which cannot lead elsewhere.
fn name(text: &str) -> Option<String> {
    let name = percent_decode_str(text).decode_utf8().ok()?;
    let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    is_name.then(|| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn an_address_leads_to_one_page_or_none() {
        let run = || "2026-01-a".to_owned();
        for (path, query, route) in [
            ("/", None, Some(Route::Runs)),
            ("", None, Some(Route::Slash)),
            ("/run/2026-01-a/", None, Some(Route::Page(run()))),
            ("/run/2026%2D01-a/", None, Some(Route::Page(run()))),
            ("/run/2026-01-a", None, Some(Route::Slash)),
            ("/run/2026-01-a/events", None, Some(Route::Events(run()))),
            ("/run/2026-01-a/command", None, Some(Route::Command(run()))),
            ("/run/2026-01-a/other", None, None),
            ("/run//", None, None),
            ("/run/../", None, None),
            ("/run/%2e%2e/", None, None),
            ("/run/a%2Fb/", None, None),
            ("/run/%ff/", None, None),
            (
                "/history",
                Some("run=2026-01-a"),
                Some(Route::History(run())),
            ),
            ("/history", Some("run=../a"), None),
            ("/compare", None, None),
            ("/compare", Some("base=a"), None),
            (
                "/compare",
                Some("x=1&candidate=b&base=a"),
                Some(Route::Compare {
                    base: "a".to_owned(),
                    candidate: "b".to_owned(),
                }),
            ),
        ] {
            assert_eq!(Route::parse(path, query), route, "{path}");
        }
    }
}
