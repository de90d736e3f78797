//! Links in Markdown pages lead to files and headings that exist.

use crate::{Finding, Repository};

/// Every link within the repository whose target does not exist.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.ending(".md") {
        for link in links(text) {
            if !resolves(repository, path, link.target) {
                let message = format!("the link `{}` leads nowhere", link.target);
                findings.push(Finding::violation(path, link.line, message));
            }
        }
    }
    findings
}

struct Link<'a> {
    line: usize,
    target: &'a str,
}

/// The targets of `[text](target)` outside code, except for targets with a scheme, which are on the
/// web.
fn links(page: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            let in_code = line[..at].matches('`').count() % 2 == 1;
            let target = &rest[..rest.find(')').unwrap_or(rest.len())];
            if !in_code && !target.contains(':') {
                found.push(Link {
                    line: index + 1,
                    target,
                });
            }
        }
    }
    found
}

/// Whether a target on a page exists: the file or folder, and the heading if there is one.
fn resolves(repository: &Repository, page: &str, target: &str) -> bool {
    let (file, heading) = match target.split_once('#') {
        Some((file, heading)) => (file, Some(heading)),
        None => (target, None),
    };
    let path = if file.is_empty() {
        Some(page.to_owned())
    } else {
        join(page, file)
    };
    let Some(path) = path.filter(|path| repository.contains(path)) else {
        return false;
    };
    heading.is_none_or(|heading| {
        let text = repository.text(&path);
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        headings.any(|line| anchor(line) == heading)
    })
}

/// The path of `target` relative to `page`; `None` above the root.
fn join(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The anchor of a heading: lower case, blanks as hyphens, other punctuation removed.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn links_are_followed_from_their_page() {
        let findings = |link: &str| {
            let page = format!("# Top\n\nsee [it]({link})\n");
            let files = [
                ("docs/a.md", page.as_str()),
                ("docs/manual/b.md", "## What's new? (v1)\n"),
                ("README.md", ""),
            ];
            check(&Repository::in_memory(&files)).len()
        };
        for good in [
            "manual/b.md",
            "manual/",
            "../README.md",
            "../",
            "#top",
            "https://example.org/x",
            "manual/b.md#whats-new-v1",
        ] {
            assert_eq!(findings(good), 0, "{good}");
        }
        for bad in ["b.md", "../../x", "#bottom", "manual/b.md#v2", "/README"] {
            assert_eq!(findings(bad), 1, "{bad}");
        }
    }

    #[test]
    fn code_is_not_followed() {
        let page = "`[a](b)`\n```\n[a](b)\n```\n";
        assert!(check(&Repository::in_memory(&[("a.md", page)])).is_empty());
    }
}
