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

#[cfg(any(feature = "live", feature = "extenders"))]
/// The shortest credential that [`Credentials::hide`] looks for: shorter ones are parts of common words.
const SHORTEST: usize = 6;

#[cfg(any(feature = "live", feature = "extenders"))]
/// The credentials of a connection. Its peer may echo them in an error.
#[derive(Clone, Default)]
pub struct Credentials(Vec<String>);

#[cfg(any(feature = "live", feature = "extenders"))]
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(any(feature = "live", feature = "extenders"))]
impl Credentials {
    /// Adds a token or a password, also as it is in a URL and in JSON.
    pub fn add(&mut self, secret: &str) {
        let in_url =
            secret.bytes().map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") }).collect();
        let in_json = serde_json::Value::from(secret).to_string();
        for form in [secret.to_owned(), in_url, in_json.trim_matches('"').to_owned()] {
            if form.len() >= SHORTEST && !self.0.contains(&form) {
                self.0.push(form);
            }
        }
        self.0.sort_by_key(|form| std::cmp::Reverse(form.len()));
    }

    /// Adds `user:password`, also as basic authentication has it.
    pub fn add_user(&mut self, user: &str) {
        let encoded = super::base64(user.as_bytes());
        self.add(&encoded);
        self.add(encoded.trim_end_matches('='));
        self.add(user);
        if let Some((_, password)) = user.split_once(':') {
            self.add(password);
        }
    }

    /// Leaves out the credentials that are part of a text.
    pub fn forget_those_in(&mut self, text: &str) {
        self.0.retain(|form| !text.contains(form.as_str()));
    }

    /// Returns a text without the credentials.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for form in &self.0 {
            if text.contains(form.as_str()) {
                text = Cow::Owned(text.replace(form.as_str(), "[hidden]"));
            }
        }
        match text.strip_suffix('…').and_then(|cut| self.begun_at_end(cut)) {
            Some(start) => Cow::Owned(format!("{}[hidden]…", &text[..start])),
            None => text,
        }
    }

    /// Returns where the start of a credential begins with which a text ends.
    fn begun_at_end(&self, text: &str) -> Option<usize> {
        let mut starts = self.0.iter().flat_map(|form| (SHORTEST..form.len()).rev().filter_map(|length| form.get(..length)));
        starts.find(|start| text.ends_with(start)).map(|start| text.len() - start.len())
    }
}

/// Returns a URL, valid or not, without its user and password, its query, its fragment and the parameters of its path.
///
/// The host that is left is the one that a client connects to. Where an `@` may belong to a password or to a path, only what is no
/// secret either way is left.
pub fn url_without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (&url[..scheme.len() + 3], rest));
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let path = tail.split(['?', '#', ';']).next().unwrap_or_default();
    match (is_host(host), user, tail.contains('@')) {
        (true, _, false) => format!("{scheme}{host}{path}"),
        (true, None, true) => format!("{scheme}{host}"),
        (true, Some(_), true) => format!("{scheme}[hidden]"),
        (false, ..) => {
            let last = rest.rsplit_once('@').map_or(rest, |(_, last)| last);
            let shown = last.split(['?', '#', ';']).next().unwrap_or_default();
            let authority = last.split(['/', '?', '#', '\\']).next().unwrap_or_default();
            // An `@` may be percent-encoded, or be missing.
            let may_be_secret = !is_host(authority) && authority.contains([':', '%', ';']);
            if may_be_secret { format!("{scheme}[hidden]") } else { format!("{scheme}{shown}") }
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

/// Returns a text in which no URL has a user and password before its host, nor the value of a parameter that is named as a credential.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    if !text.contains("://") || !(text.contains(['@', '?', '#']) || text.contains("%40")) {
        return Cow::Borrowed(text);
    }
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let (url, behind) = after.split_at(after.find(ends).unwrap_or(after.len()));
        push_without_parameters(&mut out, after_password(url));
        rest = behind;
    }
    out.push_str(rest);
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Parts of the names of parameters whose values are credentials, in lower case.
const CREDENTIALS: [&str; 10] = ["token", "passw", "pwd", "secret", "credential", "signature", "auth", "apikey", "api_key", "api-key"];

