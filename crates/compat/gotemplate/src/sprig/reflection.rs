//! The types and kinds of values.

use super::arguments::text;
use super::deep;
use crate::function::Row;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("deepEqual", "aa", |call, args| {
        Ok(deep::equal(call, &args[0], &args[1])?.into())
    }),
    ("kindIs", "sa", |_, args| {
        Ok((text(args, 0) == args[1].kind_name()).into())
    }),
    ("kindOf", "a", |_, args| Ok(args[0].kind_name().into())),
    ("typeIs", "sa", |_, args| {
        Ok((text(args, 0) == args[1].type_name()).into())
    }),
    ("typeIsLike", "sa", |_, args| {
        let (target, name) = (text(args, 0), args[1].type_name());
        let is_like = target == name || name.strip_prefix('*') == Some(target);
        Ok(is_like.into())
    }),
    ("typeOf", "a", |_, args| {
        Ok(Value::from(args[0].type_name()))
    }),
];
