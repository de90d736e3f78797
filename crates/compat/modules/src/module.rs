//! One module: what it imports, exports and declares, and which parts of its text linking replaces.

use std::collections::{HashMap, HashSet};

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    Class, Declaration, ExportAllDeclaration, ExportDefaultDeclaration,
    ExportDefaultDeclarationKind, ExportFromDeclaration, ExportNamedDeclaration, ExportSpecifier,
    ImportDeclaration, ImportDeclarationSpecifier, Program, Statement,
};
use oxc::ast_visit::Visit as _;
use oxc::parser::{ParseOptions, Parser};
use oxc::semantic::{Scoping, SemanticBuilder, SymbolId};
use oxc::span::{GetSpan as _, SourceType, Span};

use crate::error::LinkError;
use crate::mistake::Mistake;
use crate::places::{Place, Written};
use crate::scan::{Found, NameSpot, Scan};
use crate::typescript;

/// How a module is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// With `import` and `export`, or a plain script.
    Ecma,
    /// A function that runs when the module is required.
    Common,
}

/// Another module that this one names.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) specifier: String,
    pub(crate) offset: usize,
}

/// What is imported from a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Name(String),
    Namespace,
}

/// An imported name: from which request, what, and where.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) request: usize,
    pub(crate) wanted: Wanted,
    pub(crate) offset: usize,
}

/// A name at the top level of a module.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: String,
    pub(crate) import: Option<Import>,
    pub(crate) declared: Vec<NameSpot>,
    pub(crate) used: Vec<NameSpot>,
    pub(crate) label: Label,
}

/// Where a value gets its property `name`, if it would be wrong after renaming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// Not a function or class of this name.
    None,
    /// A function, which exists from the start.
    Function,
    /// A class, with the place after its opening brace.
    Class(usize),
}

/// An export.
#[derive(Debug)]
pub(crate) enum Export {
    Local {
        name: String,
        binding: usize,
    },
    From {
        name: String,
        request: usize,
        wanted: Wanted,
        offset: usize,
    },
    Star {
        request: usize,
    },
}

/// A replacement of a part of the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// A place where the name of the default export is written, between two texts.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) before: &'static str,
    pub(crate) after: String,
}

/// A parsed module.
pub(crate) struct Module {
    pub(crate) written: Written,
    pub(crate) kind: Kind,
    pub(crate) requests: Vec<Request>,
    pub(crate) exports: Vec<Export>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) edits: Vec<Edit>,
    pub(crate) default: Option<Named>,
    /// Names that are declared below the top level.
    pub(crate) nested: HashSet<String>,
    /// Names of globals.
    pub(crate) globals: HashSet<String>,
    pub(crate) metas: Vec<(usize, usize)>,
    pub(crate) shared: Vec<(usize, String)>,
    pub(crate) awaits: bool,
}

impl Module {
    /// Parse a module; TypeScript by the ending of its name.
    pub(crate) fn parse(name: &str, text: String) -> Result<Self, LinkError> {
        let mut written = Written {
            name: name.to_owned(),
            text,
            map: None,
        };
        if typescript::is_typescript(name) {
            let stripped = typescript::strip(name, &written.text);
            written.map = Some(stripped.map_err(|mistake| located(&written, &mistake))?);
        }
        let parsed = Parsed::new(written.code());
        let Parsed {
            kind,
            requests,
            exports,
            bindings,
            edits,
            default,
            nested,
            globals,
            found,
        } = parsed.map_err(|mistake| located(&written, &mistake))?;
        let metas = found
            .metas
            .iter()
            .map(|span| (span.start as usize, span.end as usize))
            .collect();
        let shared = found
            .shared
            .into_iter()
            .map(|(span, path)| (span.start as usize, path))
            .collect();
        let awaits = found.awaits;
        Ok(Self {
            written,
            kind,
            requests,
            exports,
            bindings,
            edits,
            default,
            nested,
            globals,
            metas,
            shared,
            awaits,
        })
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        self.written.place(offset)
    }
}

fn located(written: &Written, mistake: &Mistake) -> LinkError {
    // A mistake of TypeScript is in the source, one after that in the generated code.
    LinkError::new(Some(written.place(mistake.offset)), &mistake.message)
}

