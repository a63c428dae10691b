//! The only client of the API server: it can list, watch and get what a scheduler reads, and nothing else.
//!
//! [`ReadOnly`] is a layer around kube's client, through which every request passes. It lets only GETs of allowed paths
//! reach the network; the log of a pod is among them only if it was asked for. (The exception is kube's own renewal of credentials, which goes to an identity provider.)

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, DATE, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::client::{Body, ClientBuilder};
use kube::{Client, Config};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout};
use tower::{BoxError, Layer, Service};

use super::failure::{Failure, FailureKind, excerpt};
use super::resource::{is_allowed, is_log};
use super::timing::Timing;
use crate::limits::live::{PAGE, SHORT_ANSWER, SLOWEST};

/// The interval between renewals of credentials that are expired on arrival.
const RENEW_AGAIN: Duration = Duration::from_secs(1);

/// A request that was blocked.
#[derive(Debug, thiserror::Error)]
#[error("{method} {path} was not sent: only the objects that a scheduler reads are requested")]
pub(super) struct Refused {
    method: Method,
    path: String,
}

/// The layer that lets only reads through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadOnly {
    /// Whether logs of pods may be read.
    pub(super) logs: bool,
}

impl<S> Layer<S> for ReadOnly {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded(inner, *self)
    }
}

/// A service guarded by [`ReadOnly`].
#[derive(Clone, Debug)]
pub(super) struct Guarded<S>(S, ReadOnly);

impl<S, B> Service<Request<B>> for Guarded<S>
where
    S: Service<Request<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        if request.method() != Method::GET || !(is_allowed(path) || self.1.logs && is_log(path)) {
            let refused = Refused { method: request.method().clone(), path: request.uri().path().to_owned() };
            return Box::pin(async move { Err(refused.into()) });
        }
        let answer = self.0.call(request);
        Box::pin(async move { answer.await.map_err(Into::into) })
    }
}

/// Makes clients, also when credentials are no longer accepted. Returns the configuration, and when its credentials
/// expire.
pub(super) type Connector = dyn Fn() -> Result<(Config, Option<Timestamp>), Failure> + Send + Sync;

/// The body of an answer, in pieces.
pub(super) struct Answer {
    body: Body,
    heard: Arc<Mutex<Instant>>,
    /// When the server last sent a part of an accepted request; `None` for an answer that does not count.
    accepted: Option<Arc<Mutex<Instant>>>,
    /// The server's clock, if the answer has a date.
    pub(super) date: Option<Timestamp>,
}

/// Lists, watches and gets; see the module's documentation.
pub(super) struct ReadOnlyClient {
    client: RwLock<(Client, Option<Timestamp>)>,
    /// Serializes renewals; the time of the last one.
    renewed: tokio::sync::Mutex<Option<Instant>>,
    /// When the server last sent something.
    heard: Arc<Mutex<Instant>>,
    /// When the server last accepted a request for something else than its version.
    accepted: Arc<Mutex<Instant>>,
    connector: Arc<Connector>,
    answer: Duration,
    guard: ReadOnly,
}

/// Builds a client inside the layer from a configuration.
fn build((mut config, valid_until): (Config, Option<Timestamp>), guard: ReadOnly) -> Result<(Client, Option<Timestamp>), Failure> {
    let agent = HeaderValue::from_static(concat!("schedscope/", env!("CARGO_PKG_VERSION")));
    config.headers.push((http::header::USER_AGENT, agent));
    // The caller decides about retries, and shows them.
    config.default_retry = false;
    let builder = ClientBuilder::try_from(config).map_err(|error| {
        let failure = Failure::of_client(&error);
        // Nothing was sent yet, so the error is in the user's configuration.
        if failure.what == FailureKind::Connection { Failure { what: FailureKind::Credentials, ..failure } } else { failure }
    })?;
    let client = builder.with_layer(&guard).build();
    let until = valid_until.or(*client.valid_until());
    Ok((client, until))
}

impl ReadOnlyClient {
    /// Makes a client. Must be called within a runtime.
    pub(super) fn new(connector: Arc<Connector>, timing: &Timing, guard: ReadOnly) -> Result<Self, Failure> {
        let client = RwLock::new(build(connector()?, guard)?);
        let (renewed, heard) = (tokio::sync::Mutex::default(), Arc::new(Mutex::new(Instant::now())));
        let accepted = Arc::new(Mutex::new(Instant::now()));
        Ok(Self { client, renewed, heard, accepted, connector, answer: timing.answer, guard })
    }

    /// Makes a new client from the current kubeconfig.
    pub(super) async fn renew(&self) -> Result<(), Failure> {
        let connector = Arc::clone(&self.connector);
        // It reads files and may run a program.
        let guard = self.guard;
        let task = tokio::task::spawn_blocking(move || build(connector()?, guard));
        let client = task.await.map_err(|error| Failure::new(FailureKind::Credentials, error.to_string()))??;
        if let Ok(mut held) = self.client.write() {
            *held = client;
        }
        Ok(())
    }

