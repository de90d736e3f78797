//! Text searches in one pass, for any search text; the interpreter's own searches take time
//! proportional to the product of both lengths. Positions count UTF-16 units, as in JavaScript.

use rquickjs::{Ctx, String as JsString};

/// The first position of `part` in a text, -1 if it does not occur; `None` for texts with unpaired
/// surrogates, which are not valid texts here.
pub(crate) fn find(_ctx: Ctx<'_>, text: JsString<'_>, part: JsString<'_>) -> Option<f64> {
    let (text, part) = (text.to_string().ok()?, part.to_string().ok()?);
    let Some(at) = text.find(&*part) else {
        return Some(-1.0);
    };
    let units: usize = text[..at].chars().map(char::len_utf16).sum();
    Some(units as f64)
}

/// The pieces of a text between the occurrences of `part`; `None` as in [`find`].
pub(crate) fn split(_ctx: Ctx<'_>, text: JsString<'_>, part: JsString<'_>) -> Option<Vec<String>> {
    let (text, part) = (text.to_string().ok()?, part.to_string().ok()?);
    Some(text.split(&*part).map(str::to_owned).collect())
}
