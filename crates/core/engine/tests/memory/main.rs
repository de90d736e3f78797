//! A worker's memory during a run: requests do not change it.
#![expect(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations"
)]

use drumfire_measure::RunEvent;
use drumfire_plan::{
    Body, CallKind, Cookies, DataError, Drain, Inspection, Mismatch, OnFailure, Pause, Program,
    RenderedFields, ReplyCheck, ReplyError, RequestContext, RequestData, Response, Retry, Step,
    Taken, Value, ValueForm, VariableId, Varying,
};
use drumfire_testkit::{
    Answer, Client, Draft, Farewell, Http2Behaviour, LastId, Law, Network, Reply, Said, Server,
    Simulation, World, closed, open,
};
use drumfire_units::{ByteSize, Nanos};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Bytes that the whole program has allocated.
static LIVE: AtomicI64 = AtomicI64::new(0);

/// Runs one test at a time, so that the program's memory belongs to that test.
static ALONE: Mutex<()> = Mutex::new(());

/// Counts the allocations of the calling thread, and the bytes that the program has allocated.
fn count(allocations: u64, bytes: i64) {
    // A thread that is ending no longer has a counter, and nothing to count.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + allocations));
    LIVE.fetch_add(bytes, Ordering::Relaxed);
}

/// Allocations of the calling thread, and bytes that the program has allocated.
fn now() -> (u64, i64) {
    (ALLOCATIONS.with(Cell::get), LIVE.load(Ordering::Relaxed))
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of the worker's thread and allocated bytes, at each of these times of the run.
fn observed(plan: Draft, world: World, times: &[Nanos]) -> Vec<(u64, i64)> {
    observed_beside(plan, world, times, &mut |_| {})
}

/// Runs a plan as `observed` does, and passes every event to `watch`.
fn observed_beside(
    plan: Draft,
    mut world: World,
    times: &[Nanos],
    watch: &mut dyn FnMut(&RunEvent),
) -> Vec<(u64, i64)> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = Arc::new(Mutex::new(Vec::with_capacity(times.len())));
    for time in times {
        let seen = Arc::clone(&seen);
        world = world.at(*time, move || {
            seen.lock().expect("no panic while held").push(now());
        });
    }
    let result = Simulation::new(plan, world).try_run_watched(watch);
    let result = result.expect("a plan that can run");
    assert!(result.summary.total.counts.finished() > 0);
    assert_eq!(
        result.summary.total.counts.intended,
        result.summary.total.counts.sent
    );
    let seen = seen.lock().expect("no panic while held").clone();
    assert_eq!(seen.len(), times.len());
    seen
}

/// The length of a run that must not allocate: tens of thousands of requests.
const LENGTH: Nanos = Nanos::from_millis(800);

/// Checks that such a run allocates nothing in its last part.
#[track_caller]
fn allocates_nothing(name: &str, plan: Draft, world: World) {
    // No interval ends during that time, because a new interval would be allocated.
    let plan = plan.interval(Nanos::from_secs(3600));
    let times = [Nanos::from_millis(600), Nanos::from_millis(780)];
    let seen = observed(plan, world, &times);
    assert_eq!(
        seen[1].0 - seen[0].0,
        0,
        "{name}: allocations in 0.18 seconds"
    );
}

/// The increase of the program's memory within a second of the run: the smallest of seven
/// increases, because the other tests and their runner allocate memory when they start and end. A
/// real increase appears in every second.
fn held_more(plan: Draft, world: World) -> i64 {
    let times: Vec<Nanos> = (2..10).map(Nanos::from_secs).collect();
    let seen = observed(plan, world, &times);
    let seconds = seen.windows(2).map(|two| two[1].1 - two[0].1);
    seconds.min().expect("seven")
}

fn quick() -> Server {
    Server::new().takes(Law::Const(Nanos::from_micros(100)))
}

fn world(server: Server) -> World {
    World::new(server).network(Network::each_way(Nanos::from_micros(20)))
}

#[test]
fn a_request_of_one_of_two_pools_allocates_nothing() {
    let users = closed(32).named("users").lasts(LENGTH);
    let rate = open("const(10000/s,800ms)").named("rate").connections(32);
    allocates_nothing("two pools", users.beside(rate), world(quick()));
}

