//! The native template language: minijinja's, with the request's number, its user, the time,
//! random values and feeds.

use crate::expression::Simple;
use crate::jinja::{Jinja, PrintedValue, RENDERED_MAX, TextId, in_template, too_long};
use crate::names::VARIABLES;
use crate::program::Kind;
use crate::split::{Part, SplitTemplate, split};
use crate::{JsonPlace, RenderContext, Sources, TextTemplate, escape_json};
use crate::{tags, typed};
use drumfire_plan::{DataError, RequestContext, ValueForm, VariableId};
use std::fmt;
use std::sync::Arc;

/// The kind of a template's text, which determines how values are written into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// JSON: values are escaped inside its strings, and inserted unchanged elsewhere.
    Json,
    /// Any text: values are inserted unchanged.
    Plain,
}

/// A template, compiled once.
#[derive(Clone, Debug)]
pub struct Template {
    text: Text,
    /// The number of the first expression.
    first_place: u64,
    body: Body,
    language: Arc<Language>,
}

/// The environment of expressions.
#[derive(Debug)]
pub(crate) struct Language {
    sources: Arc<Sources>,
    /// The feeds that the expressions read.
    feeds: Vec<usize>,
    /// The variables of the user that the expressions read.
    variables: Vec<VariableId>,
    /// `None` if every expression is simple: a list of ten thousand URLs has a template for each.
    jinja: Option<Jinja>,
}

#[derive(Clone, Debug)]
enum Body {
    Pieces(Vec<Piece>),
    /// A text that cannot be cut into pieces.
    Whole(TextId),
}

/// A part of a template that has no blocks.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// An expression.
    Expression(Expression),
}

/// An expression and its place.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The number of the expression in the template, from 0.
    place: u64,
    /// Whether the expression is inside a string of JSON.
    in_string: bool,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Simple(Simple),
    /// The text with only this expression.
    Interpreted(TextId),
}

/// Whether a value must still be escaped inside a JSON string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escaping {
    /// The value is any text.
    Needed,
    /// The value is marked as JSON (`|safe`, `|tojson`).
    Done,
}

