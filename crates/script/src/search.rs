//! Searches in texts that take one pass, whatever is looked for: those of the interpreter take the
//! product of both lengths. Places are counted in units of UTF-16, as the language counts them.

use rquickjs::{Ctx, String as JsString};

/// The first place of a part in a text, -1 where it is not there; `None` for texts with halves of
/// surrogate pairs, which are no texts here.
pub(crate) fn find(_ctx: Ctx<'_>, text: JsString<'_>, part: JsString<'_>) -> Option<f64> {
    let (text, part) = (text.to_string().ok()?, part.to_string().ok()?);
    let Some(at) = text.find(&*part) else {
        return Some(-1.0);
    };
    let units: usize = text[..at].chars().map(char::len_utf16).sum();
    Some(units as f64)
}

/// The pieces of a text between the places of a part; `None` as in [`find`].
pub(crate) fn split(_ctx: Ctx<'_>, text: JsString<'_>, part: JsString<'_>) -> Option<Vec<String>> {
    let (text, part) = (text.to_string().ok()?, part.to_string().ok()?);
    Some(text.split(&*part).map(str::to_owned).collect())
}