    fn client(&self) -> Client {
        self.client.read().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn is_expired(&self) -> bool {
        self.client.read().unwrap_or_else(PoisonError::into_inner).1.is_some_and(|until| until <= Timestamp::now())
    }

    /// Renews expired credentials, once for all concurrent callers. If they are expired on arrival, it renews at most
    /// once a second.
    async fn renew_expired(&self) -> Result<(), Failure> {
        if !self.is_expired() {
            return Ok(());
        }
        let mut renewed = self.renewed.lock().await;
        if !self.is_expired() || renewed.is_some_and(|at| at.elapsed() < RENEW_AGAIN) {
            return Ok(());
        }
        *renewed = Some(Instant::now());
        self.renew().await
    }

    /// Returns when the server last sent something.
    pub(super) fn heard(&self) -> Instant {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when the server last accepted a request for something else than its version, which everyone may read.
    pub(super) fn accepted(&self) -> Instant {
        *self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a GET. Returns a JSON answer, or a failure.
    pub(super) async fn get(&self, path_and_query: &str, within: Option<Duration>) -> Result<Answer, Failure> {
        self.renew_expired().await?;
        let mut request = Request::get(path_and_query);
        let is_log = is_log(path_and_query.split('?').next().unwrap_or_default());
        if is_log || path_and_query.contains("watch=true") {
            // Servers may compress each event separately, which the decompressing layer does not support.
            request = request.header(ACCEPT_ENCODING, "identity");
        }
        let request = request.body(Body::empty()).map_err(|error| Failure::new(FailureKind::Refused, error.to_string()))?;
        let limit = within.unwrap_or(self.answer);
        let response = timeout(limit, self.client().send(request)).await.map_err(|_| silence(limit))?;
        let response = response.map_err(|error| Failure::of_client(&error))?;
        let counts = response.status().is_success() && !path_and_query.starts_with("/version");
        self.check(response, is_log, counts.then(|| Arc::clone(&self.accepted))).await
    }

    async fn check(&self, response: Response<Body>, is_log: bool, accepted: Option<Arc<Mutex<Instant>>>) -> Result<Answer, Failure> {
        let (head, body) = response.into_parts();
        let date = head.headers.get(DATE).and_then(|value| value.to_str().ok()).and_then(read_date);
        let mut answer = Answer { body, heard: Arc::clone(&self.heard), accepted, date };
        answer.note();
        if !head.status.is_success() {
            let mut text = Vec::new();
            while let Ok(Some(span)) = answer.next(self.answer).await {
                text.extend_from_slice(&span);
                if text.len() > 64 << 10 {
                    break;
                }
            }
            return Err(Failure::of_answer(head.status, &head.headers, &text));
        }
        let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("no content type");
        if kind.starts_with(if is_log { "text/plain" } else { "application/json" }) {
            return Ok(answer);
        }
        let start = answer.next(self.answer).await.ok().flatten().unwrap_or_default();
        let wanted = if is_log { "plain text" } else { "JSON" };
        let message = format!("the answer is {kind}, not {wanted}; is there a proxy or a login page in between? {}", excerpt(&start));
        Err(Failure::new(FailureKind::Content, message.trim_end()))
    }

    /// Sends a GET and reads the whole answer.
    pub(super) async fn text(&self, path_and_query: &str, within: Option<Duration>) -> Result<(Vec<u8>, Option<Timestamp>), Failure> {
        self.text_up_to(PAGE, path_and_query, within).await
    }

    /// Sends a GET and reads the whole answer, which is broken off if it is too long or too slow.
    async fn text_up_to(
        &self,
        longest: usize,
        path_and_query: &str,
        within: Option<Duration>,
    ) -> Result<(Vec<u8>, Option<Timestamp>), Failure> {
        let mut answer = self.get(path_and_query, within).await?;
        let limit = within.unwrap_or(self.answer);
        let (mut text, mut since, mut before) = (Vec::new(), Instant::now(), 0);
        while let Some(span) = answer.next(limit).await? {
            if text.len() + span.len() > longest {
                return Err(Failure::new(FailureKind::Content, format!("the answer is longer than {longest} bytes")));
            }
            text.extend_from_slice(&span);
            if since.elapsed() > limit {
                if text.len() - before < SLOWEST {
                    return Err(Failure::new(FailureKind::Timeout, format!("the answer brought less than {SLOWEST} bytes in {limit:?}")));
                }
                (since, before) = (Instant::now(), text.len());
            }
        }
        Ok((text, answer.date))
    }

    /// Sends a GET and decodes its short answer.
    pub(super) async fn json<T: DeserializeOwned>(&self, path: &str, within: Option<Duration>) -> Result<(T, Option<Timestamp>), Failure> {
        let (text, date) = self.text_up_to(SHORT_ANSWER, path, within).await?;
        match serde_json::from_slice(&text) {
            Ok(value) => Ok((value, date)),
            Err(error) => Err(Failure::new(FailureKind::Content, format!("the answer is invalid ({error}): {}", excerpt(&text)))),
        }
    }
}

impl Answer {
    /// Notes that the server sent something now.
    fn note(&self) {
        for time in std::iter::once(&self.heard).chain(&self.accepted) {
            *time.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
    }

    /// Returns the next piece of the answer; `None` at its end.
    pub(super) async fn next(
        &mut self,
        within: Duration,
    ) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]> + Default + use<>>, Failure> {
        loop {
            let Some(frame) = timeout(within, self.body.frame()).await.map_err(|_| silence(within))? else { return Ok(None) };
            let frame = frame.map_err(|error| {
                let failure = Failure::of_client(&error);
                Failure::new(FailureKind::Connection, format!("the connection was interrupted: {}", failure.message))
            })?;
            self.note();
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }
}

fn silence(limit: Duration) -> Failure {
    Failure::new(FailureKind::Timeout, format!("no answer for {limit:?}"))
}

/// Parses `Sat, 21 Nov 2026 01:58:07 GMT`.
fn read_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tower::{ServiceExt, service_fn};

    #[tokio::test]
    async fn a_log_gets_through_only_if_it_was_asked_for() {
        let inner = service_fn(|_: Request<()>| std::future::ready(Ok::<_, BoxError>(Response::new(()))));
        for (logs, method, path, passes) in [
            (false, "GET", "/api/v1/namespaces/a/pods/b/log?follow=true", false),
            (true, "GET", "/api/v1/namespaces/a/pods/b/log?follow=true", true),
            (true, "POST", "/api/v1/namespaces/a/pods/b/log", false),
            (true, "GET", "/api/v1/namespaces/a/pods/b/exec", false),
            (true, "GET", "/api/v1/namespaces/a/secrets/b", false),
            (true, "GET", "/metrics", false),
        ] {
            let request = Request::builder().method(method).uri(path).body(()).unwrap();
            let answer = ReadOnly { logs }.layer(inner).oneshot(request).await;
            assert_eq!(answer.is_ok(), passes, "{logs} {method} {path}");
        }
    }

    #[tokio::test]
    async fn nothing_but_reading_gets_through() {
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&seen);
        let inner = service_fn(move |_: Request<()>| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok::<_, BoxError>(Response::new(())))
        });
        let service = ReadOnly::default().layer(inner);
        for (method, path, passes) in [
            ("GET", "/api/v1/pods?limit=5", true),
            ("GET", "/version", true),
            ("POST", "/api/v1/pods", false),
            ("PUT", "/api/v1/namespaces/a/pods/b", false),
            ("PATCH", "/api/v1/nodes/a", false),
            ("DELETE", "/api/v1/namespaces/a/pods/b", false),
            ("DELETE", "/api/v1/pods", false),
            ("HEAD", "/api/v1/pods", false),
            ("CONNECT", "/api/v1/namespaces/a/pods/b", false),
            ("GET", "/api/v1/secrets", false),
            ("GET", "/api/v1/namespaces/a/configmaps/b", false),
            ("POST", "/api/v1/namespaces/a/pods/b/eviction", false),
        ] {
            let before = seen.load(Ordering::Relaxed);
            let request = Request::builder().method(method).uri(path).body(()).unwrap();
            let answer = service.clone().oneshot(request).await;
            assert_eq!(answer.is_ok(), passes, "{method} {path}");
            assert_eq!(seen.load(Ordering::Relaxed) - before, usize::from(passes), "{method} {path}");
            if let Err(error) = answer {
                assert_eq!(Failure::of_client(error.as_ref()).what, FailureKind::Refused, "{method} {path}");
            }
        }
    }

