//! gRPC calls: their schema, their options, and their streams.

use crate::keys::fields::{nested, table};
use crate::keys::{Flag, Group};
use crate::{Count, Field, Switch, Text};

table! {
    /// The source of the schema of calls: files, or the server.
    pub struct SchemaSource [] {
        proto: Vec<Text> =
            "The `.proto` files of the calls; without any schema, drumfire fetches it from the server",
            Flag::new(Group::Schema, "--proto <FILE>",
                "A .proto file; repeatable [default: use the server's reflection]").first();
        import_path: Vec<Text> = "Folders to search for imports of `.proto` files",
            Flag::new(Group::Schema, "--import-path <FOLDER>",
                "Directory to search for imports; repeatable").needs("proto");
        protoset: Option<Text> = "File with a serialized `FileDescriptorSet` and its imports",
            Flag::new(Group::Schema, "--protoset <FILE>",
                "A serialised FileDescriptorSet, made by protoc with --include_imports").excludes(&["proto"]);
        reflection: Reflection = "How to fetch the schema from a server";
    } []
}

table! {
    /// The question to the server for its schema.
    pub struct Reflection [] {
        target: Option<Text> =
            "Server that has the schema, as `HOST:PORT`, if it is not the target";
        metadata: Vec<Field> = "Metadata of the request for the schema",
            Flag::new(Group::Schema, "--reflect-metadata <METADATA>",
                "Metadata `key: value` for reflection only; repeatable").excludes(&["proto", "protoset"]);
    } []
}

table! {
    /// The options of a call.
    pub struct CallOptions [] {
        authority: Option<Text> = "The `:authority` of calls",
            Flag::new(Group::Call, "--authority <NAME>",
                "Send this :authority instead of the target's");
        deadline: Option<Text> = "Deadline sent with each call, such as `2s`",
            Flag::new(Group::Call, "--deadline <TIME>",
                "Timeout of a call, also sent to the server as grpc-timeout [default: --timeout]");
        compress: Option<Text> = "Compression of messages: `gzip`, `zstd` or `identity`",
            Flag::new(Group::Call, "--compress <CODING>",
                "Compress messages with gzip or zstd; identity refuses compressed replies [default: send uncompressed messages, accept gzip]");
        max_receive: Option<Text> = "Maximum size of a received message, such as `4MiB`",
            Flag::new(Group::Call, "--max-receive <SIZE>",
                "Maximum size of a received message [default: 4MiB]");
        max_send: Option<Text> = "Maximum size of a sent message",
            Flag::new(Group::Call, "--max-send <SIZE>",
                "Maximum size of a sent message [default: 2GiB]");
        reply_check: Option<Switch> =
            "Check replies against the schema; the flag sets `false`: accept any bytes as a reply",
            Flag::new(Group::Call, "--no-reply-check",
                "Don't check that replies are valid messages of the method's type");
    } []
}

table! {
    /// The course of the streams of a call.
    pub struct Stream [] {
        count: Option<Count> = "Number of messages that a call sends",
            Flag::new(Group::Streams, "--stream-count <N>",
                "Send N messages per call, repeating or truncating the data");
        interval: Option<Text> = "Time between two messages",
            Flag::new(Group::Streams, "--stream-interval <TIME>", "Pause after each sent message");
        duration: Option<Text> = "How long a call sends messages",
            Flag::new(Group::Streams, "--stream-duration <TIME>",
                "Stop sending after this time; cancel a stream that only the server sends");
        receive: Option<Count> = "Cancel the call after receiving this many messages",
            Flag::new(Group::Streams, "--stream-receive <N>",
                "Cancel a call after N received messages (not a failure)");
        refresh: Option<Text> =
            "When to evaluate templates: once per `call`, or for each `message`";
    } []
}

nested!(Reflection => "reflection", Stream => "stream");
