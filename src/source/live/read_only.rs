//! The only client of the API server: it can list, watch and get what a scheduler reads, and nothing else.
//!
//! [`ReadOnly`] is a layer around kube's client, through which every request passes. It lets only GETs of allowed paths
//! reach the network; the log of a pod is among them only if it was asked for. (The exception is kube's own renewal of credentials, which goes to an identity provider.)

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use http::{Method, Request, Response};
use jiff::Timestamp;
use kube::client::{Body, ClientBuilder};
use kube::{Client, Config};
use secrecy::ExposeSecret as _;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout};
use tower::{BoxError, Layer, Service};

use super::answer::{Answer, AnswerTimes, Costs, Text, silence};
use super::bounds::Bounds;
use super::failure::{Failure, FailureKind, excerpt};
use super::kubeconfig::text_of;
use super::resource::{is_allowed, is_log};
use super::timing::Timing;
use super::waiting::{Waiting, Waits};
use crate::output::Credentials;

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

/// A client with when its credentials expire, and whether it accepts compressed answers.
struct Built {
    client: Client,
    until: Option<Timestamp>,
    gzip: bool,
    credentials: Credentials,
}

/// Lists, watches and gets; see the module's documentation.
pub(super) struct ReadOnlyClient {
    built: RwLock<Built>,
    /// Serializes renewals; the time of the last one.
    renewed: tokio::sync::Mutex<Option<Instant>>,
    /// When the server last sent something.
    last_answer: Arc<Mutex<Instant>>,
    /// When the server last accepted a request for something else than its version.
    accepted: Arc<Mutex<Instant>>,
    connector: Arc<Connector>,
    answer: Duration,
    guard: ReadOnly,
    bounds: Arc<Bounds>,
    /// The requests without an answer.
    waits: Waits,
    /// Requests so far.
    requests: AtomicU64,
    /// The initial state is complete, and requests are counted no longer.
    complete: AtomicBool,
    costs: Arc<Costs>,
}

/// Builds a client inside the layer from a configuration.
fn build((mut config, valid_until): (Config, Option<Timestamp>), guard: ReadOnly) -> Result<Built, Failure> {
    let agent = HeaderValue::from_static(concat!("schedscope/", env!("CARGO_PKG_VERSION")));
    config.headers.push((http::header::USER_AGENT, agent));
    // The caller decides about retries, and shows them.
    config.default_retry = false;
    let gzip = !config.disable_compression;
    let credentials = credentials(&config);
    let builder = ClientBuilder::try_from(config).map_err(|error| {
        let failure = Failure::of_client(&error);
        // Nothing was sent yet, so the error is in the user's configuration.
        if failure.what == FailureKind::Connection { Failure { what: FailureKind::Credentials, ..failure } } else { failure }
    })?;
    let client = builder.with_layer(&guard).build();
    let until = valid_until.or(*client.valid_until());
    Ok(Built { client, until, gzip, credentials })
}

/// The fields of an auth-provider that are secret.
const SECRET_FIELDS: [&str; 4] = ["access-token", "client-secret", "id-token", "refresh-token"];

/// Returns what a server or a proxy is sent as credentials.
fn credentials(config: &Config) -> Credentials {
    let user = &config.auth_info;
    let mut found = Credentials::default();
    if let Some(token) = &user.token {
        found.add(token.expose_secret());
    }
    // That of a pod's service account.
    if let Some(token) = user.token_file.as_ref().and_then(|path| text_of(path).ok()) {
        found.add(token.trim());
    }
    if let (Some(name), Some(password)) = (&user.username, &user.password) {
        found.add_user(&format!("{name}:{}", password.expose_secret()));
    }
    let provider = user.auth_provider.iter().flat_map(|provider| &provider.config);
    provider.filter(|(field, _)| SECRET_FIELDS.contains(&field.as_str())).for_each(|(_, value)| found.add(value));
    for url in config.proxy_url.iter().chain([&config.cluster_url]) {
        if let Some((user, _)) = url.authority().and_then(|authority| authority.as_str().rsplit_once('@')) {
            found.add_user(&percent_encoding::percent_decode_str(user).decode_utf8_lossy());
        }
    }
    found
}

