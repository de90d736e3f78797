//! Data that varies between requests: lists, feeds and templates, each a function of the request's
//! number and a seed, so that any worker can render any request.
//!
//! Knows the language of templates ([`Template`]) and conditions ([`StepCondition`]), the values
//! that they read ([`Sources`]), and the order of a list ([`Order`]). Must not know I/O, clocks or
//! protocols: the bytes of files and the time are arguments. Start reading at [`Template`].
//!
//! Every value is a function of a [`drumfire_plan::RequestContext`]. Files larger than memory are
//! read in blocks through [`ReadAt`].

mod access_log;
mod ammo;
mod condition;
mod date;
mod expression;
mod feed;
mod feed_order;
mod go_text;
mod growth;
mod har;
mod integer;
mod jinja;
mod json_text;
mod json_tree;
mod log_columns;
mod log_reader;
mod log_time;
mod names;
mod number;
mod operators;
mod order;
mod program;
mod prompts;
mod read_at;
mod render_context;
mod request;
mod set_value;
mod sources;
mod split;
mod tags;
mod template;
mod text;
mod typed;

pub use access_log::{LOG_FORMATS, LogLine, LogRequest};
pub use ammo::{
    AMMO_FORMATS, Ammo, AmmoData, AmmoError, AmmoField, AmmoFormat, AmmoOptions, AmmoPick, AutoTag,
    Calls, Class, Precedence, Storage, Timing,
};
pub use condition::{CONDITION_MAX, StepCondition};
pub use date::rfc3339;
pub use drumfire_gotemplate::float_text as go_float;
pub use drumfire_plan::Random;
pub use feed::{CsvForm, Feed, FeedError, FeedFormat, Generated, KINDS, Kind, Range, VALUE};
pub use feed_order::{AtEnd, Deal, FeedOrder, Strides};
pub use har::{HarArchive, HarContent, HarEntry, HarPair, HarRequest};
pub use json_text::{JsonPlace, escape_json, without_lone_surrogates};
pub use json_tree::{read as read_json, read_unique as read_unique_json};
pub use log_reader::LogReader;
pub use names::VARIABLES;
pub use order::{Order, SharedList};
pub use prompts::{
    LENGTH_MAX, Lengths, LengthsError, PrefixOrder, PrefixPool, PrefixPoolError, PromptOptions,
    Prompts, SESSION_FORMATS, SessionFormat, SessionOptions, SessionTrace, SessionTraceOptions,
    Sessions, TRACE_FORMATS, TURN_GROUPS, TURNS_MAX, Trace, TraceFormat, TraceOptions, TraceTotals,
    read_sessions,
};
pub use read_at::ReadAt;
pub use render_context::RenderContext;
pub use request::{Bodies, BodyPiece, FieldTemplate, RequestTemplates};
pub use set_value::SetValue;
pub use sources::{SourceError, Sources, VARIABLES_MAX};
pub use template::{Escaping, Expression, Piece, Template, TemplateError, Text};
pub use text::TextTemplate;