#[test]
fn a_request_allocates_nothing() {
    allocates_nothing("closed", closed(64).lasts(LENGTH), world(quick()));
    let plan = || open("const(20000/s,800ms)").connections(64);
    allocates_nothing("open", plan(), world(quick()));
    allocates_nothing("poisson", plan().poisson(), world(quick()));
    let urls = ["http://sut/a", "http://sut/b", "http://sut/c"];
    allocates_nothing("steps", plan().to(&urls), world(quick()));
    allocates_nothing("bodies", plan().posting(&[b'x'; 1000]), world(quick()));
    let late = world(quick()).client(Client::ideal().wakes_late(Nanos::from_micros(50)));
    allocates_nothing("late", plan(), late);
}

/// A target, a field and a body that vary, rendered without any allocation.
#[derive(Debug)]
struct Lengths;

impl RequestData for Lengths {
    fn varying(&self) -> Varying {
        Varying {
            target: true,
            fields: true,
            body: true,
            ..Varying::default()
        }
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        out.push('/');
        (0..request.number % 50).for_each(|_| out.push('n'));
        Ok(())
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        out.push_with("X-Of", |value| {
            (0..request.number % 70).for_each(|_| value.push('v'));
            Ok(())
        })
    }

    fn message(
        &self,
        request: &RequestContext,
        _: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        out.resize((request.number % 1000) as usize, b'x');
        Ok(())
    }
}

/// A plan in which all requests vary.
fn varying(plan: Draft) -> Draft {
    plan.with(|plan| {
        plan.requests[0].body = Body(Some(Arc::default()));
        plan.requests[0].data = Some(Arc::new(Lengths));
    })
}

#[test]
fn a_request_that_varies_allocates_nothing() {
    allocates_nothing("closed", varying(closed(64).lasts(LENGTH)), world(quick()));
    let open = open("const(20000/s,800ms)").connections(64);
    allocates_nothing("open", varying(open), world(quick()));
    let server = Server::http2(Http2Behaviour::new()).takes(Law::Const(Nanos::from_micros(100)));
    let streams = closed(20).connections(2).http2(10).lasts(LENGTH);
    allocates_nothing("streams", varying(streams), world(server));
}

/// A text whose length depends on the iteration.
#[derive(Debug)]
struct Long;

impl Value for Long {
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<ValueForm, DataError> {
        (0..request.iteration % 50).for_each(|_| out.push('k'));
        Ok(ValueForm::Text)
    }
}

/// Requests that vary, with pauses and values between them.
fn steps(plan: Draft) -> Draft {
    let send = || Step::Request {
        request: 0,
        retry: Retry::default(),
        on_failure: OnFailure::Continue,
        takes: Arc::default(),
    };
    let set = || Step::Set {
        variable: VariableId(0),
        value: Arc::new(Long),
    };
    let pause = Step::Pause(Pause::Even {
        from: Nanos::from_micros(50),
        to: Nanos::from_micros(90),
    });
    let steps = vec![set(), send(), pause, set(), send(), send()];
    varying(plan).with(|plan| plan.program = Program::of_steps(steps))
}

#[test]
fn an_iteration_of_steps_allocates_nothing() {
    allocates_nothing("closed", steps(closed(64).lasts(LENGTH)), world(quick()));
    let crowded = steps(closed(64).lasts(LENGTH)).connections(8);
    allocates_nothing("crowded", crowded, world(quick()));
    let open = open("const(5000/s,800ms)").connections(64);
    allocates_nothing("open", steps(open), world(quick()));
}

/// Takes a field and the body.
#[derive(Debug)]
struct Taking(Vec<String>);

impl Inspection for Taking {
    fn fields(&self) -> &[String] {
        &self.0
    }

    fn body_max(&self) -> Option<ByteSize> {
        Some(ByteSize(1_000))
    }

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        let field = response.fields.values("content-length").next();
        let body = [field.unwrap_or_default(), response.body];
        taken.store(VariableId(0), |out| {
            body.iter()
                .for_each(|part| part.iter().for_each(|byte| out.push(char::from(*byte))));
            Ok(ValueForm::Text)
        })
    }
}

#[test]
fn cookies_that_stay_the_same_allocate_nothing() {
    let keeping = |plan: Draft| plan.with(|pool| pool.cookies = Cookies::User);
    let quick = || quick().says(Answer::with(200, "Set-Cookie: sid=abc; Path=/\r\n", b"ok"));
    allocates_nothing("cookies", keeping(closed(64).lasts(LENGTH)), world(quick()));
    let steps = keeping(steps(closed(64).lasts(LENGTH)));
    allocates_nothing("cookies, steps", steps, world(quick()));
}

