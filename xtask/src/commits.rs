//! A commit is one change with a name and a reason: a short subject, and a body with the reason.

use crate::{Finding, Repository};
use std::path::Path;
use std::process::Command;

/// The check applies to the commits after this one. The base need not move; older commits would
/// fail.
const BASE: &str = "3eac115f4bb1d96bbf0b48103cad41ae2edb6ca5";
/// The maximum number of characters of a subject: what `git log --oneline` shows on a terminal of
/// 80 columns.
const SUBJECT_MAX: usize = 72;
/// Separates commits, and a commit's name from its message, in git's output.
const COMMIT: char = '\u{1e}';
const MESSAGE: char = '\u{1f}';

/// Every commit after `BASE` that violates a rule. Empty if the history is missing, as in an
/// unpacked archive.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let log = history(repository.root(), BASE).unwrap_or_default();
    log.split(COMMIT).skip(1).flat_map(findings).collect()
}

/// The commits after this one, as git prints them; `None` if the repository's history is missing.
fn history(root: &Path, base: &str) -> Option<String> {
    // If this folder is part of another repository, for instance a vendored copy, the history is
    // not ours.
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(top.trim()).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    let format = format!("--format={COMMIT}%h{MESSAGE}%B");
    let log = |range: &str| git(root, &["log", "--no-merges", &format, range]);
    if git(root, &["cat-file", "-e", &format!("{base}^{{commit}}")]).is_some() {
        return log(&format!("{base}..HEAD"));
    }
    // A shallow clone without the base starts after it, so all its commits are new.
    let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"])?.trim() == "true";
    if is_shallow { log("HEAD") } else { None }
}

/// The output of git; `None` if git fails or is not installed.
fn git(root: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // A hook sets variables for another repository, and a checkout of another user is ours too.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let output = command
        .args(["-c", "safe.directory=*", "-c", "log.showSignature=false"])
        .args(args)
        .current_dir(root)
        .output()
        .ok()?;
    let is_done = output.status.success();
    is_done.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The mistakes of one commit, given as its name, [`MESSAGE`] and its message.
fn findings(commit: &str) -> Vec<Finding> {
    let Some((name, message)) = commit.split_once(MESSAGE) else {
        return Vec::new();
    };
    let place = format!("commit {name}");
    mistakes(message)
        .into_iter()
        .map(|mistake| Finding::violation(&place, 0, mistake))
        .collect()
}

fn mistakes(message: &str) -> Vec<String> {
    let mut mistakes = Vec::new();
    let mut lines = message.lines();
    let subject = lines.next().unwrap_or("");
    let length = subject.chars().count();
    if length > SUBJECT_MAX {
        mistakes.push(format!(
            "its subject has {length} characters; say it in {SUBJECT_MAX}, the rest in the body"
        ));
    }
    if subject.contains(';') {
        mistakes.push("its subject joins changes with `;`; make a commit of each".to_owned());
    }
    if !subject
        .split_once(": ")
        .is_some_and(|(area, _)| is_area(area))
    {
        mistakes.push("its subject does not begin with `area: `".to_owned());
    }
    if lines.next().is_some_and(|line| !line.trim().is_empty()) {
        mistakes.push("its second line is not empty".to_owned());
    }
    if !lines.any(|line| !line.trim().is_empty() && !is_trailer(line)) {
        mistakes.push("it has no body that says why".to_owned());
    }
    mistakes
}

/// Whether a text is one or several crates, or another part of the repository: `http1`, `net,
/// engine`.
fn is_area(area: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_/., ".contains(c);
    !area.is_empty() && area.chars().all(is_word)
}

/// Whether a line is a trailer, such as `Signed-off-by: …`, which does not describe the change.
fn is_trailer(line: &str) -> bool {
    let key = line.split_once(": ").map_or("", |(key, _)| key);
    key.contains('-') && key.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::{COMMIT, MESSAGE, SUBJECT_MAX, findings, git, history, mistakes};
    use std::path::{Path, PathBuf};

    const WHY: &str = "\n\nBecause it was wrong.\n";

    #[test]
    fn a_good_message_passes() {
        for subject in ["http1: refuse a sign", "net, engine: wait", "xtask: one"] {
            let found = mistakes(&format!("{subject}{WHY}"));
            assert!(found.is_empty(), "{subject}: {found:?}");
        }
        let exact = format!("a: {}", "é".repeat(SUBJECT_MAX - 3));
        assert!(mistakes(&format!("{exact}{WHY}")).is_empty());
    }

    #[test]
    fn every_rule_can_fail() {
        let long = format!("a: {}", "é".repeat(SUBJECT_MAX - 2));
        for (message, word) in [
            (format!("{long}{WHY}"), "73 characters"),
            (format!("a: one; b: two{WHY}"), "`;`"),
            (format!("refuse a sign{WHY}"), "`area: `"),
            (format!("Merge a: b{WHY}"), "`area: `"),
            ("a: b\nright after\n\nwhy\n".to_owned(), "second line"),
            ("a: b\n".to_owned(), "no body"),
            ("a: b\n\n\n".to_owned(), "no body"),
            ("a: b\n\nSigned-off-by: A B <a@b>\n".to_owned(), "no body"),
        ] {
            let found = mistakes(&message);
            assert!(
                found.len() == 1 && found[0].contains(word),
                "{message:?}: {found:?}"
            );
        }
    }

    #[test]
    fn a_finding_names_its_commit() {
        let log = format!("{COMMIT}abc{MESSAGE}a: b\n\nwhy\n\n{COMMIT}def{MESSAGE}a: b\n\n");
        let found: Vec<String> = log
            .split(COMMIT)
            .flat_map(findings)
            .map(|finding| finding.to_string())
            .collect();
        assert_eq!(found, ["commit def: it has no body that says why"]);
    }

    /// A temporary folder of a test. Dropping the value removes the folder.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("drumfire-commits-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _gone = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Adds an empty commit and returns its name.
    fn commit(root: &Path, subject: &str) -> String {
        let who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
        let made = [
            "commit",
            "-q",
            "--allow-empty",
            "--no-gpg-sign",
            "-m",
            subject,
        ];
        git(root, &[&who[..], &made].concat()).unwrap();
        git(root, &["rev-parse", "HEAD"]).unwrap().trim().to_owned()
    }

    #[test]
    fn whole_shallow_and_missing_histories_are_told_apart() {
        let (whole, shallow) = (Folder::new("whole"), Folder::new("shallow"));
        let (root, clone) = (&whole.0, &shallow.0);
        assert_eq!(history(root, "HEAD"), None, "no repository");
        if git(root, &["init", "-q"]).is_none() {
            eprintln!("skipped: this test needs git");
            return;
        }
        let [base, _, _] = ["a: old", "a: one", "a: two"].map(|subject| commit(root, subject));
        let count =
            |root: &Path, base: &str| history(root, base).map(|log| log.matches(COMMIT).count());
        assert_eq!(count(root, &base), Some(2), "those after the base");
        let unknown = base
            .replace(|c: char| c.is_ascii_digit(), "f")
            .replace('a', "b");
        assert_eq!(count(root, &unknown), None, "a history that is not ours");
        std::fs::create_dir(root.join("below")).unwrap();
        assert_eq!(
            count(&root.join("below"), &base),
            None,
            "a copy in another's"
        );
        let url = format!("file://{}", root.display());
        git(clone, &["clone", "-q", "--depth", "1", &url, "."]).unwrap();
        assert_eq!(count(clone, &base), Some(1), "all that a shallow clone has");
    }
}
