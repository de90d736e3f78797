//! Schemas from files and descriptor sets: the search for files, and the errors about missing ones.

use crate::fixture::{ZOO, compile};
use drumfire_plan::CallKind;
use drumfire_schema::Schema;
use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

#[test]
fn methods_are_found_by_any_of_their_names() {
    let schema = compile(&[("zoo.proto", ZOO)], &[]).unwrap();
    for name in [
        "zoo.v1.Zoo/Show",
        "zoo.v1.Zoo.Show",
        ".zoo.v1.Zoo.Show",
        ".zoo.v1.Zoo/Show",
    ] {
        let method = schema.method(name).unwrap();
        assert_eq!((method.service(), method.name()), ("zoo.v1.Zoo", "Show"));
        assert_eq!(method.path(), "/zoo.v1.Zoo/Show");
    }
    for (name, kind) in [
        ("Show", CallKind::Unary),
        ("Watch", CallKind::ServerStream),
        ("Feed", CallKind::ClientStream),
        ("Chat", CallKind::Bidirectional),
    ] {
        assert_eq!(crate::fixture::zoo(name).kind(), kind);
    }
}

#[test]
fn wrong_names_get_the_nearest() {
    let schema = compile(&[("zoo.proto", ZOO)], &[]).unwrap();
    for (name, error) in [
        (
            "",
            "method name must be package.Service.Method or package.Service/Method: \"\"",
        ),
        (
            "Show",
            "method name must be package.Service.Method or package.Service/Method: \"Show\"",
        ),
        (
            "zoo.v1.Zo/Show",
            "cannot find service \"zoo.v1.Zo\"; did you mean `zoo.v1.Zoo`?",
        ),
        (
            "Zoo/Show",
            "cannot find service \"Zoo\"; did you mean `zoo.v1.Zoo`?",
        ),
        (
            "other/Show",
            "cannot find service \"other\"; the services are zoo.v1.Zoo",
        ),
        (
            "zoo.v1.Zoo/Shaw",
            "service \"zoo.v1.Zoo\" does not include a method named \"Shaw\"; did you mean `Show`?",
        ),
        (
            "zoo.v1.Zoo/Xyz",
            "service \"zoo.v1.Zoo\" does not include a method named \"Xyz\"; its methods are Show, Watch, Feed, Chat",
        ),
    ] {
        assert_eq!(schema.method(name).unwrap_err().to_string(), error);
    }
    let error = schema.describe("zoo.v1.Animol").unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot find symbol \"zoo.v1.Animol\"; did you mean `zoo.v1.Animal`?"
    );
}

#[test]
fn errors_name_the_file_and_the_line() {
    let head = "syntax = \"proto3\";\n";
    for (name, text, error) in [
        (
            "syntax",
            "message A {\n  string a = ;\n}\n",
            "a.proto:3:14: expected an integer",
        ),
        (
            "import",
            "import \"b.proto\";\n",
            "a.proto:2:1: import 'b.proto' not found; looked in .",
        ),
        (
            "dots",
            "import \"./b/../c.proto\";\n",
            "a.proto:2:8: an import is relative to an import path and can't contain `./` or `../`; write `import \"b/c.proto\";`",
        ),
        ("type", "message A {\n  B b = 1;\n}\n", "a.proto:3:3: "),
        (
            "number",
            "message A { string a = 1;\n string b = 1; }\n",
            "a.proto:",
        ),
        (
            "packages",
            "package a;\npackage b;\n",
            "a.proto:3:1: multiple package names",
        ),
        ("collision", "message A {}\nmessage A {}\n", "a.proto:"),
        (
            "group",
            "message A {\n  repeated group B = 1 {}\n}\n",
            "a.proto:3:3: groups are not",
        ),
    ] {
        let text = format!("{head}{text}");
        let found = compile(&[("a.proto", &text)], &[]).unwrap_err().to_string();
        assert!(found.starts_with(error), "{name}: {found}");
    }
    let found = Schema::from_proto(&["x/a.proto".to_owned()], &[], |_| {
        Err(std::io::ErrorKind::NotFound.into())
    });
    assert_eq!(
        found.unwrap_err().to_string(),
        "can't read x/a.proto: no such file"
    );
    let found = Schema::from_proto(&["a.proto".to_owned()], &[], |_| {
        Err(std::io::ErrorKind::PermissionDenied.into())
    });
    assert_eq!(
        found.unwrap_err().to_string(),
        "can't read a.proto: permission denied"
    );
    let cycle = [
        ("a.proto", "syntax = \"proto3\";\nimport \"b.proto\";"),
        ("b.proto", "syntax = \"proto3\";\nimport \"a.proto\";"),
    ];
    let found = compile(&cycle, &[]).unwrap_err().to_string();
    assert_eq!(
        found,
        "import cycle detected: a.proto -> b.proto -> a.proto"
    );
}

