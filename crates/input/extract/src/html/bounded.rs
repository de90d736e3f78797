//! Parses HTML within bounds.
//!
//! HTML's rules for unclosed tags take time and memory quadratic in a text's length: 100 kB of
//! `<font a><p><font b><p>…` become millions of elements. The parser therefore receives small
//! pieces, the tree builder counts its steps, and a text that exceeds a bound is abandoned.

use crate::NoValue;
use html5ever::driver::{ParseOpts, Parser, parse_document};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName};
use scraper::{Html, HtmlTreeSink};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

/// The maximum number of elements in a text.
pub(super) const ELEMENTS_MAX: usize = 100_000;
/// The maximum nesting depth of elements.
const DEPTH_MAX: usize = 512;
/// The maximum number of parser steps: a third of a second of work.
const STEPS_MAX: usize = 1 << 24;
/// The size of a piece for the parser, in bytes.
const PIECE: usize = 256;
/// The maximum number of open formatting elements: each paragraph begins with copies of them.
const FORMATTING_MAX: usize = 200;
/// The elements that the parser copies (HTML, section 13.2.4.3).
const FORMATTING: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// The work of the parser so far.
#[derive(Debug, Default)]
struct Progress {
    steps: Cell<usize>,
    elements: Cell<usize>,
    is_deep: Cell<bool>,
    /// The number of bytes since the last tag that may separate attributes. The parser compares
    /// each attribute of a tag with all earlier ones.
    gaps: Cell<usize>,
}

impl Progress {
    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// Counts the end of a tag or text.
    fn end_token(&self) {
        let gaps = self.gaps.replace(0);
        self.steps.set(self.steps.get() + squared(gaps));
    }

    /// The reason to abandon the text, if a bound is exceeded.
    fn check(&self, elements_max: usize) -> Result<(), NoValue> {
        let gaps = self.gaps.get();
        let reason = if self.elements.get() > elements_max {
            format!("the body has more than {elements_max} elements")
        } else if self.is_deep.get() {
            format!("the body has elements nested deeper than {DEPTH_MAX}")
        } else if self.steps.get() + squared(gaps) > STEPS_MAX {
            String::from("the body takes too much work to parse as HTML")
        } else {
            return Ok(());
        };
        Err(NoValue::unreadable(reason))
    }
}

/// The number of steps for this many attributes of a tag: a comparison of two takes a small
/// fraction of a step.
const fn squared(gaps: usize) -> usize {
    gaps * gaps / 64
}

/// Parses a text within the bounds.
pub(super) fn parse(text: &str, elements_max: usize) -> Result<Html, NoValue> {
    check_formatting(text.as_bytes())?;
    let progress = Rc::new(Progress::default());
    let sink = Sink {
        tree: HtmlTreeSink::new(Html::new_document()),
        progress: Rc::clone(&progress),
    };
    let mut parser: Parser<Sink> = parse_document(sink, ParseOpts::default());
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = behind;
        let is_gap = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'');
        let gaps = piece.bytes().filter(is_gap).count();
        progress.gaps.set(progress.gaps.get() + gaps);
        parser.process(StrTendril::from_slice(piece));
        progress.check(elements_max)?;
    }
    Ok(parser.finish())
}

/// Refuses a text that opens more formatting elements than it closes, by name.
fn check_formatting(body: &[u8]) -> Result<(), NoValue> {
    let mut open = [0_usize; FORMATTING.len()];
    for at in memchr::memchr_iter(b'<', body) {
        let tag = &body[at + 1..];
        let (is_end, name) = match tag.strip_prefix(b"/") {
            Some(name) => (true, name),
            None => (false, tag),
        };
        let length = name
            .iter()
            .take(7)
            .take_while(|b| b.is_ascii_alphanumeric());
        let name = &name[..length.count()];
        let same = |known: &str| known.as_bytes().eq_ignore_ascii_case(name);
        let Some(index) = FORMATTING.iter().position(|known| same(known)) else {
            continue;
        };
        open[index] = if is_end {
            open[index].saturating_sub(1)
        } else {
            open[index] + 1
        };
        if open.iter().sum::<usize>() > FORMATTING_MAX {
            let name = FORMATTING[index];
            let reason = format!("the body has too many unclosed elements such as `{name}`");
            return Err(NoValue::unreadable(reason));
        }
    }
    Ok(())
}

/// Builds the tree and counts the steps.
struct Sink {
    tree: HtmlTreeSink,
    progress: Rc<Progress>,
}

type Id = <HtmlTreeSink as TreeSink>::Handle;

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Html;
    type ElemName<'a> = <HtmlTreeSink as TreeSink>::ElemName<'a>;

    fn finish(self) -> Html {
        self.tree.finish()
    }

    fn parse_error(&self, message: Cow<'static, str>) {
        self.tree.parse_error(message);
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.tree.set_quirks_mode(mode);
    }

    fn get_document(&self) -> Id {
        self.tree.get_document()
    }

    fn same_node(&self, x: &Id, y: &Id) -> bool {
        self.progress.step();
        self.tree.same_node(x, y)
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Self::ElemName<'a> {
        self.progress.step();
        self.tree.elem_name(target)
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        flags: ElementFlags,
    ) -> Id {
        self.progress.end_token();
        self.progress.elements.set(self.progress.elements.get() + 1);
        self.tree.create_element(name, attributes, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Id {
        self.progress.end_token();
        self.tree.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Id {
        self.tree.create_pi(target, data)
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.tree.append_doctype_to_document(name, public, system);
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.progress.step();
        if matches!(child, NodeOrText::AppendText(_)) {
            self.progress.gaps.set(0);
        } else if self.depth(*parent) > DEPTH_MAX {
            self.progress.is_deep.set(true);
        }
        self.tree.append(parent, child);
    }

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        self.progress.step();
        self.tree.append_before_sibling(sibling, child);
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        self.progress.step();
        let tree = &self.tree;
        tree.append_based_on_parent_node(element, previous, child);
    }

    fn remove_from_parent(&self, target: &Id) {
        self.progress.step();
        self.tree.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Id, parent: &Id) {
        self.progress.step();
        self.tree.reparent_children(node, parent);
    }

    fn add_attrs_if_missing(&self, target: &Id, attributes: Vec<Attribute>) {
        self.progress.end_token();
        self.tree.add_attrs_if_missing(target, attributes);
    }

    fn get_template_contents(&self, target: &Id) -> Id {
        self.tree.get_template_contents(target)
    }
}

impl Sink {
    /// The nesting depth of a node.
    fn depth(&self, node: Id) -> usize {
        let html = self.tree.0.borrow();
        let node = html.tree.get(node);
        node.map_or(0, |node| node.ancestors().take(DEPTH_MAX + 1).count())
    }
}
