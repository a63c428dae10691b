//! Failures of requests, by how to react to them.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use http::StatusCode;
use http::header::{HeaderMap, RETRY_AFTER};
use kube::client::AuthError;
use serde::Deserialize;

use crate::limits::live::EXCERPT;
use crate::output::without_passwords;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) what: FailureKind,
    /// The message, without a full stop.
    pub(super) message: String,
    /// The seconds to wait, as asked by the server.
    pub(super) retry_after: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// 401.
    Unauthorised,
    /// 403.
    Forbidden,
    /// 404 and 405. Whatever is in front of a server answers so too, so this alone does not say that the server lacks a resource.
    NotFound,
    /// 410: the resource version or the continue token is too old.
    Expired,
    /// 400 and 422: the server rejects the request's parameters.
    Rejected,
    /// Any other code.
    Status(u16),
    /// The connection failed or broke off.
    Connection,
    /// TLS failed: the server's certificate or the client's.
    Certificate,
    /// The client has no credentials.
    Credentials,
    /// No answer in time.
    Timeout,
    /// The answer has more parts than is accepted, or there are too many answers.
    Limit,
    /// The answer is longer than is accepted.
    TooLong,
    /// The answer is not that of a Kubernetes API server.
    Content,
    /// The answer is a list of another kind.
    OtherKind,
    /// The path is not among those that may be read, which is a bug.
    Refused,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The fields of a `metav1.Status` that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    kind: String,
    pub(super) message: String,
    pub(super) code: u16,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    retry_after_seconds: u32,
}

impl Failure {
    pub(super) fn new(what: FailureKind, message: impl Into<String>) -> Self {
        Self { what, message: without_passwords(&message.into()).into_owned(), retry_after: None }
    }

    /// Returns how long the server asks to wait.
    pub(super) fn asked(&self, second: Duration) -> Option<Duration> {
        self.retry_after.map(|seconds| second.saturating_mul(seconds))
    }

    /// Makes a failure from an answer other than 2xx.
    pub(super) fn of_answer(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let header = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let mut failure = match serde_json::from_slice::<Status>(body).ok().filter(|status| status.kind == "Status") {
            Some(status) => Self::of_status(&Status { code: code.as_u16(), ..status }),
            None => Self::new(sort(code.as_u16()), with_reason(code.as_u16(), &excerpt(body))),
        };
        failure.retry_after = header.or(failure.retry_after);
        failure
    }

    /// Makes a failure from a Status, as at the end of a watch.
    pub(super) fn of_status(status: &Status) -> Self {
        let retry_after = status.details.as_ref().map(|d| d.retry_after_seconds).filter(|seconds| *seconds > 0);
        Self { retry_after, ..Self::new(sort(status.code), with_reason(status.code, &status.message)) }
    }

    /// Makes a failure from an error of kube and the layers below it.
    pub(super) fn of_client(error: &(dyn Error + 'static)) -> Self {
        if let Some(error) = causes(error).find_map(|error| error.downcast_ref()) {
            return Self::new(FailureKind::Credentials, credentials(error));
        }
        let text = chain(error);
        let lower = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let what = if find::<super::read_only::Refused>(error) {
            FailureKind::Refused
        } else if has(&["certificate", "invalidcontenttype", "corrupt message", "tls", "handshake"]) {
            FailureKind::Certificate
        } else {
            FailureKind::Connection
        };
        Self::new(what, text)
    }
}

/// Returns why there are no credentials. [`exec`](super::exec) runs programs for credentials, so the details that kube
/// would give about them are left out.
fn credentials(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecStart(_)
        | AuthError::AuthExecRun { .. }
        | AuthError::AuthExecParse(_)
        | AuthError::ExecPluginFailed
        | AuthError::MalformedTokenExpirationDate(_) => "the credential plugin failed".to_owned(),
        AuthError::InvalidBasicAuth(_) => "the user or the password cannot be sent: a character in it is not allowed".to_owned(),
        AuthError::InvalidBearerToken(_) => "the token cannot be sent: a character in it is not allowed".to_owned(),
        AuthError::Oidc(_) => "the identity provider (OIDC) gives no token; run kubectl with the same context for details".to_owned(),
        other => chain(other),
    }
}

