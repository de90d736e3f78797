//! Walks the syntax tree of a module and notes what linking changes.

use std::collections::HashSet;

use oxc::ast::ast::{
    ArrowFunctionExpression, AssignmentExpression, AssignmentTarget,
    AssignmentTargetPropertyIdentifier, AwaitExpression, BindingIdentifier, BindingPattern,
    BindingProperty, CallExpression, ClassBody, ExportAllDeclaration, ExportFromDeclaration,
    ExportNamedDeclaration, Expression, ForOfStatement, Function, IdentifierReference,
    ImportDeclaration, ImportExpression, ImportMeta, ObjectProperty, SimpleAssignmentTarget,
    UnaryExpression, UpdateExpression,
};
use oxc::ast_visit::{Visit, walk};
use oxc::semantic::{Scoping, SymbolId};
use oxc::span::{GetSpan as _, Span};
use oxc::syntax::operator::UnaryOperator;
use oxc::syntax::scope::ScopeFlags;

/// A name in the text: where it is, and how another name can stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameSpot {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) form: Form,
}

/// How a name stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The name of a declaration, or its use.
    Plain,
    /// A use that is also the name of a property, as in `{ name }`.
    Shorthand,
    /// A use that assigns.
    Write,
    /// A use that assigns a property of the same name, as in `({ name } = value)`.
    WriteShorthand,
}

/// What a walk has found. Symbols are those of the module's top level.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) declarations: Vec<(SymbolId, NameSpot)>,
    pub(crate) uses: Vec<(SymbolId, NameSpot)>,
    /// `import.meta`
    pub(crate) metas: Vec<Span>,
    /// `import(…)`
    pub(crate) imports: Vec<Span>,
    /// `require("…")` with an unresolved `require`
    pub(crate) requires: Vec<(String, Span)>,
    /// Assignments to what users share.
    pub(crate) shared: Vec<(Span, String)>,
    pub(crate) awaits: bool,
}

/// Globals that belong to one user, or to one module.
const OWN: [&str; 3] = ["module", "exports", "__ENV"];

/// Functions of `Object` and `Reflect` that change their first argument.
const CHANGING: [&str; 7] = [
    "assign",
    "defineProperties",
    "defineProperty",
    "setPrototypeOf",
    "freeze",
    "set",
    "deleteProperty",
];

pub(crate) struct Scan<'s> {
    scoping: &'s Scoping,
    found: Found,
    /// The begin of names that are also the name of a property.
    shorthands: HashSet<u32>,
    /// The number of functions around.
    depth: usize,
}

impl<'s> Scan<'s> {
    pub(crate) fn new(scoping: &'s Scoping) -> Self {
        Self {
            scoping,
            found: Found::default(),
            shorthands: HashSet::new(),
            depth: 0,
        }
    }

    pub(crate) fn found(self) -> Found {
        self.found
    }

    fn is_root(&self, symbol: SymbolId) -> bool {
        self.scoping.symbol_scope_id(symbol) == self.scoping.root_scope_id()
    }

    fn spot(&self, span: Span, writes: bool) -> NameSpot {
        let form = match (writes, self.shorthands.contains(&span.start)) {
            (false, false) => Form::Plain,
            (false, true) => Form::Shorthand,
            (true, false) => Form::Write,
            (true, true) => Form::WriteShorthand,
        };
        NameSpot {
            start: span.start as usize,
            end: span.end as usize,
            form,
        }
    }

    fn is_global(&self, name: &IdentifierReference<'_>) -> bool {
        name.reference_id
            .get()
            .is_none_or(|reference| self.scoping.get_reference(reference).symbol_id().is_none())
    }

    /// The path of an object that users share, such as `Array.prototype`.
    fn shared(&self, object: &Expression<'_>) -> Option<String> {
        match object {
            Expression::Identifier(name) => {
                let shared = self.is_global(name) && !OWN.contains(&name.name.as_str());
                shared.then(|| name.name.to_string())
            }
            Expression::StaticMemberExpression(member) => Some(format!(
                "{}.{}",
                self.shared(&member.object)?,
                member.property.name
            )),
            Expression::ComputedMemberExpression(member) => {
                Some(format!("{}[…]", self.shared(&member.object)?))
            }
            _ => None,
        }
    }

