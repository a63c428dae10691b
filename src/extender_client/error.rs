//! Why a call of an extender has no answer. The texts are those of Go's `net/http`.

use std::io;
use std::net::SocketAddr;

use super::words;
use crate::extenders::DestinationError;

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExchangeError {
    #[error(transparent)]
    Destination(#[from] DestinationError),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error("proxyconnect tcp: {0}")]
    DialProxy(DialError),
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error(transparent)]
    Socks(#[from] SocksError),
    #[error(transparent)]
    Tunnel(#[from] TunnelError),
    #[error(transparent)]
    Request(#[from] http::Error),
    #[error("credentials that no header can hold")]
    Credentials,
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("{}", words::http_error(.0))]
    Http(#[from] hyper::Error),
}

/// Why the address of a proxy is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProxyError {
    #[error("a proxy of scheme {0:?}, which schedscope does not speak")]
    Scheme(String),
    #[error("invalid proxy address")]
    Address,
}

/// Why no connection was made.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    #[error("dial tcp: lookup {0}: no such host")]
    NoHost(String),
    #[error("dial tcp {address}: connect: {}", words::system_error(.error))]
    Connect { address: SocketAddr, error: io::Error },
}

/// Why a SOCKS5 proxy gives no way to a host.
#[derive(Debug, thiserror::Error)]
#[error("socks connect tcp {proxy}->{to}: {why}")]
pub(super) struct SocksError {
    /// The host and port of the proxy.
    pub(super) proxy: String,
    /// The host and port to reach.
    pub(super) to: String,
    pub(super) why: SocksProblem,
}

/// The problem with a SOCKS5 proxy.
#[derive(Debug, thiserror::Error)]
pub(super) enum SocksProblem {
    #[error("{}", words::system_error(.0))]
    Io(#[from] io::Error),
    #[error("invalid username/password")]
    Credentials,
    #[error("username/password authentication failed")]
    Refused,
    #[error("no acceptable authentication methods")]
    Methods,
    #[error("FQDN too long")]
    LongName,
    /// A reply as RFC 1928 numbers it.
    #[error("unknown error{}", reply(*.0))]
    Reply(u8),
    #[error("unknown address type")]
    AddressType,
}

fn reply(number: u8) -> &'static str {
    match number {
        1 => " general SOCKS server failure",
        2 => " connection not allowed by ruleset",
        3 => " network unreachable",
        4 => " host unreachable",
        5 => " connection refused",
        6 => " TTL expired",
        7 => " command not supported",
        8 => " address type not supported",
        _ => "",
    }
}

/// Why a proxy gives no tunnel.
#[derive(Debug, thiserror::Error)]
pub(super) enum TunnelError {
    #[error("{}", words::system_error(.0))]
    Write(io::Error),
    #[error("the proxy's answer does not end")]
    Endless,
    #[error("unexpected EOF")]
    End,
    /// The reason of the proxy's status.
    #[error("{0}")]
    Refused(String),
    #[error("unknown status code")]
    NoStatus,
}

/// Why there is no encrypted connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    #[error("open {file}: {}", words::system_error(.error))]
    File { file: String, error: io::Error },
    #[error("tls: failed to find any PEM data in {0} input")]
    NoPem(&'static str),
    #[error("unable to load root certificates: no valid certificates found")]
    NoRoots,
    #[error("invalid server name {0:?}")]
    ServerName(String),
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The handshake failed, with Go's words.
    #[error("{0}")]
    Handshake(String),
}
