//! The licenses of everything that is linked into the program, as one text that is shipped with it.
//!
//! Most licenses require that their text and the names of the authors accompany the program, and
//! the MPL also requires the location of the source. The text is generated for each release from
//! the sources that cargo unpacked. Each crate has a license text there or an entry in
//! [`ELSEWHERE`].

use crate::{Finding, Repository, metadata};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// The package that is distributed.
const PROGRAM: &str = "drumfire";
/// This file, for findings.
const HERE: &str = "xtask/src/third_party.rs";
/// The registry of crates, which also has their sources.
const REGISTRY: &str = "https://crates.io/crates";

/// The origin of a license text for a crate whose source has no text.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// Another crate of the same authors, under the same license.
    Crate(&'static str),
    /// The MIT license, with this copyright line.
    Mit(&'static str),
}

/// The copyright of oxc, with that of the programs from which parts of it were translated.
const OXC: &str = "Copyright (c) 2024-present VoidZero Inc. & Contributors
Copyright (c) 2023 Boshen
Parts: Copyright (c) 2023 Biome Developers and Contributors
Parts: Copyright (C) 2012-2022 by various contributors (acorn)";

/// Crates whose sources have no license text.
const ELSEWHERE: &[(&str, Origin)] = &[
    ("alloc-stdlib", Origin::Crate("alloc-no-stdlib")),
    ("async-nats", Origin::Crate("nuid")),
    ("base64-simd", Origin::Mit("Copyright (c) 2021 Nugine")),
    ("oxc", Origin::Mit(OXC)),
    (
        "oxc-browserslist",
        Origin::Mit("Copyright (c) 2021-present Pig Fang\nCopyright (c) 2024-present Boshen"),
    ),
    ("oxc_allocator", Origin::Mit(OXC)),
    ("oxc_ast", Origin::Mit(OXC)),
    ("oxc_ast_visit", Origin::Mit(OXC)),
    ("oxc_codegen", Origin::Mit(OXC)),
    ("oxc_compat", Origin::Mit(OXC)),
    ("oxc_data_structures", Origin::Mit(OXC)),
    ("oxc_diagnostics", Origin::Mit(OXC)),
    ("oxc_ecmascript", Origin::Mit(OXC)),
    ("oxc_estree", Origin::Mit(OXC)),
    ("oxc_index", Origin::Mit("Copyright (c) Boshen")),
    ("oxc_parser", Origin::Mit(OXC)),
    ("oxc_regular_expression", Origin::Mit(OXC)),
    ("oxc_semantic", Origin::Mit(OXC)),
    ("oxc_span", Origin::Mit(OXC)),
    ("oxc_str", Origin::Mit(OXC)),
    ("oxc_syntax", Origin::Mit(OXC)),
    ("oxc_transformer", Origin::Mit(OXC)),
    ("oxc_transformer_plugins", Origin::Mit(OXC)),
    ("oxc_traverse", Origin::Mit(OXC)),
    ("pratt", Origin::Mit("Copyright (c) Klas Segeljakt")),
    ("rquickjs-core", Origin::Crate("rquickjs")),
    // The text in its source is the license of QuickJS.
    ("rquickjs-sys", Origin::Crate("rquickjs")),
    ("selectors", Origin::Crate("cssparser")),
    ("vsimd", Origin::Mit("Copyright (c) 2021 Nugine")),
];

/// Texts of a license that the user of a crate may choose and that we do not choose: zstd is under
/// the BSD license or the GPL.
const NOT_CHOSEN: &[(&str, &str)] = &[("zstd-sys", "zstd/COPYING")];

/// Folders of a crate whose files are not linked.
const NOT_LINKED: &[&str] = &["benches", "examples", "fuzz", "testdata", "tests"];

const SQLITE: &str = "SQLite is in the public domain (https://sqlite.org/copyright.html):

The author disclaims copyright to this source code. In place of a legal notice, here is a blessing:

   May you do good and not evil.
   May you find forgiveness for yourself and forgive others.
   May you share freely, never taking more than you give.";

const RUST: &str = "Copyright (c) The Rust Project Developers (see https://thanks.rust-lang.org)";
const MUSL: &str = "Copyright © 2005-2020 Rich Felker, et al.";

const MIT: &str =
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the \"Software\"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense,
and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so,
subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN
NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,
WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.";

/// A linked part: a crate, or a library that no crate is named after.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// The name and version.
    name: String,
    /// The license as an SPDX expression.
    license: String,
    /// The location of the source.
    source: String,
    texts: Vec<String>,
}

