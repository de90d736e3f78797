//! Go templates: Go's template language with sprig's functions, functions for random values, and
//! the variables of a call.
//!
//! They are for plans that came from ghz; native templates are in `data`. A call's text is a
//! function of the call, its message and the seed. Random values come from a stream of numbers that
//! belongs to this place, so any worker can render any call, and a run can be repeated. `{{.UUID}}`
//! has the same value in a call's data and metadata.
//!
//! `gotemplate` bounds the interpreter in steps and memory. The interpreter gets the time, zones
//! and the environment through [`CallEnv`], which calls the host during the run.

mod call;
mod functions;

pub(crate) use call::{CallNames, Workers};

use crate::Host;
use call::CallVariables;
use drumfire_data::{Random, TextTemplate};
use drumfire_gotemplate::{Env, Fault, Functions, GoTemplate, Value, ZoneTime};
use drumfire_plan::{DataError, RequestContext};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The templates' name in error messages.
const NAME: &str = "call_template_data";

/// The set of functions that templates may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FunctionSet {
    /// Go's functions, sprig's, and those for random values.
    #[default]
    All,
    /// Only Go's functions.
    Builtin,
}

/// The text of a call that a template renders. Each text has a separate stream of random numbers,
/// so that two templates do not give the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The data, or the n-th element of an array of them.
    Data(u32),
    /// The metadata, or the value of its n-th key.
    Metadata(u32),
}

impl Role {
    /// The stream of random numbers of this text; never [`UUID_PLACE`].
    ///
    /// Data has the odd streams and metadata the even ones, so that an additional element of one
    /// does not change the numbers of the other.
    const fn place(self) -> u64 {
        match self {
            Self::Data(n) => 1 + 2 * n as u64,
            Self::Metadata(n) => 2 + 2 * n as u64,
        }
    }
}

/// The stream of random numbers of `{{.UUID}}`, which all texts of a call share.
const UUID_PLACE: u64 = 0;

/// Whether a text has actions of Go templates, or can't be parsed as a Go template. Such a text
/// must not be sent unchanged.
#[must_use]
pub fn is_go_template(text: &str) -> bool {
    let functions = functions::add_functions(Functions::sprig());
    GoTemplate::parse(NAME, text, &functions).map_or(true, |template| !template.is_static())
}

/// The parser of one request's templates, which share their functions, the call's names and the
/// host.
#[derive(Clone, Debug)]
pub(crate) struct GoTemplates {
    functions: Functions,
    names: Arc<CallNames>,
    host: Arc<dyn Host>,
}

impl GoTemplates {
    /// Creates the parser for the templates of one call.
    #[must_use]
    pub(crate) fn new(names: CallNames, set: FunctionSet, host: Arc<dyn Host>) -> Self {
        let functions = match set {
            FunctionSet::All => functions::add_functions(Functions::sprig()),
            FunctionSet::Builtin => Functions::builtin(),
        };
        Self {
            functions,
            names: Arc::new(names),
            host,
        }
    }

    /// Parses a template. Returns `None` if the text has no actions, so that every call sends it
    /// unchanged.
    ///
    /// # Errors
    /// If the text is not a valid template; the message is Go's.
    pub(crate) fn parse(&self, text: &str, role: Role) -> Result<Option<CallTemplate>, DataError> {
        let template = GoTemplate::parse(NAME, text, &self.functions)
            .map_err(|error| DataError::new(error.to_string()))?;
        if template.is_static() {
            return Ok(None);
        }
        Ok(Some(CallTemplate {
            template,
            names: Arc::clone(&self.names),
            host: Arc::clone(&self.host),
            place: role.place(),
        }))
    }
}

/// A parsed template of a call's data or metadata. All calls share it; the state of a call is
/// created for each rendering.
#[derive(Clone)]
pub(crate) struct CallTemplate {
    template: GoTemplate,
    names: Arc<CallNames>,
    host: Arc<dyn Host>,
    place: u64,
}

/// The output omits the parsed program, because it is long.
impl fmt::Debug for CallTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTemplate")
            .field("names", &self.names)
            .field("host", &self.host)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl TextTemplate for CallTemplate {
    fn render(
        &self,
        call: &RequestContext,
        message: u64,
        out: &mut String,
    ) -> Result<(), DataError> {
        let variables = CallVariables {
            names: Arc::clone(&self.names),
            host: Arc::clone(&self.host),
            call: call.clone(),
            message,
        };
        let mut env = CallEnv {
            host: &*self.host,
            unix_time: call.now,
            random: Random::new(call.seed, call.number, message, self.place),
        };
        self.template
            .execute(&Value::Object(Rc::new(variables)), &mut env, out)
            .map_err(|error| DataError::new(error.to_string()))
    }
}

/// The environment of one call's templates. Time and random numbers depend on the call, and not on
/// the thread that renders it; zones and variables come from the host.
struct CallEnv<'a> {
    host: &'a dyn Host,
    unix_time: u64,
    random: Random,
}