    /// Returns a client of a server that answers every request with these bytes, again and again, each after a pause.
    fn client(head: &'static str, piece: &'static [u8], pause: Duration) -> ReadOnlyClient {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url: http::Uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{head}\r\n");
                while stream.write_all(piece).is_ok() {
                    std::thread::sleep(pause);
                }
            }
        });
        let connector: Arc<Connector> = Arc::new(move || Ok((Config::new(url.clone()), None)));
        let timing = Timing { answer: Duration::from_millis(300), ..Timing::default() };
        ReadOnlyClient::new(connector, &timing, ReadOnly::default()).unwrap()
    }

    #[tokio::test]
    async fn answers_without_end_are_broken_off() {
        let client = client("", &[b' '; 4096], Duration::ZERO);
        let failure = client.text_up_to(100_000, "/api/v1/pods", None).await.unwrap_err();
        assert_eq!(failure.message, "the answer is longer than 100000 bytes");
        let failure = client.json::<serde::de::IgnoredAny>("/version", None).await.unwrap_err();
        assert_eq!(failure.message, format!("the answer is longer than {SHORT_ANSWER} bytes"));
        const { assert!(PAGE > SHORT_ANSWER) };
    }

    #[tokio::test]
    async fn answers_that_drip_are_broken_off() {
        let client = client("", b" ", Duration::from_millis(20));
        let failure = client.text("/api/v1/pods", None).await.unwrap_err();
        assert!(failure.message.starts_with("the answer brought less than 1024 bytes in "), "{}", failure.message);
    }

    #[test]
    fn the_server_tells_the_time() {
        let time = read_date("Sat, 21 Nov 2026 01:58:07 GMT").map(|t| t.to_string());
        assert_eq!(time.as_deref(), Some("2026-11-21T01:58:07Z"));
        assert_eq!(read_date("now"), None);
    }
}
