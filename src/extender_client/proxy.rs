//! The proxies of the environment, as Go's `http.ProxyFromEnvironment` reads them.

use std::net::IpAddr;

use tokio::net::TcpStream;

use super::error::{ProxyError, SocksError, SocksProblem};
use super::{bytes, words};
use crate::output::Secret;

/// The variables that name proxies.
#[derive(Clone, Debug, Default)]
pub(super) struct Environment {
    pub(super) http: Secret<String>,
    pub(super) https: Secret<String>,
    pub(super) no_proxy: String,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyKind {
    Http,
    Socks5,
}

/// A proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProxyUrl {
    pub(super) kind: ProxyKind,
    pub(super) host: String,
    pub(super) port: u16,
    /// `user:password`.
    pub(super) credentials: Option<Secret<String>>,
}

impl Environment {
    /// Reads the variables of this process; names in capitals go first.
    pub(super) fn of_process() -> Self {
        let any = |names: [&str; 2]| {
            let values = names.into_iter().filter_map(|name| std::env::var(name).ok());
            values.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
        };
        Self {
            http: Secret::new(any(["HTTP_PROXY", "http_proxy"])),
            https: Secret::new(any(["HTTPS_PROXY", "https_proxy"])),
            no_proxy: any(["NO_PROXY", "no_proxy"]),
        }
    }

    /// Returns the proxy on the way to a host; `None` where there is none on it.
    pub(super) fn proxy_for(&self, tls: bool, host: &str, port: u16) -> Result<Option<ProxyUrl>, ProxyError> {
        let url = if tls { &self.https } else { &self.http };
        if url.expose().is_empty() || self.is_direct(host, port) {
            return Ok(None);
        }
        ProxyUrl::parse(url.expose()).map(Some)
    }

    /// Whether a host is reached without a proxy: this machine, and what `NO_PROXY` lists.
    fn is_direct(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
            return true;
        }
        self.no_proxy.split(',').map(|entry| entry.trim().to_ascii_lowercase()).any(|entry| covers(&entry, &host, ip, port))
    }
}

/// Whether an entry of `NO_PROXY` covers a host.
fn covers(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry.is_empty() {
        return false;
    }
    if entry == "*" {
        return true;
    }
    if let Some((network, bits)) = entry.split_once('/') {
        return matches!((network.parse(), bits.parse(), ip), (Ok(network), Ok(bits), Some(ip)) if is_within(ip, network, bits));
    }
    let (name, only) = match entry.rsplit_once(':') {
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => match digits.parse::<u16>() {
            Ok(only) => (name, Some(only)),
            Err(_) => return false,
        },
        _ => (entry, None),
    };
    if only.is_some_and(|only| only != port) {
        return false;
    }
    let name = name.trim_start_matches('[').trim_end_matches(']');
    if let Ok(listed) = name.parse::<IpAddr>() {
        return ip == Some(listed);
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
    }
}

fn is_within(ip: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            u32::from(ip) & mask == u32::from(network) & mask
        }
        (IpAddr::V6(ip), IpAddr::V6(network)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            u128::from(ip) & mask == u128::from(network) & mask
        }
        _ => false,
    }
}

impl ProxyUrl {
    fn parse(text: &str) -> Result<Self, ProxyError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let (kind, default) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (ProxyKind::Http, 80),
            "socks5" | "socks5h" => (ProxyKind::Socks5, 1080),
            other => return Err(ProxyError::Scheme(other.to_owned())),
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, authority) = rest.rsplit_once('@').map_or((None, rest), |(user, rest)| (Some(user), rest));
        let uri: http::Uri = format!("http://{authority}/").parse().map_err(|_| ProxyError::Address)?;
        let host = uri.host().map(|host| host.trim_start_matches('[').trim_end_matches(']').to_owned()).ok_or(ProxyError::Address)?;
        let credentials = user.map(|user| Secret::new(words::percent_decoded(user)));
        Ok(Self { kind, host, port: uri.port_u16().unwrap_or(default), credentials })
    }
}

/// Returns a host for use before a port: IPv6 addresses in brackets.
pub(super) fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// Asks a SOCKS5 proxy (RFC 1928, RFC 1929) for a way to a host.
pub(super) async fn socks5(stream: &mut TcpStream, proxy: &ProxyUrl, host: &str, port: u16) -> Result<(), SocksError> {
    let shown = |host: &str, port: u16| format!("{}:{port}", bracketed(host));
    let failed = |why| SocksError { proxy: shown(&proxy.host, proxy.port), to: shown(host, port), why };
    connect(stream, proxy, host, port).await.map_err(failed)
}

