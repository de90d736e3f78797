//! The permissions of an agent for plans of others: the servers that they load, and the environment
//! variables that they read.

use crate::flags::NATS_VARIABLES;
use drumfire_plan::{Detour, Inquiry, Origin, Plan};

/// The entry of a list that permits everything.
const ANY: &str = "*";
/// The hosts that an agent may load without a list: its own machine.
const OWN: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// The permissions of an agent for plans of others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permits {
    /// The permitted hosts, each with or without a port; if empty, only the agent's own machine.
    pub(crate) hosts: Vec<String>,
    /// The names of the permitted variables.
    pub(crate) variables: Vec<String>,
}

impl Permits {
    /// Rejects a plan with a forbidden target, or with a proxy or other way that could lead to one.
    pub(crate) fn plan(&self, plan: &Plan) -> Result<(), String> {
        self.way(plan.detour())?;
        plan.origins().try_for_each(|origin| self.server(origin))
    }

    /// Rejects a schema request to a forbidden server, or by a way that could lead to one.
    pub(crate) fn inquiry(&self, inquiry: &Inquiry) -> Result<(), String> {
        self.way(inquiry.detour())?;
        self.server(&inquiry.request().url.origin)
    }

    fn way(&self, detour: Option<Detour>) -> Result<(), String> {
        match detour.filter(|_| !self.has_any_host()) {
            None => Ok(()),
            Some(detour) => Err(format!(
                "the plan {detour}; to permit this, start the agent with --allow '{ANY}'"
            )),
        }
    }

    fn has_any_host(&self) -> bool {
        self.hosts.iter().any(|host| host == ANY)
    }

    fn server(&self, origin: &Origin) -> Result<(), String> {
        let is_permitted = match self.hosts.is_empty() {
            true => OWN.iter().any(|own| is_of(own, origin)),
            false => self.has_any_host() || self.hosts.iter().any(|host| is_of(host, origin)),
        };
        match is_permitted {
            true => Ok(()),
            false => Err(format!(
                "this agent may not load {0}:{1}; to permit this, start it with --allow {0}:{1}",
                origin.host, origin.port
            )),
        }
    }

    /// Whether a plan may read this variable.
    pub(crate) fn variable(&self, name: &str) -> bool {
        let mut permitted = self.variables.iter();
        !name.starts_with(NATS_VARIABLES) && permitted.any(|it| it == ANY || it == name)
    }
}

/// Whether an entry of the list is an origin's host, or its host and port.
fn is_of(permitted: &str, origin: &Origin) -> bool {
    let host = origin.host.to_string();
    permitted.eq_ignore_ascii_case(&host)
        || permitted.eq_ignore_ascii_case(&format!("{host}:{}", origin.port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_plan::Url;

    fn permits(hosts: &[&str], variables: &[&str]) -> Permits {
        let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
        Permits {
            hosts: texts(hosts),
            variables: texts(variables),
        }
    }

    #[test]
    fn an_entry_is_a_host_or_a_host_with_a_port() {
        for (hosts, url, expected) in [
            (&["shop.test"][..], "http://shop.test:81/", true),
            (&["SHOP.test:81"], "http://shop.test:81/", true),
            (&["shop.test:80"], "http://shop.test:81/", false),
            (&["shop.test"], "http://shop.test.evil/", false),
            (&["[::1]:81"], "http://[::1]:81/", true),
            (&["127.0.0.1"], "https://127.0.0.1/", true),
            (&["a.test", "*"], "http://shop.test/", true),
            (&[], "http://localhost:81/", true),
            (&[], "http://shop.test/", false),
        ] {
            let origin = Url::parse(url).unwrap().origin;
            let given = permits(hosts, &[]).server(&origin);
            assert_eq!(given.is_ok(), expected, "{hosts:?} {url}");
        }
    }

    #[test]
    fn the_way_to_nats_is_never_read() {
        for (variables, name, expected) in [
            (&[][..], "TOKEN", false),
            (&["TOKEN"], "TOKEN", true),
            (&["TOKEN"], "TOKEN_2", false),
            (&["*"], "TOKEN", true),
            (&["*"], "NATS_PASSWORD", false),
            (&["NATS_PASSWORD"], "NATS_PASSWORD", false),
        ] {
            let given = permits(&[], variables).variable(name);
            assert_eq!(given, expected, "{variables:?} {name}");
        }
    }
}
