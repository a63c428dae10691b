//! Proxies on the way to an extender. SOCKS5 and CONNECT are spoken here, not by hyper-util's connectors, since kube-scheduler's message
//! names what the proxy answered, which those keep to themselves.

use std::net::IpAddr;

use tokio::net::TcpStream;

use super::error::{ProxyError, SocksError, SocksProblem};
use super::{bytes, decoded};
use crate::output::Secret;

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyKind {
    Http,
    Socks5,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProxyUrl {
    pub(super) kind: ProxyKind,
    pub(super) host: String,
    pub(super) port: u16,
    /// `user:password`.
    pub(super) credentials: Option<Secret<String>>,
}

impl ProxyUrl {
    /// Reads a proxy as a variable names it: a URL, or a host of an HTTP proxy.
    pub(super) fn parse(text: &str) -> Result<Self, ProxyError> {
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
        let credentials = user.map(|user| Secret::new(decoded(user)));
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

    #[test]
    fn a_proxy_is_a_url_or_a_host() {
        let http = ProxyUrl::parse("me:hunter%32@proxy:3128").unwrap();
        assert_eq!((http.kind, http.host.as_str(), http.port), (ProxyKind::Http, "proxy", 3128));
        assert_eq!(http.credentials.unwrap().expose(), "me:hunter2");
        let socks = ProxyUrl::parse("socks5://[::1]").unwrap();
        assert_eq!((socks.kind, socks.host.as_str(), socks.port), (ProxyKind::Socks5, "::1", 1080));
        assert!(ProxyUrl::parse("ftp://x").is_err() && ProxyUrl::parse("http://").is_err());
    }
}
