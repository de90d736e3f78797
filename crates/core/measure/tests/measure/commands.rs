//! The binary form of commands: every command is restored, and no bytes cause a panic.

use drumfire_measure::form::{self, FormError};
use drumfire_plan::{Change, Command, Law, Sequence, StopReason, UserSteps};
use drumfire_units::Nanos;
use proptest::prelude::*;

/// Every law except traces.
const LAWS: &str = "const(5/s,1s) line(1/s,9/s,2s) step(1/s,9/s,2/s,3s) once(7) unlimited(1s) \
                    sine(9/s,4/s,1s,8s) stairs(1/s,1s,2/s,2s) const(90/m)";

fn law(times: Vec<u64>) -> Sequence {
    let mut law: Sequence = LAWS.parse().expect("laws");
    let times: Vec<Nanos> = times.into_iter().map(Nanos).collect();
    law.0.push(Law::Trace {
        times: times.into(),
    });
    law
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
    let users = UserSteps::changing(vec![(Nanos::ZERO, 1), (Nanos(7), u32::MAX)]).expect("users");
    let reasons = [
        StopReason::Signal,
        StopReason::Duration,
        StopReason::Counted,
        StopReason::Threshold,
        StopReason::Command,
    ];
    prop_oneof![
        prop::collection::vec(any::<u64>(), 0..4).prop_map(|mut times| {
            times.sort_unstable();
            Change::Rate { law: law(times) }
        }),
        any::<u32>().prop_map(|count| Change::Users {
            law: UserSteps::constant(count)
        }),
        Just(Change::Users { law: users }),
        Just(Change::Pause),
        Just(Change::Resume),
        ".*".prop_map(|text| Change::Mark { text }),
        prop::sample::select(reasons.to_vec()).prop_map(|reason| Change::Stop { reason }),
    ]
}

proptest! {
    #[test]
    fn every_command_comes_back_and_no_part_of_one(
        at in any::<u64>(),
        pool in any::<Option<u16>>(),
        change in change(),
    ) {
        let command = Command { at: Nanos(at), pool, change };
        let bytes = form::encode(&command);
        for end in 0..bytes.len() {
            prop_assert!(form::decode::<Command>(&bytes[..end]).is_err(), "cut at {}", end);
        }
        prop_assert_eq!(form::decode::<Command>(&bytes), Ok(command));
    }

    #[test]
    fn bytes_are_refused_or_encode_to_themselves(
        rest in prop::collection::vec(any::<u8>(), 0..64),
        change in change(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut bytes = form::encode(&Command::soon(change));
        let at = at.index(bytes.len());
        bytes.splice(at..bytes.len().min(at + rest.len()), rest);
        if let Ok(command) = form::decode::<Command>(&bytes) {
            prop_assert_eq!(form::encode(&command), bytes);
        }
    }
}

#[test]
fn a_command_of_a_later_version_is_refused() {
    assert_eq!(form::decode::<Command>(&[2]), Err(FormError::Version(2)));
    let descends = Law::Trace {
        times: [Nanos(2), Nanos(1)].into(),
    };
    let law = Sequence(vec![descends]);
    let bytes = form::encode(&Command::soon(Change::Rate { law }));
    let error = FormError::Malformed("the times of a trace are out of order");
    assert_eq!(form::decode::<Command>(&bytes), Err(error));
}