/// Every crate that is linked on this system and has no license text, and every unnecessary entry
/// of [`ELSEWHERE`].
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let found = metadata::host().and_then(|system| crates(repository, &system));
    match found {
        Ok(crates) => findings(&crates),
        Err(message) => vec![Finding::violation("Cargo.toml", 0, message)],
    }
}

/// The licenses of everything that is linked into the program for a system, given by its target
/// triple.
///
/// # Errors
/// If cargo cannot list the linked packages, a source cannot be read, or a crate has no license
/// text.
pub fn print(repository: &Repository, system: &str) -> Result<String, String> {
    let crates = crates(repository, system)?;
    if let Some(finding) = findings(&crates).first() {
        return Err(finding.to_string());
    }
    let mut parts: Vec<Part> = crates.iter().map(|one| one.part(&crates)).collect();
    parts.extend(libraries(&crates, system));
    Ok(text(&parts))
}

/// A crate with the facts from its source.
#[derive(Clone, Debug)]
struct Crate {
    name: String,
    version: String,
    license: String,
    /// The license texts in the source by their paths.
    texts: BTreeMap<String, String>,
}

impl Crate {
    /// Whether the crate has its own text: texts in subfolders belong to included code of others.
    fn is_licensed(&self) -> bool {
        self.texts.keys().any(|path| !path.contains('/'))
    }

    fn part(&self, all: &[Self]) -> Part {
        let mut texts: Vec<String> = self.texts.values().cloned().collect();
        match elsewhere(&self.name) {
            Some(Origin::Mit(copyright)) => texts.push(mit(copyright)),
            Some(Origin::Crate(name)) => {
                let others = all.iter().filter(|other| other.name == name);
                let own = others.flat_map(|other| &other.texts);
                let own = own.filter(|(path, _)| !path.contains('/'));
                texts.extend(own.map(|(_, text)| text.clone()));
            }
            None => {}
        }
        Part {
            name: format!("{} {}", self.name, self.version),
            license: self.license.clone(),
            source: format!("{REGISTRY}/{}/{}", self.name, self.version),
            texts,
        }
    }
}

fn elsewhere(name: &str) -> Option<Origin> {
    let mut entries = ELSEWHERE.iter();
    entries.find_map(|(known, origin)| (*known == name).then_some(*origin))
}

fn mit(copyright: &str) -> String {
    format!("MIT License\n\n{copyright}\n\n{MIT}")
}

/// The linked libraries that are not crates themselves, for these crates on a system.
fn libraries(crates: &[Crate], system: &str) -> Vec<Part> {
    let part = |name: &str, license: &str, source: &str, text: String| Part {
        name: name.to_owned(),
        license: license.to_owned(),
        source: source.to_owned(),
        texts: vec![text],
    };
    let mut parts = vec![part(
        "The Rust standard library",
        "MIT OR Apache-2.0",
        "https://github.com/rust-lang/rust",
        mit(RUST),
    )];
    if crates.iter().any(|one| one.name == "libsqlite3-sys") {
        let text = SQLITE.to_owned();
        parts.push(part("SQLite", "blessing", "https://sqlite.org", text));
    }
    if system.ends_with("-musl") {
        parts.push(part("musl", "MIT", "https://musl.libc.org", mit(MUSL)));
    }
    parts
}

