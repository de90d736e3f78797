//! Arbitrary bytes as a file of requests: each format gives the same requests in memory and
//! streamed, or the same mistake. `DRUMFIRE_FUZZ_FORMAT=uri` tests only that format.

#![no_main]

use drumfire_data::{
    AMMO_FORMATS, Ammo, AmmoData, AmmoError, AmmoField, AmmoFormat, AmmoOptions, AmmoPick, AutoTag,
    Calls, Precedence, ReadAt, Storage, Timing,
};
use drumfire_plan::{
    Header, HttpVersion, Method, Pick, RenderedFields, RequestContext, RequestData,
};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

/// The formats to test: all, or the one from the environment.
static FORMATS: LazyLock<Vec<AmmoFormat>> = LazyLock::new(|| {
    let wanted = std::env::var("DRUMFIRE_FUZZ_FORMAT").ok();
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    let named = AMMO_FORMATS.iter().filter(|(name, _)| is_wanted(name));
    let formats: Vec<_> = named.map(|(_, format)| *format).collect();
    assert!(!formats.is_empty(), "no ammo format is called {wanted:?}");
    formats
});

/// A file that claims to be too large for memory.
#[derive(Debug)]
struct Large(Vec<u8>);

impl ReadAt for Large {
    fn size(&self) -> u64 {
        u64::MAX
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        // Return short reads, as files may.
        let most = into.len().min(1000);
        self.0.read_at(offset, &mut into[..most])
    }
}

/// Messages that contain the payloads after their calls.
#[derive(Debug)]
struct Echo;

impl Calls for Echo {
    fn message(&self, call: &str, payload: &str, out: &mut Vec<u8>) -> Result<(), String> {
        out.extend_from_slice(call.as_bytes());
        out.extend_from_slice(payload.as_bytes());
        Ok(())
    }

    fn check_metadata(&self, key: &str, value: &str) -> Result<(), String> {
        let checked = Header::new(key, value.as_bytes());
        checked.map(drop).map_err(|error| error.to_string())
    }
}

/// A request as sent.
#[derive(Debug, PartialEq)]
struct SentAmmo {
    class: u32,
    target: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

fn options(choice: u8) -> AmmoOptions {
    let format = FORMATS[usize::from(choice) % FORMATS.len()];
    let is_odd = choice >= 128;
    AmmoOptions {
        format,
        version: HttpVersion::Http1,
        chosen: Vec::new(),
        fields: match is_odd {
            true => vec![
                AmmoField::fixed("x-plan".to_owned(), "1".to_owned(), Precedence::Plan),
                AmmoField::fixed("Host".to_owned(), "plan.test".to_owned(), Precedence::File),
            ],
            false => Vec::new(),
        },
        name: None,
        auto_tag: is_odd.then_some(AutoTag {
            elements: 1,
            beside: true,
        }),
        storage: Storage::BySize,
        calls: (is_odd && format == AmmoFormat::GrpcJson).then(|| Arc::new(Echo) as Arc<dyn Calls>),
        timing: match (format, is_odd) {
            (AmmoFormat::AccessLog | AmmoFormat::Har, true) => Timing::Own,
            _ => Timing::Load,
        },
    }
}

fn read(source: Arc<dyn ReadAt>, choice: u8) -> Result<Arc<Ammo>, AmmoError> {
    Ammo::read(source, options(choice)).map(Arc::new)
}

fn sent(ammo: &Arc<Ammo>, arrival: u64) -> SentAmmo {
    let class = AmmoPick(Arc::clone(ammo)).pick(arrival);
    let data = AmmoData::new(Arc::clone(ammo), class as usize);
    let request = RequestContext {
        arrival,
        ..RequestContext::default()
    };
    let mut target = String::new();
    data.target(&request, &mut target).expect("a target");
    assert!(target.starts_with('/'), "{target:?}");
    assert!(!target.bytes().any(|byte| byte <= b' ' || byte == 0x7f));
    let mut fields = RenderedFields::default();
    // Without a schema, metadata is not checked.
    if let Err(error) = data.fields(&request, &mut fields) {
        assert!(ammo.classes()[class as usize].call.is_some(), "{error}");
    }
    let mut body = Vec::new();
    data.message(&request, 0, &mut body).expect("a body");
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    SentAmmo {
        class,
        target,
        fields: fields.iter().map(pair).collect(),
        body,
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, file)) = input.split_first() else {
        return;
    };
    let small = read(Arc::new(file.to_vec()), *choice);
    let large = read(Arc::new(Large(file.to_vec())), *choice);
    match (small, large) {
        (Err(small), Err(large)) => {
            assert_eq!(small, large);
            assert!(!small.message.contains(char::is_control), "{small}");
        }
        (Ok(small), Ok(large)) => {
            assert_eq!(small.rows(), large.rows());
            assert_eq!(small.classes(), large.classes());
            assert_eq!(small.times(2.0), large.times(2.0));
            assert!(small.times(1.0).is_sorted());
            for class in small.classes() {
                assert!(Method::parse(&class.method).is_ok());
            }
            for n in (0..small.rows()).rev() {
                assert_eq!(sent(&small, n), sent(&large, n));
            }
        }
        (small, large) => panic!("{:?} {:?}", small.is_ok(), large.is_ok()),
    }
});
