//! Arbitrary bytes as an event stream: no panic, the events of the standard's own algorithm, the
//! same in every cut, and a limit.
//!
//! The first byte of the input selects the size of the slices, and the second the limit.

#![no_main]

use drumfire_sse::{Ending, Reader};
use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the tests of sse use more of it")]
#[path = "../../crates/core/sse/tests/it/seen.rs"]
mod seen;

#[path = "../../crates/core/sse/tests/it/naive.rs"]
mod naive;

use seen::read;

fuzz_target!(|data: &[u8]| {
    let [size, limit, stream @ ..] = data else {
        return;
    };
    let size = usize::from(*size) + 1;
    let (mut whole, ending) = seen::events([stream]);
    let (cut, cut_ending) = seen::events(stream.chunks(size));
    assert_eq!((&cut, cut_ending), (&whole, ending));
    if ending == Ok(Ending::Forgiven) {
        whole.pop();
    }
    assert_eq!(naive::read(stream), whole);
    let limit = usize::from(*limit);
    let one = read(&mut Reader::new(limit), [stream]);
    let (events, ending) = read(&mut Reader::new(limit), stream.chunks(size));
    assert_eq!(ending, one.1);
    assert!(
        events
            .iter()
            .map(|(event, _)| event)
            .eq(one.0.iter().map(|(event, _)| event))
    );
    assert!(events.iter().all(|(event, _)| event.data.len() <= limit));
    assert!(events.is_sorted_by_key(|(_, stamp)| *stamp));
});
