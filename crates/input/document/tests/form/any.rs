//! Arbitrary documents.

use drumfire_document::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn placed<T>(value: T) -> Placed<T> {
    Placed::new(value, Place::Nowhere)
}

fn text() -> BoxedStrategy<Text> {
    prop_oneof![
        "[a-z/:0-9(),. {}|#-]{0,16}",
        "([ -~]{0,6}\n){1,3}[ -~]{0,3}",
        "[0-9.]{1,6}",
        any::<String>(),
    ]
    .prop_map(placed)
    .boxed()
}

fn some() -> impl Strategy<Value = Option<Text>> {
    of(text())
}

fn count() -> impl Strategy<Value = Option<Count>> {
    of(any::<u64>().prop_map(placed))
}

fn switch() -> impl Strategy<Value = Option<Switch>> {
    of(any::<bool>().prop_map(placed))
}

fn texts() -> impl Strategy<Value = Vec<Text>> {
    vec(text(), 0..3)
}

fn listed() -> impl Strategy<Value = Vec<Field>> {
    vec(
        (text(), text()).prop_map(|(name, value)| Field { name, value }),
        0..4,
    )
}

fn payload() -> impl Strategy<Value = Option<Payload>> {
    of(prop_oneof![
        text().prop_map(Payload::Text),
        text().prop_map(Payload::File),
        text().prop_map(Payload::Base64),
    ])
}

fn part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        text().prop_map(PartContent::Text),
        text().prop_map(PartContent::File)
    ];
    (text(), content, some(), some()).prop_map(|(name, content, file_name, media_type)| Part {
        name,
        content,
        file_name,
        media_type,
    })
}

/// A body, which may also be a tree.
fn body_payload() -> impl Strategy<Value = Option<Payload>> {
    let leaf = prop_oneof![Just("null"), Just("true"), Just("-1.5"), Just("\"\"")]
        .prop_map(|json| Some(Payload::Json(placed(json.to_owned()))));
    let json = vec((text(), text()), 0..3).prop_map(|entries| {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.value, value.value.into()));
        let json = serde_json::Value::Object(entries.collect::<serde_json::Map<_, _>>());
        Some(Payload::Json(placed(json.to_string())))
    });
    let form = vec(
        (text(), text()).prop_map(|(name, value)| Field { name, value }),
        1..4,
    );
    prop_oneof![
        payload(),
        leaf,
        json,
        form.prop_map(|fields| Some(Payload::Form(fields))),
        vec(part(), 1..4).prop_map(|parts| Some(Payload::Multipart(parts))),
    ]
}

prop_compose! {
    fn load()(rate in some(), rate_per in some(), arrivals in some(), late in some(), users in some(), start in some(), think in some(), pace in some())
        -> Load { Load { rate, rate_per, arrivals, late, users, start, think, pace } }
}

prop_compose! {
    fn stop()(after in some(), requests in count(), iterations in count(), drain in some(), abort in texts(), max_errors in count())
        -> Stop { Stop { after, requests, iterations, drain, abort, max_errors } }
}

prop_compose! {
    fn outputs()(json in some(), csv in some(), lines in some(), json_lines in some(),
                 csv_intervals in some(), (rows, vllm_json, html, markdown) in (some(), some(), some(), some()), (junit, hlog, svg, baseline) in (some(), some(), some(), some()), metrics in some(),
                 metrics_linger in some(), remote_write in some(), influx in some(),
                 (otlp, ui, metrics_from) in (some(), some(), some()), push_headers in listed(),
                 (explain, brief, live, github) in (switch(), switch(), some(), switch()),
                 (tui, stay) in (switch(), switch()),
                 quiet in switch(), strict in switch())
        -> Outputs {
        Outputs { json, csv, html, markdown, junit, hlog, svg, baseline, lines, json_lines, csv_intervals, rows,
                  vllm_json, explain, brief, live, tui, stay, github, quiet, strict,
                  monitoring: Monitoring { metrics, metrics_linger, remote_write, influx, otlp, ui, metrics_from, push_headers } }
    }
}

prop_compose! {
    fn generator()(threads in count(), (seed, nonce) in (count(), count()), warmup in some(), spin in switch(), wait in some(), clock in some(),
                   interval in some(), i_own_this_target in switch())
        -> Generator { Generator { threads, seed, nonce, warmup, spin, wait, clock, interval, i_own_this_target } }
}