    fn note_target(&mut self, target: &SimpleAssignmentTarget<'_>) {
        let path = match target {
            SimpleAssignmentTarget::StaticMemberExpression(member) => self
                .shared(&member.object)
                .map(|object| format!("{object}.{}", member.property.name)),
            SimpleAssignmentTarget::ComputedMemberExpression(member) => self
                .shared(&member.object)
                .map(|object| format!("{object}[…]")),
            _ => None,
        };
        self.note(target.span(), path);
    }

    fn note(&mut self, span: Span, path: Option<String>) {
        if let Some(path) = path {
            self.found.shared.push((span, path));
        }
    }

    fn note_call(&mut self, call: &CallExpression<'_>) {
        let first = call
            .arguments
            .first()
            .and_then(|argument| argument.as_expression());
        match (&call.callee, first) {
            (Expression::Identifier(name), Some(Expression::StringLiteral(text)))
                if name.name == "require" && self.is_global(name) =>
            {
                self.found
                    .requires
                    .push((text.value.to_string(), text.span));
            }
            (Expression::StaticMemberExpression(member), Some(first))
                if CHANGING.contains(&member.property.name.as_str())
                    && matches!(
                        self.shared(&member.object).as_deref(),
                        Some("Object" | "Reflect")
                    ) =>
            {
                let path = self.shared(first);
                self.note(call.span, path);
            }
            _ => {}
        }
    }
}

impl<'a> Visit<'a> for Scan<'_> {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        if let Some(symbol) = it.symbol_id.get().filter(|&symbol| self.is_root(symbol)) {
            let spot = self.spot(it.span, false);
            self.found.declarations.push((symbol, spot));
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let Some(reference) = it.reference_id.get() else {
            return;
        };
        let reference = self.scoping.get_reference(reference);
        if let Some(symbol) = reference.symbol_id().filter(|&symbol| self.is_root(symbol)) {
            let spot = self.spot(it.span, reference.is_write());
            self.found.uses.push((symbol, spot));
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if it.shorthand {
            self.shorthands.insert(it.value.span().start);
            self.visit_expression(&it.value);
        } else {
            walk::walk_object_property(self, it);
        }
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        if it.shorthand {
            let name = match &it.value {
                BindingPattern::AssignmentPattern(pattern) => pattern.left.span(),
                value => value.span(),
            };
            self.shorthands.insert(name.start);
            self.visit_binding_pattern(&it.value);
        } else {
            walk::walk_binding_property(self, it);
        }
    }

    fn visit_assignment_target_property_identifier(
        &mut self,
        it: &AssignmentTargetPropertyIdentifier<'a>,
    ) {
        self.shorthands.insert(it.binding.span.start);
        walk::walk_assignment_target_property_identifier(self, it);
    }

    // These statements are removed as a whole.
    fn visit_import_declaration(&mut self, _: &ImportDeclaration<'a>) {}
    fn visit_export_named_declaration(&mut self, _: &ExportNamedDeclaration<'a>) {}
    fn visit_export_from_declaration(&mut self, _: &ExportFromDeclaration<'a>) {}
    fn visit_export_all_declaration(&mut self, _: &ExportAllDeclaration<'a>) {}

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.found.metas.push(it.span);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.found.imports.push(it.span);
        walk::walk_import_expression(self, it);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.found.awaits |= self.depth == 0;
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.found.awaits |= it.r#await && self.depth == 0;
        walk::walk_for_of_statement(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.depth += 1;
        walk::walk_function(self, it, flags);
        self.depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.depth += 1;
        walk::walk_arrow_function_expression(self, it);
        self.depth -= 1;
    }

    fn visit_class_body(&mut self, it: &ClassBody<'a>) {
        self.depth += 1;
        walk::walk_class_body(self, it);
        self.depth -= 1;
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let Some(target) = AssignmentTarget::as_simple_assignment_target(&it.left) {
            self.note_target(target);
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        self.note_target(&it.argument);
        walk::walk_update_expression(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Delete && it.argument.is_member_expression() {
            let path = self.shared(&it.argument);
            self.note(it.span, path);
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.note_call(it);
        walk::walk_call_expression(self, it);
    }
}
