//! The mistakes of clients.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// The reason why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) kind: Kind,
    pub(crate) reason: Cow<'static, str>,
    /// The allowed methods, for `Allow`.
    pub(crate) allow: Option<&'static str>,
}

impl Mistake {
    pub(crate) fn new(kind: Kind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            allow: None,
        }
    }

    /// Another method is allowed.
    pub(crate) fn method(allow: &'static str) -> Self {
        Self {
            allow: Some(allow),
            ..Self::new(Kind::WrongMethod, format!("this page allows {allow}"))
        }
    }
}

/// A kind of mistake, counted by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    BadRequest,
    NoLogin,
    WrongPassword,
    UnknownSession,
    OtherSession,
    OtherUser,
    OtherOrder,
    NoPage,
    NoProduct,
    NoOrder,
    WrongMethod,
    EmptyCart,
    WrongAmount,
    FullCart,
    LongBody,
    OtherContent,
}

/// A kind's name and its status.
struct Row {
    kind: Kind,
    name: &'static str,
    status: u16,
}

const fn row(kind: Kind, name: &'static str, status: u16) -> Row {
    Row { kind, name, status }
}

const COUNT: usize = 16;

/// All kinds, in the order of their declaration.
const ROWS: [Row; COUNT] = [
    row(Kind::BadRequest, "bad_request", 400),
    row(Kind::NoLogin, "no_login", 401),
    row(Kind::WrongPassword, "wrong_password", 401),
    row(Kind::UnknownSession, "unknown_session", 401),
    row(Kind::OtherSession, "other_session", 403),
    row(Kind::OtherUser, "other_user", 403),
    row(Kind::OtherOrder, "other_order", 403),
    row(Kind::NoPage, "no_page", 404),
    row(Kind::NoProduct, "no_product", 404),
    row(Kind::NoOrder, "no_order", 404),
    row(Kind::WrongMethod, "wrong_method", 405),
    row(Kind::EmptyCart, "empty_cart", 409),
    row(Kind::WrongAmount, "wrong_amount", 409),
    row(Kind::FullCart, "full_cart", 409),
    row(Kind::LongBody, "long_body", 413),
    row(Kind::OtherContent, "other_content", 415),
];

const _: () = {
    let mut index = 0;
    while index < COUNT {
        assert!(ROWS[index].kind as usize == index);
        index += 1;
    }
};

impl Kind {
    /// The name in counters and answers.
    pub(crate) fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    /// The status of the answer.
    pub(crate) fn status(self) -> u16 {
        ROWS[self as usize].status
    }

    /// Whether only a client that mixes values of two sessions makes this mistake.
    fn is_mixed_up(self) -> bool {
        matches!(
            self,
            Self::OtherSession | Self::OtherUser | Self::OtherOrder | Self::WrongAmount
        )
    }
}

/// The number of mistakes by kind.
#[derive(Debug, Default)]
pub(super) struct MistakeTally([AtomicU64; COUNT]);

impl MistakeTally {
    pub(super) fn add(&self, kind: Kind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn value(&self, kind: Kind) -> u64 {
        self.0[kind as usize].load(Ordering::Relaxed)
    }

    /// The number of mistakes of clients that confused their users.
    pub(super) fn mixed_up(&self) -> u64 {
        let kinds = ROWS.iter().map(|row| row.kind);
        kinds
            .filter(|kind| kind.is_mixed_up())
            .map(|kind| self.value(kind))
            .sum()
    }

    /// All kinds with their counts, as a JSON object.
    pub(super) fn to_json(&self) -> String {
        let mut text = String::from("{");
        for row in &ROWS {
            let comma = if text.len() > 1 { "," } else { "" };
            // Writing to a String can't fail.
            let _ = write!(text, "{comma}\"{}\":{}", row.name, self.value(row.kind));
        }
        text.push('}');
        text
    }
}
