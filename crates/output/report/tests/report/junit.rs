//! Documents of JUnit: of the elements and attributes that Jenkins' schema (`junit-10.xsd`) has, with
//! a case for each answer and threshold, and with counts that add up.

use crate::fixture;
use drumfire_measure::{Summary, Validity};
use drumfire_plan::Secrets;
use drumfire_report::{Naming, junit, sentence};
use uppsala::{Document, NodeId, parse};

/// An element of the schema: its attributes, those of them that it must have, and its children.
struct Rule {
    element: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    children: &'static [&'static str],
}

/// The part of the schema that our documents use.
const SCHEMA: [Rule; 7] = [
    Rule {
        element: "testsuites",
        required: &[],
        optional: &["name", "time", "tests", "failures", "errors"],
        children: &["testsuite"],
    },
    Rule {
        element: "testsuite",
        required: &["name", "tests", "failures", "errors"],
        optional: &["time", "skipped", "timestamp"],
        children: &["properties", "testcase"],
    },
    Rule {
        element: "properties",
        required: &[],
        optional: &[],
        children: &["property"],
    },
    Rule {
        element: "property",
        required: &["name", "value"],
        optional: &[],
        children: &[],
    },
    Rule {
        element: "testcase",
        required: &["name"],
        optional: &["time", "classname"],
        children: &["failure", "system-out"],
    },
    Rule {
        element: "failure",
        required: &[],
        optional: &["type", "message"],
        children: &[],
    },
    Rule {
        element: "system-out",
        required: &[],
        optional: &[],
        children: &[],
    },
];

/// Checks an element and those within it.
fn check(document: &Document<'_>, at: NodeId) {
    let element = document.element(at).unwrap();
    let name = &*element.name.local_name;
    let rule = SCHEMA.iter().find(|rule| rule.element == name);
    let rule = rule.unwrap_or_else(|| panic!("the schema has no {name}"));
    let attributes = element.attributes.iter();
    let attributes: Vec<&str> = attributes.map(|of| &*of.name.local_name).collect();
    for required in rule.required {
        assert!(attributes.contains(required), "{name} lacks {required}");
    }
    for attribute in attributes {
        let is_known = rule.required.contains(&attribute) || rule.optional.contains(&attribute);
        assert!(is_known, "{name} has {attribute}");
    }
    if let Some(time) = element.get_attribute("time") {
        assert!(time.parse::<f64>().unwrap() >= 0.0 && !time.contains('e'));
    }
    for child in document.children(at) {
        if let Some(element) = document.element(child) {
            let child_name = &*element.name.local_name;
            assert!(rule.children.contains(&child_name), "{name}: {child_name}");
            check(document, child);
        }
    }
}

fn xml(summary: &Summary) -> String {
    String::from_utf8(junit::summary(summary, Naming::Flags)).unwrap()
}

#[test]
fn documents_have_what_the_schema_has() {
    for (name, run) in fixture::all() {
        let xml = xml(&run);
        let document = parse(&xml).unwrap_or_else(|error| panic!("{name}: {error:?} in {xml}"));
        check(&document, document.document_element().unwrap());
        let count = |name: &str| document.get_elements_by_tag_name(name).len();
        assert_eq!(count("testcase"), 3 + run.thresholds.len(), "{name}");
        let suite = document.get_elements_by_tag_name("testsuite")[0];
        let number = |of: &str| document.get_attribute(suite, of).unwrap().parse::<usize>();
        assert_eq!(number("tests"), Ok(count("testcase")), "{name}");
        assert_eq!(number("failures"), Ok(count("failure")), "{name}");
        let failed = run.thresholds.iter().filter(|rule| !rule.passed).count();
        assert!(count("failure") >= failed, "{name}");
        for failure in document.get_elements_by_tag_name("failure") {
            assert_ne!(document.text_content_deep(failure).trim(), "", "{name}");
        }
    }
}

/// What a server or a user wrote is neither markup nor a secret.
#[test]
fn hostile_texts_stay_texts() {
    let xml = xml(&fixture::hostile());
    assert!(!xml.contains(fixture::CANARY));
    assert!(!xml.contains(|c: char| c.is_control() && c != '\n'));
    for secret in ["testcase", "drumfire.answers", "classname"] {
        let masked = Secrets::new(&[secret.to_owned()]).masked_xml(&xml);
        let document = parse(&masked).unwrap();
        check(&document, document.document_element().unwrap());
    }
}

/// A load that was not judged fails nothing, and its case contains the reason.
#[test]
fn a_load_that_was_not_judged_passes_with_its_reason() {
    let xml = junit::summary(&fixture::empty(), Naming::Flags);
    let xml = String::from_utf8(xml).unwrap();
    let document = parse(&xml).unwrap();
    let cases = document.get_elements_by_tag_name("testcase");
    let load = cases
        .into_iter()
        .find(|case| document.get_attribute(*case, "name") == Some("drumfire: load kept"));
    let text = document.text_content_deep(load.unwrap());
    assert_eq!(text.trim(), "load not judged\nno request was due");
}

/// The reasons are the text of a case that failed, in the words of the run's caller.
#[test]
fn a_failed_case_has_its_reasons() {
    let mut seen = 0;
    for (name, run) in fixture::all() {
        let mut reasons = Vec::new();
        if run.verdict.validity == Validity::Invalid {
            reasons.extend(&run.verdict.reasons);
        }
        if run.load.kept == Some(false) {
            reasons.extend(&run.load.reasons);
        }
        for naming in [Naming::Flags, Naming::Keys] {
            let xml = String::from_utf8(junit::summary(&run, naming)).unwrap();
            let document = parse(&xml).unwrap();
            let failures = document.get_elements_by_tag_name("failure").into_iter();
            let texts: String = failures
                .map(|failure| document.text_content_deep(failure))
                .collect();
            for reason in &reasons {
                let sentence = sentence(reason, naming);
                assert!(texts.contains(&sentence), "{name}: {sentence} in {texts}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "some run has a reason");
}
