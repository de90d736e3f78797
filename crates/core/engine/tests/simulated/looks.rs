//! Checks of responses, and values that users extract from them for later requests.

use crate::{failures, ms, run};
use drumfire_measure::{Counts, Outcome};
use drumfire_plan::{
    DataError, Expect, Inspection, Mismatch, MismatchKind, OnFailure, Program, Redirects,
    RenderedFields, RequestContext, RequestData, Response, Retry, Step, Taken, ValueForm,
    VariableId, Varying,
};
use drumfire_testkit::{Answer, Draft, Law, Server, Simulated, World, closed};
use drumfire_units::{ByteSize, Nanos};
use std::sync::Arc;

const TOKEN: VariableId = VariableId(0);
const PLACE: VariableId = VariableId(1);

/// Takes the body, and the field `place` if the response has one. The body must not be `wrong`.
#[derive(Debug)]
struct Look {
    fields: Vec<String>,
    max: u64,
    limit: Nanos,
}

impl Look {
    fn new() -> Self {
        Self {
            fields: vec!["place".to_owned()],
            max: 1_000,
            limit: ms(60),
        }
    }
}

impl Inspection for Look {
    fn fields(&self) -> &[String] {
        &self.fields
    }

    fn body_max(&self) -> Option<ByteSize> {
        Some(ByteSize(self.max))
    }

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        let mismatch = |kind, reason: &str| Mismatch {
            kind,
            reason: reason.to_owned(),
        };
        let text = std::str::from_utf8(response.body).expect("text");
        if response.time > self.limit {
            return Err(mismatch(MismatchKind::Time, "slow"));
        }
        if text == "wrong" {
            return Err(mismatch(MismatchKind::Body, "it is wrong"));
        }
        let put = |out: &mut String, text: &str| {
            out.push_str(text);
            Ok(ValueForm::Text)
        };
        taken.store(TOKEN, |out| put(out, text))?;
        let mut places = response.fields.values("place");
        let place = places
            .next()
            .ok_or_else(|| mismatch(MismatchKind::Missing, "there is no field `place`"))?;
        taken.store(PLACE, |out| {
            put(out, std::str::from_utf8(place).expect("text"))
        })
    }
}

/// Fields with both variables.
#[derive(Debug)]
struct Both;

impl RequestData for Both {
    fn varying(&self) -> Varying {
        Varying {
            fields: true,
            ..Varying::default()
        }
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        let variables = request.variables.as_ref().expect("the program has some");
        out.push("token", variables.get(TOKEN)?)?;
        out.push("place", variables.get(PLACE)?)
    }

    fn message(&self, _: &RequestContext, _: u64, _: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }
}

/// Logs in, and then sends the values from the response.
fn shop(plan: Draft, look: Look) -> Draft {
    let step = |request, takes: &[VariableId]| Step::Request {
        request,
        retry: Retry::default(),
        on_failure: OnFailure::Continue,
        takes: takes.into(),
    };
    let steps = vec![step(0, &[TOKEN, PLACE]), step(1, &[])];
    plan.to(&["http://sut/login", "http://sut/buy"])
        .with(|pool| {
            pool.program = Program::of_steps(steps);
            pool.requests[0].inspection = Some(Arc::new(look));
            pool.requests[1].data = Some(Arc::new(Both));
        })
}

/// A server that gives each login a separate token, and refuses requests without a token.
fn server(lines: &'static str) -> Server {
    Server::new()
        .takes(Law::Const(ms(10)))
        .answers(move |request| {
            if request.target() == "/login" {
                let token = format!("token-{}", request.index);
                return Answer::with(200, lines, token.as_bytes());
            }
            let token = request.header("token").unwrap_or_default();
            let has_place = request.header("place") == Some("there");
            Answer::status(match token.starts_with("token-") && has_place {
                true => 200,
                false => 403,
            })
        })
}

fn iterations(result: &Simulated) -> &Counts {
    let iterations = result.summary.total.iterations.as_ref();
    &iterations.expect("the program has steps").counts
}

#[test]
fn each_user_sends_what_it_took_from_its_own_response() {
    for threads in [1, 3] {
        let plan = shop(closed(5).threads(threads).iterations(100), Look::new());
        let world = World::new(server("Place: there\r\n")).keeps_requests();
        let result = run(plan, world);
        failures(&result.summary, &[]);
        assert_eq!(iterations(&result).ok, 100);
        let tokens = result.log.seen.iter().filter_map(|request| {
            let mut lines = request.head.lines();
            lines.find_map(|line| line.strip_prefix("token: token-"))
        });
        let mut tokens: Vec<u64> = tokens.map(|n| n.parse().expect("a number")).collect();
        assert_eq!(tokens.len(), 100);
        // Each thread has a separate server, which counts from 0.
        if threads == 1 {
            tokens.sort_unstable();
            tokens.dedup();
            assert_eq!(tokens.len(), 100, "each token is used once");
        }
    }
}

#[test]
fn a_response_in_pieces_is_looked_at_as_a_whole() {
    let server = Server::new().answers(|request| {
        let answer = match request.target() {
            "/login" => Answer::with(200, "Place: there\r\n", b"token-1"),
            _ => Answer::status(match request.header("token") {
                Some("token-1") => 200,
                _ => 403,
            }),
        };
        answer.dripping(1, ms(0))
    });
    let result = run(
        shop(closed(1).iterations(3), Look::new()),
        World::new(server),
    );
    failures(&result.summary, &[]);
}

#[test]
fn what_is_not_as_expected_fails_and_leaves_no_value() {
    let cases = [
        ("", "token-1", Look::new(), Outcome::ExtractMissing),
        ("Place: a\r\n", "wrong", Look::new(), Outcome::AssertBody),
        (
            "Place: a\r\n",
            "token-1",
            Look {
                limit: ms(9),
                ..Look::new()
            },
            Outcome::AssertTime,
        ),
        (
            "Place: a\r\n",
            "token-1",
            Look {
                max: 6,
                ..Look::new()
            },
            Outcome::LimitBody,
        ),
    ];
    for (lines, body, look, outcome) in cases {
        let server = Server::new()
            .takes(Law::Const(ms(10)))
            .answers(move |_| Answer::with(200, lines, body.as_bytes()));
        let result = run(shop(closed(2).iterations(4), look), World::new(server));
        // The second request is not sent with values of the previous iteration.
        failures(&result.summary, &[(outcome, 4), (Outcome::BadData, 4)]);
        assert_eq!(iterations(&result).failed, 4);
    }
}

#[test]
fn a_request_has_statuses_of_its_own() {
    let server = Server::new().answers(|request| {
        Answer::status(match request.target() {
            "/login" => 401,
            _ => 200,
        })
    });
    let expect = Expect::NONE.with(401, 401);
    let plan = closed(1)
        .requests(20)
        .to(&["http://sut/login", "http://sut/buy"])
        .with(|pool| pool.requests[0].expect = Some(expect));
    failures(&run(plan, World::new(server)).summary, &[]);
}

#[test]
fn a_redirect_that_is_followed_is_not_looked_at() {
    let server = Server::new().answers(|request| match request.target() {
        "/login" => Answer::with(302, "Location: /in\r\nPlace: gate\r\n", b"wrong"),
        "/in" => Answer::with(200, "Place: there\r\n", b"token-1"),
        _ => Answer::status(match request.header("place") {
            Some("there") => 200,
            _ => 403,
        }),
    });
    let plan = shop(closed(1).iterations(5), Look::new())
        .with(|pool| pool.http.redirects = Redirects::Follow(3));
    failures(&run(plan, World::new(server)).summary, &[]);
}
