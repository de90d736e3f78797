//! Pools: a mapping whose keys are user-defined names.

use crate::diagnostic::Findings;
use crate::keys::KeyValue;
use crate::keys::fields::{Entry, entries, fields_schema, read_fields, show_fields};
use crate::keys::node::Node;
use crate::keys::schema::{self, Definitions};
use crate::keys::tree::Tree;
use crate::{Place, Placed, Pool};
use serde_json::Value;

impl Entry for Vec<Pool> {
    const VALUE: KeyValue = KeyValue::NamedOf("pools");

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let entries = entries(node, "`pools`", found).iter();
        entries
            .map(|(name, node)| Pool {
                name: name.clone(),
                ..read_fields(node, "a pool", found)
            })
            .collect()
    }

    fn show(&self) -> Option<Tree> {
        let pools = self.iter().map(|pool| {
            let tree = show_fields(pool).unwrap_or_else(|| Tree::Map(Vec::new()));
            (pool.name.value.clone(), tree)
        });
        (!self.is_empty()).then(|| Tree::Map(pools.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|pool| &pool.name.place)
    }

    fn schema(definitions: &mut Definitions) -> Value {
        schema::named(&fields_schema::<Pool>(definitions))
    }
}
