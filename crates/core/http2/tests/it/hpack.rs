//! Header compression: the examples of RFC 7541 appendix C, and a comparison with two other
//! implementations on random blocks.

use drumfire_http2::hpack::{Decoder, Effect, Encoder, HpackError, write_extra};
use drumfire_http2::{Head, Indexing};
use proptest::prelude::*;

type Field = (Vec<u8>, Vec<u8>);

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Field>, HpackError> {
    let mut fields = Vec::new();
    decoder
        .decode(block, |name, value| {
            fields.push((name.to_vec(), value.to_vec()))
        })
        .map(|_| fields)
}

fn owned<'a>(fields: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Vec<Field> {
    let copy = |(name, value): (&[u8], &[u8])| (name.to_vec(), value.to_vec());
    fields.into_iter().map(copy).collect()
}

/// Bytes written as hexadecimal digits.
fn bytes(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let byte = |pair: &[u8]| {
        let text = str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(text, 16).expect("hexadecimal")
    };
    digits.chunks(2).map(byte).collect()
}

/// Decodes blocks one after the other; each is listed with its fields, as lines, and with the size
/// of the table after it.
fn check(table: usize, blocks: &[(&str, &str, usize)]) {
    let mut decoder = Decoder::new(table);
    for (digits, lines, size) in blocks {
        let fields = decode(&mut decoder, &bytes(digits)).expect("a block");
        let expected: Vec<Field> = lines
            .split('|')
            .map(|line| {
                let at = line[1..].find(':').expect("a colon") + 1;
                let (name, value) = (&line[..at], line[at + 1..].trim_start());
                (name.into(), value.into())
            })
            .collect();
        assert_eq!(fields, expected, "{digits}");
        assert_eq!(decoder.table_size(), *size, "{digits}");
    }
}

/// Appendix C.2: single fields.
#[test]
fn c2_representations() {
    let custom = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    check(4096, &[(custom, "custom-key:custom-header", 55)]);
    check(
        4096,
        &[(
            "040c 2f73 616d 706c 652f 7061 7468",
            ":path:/sample/path",
            0,
        )],
    );
    check(
        4096,
        &[(
            "1008 7061 7373 776f 7264 0673 6563 7265 74",
            "password:secret",
            0,
        )],
    );
    check(4096, &[("82", ":method:GET", 0)]);
}

const REQUESTS: [&str; 3] = [
    ":method:GET|:scheme:http|:path:/|:authority:www.example.com",
    ":method:GET|:scheme:http|:path:/|:authority:www.example.com|cache-control:no-cache",
    ":method:GET|:scheme:https|:path:/index.html|:authority:www.example.com|custom-key:custom-value",
];

/// Appendix C.3: requests on one connection.
#[test]
fn c3_requests_without_huffman() {
    check(
        4096,
        &[
            (
                "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                REQUESTS[0],
                57,
            ),
            ("8286 84be 5808 6e6f 2d63 6163 6865", REQUESTS[1], 110),
            (
                "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
                REQUESTS[2],
                164,
            ),
        ],
    );
}

/// Appendix C.4: the requests with Huffman coding.
#[test]
fn c4_requests_with_huffman() {
    check(
        4096,
        &[
            (
                "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
                REQUESTS[0],
                57,
            ),
            ("8286 84be 5886 a8eb 1064 9cbf", REQUESTS[1], 110),
            (
                "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
                REQUESTS[2],
                164,
            ),
        ],
    );
}

const RESPONSES: [&str; 3] = [
    ":status:302|cache-control:private|date:Mon, 21 Oct 2013 20:13:21 GMT|location:https://www.example.com",
    ":status:307|cache-control:private|date:Mon, 21 Oct 2013 20:13:21 GMT|location:https://www.example.com",
    ":status:200|cache-control:private|date:Mon, 21 Oct 2013 20:13:22 GMT|location:https://www.example.com|content-encoding:gzip|set-cookie:foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
];

