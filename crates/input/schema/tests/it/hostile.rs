//! Descriptors that no compiler generates, but a server may send. Each is refused with its file's
//! name, or is harmless.

use drumfire_schema::Schema;
use drumfire_schema::reflection::{Session, Wanted};
use drumfire_units::Random;
use prost::Message;
use prost_reflect::prost_types::descriptor_proto::ReservedRange;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::source_code_info::Location;
use prost_reflect::prost_types::uninterpreted_option::NamePart;
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, EnumValueDescriptorProto,
    FieldDescriptorProto, FieldOptions, FileDescriptorProto, FileDescriptorSet, MessageOptions,
    SourceCodeInfo, UninterpretedOption,
};

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

/// Loads files as a descriptor set, and by reflection, with a request for the symbol.
fn load(symbol: &str, files: &[FileDescriptorProto]) -> [Result<Schema, String>; 2] {
    let set = FileDescriptorSet {
        file: files.to_vec(),
    };
    let from_set = Schema::from_protoset(&set.encode_to_vec()).map_err(|error| error.to_string());
    let mut session = Session::new(Wanted::Symbol(symbol.to_owned()));
    session.next_request().unwrap();
    let files = files.iter().map(Message::encode_to_vec).collect();
    let answer = Answer {
        files: Some(Files { files }),
    };
    let reflected = session
        .handle_response(&answer.encode_to_vec())
        .and_then(|()| session.finish())
        .map_err(|error| error.to_string());
    [from_set, reflected]
}

/// Checks that both ways refuse the files, with this reason.
#[track_caller]
fn check(files: &[FileDescriptorProto], reason: &str) {
    for loaded in load("t.M", files) {
        let error = loaded.unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

/// Checks that both ways accept the files, and the description of `symbol`.
#[track_caller]
fn check_fine(files: &[FileDescriptorProto], symbol: &str, look: &str) {
    for loaded in load(symbol, files) {
        assert_eq!(loaded.unwrap().describe(symbol).unwrap().join("\n"), look);
    }
}

fn file(messages: Vec<DescriptorProto>) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some("t.proto".to_owned()),
        package: Some("t".to_owned()),
        message_type: messages,
        ..FileDescriptorProto::default()
    }
}

fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto {
        name: Some(name.to_owned()),
        field,
        ..DescriptorProto::default()
    }
}

fn field(name: &str, number: i32, r#type: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional as i32),
        r#type: Some(r#type as i32),
        ..FieldDescriptorProto::default()
    }
}

#[test]
fn a_syntax_that_is_not_known_is_refused() {
    for syntax in ["proto4", "proto", " proto3", "PROTO3", "\u{1b}[31m"] {
        let file = FileDescriptorProto {
            syntax: Some(syntax.to_owned()),
            ..file(vec![message("M", Vec::new())])
        };
        check(std::slice::from_ref(&file), "t.proto: the syntax ");
        check(&[file], "is not supported; use proto2 or proto3");
    }
    // An empty syntax, as protobuf's own compiler reads it.
    let file = FileDescriptorProto {
        syntax: Some(String::new()),
        ..file(vec![message("M", Vec::new())])
    };
    check_fine(&[file], "t.M", "message t.M {\n}");
}

#[test]
fn defaults_of_bytes_that_are_not_escaped_are_refused() {
    for default in ["\\x1\u{e9}", "\\x\u{20ac}", "\\777", "\\8", "\\"] {
        let wrong = FieldDescriptorProto {
            default_value: Some(default.to_owned()),
            ..field("b", 1, Type::Bytes)
        };
        let inner = message("Inner", vec![wrong.clone()]);
        let outer = DescriptorProto {
            nested_type: vec![inner],
            ..message("M", Vec::new())
        };
        check(&[file(vec![outer])], "t.proto: ");
        let extension = FileDescriptorProto {
            extension: vec![FieldDescriptorProto {
                extendee: Some(".t.M".to_owned()),
                ..wrong
            }],
            ..file(vec![message("M", Vec::new())])
        };
        check(&[extension], "t.proto: ");
    }
    let right = FieldDescriptorProto {
        default_value: Some("a\u{e9}\\x1F\\377\\0\\n\\\\".to_owned()),
        ..field("b", 1, Type::Bytes)
    };
    let look = "message t.M {\n  optional bytes b = 1;\n}";
    check_fine(&[file(vec![message("M", vec![right])])], "t.M", look);
}

