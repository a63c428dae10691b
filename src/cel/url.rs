//! URLs, parsed as Go's `net/url` does; mirrors `staging/src/k8s.io/apiserver/pkg/cel/library/urls.go`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::address::parse_addr;
use super::number::{quote, quote_bytes};
use super::value::{Key, Map, Value};

/// A URL. Unescaped texts are bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Url {
    scheme: String,
    opaque: String,
    user: Option<String>,
    host: Vec<u8>,
    /// The path as written, with escapes added as Go adds them.
    path: String,
    query: String,
    force_query: bool,
    fragment: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Path,
    Host,
    Zone,
    UserPassword,
    Query,
    Fragment,
}

impl Url {
    /// Parses an absolute URL or path for a request; the error is Go's.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        check(text)?;
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let wrap = |error: String| format!("parse {}: {error}", quote(text));
        let mut url = parse(rest, false).map_err(|error| format!("parse {}: {error}", quote(rest)))?;
        unescape(fragment, Mode::Fragment).map_err(wrap)?;
        fragment.clone_into(&mut url.fragment);
        Ok(url)
    }

    /// Returns the result of a member function; `None` if there is no such function.
    pub(super) fn part(&self, name: &str) -> Option<Value> {
        let text = |bytes: &[u8]| Value::string(String::from_utf8_lossy(bytes).into_owned());
        let (host, port) = split_host_port(&self.host);
        Some(match name {
            "getScheme" => Value::string(self.scheme.as_str()),
            "getHost" => text(&self.host),
            "getHostname" => text(host),
            "getPort" => text(port),
            "getEscapedPath" => Value::string(self.path.as_str()),
            "getQuery" => {
                let entries = query(&self.query).into_iter().map(|(key, values)| (Key(Value::string(key)), Value::strings(values)));
                Value::Map(Arc::new(Map { entries: entries.collect(), ..Map::default() }))
            }
            _ => return None,
        })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        f.write_str(&self.opaque)?;
        if !self.host.is_empty() || self.user.is_some() {
            write!(f, "//{}{}", self.user.as_ref().map_or(String::new(), |user| format!("{user}@")), String::from_utf8_lossy(&self.host))?;
        }
        f.write_str(&self.path)?;
        if self.force_query || !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        if self.fragment.is_empty() { Ok(()) } else { write!(f, "#{}", self.fragment) }
    }
}

/// Checks that a text is a valid request URI; mirrors `ParseRequestURI`.
pub(super) fn check(text: &str) -> Result<(), String> {
    parse(text, true).map(drop).map_err(|error| format!("parse {}: {error}", quote(text)))
}