async fn connect(stream: &mut TcpStream, proxy: &ProxyUrl, host: &str, port: u16) -> Result<(), SocksProblem> {
    let methods: &[u8] = if proxy.credentials.is_some() { &[5, 2, 0, 2] } else { &[5, 1, 0] };
    bytes::write(stream, methods).await?;
    let mut answer = bytes::read::<2>(stream).await?;
    match (answer, &proxy.credentials) {
        ([5, 0], _) => {}
        ([5, 2], Some(credentials)) => {
            let (user, password) = credentials.expose().split_once(':').unwrap_or((credentials.expose(), ""));
            let mut message = vec![1];
            for part in [user, password] {
                message.push(u8::try_from(part.len()).map_err(|_| SocksProblem::Credentials)?);
                message.extend_from_slice(part.as_bytes());
            }
            bytes::write(stream, &message).await?;
            answer = bytes::read(stream).await?;
            if answer[1] != 0 {
                return Err(SocksProblem::Refused);
            }
        }
        _ => return Err(SocksProblem::Methods),
    }
    let mut message = vec![5, 1, 0];
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            message.push(1);
            message.extend_from_slice(&ip.octets());
        }
        Ok(IpAddr::V6(ip)) => {
            message.push(4);
            message.extend_from_slice(&ip.octets());
        }
        Err(_) => {
            message.push(3);
            message.push(u8::try_from(host.len()).map_err(|_| SocksProblem::LongName)?);
            message.extend_from_slice(host.as_bytes());
        }
    }
    message.extend_from_slice(&port.to_be_bytes());
    bytes::write(stream, &message).await?;
    let head = bytes::read::<4>(stream).await?;
    if head[1] != 0 {
        return Err(SocksProblem::Reply(head[1]));
    }
    let rest = match head[3] {
        1 => 4,
        4 => 16,
        3 => usize::from(bytes::read::<1>(stream).await?[0]),
        _ => return Err(SocksProblem::AddressType),
    };
    for _ in 0..rest + 2 {
        bytes::read::<1>(stream).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(no_proxy: &str) -> Environment {
        Environment {
            http: Secret::new("me:hunter2@proxy:3128".to_owned()),
            https: Secret::new("socks5://[::1]".to_owned()),
            no_proxy: no_proxy.to_owned(),
        }
    }

    #[test]
    fn each_scheme_has_its_proxy_and_this_machine_has_none() {
        let environment = environment("");
        let http = environment.proxy_for(false, "extender", 80).unwrap().unwrap();
        assert_eq!((http.kind, http.host.as_str(), http.port), (ProxyKind::Http, "proxy", 3128));
        assert_eq!(http.credentials.unwrap().expose(), "me:hunter2");
        let https = environment.proxy_for(true, "extender", 443).unwrap().unwrap();
        assert_eq!((https.kind, https.host.as_str(), https.port), (ProxyKind::Socks5, "::1", 1080));
        for host in ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1"] {
            assert_eq!(environment.proxy_for(false, host, 80).unwrap(), None, "{host}");
        }
        assert_eq!(Environment::default().proxy_for(true, "extender", 443).unwrap(), None);
        assert!(ProxyUrl::parse("ftp://x").is_err() && ProxyUrl::parse("http://").is_err());
    }

    #[test]
    fn no_proxy_lists_names_networks_and_ports() {
        for (list, host, direct) in [
            ("*", "a", true),
            ("example.com", "example.com", true),
            ("example.com", "x.example.com", true),
            ("example.com", "notexample.com", false),
            (".example.com", "example.com", false),
            (" .example.com , b", "x.Example.com", true),
            ("*.example.com", "x.example.com", true),
            ("*.example.com", "example.com", false),
            ("*example.com", "x.example.com", false),
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("fd00::/8", "fd12::1", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("a:80", "a", true),
            ("a:81", "a", false),
            ("[fd00::1]:80", "fd00::1", true),
            ("10.0.0.0/x", "10.1.2.3", false),
            ("", "a", false),
        ] {
            assert_eq!(environment(list).is_direct(host, 80), direct, "{list} {host}");
        }
    }
}
