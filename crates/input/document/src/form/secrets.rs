//! A document without its secrets, for storage.
//!
//! Secrets are found by their context, as [`secret`] does in any text: the name of a field, the
//! user of a URL, the keys of a body. Each becomes a reference to an environment variable that does
//! not exist, so that a stored plan can run again after the variable is set. Placeholders
//! (templates and references) are not secrets and are kept. They are removed before a text is
//! masked, and inserted again afterwards. If the mask covers a placeholder as part of a secret, the
//! whole text is masked. In doubt, a value is hidden.

use crate::keys::tree::{Tree, escaped};
use drumfire_plan::secret::{self, MASK};

/// Keys whose mappings have user-defined names.
const NAMED: [&str; 4] = ["headers", "metadata", "push_headers", "vars"];

/// Keys whose texts are bodies.
const BODIES: [&str; 4] = ["body", "bodies", "data", "message"];

/// The tree of a document with a reference instead of each secret.
pub(super) fn without(tree: Tree) -> Tree {
    Hidden::default().tree(tree, "", "")
}

/// The values of the secrets in a document's tree.
pub(super) fn values(tree: Tree) -> Vec<String> {
    let mut hidden = Hidden::default();
    let _without = hidden.tree(tree, "", "");
    hidden.values.sort();
    hidden.values.dedup();
    hidden.values
}

/// The secrets found so far in a tree.
#[derive(Default)]
struct Hidden {
    /// The number of secrets so far.
    count: usize,
    /// The values of the secrets.
    values: Vec<String>,
}

impl Hidden {
    /// Processes the tree at `key`, which is below the key `above`.
    fn tree(&mut self, tree: Tree, key: &str, above: &str) -> Tree {
        match tree {
            Tree::Map(entries) => {
                let entries = entries.into_iter();
                let entries = entries.map(|(name, value)| {
                    let value = self.tree(value, &name, key);
                    (name, value)
                });
                Tree::Map(entries.collect())
            }
            Tree::List(items) => {
                let items = items.into_iter();
                Tree::List(items.map(|item| self.tree(item, key, above)).collect())
            }
            Tree::Scalar(text) => self.scalar(text, key, above),
            Tree::Json(text) => {
                let masked = guarded(&text, |text| secret::body(text, &[]));
                match masked == text {
                    true => Tree::Json(text),
                    false => {
                        self.values.extend(values_beside(&text, &masked));
                        Tree::Json(self.with_references(&masked))
                    }
                }
            }
            Tree::Written { written, value } => {
                let masked = masked(&written, key, above);
                self.values.extend(values_beside(&written, &masked));
                if is_key(key, above) {
                    self.values.push(value.clone());
                }
                Tree::Written {
                    written: match masked == written {
                        true => written,
                        false => self.with_references(&masked),
                    },
                    value,
                }
            }
            Tree::Switch(_) => tree,
        }
    }

    fn scalar(&mut self, text: String, key: &str, above: &str) -> Tree {
        let masked = masked(&text, key, above);
        if masked == text {
            return Tree::Scalar(text);
        }
        self.values.extend(values_beside(&text, &masked));
        let written = self.with_references(&escaped(&masked));
        Tree::Written {
            written,
            value: masked,
        }
    }

    /// A masked text with a reference instead of each mask.
    fn with_references(&mut self, masked: &str) -> String {
        let mut pieces = masked.split(MASK);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            self.count += 1;
            let name = format!("${{secret:env:DRUMFIRE_SECRET_{}}}", self.count);
            out.extend([name.as_str(), piece]);
        }
        out
    }
}

/// The secrets of a text, without those that contain placeholders: such values are made during the
/// run, or are among the secrets that the document marks.
fn values_beside(text: &str, masked: &str) -> Vec<String> {
    let mut values = secret::values(text, masked);
    values.retain(|value| PLACEHOLDERS.iter().all(|(open, _)| !value.contains(open)));
    values
}

/// Whether the value at `key`, which is below the key `above`, is the API key of a language model.
fn is_key(key: &str, above: &str) -> bool {
    key == "key" && above == "llm"
}

/// The text at `key`, which is below the key `above`, with each secret masked.
fn masked(text: &str, key: &str, above: &str) -> String {
    if NAMED.contains(&above) && secret::is_secret(key) || is_key(key, above) {
        return match is_template(text) {
            true => text.to_owned(),
            false => MASK.to_owned(),
        };
    }
    if BODIES.contains(&key) {
        return guarded(text, |text| secret::body(text, &[]));
    }
    match text.contains(['@', '?', ';']) || text.contains("://") {
        true => guarded(text, secret::url),
        false => text.to_owned(),
    }
}

/// The beginning and the end of a placeholder: of a template and of a reference.
const PLACEHOLDERS: [(&str, &str); 2] = [("{{", "}}"), ("${", "}")];

