//! A parsed page whose nodes are read one by one, for scripts.

use super::bounded::{ELEMENTS_MAX, parse};
use super::{COMPARED_MAX, explain};
use crate::{NoValue, ParseError};
use ego_tree::{NodeId, NodeRef};
use scraper::{ElementRef, Html, Node, Selector};
use std::collections::HashMap;

/// The number of a node of a page, in the order of the text. The page itself has the number 0.
pub type PageNode = u32;

/// An HTML text as a browser reads it.
#[derive(Debug)]
pub struct Page {
    html: Html,
    nodes: Vec<NodeId>,
    numbers: HashMap<NodeId, PageNode>,
    elements: usize,
}

/// A CSS selector for elements of a page.
#[derive(Clone, Debug)]
pub struct PageSelector {
    selector: Selector,
    /// Whether the time for an element grows with the number of elements.
    compares: bool,
}

impl PageSelector {
    /// Parses a selector.
    ///
    /// # Errors
    /// The place of the mistake.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Self {
            selector: Selector::parse(text).map_err(|_| explain(text))?,
            compares: text.contains('~') || text.contains(":has"),
        })
    }
}

impl Page {
    /// Parses a text. A text that is not a whole page is completed, as a browser does it.
    ///
    /// # Errors
    /// If the text exceeds a bound of the parser.
    pub fn parse(text: &str) -> Result<Self, NoValue> {
        let html = parse(text, ELEMENTS_MAX)?;
        let nodes: Vec<NodeId> = html.tree.root().descendants().map(|one| one.id()).collect();
        let numbers = nodes.iter().copied().zip(0..).collect();
        let elements = html.tree.root().descendants();
        let elements = elements.filter(|one| one.value().is_element()).count();
        Ok(Self {
            html,
            nodes,
            numbers,
            elements,
        })
    }

