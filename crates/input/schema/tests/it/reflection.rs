//! Sessions with correct and faulty reflection servers.

use drumfire_schema::Schema;
use drumfire_schema::reflection::{ReflectionVersion, Session, Wanted};
use prost::Message;
use prost_reflect::prost_types::{DescriptorProto, FileDescriptorProto};
use std::collections::HashMap;

/// A request to a server, as the server decodes it.
#[derive(Clone, PartialEq, Message)]
struct Asked {
    #[prost(string, optional, tag = "3")]
    file: Option<String>,
    #[prost(string, optional, tag = "4")]
    symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<Refusal>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Refusal {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

fn files(files: impl IntoIterator<Item = FileDescriptorProto>) -> Answer {
    let files = files.into_iter().map(|file| file.encode_to_vec()).collect();
    Answer {
        files: Some(Files { files }),
        ..Answer::default()
    }
}

fn services(names: &[&str]) -> Answer {
    let services = names
        .iter()
        .map(|&name| Service {
            name: name.to_owned(),
        })
        .collect();
    Answer {
        services: Some(Services { services }),
        ..Answer::default()
    }
}

fn refusal(code: i32) -> Answer {
    let message = "no\u{1b}[31m such thing".to_owned();
    Answer {
        error: Some(Refusal { code, message }),
        ..Answer::default()
    }
}

/// Runs a session; also returns the number of requests.
fn converse(
    wanted: Wanted,
    mut server: impl FnMut(Asked) -> Answer,
) -> (Result<Schema, String>, usize) {
    let mut session = Session::new(wanted);
    let mut questions = 0;
    while let Some(request) = session.next_request() {
        questions += 1;
        let answer = server(Asked::decode(request.as_slice()).unwrap());
        if let Err(error) = session.handle_response(&answer.encode_to_vec()) {
            return (Err(error.to_string()), questions);
        }
    }
    (
        session.finish().map_err(|error| error.to_string()),
        questions,
    )
}

/// The zoo's file and its imports, by name.
fn zoo_files() -> HashMap<String, FileDescriptorProto> {
    let pool = crate::fixture::zoo("Show").input().parent_pool().clone();
    pool.file_descriptor_protos()
        .map(|file| (file.name().to_owned(), file.clone()))
        .collect()
}

/// A server that sends one file at a time.
fn sparing(asked: Asked) -> Answer {
    let all = zoo_files();
    match (asked.file, asked.symbol, asked.list) {
        (Some(name), ..) => all
            .get(&name)
            .map_or_else(|| refusal(5), |file| files([file.clone()])),
        (_, Some(symbol), _) if symbol.starts_with("zoo.v1.Zoo") => {
            files([all["zoo.proto"].clone()])
        }
        (_, _, Some(_)) => services(&["zoo.v1.Zoo", "grpc.health.v1.Health"]),
        _ => refusal(5),
    }
}

fn zoo_wanted() -> Wanted {
    Wanted::call("zoo.v1.Zoo/Show").unwrap()
}

#[test]
fn what_is_imported_and_not_known_is_asked_for() {
    // A server with an import that is not public.
    let mut all = zoo_files();
    let zoo = all.get_mut("zoo.proto").unwrap();
    zoo.dependency.push("own.proto".to_owned());
    let own = FileDescriptorProto {
        name: Some("own.proto".into()),
        ..Default::default()
    };
    all.insert("own.proto".to_owned(), own);
    let (schema, questions) = converse(zoo_wanted(), |asked| match (asked.file, asked.symbol) {
        (Some(name), _) => files([all[&name].clone()]),
        (_, Some(_)) => files([all["zoo.proto"].clone()]),
        _ => refusal(12),
    });
    assert_eq!(
        questions, 2,
        "the symbol's file and own.proto; the rest is everybody's"
    );
    assert_eq!(
        schema.unwrap().method("zoo.v1.Zoo/Show").unwrap().name(),
        "Show"
    );
}

#[test]
fn servers_may_send_all_at_once_and_repeat_themselves() {
    let (schema, questions) = converse(zoo_wanted(), |_| {
        files(zoo_files().into_values().chain(zoo_files().into_values()))
    });
    assert_eq!(questions, 1);
    assert_eq!(schema.unwrap().services(), ["zoo.v1.Zoo"]);
}

#[test]
fn everything_is_listed_first() {
    let mut symbols = Vec::new();
    let (schema, _) = converse(Wanted::Everything, |asked| {
        symbols.extend(asked.symbol.clone());
        if asked.list.is_some() {
            services(&["zoo.v1.Zoo"])
        } else {
            sparing(asked)
        }
    });
    assert_eq!(symbols, ["zoo.v1.Zoo"]);
    assert_eq!(schema.unwrap().services(), ["zoo.v1.Zoo"]);
}

#[test]
fn an_older_server_is_asked_again() {
    let mut session = Session::new(zoo_wanted());
    assert!(
        session
            .version()
            .path()
            .starts_with("/grpc.reflection.v1.Server")
    );
    let first = session.next_request().unwrap();
    assert_eq!(session.next_request(), None, "an answer is awaited");
    assert!(session.handle_unimplemented());
    assert_eq!(session.version(), ReflectionVersion::V1Alpha);
    assert!(
        session
            .version()
            .path()
            .starts_with("/grpc.reflection.v1alpha.Server")
    );
    assert_eq!(session.next_request(), Some(first));
    assert!(!session.handle_unimplemented(), "there is none older");
}

#[test]
fn unknown_symbols_get_the_nearest() {
    for (call, error) in [
        (
            "zoo.v1.Zo/Show",
            "Symbol not found: zoo.v1.Zo; did you mean `zoo.v1.Zoo`?",
        ),
        (
            "x.Y/Z",
            "Symbol not found: x.Y; the server has zoo.v1.Zoo, grpc.health.v1.Health",
        ),
    ] {
        let (schema, questions) =
            converse(Wanted::call(call).unwrap(), |asked| match asked.symbol {
                Some(_) => refusal(5),
                None => sparing(asked),
            });
        assert_eq!((schema.map(drop), questions), (Err(error.to_owned()), 2));
    }
}

#[test]
fn a_misspelt_symbol_gets_the_nearest_of_all_that_the_services_lead_to() {
    for (symbol, near) in [
        ("zoo.v1.Animol", "zoo.v1.Animal"),
        ("zoo.v1.Colour", "zoo.v1.Color"),
        ("Timestamp", "google.protobuf.Timestamp"),
        ("zoo.v1.Zo", "zoo.v1.Zoo"),
    ] {
        let wanted = Wanted::Symbol(symbol.to_owned());
        let (schema, questions) = converse(wanted, |asked| match asked.symbol.as_deref() {
            Some("zoo.v1.Zoo") | None => sparing(asked),
            Some(_) => refusal(5),
        });
        let error = format!("Symbol not found: {symbol}; did you mean `{near}`?");
        // The symbol, the list, and both listed services, one of which has no file.
        assert_eq!((schema.map(drop), questions), (Err(error), 4));
    }
}

#[test]
fn a_file_in_an_edition_is_taken() {
    let ask = |edition: i32| {
        let wanted = Wanted::call("e.S/Do").unwrap();
        let (schema, _) = converse(wanted, |_| Answer {
            files: Some(Files {
                files: vec![crate::editions::described(edition)],
            }),
            ..Answer::default()
        });
        schema
    };
    assert!(ask(1000).unwrap().method("e.S/Do").is_ok());
    let error = ask(9999).map(drop).unwrap_err();
    assert!(
        error.contains("e.proto: edition number 9999 is not supported; "),
        "{error}"
    );
}

#[test]
fn lies_are_told() {
    let file = |name: &str, imports: &[&str]| FileDescriptorProto {
        name: Some(name.to_owned()),
        dependency: imports.iter().map(|&name| name.to_owned()).collect(),
        ..Default::default()
    };
    let large = FileDescriptorProto {
        package: Some("x".repeat(33 << 20)),
        ..file("large.proto", &[])
    };
    let check = |name: &str, error: &str, server: &dyn Fn(Asked) -> Answer| {
        let (schema, _) = converse(zoo_wanted(), server);
        let found = schema.map(drop).unwrap_err();
        assert_eq!(found, format!("the server's reflection: {error}"), "{name}");
    };
    check("nothing", "its answer is empty", &|_| Answer::default());
    check(
        "refused",
        "it has no file for \"zoo.v1.Zoo\": no\u{1b}[31m such thing (code 7)",
        &|_| refusal(7),
    );
    check(
        "other file",
        "it sent other files instead of \"b.proto\"",
        &|asked| match asked.file {
            None => files([file("a.proto", &["b.proto"])]),
            Some(_) => files([file("c.proto", &[])]),
        },
    );
    check(
        "missing",
        "the imported file \"b.proto\" is missing: no\u{1b}[31m such thing (code 5)",
        &|asked| match asked.file {
            None => files([file("a.proto", &["b.proto"])]),
            Some(_) => refusal(5),
        },
    );
    check(
        "cycle",
        "b.proto imports a.proto, which leads back to b.proto",
        &|_| files([file("a.proto", &["b.proto"]), file("b.proto", &["a.proto"])]),
    );
    check(
        "without",
        "its files for \"zoo.v1.Zoo\" do not contain it",
        &|_| files([file("a.proto", &[])]),
    );
    check(
        "large",
        "its descriptors have more than 33554432 bytes",
        &|_| files([large.clone()]),
    );
    // An endless chain of files, each importing the next.
    check("endless", "it has more than 5000 files", &|asked| {
        let name = asked.file.unwrap_or_else(|| "0".to_owned());
        let next = (name.parse::<u64>().unwrap() + 1).to_string();
        files([file(&name, &[&next])])
    });
    check(
        "deep",
        "files import each other more than 500 deep",
        &|_| {
            files(
                (0..600)
                    .map(|n| file(&n.to_string(), &[&(n + 1).to_string()]))
                    .chain([file("600", &[])]),
            )
        },
    );
}

#[test]
fn bytes_that_are_no_answer_are_told() {
    let garbage = |bytes: &[u8]| {
        let mut session = Session::new(zoo_wanted());
        session.next_request().unwrap();
        session.handle_response(bytes).unwrap_err().to_string()
    };
    let unread = "the server's reflection: its answer can't be read";
    assert!(garbage(b"\xff").starts_with(unread));
    let file = Answer {
        files: Some(Files {
            files: vec![b"\xff".to_vec()],
        }),
        ..Answer::default()
    };
    let unread = "the server's reflection: a file descriptor can't be read";
    assert!(garbage(&file.encode_to_vec()).starts_with(unread));

    let mut session = Session::new(zoo_wanted());
    let early = session.handle_response(b"").unwrap_err().to_string();
    assert_eq!(
        early,
        "the server's reflection: it sent an unexpected answer"
    );
    let early = session.finish().unwrap_err().to_string();
    assert_eq!(
        early,
        "the server's reflection: it ended the stream before it had sent everything"
    );
}

#[test]
fn messages_nested_without_end_are_told() {
    let mut message = DescriptorProto {
        name: Some("M".into()),
        ..Default::default()
    };
    for _ in 0..120 {
        let inner = DescriptorProto {
            name: Some("M".into()),
            ..Default::default()
        };
        let outer = std::mem::replace(&mut message, inner);
        message.nested_type.push(outer);
    }
    let file = FileDescriptorProto {
        name: Some("deep.proto".into()),
        message_type: vec![message],
        ..Default::default()
    };
    let (schema, _) = converse(zoo_wanted(), |_| files([file.clone()]));
    let error = schema.map(drop).unwrap_err();
    assert!(error.contains("nested more than 100 deep"), "{error}");
}
