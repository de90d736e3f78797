//! The remedies of failures and of runs, with the flags of the command line or the keys of a plan.
//!
//! `measure` judges a run, and gives each reason the [`Remedy`] values that its figures support.
//! This file finds the words. Texts are written with flags, and [`Naming::named`] replaces them
//! with keys by the settings of `document`. The caller escapes the sentences, because reasons may
//! quote foreign texts. Remedies are joined by "or". An outcome with many causes has no remedy.

use drumfire_document::flags::plan_setting;
use drumfire_measure::{Cause, Outcome, Reason, Remedy};
use std::borrow::Cow;

/// The way in which a remedy names settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// Settings are flags of the command line.
    #[default]
    Flags,
    /// Settings are keys of a plan, in backticks.
    Keys,
    /// Settings are options of a k6 script, in backticks.
    Script,
}

impl Naming {
    /// A text with its flags named in this way. A word in backticks is a command and stays.
    #[must_use]
    pub fn named(self, text: &str) -> Cow<'_, str> {
        if self != Self::Keys || !text.contains('-') {
            return Cow::Borrowed(text);
        }
        let words = text.split(' ').map(|word| {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
            let key = Some(bare).filter(|_| bare.starts_with('-') && !word.contains('`'));
            match key.and_then(plan_setting) {
                Some(key) => word.replacen(bare, &format!("`{key}`"), 1),
                None => word.to_owned(),
            }
        });
        Cow::Owned(words.collect::<Vec<_>>().join(" "))
    }

    /// A remedy in this naming; `None` if it needs a flag that a script does not have.
    fn remedy(self, text: &'static str) -> Option<Cow<'static, str>> {
        let needs_flag = || {
            let mut words = text.split(' ').filter(|word| !word.contains('`'));
            words.any(|word| word.trim_start_matches('(').starts_with('-'))
        };
        match self {
            Self::Script if needs_flag() => None,
            _ => Some(self.named(text)),
        }
    }

    /// A setting with a value: `-c 20`, or `connections: 20` in backticks.
    fn set(self, flag: &str, value: u64) -> String {
        match (self, plan_setting(flag)) {
            (Self::Keys, Some(key)) => format!("`{key}: {value}`"),
            (Self::Script, _) => format!("`maxVUs: {value}`"),
            _ => format!("{flag} {value}"),
        }
    }
}

/// A reason with its remedies in one sentence. Any of several remedies may help.
#[must_use]
pub fn sentence(reason: &Reason, naming: Naming) -> String {
    let words = |remedy| words(remedy, naming);
    let words: Vec<_> = reason.remedies.iter().filter_map(words).collect();
    match words.split_last() {
        None => reason.text.clone(),
        Some((only, [])) => format!("{}; {only}", reason.text),
        Some((last, others)) => format!("{}; {} or {last}", reason.text, others.join(", ")),
    }
}

/// The remedy as an imperative; `None` if the reason suffices. The numbers are those of `measure`.
fn words(remedy: &Remedy, naming: Naming) -> Option<Cow<'static, str>> {
    let text = match remedy {
        Remedy::LowerRate => "lower the rate",
        Remedy::FewerUsers if naming == Naming::Script => "use fewer VUs",
        Remedy::FewerUsers => "use fewer users (-u, -c)",
        Remedy::AddThreads => "raise --threads",
        Remedy::OwnCores => "run nothing else on its cores",
        Remedy::OwnMachine => "use a machine with dedicated cores",
        Remedy::FewerConnections => "use fewer connections per thread",
        Remedy::LastLonger => "run longer",
        Remedy::Report => "please report this",
        Remedy::Proxy => "check that the proxy is running and listens on its port",
        // The connections of a script follow from its users.
        Remedy::Connections(_) if naming == Naming::Script => return None,
        Remedy::Connections(needed) => {
            let setting = naming.set("-c", *needed);
            return Some(Cow::Owned(format!("try {setting}")));
        }
        Remedy::Descriptors {
            connections,
            descriptors,
        } => {
            let setting = naming.set("-c", *connections);
            return Some(Cow::Owned(format!(
                "raise the limit of open files (ulimit -n {descriptors}), then try {setting}"
            )));
        }
        Remedy::Users(needed) => {
            let setting = naming.set("-u", *needed);
            return Some(Cow::Owned(format!("try {setting}")));
        }
        Remedy::Against(outcome) if outcome.is_timeout() => return None,
        Remedy::Against(outcome) => return self::remedy(*outcome, naming),
        Remedy::Remove(cause) => against(*cause)?,
    };
    naming.remedy(text)
}

