//! Messages as servers receive them.

use super::{check_results, original};
use crate::support::peers::{Nginx, Processes};
use crate::support::{Folder, Interop, lab};

/// Rendered templates: the server returns each message as the text of its status.
#[test]
fn messages_arrive_as_ghz_sends_them() {
    if original().is_none() {
        return;
    }
    let Some(server) = Interop::new(None) else {
        return;
    };
    let message =
        |text: &str| format!("-d '{{\"responseStatus\":{{\"code\":9,\"message\":\"{text}\"}}}}'");
    let element =
        |text: &str| format!("{{\"responseStatus\":{{\"code\":9,\"message\":\"{text}\"}}}}");
    let array = format!("-d '[{},{},{}]'", element("a"), element("b"), element("c"));
    let templates = format!(
        "-d '[{},{}]'",
        element("a{{.RequestNumber}}"),
        element("b{{.RequestNumber}}")
    );
    let file = server.folder.write(
        "data.json",
        element("{{if eq .RequestNumber 2}}x{{end}}{{.RequestNumber}}"),
    );
    let snake = "-d '{\"response_status\":{\"code\":\"9\",\"message\":\"s\"}}'";
    let off = format!("--disable-template-data {}", message("{{.RequestNumber}}"));
    for data in [
        message("{{.RequestNumber}} {{.FullyQualifiedName}} {{.MethodName}} {{.ServiceName}}"),
        message("{{.InputName}} {{.OutputName}} {{.IsClientStreaming}}/{{.IsServerStreaming}}"),
        message("{{len .UUID}} {{len newUUID}} {{len (randomString 7)}} {{randomInt 4 5}}"),
        message(
            "{{add 1 .RequestNumber}} {{upper `ab`}} {{printf `%04d|%-4v|%x` .RequestNumber true 255}}",
        ),
        message("{{.WorkerID}} ☺ {{trunc 3 `abcdef`}} {{list 1 2 3 | join `-`}} {{b64enc `x`}}"),
        message(
            "{{sha256sum `x`}} {{ternary `a` `b` true}} {{`a b` | title}} {{.TimestampUnix | toString | len}}",
        ),
        message("plain"),
        array,
        templates,
        format!("-D {file}"),
        snake.to_owned(),
        off,
    ] {
        let line = format!(
            "--insecure --proto {} --call grpc.testing.TestService.UnaryCall -n 5 -c 1 {data} HOST",
            server.folder.at("test.proto")
        );
        check_results(&line, &format!("127.0.0.1:{}", server.port));
    }
}

/// The fields of the request as nginx receives them.
#[test]
fn metadata_arrives_as_ghz_sends_it() {
    let port = lab::port();
    let echo = "$http_x_a|$http_x_b|$http_x_c_bin|$http_authorization|$http_te|$http_content_type|\
                $http_host|$request_method|$uri|$http_grpc_encoding|$http_grpc_accept_encoding";
    let extra = format!(
        "listen 127.0.0.1:{port} http2;\nlocation /grpc. {{ default_type application/grpc; \
         add_header grpc-status 9 always; add_header grpc-message \"{echo}\" always; return 200; }}"
    );
    let nginx = Nginx {
        processes: Processes::One,
        identity: None,
        extra: &extra,
    };
    let (Some(_), Some(_nginx)) = (original(), nginx.start()) else {
        return;
    };
    let folder = Folder::new();
    let proto =
        "syntax = \"proto3\"; package grpc; message E {} service S { rpc M(E) returns (E); }";
    let proto = folder.write("s.proto", proto);
    let raw = folder.write(
        "m.json",
        "{\"x-a\":\"{{.RequestNumber}}\",\"X-B\":\"file\"}",
    );
    for flags in [
        "-m '{\"X-A\":\"a b\",\"x-b\":\"{{.RequestNumber}}-{{.MethodName}}\"}'",
        "-m '{\"x-c-bin\":\"AAEC\",\"authorization\":\"Bearer t\"}'",
        "--authority some.test -e",
        &format!("-M {raw}"),
        "",
    ] {
        let line = format!("--insecure --proto {proto} --call grpc.S/M -n 3 -c 1 {flags} HOST");
        check_results(&line, &format!("127.0.0.1:{port}"));
    }
}
