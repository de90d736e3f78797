//! Random descriptors: mostly of the right structure, with occasional mistakes in every number,
//! name and option that may be wrong. A test and the fuzz target `descriptors` drive them.

use drumfire_plan::ReplyCheck;
use drumfire_schema::reflection::{Session, Wanted};
use drumfire_schema::{Input, Method, ReplyForm, Schema};
use prost::Message;
use prost_reflect::prost_types::descriptor_proto::{ExtensionRange, ReservedRange};
use prost_reflect::prost_types::enum_descriptor_proto::EnumReservedRange;
use prost_reflect::prost_types::uninterpreted_option::NamePart;
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, EnumValueDescriptorProto,
    FieldDescriptorProto, FieldOptions, FileDescriptorProto, FileDescriptorSet, FileOptions,
    MessageOptions, MethodDescriptorProto, OneofDescriptorProto, ServiceDescriptorProto,
    UninterpretedOption,
};

const FILES: [&str; 6] = [
    "a.proto",
    "b.proto",
    "c.proto",
    "d.proto",
    "google/protobuf/any.proto",
    "google/protobuf/descriptor.proto",
];
/// protobuf's own files.
const OWN: [&str; 3] = [
    "google/protobuf/any.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/timestamp.proto",
];
/// Invalid names, and names of protobuf.
const NAMES: [&str; 14] = [
    "M0",
    "f0",
    "key",
    "value",
    "FieldOptions",
    "MessageOptions",
    "EnumOptions",
    "protobuf",
    "packed",
    "Any",
    "Timestamp",
    "Value",
    "",
    "x.\u{e9}\u{1b}",
];
const MESSAGES: [&str; 7] = [
    ".t.M0",
    "M1",
    ".t.M0",
    ".google.protobuf.Any",
    ".google.protobuf.Timestamp",
    ".google.protobuf.Value",
    ".google.protobuf.Struct",
];
const DEFAULTS: [&str; 9] = [
    "1",
    "-1",
    "nan",
    "true",
    "A0",
    "\\x1\u{e9}",
    "\\777",
    "\\",
    "ZERO\u{202e}",
];
const SYNTAXES: [&str; 4] = ["", "proto4", "editions", "proto2"];
const NUMBERS: [i32; 9] = [0, -1, 1, 2, 7, 19_000, 999, 536_870_911, i32::MAX];
const TEXTS: [&str; 6] = [
    "{}",
    "{\"f0\": 1, \"f1\": \"2020-01-01T00:00:00Z\", \"f2\": {\"f0\": [1]}, \"f3\": true}",
    "{\"f0\": {\"1\": {\"f1\": null}}, \"f1\": [1, \"2\"], \"f2\": \"AAAA\", \"f3\": \"A0\"}",
    "[{\"f0\": \"x\"}, {}, {\"f1\": {}}]",
    "{\"f0\": {\"@type\": \"x/t.M0\", \"f0\": 1}, \"f1\": {\"a\": [null, {}]}}",
    "\"x\"",
];
/// The maximum number of items of each kind.
const MANY: u8 = 5;

