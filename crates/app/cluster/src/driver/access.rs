//! Access to a NATS server: its address, TLS, a user, and missing permissions.
//!
//! If a user may not do something, a server sends a separate message, and a request to a forbidden
//! subject gets no reply. So each connection has a queue of [`Refusals`], which the drivers watch
//! together with everything they wait for.

use super::DriverError;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerError, Subscriber};
use drumfire_plan::secret;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver};

/// The oldest server version that does not lose a stream when it is killed (issue 6888 of
/// nats-server).
const SERVER_MIN: [u64; 3] = [2, 10, 23];

/// The maximum delay between two attempts to reconnect.
const RECONNECT_MAX: Duration = Duration::from_millis(100);

/// The address of a NATS server and the credentials for it.
#[derive(Clone, Debug)]
pub struct NatsCredentials {
    /// The URL; `tls://` requires TLS.
    pub url: String,
    /// The user, in addition to a user in the URL.
    pub user: NatsUser,
    /// The TLS files.
    pub tls: NatsTls,
    /// The group of agents, which is a part of each subject.
    pub group: String,
}

/// A NATS user.
#[derive(Clone, Default)]
pub enum NatsUser {
    /// The user in the URL, or no user.
    #[default]
    Unnamed,
    /// A user whose token and key are in this file.
    Creds(PathBuf),
    /// A user identified by the key with this seed.
    Nkey(String),
    /// A user with a name and a password.
    Password(String, String),
}

/// The TLS files for a NATS server, in PEM.
#[derive(Clone, Debug, Default)]
pub struct NatsTls {
    /// The authority of the server's certificate, in addition to the system's authorities.
    pub authority: Option<PathBuf>,
    /// The client's certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The role of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Agent,
    Coordinator,
}

/// A permission that the user of a connection lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    role: Role,
    /// Whether the permission is to publish; otherwise, it is to subscribe.
    is_publish: bool,
    subject: String,
}

/// The refusals of a connection, in order of arrival.
pub(super) type Refusals = UnboundedReceiver<Refusal>;

impl fmt::Debug for NatsUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unnamed => "Unnamed",
            Self::Creds(_) => "Creds",
            Self::Nkey(_) => "Nkey",
            Self::Password(..) => "Password",
        })
    }
}

impl NatsCredentials {
    /// The URL, or a list of URLs, without users and passwords.
    #[must_use]
    pub fn place(&self) -> String {
        let urls: Vec<String> = self.url.split(',').map(secret::url).collect();
        urls.join(",")
    }

    pub(super) async fn connect(&self, role: Role) -> Result<(Client, Refusals), DriverError> {
        let (refuse, refusals) = mpsc::unbounded_channel();
        let options = self.options().await?.event_callback(move |event| {
            if let Event::ServerError(ServerError::Other(text)) = event
                && let Some(refusal) = Refusal::parse(&text, role)
            {
                // The driver may have left.
                let _left = refuse.send(refusal);
            }
            std::future::ready(())
        });
        let client = options.connect(&self.url).await;
        let client = client.map_err(|error| {
            let text = error.to_string();
            let remedy = match error.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    "; specify a user with --creds, --nkey, or NATS_USER and NATS_PASSWORD in the \
                     environment"
                }
                _ if text.contains("invalid peer certificate") => {
                    "; specify the authority of the server's certificate with --nats-cacert"
                }
                _ => "",
            };
            DriverError::Connect(format!("{}: {text}{remedy}", self.place()))
        })?;
        let info = client.server_info();
        check_version(&info.version)?;
        Ok((client, refusals))
    }

    async fn options(&self) -> Result<ConnectOptions, DriverError> {
        // A killed server returns within a lease, or too late.
        let mut options = ConnectOptions::new().name("drumfire");
        options = options.reconnect_delay_callback(move |attempts| {
            RECONNECT_MAX.min(Duration::from_millis(10 * attempts as u64))
        });
        options = match &self.user {
            NatsUser::Unnamed => options,
            NatsUser::Creds(file) => {
                let with_file = options.credentials_file(file).await;
                with_file
                    .map_err(|error| DriverError::Connect(format!("{}: {error}", file.display())))?
            }
            NatsUser::Nkey(seed) => options.nkey(seed.clone()),
            NatsUser::Password(name, password) => {
                options.user_and_password(name.clone(), password.clone())
            }
        };
        if let Some(file) = &self.tls.authority {
            // A server without TLS could be an impostor.
            options = options
                .add_root_certificates(file.clone())
                .require_tls(true);
        }
        if let Some((certificate, key)) = &self.tls.identity {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(options)
    }

    pub(super) fn subject(&self, of: &str) -> String {
        format!("drumfire.{}.{of}", self.group)
    }

    /// The name of the group's bucket in the object store.
    pub(super) fn bucket(&self) -> String {
        format!("drumfire-{}", self.group)
    }

    pub(super) async fn subscribe(
        &self,
        client: &Client,
        of: &str,
    ) -> Result<Subscriber, DriverError> {
        let subscriber = client.subscribe(self.subject(of)).await;
        subscriber.map_err(|error| DriverError::Stream(error.to_string()))
    }
}