prop_compose! {
    fn reach()(target in some(), plaintext in switch(), resolve in texts(), addresses in some(),
               unresolved in some(), lookup in some(), name_server in some(), source_ip in texts(), proxy in some(),
               proxy_tunnel in switch(), proxy_agent in some(), no_proxy in texts(),
               unix_socket in some())
        -> ReachSettings {
            ReachSettings { target, plaintext, resolve, addresses, unresolved, lookup, name_server, source_ip, proxy,
                    proxy_tunnel, proxy_agent, no_proxy,
                    unix_socket }
        }
}

prop_compose! {
    fn each()(body in texts(), json in listed(), xml in listed(), css in listed())
        -> EachSettings { EachSettings { body, json, xml, css } }
}

prop_compose! {
    fn expect()(status in some(), time in some(), header in listed(), body in texts(),
                body_size in some(), body_hash in some(), json in listed(), xml in listed(),
                css in listed(), js in some(), each in each())
        -> ExpectSettings {
            ExpectSettings { status, time, header, body, body_size, body_hash, json, xml, css, js,
                             each }
        }
}

prop_compose! {
    fn http()(http in some(), compressed in some(), max_decoded in some(), redirects in some(),
              redirect_style in some(), expect_continue in switch(), expect in expect())
        -> Http {
            Http { http, compressed, max_decoded, redirects, redirect_style, expect_continue,
                   expect }
        }
}

prop_compose! {
    fn connections()(connections in some(), (connect_first, streams) in (switch(), count()), session in some(), cookies in some(), keepalive in switch(),
                     requests_per_connection in count(), connection_age in some(),
                     connection_churn in some(), connection_idle in some(), connection_opening in some(), respect_keepalive in switch(),
                     retry_reused in switch(), retry_style in some(), no_close_notify in switch(), connect_backoff in some(), ping in some(),
                     ping_timeout in some())
        -> Connections {
            Connections { connections, connect_first, streams, session, cookies, keepalive, requests_per_connection,
                          connection_age, connection_churn, connection_idle, connection_opening, respect_keepalive, retry_reused, retry_style, no_close_notify, connect_backoff, ping, ping_timeout }
        }
}

prop_compose! {
    fn timeouts()(timeout in some(), connect_timeout in some(), tls_timeout in some(),
                  head_timeout in some())
        -> TimeoutSettings { TimeoutSettings { timeout, connect_timeout, tls_timeout, head_timeout } }
}

prop_compose! {
    fn tls()(insecure in switch(), cacert in some(), cert in some(), key in some(),
             server_name in some(), full_handshakes in switch(), resumption in some())
        -> TlsSettings { TlsSettings { insecure, cacert, cert, key, server_name, full_handshakes, resumption } }
}

prop_compose! {
    fn schema()(proto in texts(), import_path in texts(), protoset in some(), target in some(),
                metadata in listed())
        -> SchemaSource {
            SchemaSource { proto, import_path, protoset, reflection: Reflection { target, metadata } }
        }
}

prop_compose! {
    fn options()(authority in some(), deadline in some(), compress in some(),
                 max_receive in some(), max_send in some(), reply_check in switch())
        -> CallOptions {
            CallOptions { authority, deadline, compress, max_receive, max_send, reply_check }
        }
}

prop_compose! {
    fn events()(read in some(), gap_timeout in some(), stream_duration in some(),
                max_events in count()) -> EventSettings {
        EventSettings { read, gap_timeout, stream_duration, max_events }
    }
}

prop_compose! {
    fn socket_settings()(subprotocols in texts(), message_compression in switch()) -> SocketSettings {
        SocketSettings { subprotocols, message_compression }
    }
}

/// A request on a WebSocket, with the keys that fit its action.
fn socket_request() -> impl Strategy<Value = Request> {
    let socket = (some(), payload(), some(), text());
    let rest = (
        some(),
        listed(),
        socket_settings(),
        expect(),
        listed(),
        some(),
    );
    (socket, rest).prop_map(|(socket, rest)| {
        let (connect, send, receive, close) = socket;
        let (name, headers, settings, expect, take, timeout) = rest;
        let lone = connect.is_none() && send.is_none() && receive.is_none();
        let opens = connect.is_some();
        let socket = Socket {
            connect,
            send,
            receive,
            close: lone.then_some(close),
        };
        let mut request = Request::new(Ask::Socket(Box::new(socket)));
        request.name = name;
        request.fields = Fields::Listed(if opens { headers } else { Vec::new() });
        request.socket = if opens {
            settings
        } else {
            SocketSettings::default()
        };
        (request.expect, request.take, request.timeout) = (expect, take, timeout);
        request
    })
}

prop_compose! {
    fn common_body()(payload in body_payload(), lines in switch(), order in some()) -> CommonBody {
        CommonBody { payload, lines, order }
    }
}