#[test]
fn errors_in_a_file_name_its_path() {
    let found = compile(&[("x/a.proto", "syntax = \"proto3\";\nmessage {}\n")], &[]).unwrap_err();
    assert!(found.to_string().starts_with("x/a.proto:2:9: "), "{found}");
}

#[test]
fn imports_are_looked_for_where_files_lie_and_on_the_paths() {
    let import = |name: &str| format!("syntax = \"proto3\";\nimport \"{name}\";\n");
    let empty = "syntax = \"proto3\";\npackage e;\nmessage M {}\n";
    for (root, name, lies, paths) in [
        ("a.proto", "b.proto", "b.proto", &[][..]),
        ("x/a.proto", "b.proto", "x/b.proto", &[]),
        ("./x/a.proto", "b.proto", "x/b.proto", &[]),
        ("x/a.proto", "y/b.proto", "y/b.proto", &[]),
        ("/abs/a.proto", "b.proto", "/abs/b.proto", &[]),
        ("/a.proto", "b.proto", "/b.proto", &[]),
        ("x/a.proto", "b.proto", "inc/b.proto", &["other", "./inc/"]),
        ("p/x/a.proto", "x/b.proto", "p/x/b.proto", &["p"]),
        ("/p/x/a.proto", "x/b.proto", "/p/x/b.proto", &["/p"]),
    ] {
        let text = import(name);
        let root_lies = root.strip_prefix("./").unwrap_or(root);
        let texts = std::collections::HashMap::from([
            (root_lies.to_owned(), text),
            (lies.to_owned(), empty.to_owned()),
        ]);
        let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
        let schema = Schema::from_proto(&[root.to_owned()], &paths, move |path| {
            Ok(texts
                .get(path)
                .ok_or(std::io::ErrorKind::NotFound)?
                .clone()
                .into_bytes())
        });
        let described = schema.and_then(|schema| schema.describe("e.M"));
        assert_eq!(
            described.as_deref(),
            Ok(["message e.M {".to_owned(), "}".to_owned()].as_slice()),
            "{root} {lies}"
        );
    }
}

#[test]
fn proto2_has_groups_and_required_fields() {
    let text = "syntax = \"proto2\";\npackage p;\nmessage A {\n  required int32 a = 1 [default = 5];\n  \
                optional group B = 2 { optional string c = 3; }\n}\nservice S { rpc M(A) returns (A); }\n";
    let schema = compile(&[("a.proto", text)], &[]).unwrap();
    let method = schema.method("p.S/M").unwrap();
    let bytes = method
        .encode_input("{\"a\": 1, \"b\": {\"c\": \"x\"}}")
        .unwrap();
    assert_eq!(bytes, b"\x08\x01\x13\x1a\x01x\x14");
    assert_eq!(
        method.show_output(&bytes).unwrap(),
        "{\"a\":1,\"b\":{\"c\":\"x\"}}"
    );
}

#[test]
fn symbols_are_described_as_files_would() {
    let text = "syntax = \"proto3\"; package p;
message A {
  message In { string x = 1; }
  enum E { ZERO = 0; ONE = 1; }
  string name = 1; repeated In in = 2; map<string, E> m = 3; optional int64 big = 4;
  oneof pick { bool yes = 5; bytes no = 6; }
}
service S { rpc M(stream A) returns (A); rpc N(A) returns (stream A); }";
    let schema = compile(&[("a.proto", text)], &[]).unwrap();
    assert_eq!(
        schema.describe("p.A").unwrap().join("\n"),
        "message p.A {
  message In {
    string x = 1;
  }
  enum E {
    ZERO = 0;
    ONE = 1;
  }
  string name = 1;
  repeated p.A.In in = 2;
  map<string, p.A.E> m = 3;
  optional int64 big = 4;
  oneof pick {
    bool yes = 5;
    bytes no = 6;
  }
}"
    );
    let service =
        "service p.S {\n  rpc M(stream p.A) returns (p.A);\n  rpc N(p.A) returns (stream p.A);\n}";
    assert_eq!(schema.describe(".p.S").unwrap().join("\n"), service);
    assert_eq!(
        schema.describe("p.S/M").unwrap(),
        ["rpc M(stream p.A) returns (p.A);"]
    );
    assert_eq!(
        schema.describe("p.A.E").unwrap(),
        ["enum p.A.E {", "  ZERO = 0;", "  ONE = 1;", "}"]
    );
    assert_eq!(
        schema.list(),
        [
            "p.S/M(stream p.A) returns (p.A)",
            "p.S/N(p.A) returns (stream p.A)"
        ]
    );
    assert_eq!(schema.services(), ["p.S"]);
}

