//! Arguments that users of other tools type by habit, and their equivalents here.
//!
//! The names that drumfire lacks are in [`drumfire_document::habits`]. This module finds them in
//! command lines, and handles flags that mean something else here one by one.

use drumfire_document::habits::{Habit, HabitPlace, find};
use drumfire_plan::secret;
use drumfire_units::Nanos;
use std::net::Ipv4Addr;
use std::str::FromStr as _;

/// Values of other tools' result flags that are not files.
const FORMS: [&str; 7] = [
    "json", "csv", "html", "text", "summary", "pretty", "hdrplot",
];
/// The example of a time. Other tools take a number of seconds without a unit.
const TIME: &str = "5s";

/// The advice on an unknown command that exists in other tools.
pub(crate) fn mistaken_command(typed: &str) -> Option<String> {
    let habit = find(HabitPlace::Command, typed)?;
    Some(format!("unknown command `{typed}`; {}", habit.ours))
}

/// The habit for a flag of a command. `flags` are the command's own long flags.
fn row(command: &str, typed: &str, flags: &[String]) -> Option<&'static Habit> {
    let own = match command {
        "http" => return find(HabitPlace::Http, typed),
        "grpc" => return find(HabitPlace::Grpc, typed),
        "ws" => HabitPlace::Ws,
        "llm" => HabitPlace::Llm,
        _ => return None,
    };
    let of_load = || find(HabitPlace::Load, typed).filter(|habit| has_flags(habit, flags));
    find(own, typed).or_else(of_load)
}

/// Whether a command has the flags of an advice. All loads have the short flags, except the one for
/// a body.
fn has_flags(habit: &Habit, flags: &[String]) -> bool {
    let words = habit.ours.split([' ', '`', ',', ';', '(', ')', ':']);
    let mut words = words.filter(|word| word.len() > 1 && word.starts_with('-'));
    words.all(|word| match word.strip_prefix("--") {
        Some(long) => flags.iter().any(|flag| flag == long),
        None => word != "-d",
    })
}

/// The advice with the value that the user typed, unless the value may be a secret or does not fit.
fn filled(habit: &Habit, value: Option<&str>) -> String {
    // A cookie is a secret under any name.
    let may_show =
        |value: &&str| secret::excerpt(value) == **value && !habit.ours.contains("Cookie");
    // Other tools' flags take a format of results instead of a file name.
    let fits = |value: &&str| match habit.example() {
        Some("FILE") => !FORMS.contains(value),
        Some("NAME=VALUE") => value.contains('='),
        _ => true,
    };
    let value = value.filter(may_show).filter(fits);
    let is_number = |value: &str| value.parse::<f64>().is_ok();
    match value.filter(|value| habit.example() == Some(TIME) && is_number(value)) {
        Some(seconds) => habit.advice(Some(&format!("{seconds}s"))),
        None => habit.advice(value),
    }
}

/// The mistakes of a command line that was written for another tool, with advice. `flags` are the
/// command's own long flags.
pub(crate) fn mistake(command: &str, args: &[String], flags: &[String]) -> Option<String> {
    let args = args.iter().map(String::as_str);
    let own: Vec<&str> = args.take_while(|arg| *arg != "--").collect();
    if (command == "cluster" || flags.iter().any(|flag| flag == "lines"))
        && let Some(mistake) = lines_without_equals(&own)
    {
        return Some(mistake);
    }
    match command {
        "http" | "grpc" | "ws" | "llm" => {}
        "ab" => return own_of_apache(&own),
        "import" => return import_without_form(&own),
        "run" => return load_of_plan(&own, flags),
        "ui" => return port_of_ui(&own),
        "ctl" => return status_of_run(&own),
        "serve" => {
            return own.iter().enumerate().find_map(|(at, arg)| {
                let before = at.checked_sub(1).map_or("", |at| own[at]);
                port_of_server(before, arg)
            });
        }
        // The dialects accept the flags of their own tools.
        _ => return None,
    }
    // Report all of them at once, because a line for another tool usually has several such flags.
    let mut said: Vec<String> = Vec::new();
    for (at, arg) in own.iter().enumerate() {
        let next = own.get(at + 1).filter(|next| !next.starts_with('-'));
        let next = next.filter(|next| !next.contains("://")).copied();
        said.extend(of_flag(command, arg, next, flags));
    }
    if command == "grpc" {
        said.extend(own.windows(2).find_map(|pair| positional(pair[0], pair[1])));
    }
    // wrk's duration is a mistake only beside its other flags: alone, it may be a body.
    if command == "http" && !said.is_empty() {
        said.extend(data_of(&own).and_then(duration_as_body));
    }
    (!said.is_empty()).then(|| said.join("\ndrumfire: "))
}

