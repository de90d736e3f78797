//! Slices and filters of JSON paths.

use crate::reply::Reply;

/// Compares the values of a path, as a JSON array.
fn check(body: &str, path: &str, expected: &str) {
    Reply::new(body).check(&format!("json#all {path}"), Ok(expected));
}

#[test]
fn slices_are_those_of_rfc_9535() {
    let check = |slice: &str, expected| check("[0,1,2,3,4,5]", &format!("$[{slice}]"), expected);
    check(":", "[0,1,2,3,4,5]");
    check("1:3", "[1,2]");
    check("4:", "[4,5]");
    check(":2", "[0,1]");
    check("-2:", "[4,5]");
    check(":-4", "[0,1]");
    check("1:5:2", "[1,3]");
    check("::-1", "[5,4,3,2,1,0]");
    check("5:1:-2", "[5,3]");
    check("-1:-4:-1", "[5,4,3]");
    check("3:1", "[]");
    check("1:3:0", "[]");
    check("10:20", "[]");
    check("-100:100", "[0,1,2,3,4,5]");
    check("100:-100:-3", "[5,2]");
    check("9007199254740991:", "[]");
    check("::9007199254740991", "[0]");
    check(" 1 : 3 : 1 ", "[1,2]");
    check("0,2:4,0", "[0,2,3,0]");
    crate::filters::check("{\"a\":1}", "$[:]", "[]");
    crate::filters::check("[]", "$[::-1]", "[]");
}

#[test]
fn comparisons() {
    let body = r#"[{"n":1,"s":"a"},{"n":2.0,"s":"b\u0063"},{"n":"2"},{"n":null},{"s":"ä"},{"n":[1,{"x":1,"y":[]}]},{"n":true}]"#;
    let check = |filter: &str, expected| check(body, &format!("$[?{filter}]['n','s']"), expected);
    check("@.n == 1", r#"[1,"a"]"#);
    check("@.n==2", r#"[2.0,"b\u0063"]"#);
    check("@.n == '2'", r#"["2"]"#);
    check("@.n >= 1.5e0", r#"[2.0,"b\u0063"]"#);
    check("@.s == 'bc'", r#"[2.0,"b\u0063"]"#);
    check("@.s < \"b\"", r#"[1,"a"]"#);
    check("@.s > 'b'", r#"[2.0,"b\u0063","ä"]"#);
    check("@.n == null", "[null]");
    check("@.n == true", "[true]");
    check("@.n == $[5].n", r#"[[1,{"x":1,"y":[]}]]"#);
    check("@.n == @.nothing", r#"["ä"]"#);
    check("!@.n", r#"["ä"]"#);
    check("@.n && @.s", r#"[1,"a",2.0,"b\u0063"]"#);
    check("@.n == 1 || @.n == null", r#"[1,"a",null]"#);
    check(
        "!(@.n == 1 || @.s) && @.n != true",
        r#"["2",null,[1,{"x":1,"y":[]}]]"#,
    );
    check("@.n[?@.x]", r#"[[1,{"x":1,"y":[]}]]"#);
    check("@..y", r#"[[1,{"x":1,"y":[]}]]"#);
    check(
        "1 == 1",
        r#"[1,"a",2.0,"b\u0063","2",null,"ä",[1,{"x":1,"y":[]}],true]"#,
    );
}

#[test]
fn members_are_compared_in_any_order() {
    let body = r#"{"a":{"x":1,"y":[1,2]},"b":{"y":[1,2.0],"x":1},"c":{"x":1},"d":{"x":1,"z":[1,2]},"e":[1]}"#;
    check(body, "$[?@ == $.a].x", "[1,1]");
    check(body, "$[?@ == $.e]", "[[1]]");
    check(body, "$[?@ <= $.e]", "[[1]]");
    check(body, "$[?@ < $.e]", "[]");
}

#[test]
fn functions() {
    let body = r#"["", "ab", "äöü", [1,2], {"a":1}, 12, ["1974-05-01"], "a\rb"]"#;
    let check = |filter: &str, expected| check(body, &format!("$[?{filter}]"), expected);
    check("length(@) == 2", r#"["ab",[1,2]]"#);
    check("length(@) == 3", r#"["äöü","a\rb"]"#);
    check("length(@) == length(12)", "[12]");
    check("count(@.*) == 1", r#"[{"a":1},["1974-05-01"]]"#);
    check("count(@.*) > 1", "[[1,2]]");
    check("value(@.*) == 1", r#"[{"a":1}]"#);
    check("value(@[*]) == 1", r#"[{"a":1}]"#);
    check("match(@, 'a')", "[]");
    check("match(@, 'a.')", r#"["ab"]"#);
    check("match(@, 'x|ab')", r#"["ab"]"#);
    check("search(@, 'a')", r#"["ab","a\rb"]"#);
    check("search(@, 'a.b')", "[]");
    check("search(@, '[.]')", "[]");
    check(r"match(@, '\\p{L}+')", r#"["ab","äöü"]"#);
    check(
        "match(@[0], '[0-9]{4}-[0-9]{2}-[0-9]{2}')",
        r#"[["1974-05-01"]]"#,
    );
    check("search(@, $[1])", r#"["ab"]"#);
    check("search(@, '(')", "[]");
    check("!search(@, 'a') && length(@) == 3", r#"["äöü"]"#);
}
