//! Loops.

use super::{Executed, Flow, State};
use crate::ast::{BranchNode, Place};
use crate::format;
use crate::value::{IntKind, Value};

impl<'t> State<'t, '_> {
    pub(super) fn range(&mut self, branch: &'t BranchNode, dot: &Value) -> Executed<Flow> {
        self.at = Some(Place::Branch(branch));
        let value = self.pipe(&branch.pipe, dot)?;
        let rounds = match &value {
            Value::List(list) => {
                let items = list.items().iter().enumerate();
                self.rounds(
                    branch,
                    items.map(|(n, item)| (Value::int(n as i64), item.clone())),
                )?
            }
            Value::Map(map) => {
                let entries = map.entries().into_iter();
                self.rounds(branch, entries.map(|(key, item)| (Value::Str(key), item)))?
            }
            Value::Int(kind, count) => self.count(branch, *kind, *count)?,
            Value::Whole(count) => self.count(branch, IntKind::Int, *count)?,
            Value::Missing | Value::Nil => LoopOutcome::None,
            other => {
                let text = format::print_or_note(other);
                return Err(self.error(format!("range can't iterate over {text}")));
            }
        };
        match (rounds, &branch.otherwise) {
            (LoopOutcome::None, Some(otherwise)) => self.block(otherwise, dot),
            _ => Ok(Flow::Next),
        }
    }

    /// `range 3`
    fn count(
        &mut self,
        branch: &'t BranchNode,
        kind: IntKind,
        count: i64,
    ) -> Executed<LoopOutcome> {
        if branch.pipe.targets.len() > 1 {
            let text = format::print_or_note(&Value::Int(kind, count));
            return Err(self.error(format!(
                "can't use {text} to iterate over more than one variable"
            )));
        }
        let numbers = (0..count).map(|n| (Value::Missing, Value::Int(kind, n)));
        self.rounds(branch, numbers)
    }

    fn rounds(
        &mut self,
        branch: &'t BranchNode,
        items: impl Iterator<Item = (Value, Value)>,
    ) -> Executed<LoopOutcome> {
        let mut rounds = LoopOutcome::None;
        for (key, item) in items {
            rounds = LoopOutcome::Some;
            self.step()?;
            self.assign_round(branch, key, &item)?;
            if self.block(&branch.body, &item)? == Flow::Break {
                break;
            }
        }
        Ok(rounds)
    }

    /// Sets the loop variables.
    fn assign_round(&mut self, branch: &'t BranchNode, key: Value, item: &Value) -> Executed<()> {
        match branch.pipe.targets.as_slice() {
            [] => Ok(()),
            [only] => self.assign(only, item.clone()),
            [first, second, ..] => {
                self.assign(first, key)?;
                self.assign(second, item.clone())
            }
        }
    }
}

/// Whether a loop had any iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopOutcome {
    None,
    Some,
}