/// The value of `-d`, after it or in the same argument.
fn data_of<'a>(own: &[&'a str]) -> Option<&'a str> {
    let at = own.iter().position(|arg| arg.starts_with("-d"))?;
    match own[at].strip_prefix("-d") {
        Some("") => own.get(at + 1).copied(),
        joined => joined,
    }
}

/// A file after `--lines` without an `=`. The flag may stand alone, so the file would be read as a
/// URL or a plan. The file is recognised by its extension, or because it precedes an argument that
/// is a URL.
fn lines_without_equals(own: &[&str]) -> Option<String> {
    const ENDINGS: [&str; 10] = [
        ".txt", ".log", ".out", ".lines", ".dat", ".tsv", ".csv", ".jsonl", ".ndjson", ".md",
    ];
    let at = own.iter().position(|arg| *arg == "--lines")?;
    let next = own.get(at + 1)?;
    let host = next.split(['/', '?']).next().unwrap_or_default();
    let is_address = next.contains(':') || host == "localhost" || host.parse::<Ipv4Addr>().is_ok();
    let is_url = |arg: &&str| arg.contains("://");
    let is_file = match *next {
        "-" => true,
        flag if flag.starts_with(['-', '@']) => false,
        _ if is_address => false,
        file => {
            next.starts_with("/dev/")
                || ENDINGS.iter().any(|ending| file.ends_with(ending))
                || own[at + 2..].iter().any(is_url)
                || own[..at].last().is_some_and(is_url)
        }
    };
    is_file.then(|| {
        let next = next.escape_debug();
        format!("`--lines` takes its file after an equals sign: write `--lines={next}`")
    })
}

/// A command line of Apache's `ab`, which measures one load.
fn own_of_apache(own: &[&str]) -> Option<String> {
    let is_ours = |arg: &&str| {
        ["--a", "--b", "-h", "--h"]
            .iter()
            .any(|ours| arg.starts_with(ours))
    };
    let is_url = |arg: &&str| arg.starts_with("http://") || arg.starts_with("https://");
    let is_load = |arg: &&str| matches!(*arg, "-n" | "-c" | "-t" | "-k") || is_url(arg);
    (!own.iter().any(is_ours) && own.iter().any(is_load)).then(|| {
        "`drumfire ab` compares two loads, given in quotes after --a and --b; for what Apache's ab \
         does, use `drumfire http` with -n and -c"
            .to_owned()
    })
}

/// An imported file without the format before it.
fn import_without_form(own: &[&str]) -> Option<String> {
    let first = own.iter().find(|arg| !arg.starts_with("--"))?;
    let ends = |ending| first.to_ascii_lowercase().ends_with(ending);
    let form = match first {
        line if line.starts_with("curl ") => "curl",
        _ if ends(".har") => "har",
        _ if ends(".log") => "access-log",
        _ if ends(".json") || ends(".yaml") || ends(".yml") => {
            "openapi` or `drumfire import postman"
        }
        _ => return None,
    };
    Some(format!(
        "the format comes before the file: write `drumfire import {form} …`"
    ))
}

