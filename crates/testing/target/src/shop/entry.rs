//! The body of a request: values by name, from JSON or a form.

use super::ENTRY_MAX;
use super::mistake::{Kind, Mistake};
use super::request::{ContentType, ShopRequest};
use crate::request;
use serde_json::{Map, Value};

/// Values that a client entered.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) manner: Manner,
    values: Map<String, Value>,
}

/// The format of the values, which decides the format of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// A form on a page: the answer redirects to the next page.
    Form,
    /// JSON from a program: the answer is JSON.
    Json,
}

impl Entry {
    /// Reads a body. A body without a type is JSON if it begins like an object.
    pub(super) fn read(request: &ShopRequest, body: &[u8]) -> Result<Self, Mistake> {
        if body.len() > ENTRY_MAX {
            let reason = format!("a body can have at most {ENTRY_MAX} bytes");
            return Err(Mistake::new(Kind::LongBody, reason));
        }
        let manner = match request.content {
            ContentType::Form => Manner::Form,
            ContentType::Json => Manner::Json,
            ContentType::Unsaid if body.is_empty() || body.trim_ascii().starts_with(b"{") => {
                Manner::Json
            }
            ContentType::Unsaid => Manner::Form,
            ContentType::Other => {
                let reason =
                    "the body must be application/json or application/x-www-form-urlencoded";
                return Err(Mistake::new(Kind::OtherContent, reason));
            }
        };
        let values = match manner {
            _ if body.is_empty() => Map::new(),
            Manner::Form => form(body)?,
            Manner::Json => serde_json::from_slice(body).map_err(|error| {
                Mistake::new(
                    Kind::BadRequest,
                    format!("the body is not a JSON object: {error}"),
                )
            })?,
        };
        Ok(Self { manner, values })
    }

    /// A required text.
    pub(super) fn text(&self, name: &str) -> Result<String, Mistake> {
        match self.values.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(bad(format!("`{name}` is not text"))),
            None => Err(bad(format!("`{name}` is missing"))),
        }
    }

    /// A whole number, or its digits as a text.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Mistake> {
        let number = match self.values.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(bad(format!("`{name}` is not a whole number"))),
        }
    }
}

fn form(body: &[u8]) -> Result<Map<String, Value>, Mistake> {
    let text = std::str::from_utf8(body).map_err(|_| bad("the form is not UTF-8".into()))?;
    Ok(request::pairs(text.trim_ascii_end())
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect())
}

fn bad(reason: String) -> Mistake {
    Mistake::new(Kind::BadRequest, reason)
}