fn findings(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in crates {
        let message = match (one.is_licensed(), elsewhere(&one.name)) {
            (true, None) => continue,
            (true, Some(_)) => "has a license text now: it is one too many in ELSEWHERE",
            (false, None) => "has no license text in its source: ELSEWHERE is to say whose it has",
            (false, Some(Origin::Crate(other))) => {
                let mut others = crates.iter();
                if others.any(|one| one.name == other && one.is_licensed()) {
                    continue;
                }
                "has the license text of a crate that has none itself or is not linked"
            }
            (false, Some(Origin::Mit(_))) if one.license == "MIT" => continue,
            (false, Some(Origin::Mit(_))) => {
                "is not under the MIT license, which ELSEWHERE gives it"
            }
        };
        let message = format!("`{}` {} {message}", one.name, one.version);
        findings.push(Finding::violation(HERE, 0, message));
    }
    for (name, _) in ELSEWHERE {
        if !crates.iter().any(|one| one.name == *name) {
            let message = format!("`{name}` is not linked: it is one too many in ELSEWHERE");
            findings.push(Finding::violation(HERE, 0, message));
        }
    }
    findings
}

/// The external crates that are linked into the program on a system.
fn crates(repository: &Repository, system: &str) -> Result<Vec<Crate>, String> {
    let packages = metadata::packages_of(repository, system)?;
    let mut crates = Vec::new();
    for (name, version) in metadata::linked_into(repository, PROGRAM, system)? {
        let package = packages
            .iter()
            .find(|package| package["name"] == *name && package["version"] == *version)
            .ok_or_else(|| format!("cargo metadata lacks {name} {version}"))?;
        if package["source"].is_null() {
            continue;
        }
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let folder = Path::new(manifest)
            .parent()
            .unwrap_or_else(|| Path::new(""));
        let mut texts = BTreeMap::new();
        read_texts(folder, "", &mut texts)
            .map_err(|error| format!("failed to read the source of {name} {version}: {error}"))?;
        texts.retain(|path, _| !NOT_CHOSEN.contains(&(name.as_str(), path.as_str())));
        let license = package["license"].as_str().unwrap_or("no license");
        crates.push(Crate {
            license: license.to_owned(),
            name,
            version,
            texts,
        });
    }
    Ok(crates)
}

