//! Flags in error messages as the user typed them: `--duration` instead of `-z`.

use crate::flags;

/// The message with flags as typed. A line may begin with a flag's letter; the name replaces it if
/// only the name was typed. The first argument is the command.
pub(crate) fn as_typed(message: &str, args: &[String]) -> String {
    let Some((command, args)) = args.split_first() else {
        return message.to_owned();
    };
    let own: Vec<&str> = args
        .iter()
        .map(String::as_str)
        .take_while(|arg| *arg != "--")
        .collect();
    let spellings = flags::spellings(command);
    let named = |long: &str| {
        own.iter()
            .filter_map(|arg| arg.strip_prefix("--"))
            .any(|arg| arg.split('=').next() == Some(long))
    };
    let lettered = |short: char| {
        own.iter()
            .filter_map(|arg| arg.strip_prefix('-'))
            .any(|arg| !arg.starts_with('-') && arg.contains(short))
    };
    let lines = message.split_inclusive('\n').map(|line| {
        // Messages after the first begin with the program's name.
        let text = line.strip_prefix(PROGRAM).unwrap_or(line);
        let found = spellings.iter().find_map(|(short, long)| {
            let rest = text.strip_prefix('-')?.strip_prefix(*short)?;
            let whole = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
            (whole && named(long) && !lettered(*short)).then_some((long, rest))
        });
        match found {
            Some((long, rest)) => {
                format!("{}--{long}{rest}", &line[..line.len() - text.len()])
            }
            None => line.to_owned(),
        }
    });
    lines.collect()
}

/// The prefix of each message on standard error.
const PROGRAM: &str = "drumfire: ";

#[cfg(test)]
mod tests {
    use super::as_typed;

    #[test]
    fn a_flag_is_named_as_it_was_typed() {
        let said = |line: &str, message: &str| {
            let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
            as_typed(message, &args)
        };
        let message = "-z: `10` has no unit";
        assert_eq!(
            said("http --duration 10 h", message),
            "--duration: `10` has no unit"
        );
        assert_eq!(
            said("http --duration=10 h", message),
            "--duration: `10` has no unit"
        );
        assert_eq!(said("http -z 10 h", message), message);
        assert_eq!(said("http -qz10 h", message), message);
        assert_eq!(said("http -- --duration", message), message);
        assert_eq!(
            said(
                "grpc --duration 10 --rate x h",
                "-r: no\n  ^\ndrumfire: -z: no"
            ),
            "--rate: no\n  ^\ndrumfire: --duration: no"
        );
        assert_eq!(
            said("http --data @- h", "-d: stdin: no"),
            "--data: stdin: no"
        );
    }
}
