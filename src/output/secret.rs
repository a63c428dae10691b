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

/// Returns a URL, valid or not, without its user and password.
pub fn url_without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (&url[..scheme.len() + 3], rest));
    format!("{scheme}{}", rest.rsplit_once('@').map_or(rest, |(_, rest)| rest))
}

/// Returns a text in which no URL has a user and password before its host.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '\\');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        rest = authority.rfind('@').map_or(after, |at| &after[at + 1..]);
    }
    out.push_str(rest);
    if out.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(out) }
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
        ] {
            assert_eq!(without_passwords(text), expected);
        }
        for (url, expected) in
            [("http://me:a/b#c@h:1", "http://h:1"), ("me:hunter2@h", "h"), ("https://10.0.0.1:6443", "https://10.0.0.1:6443")]
        {
            assert_eq!(url_without_password(url), expected);
        }
    }
}
