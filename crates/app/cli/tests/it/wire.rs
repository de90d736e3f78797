//! A wire with delay, loss, duplicates, reordering, little room or damage: failures of the target
//! and of the generator, and effects that only cost time.

use crate::support::lab::Namespace;
use crate::support::wire::Wire;
use crate::support::{Report, in_time, load_of, punctually};
use std::time::Duration;

/// Runs `drumfire http LINE URL` over the wire.
fn load(wire: &Wire, line: &str) -> Report {
    load_of(wire.http(&format!("{line} http://10.77.0.2:9000/")))
}

/// A wire can make a request late, but not wrong.
fn check_ok_or_timeout(report: &Report, faults: &str) {
    for kind in report.kinds() {
        assert!(
            kind.starts_with("timeout:"),
            "{faults}: {kind}: {:#}",
            report.short()
        );
    }
    assert!(
        report.n("requests.ok") > 0,
        "{faults}: {:#}",
        report.short()
    );
}

#[test]
fn a_delay_is_in_the_times_as_it_is_on_the_wire() {
    let Some(mut wire) = Wire::new() else { return };
    let _serve = wire.serve("");
    // The faults, and the minimum and maximum time that they add to a round trip.
    for (faults, least, most) in [
        ("-d 1", 0.002, 0.002),
        ("-d 25", 0.050, 0.050),
        ("-d 50+10", 0.080, 0.120),
        ("-d 150", 0.300, 0.300),
    ] {
        wire.set(faults);
        punctually(Duration::from_millis(20), || {
            let ping = wire.ping(5, 20).unwrap();
            let report = load(&wire, "-r 40/s -c 16 -n 80");
            assert_eq!(
                report.n("requests.ok"),
                80,
                "{faults}: {:#}",
                report.short()
            );
            // Nothing is faster than the wire, whose clock counts milliseconds. The fastest of
            // eighty requests is hardly slower, even on a busy machine.
            for distribution in ["service_time", "connect"] {
                let time = report.number(&format!("latency.{distribution}.min")) / 1e9;
                let least = least * 0.95 - 0.001;
                assert!(time >= least, "{faults}: {distribution} {time} s");
                let most = f64::max(most, ping) * 1.1 + 0.02;
                in_time(time < most, || {
                    format!("{faults}: {distribution} {time} s, not {most} s")
                })?;
            }
            Ok(())
        });
    }
}

#[test]
fn losses_cost_time_and_at_most_a_timeout() {
    let Some(mut wire) = Wire::new() else { return };
    let serve = wire.serve("");
    for faults in ["-l 1", "-l 5", "-l 20"] {
        wire.set(faults);
        let report = load(&wire, "-r 100/s -c 8 -z 2s --timeout 3s");
        assert_eq!(report.n("requests.intended"), 200);
        check_ok_or_timeout(&report, faults);
        // A lost packet is sent again after 200 ms at the earliest. If one in twenty is lost, the
        // probability that all of 400 packets arrive is about 1 to a thousand million.
        let slowest = report.number("latency.response_time.max") / 1e9;
        assert!(faults == "-l 1" || slowest > 0.15, "{faults}: {slowest} s");
    }
    drop(serve);
    let _serve = wire.serve("--tls");
    wire.set("-l 5 -d 2");
    let line = "-r 40/s -c 8 -z 2s --timeout 3s -k https://10.77.0.2:9000/";
    check_ok_or_timeout(&load_of(wire.http(line)), "TLS, -l 5");
}

#[test]
fn duplicates_and_disorder_are_not_seen() {
    let Some(mut wire) = Wire::new() else { return };
    let serve = wire.serve("--size 20000");
    for faults in ["-D 2", "-d 5+4 -N", "-D 1 -d 5+4 -N"] {
        wire.set(faults);
        let report = load(&wire, "-r 20/s -c 8 -n 40");
        assert_eq!(
            report.n("requests.ok"),
            40,
            "{faults}: {:#}",
            report.short()
        );
        assert!(
            report.n("bytes.received") > 40 * 20_000,
            "{faults}: {:#}",
            report.at("bytes")
        );
    }
    drop(serve);
}

#[test]
fn a_narrow_wire_is_slow_and_a_full_one_breaks_nothing() {
    let Some(mut wire) = Wire::new() else { return };
    let _serve = wire.serve("--size 25000");
    // 1 Mbit/s, and 250 kB of bodies: two seconds.
    wire.set("-b 125000 -c 200000");
    let report = load(&wire, "-c 2 -n 10");
    assert_eq!(report.n("requests.ok"), 10, "{:#}", report.short());
    let seconds = report.number("run.duration_ns") / 1e9;
    assert!(seconds > 1.6, "{seconds} s");
    // More connections than the wire's queue can hold.
    wire.set("-b 125000 -c 20000");
    let report = load(&wire, "-c 16 -n 16 --timeout 8s");
    check_ok_or_timeout(&report, "a full queue");
}

#[test]
fn short_packets_are_enough_and_lost_long_ones_are_timeouts() {
    let Some(mut wire) = Wire::new() else { return };
    let _serve = wire.serve("--size 10000");
    // 576 bytes and some for headers. No ICMP message reports that longer packets are lost.
    wire.set("-m 600");
    let report = load(&wire, "-c 2 -n 2 --timeout 1s");
    assert_eq!(report.n("requests.timed_out"), 2, "{:#}", report.short());
    wire.set_mtu(576);
    let report = load(&wire, "-c 4 -n 40");
    assert_eq!(report.n("requests.ok"), 40, "{:#}", report.short());
}

/// The report of a load over a wire that damages packets.
fn damaged_load(serve: &str, line: &str) -> Option<Report> {
    let mut wire = Wire::new()?;
    let _serve = wire.serve(&format!("--size 1000 {serve}"));
    let before = damaged(&wire);
    wire.set("-n 200");
    let report = load_of(wire.http(&format!("-r 60/s -c 8 -z 3s --timeout 3s {line}")));
    wire.set("");
    assert!(damaged(&wire) > before, "nothing was damaged");
    assert!(report.n("requests.ok") > 0, "{:#}", report.short());
    Some(report)
}

/// TCP's checksum is over words of 16 bits, so one in 32 packets with two wrong bits passes it.
#[test]
fn tcp_catches_damage_as_far_as_its_checksum_can_tell() {
    let Some(report) = damaged_load("", "http://10.77.0.2:9000/") else {
        return;
    };
    let slipped = report.n("requests.failed") - report.n("requests.timed_out");
    // One packet in fifty has two or more wrong bits: one or two failures in such a run would be
    // many.
    assert!(slipped <= 9, "{:#}", report.short());
}

/// TLS detects the damage that TCP does not detect.
#[test]
fn tls_catches_all_damage() {
    let Some(report) = damaged_load("--tls", "-k https://10.77.0.2:9000/") else {
        return;
    };
    for kind in report.kinds() {
        let is_caught = kind.starts_with("timeout:") || kind.starts_with("tls:");
        assert!(is_caught, "{kind}: {:#}", report.short());
    }
}

/// The number of segments that were discarded because of a wrong checksum.
fn damaged(wire: &Wire) -> u64 {
    let thrown_away = |end: &Namespace| end.tcp("InCsumErrors");
    thrown_away(&wire.near) + thrown_away(&wire.far)
}
