//! The addresses of the server's pages, after its token.

use percent_encoding::percent_decode_str;

/// The page, the stream or the command at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/?q=WORDS&failed=1&plan=RUN&page=N`: a page of the list of runs.
    Runs(ListQuery),
    /// `/compare?base=RUN&candidate=RUN`: two runs compared. `/compare?run=RUN&run=RUN` has the
    /// newer run first, as a form without the page's program sends it.
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

/// The part of the list that a reader requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListQuery {
    /// The words of the search, as typed.
    pub(crate) search: String,
    /// Whether only runs that did not succeed are listed.
    pub(crate) only_failed: bool,
    /// The run to whose plan the list is limited.
    pub(crate) plan: Option<String>,
    /// The page, from 0.
    pub(crate) page: usize,
}

impl ListQuery {
    /// The query in the fields of an address. Unknown fields and values are ignored.
    fn parse(query: &str) -> Self {
        let page = field(query, "page").and_then(|page| page.parse::<usize>().ok());
        Self {
            search: field(query, "q").unwrap_or_default().trim().to_owned(),
            only_failed: field(query, "failed").is_some_and(|value| value == "1"),
            plan: value(query, "plan"),
            page: page.unwrap_or(1).saturating_sub(1),
        }
    }
}

impl Route {
    /// The route of a path and a query; `None` if the path is unknown.
    pub(crate) fn parse(path: &str, query: Option<&str>) -> Option<Self> {
        match path.split('/').collect::<Vec<_>>()[..] {
            [""] => Some(Self::Slash),
            ["", ""] => Some(Self::Runs(ListQuery::parse(query.unwrap_or_default()))),
            ["", "compare"] => {
                let query = query.unwrap_or_default();
                let ticked: Vec<String> = values(query, "run").collect();
                let [base, candidate] = match &ticked[..] {
                    [newer, older] => [older, newer].map(|run| is_name(run).then(|| run.clone())),
                    _ => ["base", "candidate"].map(|side| value(query, side)),
                };
                Some(Self::Compare {
                    base: base?,
                    candidate: candidate?,
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

/// The run in a query's field.
fn value(query: &str, name: &str) -> Option<String> {
    field(query, name).filter(|value| is_name(value))
}

/// The first value of a query's field.
fn field(query: &str, name: &str) -> Option<String> {
    values(query, name).next()
}

/// The values of a query's field, as a form encodes them (URL standard, section 5). A value that is
/// not UTF-8 is left out.
fn values<'q>(query: &'q str, field: &'q str) -> impl Iterator<Item = String> + 'q {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let values = pairs.filter(move |(name, _)| *name == field);
    values.filter_map(|(_, value)| decoded(&value.replace('+', " ")))
}

/// The run of a path, whose parts are encoded.
fn name(text: &str) -> Option<String> {
    decoded(text).filter(|name| is_name(name))
}

fn decoded(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    Some(text.into_owned())
}

/// Whether a text is a name in the folder of runs, which cannot lead elsewhere.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    use super::{ListQuery, Route};

    #[test]
    fn an_address_leads_to_one_page_or_none() {
        let run = || "2026-01-a".to_owned();
        for (path, query, route) in [
            ("/", None, Some(Route::Runs(ListQuery::default()))),
            (
                "/",
                Some("q=+a%2Bb+c&failed=1&plan=2026-01-a&page=3&tick=x"),
                Some(Route::Runs(ListQuery {
                    search: "a+b c".to_owned(),
                    only_failed: true,
                    plan: Some(run()),
                    page: 2,
                })),
            ),
            (
                "/",
                Some("q=%ff&failed=yes&plan=..&page=0"),
                Some(Route::Runs(ListQuery::default())),
            ),
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
            ("/compare", Some("run=a"), None),
            ("/compare", Some("run=a&run=../b"), None),
            (
                "/compare",
                Some("run=new&run=old"),
                Some(Route::Compare {
                    base: "old".to_owned(),
                    candidate: "new".to_owned(),
                }),
            ),
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