/// The port of a server, as other servers accept it.
fn port_of_server(before: &str, arg: &str) -> Option<String> {
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    let port = match arg.split_once('=') {
        Some(("--port", port)) => port,
        None if matches!(before, "-p" | "--port") || !before.starts_with('-') => arg,
        _ => return None,
    };
    is_port(port).then(|| format!("to set the port, use `-l {port}`"))
}

/// `status` as an action on a run, as other programs have it.
fn status_of_run(own: &[&str]) -> Option<String> {
    let (run, act) = (own.first()?, own.get(1)?);
    (*act == "status").then(|| {
        let run = run.escape_debug();
        format!("to show a run, use its name alone: write `drumfire ctl {run}`")
    })
}

/// A port as an argument of `drumfire ui`.
fn port_of_ui(own: &[&str]) -> Option<String> {
    let (first, rest) = own.split_first()?;
    let port = first.rsplit(':').next()?;
    (rest.is_empty() && port.parse::<u16>().is_ok())
        .then(|| format!("to set the address, use `--listen {}`", with_colon(first)))
}

/// An address to listen on: a port alone gets a colon before it.
fn with_colon(place: &str) -> String {
    match place.contains(':') {
        true => place.to_owned(),
        false => format!(":{place}"),
    }
}

/// The letters of the flags of `drumfire run`.
const OF_RUN: [char; 8] = ['c', 'h', 'n', 'o', 'q', 'r', 'u', 'z'];

/// The advice on any other flag of a load.
const OF_PLAN: &str = "the plan defines the load; to set any of its keys, use `--set PATH=VALUE`; \
                       `drumfire run -h` lists the flags that override it";

/// A flag of a load on the command line of `drumfire run`; the load belongs in the plan.
fn load_of_plan(args: &[&str], flags: &[String]) -> Option<String> {
    let of_load = args.iter().find_map(|arg| {
        let name = arg.split('=').next()?;
        let is_ours = match name.strip_prefix("--") {
            Some(long) => flags.iter().any(|flag| flag == long),
            None => !name.starts_with('-') || name == "-" || name[1..].starts_with(OF_RUN),
        };
        (!is_ours).then_some(name)
    })?;
    let value = args
        .iter()
        .position(|arg| arg.split('=').next() == Some(of_load));
    let value = value.and_then(|at| match args[at].split_once('=') {
        Some((_, value)) => Some(value),
        None => args.get(at + 1).copied(),
    });
    let value = value.filter(|value| !value.starts_with('-'));
    let ours = match find(HabitPlace::Run, of_load) {
        Some(habit) => filled(habit, value),
        None => OF_PLAN.to_owned(),
    };
    // The part about the environment also contains the variable, unless it may be a secret.
    let name = value.and_then(|value| value.split_once('='));
    let ours = match name {
        Some((name, _)) if ours.contains(&format!("--set vars.{name}=")) => {
            ours.replace("${env:NAME}", &format!("${{env:{name}}}"))
        }
        _ => ours,
    };
    Some(format!("unknown flag `{of_load}`; {ours}"))
}

