//! When requests start, when they end, and the program that sends them.

use crate::keys::fields::{nested, table};
use crate::keys::{Flag, Group, Number, On};
use crate::{Count, Switch, Text};

table! {
    /// The law by which requests start.
    pub struct Load [] {
        rate: Option<Text> =
            "Requests or iterations per second (open model), such as `500/s`, or a law such as `line(5,200,1m) const(200,5m)`",
            Flag::new(Group::Load, "-r, --rate <RATE>",
                "Open model: a rate (500/s, 90/m, 0.2/s) or a law such as `line(5,200,60s) const(200,5m)` [default: 10/s if -c, -u and -n are absent]").first();
        rate_per: Option<Text> =
            "`all` (the default): the rate is for all users together; `user`: each of the `users` follows the rate on its own, from its start";
        arrivals: Option<Text> = "How arrivals are spaced at the rate: `constant`, `poisson`, or `gamma:K`, whose gaps have a gamma distribution of shape K, such as `gamma:0.5` for bursts",
            Flag::new(Group::Load, "--arrivals <KIND>",
                "Spacing of arrivals: constant, poisson, or gamma:K, which comes in bursts for K below 1 [default: constant]").choices(&["constant", "poisson", "gamma:0.5"]);
        late: Option<Text> =
            "When no connection is free: `queue` the request, `skip` it, or drop it after a time, as in `drop(2s)`",
            Flag::new(Group::Load, "--late <POLICY>",
                "When no connection is free: queue the request, skip it, or drop(TIME) it after TIME [default: queue]").choices(&["queue", "skip", "drop"]);
        users: Option<Text> = "Number of users, or a law for it",
            Flag::new(Group::Load, "-u, --users <N>",
                "Users, each with one request at a time: a number, or a law such as `line(1,200,60s)`. Without -r, a user sends the next request when the response arrives [default: as many as -c and --streams carry]").first();
        start: Option<Text> =
            "Law by which users start one by one: `once(n)`, `const(rate,time)`, `line(…)`, `step(…)`";
        think: Option<Text> =
            "Pause of a user between two iterations: `200ms`, `200ms..1s`, `exponential(1s)` or `lognormal(1s,0.5)`",
            Flag::new(Group::Load, "--think-time <TIME>",
                "Closed model: a user's pause between a response and the next request").excludes(&["rate"]);
        pace: Option<Text> = "Minimum time between the starts of a user's iterations, such as `5s`",
            Flag::new(Group::Load, "--every <TIME>",
                "Minimum time from one message of a connection to its next").on(On::WS).excludes(&["rate"]).first();
    } []
}

table! {
    /// The end of a run.
    pub struct Stop [] {
        after: Option<Text> = "Stop after this time, such as `30s`",
            Flag::new(Group::Load, "-z, --duration <TIME>",
                "Length of the run [default: 10s, unless -n, --iterations or the law ends it]").first();
        requests: Option<Count> = "Stop after this many requests",
            Flag::new(Group::Load, "-n, --requests <N>",
                "Send exactly N requests, such as 200 or 10k; without -r, -c and -u, one after another").first();
        iterations: Option<Count> = "Stop after this many iterations",
            Flag::new(Group::Load, "--iterations <N>",
                "Send the list of URLs exactly N times").on(On::HTTP.and(On::GRPC).and(On::RUN)).hidden(On::GRPC);
        drain: Option<Text> =
            "Requests that are in flight at the end: `wait` for them (the default); `close`: abort them and count them as failed; `ignore`: count them as in flight";
        abort: Vec<Text> =
            "Conditions that end the whole run, such as `failed>50% over 30s`; only in the plan's `stop`",
            Flag::new(Group::Output, "--abort-on <CONDITION>",
                "Condition that stops the run, such as `failed>50% over 30s`; repeatable");
        max_errors: Option<Count> =
            "End the whole run when more than this many requests have failed; only in the plan's `stop`",
            Flag::new(Group::Output, "--max-errors <N>",
                "Stop the run when more than N requests have failed").number(Number::Failures);
    } []
}

table! {
    /// The program that sends.
    pub struct Generator [] {
        threads: Option<Count> = "Number of threads that send",
            Flag::new(Group::Load, "--threads <N>", "Worker threads [default: one per core]");
        seed: Option<Count> = "Seed of all random values",
            Flag::new(Group::Load, "--seed <N>", "Seed for all random values [default: 1]");
        nonce: Option<Count> =
            "Number that makes the made-up prompts of a run different from those of other runs; by default a new one for each run";
        warmup: Option<Text> =
            "Time at the start that is not measured, such as `5s`; `auto`: until latencies settle",
            Flag::new(Group::Load, "--warmup <TIME>",
                "Send load for this time before measuring; auto excludes the time until latencies settle");
        spin: Option<Switch> = "Busy-wait before a request is due, for times below 50 µs",
            Flag::new(Group::Load, "--spin",
                "Busy-wait shortly before a request is due: microseconds of lag, at the cost of a CPU core");
        wait: Option<Text> =
            "How threads wait for responses: `adaptive` (the default): in a closed model without pauses and event streams, poll before sleeping for as long as that pays; `sleep`: never poll; `spin`: the same as `spin: true`",
            Flag::new(Group::Load, "--wait <HOW>",
                "How threads wait for responses: adaptive polls before sleeping, in a closed model without pauses and event streams; sleep never polls; spin is the same as --spin [default: adaptive]")
                .on(On::SENDS).choices(&["sleep", "adaptive", "spin"]).excludes(&["spin"]);
        clock: Option<Text> =
            "Clock for exchanges: `wire`, kernel timestamps of requests and responses, the default of an open model; `receive`, those of responses; `program`, drumfire's own, the default with users",
            Flag::new(Group::Load, "--clock <CLOCK>",
                "Time responses when drumfire reads them (program) or when the kernel receives them (receive); wire also times requests when they leave [default: wire with a rate, program with users]");
        interval: Option<Text> = "Length of an interval of figures, such as `1s`",
            Flag::new(Group::Output, "--interval <TIME>",
                "Length of an interval in the report and in the live display [default: 1s]");
        i_own_this_target: Option<Switch> = "Allow more than a modest load on public addresses, and rates above 1,000,000/s",
            Flag::new(Group::Load, "--i-own-this-target",
                "Allow more than 100 requests/s, or 1,000 in total, to public addresses, and rates above 1,000,000/s");
    } []
}

nested!(Stop => "stop", Generator => "generator");