impl Refusal {
    /// Parses a server's message: `Permissions Violation for Publish to "SUBJECT"`.
    fn parse(text: &str, role: Role) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let rest = lower.strip_prefix("permissions violation for ")?;
        let is_publish = rest.starts_with("publish");
        let subject = text.split('"').nth(1)?.to_owned();
        Some(Self {
            role,
            is_publish,
            subject,
        })
    }

    /// The required permission: whether it is to publish, and its subject.
    pub(super) fn right(&self) -> (bool, String) {
        (self.is_publish, self.pattern())
    }

    /// The subject as a configuration contains it. The subjects of an inbox and of a run contain a
    /// random number, which a configuration replaces with a wildcard.
    fn pattern(&self) -> String {
        let words: Vec<&str> = self.subject.split('.').collect();
        match words.as_slice() {
            ["_INBOX", ..] => "_INBOX.>".to_owned(),
            ["drumfire", group, _, "share", _] => format!("drumfire.{group}.*.share.*"),
            ["$JS", "FC", stream, ..] => format!("$JS.FC.{stream}.>"),
            ["$O", bucket, ..] => format!("$O.{bucket}.>"),
            ["$JS", "API", rest @ ..] => {
                // `$JS.API.VERB.NOUN.STREAM`, followed by names.
                let bucket = rest.iter().position(|word| word.starts_with("OBJ_"));
                match bucket.filter(|_| self.role == Role::Agent) {
                    Some(at) if at + 1 < rest.len() => {
                        format!("$JS.API.{}.>", rest[..=at].join("."))
                    }
                    Some(_) => self.subject.clone(),
                    None => "$JS.API.>".to_owned(),
                }
            }
            _ => self.subject.clone(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (does, right) = match self.is_publish {
            true => ("publish to", "publish"),
            false => ("subscribe to", "subscribe"),
        };
        write!(
            f,
            "NATS forbids this user to {does} {}; allow it to {right} \"{}\"",
            self.subject,
            self.pattern()
        )
    }
}

/// The result of a step, or the refusal if it comes first.
pub(super) async fn unless_refused<T>(
    refusals: &mut Refusals,
    step: impl Future<Output = Result<T, DriverError>>,
) -> Result<T, DriverError> {
    tokio::select! {
        biased;
        Some(refusal) = refusals.recv() => Err(DriverError::Forbidden(refusal)),
        done = step => done,
    }
}

/// Rejects servers that lose acknowledged messages because of bugs that later versions fixed.
fn check_version(version: &str) -> Result<(), DriverError> {
    let numbers = version.split(['.', '-']).map(str::parse::<u64>);
    let numbers: Vec<u64> = numbers.map_while(Result::ok).take(3).collect();
    if numbers.as_slice() >= SERVER_MIN.as_slice() {
        return Ok(());
    }
    let [major, minor, patch] = SERVER_MIN;
    Err(DriverError::Server(format!(
        "nats-server {version} can lose whole streams when it is killed; use \
         {major}.{minor}.{patch} or later"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_no_password() {
        for (url, expected) in [
            ("nats://a:p@10.0.0.5:4222", "nats://***@10.0.0.5:4222"),
            ("nats://10.0.0.5:4222", "nats://10.0.0.5:4222"),
            ("token@host", "***@host"),
            ("a:p@b,nats://c:q@d", "***@b,nats://***@d"),
        ] {
            let credentials = NatsCredentials {
                url: url.to_owned(),
                user: NatsUser::Unnamed,
                tls: NatsTls::default(),
                group: String::new(),
            };
            assert_eq!(credentials.place(), expected);
        }
    }

    #[test]
    fn servers_that_are_too_old_are_refused() {
        for (version, is_taken) in [
            ("2.9.10", false),
            ("2.10.22", false),
            ("2.10.23", true),
            ("2.12.2", true),
            ("2.15.0-beta.1", true),
            ("3.0.0", true),
        ] {
            assert_eq!(check_version(version).is_ok(), is_taken, "{version}");
        }
    }

    #[test]
    fn a_refusal_names_the_right_that_is_missing() {
        for (text, shown) in [
            (
                "Permissions Violation for Publish to \"drumfire.g.beat\"",
                "publish to drumfire.g.beat; allow it to publish \"drumfire.g.beat\"",
            ),
            (
                "Permissions Violation for Publish to \"drumfire.g.r1.share.3\"",
                "allow it to publish \"drumfire.g.*.share.*\"",
            ),
            (
                "Permissions Violation for Subscription to \"_INBOX.abc.*\"",
                "subscribe to _INBOX.abc.*; allow it to subscribe \"_INBOX.>\"",
            ),
            (
                "Permissions Violation for Publish to \"$JS.API.STREAM.CREATE.drumfire-r\"",
                "allow it to publish \"$JS.API.>\"",
            ),
            (
                "Permissions Violation for Publish to \"$JS.API.DIRECT.GET.OBJ_drumfire-g.$O.x\"",
                "allow it to publish \"$JS.API.DIRECT.GET.OBJ_drumfire-g.>\"",
            ),
            (
                "Permissions Violation for Publish to \"$JS.API.STREAM.INFO.OBJ_drumfire-g\"",
                "allow it to publish \"$JS.API.STREAM.INFO.OBJ_drumfire-g\"",
            ),
        ] {
            let refusal = Refusal::parse(text, Role::Agent).unwrap().to_string();
            assert!(refusal.contains(shown), "{refusal}");
        }
        assert_eq!(
            Refusal::parse("Maximum Connections Exceeded", Role::Agent),
            None
        );
    }
}
