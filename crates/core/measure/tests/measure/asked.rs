//! The facts of plans: every kind of fact, chosen by a number.

use drumfire_measure::{
    Asked, AskedBody, AskedCall, AskedHeader, AskedLaw, AskedLoad, AskedRequest, AskedSequence,
    AskedStep, AskedStop, AskedTransport, LISTED_MAX, Listed,
};
use drumfire_plan::{
    Arrivals, Churn, Expect, Growth, HttpVersion, KeepAlive, LatePolicy, Life, Pause, Shape,
    Streaming, Timeouts, UserSteps, VariableId,
};
use drumfire_units::Nanos;

/// Every law except traces.
const LAWS: &str = "const(5/s,1s) line(1/s,9/s,2s) step(1/s,9/s,2/s,3s) once(7) unlimited(1s) \
                    sine(9/s,4/s,1s,8s) stairs(1/s,1s,2/s,2s) const(90/m)";

/// Derives a sequence of choices from a number.
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: u64) -> u64 {
        let choice = self.0 % count;
        self.0 = (self.0 / count).rotate_left(17) ^ count;
        choice
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    fn nanos(&mut self) -> Nanos {
        Nanos(self.0 >> self.below(64))
    }

    fn maybe(&mut self) -> Option<u64> {
        let is_there = self.below(2) == 1;
        is_there.then(|| self.nanos().0)
    }

    fn pause(&mut self) -> Pause {
        let all = ["0", "200ms..1s", "exponential(1s)", "lognormal(1s,0.5)"];
        self.pick(&all).parse().expect("a pause")
    }

    fn law(&mut self) -> AskedSequence {
        let mut law = AskedSequence::from_sequence(&LAWS.parse().expect("laws"));
        let times = self.nanos().0;
        law.0
            .insert(self.below(8) as usize, AskedLaw::Trace { times });
        law
    }

    fn late(&mut self) -> LatePolicy {
        let after = self.nanos();
        self.pick(&[LatePolicy::Queue, LatePolicy::Drop(after), LatePolicy::Skip])
    }

    fn load(&mut self) -> AskedLoad {
        let users = self.below(u64::from(u32::MAX)) as u32;
        match self.below(3) {
            0 => AskedLoad::Open {
                law: self.law(),
                arrivals: self.pick(&[
                    Arrivals::Constant,
                    Arrivals::Poisson,
                    Arrivals::Gamma(Shape::from_thousandths(500).expect("a shape")),
                ]),
                late: self.late(),
            },
            1 => AskedLoad::Closed {
                users,
                think: self.pause(),
                pace: self.nanos(),
            },
            _ => AskedLoad::PerUser {
                users,
                law: self.law(),
                late: self.late(),
            },
        }
    }

    fn request(&mut self) -> AskedRequest {
        let count = self.nanos().0;
        AskedRequest {
            url: "http://\u{fc}/".to_owned(),
            method: "GET".to_owned(),
            headers: vec![AskedHeader {
                name: "A".to_owned(),
                value: String::new(),
            }],
            call: (self.below(2) == 1).then(|| AskedCall {
                service: "a.B".to_owned(),
                method: "C".to_owned(),
                deadline: self.maybe().map(Nanos),
                streaming: Streaming {
                    send: self.maybe(),
                    interval: self.nanos(),
                    duration: self.maybe().map(Nanos),
                    receive: self.maybe(),
                },
            }),
            body: self.pick(&[
                AskedBody::None,
                AskedBody::Bytes(count),
                AskedBody::Template,
            ]),
        }
    }

    fn steps(&mut self) -> Vec<AskedStep> {
        let number = self.below(1 << 32) as u32;
        let all = [
            AskedStep::Request(number),
            AskedStep::Pause(self.pause()),
            AskedStep::Until(self.nanos()),
            AskedStep::AtLeast(self.nanos()),
            AskedStep::Set(VariableId(number as u16)),
            AskedStep::If(number),
            AskedStep::Jump(number),
            AskedStep::Repeat(None),
            AskedStep::Repeat(Some(number)),
            AskedStep::Again(number),
            AskedStep::End,
        ];
        (0..self.below(LISTED_MAX as u64))
            .map(|_| self.pick(&all))
            .collect()
    }

    fn transport(&mut self) -> AskedTransport {
        let limit = self.nanos().0;
        AskedTransport {
            connections: self.below(1 << 32) as u32,
            growth: self.pick(&[Growth::Ahead, Growth::AsNeeded]),
            version: self.pick(&[HttpVersion::Http1, HttpVersion::Http2]),
            streams: self.below(1 << 32) as u32,
            keep_alive: self.pick(&[KeepAlive::Yes, KeepAlive::AtMost(limit), KeepAlive::No]),
            life: Life {
                age: (self.below(2) == 1).then(|| self.pause()),
                churn: self.maybe().map(|mean| Churn { mean: Nanos(mean) }),
                idle: self.maybe().map(Nanos),
            },
            timeouts: Timeouts {
                total: self.nanos(),
                connect: self.nanos(),
                tls: Nanos::MAX,
                head: self.nanos(),
            },
            is_compressed: self.below(2) == 1,
            redirects: (self.below(2) == 1).then_some(10),
            is_proxied: self.below(2) == 1,
        }
    }
}

/// The facts of a plan that this number chooses.
pub(crate) fn asked_by_number(number: u64) -> Asked {
    let mut choices = Choices(number);
    let steps = choices.steps();
    Asked {
        requests: Listed {
            first: vec![choices.request()],
            count: 1 + choices.below(1 << 40),
        },
        steps: Listed {
            count: steps.len() as u64,
            first: steps,
        },
        load: choices.load(),
        users: (choices.below(2) == 1).then(|| {
            UserSteps::changing(vec![(Nanos::ZERO, 1), (Nanos(1), u32::MAX)]).expect("users")
        }),
        stop: AskedStop {
            duration: choices.maybe().map(Nanos),
            requests: choices.maybe(),
            iterations: choices.maybe(),
        },
        transport: choices.transport(),
        expect: choices.pick(&[None, Some(Expect::BELOW_400), "200-299, 404".parse().ok()]),
    }
}
