//! The frame of a page: its head, its content security policy, and its parts. The maker of a part
//! escapes its texts; the frame joins the parts as they are.

use super::{Part, chart, program};
use crate::figure::svg::STYLE as PICTURES;
use crate::markup::Markup;

/// The page's own colours and measures.
const SHEET: &str = include_str!("page.css");
/// The colours and measures of the parts that only a server's pages have.
const SERVED: &str = include_str!("served.css");

/// A page of parts.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// The title, unescaped.
    pub title: &'a str,
    /// The place from which it is read.
    pub place: Place,
    /// The parts, in the order of reading.
    pub parts: &'a [Part],
}

/// The place from which a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file.
    File,
    /// A server.
    Served,
    /// A server of a running test. It sends parts at the path `events` beside the page, and takes
    /// commands at `command`.
    Live,
}

impl Document<'_> {
    /// The page's bytes: HTML in UTF-8, with nothing to load.
    #[must_use]
    pub fn print(&self) -> Vec<u8> {
        let mut out = Markup::default();
        out.raw("<!doctype html>\n");
        out.open("html", &[("lang", "en")]);
        self.print_head(&mut out);
        match self.place {
            Place::Live => {
                let events = ("data-events", "events");
                out.open("body", &[events, ("data-commands", "command")]);
            }
            Place::File | Place::Served => out.open("body", &[]),
        }
        out.open("main", &[]);
        for part in self.parts {
            out.raw(&part.html);
        }
        out.close("main");
        program::print(&mut out);
        out.close("body");
        out.close("html");
        out.finish().into_bytes()
    }

    /// Appends the head. The policy comes first, since it holds only for what follows it.
    fn print_head(&self, out: &mut Markup) {
        out.open("head", &[]);
        out.empty("meta", &[("charset", "utf-8")]);
        let policy = ("http-equiv", "Content-Security-Policy");
        out.empty("meta", &[policy, ("content", &self.place.policy())]);
        let width = "width=device-width, initial-scale=1";
        out.empty("meta", &[("name", "viewport"), ("content", width)]);
        out.empty(
            "meta",
            &[("name", "color-scheme"), ("content", "light dark")],
        );
        out.element("title", &[], self.title);
        out.open("style", &[]);
        out.raw(PICTURES);
        out.raw(SHEET);
        out.raw(chart::STYLE);
        if self.place != Place::File {
            out.raw(SERVED);
        }
        out.close("style");
        out.close("head");
    }
}

impl Place {
    /// The content security policy (W3C, CSP Level 3). Only the page's own program runs, which is
    /// known by its digest. A file loads and sends nothing; a served page connects only to its
    /// server. Inline styles are allowed. `base-uri` is closed, so that no element can redirect
    /// relative links.
    fn policy(self) -> String {
        let own = match self {
            Self::File => "form-action 'none'",
            Self::Served => "form-action 'self'",
            Self::Live => "connect-src 'self'; form-action 'self'",
        };
        let digest = program::digest();
        format!(
            "default-src 'none'; script-src '{digest}'; style-src 'unsafe-inline'; img-src data:; \
             base-uri 'none'; {own}"
        )
    }
}