impl ReadOnlyClient {
    /// Makes a client. Must be called within a runtime.
    pub(super) fn new(connector: Arc<Connector>, timing: &Timing, guard: ReadOnly, bounds: Bounds, waits: Waits) -> Result<Self, Failure> {
        Ok(Self {
            built: RwLock::new(build(connector()?, guard)?),
            renewed: tokio::sync::Mutex::default(),
            last_answer: Arc::new(Mutex::new(Instant::now())),
            accepted: Arc::new(Mutex::new(Instant::now())),
            connector,
            answer: timing.answer,
            guard,
            bounds: Arc::new(bounds),
            waits,
            requests: AtomicU64::new(0),
            complete: AtomicBool::new(false),
            costs: Arc::default(),
        })
    }

    pub(super) fn waits(&self) -> &Waits {
        &self.waits
    }

    pub(super) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    pub(super) fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Returns whether so much of the answers came to nothing that only small ones are read.
    pub(super) fn is_exhausted(&self) -> bool {
        self.costs.are_exhausted(&self.bounds)
    }

    /// Records that the initial state is complete: further requests follow the cluster, and are not counted.
    pub(super) fn loaded(&self) {
        self.complete.store(true, Ordering::Relaxed);
    }

    /// Makes a new client from the current kubeconfig.
    pub(super) async fn renew(&self) -> Result<(), Failure> {
        let connector = Arc::clone(&self.connector);
        // It reads files and may run a program.
        let guard = self.guard;
        let wait = self.waits.begin(Waiting::Credentials);
        let task = tokio::task::spawn_blocking(move || build(connector()?, guard));
        let built = task.await.map_err(|error| Failure::new(FailureKind::Credentials, error.to_string()))??;
        drop(wait);
        if let Ok(mut held) = self.built.write() {
            *held = built;
        }
        Ok(())
    }

    /// Returns a failure without the credentials that the server or a proxy may have echoed.
    pub(super) fn hide(&self, mut failure: Failure) -> Failure {
        let built = self.built.read().unwrap_or_else(PoisonError::into_inner);
        failure.message = built.credentials.hide(&failure.message).into_owned();
        failure
    }

    fn client(&self) -> (Client, bool) {
        let built = self.built.read().unwrap_or_else(PoisonError::into_inner);
        (built.client.clone(), built.gzip)
    }