/// Bytes that decide all choices; zeros follow after their end.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }

    /// A name, mostly unique among its siblings.
    fn name(&mut self, base: &str, n: u8) -> Option<String> {
        Some(match self.odd() {
            true => self.one(&NAMES).to_owned(),
            false => format!("{base}{n}"),
        })
    }

    fn number(&mut self, usual: i32) -> Option<i32> {
        Some(match self.odd() {
            true => self.one(&NUMBERS),
            false => usual,
        })
    }

    fn some<T>(&mut self, mut make: impl FnMut(&mut Self, u8) -> T) -> Vec<T> {
        (0..self.below(MANY)).map(|n| make(self, n)).collect()
    }

    /// Whether to make a mistake, which happens rarely.
    fn odd(&mut self) -> bool {
        self.byte() > 253
    }

    fn at_times<T, C: FromIterator<T>>(&mut self, make: impl FnOnce(&mut Self) -> T) -> C {
        let made = (self.below(8) == 7).then(|| make(self));
        made.into_iter().collect()
    }

    fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.at_times::<T, Vec<T>>(make).pop()
    }

    fn oddly<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.odd().then(|| make(self))
    }

    /// A file that may import earlier ones.
    fn file(&mut self, n: u8) -> FileDescriptorProto {
        let n = usize::from(n) % FILES.len();
        // protobuf's own files import nothing.
        let (own, before) = match n {
            0..4 => (&OWN[..], &FILES[..n]),
            _ => (&[][..], &[][..]),
        };
        let mut dependency: Vec<String> = own.iter().map(|&name| name.to_owned()).collect();
        for name in before {
            let is_first = *name == FILES[0];
            if (is_first || self.below(2) == 0) && !dependency.iter().any(|known| known == name) {
                dependency.push((*name).to_owned());
            }
        }
        dependency.extend(self.oddly(|script| script.one(&FILES).to_owned()));
        let proto3 = self.below(2) == 0;
        let odd_syntax = self.oddly(|script| script.one(&SYNTAXES).to_owned());
        let package = match self.odd() {
            true => self.one(&["google.protobuf", "google", "", "t.M0", "..", "t"]),
            false => ["t", "u", "v", "t.x", "google.protobuf", "google.protobuf"][n],
        };
        FileDescriptorProto {
            name: Some(FILES[n].to_owned()),
            package: Some(package.to_owned()),
            syntax: odd_syntax.or_else(|| proto3.then(|| "proto3".to_owned())),
            public_dependency: self.at_times(|script| i32::from(script.below(3))),
            weak_dependency: Vec::new(),
            dependency,
            message_type: (0..2 + self.below(2))
                .map(|n| self.message("M", n, 0))
                .collect(),
            enum_type: vec![self.enumeration(0), self.enumeration(1)],
            service: self.some(Self::service),
            extension: Vec::from_iter(self.oddly(|script| script.field(9))),
            options: self.option(|script| FileOptions {
                java_multiple_files: Some(true),
                uninterpreted_option: vec![script.uninterpreted()],
                ..FileOptions::default()
            }),
            source_code_info: None,
        }
    }

    fn message(&mut self, base: &str, n: u8, depth: u8) -> DescriptorProto {
        let mut message = DescriptorProto {
            name: self.name(base, n),
            field: self.some(Self::field),
            extension: Vec::from_iter(self.oddly(|script| script.field(8))),
            nested_type: match depth {
                0..=3 => self.some(|script, n| script.message("I", n, depth + 2)),
                _ => Vec::new(),
            },
            enum_type: self.at_times(|script| script.enumeration(5)),
            extension_range: self.at_times(|script| ExtensionRange {
                start: script.number(100),
                end: script.number(200),
                options: None,
            }),
            oneof_decl: self.some(|script, n| OneofDescriptorProto {
                name: script.name("o", n),
                options: None,
            }),
            options: self.oddly(|script| MessageOptions {
                map_entry: Some(script.below(2) == 0),
                uninterpreted_option: script.at_times(Self::uninterpreted),
                ..MessageOptions::default()
            }),
            reserved_range: self.at_times(|script| ReservedRange {
                start: script.number(300),
                end: script.number(310),
            }),
            reserved_name: Vec::new(),
        };
        if self.below(3) == 0 {
            self.map(&mut message);
        }
        message
    }

    /// Adds a map and its entry.
    fn map(&mut self, message: &mut DescriptorProto) {
        let mut fields = [self.field(0), self.field(1)];
        for (field, (name, number)) in fields.iter_mut().zip([("key", 1), ("value", 2)]) {
            field.name = Some(name.to_owned());
            field.number = Some(number);
            field.label = Some(1);
            field.oneof_index = None;
            field.default_value = None;
            field.proto3_optional = None;
        }
        fields[0].r#type = Some(match self.odd() {
            true => i32::from(self.below(20)),
            false => self.one(&[3, 4, 5, 8, 9, 13, 17]),
        });
        fields[0].type_name = None;
        message.nested_type.push(DescriptorProto {
            name: Some("MapEntry".to_owned()),
            field: fields.to_vec(),
            options: Some(MessageOptions {
                map_entry: Some(true),
                ..MessageOptions::default()
            }),
            ..DescriptorProto::default()
        });
        message.field.push(FieldDescriptorProto {
            label: Some(if self.odd() { 1 } else { 3 }),
            r#type: Some(11),
            type_name: Some("MapEntry".to_owned()),
            ..self.field(7)
        });
    }

    fn field(&mut self, n: u8) -> FieldDescriptorProto {
        let named = self.below(4) == 0;
        FieldDescriptorProto {
            name: self.name("f", n),
            number: self.number(i32::from(n) + 1),
            label: Some(match self.odd() {
                true => i32::from(self.below(6)),
                false => self.one(&[1, 1, 3]),
            }),
            r#type: match (self.odd(), named) {
                (true, _) => Some(i32::from(self.below(20))),
                (false, true) => self.one(&[None, Some(11), Some(10)]),
                (false, false) => {
                    Some(self.one(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 18]))
                }
            },
            type_name: named.then(|| match self.below(4) {
                0 => ".t.E0".to_owned(),
                _ => self.one(&MESSAGES).to_owned(),
            }),
            extendee: (n > 7).then(|| self.one(&MESSAGES).to_owned()),
            default_value: self.oddly(|script| script.one(&DEFAULTS).to_owned()),
            oneof_index: self.oddly(|script| i32::from(script.below(4)) - 1),
            json_name: self.oddly(|script| script.one(&NAMES).to_owned()),
            options: self.option(|script| FieldOptions {
                packed: Some(script.below(2) == 0),
                uninterpreted_option: script.at_times(Self::uninterpreted),
                ..FieldOptions::default()
            }),
            proto3_optional: self.oddly(|_| true),
        }
    }

    fn enumeration(&mut self, n: u8) -> EnumDescriptorProto {
        EnumDescriptorProto {
            name: self.name("E", n),
            value: (0..=self.below(3))
                .map(|value| EnumValueDescriptorProto {
                    name: self.name(["A", "B", "C", "D", "X", "Y"][usize::from(n)], value),
                    number: self.number(value.into()),
                    options: None,
                })
                .collect(),
            options: self.option(|script| EnumOptions {
                allow_alias: Some(true),
                uninterpreted_option: script.at_times(Self::uninterpreted),
                ..EnumOptions::default()
            }),
            reserved_range: self.at_times(|script| EnumReservedRange {
                start: script.number(20),
                end: script.number(30),
            }),
            reserved_name: Vec::new(),
        }
    }

    fn service(&mut self, n: u8) -> ServiceDescriptorProto {
        ServiceDescriptorProto {
            name: self.name("S", n),
            method: self.some(|script, n| MethodDescriptorProto {
                name: script.name("U", n),
                input_type: Some(script.one(&MESSAGES).to_owned()),
                output_type: Some(script.one(&MESSAGES).to_owned()),
                options: None,
                client_streaming: script.option(|_| true),
                server_streaming: script.option(|_| true),
            }),
            options: None,
        }
    }

    fn uninterpreted(&mut self) -> UninterpretedOption {
        let identifier = self.one(&["true", "false", "x"]).to_owned();
        UninterpretedOption {
            name: vec![NamePart {
                name_part: self
                    .one(&["packed", "allow_alias", "t.f9", "(", ""])
                    .to_owned(),
                is_extension: self.below(3) == 0,
            }],
            identifier_value: Some(identifier),
            aggregate_value: self.option(|_| "f0{f0{".to_owned()),
            ..UninterpretedOption::default()
        }
    }
}

