//! Finds the proxy that the environment sets for a server, as Go's `net/http` does (`golang.org/x/net/http/httpproxy`).

use std::net::IpAddr;

use http::Uri;

use crate::output::Secret;

/// The proxies in the environment.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    pub(super) http: Option<Secret<String>>,
    pub(super) https: Option<Secret<String>>,
    pub(super) exceptions: String,
}

impl Proxies {
    pub(super) fn of_process() -> Self {
        let get = |name: &str| {
            let either = std::env::var(name).ok().filter(|v| !v.is_empty());
            either.or_else(|| std::env::var(name.to_lowercase()).ok().filter(|v| !v.is_empty()))
        };
        Self {
            http: get("HTTP_PROXY").map(Secret::new),
            https: get("HTTPS_PROXY").map(Secret::new),
            exceptions: get("NO_PROXY").unwrap_or_default(),
        }
    }

    /// Returns the proxy for a server, as a URL.
    pub(super) fn of(&self, server: &Uri) -> Option<String> {
        let (proxy, port) = if server.scheme_str() == Some("https") { (&self.https, 443) } else { (&self.http, 80) };
        let host = server.host()?.trim_matches(['[', ']']).to_lowercase();
        let port = server.port_u16().unwrap_or(port);
        let proxy = proxy.as_ref()?.expose();
        if is_local(&host) || self.exceptions.split(',').any(|exception| excepts(exception.trim(), &host, port)) {
            return None;
        }
        Some(if proxy.contains("://") { proxy.replacen("socks5h://", "socks5://", 1) } else { format!("http://{proxy}") })
    }
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns whether an entry of `NO_PROXY` covers a host. Entries are `*`, a name with its subdomains, an address or an
/// address range, each with or without a port.
fn excepts(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let entry = entry.to_lowercase();
    let address = host.parse::<IpAddr>().ok();
    if let (Some((network, bits)), Some(address)) = (entry.split_once('/'), address) {
        return in_network(network, bits, address);
    }
    let (name, of_port) = match entry.rsplit_once(':') {
        Some((name, number)) if !name.contains(':') || name.ends_with(']') => (name, number.parse::<u16>().ok()),
        _ => (entry.as_str(), None),
    };
    if name.is_empty() || of_port.is_some_and(|of| of != port) {
        return false;
    }
    let name = name.trim_matches(['[', ']']);
    if let Some(address) = address {
        return name.parse() == Ok(address);
    }
    // `*.a.b` and `.a.b` cover the subdomains of a.b only; `a.b` also covers itself.
    match name.strip_prefix('*').unwrap_or(name).strip_prefix('.') {
        Some(suffix) => host.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')),
        None => host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
    }
}

fn in_network(network: &str, bits: &str, address: IpAddr) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let (a, b, width) = match (network, address) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    bits <= width && (bits == 0 || (a ^ b) >> (width - bits) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::unnecessary_wraps, reason = "as it is held")]
    fn secret(url: &str) -> Option<Secret<String>> {
        Some(Secret::new(url.to_owned()))
    }

    #[test]
    fn the_environment_decides_as_it_does_for_kubectl() {
        for (server, exceptions, expected) in [
            ("https://10.0.0.1:6443", "", Some("http://secure:1")),
            ("http://10.0.0.1", "", Some("http://plain:2")),
            ("https://localhost:6443", "", None),
            ("https://127.0.0.1:6443", "", None),
            ("https://[::1]:6443", "", None),
            ("https://10.0.0.1:6443", "*", None),
            ("https://10.0.0.1:6443", "a, 10.0.0.0/8", None),
            ("https://11.0.0.1:6443", "10.0.0.0/8", Some("http://secure:1")),
            ("https://10.0.0.1:6443", "10.0.0.1", None),
            ("https://10.0.0.1:6443", "10.0.0.1:6443", None),
            ("https://10.0.0.1:6443", "10.0.0.1:443", Some("http://secure:1")),
            ("https://[2001:db8::1]:6443", "2001:db8::/32", None),
            ("https://[2001:db8::1]:6443", "[2001:db8::1]:6443", None),
            ("https://k8s.example.com", "example.com", None),
            ("https://k8s.EXAMPLE.com", ".example.com", None),
            ("https://example.com", ".example.com", Some("http://secure:1")),
            ("https://badexample.com", "example.com", Some("http://secure:1")),
            ("https://k8s.example.com", "*.example.com", None),
            ("https://k8s.example.com", "10.0.0.0/99,,:", Some("http://secure:1")),
        ] {
            let proxies = Proxies { http: secret("plain:2"), https: secret("http://secure:1"), exceptions: exceptions.into() };
            assert_eq!(proxies.of(&server.parse().unwrap()).as_deref(), expected, "{server} {exceptions}");
        }
        let socks = Proxies { https: secret("socks5h://s:1"), ..Proxies::default() };
        assert_eq!(socks.of(&Uri::from_static("https://a")).as_deref(), Some("socks5://s:1"));
        assert_eq!(socks.of(&Uri::from_static("http://a")), None);
    }
}