/// A module under construction, beside its text.
struct Parsed {
    kind: Kind,
    requests: Vec<Request>,
    exports: Vec<Export>,
    bindings: Vec<Binding>,
    edits: Vec<Edit>,
    default: Option<Named>,
    nested: HashSet<String>,
    globals: HashSet<String>,
    found: Found,
}

impl Parsed {
    fn new(code: &str) -> Result<Self, Mistake> {
        const COMMON: [&str; 3] = ["module", "exports", "require"];
        let allocator = Allocator::default();
        let unknown = Parser::new(&allocator, code, SourceType::unambiguous()).parse();
        let has_syntax = unknown.module_record.has_module_syntax;
        if !has_syntax && COMMON.iter().any(|word| code.contains(word)) {
            // A comment or a text can contain the words, too.
            if let Ok(script) = Self::read(code, Kind::Common)
                && COMMON.iter().any(|&name| script.globals.contains(name))
            {
                return Ok(script);
            }
        }
        Self::read(code, Kind::Ecma)
    }

    fn read(code: &str, kind: Kind) -> Result<Self, Mistake> {
        let allocator = Allocator::default();
        let source = match kind {
            Kind::Ecma => SourceType::mjs(),
            Kind::Common => SourceType::script(),
        };
        let options = ParseOptions {
            parse_regular_expression: true,
            allow_return_outside_function: kind == Kind::Common,
            ..ParseOptions::default()
        };
        let parsed = Parser::new(&allocator, code, source)
            .with_options(options)
            .parse();
        Mistake::first(&parsed.diagnostics)?;
        let program = parsed.program;
        let semantic = SemanticBuilder::new()
            .with_check_syntax_error(true)
            .build(&program);
        Mistake::first(&semantic.diagnostics)?;
        let scoping = semantic.semantic.into_scoping();
        let mut scan = Scan::new(&scoping);
        scan.visit_program(&program);
        let found = scan.found();
        if let Some(&span) = found.imports.first() {
            return Err(Mistake::new(
                span,
                "import() is not available; use an import declaration",
            ));
        }
        let mut reader = Reader::new(code, &scoping, &found);
        reader.read(&program, kind)?;
        if kind == Kind::Common {
            reader.require(&found);
        }
        let Reader {
            requests,
            exports,
            bindings,
            edits,
            default,
            ..
        } = reader;
        let root = scoping.root_scope_id();
        let nested = scoping
            .symbol_ids()
            .filter(|&symbol| scoping.symbol_scope_id(symbol) != root);
        let nested = nested
            .map(|symbol| scoping.symbol_name(symbol).to_owned())
            .collect();
        let globals = scoping
            .root_unresolved_references()
            .keys()
            .map(|name| name.to_string())
            .collect();
        Ok(Self {
            kind,
            requests,
            exports,
            bindings,
            edits,
            default,
            nested,
            globals,
            found,
        })
    }
}

/// Reads the statements of a module.
struct Reader<'c> {
    code: &'c str,
    places: HashMap<SymbolId, usize>,
    requests: Vec<Request>,
    exports: Vec<Export>,
    bindings: Vec<Binding>,
    edits: Vec<Edit>,
    default: Option<Named>,
}

impl<'c> Reader<'c> {
    fn new(code: &'c str, scoping: &Scoping, found: &Found) -> Self {
        let root = scoping.root_scope_id();
        let symbols = scoping
            .symbol_ids()
            .filter(|&symbol| scoping.symbol_scope_id(symbol) == root);
        let mut places = HashMap::new();
        let mut bindings = Vec::new();
        for symbol in symbols {
            places.insert(symbol, bindings.len());
            let name = scoping.symbol_name(symbol).to_owned();
            let label = if scoping.symbol_flags(symbol).is_function() {
                Label::Function
            } else {
                Label::None
            };
            bindings.push(Binding {
                name,
                import: None,
                declared: Vec::new(),
                used: Vec::new(),
                label,
            });
        }
        for (symbol, spot) in &found.declarations {
            bindings[places[symbol]].declared.push(*spot);
        }
        for (symbol, spot) in &found.uses {
            bindings[places[symbol]].used.push(*spot);
        }
        Self {
            code,
            places,
            requests: Vec::new(),
            exports: Vec::new(),
            bindings,
            edits: Vec::new(),
            default: None,
        }
    }