/// A file that redefines one of protobuf's options messages.
fn redefined(name: &str, field: FieldDescriptorProto) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some("evil.proto".to_owned()),
        package: Some("google.protobuf".to_owned()),
        ..file(vec![message(name, vec![field])])
    }
}

#[test]
fn options_that_are_defined_anew_are_refused() {
    let packed = |name: &str, number| FieldDescriptorProto {
        label: Some(Label::Repeated as i32),
        options: Some(FieldOptions {
            packed: Some(true),
            ..FieldOptions::default()
        }),
        ..field(name, number, Type::Bool)
    };
    let user = FileDescriptorProto {
        dependency: vec!["evil.proto".to_owned()],
        enum_type: vec![EnumDescriptorProto {
            name: Some("E".to_owned()),
            value: vec![EnumValueDescriptorProto {
                name: Some("ZERO".to_owned()),
                number: Some(0),
                options: None,
            }],
            options: Some(EnumOptions {
                allow_alias: Some(true),
                ..EnumOptions::default()
            }),
            ..EnumDescriptorProto::default()
        }],
        ..file(vec![DescriptorProto {
            options: Some(MessageOptions {
                map_entry: Some(false),
                ..MessageOptions::default()
            }),
            ..message("M", vec![packed("f", 1)])
        }])
    };
    for (name, option, number) in [
        ("FieldOptions", "packed", 2),
        ("MessageOptions", "map_entry", 7),
        ("EnumOptions", "allow_alias", 2),
    ] {
        for wrong in [
            packed(option, number),
            field(option, number, Type::String),
            field("other", number + 1, Type::Bool),
        ] {
            let evil = redefined(name, wrong);
            let nested = FileDescriptorProto {
                package: Some("google".to_owned()),
                message_type: vec![DescriptorProto {
                    nested_type: evil.message_type.clone(),
                    ..message("protobuf", Vec::new())
                }],
                ..evil.clone()
            };
            for evil in [evil, nested] {
                let reason = format!("evil.proto: google.protobuf.{name} is not protobuf's own");
                check(&[evil, user.clone()], &reason);
            }
        }
        let right = redefined(name, field(option, number, Type::Bool));
        for loaded in load("t.M", &[right, user.clone()]) {
            loaded.unwrap();
        }
    }
}

/// Options are not used here, so their content can't do harm: a message in text form, nested deeper
/// than the stack.
#[test]
fn options_are_not_interpreted() {
    let deep = "m{".repeat(200_000);
    let uninterpreted = UninterpretedOption {
        name: vec![NamePart {
            name_part: "t.extension".to_owned(),
            is_extension: true,
        }],
        aggregate_value: Some(deep),
        ..UninterpretedOption::default()
    };
    let recursive = FieldDescriptorProto {
        type_name: Some(".t.M".to_owned()),
        ..field("m", 1, Type::Message)
    };
    let file = FileDescriptorProto {
        dependency: vec!["google/protobuf/descriptor.proto".to_owned()],
        extension: vec![FieldDescriptorProto {
            extendee: Some(".google.protobuf.MessageOptions".to_owned()),
            type_name: Some(".t.M".to_owned()),
            ..field("extension", 50_000, Type::Message)
        }],
        ..file(vec![DescriptorProto {
            options: Some(MessageOptions {
                uninterpreted_option: vec![uninterpreted],
                ..MessageOptions::default()
            }),
            ..message("M", vec![recursive])
        }])
    };
    let look = "message t.M {\n  optional t.M m = 1;\n}";
    check_fine(&[file], "t.M", look);
}