/// A remedy for a failure; `None` if the words of the outcome suffice.
#[must_use]
pub fn remedy(outcome: Outcome, naming: Naming) -> Option<Cow<'static, str>> {
    by_flags(outcome).and_then(|text| naming.remedy(text))
}

/// A remedy for failures with these causes, the most frequent first. A cause may have a better
/// remedy than its outcome. `None` if each message contains a remedy.
pub(crate) fn remedy_beside(
    outcome: Outcome,
    mut causes: impl Iterator<Item = Option<Cause>>,
    naming: Naming,
) -> Option<Cow<'static, str>> {
    let first = causes.next().flatten();
    if let Some(text) = first.and_then(against) {
        return naming.remedy(text);
    }
    let is_remedied = |cause| cause == Some(Cause::Remedied);
    let all_are = is_remedied(first) && causes.all(is_remedied);
    (!all_are).then(|| remedy(outcome, naming))?
}

/// The remedies by cause, in the words of the command line.
const fn against(cause: Cause) -> Option<&'static str> {
    match cause {
        Cause::NoCertificate => {
            Some("the server requests a client certificate; set --cert and --key")
        }
        Cause::NoCloseNotify => Some(
            "without close_notify, a body without a length may be cut; let the server end TLS with \
             it or send Content-Length, or accept such bodies with `no_close_notify` in a plan",
        ),
        Cause::Paused => {
            Some("mend that failure first; --connect-backoff sets the maximum pause between dials")
        }
        Cause::Found | Cause::Remedied => None,
    }
}

/// The remedies by outcome, in the words of the command line. A remedy is an action that a user can
/// take at once. Timeouts have a sentence on how they are counted instead.
const fn by_flags(outcome: Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::DnsNotFound => "check the spelling of the host",
        Outcome::DnsFailed | Outcome::DnsTimeout => "try again, or set the address with --resolve",
        Outcome::ConnectRefused => "check that the server is running and listens on this port",
        Outcome::ConnectTimeout | Outcome::ConnectUnreachable => {
            "check the address, the route and firewalls; a full accept queue looks the same"
        }
        Outcome::TlsUntrusted => {
            "trust it or its issuer with --cacert, or skip verification with -k"
        }
        Outcome::TlsName => "use the name in the certificate, with --resolve if needed",
        Outcome::TlsExpired => "renew the certificate, or skip verification with -k",
        Outcome::TlsAlert => "if the server requires a client certificate, set --cert and --key",
        Outcome::TlsProtocol => "for a server without TLS, use http:// (gRPC: --plaintext)",
        Outcome::TlsAlpn => {
            "the server does not offer HTTP/2: leave --http2 out (gRPC needs HTTP/2)"
        }
        Outcome::ConnectReset => {
            "check that the port speaks this protocol: a TLS port needs https:// (gRPC: no --plaintext)"
        }
        Outcome::ProtoNotHttp => "check that the port speaks HTTP/1.1: a TLS port needs https://",
        Outcome::ProtoNotHttp2 => {
            "check that the port speaks HTTP/2: a TLS port needs https:// (gRPC: no --plaintext)"
        }
        Outcome::ClosedReused => {
            "if the connections were idle, raise the server's keep-alive timeout; if not, the server \
             closed them instead of responding"
        }
        Outcome::TimeoutConnect => {
            "counted in the latency as at least this long; --connect-timeout and --timeout set the \
             limit"
        }
        Outcome::TimeoutTls => {
            "counted in the latency as at least this long; --tls-timeout and --timeout set the limit"
        }
        Outcome::TimeoutHead => {
            "counted in the latency as at least this long; --head-timeout and --timeout set the \
             limit"
        }
        Outcome::TimeoutBody => {
            "counted in the latency as at least this long; --timeout sets the limit"
        }
        Outcome::TimeoutTotal => {
            "counted in the latency as at least this long; --timeout sets the limit (gRPC: \
             --deadline)"
        }
        Outcome::TimeoutGap => {
            "counted in the latency as at least this long; --gap-timeout sets the limit"
        }
        Outcome::LimitInbox => "receive the messages before they pile up, or close earlier",
        Outcome::LimitMessage => "raise --max-receive, or request smaller messages",
        Outcome::TimeoutPing => {
            "the connection was dead or the server hung; --ping-timeout sets the limit"
        }
        Outcome::LocalDescriptors => "raise `ulimit -n`, or use fewer connections",
        Outcome::LocalPorts => "keep connections alive, or add --source-ip addresses",
        Outcome::LocalMemory => "use fewer connections, or raise net.ipv4.tcp_mem",
        Outcome::RedirectLimit => "raise -L",
        Outcome::RedirectBlocked => "follow redirects with -L",
        _ => return of_streams(outcome),
    })
}