fn sort(code: u16) -> FailureKind {
    match code {
        401 => FailureKind::Unauthorised,
        403 => FailureKind::Forbidden,
        404 | 405 => FailureKind::NotFound,
        410 => FailureKind::Expired,
        400 | 422 => FailureKind::Rejected,
        other => FailureKind::Status(other),
    }
}

/// Returns `500 Internal Server Error: etcd is gone`.
fn with_reason(code: u16, message: &str) -> String {
    let reason = StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason()).unwrap_or("unknown status");
    if message.is_empty() { format!("{code} {reason}") } else { format!("{code} {reason}: {message}") }
}

/// Returns the start of a foreign text, on one line and without control characters.
pub(super) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(EXCERPT * 4)]);
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    if line.chars().count() > EXCERPT { line.chars().take(EXCERPT).chain(['…']).collect() } else { line }
}

fn find<T: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(<dyn Error>::is::<T>)
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}

/// Returns an error with its causes, each once.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut said: Vec<String> = Vec::new();
    for error in causes(error) {
        let text = error.to_string();
        // Many errors repeat their cause in their own text.
        for known in &mut said {
            if let Some(rest) = known.strip_suffix(text.as_str()) {
                *known = rest.trim_end_matches([':', ' ']).to_owned();
            }
        }
        said.retain(|known| !known.is_empty());
        said.push(text);
    }
    // Names of layers mean nothing to a user.
    said.retain(|text| !["ServiceError", "HyperError", "client error (Connect)", "auth error"].contains(&text.as_str()));
    said.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_sorted_and_reported_in_one_line() {
        let status = r#"{"kind":"Status","message":"pods is forbidden","code":1}"#;
        let wait = r#"{"kind":"Status","message":"too many","details":{"retryAfterSeconds":7}}"#;
        for (code, header, body, what, message, retry_after) in [
            (403, "", status, FailureKind::Forbidden, "403 Forbidden: pods is forbidden", None),
            (401, "", "", FailureKind::Unauthorised, "401 Unauthorized", None),
            (404, "", "404 page not found\n", FailureKind::NotFound, "404 Not Found: 404 page not found", None),
            (410, "", "", FailureKind::Expired, "410 Gone", None),
            (422, "", "", FailureKind::Rejected, "422 Unprocessable Entity", None),
            (429, "", wait, FailureKind::Status(429), "429 Too Many Requests: too many", Some(7)),
            (429, "3", wait, FailureKind::Status(429), "429 Too Many Requests: too many", Some(3)),
            (503, "soon", "<html>\n\u{1b}down</html>", FailureKind::Status(503), "503 Service Unavailable: <html> down</html>", None),
        ] {
            let mut headers = HeaderMap::new();
            if !header.is_empty() {
                headers.insert(RETRY_AFTER, header.parse().unwrap());
            }
            let failure = Failure::of_answer(StatusCode::from_u16(code).unwrap(), &headers, body.as_bytes());
            assert_eq!(failure, Failure { what, message: message.to_owned(), retry_after });
        }
        assert_eq!(excerpt("é".repeat(500).as_bytes()).chars().count(), EXCERPT + 1);
        let failure = Failure { retry_after: Some(2), ..Failure::new(FailureKind::Timeout, "x") };
        assert_eq!(failure.asked(Duration::from_millis(5)), Some(Duration::from_millis(10)));
    }

    #[test]
    fn causes_are_reported_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer: inner")]
        struct Outer(#[source] Inner);
        #[derive(Debug, thiserror::Error)]
        #[error("inner")]
        struct Inner;
        assert_eq!(chain(&Outer(Inner)), "outer: inner");
        assert_eq!(chain(&Inner), "inner");
    }
}