/// An error in a template, with its place in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError(pub String);

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Whether a text has nothing to compute.
    #[must_use]
    pub fn is_static(source: &str) -> bool {
        split(source) == SplitTemplate::Static
    }

    /// Compiles a text.
    ///
    /// # Errors
    /// A syntax error, or a variable, function, feed or column that does not exist.
    pub fn compile(
        source: &str,
        text: Text,
        sources: &Arc<Sources>,
    ) -> Result<Self, TemplateError> {
        let mut compiler = Compiler::new(sources, Kind::Template);
        tags::check(source).map_err(|error| TemplateError(in_template(source, &error)))?;
        let body = match split(source) {
            SplitTemplate::Static => Body::Pieces(vec![Piece::Text(source.to_owned())]),
            SplitTemplate::Parts(parts) => Body::Pieces(compiler.pieces(&parts)?),
            SplitTemplate::Whole => Body::Whole(compiler.compile_template(source)?),
        };
        let language = Arc::new(compiler.language());
        Ok(Self {
            text,
            first_place: 0,
            body,
            language,
        })
    }

    /// Makes the template another part of its request: its random values do not depend on those of
    /// other parts. A template is part 0.
    #[must_use]
    pub fn in_part(mut self, part: u32) -> Self {
        self.first_place = u64::from(part) << 32;
        self
    }

    /// The texts and expressions of the template, in order; `None` if the template has blocks.
    #[must_use]
    pub fn pieces(&self) -> Option<&[Piece]> {
        match &self.body {
            Body::Pieces(pieces) => Some(pieces),
            Body::Whole(_) => None,
        }
    }

    /// A template of the same language with other pieces, taken from [`Template::pieces`].
    #[must_use]
    pub fn with_pieces(&self, pieces: Vec<Piece>) -> Self {
        let language = Arc::clone(&self.language);
        Self {
            text: self.text,
            first_place: self.first_place,
            body: Body::Pieces(pieces),
            language,
        }
    }

    /// The number of requests for which the feeds have rows, by the shortest feed that ends the run;
    /// `None` if no feed ends it.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.language.count()
    }

    /// The remarks on the feeds that the template reads.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.language.notes()
    }

    /// The variables of the user that the template may read.
    #[must_use]
    pub fn variables(&self) -> &[VariableId] {
        self.language.variables()
    }

    /// Appends the template's text.
    ///
    /// # Errors
    /// If an expression fails for this call.
    pub fn render_with(
        &self,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<(), DataError> {
        let pieces = match &self.body {
            Body::Pieces(pieces) => pieces,
            Body::Whole(text) => {
                let place = (self.text == Text::Json).then(JsonPlace::default);
                context.enter(self.first_place);
                return self.language.jinja()?.whole(*text, place, context, out);
            }
        };
        let begun = out.len();
        for piece in pieces {
            // A step may set a variable to twice its own text.
            if out.len() - begun > RENDERED_MAX {
                return Err(DataError::new(too_long()));
            }
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Expression(expression) => {
                    let start = out.len();
                    let escaping = self.evaluate(expression, context, out)?;
                    let inside = self.text == Text::Json && expression.in_string;
                    if inside && escaping == Escaping::Needed {
                        escape_from(start, out);
                    }
                }
            }
        }
        Ok(())
    }

    /// Appends the template's text, and returns its type. A template that is a single expression has
    /// the type of the expression's value, and a text without expressions the type that YAML gives
    /// it. Any other template is a text.
    ///
    /// # Errors
    /// If an expression fails for this call.
    pub(crate) fn render_typed(
        &self,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<ValueForm, DataError> {
        match self.pieces() {
            Some([Piece::Expression(expression)]) => match &expression.how {
                How::Simple(simple) => {
                    self.evaluate(expression, context, out)?;
                    simple.form(context, &self.language.sources)
                }
                How::Interpreted(text) => Ok(self.interpret(expression, *text, context, out)?.form),
            },
            Some([Piece::Text(text)]) => {
                out.push_str(text);
                Ok(typed::form_of_text(text))
            }
            _ => self.render_with(context, out).map(|()| ValueForm::Text),
        }
    }

    /// Appends the value of an expression of this template, unescaped.
    ///
    /// # Errors
    /// If the expression fails for this call.
    pub fn evaluate(
        &self,
        expression: &Expression,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<Escaping, DataError> {
        match &expression.how {
            How::Simple(simple) => {
                context.enter(self.first_place + expression.place);
                simple.render(context, &self.language.sources, out)?;
                Ok(Escaping::Needed)
            }
            How::Interpreted(text) => {
                let printed = self.interpret(expression, *text, context, out)?;
                Ok(match printed.is_safe {
                    true => Escaping::Done,
                    false => Escaping::Needed,
                })
            }
        }
    }

    /// Appends the value of an expression for which the interpreter has a text.
    fn interpret(
        &self,
        expression: &Expression,
        text: TextId,
        context: &mut RenderContext,
        out: &mut String,
    ) -> Result<PrintedValue, DataError> {
        context.enter(self.first_place + expression.place);
        self.language.jinja()?.expression(text, context, out)
    }
}

impl Language {
    /// The interpreter, for expressions that are not simple.
    pub(crate) fn jinja(&self) -> Result<&Jinja, DataError> {
        let jinja = self.jinja.as_ref();
        jinja.ok_or_else(|| DataError::new("the template was not compiled"))
    }

    /// The number of requests for which the feeds have rows, as for [`Template::count`].
    pub(crate) fn count(&self) -> Option<u64> {
        self.sources.count(&self.feeds)
    }

    /// The remarks on the feeds that the expressions read.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.sources.notes(&self.feeds)
    }

    /// The variables of the user that may be read.
    pub(crate) fn variables(&self) -> &[VariableId] {
        &self.variables
    }
}