#[test]
fn a_look_at_responses_allocates_nothing() {
    let looking = |plan| {
        steps(plan).with(|plan| {
            let fields = vec!["content-length".to_owned()];
            plan.requests[0].inspection = Some(Arc::new(Taking(fields)));
            let Some(scenarios) = plan.program.scenarios() else {
                return;
            };
            let mut steps = scenarios.steps().to_vec();
            for step in &mut steps {
                if let Step::Request { takes, .. } = step {
                    *takes = Arc::new([VariableId(0)]);
                }
            }
            plan.program = Program::of_steps(steps);
        })
    };
    allocates_nothing("looks", looking(closed(64).lasts(LENGTH)), world(quick()));
    let open = open("const(5000/s,800ms)").connections(64);
    allocates_nothing("looks, open", looking(open), world(quick()));
}

/// Accepts messages whose bytes are all equal.
#[derive(Debug)]
struct Same;

impl ReplyCheck for Same {
    fn check(&self, message: &[u8]) -> Result<(), ReplyError> {
        match message.iter().all(|byte| *byte == message[0]) {
            true => Ok(()),
            false => Err(ReplyError("something else".to_owned())),
        }
    }
}

#[test]
fn a_stream_allocates_nothing() {
    let server = |script: Http2Behaviour| {
        let server = Server::http2(script).takes(Law::Const(Nanos::from_micros(100)));
        world(server)
    };
    let users = || {
        let plan = closed(20).connections(2).http2(10);
        plan.lasts(LENGTH)
    };
    allocates_nothing("http2", users(), server(Http2Behaviour::new()));
    let posting = users().posting(&[b'x'; 1000]);
    allocates_nothing("bodies over http2", posting, server(Http2Behaviour::new()));
    let unary = users().calls(CallKind::Unary, Said::once());
    let script = Http2Behaviour::new().says(Reply::unary(b"hello"));
    allocates_nothing("unary calls", unary, server(script));
    // Each entry alternates between a call and a plain request.
    let mixed = users().to(&["http://sut/", "http://sut/", "http://sut/"]);
    let mixed = mixed.calls(CallKind::Unary, Said::once());
    let mixed = mixed.with(|pool| pool.requests[1].call = None);
    let script = Http2Behaviour::new().says(Reply::unary(b"hello"));
    allocates_nothing("calls and plain requests", mixed, server(script));
    // A message that is checked in place, and one that is assembled from two frames.
    for length in [5, 20_000] {
        let reply = Reply::unary(&vec![b'o'; length]);
        let checked = users().calls_with(CallKind::Unary, Said::once(), |call| {
            call.reply_check = Some(Arc::new(Same));
        });
        allocates_nothing(
            "checked calls",
            checked,
            server(Http2Behaviour::new().says(reply)),
        );
    }
    let held_back = open("const(5000/s,800ms)").http2(100);
    allocates_nothing(
        "few streams",
        held_back,
        server(Http2Behaviour::new().allows(5)),
    );
}

/// Tens of thousands of messages on twenty endless calls, and calls that are cancelled after
/// ten messages.
#[test]
fn messages_of_a_stream_allocate_nothing() {
    for (receive, gap) in [(None, 200), (Some(10), 20)] {
        let plan = closed(20).connections(2).http2(10);
        let plan = plan.lasts(LENGTH);
        let plan = plan.calls_with(CallKind::ServerStream, Said::once(), |call| {
            call.streaming.receive = receive;
        });
        // The last endless calls are closed, because nothing else ends them.
        let plan = plan.with(|plan| plan.stop.drain = Drain::Close);
        let ticking = Reply::call().for_ever(b"tick", Nanos::from_micros(gap));
        let server = Server::http2(Http2Behaviour::new().says(ticking));
        allocates_nothing("streams", plan, world(server));
    }
}

#[test]
fn a_queue_of_waiting_requests_allocates_nothing() {
    let slow = world(quick().serves_at_a_time(1));
    allocates_nothing("queue", open("const(20000/s,800ms)").connections(4), slow);
}

#[test]
fn opening_and_closing_allocates_nothing() {
    let server = quick().closes_after(10);
    let plan = open("const(5000/s,800ms)").connections(16);
    allocates_nothing("closing", plan, world(server));
}