    fn node(&self, number: PageNode) -> Option<NodeRef<'_, Node>> {
        let id = self.nodes.get(number as usize)?;
        self.html.tree.get(*id)
    }

    fn number(&self, node: NodeRef<'_, Node>) -> Option<PageNode> {
        self.numbers.get(&node.id()).copied()
    }

    fn element(&self, number: PageNode) -> Option<ElementRef<'_>> {
        self.node(number).and_then(ElementRef::wrap)
    }

    fn check(&self, selector: &PageSelector) -> Result<(), NoValue> {
        if selector.compares && self.elements > COMPARED_MAX {
            return Err(NoValue::unreadable(format!(
                "the page has more than {COMPARED_MAX} elements, which is too much for a selector with `~` or `:has`"
            )));
        }
        Ok(())
    }

    /// The elements below a node that a selector matches.
    ///
    /// # Errors
    /// If the page is too large for the selector.
    pub fn find(&self, from: PageNode, selector: &PageSelector) -> Result<Vec<PageNode>, NoValue> {
        self.check(selector)?;
        let below = self.node(from).into_iter().flat_map(|node| {
            let elements = node.descendants().skip(1).filter_map(ElementRef::wrap);
            elements.filter(|element| selector.selector.matches(element))
        });
        Ok(below.filter_map(|one| self.number(*one)).collect())
    }

    /// Whether a node is an element that a selector matches.
    ///
    /// # Errors
    /// If the page is too large for the selector.
    pub fn is(&self, node: PageNode, selector: &PageSelector) -> Result<bool, NoValue> {
        self.check(selector)?;
        let element = self.element(node);
        Ok(element.is_some_and(|element| selector.selector.matches(&element)))
    }

    /// The number of the kind of a node (DOM, section 4.4): 1 element, 3 text, 8 comment, 9 document,
    /// 10 doctype; 0 if the page has no such node.
    #[must_use]
    pub fn kind(&self, node: PageNode) -> u8 {
        match self.node(node).map(|node| node.value()) {
            None => 0,
            Some(Node::Element(_)) => 1,
            Some(Node::Text(_)) => 3,
            Some(Node::ProcessingInstruction(_)) => 7,
            Some(Node::Comment(_)) => 8,
            Some(Node::Document | Node::Fragment) => 9,
            Some(Node::Doctype(_)) => 10,
        }
    }

    /// The name of an element; empty for other nodes.
    #[must_use]
    pub fn name(&self, node: PageNode) -> &str {
        self.element(node)
            .map_or("", |element| element.value().name())
    }

    /// The node around a node.
    #[must_use]
    pub fn parent(&self, node: PageNode) -> Option<PageNode> {
        self.number(self.node(node)?.parent()?)
    }

    /// The nodes directly below a node.
    #[must_use]
    pub fn children(&self, node: PageNode) -> Vec<PageNode> {
        let node = self.node(node);
        let children = node.into_iter().flat_map(|node| node.children());
        children.filter_map(|child| self.number(child)).collect()
    }

    /// Names and values of an element's attributes, by name.
    #[must_use]
    pub fn attributes(&self, node: PageNode) -> Vec<(&str, &str)> {
        let element = self.element(node);
        let mut list: Vec<_> = element
            .iter()
            .flat_map(|element| element.value().attrs())
            .collect();
        list.sort_unstable();
        list
    }

    /// The text of a node and of all nodes below it.
    #[must_use]
    pub fn text(&self, node: PageNode) -> String {
        let nodes = self.node(node).into_iter();
        let all = nodes.flat_map(|node| node.descendants());
        let texts = all.filter_map(|node| node.value().as_text().map(|text| &*text.text));
        texts.collect()
    }

    /// The source of what is below a node, as the parser understood it; for a text or a comment, its text.
    #[must_use]
    pub fn inner(&self, number: PageNode) -> String {
        let Some(node) = self.node(number) else {
            return String::new();
        };
        match node.value() {
            Node::Text(text) => text.text.to_string(),
            Node::Comment(comment) => comment.comment.to_string(),
            Node::Document | Node::Fragment => self.html.html(),
            _ => ElementRef::wrap(node).map_or_else(String::new, |element| element.inner_html()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(text: &str) -> PageSelector {
        PageSelector::parse(text).expect(text)
    }

    #[test]
    fn nodes_are_found_and_read() {
        let page = Page::parse(
            "<p id=a class='x y'>one <b>two</b><!--c--></p><p>three<form action=/go><input name=n value=v>",
        )
        .expect("a page");
        let [first, second] = page.find(0, &select("p")).expect("small")[..] else {
            panic!("two paragraphs");
        };
        assert_eq!(page.text(first), "one two");
        assert_eq!(page.inner(first), "one <b>two</b><!--c-->");
        assert_eq!(page.attributes(first), [("class", "x y"), ("id", "a")]);
        let kinds: Vec<u8> = page
            .children(first)
            .iter()
            .map(|one| page.kind(*one))
            .collect();
        assert_eq!(kinds, [3, 1, 8]);
        assert_eq!(
            (page.name(second), page.text(second).as_str()),
            ("p", "three")
        );
        let bold = page.find(first, &select("b")).expect("small")[0];
        assert_eq!(page.parent(bold), Some(first));
        assert!(page.is(bold, &select("p > b")).expect("small"));
        assert!(!page.is(first, &select("b")).expect("small"));
        assert!(page.find(bold, &select("p")).expect("small").is_empty());
        assert_eq!(page.kind(0), 9);
        assert_eq!(page.kind(9999), 0);
        assert!(page.inner(0).starts_with("<html>"));
    }

    #[test]
    fn wrong_selectors_and_large_pages() {
        assert!(PageSelector::parse("p >").is_err());
        let large = Page::parse(&"<p>".repeat(COMPARED_MAX + 1)).expect("in bounds");
        assert!(large.find(0, &select("p ~ p")).is_err());
        assert_eq!(
            large.find(0, &select("p")).map(|list| list.len()),
            Ok(COMPARED_MAX + 1)
        );
        assert!(Page::parse(&"<div>".repeat(2000)).is_err());
    }
}
