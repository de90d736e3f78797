//! The built-in functions of Go's `text/template`.

mod compare;
mod escape;
mod index;

pub(crate) use escape::html_text;

use crate::call::Call;
use crate::fault::Fault;
use crate::format;
use crate::function::Row;
use crate::value::Value;

/// All built-in functions except `and`, `or` and `call`, which are evaluated differently.
pub(crate) const FUNCTIONS: &[Row] = &[
    ("eq", "vv*", compare::eq),
    ("ge", "vv", compare::ge),
    ("gt", "vv", compare::gt),
    ("html", "a*", escape::html),
    ("index", "vv*", index::index),
    ("js", "a*", escape::js),
    ("le", "vv", compare::le),
    ("len", "v", index::len),
    ("lt", "vv", compare::lt),
    ("ne", "vv", compare::ne),
    ("not", "v", not),
    ("print", "a*", print),
    ("printf", "sa*", printf),
    ("println", "a*", println),
    ("slice", "vv*", index::slice),
    ("urlquery", "a*", escape::urlquery),
];

fn not(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::Bool(!args[0].is_true()))
}

fn print(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    call.write(|sink| format::print(sink, args))
}

fn println(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    call.write(|sink| format::println(sink, args))
}

fn printf(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let form = args[0].as_str().unwrap_or_default();
    format::printf(call, form, &args[1..])
}
