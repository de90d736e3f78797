//! Options that have no effect beside others. ghz ignores them silently; a note lists them.

use super::options::{Options, Schedule};
use super::schedule::is_constant;
use drumfire_plan::CallKind;
use drumfire_units::Nanos;

/// A note for each group of options without an effect on calls of this kind.
pub(super) fn notes(options: &Options, kind: CallKind) -> Vec<String> {
    let mut notes = Vec::new();
    let of_streams = streams(options, kind);
    if !of_streams.is_empty() {
        let why = match kind {
            CallKind::Unary => "does not stream",
            _ => "streams only from the server",
        };
        let (flags, call) = (listed(&of_streams), &options.call);
        notes.push(format!("{flags} no effect: {call} {why}"));
    }
    let (load, workers) = (&options.load, &options.workers);
    let of_load = match is_constant(&load.kind) {
        true => given("load", load, load.start > 0, load.step != 0),
        false if options.rate > 0 => vec!["--rps".to_owned()],
        false => Vec::new(),
    };
    // The start and the step of workers have defaults that depend on the config file.
    let of_workers = match is_constant(&workers.kind) {
        true => given(
            "concurrency",
            workers,
            workers.start > 1,
            workers.step != 0 && workers.step != 1,
        ),
        false => Vec::new(),
    };
    for (flags, kind) in [(of_load, &load.kind), (of_workers, &workers.kind)] {
        if !flags.is_empty() {
            let kind = match kind.is_empty() {
                true => "const",
                false => kind,
            };
            let flags = listed(&flags);
            notes.push(format!("{flags} no effect with the schedule {kind}"));
        }
    }
    notes
}

/// A note for each option that another one makes idle.
pub(super) fn overridden(options: &Options) -> Vec<String> {
    let given = |text: &str| !text.is_empty();
    let (proto, data, data_file, binary_file) = (
        given(&options.proto),
        options.data.is_some(),
        given(&options.data_file),
        given(&options.binary_file),
    );
    let (cacert, cert, key) = (
        given(&options.cacert),
        given(&options.cert),
        given(&options.key),
    );
    let plain = options.insecure;
    let rows = [
        (
            "--protoset",
            given(&options.protoset) && proto,
            "beside --proto",
        ),
        (
            "--import-paths",
            !options.import_paths.is_empty() && !proto,
            "without --proto",
        ),
        ("--data", data && binary_file, "beside --binary-file"),
        (
            "--data-file",
            data_file && binary_file,
            "beside --binary-file",
        ),
        (
            "--data",
            data && data_file && !binary_file,
            "beside --data-file",
        ),
        (
            "--metadata",
            options.metadata.is_some() && given(&options.metadata_file),
            "beside --metadata-file",
        ),
        (
            "--duration",
            options.duration > Nanos::ZERO && options.max_duration > Nanos::ZERO,
            "beside --max-duration",
        ),
        ("--cacert", cacert && plain, "beside --insecure"),
        (
            "--cacert",
            cacert && options.skip_tls && !plain,
            "beside --skipTLS",
        ),
        ("--cert", cert && plain, "beside --insecure"),
        ("--key", key && plain, "beside --insecure"),
        ("--key", key && !cert && !plain, "without --cert"),
        (
            "--cname",
            given(&options.cname) && plain,
            "beside --insecure",
        ),
    ];
    let idle = rows.iter().filter(|(_, is_idle, _)| *is_idle);
    idle.map(|(flag, _, why)| format!("{flag} has no effect {why}"))
        .collect()
}

/// The options of streams that calls of this kind do not use.
fn streams(options: &Options, kind: CallKind) -> Vec<String> {
    let (client, unary) = (kind.client_streams(), kind == CallKind::Unary);
    let flags = [
        (
            "--stream-interval",
            options.stream_interval > Nanos::ZERO && !client,
        ),
        (
            "--stream-call-duration",
            options.stream_call_duration > Nanos::ZERO && unary,
        ),
        (
            "--stream-call-count",
            options.stream_call_count > 0 && unary,
        ),
        (
            "--stream-dynamic-messages",
            options.stream_dynamic && !client,
        ),
    ];
    given_flags(&flags)
}

