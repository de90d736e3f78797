//! `k6 new`: scripts to begin with.

/// A script to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Template {
    /// One request, and a check.
    #[default]
    Minimal,
    /// A rate, thresholds, groups, and values that one request takes from another.
    Protocol,
}

impl Template {
    /// Parse a name.
    ///
    /// # Errors
    ///
    /// The template is unknown, or needs a browser.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "minimal" => Ok(Self::Minimal),
            "protocol" => Ok(Self::Protocol),
            "browser" => Err(
                "the template `browser` drives Chromium, which drumfire does not; use minimal or protocol".to_owned(),
            ),
            _ => Err(format!("unknown template `{name}`; use minimal or protocol")),
        }
    }

    /// The script.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Minimal => include_str!("template/minimal.js"),
            Self::Protocol => include_str!("template/protocol.js"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Template;

    #[test]
    fn names() {
        assert_eq!(Template::parse("minimal"), Ok(Template::default()));
        assert_eq!(
            Template::parse("x"),
            Err("unknown template `x`; use minimal or protocol".to_owned())
        );
        assert!(Template::parse("browser").is_err_and(|why| why.contains("Chromium")));
    }

    /// Templates send to the own machine until the user changes the address.
    #[test]
    fn no_template_sends_to_others() {
        for template in [Template::Minimal, Template::Protocol] {
            for (at, _) in template.text().match_indices("http://") {
                assert!(template.text()[at..].starts_with("http://127.0.0.1:8080"));
            }
            assert!(!template.text().contains("https://"));
        }
    }
}
