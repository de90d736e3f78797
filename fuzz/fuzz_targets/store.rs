//! Arbitrary bytes as the log of a stored run, and arbitrary entries in valid frames: the log is
//! refused, or gives a summary that can be judged.

#![no_main]

use drumfire_measure::{Ending, form};
use drumfire_store::Record;
use libfuzzer_sys::fuzz_target;

/// A frame in the form of the log.
fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_le_bytes().to_vec();
    out.push(kind);
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&out);
    hasher.update(payload);
    out.extend(hasher.finalize().to_le_bytes());
    out.extend(payload);
    out
}

fn read(log: &[u8]) {
    if let Some(record) = Record::from_log(log).expect("reading from memory") {
        assert!(record.whole <= log.len() as u64);
        assert!(!record.parts.is_empty());
        let _steps = record.summary.steps();
        let _rate = record.summary.achieved_per_s();
    }
}

fuzz_target!(|input: (Vec<u8>, Vec<(u8, Vec<u8>)>)| {
    let (bytes, entries) = input;
    read(&bytes);
    let mut log = b"drumlog\x01".to_vec();
    for (kind, payload) in entries {
        log.extend(frame(kind % 8, &payload));
        if let Ok(ending) = form::decode::<Ending>(&payload) {
            assert_eq!(form::encode(&ending), payload);
        }
    }
    read(&log);
});