/// The descriptor of the zoo, without its imports.
fn zoo_set() -> Vec<FileDescriptorProto> {
    let method = crate::fixture::zoo("Show");
    let pool = method.input().parent_pool().clone();
    let file = pool.get_file_by_name("zoo.proto").unwrap();
    vec![file.file_descriptor_proto().clone()]
}

fn from_set(file: Vec<FileDescriptorProto>) -> Result<Schema, String> {
    let bytes = FileDescriptorSet { file }.encode_to_vec();
    Schema::from_protoset(&bytes).map_err(|error| error.to_string())
}

#[test]
fn sets_may_lack_what_everybody_has() {
    let schema = from_set(zoo_set()).unwrap();
    let method = schema.method("zoo.v1.Zoo/Show").unwrap();
    assert_eq!(
        method
            .encode_input("{\"born\": \"1970-01-01T00:00:01Z\"}")
            .unwrap()
            .len(),
        5
    );
}

#[test]
fn sets_that_are_wrong_are_told() {
    let broken = Schema::from_protoset(b"\x0a\xff").unwrap_err().to_string();
    assert!(
        broken.starts_with("the bytes are not a file descriptor set"),
        "{broken}"
    );

    let file = |name: &str, imports: &[&str]| FileDescriptorProto {
        name: Some(name.to_owned()),
        dependency: imports.iter().map(|&name| name.to_owned()).collect(),
        ..FileDescriptorProto::default()
    };
    let missing = from_set(vec![file("a.proto", &["x.proto"])]).unwrap_err();
    assert_eq!(
        missing,
        "no descriptor found for \"x.proto\", which a.proto imports"
    );
    let cycle = from_set(vec![
        file("a.proto", &["b.proto"]),
        file("b.proto", &["a.proto"]),
    ]);
    assert_eq!(
        cycle.unwrap_err(),
        "b.proto imports a.proto, which leads back to b.proto"
    );
    let itself = from_set(vec![file("a.proto", &["a.proto"])]).unwrap_err();
    assert_eq!(
        itself,
        "a.proto imports a.proto, which leads back to a.proto"
    );
    let chain: Vec<FileDescriptorProto> = (0..1000)
        .map(|n| file(&n.to_string(), &[&(n + 1).to_string()]))
        .collect();
    assert_eq!(
        from_set(chain).unwrap_err(),
        "files import each other more than 500 deep"
    );

    let mut zoo = zoo_set();
    let entry = &mut zoo[0].message_type[0].nested_type[0];
    entry.field.truncate(1);
    let error = from_set(zoo).unwrap_err();
    assert_eq!(
        error,
        "zoo.proto: the map entry LabelsEntry has no key and value"
    );
}

