//! Pages of HTML: a function for each page, which keeps it as long as a script can reach it.

use super::RunHost;
use crate::arguments::Arguments;
use drumfire_extract::{Page, PageNode, PageSelector};
use drumfire_plan::Url;
use rquickjs::{Array, Result, Value};

/// The function of a page. Its arguments are the name of what is read, the number of a node, and a selector.
pub(super) fn open<'js>(host: &RunHost, a: Arguments<'_, 'js>) -> Result<Value<'js>> {
    let page = Page::parse(&a.text(0)?).map_err(|reason| a.mistake(&reason.to_string()))?;
    let look = host.function(a.ctx, "page", move |ctx, list| {
        look(&page, Arguments { ctx, list })
    });
    look.map(rquickjs::Function::into_value)
}

fn look<'js>(page: &Page, a: Arguments<'_, 'js>) -> Result<Value<'js>> {
    let node = a.number(1) as PageNode;
    match a.text(0)?.as_str() {
        "find" => {
            let found = page.find(node, &selector(a)?);
            numbers(a, found.map_err(|reason| a.mistake(&reason.to_string()))?)
        }
        "is" => {
            let is = page.is(node, &selector(a)?);
            let is = is.map_err(|reason| a.mistake(&reason.to_string()))?;
            Ok(Value::new_bool(a.ctx.clone(), is))
        }
        "kind" => Ok(a.float(f64::from(page.kind(node)))),
        "name" => a.string(page.name(node)),
        "parent" => Ok(page
            .parent(node)
            .map_or_else(|| a.undefined(), |parent| a.float(f64::from(parent)))),
        "children" => numbers(a, page.children(node)),
        "attributes" => {
            let list = Array::new(a.ctx.clone())?;
            let flat = page.attributes(node);
            let flat = flat.iter().flat_map(|(name, value)| [*name, *value]);
            for (at, text) in flat.enumerate() {
                list.set(at, text)?;
            }
            Ok(list.into_value())
        }
        "text" => a.string(&page.text(node)),
        _ => a.string(&page.inner(node)),
    }
}

fn selector(a: Arguments<'_, '_>) -> Result<PageSelector> {
    let text = a.text(2)?;
    PageSelector::parse(&text).map_err(|error| a.mistake(&format!("`{text}`: {error}")))
}

fn numbers<'js>(a: Arguments<'_, 'js>, nodes: Vec<PageNode>) -> Result<Value<'js>> {
    let list = Array::new(a.ctx.clone())?;
    for (at, node) in nodes.into_iter().enumerate() {
        list.set(at, node)?;
    }
    Ok(list.into_value())
}

/// The URL of a link on a page.
pub(super) fn join<'js>(a: Arguments<'_, 'js>) -> Result<Value<'js>> {
    let base = Url::parse(&a.text(0)?).map_err(|error| a.mistake(&error.message))?;
    let joined = base.join(a.text(1)?.as_bytes());
    let joined = joined.map_err(|error| a.mistake(&format!("the link: {error}")))?;
    a.string(&joined.to_string())
}