/// Reads all license texts in a folder of a source and in its subfolders.
fn read_texts(root: &Path, folder: &str, texts: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match folder {
            "" => name.clone(),
            _ => format!("{folder}/{name}"),
        };
        let kind = entry.file_type()?;
        if kind.is_dir() && !NOT_LINKED.contains(&name.as_str()) {
            read_texts(root, &path, texts)?;
        } else if kind.is_file() && is_license(&name) {
            let bytes = std::fs::read(entry.path())?;
            texts.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(())
}

/// Whether a file is a license by its name, and not source code named after one.
fn is_license(name: &str) -> bool {
    let name = name.to_lowercase();
    let starts = [
        "license",
        "licence",
        "copying",
        "copyright",
        "notice",
        "unlicense",
    ];
    let ends = [
        ".rs", ".c", ".h", ".toml", ".html", ".py", ".go", ".js", ".json", ".yml",
    ];
    starts.iter().any(|start| name.starts_with(start))
        && !ends.iter().any(|end| name.ends_with(end))
}

/// The list of all parts, and each text once with the parts that have it.
fn text(parts: &[Part]) -> String {
    let mut out = String::from(
        "drumfire is linked with the crates and libraries below, each under its own license. Behind the\n\
         list stand the texts of these licenses, each once, with the parts whose sources have it.\n\n",
    );
    // A text that is only wrapped or indented differently counts as equal.
    let mut texts: Vec<(Vec<&str>, &str, Vec<&str>)> = Vec::new();
    for part in parts {
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{}\n    {}\n    {}",
            part.name, part.license, part.source
        );
        for text in &part.texts {
            let words: Vec<&str> = text.split_whitespace().collect();
            match texts.iter_mut().find(|(known, ..)| *known == words) {
                Some((.., names)) if names.contains(&part.name.as_str()) => {}
                Some((.., names)) => names.push(&part.name),
                None => texts.push((words, text, vec![&part.name])),
            }
        }
    }
    for (_, text, names) in texts {
        let line = "=".repeat(80);
        let names = names.join("\n");
        let text = text.replace('\r', "");
        let text = text.trim_matches('\n').trim_end();
        let _ = write!(out, "\n{line}\n{names}\n{line}\n\n{text}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, license: &str, texts: &[(&str, &str)]) -> Crate {
        let owned = texts
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Crate {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.to_owned(),
            texts: owned.collect(),
        }
    }

    /// All crates of [`ELSEWHERE`], with the crates whose texts they use.
    fn known() -> Vec<Crate> {
        let mut all = Vec::new();
        for (name, origin) in ELSEWHERE {
            all.push(made(name, "MIT", &[("deeper/LICENSE", "of a part")]));
            if let Origin::Crate(other) = origin {
                all.push(made(other, "MIT", &[("LICENSE", "of the makers")]));
            }
        }
        all
    }

    #[test]
    fn a_crate_without_a_text_is_found() {
        assert!(findings(&known()).is_empty());
        let messages = |change: &dyn Fn(&mut Vec<Crate>)| {
            let mut crates = known();
            change(&mut crates);
            let found = findings(&crates);
            found
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let bare = made("bare", "MIT", &[("deeper/LICENSE", "of a part")]);
        let found = messages(&|crates| crates.push(bare.clone()));
        assert!(
            found.contains("`bare` 1.0.0 has no license text"),
            "{found}"
        );
        let found = messages(&|crates| crates.retain(|one| one.name != "pratt"));
        assert!(found.contains("`pratt` is not linked"), "{found}");
        let found = messages(&|crates| crates.retain(|one| one.name != "nuid"));
        assert!(
            found.contains("`async-nats` 1.0.0 has the license text of"),
            "{found}"
        );
        let found = messages(&|crates| {
            for one in crates.iter_mut().filter(|one| one.name == "pratt") {
                one.license = "ISC".to_owned();
            }
        });
        assert!(
            found.contains("`pratt` 1.0.0 is not under the MIT"),
            "{found}"
        );
        let found = messages(&|crates| crates.push(made("pratt", "MIT", &[("LICENSE", "x")])));
        assert!(
            found.contains("`pratt` 1.0.0 has a license text now"),
            "{found}"
        );
    }

    #[test]
    fn a_text_stands_once_with_all_that_have_it() {
        let mut crates = known();
        crates.push(made(
            "one",
            "ISC",
            &[("LICENSE", "The same\n text.\r\n"), ("COPYING", "Other.")],
        ));
        crates.push(made("two", "Zlib OR ISC", &[("LICENSE", "The same text.")]));
        let parts: Vec<Part> = crates.iter().map(|one| one.part(&crates)).collect();
        let text = text(&parts);
        assert!(
            text.contains("two 1.0.0\n    Zlib OR ISC\n    https://crates.io/crates/two/1.0.0\n")
        );
        let bar = "=".repeat(80);
        assert!(text.contains(&format!(
            "{bar}\none 1.0.0\ntwo 1.0.0\n{bar}\n\nThe same\n text.\n"
        )));
        assert!(!text.contains("The same text."), "{text}");
        assert_eq!(text.matches("of the makers").count(), 1);
        assert!(text.contains("Klas Segeljakt\n\nPermission is hereby granted"));
    }

    #[test]
    fn libraries_in_c_are_named() {
        let names = |crates: &[Crate], system: &str| {
            let parts = libraries(crates, system);
            parts.into_iter().map(|part| part.name).collect::<Vec<_>>()
        };
        let sqlite = made("libsqlite3-sys", "MIT", &[]);
        let rust = "The Rust standard library";
        assert_eq!(names(&[], "x86_64-unknown-linux-gnu"), [rust]);
        assert_eq!(
            names(&[sqlite], "aarch64-unknown-linux-musl"),
            [rust, "SQLite", "musl"]
        );
    }

    #[test]
    fn licenses_are_known_by_their_names() {
        for (name, is) in [
            ("LICENSE", true),
            ("license-MIT.txt", true),
            ("LICENSE.BSD-3-Clause", true),
            ("COPYRIGHT", true),
            ("UNLICENSE", true),
            ("licenses.rs", false),
            ("README.md", false),
        ] {
            assert_eq!(is_license(name), is, "{name}");
        }
    }
}
