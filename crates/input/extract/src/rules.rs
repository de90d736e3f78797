//! All checks and extractors of one response.

use crate::{Expectation, Extractor, Sampled};
use drumfire_plan::{
    Finding, Inspection, Mismatch, MismatchKind, Response, ResponseFields, Taken, VariableId,
    secret,
};
use drumfire_units::{ByteSize, Nanos};

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
    /// The extracted value of a response, for people. `prefix` precedes the rule.
    fn finding(&self, prefix: &str, response: &Response<'_>) -> Finding {
        let rule = format!("{prefix}{}", self.extractor);
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
    each: MessageRules,
    fields: Vec<String>,
    body_max: Option<ByteSize>,
    answer_max: Option<ByteSize>,
}

/// The expectations about each message of a response, and the values to take from the last message
/// that has them. A message has no header fields, status or time of its own, so these rules read the
/// body only.
#[derive(Clone, Debug, Default)]
pub struct MessageRules {
    /// The expectations, in the order in which they are checked.
    pub expectations: Vec<Expectation>,
    /// The values to take.
    pub takes: Vec<Take>,
}

impl MessageRules {
    /// Whether there are no rules.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.expectations.is_empty() && self.takes.is_empty()
    }
}

/// The word before a rule for each message, in messages and in plans.
const EACH: &str = "each ";

impl Rules {
    /// Combines expectations, which are checked first and in order, and values, which are taken
    /// afterwards. The body, or the text of an answer, is read only if one of them needs it. A body
    /// or a text longer than `body_max` then fails the request.
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
        let answer_max = all.iter().any(|e| e.reads_answer()).then_some(body_max);
        let body_max = all.iter().any(|e| e.reads_body()).then_some(body_max);
        Self {
            expectations,
            sampled: Vec::new(),
            takes,
            each: MessageRules::default(),
            fields,
            body_max,
            answer_max,
        }
    }

    /// Adds rules for each message of responses that carry several.
    #[must_use]
    pub fn with_messages(mut self, each: MessageRules) -> Self {
        self.each = each;
        self
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

    fn answer_max(&self) -> Option<ByteSize> {
        self.answer_max
    }

    fn inspects_messages(&self) -> bool {
        !self.each.is_empty()
    }

    fn inspect_message(&self, message: &[u8], taken: &mut Taken) -> Result<(), Mismatch> {
        let none = ResponseFields::default();
        let message = as_response(message, &none);
        for expectation in &self.each.expectations {
            let judged = expectation.judge(&message, taken.scratch());
            judged.map_err(|mismatch| Mismatch {
                reason: format!("{EACH}{}", mismatch.reason),
                ..mismatch
            })?;
        }
        for take in &self.each.takes {
            // Messages of one stream may have different fields: a value of an earlier one stays.
            let _missing =
                taken.replace(take.variable, |out| take.extractor.extract(&message, out));
        }
        Ok(())
    }

    fn inspect(&self, response: &Response<'_>, taken: &mut Taken) -> Result<(), Mismatch> {
        let mut takes = self.each.takes.iter();
        if let Some(take) = takes.find(|take| !taken.has(take.variable)) {
            let extractor = &take.extractor;
            return Err(Mismatch {
                kind: MismatchKind::Missing,
                reason: format!("{EACH}{extractor}: no message has it"),
            });
        }
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
        let sampled = self.sampled.iter().map(|sampled| &sampled.expectation);
        let checks = self.expectations.iter().chain(sampled);
        let checks = checks.map(|expectation| check_finding("", expectation, response));
        let mut findings: Vec<Finding> = checks.collect();
        findings.extend(self.takes.iter().map(|take| take.finding("", response)));
        findings
    }

    fn message_findings(&self, message: &[u8]) -> Vec<Finding> {
        let none = ResponseFields::default();
        let message = as_response(message, &none);
        let checks = self.each.expectations.iter();
        let checks = checks.map(|expectation| check_finding(EACH, expectation, &message));
        let takes = self.each.takes.iter();
        checks
            .chain(takes.map(|take| take.finding(EACH, &message)))
            .collect()
    }
}

/// The result of an expectation, for people. `prefix` precedes the rule.
fn check_finding(prefix: &str, expectation: &Expectation, response: &Response<'_>) -> Finding {
    let judged = expectation.judge(response, &mut String::new());
    Finding {
        rule: format!("{prefix}{} {}", expectation.subject, expectation.check),
        variable: None,
        result: judged.map(|()| None).map_err(|mismatch| mismatch.reason),
    }
}

/// A message as the response that rules for its body see.
const fn as_response<'a>(message: &'a [u8], fields: &'a ResponseFields) -> Response<'a> {
    Response {
        status: 0,
        fields,
        body: message,
        answer: None,
        time: Nanos::ZERO,
    }
}