/// The advice on one argument.
fn of_flag(command: &str, arg: &str, next: Option<&str>, flags: &[String]) -> Option<String> {
    let (name, given) = match arg.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (arg, None),
    };
    let value = given.or(next);
    let unknown = |typed: &str, value: Option<&str>| {
        let ours = match (typed, value) {
            ("-t", Some(value)) => threads_or_timeout(value),
            // k6's duration, and that of other load testers.
            ("-d", Some(value)) if command == "ws" && is_time(value) => {
                let unit = match value.parse::<f64>() {
                    Ok(_) => "s",
                    Err(_) => "",
                };
                format!("to set the duration, use `-z {value}{unit}`; to send a message, use -m")
            }
            // curl's time limit, unless the value is a method.
            ("-m", Some(value)) if command == "http" && is_time(value) => {
                filled(row(command, "--max-time", flags)?, Some(value))
            }
            _ => filled(row(command, typed, flags)?, value),
        };
        Some(format!("unknown flag `{typed}`; {ours}"))
    };
    if let Some(long) = name.strip_prefix("--") {
        return match flags.iter().any(|flag| flag == long) {
            true => None,
            false => unknown(name, value),
        };
    }
    let letters = name
        .strip_prefix('-')
        .filter(|letters| !letters.is_empty())?;
    if let Some(said) = unknown(name, value) {
        return Some(said);
    }
    // A long flag with one hyphen, as Go programs and `ab` accept it.
    if letters.len() > 2 {
        let long = format!("--{letters}");
        if flags.iter().any(|flag| flag == letters) {
            let full = match given {
                Some(value) => format!("{long}={value}"),
                None => long,
            };
            return Some(format!("`{name}` needs two hyphens: write `{full}`"));
        }
        if let Some(habit) = row(command, &long, flags) {
            let ours = filled(habit, value);
            return Some(format!("unknown flag `{name}`; {ours}"));
        }
    }
    // A letter followed by its value, such as -t5s.
    let end = letters.chars().next()?.len_utf8();
    unknown(
        &name[..=end],
        Some(&arg[1 + end..]).filter(|value| !value.is_empty()),
    )
}

/// Whether a value is a time, with or without a unit.
fn is_time(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit())
        && (value.parse::<f64>().is_ok() || Nanos::from_str(value).is_ok())
}

/// `-t` means threads in wrk, and a timeout in hey.
fn threads_or_timeout(value: &str) -> String {
    match value.chars().all(|c| c.is_ascii_digit()) {
        true => format!(
            "to set the number of threads, use `--threads {value}`; to set a timeout, use --timeout"
        ),
        false => format!("to set the timeout of a request, use `--timeout {value}`"),
    }
}

/// Arguments that grpcurl takes after the target.
fn positional(before: &str, arg: &str) -> Option<String> {
    let target = before.contains(':') && !before.starts_with('-');
    match arg {
        "list" if target => Some("to list methods, use --list".to_owned()),
        "describe" if target => Some("to print a schema, use --describe SYMBOL".to_owned()),
        method
            if target && method.contains('/') && method.contains('.') && !method.contains(':') =>
        {
            Some(format!("to set the method, use `--call {method}`"))
        }
        _ => None,
    }
}

/// hey's and oha's `-q 100`. drumfire's `-q` has no value, so the rate is read as a URL.
pub(crate) fn rate_as_url(url: &str, is_quiet: bool) -> Option<String> {
    let number = f64::from_str(url).is_ok_and(f64::is_finite);
    (is_quiet && number)
        .then(|| format!("-q is --quiet and takes no value; to set the rate, use -r {url}"))
}

/// curl's `-u user:password`, which is not a valid number of users.
pub(crate) fn credentials_as_users(users: &str) -> Option<String> {
    let is_pair = users.contains(':') && !users.contains(['(', '[']);
    let habit = find(HabitPlace::Http, "--user").filter(|_| is_pair)?;
    Some(format!("-u is the number of users; {}", habit.ours))
}