impl Env for CallEnv<'_> {
    fn unix_time_ns(&mut self) -> i64 {
        i64::try_from(self.unix_time).unwrap_or(i64::MAX)
    }

    fn random(&mut self) -> u64 {
        self.random.bits()
    }

    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        self.host.zone(place, unix_seconds)
    }

    fn variable(&self, name: &str) -> Result<String, Fault> {
        match self.host.variable(name) {
            Some(value) => Ok(value),
            None => Err(self.host.unreadable(name).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_document::Bare;

    const CALL: RequestContext = RequestContext {
        number: 7,
        arrival: 7,
        parts: 1,
        user: 2,
        iteration: 0,
        connection: 1,
        now: 1_600_000_000_123_456_789,
        seed: 42,
        variables: None,
    };

    fn templates(set: FunctionSet) -> GoTemplates {
        let names = CallNames {
            service: "hellohost.Greeter".to_owned(),
            method: "SayHello".to_owned(),
            input: "HelloRequest".to_owned(),
            output: "HelloReply".to_owned(),
            client_streams: false,
            server_streams: true,
            workers: Workers::default(),
        };
        GoTemplates::new(names, set, Arc::new(Bare))
    }

    fn render_at(text: &str, role: Role, call: &RequestContext, message: u64) -> String {
        let template = templates(FunctionSet::All).parse(text, role).expect(text);
        let mut out = String::new();
        template
            .expect("an action")
            .render(call, message, &mut out)
            .expect(text);
        out
    }

    fn render(text: &str) -> String {
        render_at(text, Role::Data(0), &CALL, 0)
    }

    fn error(text: &str, set: FunctionSet) -> String {
        let rendered = templates(set)
            .parse(text, Role::Data(0))
            .and_then(|template| {
                let mut out = String::new();
                template.expect("an action").render(&CALL, 0, &mut out)
            });
        rendered.expect_err(text).words
    }

    #[test]
    fn variables_are_those_of_the_call() {
        let cases = [
            ("{{.WorkerID}}", "g2c1"),
            ("{{.RequestNumber}}", "7"),
            ("{{.FullyQualifiedName}}", "hellohost.Greeter.SayHello"),
            ("{{.ServiceName}}/{{.MethodName}}", "Greeter/SayHello"),
            ("{{.InputName}} {{.OutputName}}", "HelloRequest HelloReply"),
            (
                "{{.IsClientStreaming}} {{.IsServerStreaming}}",
                "false true",
            ),
            ("{{.Timestamp}}", "2020-09-13T12:26:40Z"),
            ("{{.TimestampUnix}}", "1600000000"),
            ("{{.TimestampUnixMilli}}", "1600000000123"),
            ("{{.TimestampUnixNano}}", "1600000000123456789"),
            ("{{now.Unix}} {{add 1 .RequestNumber}}", "1600000000 8"),
            ("{{if eq .MethodName `SayHello`}}a{{else}}b{{end}}", "a"),
            ("{{printf `%T` .RequestNumber}}", "int64"),
        ];
        for (text, expected) in cases {
            assert_eq!(render(text), expected, "{text}");
        }
    }

    #[test]
    fn a_call_has_one_uuid_and_as_many_new_ones_as_it_wants() {
        let uuid = render("{{.UUID}}");
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert_eq!(render("{{.UUID}}"), uuid);
        assert_eq!(render_at("{{.UUID}}", Role::Metadata(0), &CALL, 0), uuid);
        assert_ne!(render_at("{{.UUID}}", Role::Data(0), &CALL, 1), uuid);
        let next = RequestContext { number: 8, ..CALL };
        assert_ne!(render_at("{{.UUID}}", Role::Data(0), &next, 0), uuid);
        let both = render("{{newUUID}} {{newUUID}}");
        let (first, second) = both.split_once(' ').expect("two");
        assert_ne!(first, second);
        assert_ne!(render_at("{{newUUID}}", Role::Metadata(0), &CALL, 0), first);
        // Render with the same call and seed again.
        assert_eq!(render("{{newUUID}} {{newUUID}}"), both);
    }

    #[test]
    fn random_values_lie_within_their_bounds() {
        for number in 0..200 {
            let call = RequestContext { number, ..CALL };
            let text = "{{randomString 5}},{{randomString 0}},{{randomInt 2 9}},{{randomInt -5 3}},{{randomInt 0 0}}";
            let out = render_at(text, Role::Data(0), &call, 0);
            let parts: Vec<&str> = out.split(',').collect();
            assert_eq!(parts[0].len(), 5, "{out}");
            assert!((2..=16).contains(&parts[1].len()), "{out}");
            assert!(
                parts[1].bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "{out}"
            );
            assert!((2..9).contains(&parts[2].parse().unwrap_or(0)), "{out}");
            assert!((0..3).contains(&parts[3].parse().unwrap_or(-1)), "{out}");
            assert_eq!(parts[4], "0", "{out}");
        }
    }

    #[test]
    fn mistakes_have_gos_words() {
        let cases = [
            (
                "{{randomInt 5 5}}",
                "template: call_template_data:1:2: executing \"call_template_data\" at <randomInt 5 5>: error calling randomInt: invalid argument to Intn",
            ),
            (
                "{{.Nope}}",
                "template: call_template_data:1:2: executing \"call_template_data\" at <.Nope>: can't evaluate field Nope in type *runner.CallData",
            ),
            (
                "{{nope}}",
                "template: call_template_data:1: function \"nope\" not defined",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(error(text, FunctionSet::All), expected);
        }
        assert_eq!(
            error("{{newUUID}}", FunctionSet::Builtin),
            "template: call_template_data:1: function \"newUUID\" not defined"
        );
        assert!(error("{{env `HOME`}}", FunctionSet::All).contains("can't be read here"));
    }

    #[test]
    fn text_without_actions_is_no_template() {
        let templates = templates(FunctionSet::All);
        let parsed = templates.parse("{\"a\": {\"b\": 1}}", Role::Data(0));
        assert!(parsed.expect("a text").is_none());
        assert_eq!(render("{{if true}}a{{end}}"), "a");
    }
}