prop_compose! {
    fn settings()(reach in reach().boxed(), http in http().boxed(),
                  connections in connections().boxed(), timeouts in timeouts().boxed(),
                  tls in tls().boxed(), schema in schema().boxed(), options in options().boxed(), events in events().boxed(), socket in socket_settings().boxed(),
                  headers in listed(), metadata in listed(), traceparent in switch(), body in common_body().boxed(),
                  templates in some(), script in some(), samples in switch(), transcripts in some())
        -> Settings {
            Settings { reach, http, connections, timeouts, tls, schema, options, events, socket,
                       fields: CommonFields { headers, metadata, traceparent }, body, templates,
                       script, kept: Kept { samples, transcripts } }
        }
}

prop_compose! {
    fn stream()(count in count(), interval in some(), duration in some(), receive in count(),
                refresh in some())
        -> Stream { Stream { count, interval, duration, receive, refresh } }
}

/// Methods that are keys, and other methods.
fn method() -> impl Strategy<Value = Text> {
    prop_oneof![
        prop::sample::select(vec!["GET", "POST", "DELETE", "get", "PURGE"])
            .prop_map(|name| placed(name.to_owned())),
        text(),
    ]
}

fn http_request() -> impl Strategy<Value = Request> {
    let ask = (any::<bool>(), method(), text()).prop_map(|(is_list, method, url)| match is_list {
        true => Ask::List { method, file: url },
        false => Ask::Url { method, url },
    });
    let looks = (expect(), listed(), some(), events());
    (
        ask,
        some(),
        listed(),
        body_payload(),
        some(),
        switch(),
        some(),
        looks,
    )
        .prop_map(
            |(
                ask,
                name,
                fields,
                payload,
                templates,
                lines,
                order,
                (expect, take, timeout, events),
            )| {
                Request {
                    name,
                    expect,
                    take,
                    timeout,
                    events,
                    socket: SocketSettings::default(),
                    fields: Fields::Listed(fields),
                    data: Data {
                        payload,
                        templates,
                        lines,
                        order,
                        ..Data::default()
                    },
                    ..Request::new(ask)
                }
            },
        )
}

fn ammo() -> impl Strategy<Value = Request> {
    let bounds = (count(), count(), count());
    let switches = (switch(), switch(), switch());
    let source = (text(), texts(), some());
    (source, bounds, texts(), switches, some(), listed()).prop_map(
        |((file, lines, format), (limit, passes, auto_tag), chosen, switches, speed, fields)| {
            let (override_headers, auto_tag_all, preload) = switches;
            let ammo = Ammo {
                file: match lines.is_empty() {
                    true => file,
                    false => Text::new(Ammo::LINES.to_owned(), file.place),
                },
                lines,
                format,
                limit,
                passes,
                chosen,
                override_headers,
                auto_tag,
                auto_tag_all,
                preload,
                speed,
            };
            Request {
                fields: Fields::Listed(fields),
                ..Request::new(Ask::Ammo(Box::new(ammo)))
            }
        },
    )
}

