//! Secrets of `--secret-source`: what `k6/secrets` gives to scripts, and what logs must not show.

use std::borrow::Cow;

/// What logs show instead of a secret.
const REDACTED: &str = "***SECRET_REDACTED***";

/// A source of secrets.
#[derive(Debug)]
struct Source {
    name: String,
    is_default: bool,
    values: Vec<(String, String)>,
}

/// The sources of a run.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    sources: Vec<Source>,
    /// The values that the script has received.
    given: Vec<String>,
}

impl Secrets {
    /// Parses the values of `--secret-source`: `mock=KEY=VALUE,…` and `file=PATH`, with `name=NAME` and `default`
    /// in front.
    ///
    /// # Errors
    ///
    /// What is wrong with a source or its file.
    pub(super) fn parse(
        texts: &[String],
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let mut sources: Vec<Source> = Vec::new();
        for text in texts {
            let source = Source::parse(text, read)?;
            if sources.iter().any(|other| other.name == source.name) {
                return Err(format!(
                    "--secret-source: there are two sources `{}`; give one of them another `name=`",
                    source.name
                ));
            }
            sources.push(source);
        }
        if sources.iter().filter(|source| source.is_default).count() > 1 {
            return Err("--secret-source: only one source can be the `default`".to_owned());
        }
        if let [only] = sources.as_mut_slice() {
            only.is_default = true;
        }
        Ok(Self {
            sources,
            given: Vec::new(),
        })
    }

    /// The secret of a key, from a source or from the default one.
    ///
    /// # Errors
    ///
    /// If there is no such source or key.
    pub(super) fn get(&mut self, source: Option<&str>, key: &str) -> Result<String, String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured; use --secret-source".to_owned());
        }
        let mut sources = self.sources.iter();
        let found = match source {
            Some(name) => sources
                .find(|source| source.name == name)
                .ok_or_else(|| format!("no secret source with name \"{name}\" is configured"))?,
            None => sources
                .find(|source| source.is_default)
                .ok_or("no secret source is the default; mark one with `default`")?,
        };
        let mut values = found.values.iter();
        let value = values.find(|(known, _)| known == key);
        let (_, value) = value.ok_or_else(|| format!("no value for the secret \"{key}\""))?;
        if !value.is_empty() && !self.given.contains(value) {
            self.given.push(value.clone());
        }
        Ok(value.clone())
    }

    /// A text without the secrets that the script has received.
    pub(super) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.given {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, REDACTED));
            }
        }
        text
    }
}

impl Source {
    fn parse(text: &str, read: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let (kind, rest) = text.split_once('=').unwrap_or((text, ""));
        if !matches!(kind, "mock" | "file") {
            return Err(format!(
                "--secret-source: unknown source `{}`; use mock=KEY=VALUE or file=PATH",
                kind.escape_debug()
            ));
        }
        let mut source = Self {
            name: kind.to_owned(),
            is_default: false,
            values: Vec::new(),
        };
        let mut path = None;
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            match (part.split_once('='), kind) {
                (None, _) if part == "default" => source.is_default = true,
                (Some(("name", name)), _) => name.clone_into(&mut source.name),
                (Some(("filename", name)), "file") => path = Some(name),
                (None, "file") => path = Some(part),
                (Some((key, value)), "mock") => {
                    source.values.push((key.to_owned(), value.to_owned()));
                }
                _ => {
                    return Err(format!(
                        "--secret-source: `{}` is not KEY=VALUE",
                        part.escape_debug()
                    ));
                }
            }
        }
        if kind == "file" {
            let path = path.ok_or("--secret-source: write file=PATH")?;
            source.values = pairs(path, &read(path)?)?;
        }
        Ok(source)
    }
}

/// The keys and values of a file, one pair a line.
fn pairs(path: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(line, number)| {
            let pair = line.split_once('=');
            let (key, value) = pair
                .ok_or_else(|| format!("{path}:{number}: the line has no `=`; write KEY=VALUE"))?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Result<Secrets, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Secrets::parse(&texts, &|path| match path {
            "good" => Ok("one=1\n\ntwo=a=b\n".to_owned()),
            _ => Ok("nothing".to_owned()),
        })
    }

    #[test]
    fn sources_have_names_and_defaults() {
        let mut secrets =
            parse(&["mock=default,cool=sesame", "file=name=f,filename=good"]).expect("two sources");
        assert_eq!(secrets.redact("sesame"), "sesame");
        assert_eq!(secrets.get(None, "cool").as_deref(), Ok("sesame"));
        assert_eq!(secrets.get(Some("f"), "two").as_deref(), Ok("a=b"));
        assert!(secrets.get(Some("g"), "two").is_err() && secrets.get(None, "two").is_err());
        assert_eq!(secrets.redact("open sesame"), format!("open {REDACTED}"));
        let mut only = parse(&["file=good"]).expect("one source");
        assert_eq!(only.get(None, "one").as_deref(), Ok("1"));
        assert!(Secrets::default().get(None, "one").is_err());
    }

    #[test]
    fn mistakes_are_named() {
        for (texts, part) in [
            (&["vault=x"][..], "unknown source `vault`"),
            (&["mock=x"], "`x` is not KEY=VALUE"),
            (&["file="], "write file=PATH"),
            (&["file=bad"], "bad:1: the line has no `=`"),
            (&["mock=a=1", "mock=b=2"], "two sources `mock`"),
            (
                &["mock=default,a=1", "mock=default,name=n,b=2"],
                "only one source",
            ),
        ] {
            let message = parse(texts).expect_err("a mistake");
            assert!(message.contains(part), "{message}");
        }
    }
}
