//! `drumfire grpc`.

use super::{count, document, fields, payload, some, switch, text, texts, transport};
use crate::exit::Failure;
use crate::flags::GrpcFlags;
use drumfire_compile::{Diagnostic, flag};
use drumfire_plan::document::{
    Ask, CallOptions, Data, Document, Feed, FeedForm, Fields, Place, Placed, Pool, Reflection,
    Request, Schema, Settings, Stream,
};
use std::path::Path;

/// The document of the flags. Without `--call` it has no request, and serves only to fetch a
/// schema.
pub(crate) fn of(flags: &GrpcFlags) -> Result<Document, Failure> {
    let mut settings = transport::settings(&flags.load, &flags.transport);
    settings.reach.target = Some(Placed::new(flags.target.clone(), Place::Nowhere));
    settings.reach.plaintext = switch("plaintext", flags.plaintext, true);
    let pool = Pool {
        settings: Settings {
            schema: Schema {
                proto: texts("proto", &flags.proto),
                import_path: texts("import_path", &flags.import_path),
                protoset: flags
                    .protoset
                    .as_ref()
                    .map(|path| text("protoset", &path.display())),
                reflection: Reflection {
                    metadata: fields("reflect_metadata", &flags.reflect_metadata)?,
                },
            },
            ..settings
        },
        requests: request(flags)?.into_iter().collect(),
        ..Pool::default()
    };
    let feeds = flags.feed.iter().map(|feed| self::feed(flags, feed));
    Ok(Document {
        feeds: feeds.collect::<Result<_, _>>()?,
        ..document(pool, &flags.load, &flags.output)
    })
}

/// The call.
fn request(flags: &GrpcFlags) -> Result<Option<Request>, Failure> {
    let Some(method) = &flags.call else {
        return Ok(None);
    };
    let data = flags.data.as_ref();
    Ok(Some(Request {
        ask: Ask::Call(text("call", method)),
        name: None,
        fields: Fields::Listed(fields("metadata", &flags.metadata)?),
        data: Data {
            payload: data.map(|data| payload("data", data)).transpose()?,
            binary: switch("binary", flags.binary, true),
            templates: flags.no_templates.then(|| text("templates", &"none")),
            order: some("order", flags.order.as_ref()),
        },
        stream: Stream {
            count: count("stream.count", flags.stream_count),
            interval: some("stream.interval", flags.stream_interval.as_ref()),
            duration: some("stream.duration", flags.stream_duration.as_ref()),
            receive: count("stream.receive", flags.stream_receive),
            refresh: None,
        },
        options: CallOptions {
            authority: some("authority", flags.authority.as_ref()),
            deadline: some("deadline", flags.deadline.as_ref()),
            compress: some("compress", flags.compress.as_ref()),
            max_receive: some("max_receive", flags.max_receive.as_ref()),
            max_send: some("max_send", flags.max_send.as_ref()),
            reply_check: switch("reply_check", flags.no_reply_check, false),
        },
    }))
}

/// `NAME=FILE`; the file's extension is its format.
fn feed(flags: &GrpcFlags, given: &str) -> Result<Feed, Failure> {
    let Some((name, path)) = given.split_once('=') else {
        let shown = given.escape_default();
        let message = format!("`{shown}` is not NAME=FILE, such as users=users.csv");
        return Err(Failure::usage(Diagnostic::new(&flag("feeds"), message)));
    };
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    let (order, at_end) = match flags.feed_order.as_deref() {
        None | Some("turn") => (None, None),
        Some("random") => (Some(text("feed_order", &"random")), None),
        Some("once") => (None, Some(text("feed_order", &"stop"))),
        Some(other) => {
            let shown = other.escape_default();
            let message = format!("`{shown}` is no order; write turn, random or once");
            let place = flag("feed_order");
            return Err(Failure::usage(Diagnostic::new(&place, message)));
        }
    };
    Ok(Feed {
        name: text("feeds", &name),
        form: match extension {
            Some("jsonl" | "ndjson" | "json") => FeedForm::JsonLines,
            _ => FeedForm::Csv,
        },
        file: text("feeds", &path),
        order,
        at_end,
    })
}
