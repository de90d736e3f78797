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
    /// Used only if `by_name` does not contain the name, as in Go.
    builtin: HashMap<&'static str, Function>,
}

impl Functions {
    /// The built-in functions of Go's `text/template`, which are always available.
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

    /// The built-in functions and the functions of sprig.
    #[must_use]
    pub fn sprig() -> Self {
        let mut functions = Self::builtin();
        for (name, signature, body) in crate::sprig::rows() {
            let function = Function::new(signature, Body::Native(*body));
            functions.by_name.insert((*name).to_owned(), function);
        }
        functions
    }

    /// Adds a function, or replaces the function with this name. See [`Signature::parse`] for the
    /// letters. The arguments are checked before each call.
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

    /// Removes a function; built-in functions stay.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.by_name.remove(name);
        self
    }

    /// Whether a function with this name exists.
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
