//! The names that every template has, beside those of feeds and of variables of a scenario.

/// Every variable and function that a template may use beside minijinja's own and the feeds.
///
/// `uuid` is the same wherever a message and, for the first message, the metadata of its call ask
/// for it; `new_uuid()` is another each time. Times are those of the rendering: `time` in RFC 3339,
/// the others since the Unix epoch in seconds, milliseconds and nanoseconds.
pub const VARIABLES: [&str; 16] = [
    "request_number",
    "message_number",
    "user",
    "iteration",
    "connection",
    "time",
    "unix",
    "unix_ms",
    "unix_ns",
    "uuid",
    FUNCTIONS[0],
    FUNCTIONS[1],
    FUNCTIONS[2],
    FUNCTIONS[3],
    FUNCTIONS[4],
    FUNCTIONS[5],
];

/// The functions that we add to the language.
const FUNCTIONS: [&str; 6] = [
    "new_uuid",
    "random_int",
    "random_float",
    "random_string",
    "choose",
    "js",
];

/// Names that the template language has itself.
pub(crate) const LANGUAGE: [&str; 31] = [
    "true",
    "false",
    "none",
    "True",
    "False",
    "None",
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "else",
    "elif",
    "endif",
    "for",
    "endfor",
    "set",
    "endset",
    "block",
    "macro",
    "filter",
    "call",
    "import",
    "include",
    "loop",
    "self",
    "range",
    "dict",
    "namespace",
    "super",
];