fn parse(text: &str, for_request: bool) -> Result<Url, String> {
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && for_request {
        return Err("empty url".to_owned());
    }
    let mut url = Url::default();
    if text == "*" {
        "*".clone_into(&mut url.path);
        return Ok(url);
    }
    let (scheme, mut rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    if rest.ends_with('?') && rest.matches('?').count() == 1 {
        url.force_query = true;
        rest = &rest[..rest.len() - 1];
    } else if let Some((before, query)) = rest.split_once('?') {
        rest = before;
        query.clone_into(&mut url.query);
    }
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if for_request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if (!url.scheme.is_empty() || (!for_request && !rest.starts_with("///")))
        && let Some(authority) = rest.strip_prefix("//")
    {
        let (authority, path) = authority.find('/').map_or((authority, ""), |i| authority.split_at(i));
        rest = path;
        match authority.rsplit_once('@') {
            None => url.host = host(&url.scheme, authority)?,
            Some((user, after)) => {
                url.host = host(&url.scheme, after)?;
                let known = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
                if !user.chars().all(known) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                user.splitn(2, ':').try_for_each(|part| unescape(part, Mode::UserPassword).map(drop))?;
                url.user = Some(user.to_owned());
            }
        }
    }
    let path = unescape(rest, Mode::Path)?;
    url.path = if encoded_path(rest) { rest.to_owned() } else { escape(&path) };
    Ok(url)
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..i], &text[i + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn valid_port(port: &str) -> bool {
    port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

fn host(scheme: &str, text: &str) -> Result<Vec<u8>, String> {
    let invalid = |port: &str| format!("invalid port {} after host", quote(port));
    if text.rfind('[').is_some_and(|i| i > 0) {
        return Err("invalid IP-literal".to_owned());
    }
    if text.starts_with('[') {
        let end = text.rfind(']').ok_or("missing ']' in host")?;
        let port = &text[end + 1..];
        if !valid_port(port) {
            return Err(invalid(port));
        }
        let port = unescape(port, Mode::Host)?;
        let literal = &text[1..end];
        let literal = match literal.find("%25") {
            Some(zone) => [unescape(&literal[..zone], Mode::Host)?, unescape(&literal[zone..], Mode::Zone)?].concat(),
            None => unescape(literal, Mode::Host)?,
        };
        let (address, _) = parse_addr(&String::from_utf8_lossy(&literal)).map_err(|error| format!("invalid host: {error}"))?;
        if address.is_ipv4() {
            return Err("invalid IP-literal".to_owned());
        }
        return Ok([b"[", literal.as_slice(), b"]", &port].concat());
    }
    // Only web addresses must not contain other colons.
    let colon = if matches!(scheme, "http" | "https") { text.find(':') } else { text.rfind(':') };
    if let Some(colon) = colon.filter(|colon| !valid_port(&text[*colon..])) {
        return Err(invalid(&text[colon..]));
    }
    unescape(text, Mode::Host)
}

fn split_host_port(host: &[u8]) -> (&[u8], &[u8]) {
    let colon = host.iter().rposition(|b| *b == b':').filter(|i| host[i + 1..].iter().all(u8::is_ascii_digit));
    let (name, port) = colon.map_or((host, &host[..0]), |i| (&host[..i], &host[i + 1..]));
    let bare = name.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]"));
    (bare.unwrap_or(name), port)
}

/// Whether a byte must be escaped; mirrors `shouldEscape`.
fn should_escape(b: u8, mode: Mode) -> bool {
    if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) {
        return false;
    }
    match mode {
        Mode::Host | Mode::Zone => !b"!$&'()*+,;=:[]<>\"".contains(&b),
        Mode::Path => b == b'?' || !b"$&+,/:;=@".contains(&b),
        Mode::UserPassword => !b"$&+,;=".contains(&b),
        Mode::Query => true,
        Mode::Fragment => !b"$&+,/:;=?@!()*".contains(&b),
    }
}

fn unescape(text: &str, mode: Mode) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let bad = |at: usize| format!("invalid URL escape {}", quote_bytes(&bytes[at..bytes.len().min(at + 3)]));
    let hex = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16)).map(|d| d as u8);
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while let Some(&b) = bytes.get(i) {
        if b == b'%' {
            let (Some(high), Some(low)) = (hex(i + 1), hex(i + 2)) else { return Err(bad(i)) };
            let value = high << 4 | low;
            let percent = &bytes[i..i + 3] == b"%25";
            let refused = match mode {
                // In a host, only non-ASCII bytes may be escaped.
                Mode::Host => high < 8 && !percent,
                Mode::Zone => !percent && value != b' ' && should_escape(value, Mode::Host),
                _ => false,
            };
            if refused {
                return Err(bad(i));
            }
            out.push(value);
            i += 3;
            continue;
        }
        if matches!(mode, Mode::Host | Mode::Zone) && b < 0x80 && should_escape(b, mode) {
            return Err(format!("invalid character {} in host name", quote(&char::from(b).to_string())));
        }
        out.push(if b == b'+' && mode == Mode::Query { b' ' } else { b });
        i += 1;
    }
    Ok(out)
}

/// Whether a path is written in a valid encoding.
fn encoded_path(text: &str) -> bool {
    text.bytes().all(|b| b"!$&'()*+,;=:@[]%".contains(&b) || !should_escape(b, Mode::Path))
}

fn escape(bytes: &[u8]) -> String {
    let escaped = |b: &u8| if should_escape(*b, Mode::Path) { format!("%{b:02X}") } else { char::from(*b).to_string() };
    bytes.iter().map(escaped).collect()
}

/// Returns the parameters of a query by name; invalid ones are left out.
fn query(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let read = |part: &str| unescape(part, Mode::Query).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    for part in text.split('&').filter(|part| !part.is_empty() && !part.contains(';')) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if let (Some(key), Some(value)) = (read(key), read(value)) {
            parameters.entry(key).or_default().push(value);
        }
    }
    parameters
}
