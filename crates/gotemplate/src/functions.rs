//! The sets of functions that templates may use.

use crate::call::Call;
use crate::fault::Fault;
use crate::function::{Body, Function};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The functions that a template may use.
#[derive(Clone, Debug)]
pub struct Functions {
    by_name: HashMap<String, Function>,
    /// Go looks these up only when no function has the name.
    builtin: HashMap<&'static str, Function>,
}

impl Functions {
    /// Those of Go's `text/template` alone, which are always there.
    #[must_use]
    pub fn builtin() -> Self {
        let mut builtin: HashMap<&'static str, Function> = HashMap::new();
        for (name, signature, body) in crate::builtin::FUNCTIONS {
            builtin.insert(name, Function::new(signature, Body::Native(*body)));
        }
        for (name, signature, body) in [
            ("and", "vv*", Body::And),
            ("or", "vv*", Body::Or),
            ("call", "vv*", Body::CallValue),
        ] {
            builtin.insert(name, Function::new(signature, body));
        }
        Self {
            by_name: HashMap::new(),
            builtin,
        }
    }

    /// Those of Go and those of sprig.
    #[must_use]
    pub fn sprig() -> Self {
        let mut functions = Self::builtin();
        for (name, signature, body) in crate::sprig::rows() {
            let function = Function::new(signature, Body::Native(*body));
            functions.by_name.insert((*name).to_owned(), function);
        }
        functions
    }

    /// Adds a function; one of the same name is replaced. [`Signature::of`] explains the letters.
    /// The arguments have been checked when it is called.
    #[must_use]
    pub fn with(
        mut self,
        name: &str,
        signature: &str,
        body: impl Fn(&mut Call<'_>, &[Value]) -> Result<Value, Fault> + Send + Sync + 'static,
    ) -> Self {
        let function = Function::new(signature, Body::Custom(Arc::new(body)));
        self.by_name.insert(name.to_owned(), function);
        self
    }

    /// Removes a function; those of Go itself stay.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.by_name.remove(name);
        self
    }

    /// Whether there is a function of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The names of all functions, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let own = self.by_name.keys().map(String::as_str);
        let mut names: Vec<&str> = own.chain(self.builtin.keys().copied()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Function> {
        self.by_name.get(name).or_else(|| self.builtin.get(name))
    }
}

impl Default for Functions {
    fn default() -> Self {
        Self::sprig()
    }
}
