//! Certificates made with openssl: an authority of the test, and the certificates that it signs.

use super::folder::Folder;
use super::lab;
use std::process::Command;

/// An authority and its folder.
#[derive(Debug)]
pub(crate) struct Authority {
    folder: Folder,
    /// The authority's certificate (PEM).
    pub(crate) certificate: String,
}

/// A certificate and its key, as paths.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// The validity period of a certificate, in the time format of openssl's `ca`.
pub(crate) const EXPIRED: (&str, &str) = ("20200101000000Z", "20200201000000Z");
/// A period longer than any test.
pub(crate) const VALID: (&str, &str) = ("20240101000000Z", "20441231000000Z");

impl Authority {
    /// A new authority; `None` without openssl.
    pub(crate) fn new() -> Option<Self> {
        if !lab::has("openssl") {
            return None;
        }
        let folder = Folder::new();
        folder.write("index.txt", "");
        folder.write(
            "ca.cnf",
            format!(
                "[ca]\ndefault_ca = own\n[own]\ndatabase = {0}/index.txt\nnew_certs_dir = {0}\n\
                 rand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no\n\
                 [any]\ncommonName = supplied\n\
                 [req]\ndistinguished_name = dn\n[dn]\n[v3_ca]\nbasicConstraints = critical,CA:TRUE\n",
                folder.path().display()
            ),
        );
        let certificate = folder.at("ca.pem");
        openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
             -config {} -extensions v3_ca -subj /CN=drumfire-test -keyout {} -out {certificate}",
            folder.at("ca.cnf"),
            folder.at("ca.key"),
        ));
        Some(Self {
            folder,
            certificate,
        })
    }

    /// A certificate for these names, such as `DNS:localhost,IP:127.0.0.1`.
    pub(crate) fn sign(&self, name: &str, names: &str, (from, to): (&str, &str)) -> Identity {
        let at = |end: &str| self.folder.at(&format!("{name}.{end}"));
        let extensions = self.folder.write(
            &format!("{name}.ext"),
            format!("subjectAltName = {names}\nextendedKeyUsage = serverAuth,clientAuth\n"),
        );
        openssl(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config {} -subj /CN={name} \
             -keyout {} -out {}",
            self.folder.at("ca.cnf"),
            at("key"),
            at("csr"),
        ));
        openssl(&format!(
            "ca -batch -config {} -cert {} -keyfile {} -in {} -out {} -extfile {extensions} \
             -startdate {from} -enddate {to} -notext",
            self.folder.at("ca.cnf"),
            self.certificate,
            self.folder.at("ca.key"),
            at("csr"),
            at("crt"),
        ));
        Identity {
            certificate: at("crt"),
            key: at("key"),
        }
    }

    /// A self-signed certificate.
    pub(crate) fn self_signed(&self, name: &str, names: &str) -> Identity {
        let at = |end: &str| self.folder.at(&format!("{name}.{end}"));
        openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -config {} \
             -subj /CN={name} -addext subjectAltName={names} -keyout {} -out {}",
            self.folder.at("ca.cnf"),
            at("key"),
            at("crt"),
        ));
        Identity {
            certificate: at("crt"),
            key: at("key"),
        }
    }
}

fn openssl(line: &str) {
    let made = Command::new("openssl")
        .args(line.split_whitespace())
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "openssl {line}: {}",
        String::from_utf8_lossy(&made.stderr)
    );
}