#[test]
fn failures_allocate_nothing_that_lasts() {
    let plan = open("const(1000/s,10s)")
        .connections(16)
        .interval(Nanos::from_secs(3600));
    for server in [quick().resets(0.5), Server::refusing()] {
        let more = held_more(plan.clone(), world(server));
        assert!(more <= 0, "{more} bytes more after a second");
    }
}

#[test]
fn streams_that_fail_allocate_nothing_that_lasts() {
    let plan = || {
        let plan = open("const(1000/s,10s)").connections(2).http2(50);
        plan.interval(Nanos::from_secs(3600))
            .with(|plan| plan.timeouts.total = Nanos::from_millis(20))
    };
    for script in [
        Http2Behaviour::new().refuses(0.5),
        Http2Behaviour::new().says(Reply::never()),
        Http2Behaviour::new().goes_away(100, LastId::Of(99), 0, Farewell::WhenDone),
    ] {
        let server = Server::http2(script).takes(Law::Const(Nanos::from_micros(100)));
        let more = held_more(plan(), world(server));
        assert!(more <= 0, "{more} bytes more after a second");
    }
}

/// Lets the collector's thread catch up with virtual time until all but the last of these intervals
/// are merged.
#[expect(clippy::disallowed_methods, reason = "another thread needs real time")]
fn rest(collected: &AtomicU64, intervals: u64) {
    for _ in 0..60_000 {
        if collected.load(Ordering::Relaxed) + 1 >= intervals {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("the collector stands still before interval {intervals}");
}

#[test]
fn calls_hold_as_much_after_an_hour_as_after_minutes() {
    // Each interval has times that differ from the previous ones. Virtual intervals pass faster
    // than the collector merges them, and waiting ones must not count as growth, so the worker
    // rests after each.
    let plan = open("const(50/s,3600s)").connections(2).http2(10);
    let plan = plan.interval(Nanos::from_secs(10));
    let plan = plan.calls(CallKind::Unary, Said::once().varying());
    let script = Http2Behaviour::new().says(Reply::unary(b"hello"));
    let server = Server::http2(script).takes(Law::Exponential(Nanos::from_millis(10)));
    let collected = Arc::new(AtomicU64::new(0));
    let world = (1..360).fold(world(server), |world, interval| {
        let (collected, time) = (Arc::clone(&collected), interval * 10_000 + 100);
        world.at(Nanos::from_millis(time), move || rest(&collected, interval))
    });
    // Each time is in the middle of an interval. The system determines how many intervals are
    // between the threads, so the minimum of the allocated bytes is what the run needs.
    let times: Vec<Nanos> = (200..3600)
        .map(|second| Nanos::from_millis(second * 1000 + 500))
        .collect();
    let seen = observed_beside(plan, world, &times, &mut |event| {
        if let RunEvent::IntervalClosed(_) = event {
            collected.fetch_add(1, Ordering::Relaxed);
        }
    });
    let least = |part: &[(u64, i64)]| part.iter().map(|(_, held)| *held).min();
    let (early, late) = (least(&seen[..400]), least(&seen[seen.len() - 400..]));
    let grown = late.zip(early).map(|(late, early)| late - early);
    // An interval takes 3 MiB. The summary's timeline has at most 300 cells, of some 4 kB here.
    assert!(grown < Some(2 << 20), "{grown:?} bytes more after an hour");
}

#[test]
fn a_week_is_as_large_as_a_day() {
    // A request per second for 604,800 s, with an interval per hour. The amount of counted data
    // does not depend on the rate, and only time could make something grow.
    const DAY: u64 = 24 * 3600;
    let plan = open(&format!("const(1/s,{}s)", 7 * DAY))
        .connections(3)
        .interval(Nanos::from_secs(3600));
    // Each time is in the middle of an interval, long after the previous interval was merged.
    let times: Vec<Nanos> = (0..7)
        .map(|day| Nanos::from_secs(day * DAY + 19_000))
        .collect();
    let seen = observed(plan, world(quick().closes_after(200)), &times);
    let grown = seen[6].1 - seen[0].1;
    // Up to two more intervals may be between the threads.
    assert!(grown < 10 << 20, "{grown} bytes more after six days");
    let allocations = seen[6].0 - seen[0].0;
    // An interval costs some twenty allocations, unless a previous one has been returned in time
    // for reuse.
    assert!(
        allocations < 6 * 24 * 40,
        "{allocations} allocations in six days"
    );
}
