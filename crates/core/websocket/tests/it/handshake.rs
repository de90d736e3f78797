//! The opening handshake: the fields of requests, and answers of all kinds.

use drumfire_websocket::{
    Agreed, DeflateOffer, Key, Offer, OfferError, Refusal, Takeover, WindowBits, is_handshake_field,
};

fn key() -> Key {
    Key::new(*b"the sample nonce")
}

fn offer(protocols: &[&str], deflate: Option<DeflateOffer>) -> Offer {
    let protocols = protocols.iter().map(|it| (*it).to_owned()).collect();
    Offer::new(protocols, deflate).expect("valid")
}

/// The verdict about an answer with the right status and fields, and with these fields in addition.
fn answer(offer: &Offer, more: &[(&str, &str)]) -> Result<Agreed, Refusal> {
    let accept = key().accept();
    let accept = std::str::from_utf8(&accept).expect("base64");
    let usual = [
        ("upgrade", "WebSocket"),
        ("CONNECTION", "keep-alive, upgrade"),
        ("Sec-WebSocket-Accept", accept),
    ];
    let fields = usual.iter().chain(more);
    offer.check_http1(
        &key(),
        101,
        fields.map(|(name, value)| (*name, value.as_bytes())),
    )
}

#[test]
fn requests_have_the_fields_of_the_rfcs() {
    let offer = offer(&["chat", "v2.bus"], Some(DeflateOffer::default()));
    let extensions = "permessage-deflate; client_no_context_takeover; client_max_window_bits";
    let http1: Vec<_> = offer.fields_http1().collect();
    let expected = [
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Protocol", "chat, v2.bus"),
        ("Sec-WebSocket-Extensions", extensions),
    ];
    assert_eq!(http1, expected);
    let http2: Vec<_> = offer.fields_http2().collect();
    let expected = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-protocol", "chat, v2.bus"),
        ("sec-websocket-extensions", extensions),
    ];
    assert_eq!(http2, expected);
    for (name, _) in http1
        .iter()
        .chain(http2.iter().filter(|(name, _)| !name.starts_with(':')))
    {
        assert!(is_handshake_field(name.as_bytes()), "{name}");
    }
    assert!(is_handshake_field(b"Sec-Websocket-Key") && !is_handshake_field(b"Host"));
    assert_eq!(Offer::default().fields_http1().count(), 3);
}

#[test]
fn offers_of_compression_have_their_parameters() {
    let value = |deflate| {
        let offer = offer(&[], Some(deflate));
        let last = offer
            .fields_http1()
            .last()
            .map(|(_, value)| value.to_owned());
        last.expect("extensions")
    };
    let all = DeflateOffer {
        server_takeover: Takeover::No,
        client_takeover: Takeover::No,
        server_window_bits: WindowBits::new(10),
        client_window_bits: WindowBits::new(11).expect("in range"),
    };
    assert_eq!(
        value(all),
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover; \
         server_max_window_bits=10; client_max_window_bits=11"
    );
    let browser = DeflateOffer {
        client_takeover: Takeover::Yes,
        ..DeflateOffer::default()
    };
    assert_eq!(value(browser), "permessage-deflate; client_max_window_bits");
    assert_eq!((WindowBits::new(7), WindowBits::new(16)), (None, None));
}

#[test]
fn subprotocols_are_distinct_tokens() {
    for (protocols, error) in [
        (&["a b"][..], OfferError::Protocol("a b".to_owned())),
        (&[""], OfferError::Protocol(String::new())),
        (&["x", "a,b"], OfferError::Protocol("a,b".to_owned())),
        (&["x", "y", "x"], OfferError::ProtocolTwice("x".to_owned())),
    ] {
        let protocols = protocols.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(Offer::new(protocols, None), Err(error));
    }
}

