//! Functions of sprig without a built-in implementation: the environment and name resolution, which
//! the caller may provide, and all functions that create keys and certificates.

use super::arguments::text;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("buildCustomCert", "ss", no_keys),
    ("env", "s", |call, args| {
        let value = call.env.variable(text(args, 0))?;
        call.text(value)
    }),
    ("expandenv", "s", expand),
    ("genCA", "si", no_keys),
    ("genCAWithKey", "sis", no_keys),
    ("genPrivateKey", "s", no_keys),
    ("genSelfSignedCert", "saai", no_keys),
    ("genSelfSignedCertWithKey", "saais", no_keys),
    ("genSignedCert", "saaia", no_keys),
    ("genSignedCertWithKey", "saaias", no_keys),
    ("getHostByName", "s", |call, args| {
        let address = call.env.host_address(text(args, 0))?;
        call.text(address)
    }),
    ("hello", "", |call, _| call.text("Hello!".to_owned())),
];

fn no_keys(_: &mut Call<'_>, _: &[Value]) -> Result<Value, Fault> {
    Err("functions that create keys and certificates are not available here".into())
}

/// Replaces `$name` and `${name}` by the values of environment variables.
fn expand(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let mut out = String::new();
    let mut rest = text(args, 0);
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let (name, after) = match behind
            .strip_prefix('{')
            .and_then(|body| body.split_once('}'))
        {
            Some(braced) => braced,
            None => {
                let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
                let end = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
                behind.split_at(end)
            }
        };
        if name.is_empty() {
            out.push('$');
        } else {
            let value = call.env.variable(name)?;
            call.bytes(value.len())?;
            out.push_str(&value);
        }
        rest = after;
    }
    out.push_str(rest);
    call.text(out)
}