/// Adds a URL in which the values of parameters that are named as credentials are hidden.
fn push_without_parameters(out: &mut String, url: &str) {
    let Some(at) = url.find(['?', '#']) else { return out.push_str(url) };
    let (path, query) = url.split_at(at + 1);
    out.push_str(path);
    for parameter in query.split_inclusive('&') {
        let is_hidden = |name: &str| CREDENTIALS.iter().any(|part| name.contains(part)) || matches!(name, "sig" | "key");
        match parameter.split_once('=').filter(|(name, _)| is_hidden(&name.to_ascii_lowercase())) {
            Some((name, value)) => {
                out.push_str(name);
                out.push_str(if value.ends_with('&') { "=[hidden]&" } else { "=[hidden]" });
            }
            None => out.push_str(parameter),
        }
    }
}

/// Returns what follows the user and password of a URL without its scheme.
fn after_password(url: &str) -> &str {
    let (authority, tail) = url.split_at(url.find(['/', '?', '#', '\\']).unwrap_or(url.len()));
    let whole = || url.rfind('@').map_or(url, |at| &url[at + 1..]);
    let in_tail = tail.replace("@sha256:", "").contains('@');
    match authority.rfind('@') {
        Some(_) if in_tail => whole(),
        Some(at) => &url[at + 1..],
        // An `@` may be percent-encoded.
        None if authority.contains("%40") && !in_tail => "[hidden]",
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
    fn parameters_that_are_named_as_credentials_are_hidden() {
        for (text, expected) in [
            ("at http://h/x?token=hunter2: refused", "at http://h/x?token=[hidden] refused"),
            ("http://h/x?a=1&access_token=hun;ter2#x&b=2", "http://h/x?a=1&access_token=[hidden]&b=2"),
            ("\"https://h/?X-Amz-Signature=hunter2\" and", "\"https://h/?X-Amz-Signature=[hidden]\" and"),
            ("http://u:hunter2@h/?sig=hunter2", "http://h/?sig=[hidden]"),
            ("http://h/#id_token=hunter2", "http://h/#id_token=[hidden]"),
            ("https://kubernetes.io/docs/?q=taints#keys", "https://kubernetes.io/docs/?q=taints#keys"),
            ("http://h/?fieldSelector=spec.nodeName%3D&limit=500", "http://h/?fieldSelector=spec.nodeName%3D&limit=500"),
            ("token=hunter of no URL?", "token=hunter of no URL?"),
        ] {
            assert_eq!(without_passwords(text), expected);
        }
    }

    #[test]
    fn a_secret_cannot_be_printed() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!((format!("{secret:?}"), secret.expose().as_str()), ("[secret]".to_owned(), "hunter2"));
    }

    #[cfg(any(feature = "live", feature = "extenders"))]
    #[test]
    fn credentials_that_are_echoed_are_hidden() {
        let mut credentials = Credentials::default();
        credentials.add("abc.def-ghi");
        credentials.add_user("bob:hun/ter2");
        credentials.add_user("me:hunter2");
        credentials.add("cpu");
        let token = "Bearer abc.def-ghi";
        for (text, expected) in [
            (token, "Bearer [hidden]"),
            ("Basic Ym9iOmh1bi90ZXIy or bWU6aHVudGVyMg==, bWU6aHVudGVyMg.", "Basic [hidden] or [hidden], [hidden]."),
            ("bob:hun/ter2, hun/ter2, hun%2Fter2, bob", "[hidden], [hidden], [hidden], bob"),
            ("Insufficient cpu", "Insufficient cpu"),
            ("cut: abc.de…", "cut: [hidden]…"),
            ("cut: abc.d…", "cut: abc.d…"),
        ] {
            assert_eq!(credentials.hide(text), expected);
        }
        assert_eq!(format!("{credentials:?}"), "[secret]");
        credentials.forget_those_in("{\"name\":\"abc.def-ghi\"}");
        assert_eq!(credentials.hide(token), token);
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
            ("at http://bob:hunter2%40h:80/: refused", "at http://[hidden] refused"),
            ("at http://h/a%40b", "at http://h/a%40b"),
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
            ("http://bob:hunter2%40h:80/", "http://[hidden]"),
            ("http://x@bob:hunter2/host", "http://[hidden]"),
            ("http://h;token=hunter2/x", "http://[hidden]"),
            ("http://h/x;token=hunter2?y", "http://h/x"),
            ("http:bob:hunter2@127.0.0.1:9", "127.0.0.1:9"),
            ("http://$(HOST)/x", "http://$(HOST)/x"),
        ] {
            assert_eq!(url_without_password(url), expected);
        }
    }
}
