//! Metadata of gRPC calls, refused on the command line where no server would take it.

use crate::exit::Failure;
use drumfire_engine::check_metadata;
use drumfire_plan::{CallContext, CallData, Header};

/// Keys that belong to the protocol, and the flag that sets what they say.
const FLAGS: [(&str, &str); 5] = [
    ("grpc-timeout", "--deadline"),
    ("grpc-encoding", "--compress"),
    ("grpc-accept-encoding", "--compress"),
    ("host", "--authority"),
    (":authority", "--authority"),
];

/// `key: value`, which nothing varies.
pub(crate) fn fixed(flag: &str, line: &str) -> Result<Header, Failure> {
    let header = parsed(flag, line)?;
    check(flag, &header)?;
    Ok(header)
}

/// `key: value`, of which the value may be a template yet.
pub(crate) fn parsed(flag: &str, line: &str) -> Result<Header, Failure> {
    if let Some((name, _)) = line.strip_prefix(':').and_then(|rest| rest.split_once(':')) {
        let name = format!(":{}", name.trim().to_ascii_lowercase());
        return Err(Failure::usage(format!(
            "{flag}: metadata `{}`: names that begin with a colon belong to HTTP/2{}",
            name.escape_default(),
            instead(&name)
        )));
    }
    Header::parse(line).map_err(|error| Failure::usage(format!("{flag}: {error}")))
}

/// Refuses a field that may not be sent.
pub(crate) fn check(flag: &str, field: &Header) -> Result<(), Failure> {
    check_metadata(field).map_err(|error| {
        let name = field.name().to_ascii_lowercase();
        Failure::usage(format!("{flag}: {error}{}", instead(&name)))
    })
}

/// Renders the metadata that varies as the first call would have it, and checks that.
pub(crate) fn check_first(flag: &str, data: &dyn CallData, seed: u64) -> Result<(), Failure> {
    let first = CallContext {
        number: 0,
        user: 0,
        connection: 0,
        unix_time: 0,
        seed,
    };
    let mut fields = Vec::new();
    data.metadata(&first, &mut fields)
        .map_err(|error| Failure::usage(format!("{flag}: {error}")))?;
    fields.iter().try_for_each(|field| check(flag, field))
}

/// `; use FLAG`, where there is one.
fn instead(name: &str) -> String {
    let flag = FLAGS.iter().find(|(known, _)| *known == name);
    flag.map_or_else(String::new, |(_, flag)| format!("; use {flag}"))
}
