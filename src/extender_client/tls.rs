//! TLS as an extender's configuration has it, with Go's words for what is wrong with a certificate.

use std::fmt;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::error::TlsError;
use super::words;
use crate::extenders::TlsSettings;
use crate::limits::extenders::CERTIFICATE_FILE;

/// Makes the settings of connections to an extender.
///
/// # Errors
/// Returns the error of a file or certificate that cannot be read.
pub(super) fn client_config(settings: &TlsSettings) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| TlsError::Settings(error.to_string()))?;
    let verifier = Arc::new(Verifier::new(settings, provider)?);
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let certificate = either(&settings.cert_data, &settings.cert_file)?;
    let key = either(settings.key_data.expose(), &settings.key_file)?;
    let config = match (certificate, key) {
        (Some(certificate), Some(key)) => {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate).collect();
            let chain = chain.map_err(|_| TlsError::NoPem("certificate"))?;
            let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| TlsError::NoPem("key"))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| TlsError::Settings(format!("tls: {error}")))?
        }
        _ => builder.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

/// Returns the data, or the content of the file; `None` without either.
fn either(data: &[u8], file: &str) -> Result<Option<Vec<u8>>, TlsError> {
    if !data.is_empty() || file.is_empty() {
        return Ok((!data.is_empty()).then(|| data.to_vec()));
    }
    let read = || {
        use std::io::Read as _;
        let mut text = Vec::new();
        // Opening a pipe would block beyond the time of the call.
        if !std::fs::metadata(file)?.is_file() {
            return Err(std::io::Error::other("is not a regular file"));
        }
        std::fs::File::open(file)?.take(CERTIFICATE_FILE).read_to_end(&mut text)?;
        Ok(text)
    };
    read().map(Some).map_err(|error: std::io::Error| TlsError::File { file: file.to_owned(), error })
}

/// The certificates that are trusted: those of the configuration, or else those of the system.
fn roots(settings: &TlsSettings) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    match either(&settings.ca_data, &settings.ca_file)? {
        Some(text) => {
            let found: Vec<_> = CertificateDer::pem_slice_iter(&text).filter_map(Result::ok).collect();
            if found.is_empty() { Err(TlsError::NoRoots) } else { Ok(found) }
        }
        None => Ok(rustls_native_certs::load_native_certs().certs),
    }
}

/// Speaks TLS on a connection.
pub(super) async fn handshake(config: Arc<ClientConfig>, name: &str, stream: TcpStream) -> Result<TlsStream<TcpStream>, TlsError> {
    let server = ServerName::try_from(name.to_owned()).map_err(|_| TlsError::ServerName(name.to_owned()))?;
    TlsConnector::from(config).connect(server, stream).await.map_err(|error| {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        TlsError::Handshake(match inner {
            Some(inner) => tls_error(inner, name),
            None if error.kind() == std::io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            None => words::system_error(&error),
        })
    })
}

/// Returns the text of Go for a failed handshake.
fn tls_error(error: &Error, name: &str) -> String {
    match error {
        Error::InvalidCertificate(why) => format!("tls: failed to verify certificate: x509: {}", certificate_error(why, name)),
        Error::InvalidMessage(_) => "http: server gave HTTP response to HTTPS client".to_owned(),
        Error::AlertReceived(alert) => format!("remote error: tls: {}", alert_text(*alert)),
        Error::PeerIncompatible(_) => "remote error: tls: protocol version not supported".to_owned(),
        other => format!("tls: {other}"),
    }
}

fn certificate_error(why: &CertificateError, name: &str) -> String {
    match why {
        CertificateError::Expired => "certificate has expired or is not yet valid: ".to_owned(),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("certificate has expired or is not yet valid: current time {} is after {}", time_text(*time), time_text(*not_after))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            format!("certificate has expired or is not yet valid: current time {} is before {}", time_text(*time), time_text(*not_before))
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let is_ip = name.parse::<std::net::IpAddr>().is_ok();
            let of_kind = |text: &String| {
                let kind = if is_ip { "IpAddress(" } else { "DnsName(" };
                text.strip_prefix(kind).and_then(|rest| rest.strip_suffix(')')).map(|rest| rest.trim_matches('"').to_owned())
            };
            let valid: Vec<String> = presented.iter().filter_map(of_kind).collect();
            match (valid.is_empty(), is_ip) {
                (true, true) => format!("cannot validate certificate for {name} because it doesn't contain any IP SANs"),
                (true, false) => format!("certificate is not valid for any names, but wanted to match {name}"),
                (false, _) => format!("certificate is valid for {}, not {name}", valid.join(", ")),
            }
        }
        CertificateError::NotValidForName => format!("certificate is not valid for any names, but wanted to match {name}"),
        CertificateError::UnknownIssuer | CertificateError::Other(_) => "certificate signed by unknown authority".to_owned(),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "certificate specifies an incompatible key usage".to_owned()
        }
        other => other.to_string(),
    }
}

fn time_text(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

/// The names of alerts in Go's `crypto/tls`.
fn alert_text(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "revoked certificate",
        AlertDescription::CertificateExpired => "expired certificate",
        AlertDescription::CertificateUnknown => "unknown certificate",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::DecryptError => "error decrypting message",
        AlertDescription::ProtocolVersion => "protocol version not supported",
        AlertDescription::InsufficientSecurity => "insufficient security level",
        AlertDescription::InternalError => "internal error",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::CertificateRequired => "certificate required",
        AlertDescription::NoApplicationProtocol => "no application protocol",
        other => return format!("alert({})", u8::from(other)),
    }
    .to_owned()
}

/// Whose certificates are trusted.
enum Trust {
    /// Anybody's, as the configuration asks for.
    Everyone,
    /// As Go does: besides what chains to a trusted certificate, a trusted certificate itself may be the server's.
    Roots {
        /// `None` if no certificate can be used as a root.
        chains: Option<Arc<WebPkiServerVerifier>>,
        roots: Vec<CertificateDer<'static>>,
    },
}

/// Verifies servers' certificates.
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots = match &self.trust {
            Trust::Everyone => None,
            Trust::Roots { roots, .. } => Some(roots.len()),
        };
        f.debug_struct("Verifier").field("roots", &roots).finish_non_exhaustive()
    }
}

impl Verifier {
    fn new(settings: &TlsSettings, provider: Arc<CryptoProvider>) -> Result<Self, TlsError> {
        if settings.insecure {
            return Ok(Self { trust: Trust::Everyone, provider });
        }
        let roots = roots(settings)?;
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().cloned());
        let chains = if store.is_empty() {
            None
        } else {
            let built = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone()).build();
            Some(built.map_err(|error| TlsError::Settings(error.to_string()))?)
        };
        Ok(Self { trust: Trust::Roots { chains, roots }, provider })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Trust::Roots { chains, roots } = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        let Some(chains) = chains else { return Err(CertificateError::UnknownIssuer.into()) };
        match chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The certificate itself is trusted. Its validity period was checked before.
            Err(Error::InvalidCertificate(CertificateError::Other(_) | CertificateError::UnknownIssuer))
                if roots.iter().any(|root| root == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            answer => answer,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
