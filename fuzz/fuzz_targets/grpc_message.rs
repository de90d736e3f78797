//! Any bytes as a reply's message: told to be one exactly where another decoder takes them. Of
//! maps that decoder does not look at how they are written, so there what is told to be one must
//! be taken, and no more.

#![no_main]

use drumfire_plan::ReplyCheck;
use drumfire_schema::{Method, ReplyForm, Schema};
use libfuzzer_sys::fuzz_target;
use std::io::ErrorKind;
use std::sync::LazyLock;

const PROTO: &str = r#"
syntax = "proto3";
package a;
enum Color { NONE = 0; RED = 1; }
message Plain {
  int32 i32 = 1;
  sint64 s64 = 2;
  fixed32 f32 = 3;
  double dbl = 4;
  string name = 5;
  bytes raw = 6;
  Color color = 7;
  Plain child = 8;
  repeated Plain children = 9;
  repeated uint32 packed = 10;
  repeated sfixed64 wide = 11;
  repeated bool loose = 12 [packed = false];
  repeated string names = 13;
  oneof choice { string left = 14; int64 right = 15; Plain other = 16; }
  float far = 2000;
}
message Mapped {
  Plain plain = 1;
  map<string, Mapped> inner = 2;
  map<int32, string> texts = 3;
}
service S { rpc Plain(Plain) returns (Plain); rpc Mapped(Mapped) returns (Mapped); }
"#;

/// A method and what its replies must be.
static METHODS: LazyLock<[(Method, ReplyForm); 2]> = LazyLock::new(|| {
    let read = |name: &str| match name {
        "a.proto" => Ok(PROTO.as_bytes().to_vec()),
        _ => Err(ErrorKind::NotFound.into()),
    };
    let schema = Schema::from_proto(&["a.proto".to_owned()], &[], read).expect("it compiles");
    ["a.S/Plain", "a.S/Mapped"].map(|name| {
        let method = schema.method(name).expect("it is there");
        let form = ReplyForm::of(&method);
        (method, form)
    })
});

fuzz_target!(|bytes: &[u8]| {
    let [(plain, plain_form), (mapped, mapped_form)] = &*METHODS;
    let checked = plain_form.check(bytes);
    let decoded = plain.check_output(bytes);
    assert_eq!(checked.is_ok(), decoded.is_ok(), "{checked:?} {decoded:?}");
    if mapped_form.check(bytes).is_ok() {
        mapped.check_output(bytes).expect("what passes is taken");
    }
});