/// The replacement of a placeholder while a text is masked: no mask treats it as a secret.
const STAND_IN: &str = "null";

/// The maximum length of a word next to placeholders that is not a secret: `Bearer {{ token }}`.
const WORD_MAX: usize = 7;

/// The text with each placeholder replaced, and the placeholders.
fn without_placeholders(text: &str) -> (String, Vec<&str>) {
    let (mut out, mut found, mut rest) = (String::new(), Vec::new(), text);
    loop {
        let begins = PLACEHOLDERS.iter().filter_map(|(open, close)| {
            let start = rest.find(open)?;
            let end = rest[start..].find(close)? + start + close.len();
            Some((start, end))
        });
        let Some((start, end)) = begins.min() else {
            out.push_str(rest);
            return (out, found);
        };
        out.extend([&rest[..start], STAND_IN]);
        found.push(&rest[start..end]);
        rest = &rest[end..];
    }
}

/// Masks the text and restores its placeholders, unless one is part of a secret.
fn guarded(text: &str, mask: impl Fn(&str) -> String) -> String {
    let (bare, placeholders) = without_placeholders(text);
    let masked = mask(&bare);
    let has_stand_in = text.contains(STAND_IN);
    if has_stand_in || masked.matches(STAND_IN).count() != placeholders.len() {
        return with_own_placeholders(text, &mask(text));
    }
    let mut pieces = masked.split(STAND_IN);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for (placeholder, piece) in placeholders.into_iter().zip(pieces) {
        out.extend([placeholder, piece]);
    }
    out
}

/// Restores each secret that consists of a single placeholder: a document that was stored before
/// already contains references instead of its secrets.
fn with_own_placeholders(text: &str, masked: &str) -> String {
    let mut pieces = masked.split(MASK);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    let Some(mut rest) = text.strip_prefix(&out) else {
        return masked.to_owned();
    };
    for piece in pieces {
        let end = match piece.is_empty() {
            true => Some(rest.len()),
            false => rest.find(piece),
        };
        let Some(end) = end else {
            return masked.to_owned();
        };
        let secret = &rest[..end];
        let (bare, placeholders) = without_placeholders(secret);
        let is_placeholder = bare == STAND_IN && placeholders.len() == 1;
        out.extend([if is_placeholder { secret } else { MASK }, piece]);
        rest = &rest[end + piece.len()..];
    }
    out
}

/// Whether a text has placeholders, and no secret next to them.
fn is_template(text: &str) -> bool {
    let (bare, placeholders) = without_placeholders(text);
    let mut words = bare.split_whitespace();
    !placeholders.is_empty() && words.all(|word| word.len() <= WORD_MAX)
}

#[cfg(test)]
mod tests {
    use crate::Environment;
    use crate::form::{Source, Syntax, draft, print, print_without_secrets};
    use std::io;

    /// A machine without files whose environment contains the secrets.
    #[derive(Debug)]
    struct NoSecrets;

    impl Environment for NoSecrets {
        fn read(&self, _: &str) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn variable(&self, name: &str) -> Option<String> {
            name.starts_with("DRUMFIRE_SECRET_")
                .then(|| "abcdefgh".to_owned())
        }
    }

    const PLAN: &str = "\
drumfire: 1
vars:
  token: abcdefgh
  color: red
pools:
  main:
    headers:
      Authorization: Bearer abcdefgh
      X-Plain: 1
      X-Token: 'Bearer {{ uuid }}'
    body: '{\"password\":\"hunter22\",\"token\":\"{{ uuid }}\",\"user\":\"${color}\"}'
    tls:
      key: client.pem
    requests:
      - post: http://ada:hunter22@127.0.0.1:9/x?token=abcdefgh&page=2
";

    #[test]
    fn secrets_become_references_and_the_rest_stays() {
        let read = |text: &str| {
            draft(&Source {
                text,
                name: "plan.yaml",
                syntax: Syntax::Yaml,
                settings: &[],
                environment: &NoSecrets,
            })
        };
        let document = read(PLAN).document;
        let kept = print_without_secrets(&document);
        for secret in ["abcdefgh", "hunter22"] {
            assert!(print(&document).contains(secret));
            assert!(!kept.contains(secret), "{kept}");
        }
        for rest in [
            "color: red",
            "X-Plain: 1",
            "key: client.pem",
            "page=2",
            "Bearer {{ uuid }}",
        ] {
            assert!(kept.contains(rest), "{kept}");
        }
        assert!(
            kept.contains("Authorization: \"${secret:env:DRUMFIRE_SECRET_"),
            "{kept}"
        );
        let again = read(&kept);
        assert!(again.found.is_empty(), "{:?}", again.found);
        let without = print_without_secrets(&again.document);
        assert_eq!(without, kept);
    }
}
