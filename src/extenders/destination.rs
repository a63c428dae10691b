//! Where the calls of an extender go: the parts of its URL, read once for all that ask, show and allow it.

use http::Uri;

use crate::output::Secret;

/// The host that an extender is asked on, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// The host, without brackets.
    pub host: String,
    /// The port, also where the URL names none.
    pub port: u16,
    /// `host` or `host:port`, as the URL has it.
    pub authority: String,
    /// The path with its query.
    pub path: String,
    /// `user` or `user:password`, as the URL has it.
    pub user: Option<Secret<String>>,
}

/// Why no call can go to a URL, without anything of it but its scheme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// Neither http nor https.
    #[error("unsupported protocol scheme {0:?}")]
    Scheme(String),
    /// Not a URL.
    #[error("the URL is invalid")]
    Url,
    /// A URL without a host.
    #[error("http: no Host in request URL")]
    NoHost,
    /// A port that is no number from 0 to 65535.
    #[error("the port of the URL is invalid")]
    Port,
}

impl Destination {
    /// Reads a URL.
    ///
    /// # Errors
    /// When no call can go there.
    pub fn parse(url: &str) -> Result<Self, DestinationError> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ if scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) => {
                return Err(DestinationError::Scheme(scheme.to_owned()));
            }
            // The text before a later `://` may hold a password.
            _ => return Err(DestinationError::Url),
        };
        let uri: Uri = url.parse().map_err(|_| DestinationError::Url)?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let (user, authority) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let host = uri.host().unwrap_or_default();
        if host.is_empty() {
            return Err(DestinationError::NoHost);
        }
        let port = match authority.strip_prefix(host).map(|port| port.strip_prefix(':').unwrap_or(port)) {
            Some("") => {
                if tls {
                    443
                } else {
                    80
                }
            }
            // A number may have a sign in Rust, a port may not.
            Some(port) if port.starts_with('+') => return Err(DestinationError::Port),
            Some(port) => port.parse().map_err(|_| DestinationError::Port)?,
            None => return Err(DestinationError::Url),
        };
        Ok(Self {
            tls,
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            authority: authority.to_owned(),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            user: user.map(|user| Secret::new(user.to_owned())),
        })
    }

    /// Returns whether a name is that of the host, with its port or without.
    pub fn is_on(&self, named: &str) -> bool {
        let bare = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let host = self.host.to_ascii_lowercase();
        let with_port = [format!("{host}:{}", self.port), format!("[{host}]:{}", self.port)];
        bare(named) == host || with_port.contains(&named.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_that_before_the_path() {
        for (url, host, port, path) in [
            ("http://127.0.0.1:8080/@good.host", "127.0.0.1", 8080, "/@good.host"),
            ("https://good.host@127.0.0.1/x?y=@z", "127.0.0.1", 443, "/x?y=@z"),
            ("http://[::1]:81", "::1", 81, "/"),
            ("HTTP://a", "a", 80, "/"),
        ] {
            let found = Destination::parse(url).unwrap();
            assert_eq!((found.host.as_str(), found.port, found.path.as_str()), (host, port, path), "{url}");
            assert!(found.is_on(host) && found.is_on(&host.to_uppercase()) && !found.is_on("good.host"), "{url}");
        }
        for url in [
            "http://me:hun/ter2@h",
            "me:hunter2@h/x?to=http://h",
            "ftp://h",
            "http://",
            "http://a b",
            "http://h:99999",
            "http://h:+80",
            "http://good.host\\@127.0.0.1/",
            "h",
        ] {
            let error = Destination::parse(url).unwrap_err().to_string();
            assert!(!error.contains("hun") && !error.contains("ter2"), "{error}");
        }
    }
}