/// Options for the encoding of messages apply in both forms.
#[test]
fn packed_holds_in_either_form() {
    let options = |interpreted| FieldOptions {
        packed: interpreted,
        uninterpreted_option: vec![UninterpretedOption {
            name: vec![NamePart {
                name_part: "packed".to_owned(),
                is_extension: false,
            }],
            identifier_value: Some("true".to_owned()),
            ..UninterpretedOption::default()
        }],
        ..FieldOptions::default()
    };
    for (options, bytes) in [
        (FieldOptions::default(), &[8, 1, 8, 2][..]),
        (options(None), &[10, 2, 1, 2]),
        (options(Some(true)), &[10, 2, 1, 2]),
    ] {
        let numbers = FieldDescriptorProto {
            label: Some(Label::Repeated as i32),
            options: Some(options),
            ..field("n", 1, Type::Int32)
        };
        let service = prost_reflect::prost_types::ServiceDescriptorProto {
            name: Some("S".to_owned()),
            method: vec![prost_reflect::prost_types::MethodDescriptorProto {
                name: Some("U".to_owned()),
                input_type: Some(".t.M".to_owned()),
                output_type: Some(".t.M".to_owned()),
                ..Default::default()
            }],
            ..Default::default()
        };
        let file = FileDescriptorProto {
            service: vec![service],
            ..file(vec![message("M", vec![numbers])])
        };
        for loaded in load("t.M", &[file]) {
            let method = loaded.unwrap().method("t.S/U").unwrap();
            assert_eq!(method.encode_input(r#"{"n": [1, 2]}"#).unwrap(), bytes);
        }
    }
}

/// Two files per level, each of which publicly imports both files of the next level: the number of
/// paths is two to the power of the levels.
#[test]
fn public_imports_have_a_limit() {
    let levels = 40;
    let name = |level: usize, side: &str| format!("{side}{level}.proto");
    let mut files = Vec::new();
    for level in 0..levels {
        for side in ["a", "b"] {
            let mut dependency = Vec::new();
            if level > 0 {
                dependency = vec![name(level - 1, "a"), name(level - 1, "b")];
            }
            files.push(FileDescriptorProto {
                name: Some(name(level, side)),
                public_dependency: (0..dependency.len() as i32).collect(),
                dependency,
                ..FileDescriptorProto::default()
            });
        }
    }
    let dependency = files.iter().map(|file| file.name().to_owned()).collect();
    files.push(FileDescriptorProto {
        dependency,
        ..file(vec![message("M", Vec::new())])
    });
    check(&files, "publicly");
}

#[test]
fn reserved_numbers_have_a_limit() {
    let range = |start, end| ReservedRange {
        start: Some(start),
        end: Some(end),
    };
    let fields = |count| -> Vec<_> {
        (0..count)
            .map(|n| field(&format!("f{n}"), n + 1, Type::Bool))
            .collect()
    };
    let with = |fields, reserved_range| {
        let message = DescriptorProto {
            reserved_range,
            ..message("M", fields)
        };
        [file(vec![message])]
    };
    let same = vec![range(1, 100_000); 10_000];
    check(&with(fields(10_000), same), "overlap");
    let many = (0..100_000).map(|n| range(1_000_000 + n, 1_000_001 + n));
    check(&with(fields(10_000), many.collect()), "reserved");
    for loaded in load(
        "t.M",
        &with(fields(100), vec![range(200, 300), range(300, 301)]),
    ) {
        loaded.unwrap();
    }
}

#[test]
fn names_have_a_limit() {
    let long = "x".repeat(1_000_000);
    let package = FileDescriptorProto {
        package: Some(long.clone()),
        ..file(vec![message("M", Vec::new())])
    };
    check(&[package], "a full name");
    let fields = (0..150_000).map(|n| field(&n.to_string(), n + 1, Type::Bool));
    let inner = message(&long[..900], fields.collect());
    check(&[file(vec![inner])], "the names have more than");
    let named = FileDescriptorProto {
        name: Some(long),
        ..file(vec![message("M", Vec::new())])
    };
    check(&[named], "name");
}

/// Two bytes per field on the wire, hundreds in memory.
#[test]
fn parts_have_a_limit() {
    let empty = FieldDescriptorProto::default();
    let many = || message("M", vec![empty.clone(); 1_100_000]);
    check(&[file(vec![many()])], "parts");
    // Source positions are unused, and not counted.
    let info = SourceCodeInfo {
        location: vec![Location::default(); 1_100_000],
    };
    let fine = FileDescriptorProto {
        source_code_info: Some(info),
        ..file(vec![message("M", Vec::new())])
    };
    check_fine(&[fine], "t.M", "message t.M {\n}");
}

#[test]
fn no_descriptors_break_anything() {
    for seed in 0..400 {
        let mut random = Random::from_state(seed);
        let length = random.bits() % 3000;
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        let taken = std::panic::catch_unwind(|| crate::wild::run(&bytes));
        assert!(taken.is_ok(), "seed {seed}");
    }
}