#[test]
fn a_file_is_looked_for_below_the_import_paths() {
    let text = "syntax = \"proto3\"; package p; message M {} service S { rpc Do(M) returns (M); }";
    for (at, path) in [
        ("protos/test.proto", "test.proto"),
        ("protos/a/test.proto", "a/test.proto"),
        ("protos/a/test.proto", "./a/test.proto"),
    ] {
        let folders = ["empty".to_owned(), "protos/".to_owned()];
        let schema = Schema::from_proto(&[path.to_owned()], &folders, move |asked| {
            match asked == at {
                true => Ok(text.as_bytes().to_vec()),
                false => Err(std::io::ErrorKind::NotFound.into()),
            }
        });
        assert!(schema.unwrap().method("p.S/Do").is_ok(), "{path}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let text = "\u{feff}syntax = \"proto3\"; package p; message M {}";
    assert!(compile(&[("bom.proto", text)], &[]).is_ok());
    let error = compile(&[("wide.proto", "s\0y\0n\0t\0")], &[]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("wide.proto is UTF-16, not UTF-8"), "{error}");
}

/// A chain of files, each of which imports the next; with `all`, the first imports all of them.
fn chain(length: usize, all: bool) -> Result<Schema, String> {
    let texts: Vec<(String, String)> = (0..length)
        .map(|n| {
            let to = if all && n == 0 {
                length
            } else {
                (n + 2).min(length)
            };
            let imports: String = (n + 1..to)
                .map(|m| format!("import \"{m}.proto\";\n"))
                .collect();
            let text = format!("syntax = \"proto3\";\n{imports}message M{n} {{}}\n");
            (format!("{n}.proto"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    compile(&files, &[]).map_err(|error| error.to_string())
}

#[test]
fn files_import_each_other_to_a_bounded_depth() {
    for all in [false, true] {
        assert!(chain(500, all).is_ok());
        for length in [501, 20_000] {
            // A file that imports all 20,000 is slow to write.
            let length = if all { length.min(600) } else { length };
            let error = chain(length, all).unwrap_err();
            assert_eq!(
                error,
                "500.proto: files import each other more than 500 deep"
            );
        }
    }
    // Many sibling files are not deep.
    let imports: String = (0..2000)
        .map(|n| format!("import \"{n}.proto\";\n"))
        .collect();
    let root = format!("syntax = \"proto3\";\n{imports}");
    let names: Vec<String> = (0..2000).map(|n| format!("{n}.proto")).collect();
    let leaf = "syntax = \"proto3\";";
    let leaves = names.iter().map(|name| (name.as_str(), leaf));
    let files: Vec<(&str, &str)> = [("root.proto", root.as_str())]
        .into_iter()
        .chain(leaves)
        .collect();
    assert!(compile(&files, &[]).is_ok());
}

/// Every part of a name is stored with all parts before it.
#[test]
fn names_in_files_have_a_bounded_length() {
    let package = vec!["p"; 100_000].join(".");
    let nested = format!("message {} {{", "M".repeat(40)).repeat(28) + &"}".repeat(28);
    for text in [
        format!("syntax = \"proto3\"; package {package};"),
        format!("syntax = \"proto3\"; message {} {{}}", "M".repeat(2000)),
        format!("syntax = \"proto3\"; package p; {nested}"),
    ] {
        let files = [("long.proto", text.as_str())];
        let error = compile(&files, &[]).map(drop).unwrap_err().to_string();
        assert!(error.starts_with("long.proto: "), "{error}");
        assert!(error.contains("more than 1000 bytes"), "{error}");
    }
}

/// Since protobuf 26, the descriptor.proto that protoc installs has syntax and options that are
/// newer than the compiler.
#[test]
fn installed_files_of_protobuf_may_be_newer_than_the_compiler() {
    let own = "syntax = \"proto3\"; package p; import \"google/protobuf/descriptor.proto\";
        import \"google/protobuf/cpp_features.proto\"; message M {}
        extend google.protobuf.FieldOptions { string unit = 50000; }";
    let newer =
        "syntax = \"proto2\"; package google.protobuf; message Unknown { optional Other a = 1; }";
    let files = [
        ("own.proto", own),
        ("include/google/protobuf/descriptor.proto", newer),
        ("include/google/protobuf/cpp_features.proto", newer),
    ];
    assert_eq!(compile(&files, &["include"]).err(), None);
}

/// Compiles a file of proto2, and the same content in an edition.
#[track_caller]
fn compiles_in_both(text: &str) {
    assert_eq!(compile(&[("own.proto", text)], &[]).err(), None);
    let text = text
        .replace("syntax = \"proto2\"", "edition = \"2023\"")
        .replace("optional ", "");
    assert_eq!(compile(&[("own.proto", &text)], &[]).err(), None);
}

#[test]
fn single_numbers_of_extensions_may_have_options() {
    let text = "syntax = \"proto2\"; package p; message M { extensions 5, 536000000 [declaration = {
        number: 536000000 type: \".p.M\" full_name: \".p.x\" }]; extensions 7[verification = UNVERIFIED]; }
        extend M { optional int32 x = 5; }";
    compiles_in_both(text);
}

#[test]
fn options_may_be_negative_and_not_finite() {
    let text = "syntax = \"proto2\"; package p; import \"google/protobuf/descriptor.proto\";
        extend google.protobuf.MessageOptions { optional float low = 50000; }
        message M { option (low) = -inf; optional float x = 1 [default = -inf]; }";
    compiles_in_both(text);
}

#[test]
fn files_may_be_imported_for_their_options_alone() {
    let own =
        "edition = \"2024\"; package p; import option \"o.proto\"; message M { option (low) = 1; }";
    let options = "syntax = \"proto2\"; package p; import \"google/protobuf/descriptor.proto\";
        extend google.protobuf.MessageOptions { optional float low = 50000; }";
    assert_eq!(
        compile(&[("own.proto", own), ("o.proto", options)], &[]).err(),
        None
    );
}
