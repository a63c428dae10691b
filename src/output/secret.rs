//! Credentials, which must never be shown.

use std::borrow::Cow;
use std::fmt;

/// A value that cannot be printed: it has no `Display`, and its `Debug` shows `[secret]`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value for its one use, such as a request header.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Returns a URL, valid or not, without its user and password, its query and its fragment.
///
/// The host that is left is the one that a client connects to. Where an `@` may belong to a password or to a path, only what is no
/// secret either way is left.
pub fn url_without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (&url[..scheme.len() + 3], rest));
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let path = tail.split(['?', '#']).next().unwrap_or_default();
    match (is_host(host), user, tail.contains('@')) {
        (true, _, false) => format!("{scheme}{host}{path}"),
        (true, None, true) => format!("{scheme}{host}"),
        (true, Some(_), true) => format!("{scheme}[hidden]"),
        (false, ..) => {
            let last = rest.rsplit_once('@').map_or(rest, |(_, last)| last);
            format!("{scheme}{}", last.split(['?', '#']).next().unwrap_or_default())
        }
    }
}

/// Whether a text is a host, with a port or without.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (text, ""),
    };
    let bracketed = name.starts_with('[') && name.ends_with(']');
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    (bracketed || is_name) && port.bytes().all(|b| b.is_ascii_digit())
}

/// Returns a text in which no URL has a user and password before its host.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    if !text.contains("://") || !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let (url, behind) = after.split_at(after.find(ends).unwrap_or(after.len()));
        out.push_str(after_password(url));
        rest = behind;
    }
    out.push_str(rest);
    if out.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Returns what follows the user and password of a URL without its scheme.
fn after_password(url: &str) -> &str {
    let (authority, tail) = url.split_at(url.find(['/', '?', '#', '\\']).unwrap_or(url.len()));
    let whole = || url.rfind('@').map_or(url, |at| &url[at + 1..]);
    let in_tail = tail.replace("@sha256:", "").contains('@');
    match authority.rfind('@') {
        Some(_) if in_tail => whole(),
        Some(at) => &url[at + 1..],
        None if !in_tail || is_host(authority) && !authority.contains(':') => url,
        // A port, or the start of a password.
        None if is_host(authority) => authority,
        None => whole(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_cannot_be_printed() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!((format!("{secret:?}"), secret.expose().as_str()), ("[secret]".to_owned(), "hunter2"));
    }

    #[test]
    fn passwords_go_out_of_urls() {
        for (text, expected) in [
            ("http://me:hunter2@proxy:3128/x", "http://proxy:3128/x"),
            ("to https://a@b, socks5://c:d@e and ftp://f/g@h", "to https://b, socks5://e and ftp://f/g@h"),
            ("\"http://u:p@w@h\" \"https://x\"", "\"http://h\" \"https://x\""),
            ("docker-pullable://r/i@sha256:0", "docker-pullable://r/i@sha256:0"),
            ("a@b ://", "a@b ://"),
            ("at https://me:hun/ter2@h/x: refused", "at https://h/x: refused"),
            ("at https://me:hun#ter2@h", "at https://h"),
            ("https://me:hu@n/ter2@h", "https://h"),
            ("docker-pullable://registry:5000/i@sha256:0", "docker-pullable://registry:5000/i@sha256:0"),
            ("http://127.0.0.1:8080/@good.host", "http://127.0.0.1:8080"),
        ] {
            assert_eq!(without_passwords(text), expected);
        }
        for (url, expected) in [
            ("http://me:a/b#c@h:1", "http://h:1"),
            ("me:hunter2@h", "h"),
            ("https://10.0.0.1:6443", "https://10.0.0.1:6443"),
            ("http://127.0.0.1:80/@good.host", "http://127.0.0.1:80"),
            ("http://u:p@w/x@h", "http://[hidden]"),
            ("http://u:p@[::1]:80/x?token=hunter2", "http://[::1]:80/x"),
            ("https://me:hun#ter2@h", "https://h"),
        ] {
            assert_eq!(url_without_password(url), expected);
        }
    }
}