/// wrk's `-d 10s`: a duration that would be sent as a body.
pub(crate) fn duration_as_body(data: &str) -> Option<String> {
    let number = !data.is_empty() && data.chars().all(|c| c.is_ascii_digit());
    let duration = number || Nanos::from_str(data).is_ok();
    let unit = if number { "s" } else { "" };
    duration.then(|| {
        format!(
            "-d sets the body, so `{data}` would be sent with POST; to set the duration, use \
             -z {data}{unit}; to send `{data}` anyway, add -X POST"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{Cli, longs};
    use clap::CommandFactory as _;
    use drumfire_document::habits::HABITS;

    fn said(line: &str) -> String {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (command, args) = args.split_first().unwrap();
        mistake(command, args, &longs(command)).unwrap_or_default()
    }

    #[test]
    fn a_file_behind_lines_is_told_from_a_url() {
        for line in [
            "http --lines out.txt http://h/",
            "http http://h/ --lines figures",
            "http --lines figures http://h/",
            "http --lines - http://h/",
            "run --lines run.log plan.yaml",
            "report last --lines /dev/stdout",
            "cluster run plan.yaml --lines out.txt",
        ] {
            let wanted = line
                .split("--lines ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next());
            let wanted = format!("write `--lines={}`", wanted.unwrap());
            assert!(said(line).ends_with(&wanted), "{line}: {}", said(line));
        }
        for line in [
            "http --lines http://h/",
            "http --lines example.com",
            "http --lines localhost/x.txt http://h/",
            "http --lines 127.0.0.1/x.txt http://h/",
            "http --lines h:80 http://h/",
            "http --lines=out.txt http://h/",
            "http http://h/ --lines -q",
            "http --lines @urls.txt",
            "run --lines plan.yaml",
            "serve --lines out.txt",
        ] {
            assert!(
                !said(line).contains("equals sign"),
                "{line}: {}",
                said(line)
            );
        }
    }

    #[test]
    fn what_is_imported_without_its_form_is_given_one() {
        for (line, form) in [
            ("import shop.HAR", "`drumfire import har …`"),
            ("import --pauses shop.har", "`drumfire import har …`"),
            ("import access.log", "`drumfire import access-log …`"),
            (
                "import shop.json",
                "`drumfire import openapi` or `drumfire import postman …`",
            ),
        ] {
            assert!(said(line).ends_with(form), "{line}: {}", said(line));
        }
        let command = ["curl -k https://h/".to_owned()];
        let said_of_it = mistake("import", &command, &[]).unwrap_or_default();
        assert!(
            said_of_it.ends_with("`drumfire import curl …`"),
            "{said_of_it}"
        );
        for line in [
            "import har x.har",
            "import curl shop.har",
            "import",
            "import x",
            "import --all",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }

    #[test]
    fn every_habit_names_a_flag_that_exists() {
        for habit in HABITS {
            let commands = match habit.on {
                HabitPlace::Http => &["http"][..],
                HabitPlace::Grpc => &["grpc"],
                HabitPlace::Load => &["http", "grpc"],
                HabitPlace::Ws => &["ws"],
                HabitPlace::Llm => &["llm"],
                _ => continue,
            };
            for command in commands {
                let cli = Cli::command();
                let command = cli.find_subcommand(command).unwrap();
                let long = |name: &str| command.get_arguments().any(|a| a.get_long() == Some(name));
                let short = |c: char| command.get_arguments().any(|a| a.get_short() == Some(c));
                for typed in habit.typed.split(' ') {
                    let name = typed.trim_start_matches('-');
                    let known = match typed.starts_with("--") {
                        true => long(name),
                        false => name.len() == 1 && name.chars().all(short),
                    };
                    assert!(!known, "{typed} is a flag of its own");
                }
                let words = habit.ours.split([' ', '`', ',', ';', '(', ')', ':']);
                for word in words.filter(|word| word.len() > 1 && word.starts_with('-')) {
                    let name = word.trim_start_matches('-');
                    let known = match word.starts_with("--") {
                        true => long(name),
                        false => name.chars().all(short),
                    };
                    // Flags of other commands, such as -X, have their own rows.
                    assert!(known, "{word} of `{}` is no flag", habit.ours);
                }
            }
        }
    }

    #[test]
    fn habits_of_sockets_and_language_models_get_advice() {
        for (line, ours) in [
            ("ws -d 10s ws://h/", "use `-z 10s`; to send a message"),
            ("ws -d 10 ws://h/", "use `-z 10s`"),
            ("ws -d hello ws://h/", "to send a message, use `-m hello`"),
            ("ws --vus 10 ws://h/", "use `-u 10`"),
            (
                "ws --count 10 --num 20 ws://h/",
                "use `-c 10`\ndrumfire: unknown flag `--num`",
            ),
            ("ws --protocol chat ws://h/", "use `--subprotocol chat`"),
            ("ws --basic-auth a:b ws://h/", "put credentials in the URL"),
            (
                "llm --request-rate 5 --num-prompts 10 http://h/",
                "use `-r 5`",
            ),
            ("llm --isl 100 --osl 20 http://h/", "use `--input 100`"),
            ("llm --max-seconds 30 http://h/", "use `-z 30s`"),
            ("llm --target http://h/", "pass the URL as an argument"),
            ("llm --goodput ttft:200 http://h/", "use `--slo ttft=200ms"),
            ("llm --max-time 5s http://h/", "use `--timeout 5s`"),
        ] {
            assert!(said(line).contains(ours), "{line}: {}", said(line));
        }
        // A body belongs to neither of them.
        for line in [
            "llm -d x http://h/",
            "llm -m m http://h/",
            "ws -m hello ws://h/",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }

    /// Parts of sentences that deny a feature, each with the flag that a command would have if the
    /// feature existed.
    const DENIALS: [(&str, &str); 2] = [
        ("HTTP/3 is not supported", "http3"),
        ("pipelining is not supported", "pipeline"),
    ];

    #[test]
    fn what_is_denied_is_absent() {
        let all = HABITS.iter().map(|habit| habit.ours).chain([OF_PLAN]);
        for ours in all.filter(|ours| ours.contains(" not ") || ours.contains("no ")) {
            let denial = DENIALS.iter().find(|(words, _)| ours.contains(words));
            let (_, flag) = denial.unwrap_or_else(|| panic!("`{ours}` denies, and is not proven"));
            for command in ["http", "grpc", "run"] {
                assert!(longs(command).iter().all(|long| long != flag), "{ours}");
            }
        }
    }

    #[test]
    fn what_is_said_of_run_names_its_flags() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").unwrap();
        let of_run = HABITS.iter().filter(|habit| habit.on == HabitPlace::Run);
        for ours in of_run.map(|habit| habit.ours).chain([OF_PLAN]) {
            let words = ours.split([' ', '`', ',', ';', '(', ')', ':']);
            for word in words.filter(|word| word.len() > 1 && word.starts_with('-')) {
                let name = word.trim_start_matches('-');
                let known = match word.starts_with("--") {
                    true => run.get_arguments().any(|a| a.get_long() == Some(name)),
                    false => name
                        .chars()
                        .all(|c| c == 'h' || run.get_arguments().any(|a| a.get_short() == Some(c))),
                };
                assert!(known, "{word} of `{ours}` is no flag of run");
            }
        }
    }

    #[test]
    fn what_is_typed_of_a_plan_names_what_runs_it() {
        for (line, ours) in [
            (
                "run --vus 10 x",
                "unknown flag `--vus`; to set the number of users, use `-u 10`",
            ),
            ("run --rps=5 x", "`-r 5`"),
            (
                "run -e A=b x",
                "unknown flag `-e`; to set a variable of the plan, use `--set vars.A=b`; to read \
                 the environment in a plan, use ${env:A}",
            ),
            ("run --env=A=b x", "`--set vars.A=b`"),
            ("run -e PASSWORD=hunter22 x", "`--set vars.NAME=VALUE`"),
            ("run -e A x", "`--set vars.NAME=VALUE`"),
            ("run --summary-export f x", "`--json f`"),
            ("run --verbose x", "`--show`"),
            (
                "run -d 30s x",
                "unknown flag `-d`; to set the duration, use `-z 30s`",
            ),
        ] {
            let said = said(line);
            assert!(said.contains(ours), "{line}: {said}");
        }
    }

    #[test]
    fn what_others_type_names_what_we_have() {
        for (line, ours) in [
            (
                "http -m POST http://h/",
                "unknown flag `-m`; to set the method, use `-X POST`",
            ),
            ("http -mPUT http://h/", "`-X PUT`"),
            ("grpc -m x:y h:1", "to send metadata, use `-H x:y`"),
            ("http -t 5s http://h/", "`--timeout 5s`"),
            ("http -t5s http://h/", "`--timeout 5s`"),
            ("http --max-time 5 http://h/", "`--timeout 5s`"),
            ("http --max-time=2.5 http://h/", "`--timeout 2.5s`"),
            ("http --max-time 500ms http://h/", "`--timeout 500ms`"),
            ("http --compare last http://h/", "`--baseline last`"),
            ("http -t12 http://h/", "`--threads 12`"),
            (
                "http -t12 -R 5 http://h/",
                "\ndrumfire: unknown flag `-R`; ",
            ),
            ("http -D f http://h/", "`-d @f`"),
            ("http -a u:p http://h/", "http://user:password@host/"),
            ("http --qps 10 http://h/", "`-r 10`"),
            ("http --rps=10 http://h/", "`-r 10`"),
            ("http --vus http://h/", "`-u N`"),
            ("http --host x http://h/", "`-H 'Host: x'`"),
            ("http -h2 http://h/", "`--http2`"),
            ("http -rate=50 http://h/", "write `--rate=50`"),
            ("http -duration 5s http://h/", "write `--duration`"),
            ("http -targets f", "@FILE"),
            ("grpc -plaintext h:1 list", "write `--plaintext`"),
            ("grpc --plaintext h:1 list", "--list"),
            ("grpc h:1 describe a.B", "--describe"),
            ("grpc h:1 a.B/C", "`--call a.B/C`"),
            ("serve -p 8081", "`-l 8081`"),
            ("serve --port=8081", "`-l 8081`"),
            ("serve 8081", "`-l 8081`"),
            ("ctl last status", "write `drumfire ctl last`"),
            ("http -v http://h/", "`--show`"),
            ("grpc --debug h:1", "`--show`"),
            ("http --form-string a=b http://h/", "`-F a=b`"),
            (
                "http -m 5 http://h/",
                "to set the timeout of a request, use `--timeout 5s`",
            ),
            ("http -m2.5 http://h/", "`--timeout 2.5s`"),
            ("http --burst-delay 2s http://h/", "once(500)"),
            ("http --burst-rate 4 http://h/", "once(500)"),
            ("http -s x.lua http://h/", "{{uuid}}"),
            ("http -s x.lua http://h/", "`script:` in a plan"),
        ] {
            let said = said(line);
            assert!(said.contains(ours), "{line}: {said}");
        }
        for line in [
            "http -r 5 http://h/",
            "http -c10 -z 5s http://h/",
            "http --threshold p99<5ms http://h/",
            "http -- -m",
            "http -r -5 http://h/",
            "http -H a:b/c http://h/",
            "grpc h:1 --call a.B/C -H k:v.w/x",
            "run -q x",
            "serve -l 8081 --seed 5",
            "run - --json y",
            "go-wrk -help",
            "ghz --insecure -help",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }

    #[test]
    fn a_duration_is_no_body() {
        let said = duration_as_body("10s").unwrap();
        assert!(
            said.contains("; to set the duration, use -z 10s; "),
            "{said}"
        );
        assert!(duration_as_body("10").unwrap().contains("-z 10s"));
        assert!(duration_as_body("1m30s").is_some());
        for data in ["", "ten", "{\"a\":1}", "10x", "@10s"] {
            assert_eq!(duration_as_body(data), None, "{data}");
        }
        assert!(
            rate_as_url("100", true)
                .unwrap()
                .ends_with("to set the rate, use -r 100")
        );
        assert_eq!(rate_as_url("100", false), None);
        assert_eq!(rate_as_url("h", true), None);
    }
}