/// The given options of a schedule that changes; `start` and `step` are whether these are given.
fn given(what: &str, schedule: &Schedule, start: bool, step: bool) -> Vec<String> {
    let flag = |name: &str| format!("--{what}-{name}");
    let flags = [
        (&*flag("start"), start),
        (&*flag("step"), step),
        (&*flag("end"), schedule.end > 0),
        (
            &*flag("step-duration"),
            schedule.step_duration > Nanos::ZERO,
        ),
        (&*flag("max-duration"), schedule.max_duration > Nanos::ZERO),
    ];
    given_flags(&flags)
}

fn given_flags(flags: &[(&str, bool)]) -> Vec<String> {
    let given = flags.iter().filter(|(_, is_given)| *is_given);
    given.map(|(flag, _)| (*flag).to_owned()).collect()
}

/// Flags, with the verb that fits their number.
fn listed(flags: &[String]) -> String {
    let verb = match flags {
        [_] => "has",
        _ => "have",
    };
    format!("{} {verb}", flags.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_others_override_are_noted() {
        let with = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            overridden(&options)
        };
        assert!(with(|_| ()).is_empty());
        let all = with(|options| {
            options.proto = "a.proto".to_owned();
            options.protoset = "a.pb".to_owned();
            options.data = Some("{}".to_owned());
            options.data_file = "d.json".to_owned();
            options.metadata = Some(super::super::options::Texts::new());
            options.metadata_file = "m.json".to_owned();
            options.duration = Nanos::from_secs(1);
            options.max_duration = Nanos::from_secs(1);
            options.cacert = "ca".to_owned();
            options.skip_tls = true;
            options.key = "key".to_owned();
        });
        assert_eq!(
            all,
            [
                "--protoset has no effect beside --proto",
                "--data has no effect beside --data-file",
                "--metadata has no effect beside --metadata-file",
                "--duration has no effect beside --max-duration",
                "--cacert has no effect beside --skipTLS",
                "--key has no effect without --cert",
            ]
        );
        let all = with(|options| {
            options.import_paths = vec!["a".to_owned()];
            options.data = Some("{}".to_owned());
            options.data_file = "d.json".to_owned();
            options.binary_file = "b".to_owned();
            options.insecure = true;
            options.cacert = "ca".to_owned();
            options.cert = "cert".to_owned();
            options.key = "key".to_owned();
            options.cname = "name".to_owned();
        });
        assert_eq!(
            all,
            [
                "--import-paths has no effect without --proto",
                "--data has no effect beside --binary-file",
                "--data-file has no effect beside --binary-file",
                "--cacert has no effect beside --insecure",
                "--cert has no effect beside --insecure",
                "--key has no effect beside --insecure",
                "--cname has no effect beside --insecure",
            ]
        );
    }

    #[test]
    fn options_without_effect_are_noted() {
        let call = || "a.B.C".to_owned();
        let of = |options: Options, kind| {
            notes(
                &Options {
                    call: call(),
                    ..options
                },
                kind,
            )
        };
        assert!(of(Options::default(), CallKind::Unary).is_empty());
        assert!(of(Options::of_config(), CallKind::Unary).is_empty());
        let streams = || Options {
            stream_interval: Nanos::from_millis(5),
            stream_call_duration: Nanos::from_secs(1),
            stream_call_count: 3,
            stream_dynamic: true,
            ..Options::default()
        };
        assert!(of(streams(), CallKind::Bidirectional).is_empty());
        assert!(of(streams(), CallKind::ClientStream).is_empty());
        assert_eq!(
            of(streams(), CallKind::ServerStream),
            [
                "--stream-interval, --stream-dynamic-messages have no effect: a.B.C streams only from \
              the server"
            ]
        );
        assert_eq!(
            of(streams(), CallKind::Unary),
            [
                "--stream-interval, --stream-call-duration, --stream-call-count, \
              --stream-dynamic-messages have no effect: a.B.C does not stream"
            ]
        );
        let mut options = Options::default();
        options.load.end = 50;
        options.workers.step_duration = Nanos::from_secs(1);
        assert_eq!(
            of(options.clone(), CallKind::Unary),
            [
                "--load-end has no effect with the schedule const",
                "--concurrency-step-duration has no effect with the schedule const"
            ]
        );
        options.rate = 5;
        options.load.kind = "step".to_owned();
        options.workers.kind = "line".to_owned();
        assert_eq!(
            of(options, CallKind::Unary),
            ["--rps has no effect with the schedule step"]
        );
    }
}