/// Appendix C.5: responses that push entries out of a table of 256 bytes.
#[test]
fn c5_responses_without_huffman() {
    check(
        256,
        &[
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
                 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70
                 6c65 2e63 6f6d",
                RESPONSES[0],
                222,
            ),
            ("4803 3330 37c1 c0bf", RESPONSES[1], 222),
            (
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d
                 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049
                 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e
                 3d31",
                RESPONSES[2],
                215,
            ),
        ],
    );
}

/// Appendix C.6: the responses with Huffman coding.
#[test]
fn c6_responses_with_huffman() {
    check(
        256,
        &[
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
                 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                RESPONSES[0],
                222,
            ),
            ("4883 640e ffc1 c0bf", RESPONSES[1], 222),
            (
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
                 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
                 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                RESPONSES[2],
                215,
            ),
        ],
    );
}

#[test]
fn an_effect_says_whether_a_block_may_be_passed_over() {
    let mut decoder = Decoder::new(4096);
    for (digits, effect) in [
        ("88", Effect::Independent),
        ("0001 6101 62", Effect::Independent),
        ("4001 6101 62", Effect::Changed),
        ("88be", Effect::Unchanged),
        ("0f2f 0178", Effect::Unchanged),
        ("20", Effect::Changed),
        ("20", Effect::Unchanged),
        // As some servers do: a field to be stored, in a table of size 0.
        ("884001 6101 62", Effect::Unchanged),
    ] {
        let epoch = decoder.epoch();
        let seen = decoder.decode(&bytes(digits), |_, _| {}).expect("a block");
        assert_eq!(seen, effect, "{digits}");
        assert_eq!(
            decoder.epoch() != epoch,
            effect == Effect::Changed,
            "{digits}"
        );
    }
}

/// Names and values that occur in practice, and any others.
fn field() -> impl Strategy<Value = Field> {
    let name = prop_oneof![
        prop::sample::select(vec![":status", "date", "content-type", "x", "grpc-status"])
            .prop_map(|name| name.as_bytes().to_vec()),
        "[a-z-]{1,30}".prop_map(String::into_bytes),
    ];
    let value = prop_oneof![
        prop::sample::select(vec!["200", "0", "application/grpc", ""])
            .prop_map(|value| value.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..60),
    ];
    (name, value)
}

/// A piece of a header block, mostly well formed.
#[derive(Clone, Debug)]
enum Piece {
    Indexed(u8),
    Literal {
        pattern: u8,
        index: u8,
        field: Field,
        flags: u8,
    },
    Resize(u32),
    Any(Vec<u8>),
}

fn piece() -> impl Strategy<Value = Piece> {
    let pattern = prop::sample::select(vec![0x00_u8, 0x10, 0x40]);
    prop_oneof![
        5 => (1_u8..90).prop_map(Piece::Indexed),
        5 => (pattern, 0_u8..70, field(), any::<u8>()).prop_map(|(pattern, index, field, flags)| {
            Piece::Literal { pattern, index, field, flags }
        }),
        1 => (0_u32..150).prop_map(Piece::Resize),
        1 => prop::collection::vec(any::<u8>(), 0..4).prop_map(Piece::Any),
    ]
}

/// Writes a piece with the help of another implementation's encoder.
fn write(piece: &Piece, block: &mut Vec<u8>) {
    match piece {
        Piece::Indexed(index) => block.push(0x80 | index),
        Piece::Literal {
            pattern,
            index,
            field,
            flags,
        } => {
            let mask = if *pattern == 0x40 { 0x3f } else { 0x0f };
            let index = index & (mask >> 1);
            block.push(pattern | index);
            if index == 0 {
                string(&field.0, flags & 1 != 0, block);
            }
            string(&field.1, flags & 2 != 0, block);
        }
        Piece::Resize(size) => {
            let mut coded = fluke_hpack::encoder::encode_integer(*size as usize, 5);
            coded[0] |= 0x20;
            block.extend_from_slice(&coded);
        }
        Piece::Any(bytes) => block.extend_from_slice(bytes),
    }
}

