//! Pandora's job: each load of its page on performance, with drumfire on one core and the server on
//! another.

mod ammo;
mod beside;
mod bodies;
mod contest;
mod delays;
mod failures;
mod paced;
mod plans;
mod scenario;

use super::Row;

/// All rows, in the order of the page.
pub(super) fn rows() -> Vec<Row> {
    let page = [
        Row::contest("keep-alive", |s| beside::measure(&beside::KEEP_ALIVE, s))
            .beside("Connection: Keep-Alive 95k RPS"),
        Row::contest("close", |s| beside::measure(&beside::CLOSE, s))
            .beside("Connection: Close 23k RPS"),
        Row::alone("response-10k", |s| {
            bodies::measure(&bodies::RESPONSE_10K, s)
        })
        .beside("Response size 10kB maxed out network interface. OK."),
        Row::alone("response-100k", |s| {
            bodies::measure(&bodies::RESPONSE_100K, s)
        })
        .beside("Response size 100kb maxed out network interface. OK."),
        Row::alone("post-10k", |s| bodies::measure(&bodies::POST_10K, s))
            .beside("POST requests 10kB maxed out network interface. OK."),
        Row::alone("post-100k", |s| bodies::measure(&bodies::POST_100K, s))
            .beside("POST requests 100kB maxed out network interface. OK."),
        Row::alone("post-1M", |s| bodies::measure(&bodies::POST_1M, s))
            .beside("POST requests 1MB maxed out network interface. OK."),
    ];
    let delays = [
        Row::alone("delay-50ms", |s| delays::measure(&delays::MS_50, s))
            .beside("50ms server delay 30k RPS. OK."),
        Row::alone("delay-500ms", |s| delays::measure(&delays::MS_500, s))
            .beside("500ms server delay 30k RPS, 30k instances. OK."),
        Row::alone("delay-1s", |s| delays::measure(&delays::S_1, s))
            .beside("1s server delay 50k RPS, 50k instances. OK."),
        Row::alone("delay-10s", |s| delays::measure(&delays::S_10, s)).beside(DELAY_10S),
        Row::alone("delay-10s-scenario", |s| {
            delays::measure(&delays::S_10_SCENARIO, s)
        })
        .beside(DELAY_10S),
        Row::alone("delay-10s-http2", |s| {
            delays::measure(&delays::S_10_HTTP2, s)
        })
        .beside(DELAY_10S),
    ];
    let rest = [
        Row::alone("killed", failures::killed).beside(SERVER_FAIL),
        Row::alone("frozen", failures::frozen).beside(SERVER_FAIL),
        Row::alone("json-ammo", |s| paced::measure(paced::Load::JsonAmmo, s)).beside(SMALL),
        Row::alone("scenario", |s| paced::measure(paced::Load::Scenario, s)).beside(SMALL),
        Row::alone("scenario-10k", |s| {
            paced::measure(paced::Load::BigScenario, s)
        })
        .beside("Some scenario steps with big JSON bodies 35k RPS. OK."),
        Row::alone("scenario-cost", scenario::measure)
            .beside("Custom scenarios performance depends very much of their implementation."),
        Row::alone("ammo-start", ammo::measure)
            .beside("We used JSON-formatted ammo to specify parameters for each scenario run."),
    ];
    page.into_iter().chain(delays).chain(rest).collect()
}

const DELAY_10S: &str = "10s server delay 5k RPS, 5k instances. OK.";
const SERVER_FAIL: &str = "Server fail during test OK.";
const SMALL: &str = "Small requests 35k RPS. OK.";