impl TextTemplate for Template {
    fn render(
        &self,
        call: &RequestContext,
        message: u64,
        out: &mut String,
    ) -> Result<(), DataError> {
        self.render_with(&mut RenderContext::new(call.clone(), message, message), out)
    }
}

impl Expression {
    /// Whether the expression is inside a string, if the text is JSON.
    #[must_use]
    pub const fn in_string(&self) -> bool {
        self.in_string
    }
}

/// Escapes the text from `start` to the end.
fn escape_from(start: usize, out: &mut String) {
    let needs = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if out[start..].bytes().any(needs) {
        let plain = out.split_off(start);
        escape_json(&plain, out);
    }
}

/// Compiles the expressions of one template, or a condition.
pub(crate) struct Compiler<'a> {
    sources: &'a Arc<Sources>,
    kind: Kind,
    feeds: Vec<usize>,
    variables: Vec<VariableId>,
    jinja: Option<Jinja>,
}

impl<'a> Compiler<'a> {
    pub(crate) const fn new(sources: &'a Arc<Sources>, kind: Kind) -> Self {
        Self {
            sources,
            kind,
            feeds: Vec::new(),
            variables: Vec::new(),
            jinja: None,
        }
    }

    /// The language of the compiled expressions.
    pub(crate) fn language(mut self) -> Language {
        self.feeds.sort_unstable();
        self.feeds.dedup();
        Language {
            sources: Arc::clone(self.sources),
            feeds: self.feeds,
            variables: self.variables,
            jinja: self.jinja,
        }
    }

    /// Compiles the parts of a template without blocks.
    fn pieces(&mut self, parts: &[Part<'_>]) -> Result<Vec<Piece>, TemplateError> {
        let mut json = JsonPlace::default();
        let mut place = 0;
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            pieces.push(match part {
                Part::Text(text) => {
                    json.read(text);
                    Piece::Text((*text).to_owned())
                }
                Part::Expression(text) => {
                    let how = match Simple::parse(text, self.sources) {
                        Some(simple) => {
                            self.feeds.extend(simple.feed());
                            self.variables.extend(simple.kept());
                            How::Simple(simple)
                        }
                        None => {
                            check_whole(text, self.sources)?;
                            self.interpreted(text)?
                        }
                    };
                    let in_string = json.in_string();
                    place += 1;
                    Piece::Expression(Expression {
                        place: place - 1,
                        in_string,
                        how,
                    })
                }
            });
        }
        Ok(pieces)
    }

    fn interpreted(&mut self, text: &str) -> Result<How, TemplateError> {
        let text = self.compile_template(&format!("{{{{ {text} }}}}"))?;
        Ok(How::Interpreted(text))
    }

    /// The interpreter, a new one if need be.
    pub(crate) fn jinja(&mut self) -> &mut Jinja {
        let (sources, kind) = (self.sources, self.kind);
        self.jinja.get_or_insert_with(|| Jinja::new(sources, kind))
    }

    /// Whether a variable may be read that has no value: if the text tests it, or in a condition
    /// after a step that may set it.
    fn may_lack(&self, variable: VariableId, name: &str, source: &str) -> bool {
        let is_condition = self.kind == Kind::Condition;
        tags::asks_for(source, name) || is_condition && self.sources.is_set(variable)
    }