fn string(text: &[u8], coded: bool, block: &mut Vec<u8>) {
    if coded {
        // A literal without indexing, whose value is used.
        let mut literal = Vec::new();
        httlib_hpack::Encoder::default()
            .encode(
                (
                    b"".to_vec(),
                    text.to_vec(),
                    httlib_hpack::Encoder::HUFFMAN_VALUE,
                ),
                &mut literal,
            )
            .expect("a literal");
        block.extend_from_slice(&literal[2..]);
    } else {
        assert!(text.len() < 127, "one byte of length");
        block.push(text.len() as u8);
        block.extend_from_slice(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Two other implementations accept the blocks that we accept, and all read them alike.
    #[test]
    fn others_read_blocks_as_we_do(blocks in prop::collection::vec(prop::collection::vec(piece(), 1..12), 1..8)) {
        let mut ours = Decoder::new(4096);
        let mut fluke = fluke_hpack::Decoder::new();
        fluke.set_max_allowed_table_size(4096);
        let mut httlib = httlib_hpack::Decoder::with_dynamic_size(4096);
        for pieces in blocks {
            let mut block = Vec::new();
            pieces.iter().for_each(|piece| write(piece, &mut block));
            let Ok(fields) = decode(&mut ours, &block) else {
                // The connection is lost; the others may tolerate more.
                break;
            };
            if fields.is_empty() {
                // Size updates alone: one of the others refuses them.
                break;
            }
            prop_assert_eq!(fluke.decode(&block).expect("fluke-hpack accepts it"), fields.clone());
            let mut theirs = Vec::new();
            httlib.decode(&mut block.clone(), &mut theirs).expect("httlib-hpack accepts it");
            let theirs: Vec<Field> = theirs.into_iter().map(|(name, value, _)| (name, value)).collect();
            prop_assert_eq!(theirs, fields);
        }
    }

    /// We read the blocks that other implementations write, with any sizes of their tables in
    /// between.
    #[test]
    fn we_read_what_others_write(
        lists in prop::collection::vec(
            (prop::option::weighted(0.3, 0_u32..=4096), prop::collection::vec((field(), any::<u8>()), 0..12)),
            1..20,
        ),
    ) {
        let (mut first, mut second) = (Decoder::new(4096), Decoder::new(4096));
        let mut fluke = fluke_hpack::Encoder::new();
        let mut httlib = httlib_hpack::Encoder::default();
        for (resize, list) in lists {
            let fields: Vec<Field> = list.iter().map(|(field, _)| field.clone()).collect();
            let mut block = Vec::new();
            if let Some(size) = resize {
                // This implementation changes its table but does not announce it.
                fluke.set_max_table_size(size as usize);
                write(&Piece::Resize(size), &mut block);
            }
            block.extend(fluke.encode(fields.iter().map(|(name, value)| (&name[..], &value[..]))));
            prop_assert_eq!(decode(&mut first, &block).expect("fluke-hpack's"), fields.clone());
            block.clear();
            if let Some(size) = resize {
                httlib.update_max_dynamic_size(size, &mut block).expect("encoded");
            }
            for ((name, value), flags) in &list {
                let flags = flags & 0x1f;
                // "Never indexed" and "to be indexed" exclude each other.
                let flags = if flags & 8 != 0 { flags & !4 } else { flags };
                httlib.encode((name.clone(), value.clone(), flags), &mut block).expect("encoded");
            }
            prop_assert_eq!(decode(&mut second, &block).expect("httlib-hpack's"), fields);
            if let Some(size) = resize {
                prop_assert!(first.table_size() <= size as usize);
                prop_assert!(second.table_size() <= size as usize);
            }
        }
    }

    /// For any requests and any sizes that the peer requests, its table matches our copy, and it
    /// reads the fields that we encoded.
    #[test]
    fn encoder_and_decoder_agree(
        heads in prop::collection::vec(prop::collection::vec((request_field(), 0_u8..3), 0..8), 1..6),
        steps in prop::collection::vec((any::<prop::sample::Index>(), prop::option::weighted(0.1, 0_u32..5000), field()), 1..60),
    ) {
        let heads: Vec<Head> = heads.iter().map(|fields| head(fields)).collect();
        let mut encoder = Encoder::new();
        let mut ours = Decoder::new(4096);
        let mut fluke = fluke_hpack::Decoder::new();
        let mut httlib = httlib_hpack::Decoder::with_dynamic_size(4096);
        for (index, resize, (name, value)) in steps {
            if let Some(size) = resize {
                encoder.resize(size);
            }
            let head = index.get(&heads);
            let mut block = Vec::new();
            encoder.start_block(&mut block);
            encoder.encode(head.prepared(), &mut block);
            write_extra(&mut block, &name, &value);
            let mut expected = owned(head.fields());
            expected.push((name, value));
            prop_assert_eq!(decode(&mut ours, &block).expect("ours"), expected.clone());
            prop_assert_eq!(owned(ours.table()), owned(encoder.table()));
            prop_assert_eq!(ours.table_size(), encoder.table_size());
            prop_assert_eq!(fluke.decode(&block).expect("fluke-hpack's"), expected.clone());
            let mut theirs = Vec::new();
            httlib.decode(&mut block, &mut theirs).expect("httlib-hpack's");
            let theirs: Vec<Field> = theirs.into_iter().map(|(name, value, _)| (name, value)).collect();
            prop_assert_eq!(theirs, expected);
        }
    }

    /// Any bytes get a result, and the table never exceeds the announced size.
    #[test]
    fn any_bytes_are_answered(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..6)) {
        let mut decoder = Decoder::new(256);
        for block in blocks {
            let result = decode(&mut decoder, &block);
            prop_assert!(decoder.table_size() <= 256);
            let size: usize = decoder.table().map(|(name, value)| name.len() + value.len() + 32).sum();
            prop_assert_eq!(size, decoder.table_size());
            if result.is_err() {
                break;
            }
        }
    }
}

/// Fields that a request may have; a few of them are large, to fill the table.
fn request_field() -> impl Strategy<Value = Field> {
    let name = prop_oneof![
        prop::sample::select(vec!["user-agent", "accept", "cookie", "x"]).prop_map(str::to_owned),
        "[a-z-]{1,30}x",
    ];
    let value = prop_oneof![4 => "[!-~]{0,60}", 1 => "[!-~]{500,1500}"];
    (name, value).prop_map(|(name, value)| (name.into_bytes(), value.into_bytes()))
}

fn head(fields: &[(Field, u8)]) -> Head {
    let indexing = |choice| match choice {
        0 => Indexing::Without,
        1 => Indexing::Never,
        _ => Indexing::Allowed,
    };
    let fields = fields
        .iter()
        .map(|((name, value), choice)| (&name[..], &value[..], indexing(*choice)));
    Head::new(fields).expect("a head")
}

/// The usual request is a few bytes once the peer's table contains its fields.
#[test]
fn the_second_request_is_short_and_stays_the_same() {
    let field = |name: &'static str, value: &'static str| {
        (name.as_bytes(), value.as_bytes(), Indexing::Allowed)
    };
    let head = Head::new([
        field(":method", "GET"),
        field(":scheme", "http"),
        field(":authority", "localhost:8080"),
        field(":path", "/some/where?x=y"),
        field("user-agent", "drumfire"),
        field("accept", "*/*"),
    ])
    .expect("a head");
    let mut encoder = Encoder::new();
    let mut lengths = Vec::new();
    let mut last = Vec::new();
    for _ in 0..4 {
        last.clear();
        encoder.encode(head.prepared(), &mut last);
        lengths.push(last.len());
    }
    assert!(lengths[0] > 30);
    assert_eq!(lengths[1..], [6, 6, 6]);
    // A table of size 0: all fields are literals, and again the same each time.
    encoder.resize(0);
    encoder.start_block(&mut last);
    last.clear();
    encoder.encode(head.prepared(), &mut last);
    let first = last.clone();
    last.clear();
    encoder.encode(head.prepared(), &mut last);
    assert_eq!(last, first);
    assert_eq!(encoder.table_size(), 0);
}
