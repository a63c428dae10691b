//! The proxies that the environment sets, chosen for a host as Go's `net/http` does (`golang.org/x/net/http/httpproxy`): kube-scheduler
//! reaches extenders by them, and kubectl the API server.
//!
//! hyper-util's `Matcher` is not used: it knows no ports in `NO_PROXY`, and takes a proxy for this machine too.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::output::Secret;

/// The variables that name proxies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    pub(crate) http: Secret<String>,
    pub(crate) https: Secret<String>,
    /// `NO_PROXY`.
    pub(crate) exceptions: String,
}

impl Proxies {
    /// Reads the variables of this process; names in capitals go first.
    pub(crate) fn of_process() -> Self {
        let any = |names: [&str; 2]| {
            let values = names.into_iter().filter_map(|name| std::env::var(name).ok());
            values.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
        };
        Self {
            http: Secret::new(any(["HTTP_PROXY", "http_proxy"])),
            https: Secret::new(any(["HTTPS_PROXY", "https_proxy"])),
            exceptions: any(["NO_PROXY", "no_proxy"]),
        }
    }

    /// Returns the proxy on the way to a host, as the variable names it; `None` where there is none on it. The host may be an IPv6 address
    /// without brackets.
    pub(crate) fn to(&self, tls: bool, host: &str, port: u16) -> Option<&str> {
        let url = if tls { &self.https } else { &self.http }.expose();
        (!url.is_empty() && !self.is_direct(host, port)).then_some(url)
    }

    /// Returns whether a host is reached without a proxy: this machine, and what `NO_PROXY` lists.
    fn is_direct(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
            return true;
        }
        self.exceptions.split(',').map(|entry| entry.trim().to_ascii_lowercase()).any(|entry| excepts(&entry, &host, ip, port))
    }
}

/// Returns whether an entry of `NO_PROXY` covers a host. Entries are `*`, a network, and an address or a name with its subdomains, with or
/// without a port; `.a.b` and `*.a.b` are the subdomains of a.b alone.
fn excepts(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(network) = entry.parse::<IpNet>() {
        return ip.is_some_and(|ip| network.contains(&ip));
    }
    let (name, only) = match entry.rsplit_once(':') {
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => match digits.parse::<u16>() {
            Ok(only) => (name, Some(only)),
            Err(_) => return false,
        },
        _ => (entry, None),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    if name.is_empty() || only.is_some_and(|only| only != port) {
        return false;
    }
    if let Ok(listed) = name.parse::<IpAddr>() {
        return ip == Some(listed);
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(exceptions: &str) -> Proxies {
        let secret = |url: &str| Secret::new(url.to_owned());
        Proxies { http: secret("plain:2"), https: secret("http://secure:1"), exceptions: exceptions.to_owned() }
    }

    #[test]
    fn each_scheme_has_its_proxy_and_this_machine_has_none() {
        let proxies = proxies("");
        assert_eq!((proxies.to(false, "a", 80), proxies.to(true, "a", 443)), (Some("plain:2"), Some("http://secure:1")));
        for host in ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1"] {
            assert_eq!(proxies.to(false, host, 80), None, "{host}");
        }
        assert_eq!(Proxies::default().to(true, "a", 443), None);
    }

    #[test]
    fn exceptions_are_names_networks_and_ports() {
        for (list, host, direct) in [
            ("*", "a", true),
            ("example.com", "example.com", true),
            ("example.com", "x.example.com", true),
            ("example.com", "badexample.com", false),
            (".example.com", "example.com", false),
            (" .example.com , b", "x.Example.com", true),
            ("*.example.com", "x.example.com", true),
            ("*.example.com", "example.com", false),
            ("*example.com", "x.example.com", false),
            ("a, 10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("0.0.0.0/0", "fd12::1", false),
            ("fd00::/8", "fd12::1", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3:80", "10.1.2.3", true),
            ("10.1.2.3:81", "10.1.2.3", false),
            ("a:80", "a", true),
            ("a:81", "a", false),
            ("a:x", "a", false),
            ("fd00::1", "fd00::1", true),
            ("[fd00::1]:80", "fd00::1", true),
            ("10.0.0.0/x", "10.1.2.3", false),
            ("10.0.0.0/99,,:", "a", false),
            (":80", "a", false),
            ("", "a", false),
        ] {
            assert_eq!(proxies(list).is_direct(host, 80), direct, "{list} {host}");
        }
    }
}
