//! `drumfire grpc`.

use super::{count, document, feeds, fields, payload, some, switch, text, texts, transport};
use crate::exit::Failure;
use crate::flags::GrpcFlags;
use drumfire_document::{
    Ask, CallOptions, CommonFields, Data, Document, Fields, Place, Placed, Pool, Reflection,
    Request, Schema, Settings, Stream,
};

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
                    target: None,
                    metadata: fields("reflection.metadata", &flags.reflect_metadata)?,
                },
            },
            fields: CommonFields {
                traceparent: switch("traceparent", flags.transport.traceparent, true),
                ..CommonFields::default()
            },
            ..settings
        },
        requests: request(flags)?.into_iter().collect(),
        ..Pool::default()
    };
    Ok(Document {
        feeds: feeds(&flags.varying)?,
        ..document(pool, &flags.load, &flags.output)?
    })
}

/// The call.
fn request(flags: &GrpcFlags) -> Result<Option<Request>, Failure> {
    let Some(method) = &flags.call else {
        return Ok(None);
    };
    let data = flags.data.as_ref();
    Ok(Some(Request {
        fields: Fields::Listed(fields("metadata", &flags.metadata)?),
        data: Data {
            payload: data.map(|data| payload("data", data)).transpose()?,
            binary: switch("binary", flags.binary, true),
            lines: None,
            templates: flags
                .varying
                .no_templates
                .then(|| text("templates", &"none")),
            order: some("order", flags.varying.order.as_ref()),
            ..Data::default()
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
        ..Request::new(Ask::Call(text("call", method)))
    }))
}