/// The remedies for outcomes of event streams, language models and WebSockets.
const fn of_streams(outcome: Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::LlmType => "check that the URL is an endpoint of the API",
        Outcome::LlmCut => {
            "the server or a proxy ended the stream early; look at its log, and at its timeouts"
        }
        Outcome::LlmRateLimit | Outcome::LlmOverloaded => {
            "lower the rate, or raise the service's limits"
        }
        Outcome::LlmContext => "make the prompts or the answers shorter",
        Outcome::LlmKey => "check the key in the request's headers",
        Outcome::EventsType => "leave --events out, or request a URL that sends an event stream",
        Outcome::WebSocketRefused => "check the path, the headers and --subprotocol",
        Outcome::WebSocketNotOpen => "add a `connect` step before it",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Naming, against, by_flags, remedy, remedy_beside, words};
    use drumfire_document::flags::plan_setting;
    use drumfire_measure::{Cause, Outcome, Remedy};

    #[test]
    fn remedies_of_a_plan_name_its_keys() {
        for (outcome, expected) in [
            (Outcome::RedirectLimit, "raise `redirects`"),
            (
                Outcome::TlsUntrusted,
                "trust it or its issuer with `tls.cacert`, or skip verification with `tls.insecure`",
            ),
            (
                Outcome::LocalDescriptors,
                "raise `ulimit -n`, or use fewer connections",
            ),
        ] {
            let said = remedy(outcome, Naming::Keys);
            assert_eq!(said.as_deref(), Some(expected));
        }
        let (remedied, other) = (Some(Cause::Remedied), None);
        for (causes, has_remedy) in [
            (&[remedied][..], false),
            (&[remedied, other], true),
            (&[other], true),
            (&[], true),
        ] {
            let causes = causes.iter().copied();
            let said = remedy_beside(Outcome::TlsUntrusted, causes, Naming::Flags);
            assert_eq!(said.is_some(), has_remedy);
        }
        assert_eq!(Naming::Keys.set("-c", 50), "`connections: 50`");
        assert_eq!(Naming::Flags.set("-c", 50), "-c 50");
    }

    #[test]
    fn a_script_has_options_instead_of_flags() {
        assert_eq!(Naming::Script.set("-u", 50), "`maxVUs: 50`");
        let of = |given: &Remedy| words(given, Naming::Script);
        assert_eq!(of(&Remedy::Users(50)).as_deref(), Some("try `maxVUs: 50`"));
        assert_eq!(of(&Remedy::FewerUsers).as_deref(), Some("use fewer VUs"));
        for absent in [Remedy::AddThreads, Remedy::Connections(5)] {
            assert_eq!(of(&absent), None);
        }
        assert!(remedy(Outcome::ConnectRefused, Naming::Script).is_some());
        assert_eq!(remedy(Outcome::RedirectLimit, Naming::Script), None);
    }

    #[test]
    fn a_cause_may_have_a_better_remedy_than_its_outcome() {
        let of = |outcome, cause| remedy_beside(outcome, std::iter::once(cause), Naming::Keys);
        let requested = of(Outcome::ConnectReset, Some(Cause::NoCertificate));
        assert_eq!(
            requested.as_deref(),
            Some("the server requests a client certificate; set `tls.cert` and `tls.key`")
        );
        let other = of(Outcome::ConnectReset, None);
        assert_eq!(other, remedy(Outcome::ConnectReset, Naming::Keys));
        assert!(of(Outcome::Truncated, Some(Cause::NoCloseNotify)).is_some());
        assert_eq!(of(Outcome::Truncated, None), None);
    }

    /// A flag without a key would be left as it is.
    #[test]
    fn every_flag_of_a_remedy_has_a_key() {
        let by_outcome = Outcome::ALL.iter().filter_map(|outcome| by_flags(*outcome));
        let causes = [Cause::NoCertificate, Cause::NoCloseNotify, Cause::Paused];
        for text in by_outcome.chain(causes.into_iter().filter_map(against)) {
            for word in text.split(' ').filter(|word| !word.contains('`')) {
                let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
                let is_known = plan_setting(bare).is_some();
                assert!(!bare.starts_with('-') || is_known, "{bare} in: {text}");
            }
        }
    }
}