    /// Compiles one text, and checks the variables that it uses.
    pub(crate) fn compile_template(&mut self, source: &str) -> Result<TextId, TemplateError> {
        let sources = self.sources;
        let text = self
            .jinja()
            .compile_template(source)
            .map_err(TemplateError)?;
        let variables = self.jinja().free_variables(source);
        for variable in &variables {
            let root = variable.split('.').next().unwrap_or(variable);
            if let Some(declared) = sources.declared(root)
                && self.may_lack(declared, root, source)
            {
                self.jinja().may_lack(root);
                self.variables.push(declared);
                continue;
            }
            check_variable(variable, sources)?;
            let (feed, column) = match variable.split_once('.') {
                Some((feed, column)) => (feed, Some(column)),
                None => (variable.as_str(), None),
            };
            self.variables.extend(sources.variable(feed));
            let Some(feed_at) = sources.find(feed) else {
                continue;
            };
            self.feeds.push(feed_at);
            if column.is_some() {
                self.jinja().read_by_column(feed_at);
                if variables.iter().any(|other| other == feed) {
                    let message = format!("use either `{feed}` or `{variable}`, not both");
                    return Err(TemplateError(message));
                }
            }
        }
        Ok(text)
    }
}

/// An error if an expression is just the name of a feed with several columns.
fn check_whole(text: &str, sources: &Sources) -> Result<(), TemplateError> {
    let feed = sources.find(text).and_then(|at| sources.feed(at));
    match feed.filter(|feed| !feed.is_single()) {
        None => Ok(()),
        Some(feed) => {
            let all: Vec<String> = feed
                .columns()
                .map(|name| format!("{text}.{name}"))
                .collect();
            let all = all.join(" or ");
            Err(TemplateError(format!(
                "the feed `{text}` has several columns; write {all}"
            )))
        }
    }
}

/// An error if a variable does not exist, or if its feed lacks the column.
fn check_variable(variable: &str, sources: &Sources) -> Result<(), TemplateError> {
    let (name, column) = match variable.split_once('.') {
        Some((name, rest)) => (name, rest.split('.').next()),
        None => (variable, None),
    };
    if sources.lacks(name) {
        return Err(TemplateError(format!(
            "`{name}` belongs to a request, and variables are set before there is one"
        )));
    }
    if VARIABLES.contains(&name) || sources.variable(name).is_some() {
        return Ok(());
    }
    if sources.declared(name).is_some() {
        return Err(TemplateError(format!(
            "the variable `{name}` is read before any step sets it"
        )));
    }
    let Some(feed) = sources.find(name).and_then(|at| sources.feed(at)) else {
        let known = VARIABLES.into_iter().chain(sources.names());
        let known = known.chain(sources.variables());
        let feeds: Vec<&str> = sources.names().collect();
        let near = match drumfire_plan::suggestion(name, known) {
            _ if let Some(reference) = sources.reference(name) => {
                format!("; for the value of the plan, write `{reference}`")
            }
            none if none.is_empty() && !feeds.is_empty() => {
                format!("; the feeds are {}", feeds.join(", "))
            }
            none if none.is_empty() && column.is_some() => {
                format!(
                    "; for rows of a file, add a feed: `feeds: {{ {name}: {{ csv: {name}.csv }} }}`"
                )
            }
            near => near,
        };
        return Err(TemplateError(format!(
            "templates have no variable `{name}`{near}"
        )));
    };
    let all = || feed.columns().collect::<Vec<_>>().join(", ");
    match column.filter(|column| feed.column(column).is_none()) {
        None => Ok(()),
        Some(column) => {
            let near = match drumfire_plan::suggestion(column, feed.columns()) {
                none if none.is_empty() => format!("; it has {}{}", all(), delimited(&all())),
                near => near,
            };
            Err(TemplateError(format!(
                "the feed `{name}` has no column `{column}`{near}"
            )))
        }
    }
}

/// The advice if the names of a feed's columns were not separated, because of another delimiter.
fn delimited(columns: &str) -> &'static str {
    match columns {
        columns if columns.contains(", ") => "",
        columns if columns.contains(';') => {
            "; if `;` separates the values, add `delimiter: \";\"` to a plan's feed"
        }
        columns if columns.contains('\t') => {
            "; if tabs separate the values, add `delimiter: tab` to a plan's feed"
        }
        _ => "",
    }
}