    fn is_expired(&self) -> bool {
        self.built.read().unwrap_or_else(PoisonError::into_inner).until.is_some_and(|until| until <= Timestamp::now())
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
    pub(super) fn last_answer(&self) -> Instant {
        *self.last_answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when the server last accepted a request for something else than its version, which everyone may read.
    pub(super) fn accepted(&self) -> Instant {
        *self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request for the initial state.
    fn count(&self) -> Result<(), Failure> {
        let most = self.bounds.first_requests;
        if self.complete.load(Ordering::Relaxed) || self.requests.fetch_add(1, Ordering::Relaxed) < most {
            return Ok(());
        }
        Err(Failure::new(FailureKind::Limit, format!("the server was asked {most} times without being read in full")))
    }

    /// Sends a GET. Returns a JSON answer, or a failure.
    pub(super) async fn get(&self, path_and_query: &str, waiting: Waiting, within: Option<Duration>) -> Result<Answer, Failure> {
        self.send(path_and_query, waiting, within).await.map_err(|failure| self.hide(failure))
    }

    async fn send(&self, path_and_query: &str, waiting: Waiting, within: Option<Duration>) -> Result<Answer, Failure> {
        self.renew_expired().await?;
        self.count()?;
        let wait = self.waits.begin(waiting.clone());
        let mut request = Request::get(path_and_query);
        let is_log = is_log(path_and_query.split('?').next().unwrap_or_default());
        let (client, gzip) = self.client();
        // Pieces of a log or a watch are read as they come, and are not worth compressing.
        let gzip = gzip && !is_log && !path_and_query.contains("watch=true");
        request = request.header(ACCEPT_ENCODING, if gzip { "gzip" } else { "identity" });
        let request = request.body(Body::empty()).map_err(|error| Failure::new(FailureKind::Refused, error.to_string()))?;
        let limit = within.unwrap_or(self.answer);
        let response = timeout(limit, client.send(request)).await.map_err(|_| silence(limit, &waiting))?;
        let response = response.map_err(|error| Failure::of_client(&error))?;
        drop(wait);
        let counts = response.status().is_success() && !path_and_query.starts_with("/version");
        let last_answer = AnswerTimes { any: Arc::clone(&self.last_answer), accepted: counts.then(|| Arc::clone(&self.accepted)) };
        last_answer.note();
        self.check(response, waiting, is_log, last_answer).await
    }

    async fn check(&self, response: Response<Body>, waiting: Waiting, is_log: bool, last_answer: AnswerTimes) -> Result<Answer, Failure> {
        let (head, body) = response.into_parts();
        let text_of = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let date = text_of(DATE).and_then(read_date);
        let gzip = packing(&head.headers)?;
        let mut answer = Answer::new(body, gzip, date, waiting, (last_answer, Arc::clone(&self.bounds)));
        if !head.status.is_success() {
            let text = answer.start(self.answer, self.bounds.refusal).await;
            return Err(Failure::of_answer(head.status, &head.headers, &text));
        }
        let kind = text_of(CONTENT_TYPE).unwrap_or("no content type");
        if kind.starts_with(if is_log { "text/plain" } else { "application/json" }) {
            return Ok(answer);
        }
        let mut start = Vec::new();
        // Its first piece says enough; without one, the type does.
        let _ = answer.next(self.answer, &mut start).await;
        let wanted = if is_log { "plain text" } else { "JSON" };
        let message = format!("the answer is {kind}, not {wanted}; is there a proxy or a login page in between? {}", excerpt(&start));
        Err(Failure::new(FailureKind::Content, message.trim_end()))
    }

    /// Sends a GET and reads the whole answer, of at most `most` bytes.
    pub(super) async fn text(&self, path_and_query: &str, waiting: Waiting, most: u64) -> Result<Text, Failure> {
        self.checked(path_and_query, waiting, most, |_| Ok(())).await
    }

    /// The same of an answer whose start is checked.
    pub(super) async fn checked(
        &self,
        path_and_query: &str,
        waiting: Waiting,
        most: u64,
        check: impl Fn(&[u8]) -> Result<(), Failure>,
    ) -> Result<Text, Failure> {
        let _wait = self.waits.begin(waiting.clone());
        let answer = self.get(path_and_query, waiting, None).await?;
        answer.whole(self.answer, most, &self.costs, check).await.map_err(|failure| self.hide(failure))
    }

    /// Sends a GET and decodes its short answer, which must be there within a time.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        path: &str,
        waiting: Waiting,
        within: Duration,
    ) -> Result<(T, Option<Timestamp>), Failure> {
        let _wait = self.waits.begin(waiting.clone());
        let read = async {
            let answer = self.get(path, waiting.clone(), Some(within)).await?;
            answer.whole(within, self.bounds.short_answer, &self.costs, |_| Ok(())).await
        };
        let text = timeout(within, read).await.map_err(|_| silence(within, &waiting))??;
        match serde_json::from_slice(&text.bytes) {
            Ok(value) => {
                let date = text.date;
                text.used();
                Ok((value, date))
            }
            Err(error) => {
                let message = format!("the answer is invalid ({error}): {}", excerpt(&text.bytes));
                Err(self.hide(Failure::new(FailureKind::Content, message)))
            }
        }
    }
}

/// Returns whether an answer is compressed, which must be with gzip.
fn packing(headers: &HeaderMap) -> Result<bool, Failure> {
    match headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"" | b"identity") => Ok(false),
        Some(encoding) if encoding.eq_ignore_ascii_case(b"gzip") => Ok(true),
        Some(other) => Err(Failure::new(FailureKind::Content, format!("the answer is compressed with {}, not gzip", excerpt(other)))),
    }
}

/// Parses `Sat, 21 Nov 2026 01:58:07 GMT`.
fn read_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests;
