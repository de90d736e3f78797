use super::prefix::PrefixOrder;
use super::{
    COLUMNS, LENGTH_MAX, Lengths, PrefixPool, PromptOptions, Prompts, Trace, TraceFormat,
    TraceOptions,
};
use crate::feed::ComputedRows as _;
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

fn options(input: &str) -> PromptOptions {
    PromptOptions {
        seed: 1,
        pool: 0,
        nonce: Some(7),
        input: input.parse().expect(input),
        output: Some(Lengths::Fixed(20)),
        prefix: None,
        models: vec![("m".to_owned(), 1)],
    }
}

fn text(prompts: &Prompts, row: u64, column: &str) -> String {
    let column = COLUMNS.iter().position(|known| *known == column);
    let mut out = String::new();
    let pushed = prompts.push(row, column.expect("a column"), &mut out);
    pushed.expect("a row");
    out
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn laws_of_lengths_are_read_and_kept() {
    for (law, mean, spread) in [
        ("1024", 1024.0, 0.0),
        ("uniform:512,1536", 1024.0, 295.7),
        ("normal:550,100", 550.0, 100.0),
        ("lognormal:800,0.6", 957.8, 631.0),
    ] {
        let prompts = Prompts::new(options(law), None);
        let lengths: Vec<f64> = (0..20_000).map(|row| prompts.input(row) as f64).collect();
        let n = lengths.len() as f64;
        let found = lengths.iter().sum::<f64>() / n;
        let variance = lengths.iter().map(|l| (l - found).powi(2)).sum::<f64>() / n;
        assert!((found / mean - 1.0).abs() < 0.02, "{law}: {found}");
        assert!(
            (variance.sqrt() - spread).abs() <= 0.04 * spread,
            "{law}: {variance}"
        );
    }
    for (wrong, part) in [
        ("", "is not a law of lengths"),
        ("0", "from 1 to 1048576"),
        ("1048577", "from 1 to"),
        ("uniform:5,2", "maximum is below its minimum"),
        ("uniform:5", "uniform:512,1536"),
        ("lognormal:800,5", "above 4"),
        ("normal:x,1", "normal:550,100"),
        ("free", "is not a law"),
    ] {
        let error = wrong.parse::<Lengths>().expect_err(wrong).to_string();
        assert!(error.contains(part), "{wrong}: {error}");
    }
    let least: Lengths = "normal:1,1000".parse().expect("a law");
    let drawn = (0..1_000).map(|n| least.drawn(crate::Random::new(1, n, 0, 0)));
    assert!(
        drawn
            .clone()
            .all(|length| (1..=LENGTH_MAX).contains(&length))
    );
    assert!(drawn.filter(|length| *length == 1).count() > 300);
}

#[test]
fn a_prompt_has_the_words_of_its_length_and_no_beginning_of_another() {
    let prompts = Prompts::new(options("uniform:16,64"), None);
    let mut beginnings = HashSet::new();
    for row in 0..5_000 {
        let prompt = text(&prompts, row, "prompt");
        assert_eq!(words(&prompt).len() as u64, prompts.input(row), "{prompt}");
        assert!(prompt.bytes().all(|b| b == b' ' || b.is_ascii_lowercase()));
        assert!(
            beginnings.insert(words(&prompt)[..16].join(" ")),
            "{prompt}"
        );
    }
}

/// No window of 16 words occurs twice: such a window is a block of a server's cache.
#[test]
fn no_window_of_sixteen_words_is_repeated() {
    let prompts = Prompts::new(options("128"), None);
    let mut seen = HashSet::new();
    for row in 0..2_000 {
        let prompt = text(&prompts, row, "prompt");
        for window in words(&prompt).windows(16) {
            assert!(seen.insert(super::trace::hash(window.join(" ").as_bytes())));
        }
    }
}

#[test]
fn a_nonce_changes_texts_and_nothing_else() {
    let of = |nonce, seed, pool| {
        let options = PromptOptions {
            nonce,
            seed,
            pool,
            models: vec![("a".to_owned(), 3), ("b".to_owned(), 1)],
            ..options("uniform:16,64")
        };
        Prompts::new(options, None)
    };
    let (one, other) = (of(Some(1), 1, 0), of(Some(2), 1, 0));
    let mut models = [0; 2];
    for row in 0..2_000 {
        assert_eq!(one.input(row), other.input(row));
        assert_eq!(text(&one, row, "model"), text(&other, row, "model"));
        assert_ne!(text(&one, row, "prompt"), text(&other, row, "prompt"));
        models[usize::from(text(&one, row, "model") == "b")] += 1;
    }
    assert!((400..600).contains(&models[1]), "{models:?}");
    assert_eq!(
        text(&one, 3, "prompt"),
        text(&of(Some(1), 1, 0), 3, "prompt")
    );
    assert_eq!(
        text(&of(None, 1, 0), 3, "prompt"),
        text(&of(None, 1, 0), 3, "prompt")
    );
    assert_ne!(
        text(&of(None, 1, 0), 3, "prompt"),
        text(&of(None, 2, 0), 3, "prompt")
    );
    assert_ne!(
        text(&of(None, 1, 0), 3, "prompt"),
        text(&of(None, 1, 1), 3, "prompt")
    );
}

#[test]
fn prefixes_are_shared_and_chosen_by_their_law() {
    let count = |order: &str| {
        let pool: PrefixPool = order.parse().expect(order);
        let options = PromptOptions {
            prefix: Some(pool),
            ..options("8")
        };
        let prompts = Prompts::new(options, None);
        let mut counts = std::collections::HashMap::new();
        for row in 0..4_000 {
            let prompt = text(&prompts, row, "prompt");
            let prompt = words(&prompt);
            assert_eq!(prompt.len(), 24 + 8);
            *counts.entry(prompt[..24].join(" ")).or_insert(0) += 1;
        }
        let mut counts: Vec<u32> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    };
    let even = count("pool=4,tokens=24");
    assert!(
        even.len() == 4 && even.iter().all(|n| (900..1_100).contains(n)),
        "{even:?}"
    );
    assert_eq!(count("pool=4,tokens=24,turn"), [1_000; 4]);
    // 1, 1/2, 1/3 and 1/4 of 25/12.
    let zipf = count("pool=4,tokens=24,zipf=1");
    let shares = [1_920, 960, 640, 480];
    let is_near = |(n, share): (&u32, u32)| n.abs_diff(share) < 120;
    assert!(zipf.iter().zip(shares).all(is_near), "{zipf:?}");
    for (wrong, part) in [
        ("tokens=5", "`pool`, the number of prefixes, is missing"),
        ("pool=5", "`tokens`"),
        ("pool=0,tokens=5", "from 1 to 100000"),
        ("pool=5,tokens=5,zipf=x", "exponent"),
        ("10", "unknown setting `10`"),
    ] {
        let error = wrong.parse::<PrefixPool>().expect_err(wrong).to_string();
        assert!(error.contains(part), "{wrong}: {error}");
    }
    let turn: PrefixPool = "pool=1,tokens=1,turn".parse().expect("a pool");
    assert_eq!(turn.order, PrefixOrder::Turn);
}

#[test]
fn a_budget_counts_words_and_requested_tokens() {
    let prompts = Prompts::new(options("80"), None);
    for (budget, rows) in [(99, 0), (100, 1), (999, 9), (1_000, 10)] {
        assert_eq!(prompts.rows_within(budget), rows);
    }
}

fn trace_options(format: TraceFormat) -> TraceOptions {
    TraceOptions {
        format,
        from: Nanos::ZERO,
        until: Nanos::MAX,
        sample: 1.0,
        seed: 1,
    }
}

fn trace(format: TraceFormat, file: &str) -> Result<Trace, String> {
    let source = Arc::new(file.as_bytes().to_vec());
    Trace::read(source, &trace_options(format)).map_err(|error| error.to_string())
}

fn prompts_of(trace: Trace) -> Prompts {
    let options = PromptOptions {
        output: None,
        ..options("1")
    };
    Prompts::new(options, Some(trace))
}

const MOONCAKE: &str = "\
{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 40, \"hash_ids\": [7, 8, 9]}

{\"timestamp\": 3120, \"input_length\": 1300, \"output_length\": 12, \"hash_ids\": [7, 8, 21]}
{\"timestamp\": 3000.5, \"input_length\": 512, \"output_length\": 0, \"hash_ids\": [7]}
";

#[test]
fn blocks_of_equal_numbers_have_equal_texts() {
    let read = trace(TraceFormat::Mooncake, MOONCAKE).expect("a trace");
    let times = read.times(1.0).expect("times");
    assert_eq!(times, [0, 3_000_500_000, 3_120_000_000].map(Nanos));
    assert_eq!(read.times(2.0).expect("times")[2], Nanos(1_560_000_000));
    let prompts = prompts_of(read);
    let all: Vec<String> = (0..3).map(|row| text(&prompts, row, "prompt")).collect();
    let all: Vec<Vec<&str>> = all.iter().map(|prompt| words(prompt)).collect();
    let lengths: Vec<usize> = all.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1_100, 512, 1_300]);
    assert_eq!(all[0][..1_024], all[2][..1_024]);
    assert_eq!(all[0][..512], all[1][..]);
    assert_ne!(all[0][1_024..1_034], all[2][1_024..1_034]);
    let outputs: Vec<String> = (0..3)
        .map(|row| text(&prompts, row, "max_tokens"))
        .collect();
    assert_eq!(outputs, ["40", "1", "12"]);
}

#[test]
fn mistakes_of_traces_have_their_lines() {
    for (format, file, error) in [
        (
            TraceFormat::Mooncake,
            MOONCAKE.replace("[7, 8, 21]", "[7, 8]"),
            "line 3: `hash_ids` has 2 blocks of 512 tokens, but 1300 tokens need 3",
        ),
        (
            TraceFormat::Mooncake,
            MOONCAKE.replace("3000.5", "\"x\""),
            "line 4: `timestamp` is not a time: x",
        ),
        (
            TraceFormat::Mooncake,
            MOONCAKE.replace("\"output_length\": 12", "\"session_id\": 12"),
            "drumfire does not know the member `session_id`; a mooncake trace has \
             timestamp, input_length, output_length, hash_ids",
        ),
        (
            TraceFormat::Mooncake,
            MOONCAKE.replace("1100", "-1"),
            "line 1: `input_length` is not a number of tokens from 0 to 1048576: -1",
        ),
        (
            TraceFormat::Azure,
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.1234567,512,33\nsoon,1,1\n"
                .to_owned(),
            "line 3: `TIMESTAMP` is not a time: soon",
        ),
        (
            TraceFormat::JsonLines,
            "{\"prompt\": \"a\"}\n{\"max_tokens\": 5}\n".to_owned(),
            "line 2: the row has neither a text nor the length of a prompt",
        ),
        (
            TraceFormat::ShareGpt,
            "[{\"id\": 1, \"conversations\": 5}]".to_owned(),
            "entry 1: `conversations` is not a list of turns with `from` and `value`",
        ),
        (
            TraceFormat::ShareGpt,
            "[{\"id\": 1, \"conversations\": []}]".to_owned(),
            "the trace has no request to send",
        ),
    ] {
        assert_eq!(trace(format, &file).map(drop).unwrap_err(), error);
    }
}

#[test]
fn traces_of_lengths_have_unique_prompts_at_their_times() {
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                 2023-11-16 18:00:00.1234567,40,33\n2023-11-16 18:00:01.1234567,40,0\n";
    let read = trace(TraceFormat::Azure, azure).expect("a trace");
    assert_eq!(
        read.times(1.0).expect("times"),
        [Nanos(0), Nanos(1_000_000_000)]
    );
    let prompts = prompts_of(read);
    assert_ne!(text(&prompts, 0, "prompt"), text(&prompts, 1, "prompt"));
    assert_eq!(text(&prompts, 1, "max_tokens"), "1");
    let burst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                 5,GPT-4,220,101,321,API log\n6.5,ChatGPT,10,0,10,API log\n7,ChatGPT,9,4,13,API log\n";
    let read = trace(TraceFormat::BurstGpt, burst).expect("a trace");
    assert_eq!(
        read.times(1.0).expect("times"),
        [Nanos(0), Nanos(2_000_000_000)]
    );
    let prompts = prompts_of(read);
    assert_eq!(prompts.rows(), 2);
    let note = prompts.note().expect("a note");
    assert!(note.starts_with("1 row of the burstgpt trace"), "{note}");
}

#[test]
fn texts_of_a_file_are_new_in_each_run_and_can_be_the_same() {
    let share = r#"[{"id":"c1","conversations":[{"from":"human","value":"Name \"three\" rivers."},{"from":"gpt","value":"Oder, Loire, Tagus."}]},{"id":"c2","conversations":[{"from":"gpt","value":"Hello"}]}]"#;
    let read = trace(TraceFormat::ShareGpt, share).expect("a trace");
    assert_eq!(read.times(1.0), None);
    let prompts = prompts_of(read);
    assert_eq!(
        (prompts.rows(), text(&prompts, 0, "max_tokens")),
        (1, "5".to_owned())
    );
    let prompt = text(&prompts, 0, "prompt");
    assert!(prompt.ends_with(": Name \"three\" rivers."), "{prompt}");
    let lines = "{\"messages\":[{\"role\":\"system\",\"content\":\"Be terse.\"},{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":7,\"at\":1.5}\n";
    let read = trace(TraceFormat::JsonLines, lines).expect("a trace");
    assert!(read.has_messages());
    let same = PromptOptions {
        output: None,
        nonce: None,
        ..options("1")
    };
    let same = Prompts::new(same, Some(read));
    let messages = text(&same, 0, "messages");
    let expected = r#"[{"content":"Be terse.","role":"system"},{"content":"Hi","role":"user"}]"#;
    let read: serde_json::Value = serde_json::from_str(&messages).expect("JSON");
    assert_eq!(
        read,
        serde_json::from_str::<serde_json::Value>(expected).expect("JSON")
    );
    assert_eq!(text(&same, 0, "max_tokens"), "7");
}

#[test]
fn a_part_of_a_trace_is_selected_by_time_and_by_chance() {
    let rows = (0..1_000).map(|n| {
        format!(
            "{{\"timestamp\":{},\"input_length\":1,\"output_length\":1,\"hash_ids\":[{n}]}}\n",
            n * 10
        )
    });
    let file: String = rows.collect();
    let read = |options: TraceOptions| {
        let source = Arc::new(file.as_bytes().to_vec());
        Trace::read(source, &options).map_err(|error| error.to_string())
    };
    let usual = trace_options(TraceFormat::Mooncake);
    let window = read(TraceOptions {
        from: Nanos::from_secs(2),
        until: Nanos::from_secs(3),
        ..usual
    });
    let times = window.expect("a part").times(1.0).expect("times");
    assert_eq!((times.len(), times[0]), (100, Nanos::ZERO));
    let sample = TraceOptions {
        sample: 0.1,
        ..usual
    };
    let count = read(sample).expect("a sample").rows().len();
    assert!((70..130).contains(&count), "{count}");
    let late = read(TraceOptions {
        from: Nanos::from_secs(100),
        ..usual
    });
    let error = late.map(drop).unwrap_err();
    assert!(error.contains("no request in this part"), "{error}");
}

#[test]
fn a_sample_has_whole_conversations() {
    let rows = (0..300).map(|n| {
        let parent = if n < 100 { -1 } else { n - 100 };
        format!(
            "{{\"chat_id\":{n},\"parent_chat_id\":{parent},\"timestamp\":{n},\"input_length\":{},\"output_length\":1,\"type\":\"text\",\"turn\":1,\"hash_ids\":[1]}}\n",
            n % 100 % 16 + 1
        )
    });
    let file: String = rows.collect();
    let options = TraceOptions {
        sample: 0.3,
        ..trace_options(TraceFormat::Bailian)
    };
    let read = Trace::read(Arc::new(file.into_bytes()), &options).expect("a sample");
    let times = read.times(1.0).expect("times");
    let count = times.len();
    assert!(
        count.is_multiple_of(3) && (45..135).contains(&count),
        "{count}"
    );
}

#[test]
fn a_format_is_recognised_by_its_first_line() {
    for (start, format) in [
        (MOONCAKE, Some(TraceFormat::Mooncake)),
        (
            "{\"chat_id\":1,\"hash_ids\":[1]}",
            Some(TraceFormat::Bailian),
        ),
        ("{\"prompt\":\"a\"}\n", Some(TraceFormat::JsonLines)),
        (" [{\"id\"", Some(TraceFormat::ShareGpt)),
        (
            "\u{feff}TIMESTAMP,ContextTokens,GeneratedTokens\r\n",
            Some(TraceFormat::Azure),
        ),
        (
            "Timestamp,Model,Request tokens,Response tokens",
            Some(TraceFormat::BurstGpt),
        ),
        ("a,b\n", None),
        ("", None),
    ] {
        assert_eq!(TraceFormat::recognise(start.as_bytes()), format, "{start}");
    }
}

proptest! {
    /// Whatever a file has, reading it ends without a panic, and so does sending its rows.
    #[test]
    fn any_file_is_read_or_refused(
        file in "(\\{(\"(timestamp|input_length|hash_ids|prompt|messages)\":([0-9]{1,9}|\\[[0-9,]{0,6}\\]|\"x\"|null)(,|\\}))*\n|[ -~]{0,20}\n){0,4}",
        format in prop::sample::select(super::TRACE_FORMATS.map(|(_, format)| format).to_vec()),
    ) {
        if let Ok(trace) = trace(format, &file) {
            let prompts = Arc::new(prompts_of(trace));
            for row in 0..prompts.rows() {
                for column in 0..COLUMNS.len() {
                    let _may_fail = Arc::clone(&prompts).value(row, column);
                }
            }
        }
    }
}
