//! HTML and SVG whose texts and attributes are escaped as they are written. A text from a server
//! can neither end its element nor begin another, and its control characters are spelled out.

use crate::style::Unicode;
use crate::untrusted::Untrusted;

/// Attributes of an element: names and values.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a str)];

/// A document that grows.
#[derive(Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// Begins an element.
    pub(crate) fn open(&mut self, name: &str, attributes: Attributes<'_>) {
        self.open_element(name, attributes);
        self.0.push('>');
    }

    /// Ends the element with this name.
    pub(crate) fn close(&mut self, name: &str) {
        self.0.extend(["</", name, ">\n"]);
    }

    /// An element without content.
    pub(crate) fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.open_element(name, attributes);
        self.0.push_str("/>\n");
    }

    /// An element with a text.
    pub(crate) fn element(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.open(name, attributes);
        self.text(text);
        self.close(name);
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &str) {
        self.push_escaped(&Untrusted::new(text).escaped(Unicode::On));
    }

    /// A text of several lines, whose foreign parts were escaped for a terminal before.
    pub(crate) fn lines(&mut self, text: &str) {
        self.push_escaped(&Untrusted::new(text).escaped_lines());
    }

    /// Trusted markup, such as a style sheet or a picture.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn open_element(&mut self, name: &str, attributes: Attributes<'_>) {
        self.0.extend(["<", name]);
        for (name, value) in attributes {
            self.0.extend([" ", name, "=\""]);
            self.push_escaped(value);
            self.0.push('"');
        }
    }

    fn push_escaped(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                letter => self.0.push(letter),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Markup;

    #[test]
    fn a_text_begins_and_ends_nothing() {
        let mut markup = Markup::default();
        markup.element(
            "p",
            &[("title", "a\"b<c>&d")],
            "</p><script>\u{1b}[31m\u{202e}&amp;",
        );
        assert_eq!(
            markup.finish(),
            "<p title=\"a&quot;b&lt;c&gt;&amp;d\">&lt;/p&gt;&lt;script&gt;\\x1b[31m\\u{202e}&amp;amp;</p>\n"
        );
    }
}