    fn read(&mut self, program: &Program<'_>, kind: Kind) -> Result<(), Mistake> {
        if let Some(hashbang) = &program.hashbang {
            self.replace(hashbang.span, "");
        }
        if kind == Kind::Common {
            return Ok(());
        }
        for statement in &program.body {
            match statement {
                Statement::ImportDeclaration(it) => self.import(it)?,
                Statement::ExportAllDeclaration(it) => self.export_all(it)?,
                Statement::ExportDefaultDeclaration(it) => self.export_default(it),
                Statement::ExportDeclaration(it) => {
                    let declaration = it.declaration.span();
                    self.replace(Span::new(it.span.start, declaration.start), ";");
                    self.export_declared(&it.declaration);
                    self.label(&it.declaration);
                }
                Statement::ExportNamedDeclaration(it) => self.export_names(it)?,
                Statement::ExportFromDeclaration(it) => self.export_from(it)?,
                Statement::ClassDeclaration(it) => self.label_class(it),
                _ => {}
            }
        }
        Ok(())
    }

    /// Replace a part of the text, and keep its lines.
    fn replace(&mut self, span: Span, text: &str) {
        let (start, end) = (span.start as usize, span.end as usize);
        let lines = self.code[start..end]
            .bytes()
            .filter(|&byte| byte == b'\n')
            .count();
        self.edits.push(Edit {
            start,
            end,
            text: text.to_owned() + &"\n".repeat(lines),
        });
    }

    fn binding(&self, symbol: Option<SymbolId>) -> Option<usize> {
        self.places.get(&symbol?).copied()
    }

    /// Takes the modules that a CommonJS module requires.
    fn require(&mut self, found: &Found) {
        let required = found.requires.iter();
        self.requests
            .extend(required.map(|(specifier, span)| Request {
                specifier: specifier.clone(),
                offset: span.start as usize,
            }));
    }

    fn request(&mut self, specifier: &str, span: Span, attributes: bool) -> Result<usize, Mistake> {
        if attributes {
            return Err(Mistake::new(span, "import attributes are not available"));
        }
        self.requests.push(Request {
            specifier: specifier.to_owned(),
            offset: span.start as usize,
        });
        Ok(self.requests.len() - 1)
    }