fn call() -> impl Strategy<Value = Request> {
    let fields = prop_oneof![
        listed().prop_map(Fields::Listed),
        text().prop_map(Fields::File)
    ];
    let data = (payload(), switch(), some(), some(), some(), count()).prop_map(
        |(payload, binary, templates, order, worker_name, workers)| Data {
            payload,
            binary,
            templates,
            order,
            lines: None,
            worker_name,
            workers,
        },
    );
    (text(), some(), fields, data, stream(), options()).prop_map(
        |(method, name, fields, data, stream, options)| Request {
            ask: Ask::Call(method),
            name,
            weight: None,
            fields,
            data,
            stream,
            options,
            events: EventSettings::default(),
            socket: SocketSettings::default(),
            expect: ExpectSettings::default(),
            timeout: None,
            take: Vec::new(),
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let request = prop_oneof![
        http_request().boxed(),
        call().boxed(),
        ammo().boxed(),
        socket_request().boxed()
    ];
    let request = (request, some())
        .prop_map(|(request, on_fail)| Step::Request(Box::new(RequestStep { request, on_fail })));
    let set = listed().prop_filter("a step sets something", |fields| !fields.is_empty());
    let flat = prop_oneof![
        request.boxed(),
        text().prop_map(Step::Pause),
        set.prop_map(Step::Set)
    ];
    flat.prop_recursive(3, 12, 3, |inner| {
        let some_steps = vec(inner.clone(), 1..3);
        let branch = (text(), some_steps.clone(), vec(inner, 0..3));
        let branch = branch.prop_map(|(condition, steps, otherwise)| {
            Step::If(Branch {
                condition,
                steps,
                otherwise,
            })
        });
        let repeated = (text(), some(), some(), some_steps);
        let repeated = repeated.prop_map(|(passes, index, until, steps)| {
            Step::Repeat(Loop {
                passes,
                index,
                until,
                steps,
            })
        });
        prop_oneof![branch, repeated]
    })
}

fn scenario(name: String) -> impl Strategy<Value = Scenario> {
    (count(), vec(step().boxed(), 1..3)).prop_map(move |(weight, steps)| Scenario {
        name: placed(name.clone()),
        weight,
        steps,
    })
}

prop_compose! {
    fn trace()(file in some(), format in some(), speed in some(), from in some(), until in some(), sample in some())
        -> LlmTrace { LlmTrace { file, format, speed, from, until, sample } }
}

prop_compose! {
    fn llm()((api, path, model, key) in (some(), some(), some(), some()), (input, output, prefix, prompt) in (some(), some(), some(), some()),
             (messages, extra) in (some(), some()), (same_prompts, exact_output, stream, continuous_usage) in (switch(), switch(), switch(), switch()),
             budget_tokens in count(), (turns, turn_delay, context) in (some(), some(), some()), (tools, tool_output, tool_time) in (some(), some(), some()), trace in trace())
        -> LlmSettings {
            LlmSettings { api, path, model, key, input, output, prefix, prompt, messages: JsonText(messages),
                          same_prompts, exact_output, stream, continuous_usage, extra: JsonText(extra),
                          budget_tokens, turns, turn_delay, context, tools: JsonText(tools), tool_output, tool_time, trace }
        }
}

fn llm_request() -> impl Strategy<Value = Request> {
    (text(), some(), expect()).prop_map(|(kind, name, expect)| Request {
        name,
        expect,
        ..Request::new(Ask::Llm(kind))
    })
}

fn pool(name: String) -> BoxedStrategy<Pool> {
    let request = prop_oneof![
        http_request().boxed(),
        call().boxed(),
        llm_request().boxed(),
        socket_request().boxed()
    ];
    let requests = vec(request, 0..4);
    let scenario = vec(step().boxed(), 0..4);
    let scenarios =
        names().prop_flat_map(|names| names.into_iter().map(self::scenario).collect::<Vec<_>>());
    let steps = (scenario, scenarios.boxed(), some(), llm());
    (load(), settings().boxed(), stop(), requests, steps)
        .prop_map(
            move |(load, settings, stop, requests, (scenario, scenarios, mix, llm))| Pool {
                name: placed(name.clone()),
                load,
                settings,
                stop,
                requests,
                scenario,
                scenarios,
                llm,
                mix,
            },
        )
        .boxed()
}

fn feed(name: String) -> impl Strategy<Value = Feed> {
    let rows = prop_oneof![
        text().prop_map(FeedRows::Csv),
        text().prop_map(FeedRows::Json),
        text().prop_map(FeedRows::JsonLines),
        text().prop_map(FeedRows::Lines),
        text().prop_map(FeedRows::Inline),
        text().prop_map(FeedRows::Range),
        listed().prop_map(FeedRows::Generated),
    ];
    let csv = (texts(), some(), some(), switch());
    let generated = (count(), count());
    (rows, csv, generated, some(), some()).prop_map(
        move |(rows, (fields, delimiter, quote, header), (count, seed), order, at_end)| Feed {
            name: placed(name.clone()),
            rows,
            fields,
            delimiter,
            quote,
            header,
            count,
            seed,
            order,
            at_end,
        },
    )
}

/// A few different names.
fn names() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set(text().prop_map(|name| name.value), 0..3)
}

/// Any document that the form can represent.
pub(crate) fn any_document() -> BoxedStrategy<Document> {
    let pools = names().prop_flat_map(|names| names.into_iter().map(pool).collect::<Vec<_>>());
    let feeds = names().prop_flat_map(|names| names.into_iter().map(feed).collect::<Vec<_>>());
    (
        (some(), listed()),
        settings().boxed(),
        feeds,
        (vec(step(), 0..3), pools, vec(step(), 0..3)),
        stop(),
        texts(),
        outputs(),
        generator(),
    )
        .prop_map(
            |(
                (name, vars),
                defaults,
                feeds,
                (setup, pools, teardown),
                stop,
                thresholds,
                outputs,
                generator,
            )| {
                Document {
                    name,
                    vars,
                    defaults,
                    feeds,
                    setup,
                    pools,
                    teardown,
                    stop,
                    thresholds,
                    outputs,
                    generator,
                }
            },
        )
        .boxed()
}