#[test]
fn an_answer_must_prove_that_the_server_speaks_websocket() {
    let plain = Offer::default();
    assert_eq!(answer(&plain, &[]), Ok(Agreed::default()));
    assert_eq!(answer(&plain, &[("upgrade", "h2c")]), Err(Refusal::Upgrade));
    assert_eq!(
        answer(&plain, &[("sec-websocket-accept", "x")]),
        Err(Refusal::Accept)
    );
    let accept = key().accept();
    let fields: [(&str, &[u8]); 3] = [
        ("Upgrade", b"websocket"),
        ("Connection", b"Upgrade"),
        ("Sec-WebSocket-Accept", &accept),
    ];
    for (without, refusal) in [
        (0, Refusal::Upgrade),
        (1, Refusal::Connection),
        (2, Refusal::AcceptMissing),
    ] {
        let rest = fields.iter().enumerate().filter(|(at, _)| *at != without);
        let rest = rest.map(|(_, field)| *field);
        assert_eq!(plain.check_http1(&key(), 101, rest), Err(refusal));
    }
    let other = Key::new([0; 16]);
    assert_eq!(plain.check_http1(&other, 101, fields), Err(Refusal::Accept));
    for status in [200, 301, 401, 426, 503, 100] {
        let refused = plain.check_http1(&key(), status, fields);
        assert_eq!(refused, Err(Refusal::Status(status)));
    }
}

#[test]
fn a_subprotocol_is_one_of_the_offered() {
    let field = "sec-websocket-protocol";
    let two = offer(&["chat", "bus"], None);
    let chosen = |answer: Result<Agreed, Refusal>| answer.map(|agreed| agreed.protocol);
    assert_eq!(chosen(answer(&two, &[])), Ok(None));
    assert_eq!(chosen(answer(&two, &[(field, "bus")])), Ok(Some(1)));
    let refused = |name: &str| Err(Refusal::Protocol(name.into()));
    assert_eq!(chosen(answer(&two, &[(field, "BUS")])), refused("BUS"));
    assert_eq!(
        chosen(answer(&two, &[(field, "chat, bus")])),
        refused("chat, bus")
    );
    assert_eq!(
        chosen(answer(&Offer::default(), &[(field, "x\u{1b}[0m")])),
        refused("x\\x1b[0m")
    );
    let twice = answer(&two, &[(field, "bus"), (field, "bus")]);
    assert_eq!(chosen(twice), Err(Refusal::ProtocolTwice));
}

/// The parameters that both sides agree on, in short: takeovers and windows of server and client.
fn agree(deflate: DeflateOffer, extensions: &str) -> Result<String, String> {
    let offer = offer(&[], Some(deflate));
    let agreed = answer(&offer, &[("Sec-WebSocket-Extensions", extensions)]);
    let agreed = agreed.map_err(|refusal| format!("{} {refusal}", refusal.name()))?;
    let Some(deflate) = agreed.deflate else {
        return Ok("none".to_owned());
    };
    let takeover = |takeover| {
        if takeover == Takeover::Yes {
            "keeps"
        } else {
            "forgets"
        }
    };
    Ok(format!(
        "{} {} {} {}",
        takeover(deflate.server_takeover),
        deflate.server_window_bits.get(),
        takeover(deflate.client_takeover),
        deflate.client_window_bits.get(),
    ))
}

#[test]
fn compression_is_what_the_answer_contains_of_the_offer() {
    let default = DeflateOffer::default();
    let keeps = DeflateOffer {
        client_takeover: Takeover::Yes,
        ..default
    };
    let small = DeflateOffer {
        server_takeover: Takeover::No,
        server_window_bits: WindowBits::new(10),
        client_window_bits: WindowBits::new(11).expect("in range"),
        ..keeps
    };
    for (offer, extensions, agreed) in [
        (default, "", "none"),
        (default, "permessage-deflate", "keeps 15 forgets 15"),
        (keeps, "Permessage-Deflate", "keeps 15 keeps 15"),
        (
            keeps,
            "permessage-deflate; client_no_context_takeover",
            "keeps 15 forgets 15",
        ),
        (
            keeps,
            "permessage-deflate;server_no_context_takeover",
            "forgets 15 keeps 15",
        ),
        (
            keeps,
            "permessage-deflate; server_max_window_bits=9",
            "keeps 9 keeps 15",
        ),
        (
            keeps,
            "permessage-deflate; client_max_window_bits=\"8\"",
            "keeps 15 keeps 8",
        ),
        (
            keeps,
            "permessage-deflate; client_max_window_bits = 12",
            "keeps 15 keeps 12",
        ),
        (
            small,
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=9",
            "forgets 9 keeps 11",
        ),
        (
            small,
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=10; \
             client_max_window_bits=15",
            "forgets 10 keeps 11",
        ),
    ] {
        assert_eq!(
            agree(offer, extensions),
            Ok(agreed.to_owned()),
            "{extensions}"
        );
    }
}