    fn import(&mut self, it: &ImportDeclaration<'_>) -> Result<(), Mistake> {
        let attributes = it.with_clause.is_some() || it.phase.is_some();
        let request = self.request(&it.source.value, it.source.span, attributes)?;
        for specifier in it.specifiers.iter().flatten() {
            let (wanted, local, span) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) => (
                    Wanted::Name(it.imported.name().to_string()),
                    &it.local,
                    it.span,
                ),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
                    (Wanted::Name("default".to_owned()), &it.local, it.span)
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => {
                    (Wanted::Namespace, &it.local, it.span)
                }
            };
            if let Some(binding) = self.binding(local.symbol_id.get()) {
                let import = Import {
                    request,
                    wanted,
                    offset: span.start as usize,
                };
                self.bindings[binding].import = Some(import);
            }
        }
        self.replace(it.span, ";");
        Ok(())
    }

    fn export_all(&mut self, it: &ExportAllDeclaration<'_>) -> Result<(), Mistake> {
        let request = self.request(&it.source.value, it.source.span, it.with_clause.is_some())?;
        let offset = it.span.start as usize;
        self.exports.push(match &it.exported {
            None => Export::Star { request },
            Some(name) => Export::From {
                name: name.name().to_string(),
                request,
                wanted: Wanted::Namespace,
                offset,
            },
        });
        self.replace(it.span, ";");
        Ok(())
    }

    fn export_from(&mut self, it: &ExportFromDeclaration<'_>) -> Result<(), Mistake> {
        let request = self.request(&it.source.value, it.source.span, it.with_clause.is_some())?;
        for specifier in &it.specifiers {
            self.exports.push(Export::From {
                name: specifier.exported.name().to_string(),
                request,
                wanted: Wanted::Name(specifier.local.name().to_string()),
                offset: specifier.span.start as usize,
            });
        }
        self.replace(it.span, ";");
        Ok(())
    }

    fn export_names(&mut self, it: &ExportNamedDeclaration<'_>) -> Result<(), Mistake> {
        for specifier in &it.specifiers {
            let binding = self.exported(specifier)?;
            self.exports.push(Export::Local {
                name: specifier.exported.name().to_string(),
                binding,
            });
        }
        self.replace(it.span, ";");
        Ok(())
    }

    fn exported(&self, specifier: &ExportSpecifier<'_>) -> Result<usize, Mistake> {
        let name = specifier.local.name();
        self.bindings
            .iter()
            .position(|binding| binding.name == name.as_str())
            .ok_or_else(|| {
                Mistake::new(
                    specifier.span,
                    format!("`{name}` is exported, but not declared"),
                )
            })
    }

    fn export_declared(&mut self, declaration: &Declaration<'_>) {
        let names: Vec<_> = match declaration {
            Declaration::VariableDeclaration(it) => it
                .declarations
                .iter()
                .flat_map(|declarator| declarator.id.get_binding_identifiers())
                .collect(),
            Declaration::FunctionDeclaration(it) => it.id.iter().collect(),
            Declaration::ClassDeclaration(it) => it.id.iter().collect(),
            _ => Vec::new(),
        };
        for name in names {
            if let Some(binding) = self.binding(name.symbol_id.get()) {
                self.exports.push(Export::Local {
                    name: name.name.to_string(),
                    binding,
                });
            }
        }
    }

    fn export_default(&mut self, it: &ExportDefaultDeclaration<'_>) {
        let declaration = it.declaration.span();
        let head = Span::new(it.span.start, declaration.start);
        let id = match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
            ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
            _ => None,
        };
        if let Some(binding) = id.and_then(|id| self.binding(id.symbol_id.get())) {
            self.replace(head, ";");
            self.export_as_default(binding);
            if let ExportDefaultDeclarationKind::ClassDeclaration(class) = &it.declaration {
                self.label_class(class);
            }
            return;
        }
        let (binding, name) = (self.bindings.len(), "default".to_owned());
        let (declared, used) = (Vec::new(), Vec::new());
        self.bindings.push(Binding {
            name,
            import: None,
            declared,
            used,
            label: Label::None,
        });
        self.export_as_default(binding);
        if let ExportDefaultDeclarationKind::FunctionDeclaration(function) = &it.declaration {
            // A function without a name is hoisted as others are.
            self.replace(head, ";");
            self.bindings[binding].label = Label::Function;
            let start = function.params.span.start as usize;
            self.default = Some(Named {
                start,
                end: start,
                before: " ",
                after: String::new(),
            });
            return;
        }
        // A property gives its name to a function or class without a name, as an export does.
        let (start, end) = (head.start as usize, head.end as usize);
        let lines = self.code[start..end]
            .bytes()
            .filter(|&byte| byte == b'\n')
            .count();
        let after = "=({\"default\":".to_owned() + &"\n".repeat(lines);
        self.default = Some(Named {
            start,
            end,
            before: ";const ",
            after,
        });
        let end = declaration.end as usize;
        self.edits.push(Edit {
            start: end,
            end,
            text: "}).default;".to_owned(),
        });
    }

    fn export_as_default(&mut self, binding: usize) {
        self.exports.push(Export::Local {
            name: "default".to_owned(),
            binding,
        });
    }

    fn label(&mut self, declaration: &Declaration<'_>) {
        if let Declaration::ClassDeclaration(class) = declaration {
            self.label_class(class);
        }
    }

    fn label_class(&mut self, class: &Class<'_>) {
        let named = |element: &oxc::ast::ast::ClassElement<'_>| {
            element.r#static() && element.static_name().as_deref() == Some("name")
        };
        let symbol = class.id.as_ref().and_then(|id| id.symbol_id.get());
        if let Some(binding) = self
            .binding(symbol)
            .filter(|_| !class.body.body.iter().any(named))
        {
            self.bindings[binding].label = Label::Class(class.body.span.start as usize + 1);
        }
    }
}
