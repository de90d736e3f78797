//! Finds the modules of a script: files, those of k6, and libraries that are built in.

use crate::builtin;
use crate::surroundings::Surroundings;
use drumfire_modules::{Loader, Target};

/// Finds modules for the linker.
pub(crate) struct Files<'a> {
    pub(crate) surroundings: &'a mut dyn Surroundings,
    /// The text of the entry, if it is not a file.
    pub(crate) entry: Option<(String, String)>,
}

impl Loader for Files<'_> {
    fn resolve(&mut self, specifier: &str, from: &str) -> Result<Target, String> {
        if specifier == "k6" || specifier.starts_with("k6/") {
            return Ok(Target::Host {
                exports: builtin::exports(specifier)?,
                name: specifier.to_owned(),
            });
        }
        if specifier.starts_with("https://") || specifier.starts_with("http://") {
            return match drumfire_k6::library(specifier) {
                Some(_) => Ok(Target::Module(specifier.to_owned())),
                None => Err(format!(
                    "can't fetch {specifier}: remote modules are not loaded; download the file and import it by \
                     its path"
                )),
            };
        }
        let path = specifier.strip_prefix("file://").unwrap_or(specifier);
        if !path.starts_with("./") && !path.starts_with("../") && !path.starts_with('/') {
            return Err(format!(
                "\"{specifier}\" is a package of npm, which k6 does not load either: bundle the script first \
                 (esbuild --bundle --format=esm --external:k6*)"
            ));
        }
        let path = joined(from, path);
        if self.surroundings.read(&path).is_ok() {
            return Ok(Target::Module(path));
        }
        let near = [".js", ".ts", "/index.js", "/index.ts"]
            .iter()
            .find(|ending| self.surroundings.read(&format!("{path}{ending}")).is_ok());
        Err(match near {
            Some(ending) => format!("no file {specifier}; did you mean {specifier}{ending}?"),
            None => format!("no file {specifier}"),
        })
    }

    fn read(&mut self, name: &str) -> Result<String, String> {
        if let Some((entry, text)) = &self.entry
            && entry == name
        {
            return Ok(text.clone());
        }
        if let Some(source) = drumfire_k6::library(name) {
            return Ok(source.to_owned());
        }
        let bytes = self.surroundings.read(name)?;
        String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))
    }
}

/// A path, relative to the folder of the file `from`.
pub(crate) fn joined(from: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let is_absolute = from.starts_with('/');
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if is_absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn paths() {
        for (from, path, expected) in [
            ("script.js", "./lib.js", "lib.js"),
            ("a/b/script.js", "../lib.js", "a/lib.js"),
            ("/a/script.js", "./x/../lib.js", "/a/lib.js"),
            ("../script.js", "../lib.js", "../../lib.js"),
            ("a/script.js", "/lib.js", "/lib.js"),
            ("a/script.js", "data.json", "a/data.json"),
        ] {
            assert_eq!(joined(from, path), expected, "{from} {path}");
        }
    }
}