#[test]
fn compression_that_contradicts_the_offer_is_refused() {
    let default = DeflateOffer::default();
    let small = DeflateOffer {
        server_takeover: Takeover::No,
        server_window_bits: WindowBits::new(10),
        ..default
    };
    let parameter = |text: &str| {
        format!("ws:extension the parameter `{text}` of permessage-deflate is invalid")
    };
    for (offer, extensions, words) in [
        (default, "permessage-deflate; x", parameter("x")),
        (default, "permessage-deflate; x=1", parameter("x=1")),
        (default, "permessage-deflate;", parameter("")),
        (
            default,
            "permessage-deflate; server_no_context_takeover=1",
            parameter("server_no_context_takeover=1"),
        ),
        (
            default,
            "permessage-deflate; client_max_window_bits",
            parameter("client_max_window_bits"),
        ),
        (
            default,
            "permessage-deflate; server_max_window_bits=7",
            parameter("server_max_window_bits=7"),
        ),
        (
            default,
            "permessage-deflate; server_max_window_bits=010",
            parameter("server_max_window_bits=010"),
        ),
        (
            default,
            "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
            parameter("server_max_window_bits=9"),
        ),
        (
            default,
            "permessage-deflate, permessage-deflate",
            "ws:extension the server uses an extension twice".to_owned(),
        ),
        (
            small,
            "permessage-deflate",
            parameter("server_no_context_takeover"),
        ),
        (
            small,
            "permessage-deflate; server_no_context_takeover",
            parameter("server_max_window_bits"),
        ),
        (
            small,
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
            parameter("server_max_window_bits"),
        ),
    ] {
        assert_eq!(agree(offer, extensions), Err(words), "{extensions}");
    }
}

#[test]
fn an_extension_that_was_not_offered_is_refused() {
    let default = DeflateOffer::default();
    let other =
        "ws:extension the server uses the extension `x-deflate-frame`, which was not offered";
    assert_eq!(agree(default, "x-deflate-frame"), Err(other.to_owned()));
    let refused = answer(
        &Offer::default(),
        &[("sec-websocket-extensions", "permessage-deflate")],
    );
    assert_eq!(
        refused,
        Err(Refusal::Extension("permessage-deflate".into()))
    );
}

#[test]
fn an_answer_over_http2_has_no_proof() {
    let offer = offer(&["chat"], Some(DeflateOffer::default()));
    let fields: [(&str, &[u8]); 2] = [
        ("sec-websocket-protocol", b"chat"),
        ("sec-websocket-extensions", b"permessage-deflate"),
    ];
    for status in [200, 204, 299] {
        let agreed = offer.check_http2(status, fields).expect("agreed");
        assert_eq!(agreed.protocol, Some(0));
        assert!(agreed.deflate.is_some());
    }
    for status in [101, 302, 404, 501] {
        assert_eq!(
            offer.check_http2(status, fields),
            Err(Refusal::Status(status))
        );
    }
    let other: [(&str, &[u8]); 1] = [("sec-websocket-protocol", b"x")];
    assert_eq!(
        offer.check_http2(200, other),
        Err(Refusal::Protocol("x".into()))
    );
}
