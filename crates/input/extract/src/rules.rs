//! All checks and extractors of one response.

use crate::{Expectation, Extractor, Sampled};
use drumfire_plan::{
    Finding, Inspection, Mismatch, MismatchKind, Response, Taken, VariableId, secret,
};
use drumfire_units::ByteSize;

/// A variable that gets its value from a response.
#[derive(Clone, Debug)]
pub struct Take {
    /// The variable.
    pub variable: VariableId,
    /// The name of the variable in the plan.
    pub name: String,
    /// The extractor of the value.
    pub extractor: Extractor,
}

impl Take {
    /// The extracted value of a response, for people.
    fn finding(&self, response: &Response<'_>) -> Finding {
        let rule = self.extractor.to_string();
        let mut text = String::new();
        let result = match self.extractor.extract(response, &mut text) {
            Err(none) => Err(none.to_string()),
            Ok(_) if secret::is_secret(&rule) || secret::is_secret(&self.name) => {
                Ok(Some(secret::MASK.to_owned()))
            }
            Ok(_) => Ok(Some(text)),
        };
        Finding {
            rule,
            variable: Some(self.name.clone()),
            result,
        }
    }
}

/// The expectations about a response, and the values to take.
#[derive(Clone, Debug)]
pub struct Rules {
    expectations: Vec<Expectation>,
    sampled: Vec<Sampled>,
    takes: Vec<Take>,
    fields: Vec<String>,
    body_max: Option<ByteSize>,
}

impl Rules {
    /// Combines expectations, which are checked first and in order, and values, which are taken
    /// afterwards. The body is read only if one of them needs it. A body longer than `body_max`
    /// then fails the request.
    #[must_use]
    pub fn new(expectations: Vec<Expectation>, takes: Vec<Take>, body_max: ByteSize) -> Self {
        let subjects = expectations.iter().map(|expectation| &expectation.subject);
        let all: Vec<_> = subjects
            .chain(takes.iter().map(|take| &take.extractor))
            .collect();
        let fields = all.iter().filter_map(|extractor| extractor.header());
        let mut fields: Vec<_> = fields.map(str::to_owned).collect();
        fields.sort_unstable();
        fields.dedup();
        let body_max = all.iter().any(|e| e.reads_body()).then_some(body_max);
        Self {
            expectations,
            sampled: Vec::new(),
            takes,
            fields,
            body_max,
        }
    }

    /// Adds expectations about the body that are checked for a share of all responses, after the
    /// others. Every body is then read, up to `body_max`.
    #[must_use]
    pub fn with_sampled(mut self, sampled: Vec<Sampled>, body_max: ByteSize) -> Self {
        if !sampled.is_empty() {
            self.body_max = Some(body_max);
        }
        self.sampled = sampled;
        self
    }
}

impl Inspection for Rules {
    fn fields(&self) -> &[String] {
        &self.fields
    }

    fn body_max(&self) -> Option<ByteSize> {
        self.body_max
    }

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        for expectation in &self.expectations {
            expectation.judge(response, taken.scratch())?;
        }
        for sampled in &self.sampled {
            sampled.judge(response, taken.scratch())?;
        }
        for take in &self.takes {
            let Take {
                variable,
                extractor,
                ..
            } = take;
            let read = taken.store(*variable, |out| extractor.extract(response, out));
            read.map_err(|none| Mismatch {
                kind: MismatchKind::Missing,
                reason: format!("{extractor}: {none}"),
            })?;
        }
        Ok(())
    }

    fn findings(&self, response: &Response<'_>) -> Vec<Finding> {
        let mut scratch = String::new();
        let sampled = self.sampled.iter().map(|sampled| &sampled.expectation);
        let checks = self.expectations.iter().chain(sampled);
        let checks = checks.map(|expectation| Finding {
            rule: format!("{} {}", expectation.subject, expectation.check),
            variable: None,
            result: expectation
                .judge(response, &mut scratch)
                .map(|()| None)
                .map_err(|mismatch| mismatch.reason),
        });
        let mut findings: Vec<Finding> = checks.collect();
        findings.extend(self.takes.iter().map(|take| take.finding(response)));
        findings
    }
}