/// Generates descriptors from the bytes, or uses the bytes as descriptors, and does everything with
/// them that the program does with a server's descriptors.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let files = match script.byte() {
        255 => {
            drop(Schema::from_protoset(script.0).map(|schema| look(&schema, &script)));
            answer(script.0);
            return;
        }
        byte => (0..=if byte > 240 { 5 } else { byte % 3 })
            .map(|n| script.file(n))
            .collect::<Vec<_>>(),
    };
    let set = FileDescriptorSet { file: files };
    if let Ok(schema) = Schema::from_protoset(&set.encode_to_vec()) {
        look(&schema, &script);
    }
    reflect(&set.file, &mut script);
}

/// Uses the bytes as consecutive answers of a reflection server.
fn answer(bytes: &[u8]) {
    let mut session = Session::new(Wanted::Everything);
    for part in bytes.split(|&byte| byte == 0xfe) {
        if session.next_request().is_none() || session.handle_response(part).is_err() {
            return;
        }
    }
    drop(session.finish());
}

/// An answer of the reflection service with files.
#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

/// A server that answers every request with some of the files.
fn reflect(files: &[FileDescriptorProto], script: &mut Script<'_>) {
    let wanted = match script.below(3) {
        0 => Wanted::Everything,
        1 => Wanted::Service("t.S0".to_owned()),
        _ => Wanted::Symbol("t.M0".to_owned()),
    };
    let mut session = Session::new(wanted);
    let mut turn = 0;
    while session.next_request().is_some() && turn < 50 {
        turn += 1;
        let some = script.byte();
        let files = files.iter().enumerate();
        let sent = files.filter(|(n, _)| turn > 3 || some >> (n % 8) & 1 == 0);
        let files = sent.map(|(_, file)| file.encode_to_vec()).collect();
        let answer = Answer {
            files: Some(Files { files }),
        };
        if session.handle_response(&answer.encode_to_vec()).is_err() {
            return;
        }
    }
    if let Ok(schema) = session.finish() {
        look(&schema, script);
    }
}

fn look(schema: &Schema, script: &Script<'_>) {
    let mut shown = schema.list().concat();
    for symbol in [
        "t.M0",
        "t.M1",
        "t.S0",
        "t.E0",
        "t.M0.I0",
        "google.protobuf.Any",
        "t.S0.U0",
        "none",
    ] {
        match schema.describe(symbol) {
            Ok(lines) => shown.extend(lines),
            Err(error) => shown.push_str(&error.0),
        }
    }
    for service in schema.services() {
        for name in ["U0", "U1", "U2", "none"] {
            if let Ok(method) = schema.method(&format!("{service}/{name}")) {
                call(&method, script);
            }
        }
    }
}

/// Encodes the messages of a call of the method, and checks replies.
fn call(method: &Method, script: &Script<'_>) {
    for text in TEXTS {
        drop(Input::json(method, text));
        drop(method.encode_input(text));
    }
    let form = ReplyForm::for_method(method);
    let reply = &script.0[..script.0.len().min(200)];
    for start in 0..reply.len().min(8) {
        drop(form.check(&reply[start..]));
        drop(method.check_output(&reply[start..]));
    }
}
