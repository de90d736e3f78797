//! The arguments of a call of a native function, and its results.

use drumfire_realm::buffer_bytes;
use rquickjs::{ArrayBuffer, Ctx, Exception, Result, Value};

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a, 'js> {
    pub(crate) ctx: &'a Ctx<'js>,
    pub(crate) list: &'a [Value<'js>],
}

impl<'js> Arguments<'_, 'js> {
    pub(crate) fn value(self, at: usize) -> Value<'js> {
        let value = self.list.get(at).cloned();
        value.unwrap_or_else(|| Value::new_undefined(self.ctx.clone()))
    }

    pub(crate) fn text(self, at: usize) -> Result<String> {
        self.value(at).get()
    }

    pub(crate) fn number(self, at: usize) -> f64 {
        self.value(at).as_number().unwrap_or(f64::NAN)
    }

    pub(crate) fn flag(self, at: usize) -> bool {
        self.value(at).as_bool().unwrap_or(false)
    }

    pub(crate) fn bytes(self, at: usize) -> Result<Vec<u8>> {
        buffer_bytes(&self.value(at)).ok_or_else(|| self.mistake("an ArrayBuffer is needed"))
    }

    /// Names and values that follow each other.
    pub(crate) fn pairs(self, at: usize) -> Result<Vec<(String, String)>> {
        pairs(&self.value(at))
    }

    pub(crate) fn mistake(self, message: &str) -> rquickjs::Error {
        Exception::throw_message(self.ctx, message)
    }

    pub(crate) fn undefined(self) -> Value<'js> {
        Value::new_undefined(self.ctx.clone())
    }

    pub(crate) fn string(self, text: &str) -> Result<Value<'js>> {
        rquickjs::String::from_str(self.ctx.clone(), text).map(rquickjs::String::into_value)
    }

    pub(crate) fn buffer(self, bytes: Vec<u8>) -> Result<Value<'js>> {
        ArrayBuffer::new(self.ctx.clone(), bytes).map(ArrayBuffer::into_value)
    }

    pub(crate) fn float(self, number: f64) -> Value<'js> {
        Value::new_number(self.ctx.clone(), number)
    }
}

/// Names and values that follow each other in an array; none of `null`.
pub(crate) fn pairs(value: &Value<'_>) -> Result<Vec<(String, String)>> {
    let Some(list) = value.as_array() else {
        return Ok(Vec::new());
    };
    let mut pairs = Vec::with_capacity(list.len() / 2);
    for at in (0..list.len()).step_by(2) {
        pairs.push((list.get(at)?, list.get(at + 1)?));
    }
    Ok(pairs)
}
