//! Go strings that are not valid UTF-8, in functions and in the output.

use crate::hostile::{Still, run};
use drumfire_gotemplate::{Functions, GoTemplate, Value};

/// Bytes 0 to 255 in base64.
const ALL: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w==";

#[test]
fn bytes_come_back_as_they_were() {
    // All bytes, `a`, ☺ and U+10FFFF, a partial character, and nothing.
    for encoded in [ALL, "YeKYuvSPv78=", "4pg=", ""] {
        let out = run(&format!("{{{{ \"{encoded}\" | b64dec | b64enc }}}}"));
        assert_eq!(out.as_deref(), Ok(encoded));
    }
}

#[test]
fn an_output_has_a_mark_for_each_byte_that_is_no_character() {
    // The parts of ☺, then a byte of no character.
    let text = r#"a{{ b64dec "4pg=" }}{{ b64dec "uv8=" }}"#;
    let template = GoTemplate::parse("t", text, &Functions::sprig()).unwrap();
    let mut out = "\u{10FF80}".to_owned();
    template
        .execute(&Value::Missing, &mut Still(1), &mut out)
        .unwrap();
    assert_eq!(out, "\u{10FF80}a☺\u{FFFD}", "what was there before stays");
    let half = run(r#"{{ b64dec "4pg=" }}"#);
    assert_eq!(half.as_deref(), Ok("\u{FFFD}\u{FFFD}"));
}
