//! Asks HTTP extenders for real: `POST`, the time limit and the TLS settings of the extender, the proxies of the
//! environment, answers of bounded size, and Go's words for what goes wrong. Redirects are not followed.
//!
//! Each call has a connection of its own and speaks HTTP/1.1. Go keeps connections for the next call, and speaks HTTP/2 with a
//! TLS server that offers it; either way the same bytes are asked and answered. A server that speaks HTTP/2 alone is not
//! understood, nor is a proxy that is itself reached by TLS (`https://`): both are errors that say so.
//!
//! One thread of its own does the waiting, so that whoever asks needs no runtime; who asks waits for it.

mod bytes;
mod error;
mod proxy;
mod tls;
mod words;

use std::io;
use std::sync::mpsc;
use std::thread::Builder;

use base64::prelude::{BASE64_STANDARD as BASE64, Engine as _};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use self::proxy::{ProxyKind, ProxyUrl};
use crate::extenders::{Answer, AnswerBody, Destination, Extender, ExtenderTransport};
use crate::framework::ExtenderVerb;
use crate::limits::extenders::{ANSWERS, LARGEST_ANSWER, PROXY_HEAD};
use crate::output::{Credentials, Secret};
use crate::proxies::Proxies;
use error::{DialError, ExchangeError, TunnelError};

/// A call to make.
struct Call {
    extender: Extender,
    verb: ExtenderVerb,
    body: String,
    answer: mpsc::Sender<Answer>,
}

/// Asks extenders over HTTP.
#[derive(Debug)]
pub struct HttpTransport {
    calls: mpsc::Sender<Call>,
}

impl HttpTransport {
    /// Starts the thread that asks.
    ///
    /// # Errors
    /// Where the system has none to give.
    pub fn start() -> io::Result<Self> {
        Self::start_with(LARGEST_ANSWER, ANSWERS, Proxies::of_process())
    }

    /// Starts the thread with limits on the bytes of an answer and of all, and with the proxies of this environment.
    fn start_with(largest: usize, in_all: usize, proxies: Proxies) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (calls, taken) = mpsc::channel();
        Builder::new().name("extenders".to_owned()).spawn(move || serve(&runtime, &taken, (largest, in_all), &proxies))?;
        Ok(Self { calls })
    }
}

impl ExtenderTransport for HttpTransport {
    fn send(&self, extender: &Extender, verb: ExtenderVerb, body: &str) -> Answer {
        let (answer, answered) = mpsc::channel();
        let call = Call { extender: extender.clone(), verb, body: body.to_owned(), answer };
        // The thread is there for as long as this is; where it is not, it has come to harm.
        let sent = self.calls.send(call).ok().and_then(|()| answered.recv().ok());
        sent.unwrap_or_else(|| Answer::failed("the thread that asks extenders has ended"))
    }
}

fn serve(runtime: &Runtime, calls: &mpsc::Receiver<Call>, (largest, in_all): (usize, usize), proxies: &Proxies) {
    let mut left = in_all;
    for call in calls {
        let answer = if left == 0 {
            Answer::failed("the extenders have answered more than one run reads")
        } else {
            runtime.block_on(answer(&call, largest.min(left), proxies))
        };
        left = left.saturating_sub(if matches!(answer.body, AnswerBody::Body(_)) { answer.length() } else { 0 });
        // Whoever asked may have gone.
        let _ = call.answer.send(answer);
    }
}

/// Makes a call within its time.
async fn answer(call: &Call, largest: usize, proxies: &Proxies) -> Answer {
    let mut status = None;
    let within = tokio::time::timeout(call.extender.timeout, exchange(call, largest, proxies, &mut status)).await;
    let answer = match within {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => Answer::failed(format!("Post {:?}: {error}", call.extender.shown_url(call.verb))),
        Err(_) if status.is_some() => {
            let text = "context deadline exceeded (Client.Timeout or context cancellation while reading body)";
            Answer { status, body: AnswerBody::Error(text.to_owned()) }
        }
        Err(_) => {
            let text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
            Answer::failed(format!("Post {:?}: {text}", call.extender.shown_url(call.verb)))
        }
    };
    without_credentials(answer, call, proxies)
}

/// Leaves out the credentials of a call that the extender or a proxy echoed. One that is also in the request, such as the name of a
/// node, may decide, and is none that the answer gives away.
fn without_credentials(mut answer: Answer, call: &Call, proxies: &Proxies) -> Answer {
    let url = call.extender.url(call.verb);
    let mut credentials = Credentials::default();
    if let Ok(target) = Destination::parse(url.expose()) {
        if let Some(user) = &target.user {
            credentials.add(user.expose());
            credentials.add_user(&decoded(user.expose()));
        }
        for (_, value) in target.path.split_once('?').into_iter().flat_map(|(_, query)| query.split('&')).filter_map(|p| p.split_once('='))
        {
            credentials.add(value);
            credentials.add(&decoded(value));
        }
        let proxy = proxies.to(target.tls, &target.host, target.port).and_then(|proxy| ProxyUrl::parse(proxy).ok());
        if let Some(user) = proxy.and_then(|proxy| proxy.credentials) {
            credentials.add_user(user.expose());
        }
    }
    credentials.forget_those_in(&call.body);
    let hide = |text: &str| credentials.hide(text).into_owned();
    answer.body = match &answer.body {
        AnswerBody::Body(text) => AnswerBody::Body(hide(text)),
        AnswerBody::Error(text) => AnswerBody::Error(hide(text)),
    };
    answer
}

/// Connects, sends the request and reads the answer; sets `status` as soon as it is known.
async fn exchange(call: &Call, largest: usize, proxies: &Proxies, status: &mut Option<u16>) -> Result<Answer, ExchangeError> {
    let url = call.extender.url(call.verb);
    let target = Destination::parse(url.expose())?;
    let proxy = proxies.to(target.tls, &target.host, target.port).map(ProxyUrl::parse).transpose()?;
    let mut stream = match &proxy {
        Some(proxy) => dial(&proxy.host, proxy.port).await.map_err(ExchangeError::DialProxy)?,
        None => dial(&target.host, target.port).await?,
    };
    let mut absolute = None;
    match &proxy {
        Some(proxy) if proxy.kind == ProxyKind::Socks5 => proxy::socks5(&mut stream, proxy, &target.host, target.port).await?,
        Some(proxy) if target.tls => tunnel(&mut stream, proxy, &target).await?,
        Some(proxy) => absolute = Some(proxy),
        None => {}
    }
    let request = request(call, &target, absolute)?;
    if target.tls {
        let config = tls::client_config(&call.extender.tls)?;
        let name = if call.extender.tls.server_name.is_empty() { &target.host } else { &call.extender.tls.server_name };
        let stream = tls::handshake(config, name, stream).await?;
        talk(stream, request, largest, status).await
    } else {
        talk(stream, request, largest, status).await
    }
}

/// Connects to one of the addresses of a host; the error is that of the first.
async fn dial(host: &str, port: u16) -> Result<TcpStream, DialError> {
    let found = tokio::net::lookup_host((host, port)).await;
    let addresses = found.map_err(|_| DialError::NoHost(host.to_owned()))?;
    let mut first = None;
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Go sends at once as well.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => {
                first.get_or_insert(DialError::Connect { address, error });
            }
        }
    }
    Err(first.unwrap_or_else(|| DialError::NoHost(host.to_owned())))
}

fn request(call: &Call, target: &Destination, proxy: Option<&ProxyUrl>) -> Result<Request<Full<Bytes>>, ExchangeError> {
    let uri = if proxy.is_some() { format!("http://{}{}", target.authority, target.path) } else { target.path.clone() };
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(uri)
        .header(HOST, &target.authority)
        .header(USER_AGENT, concat!("schedscope/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(call.body.clone())))?;
    if let Some(credentials) = target.user.as_ref().map(|user| Secret::new(decoded(user.expose()))) {
        request.headers_mut().insert(AUTHORIZATION, basic(&credentials)?);
    }
    if let Some(credentials) = proxy.and_then(|proxy| proxy.credentials.as_ref()) {
        request.headers_mut().insert(PROXY_AUTHORIZATION, basic(credentials)?);
    }
    Ok(request)
}

/// Returns a part of a URL without its escapes; what is none stays.
fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn basic(credentials: &Secret<String>) -> Result<HeaderValue, ExchangeError> {
    let mut value =
        HeaderValue::from_str(&format!("Basic {}", BASE64.encode(credentials.expose()))).map_err(|_| ExchangeError::Credentials)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Asks a proxy for a way to the target.
async fn tunnel(stream: &mut TcpStream, proxy: &ProxyUrl, target: &Destination) -> Result<(), TunnelError> {
    let to = format!("{}:{}", proxy::bracketed(&target.host), target.port);
    let mut head = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
    if let Some(credentials) = &proxy.credentials {
        head += &format!("Proxy-Authorization: Basic {}\r\n", BASE64.encode(credentials.expose()));
    }
    head += "\r\n";
    bytes::write(stream, head.as_bytes()).await.map_err(TunnelError::Write)?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() > PROXY_HEAD {
            return Err(TunnelError::Endless);
        }
        // Byte by byte: what comes behind the head is not the proxy's.
        answer.extend(bytes::read::<1>(stream).await.map_err(|_| TunnelError::End)?);
    }
    let text = String::from_utf8_lossy(&answer);
    let line = text.lines().next().unwrap_or_default();
    let status = line.split_once(' ').map_or("", |(_, status)| status);
    match status.split_once(' ') {
        Some(("200", _)) => Ok(()),
        Some((_, reason)) => Err(TunnelError::Refused(reason.to_owned())),
        None if status == "200" => Ok(()),
        None => Err(TunnelError::NoStatus),
    }
}

/// Sends a request on a connection, and reads the answer up to a size.
async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
    largest: usize,
    status: &mut Option<u16>,
) -> Result<Answer, ExchangeError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let mut connection = std::pin::pin!(connection);
    let mut over = false;
    let response = {
        let mut response = std::pin::pin!(sender.send_request(request));
        loop {
            tokio::select! {
                biased;
                response = &mut response => break response,
                _ = &mut connection, if !over => over = true,
            }
        }
    };
    let response = response?;
    let code = response.status().as_u16();
    *status = Some(code);
    if code != 200 {
        // kube-scheduler does not look at it, wherever it leads.
        return Ok(Answer::response(code, ""));
    }
    let mut body = response.into_body();
    let mut read = Blocks::default();
    loop {
        let frame = tokio::select! {
            biased;
            frame = body.frame() => frame,
            _ = &mut connection, if !over => {
                over = true;
                continue;
            }
        };
        match frame {
            None => break,
            Some(Ok(frame)) => read.extend(frame.data_ref().map_or(&[][..], |data| data)),
            // The bytes so far may contain a whole value.
            Some(Err(_)) => break,
        }
        if read.length > largest {
            let text = format!("the answer has more than {largest} bytes; schedscope reads no more");
            return Ok(Answer { status: Some(code), body: AnswerBody::Error(text) });
        }
    }
    Ok(Answer::response(code, String::from_utf8_lossy(&read.blocks.concat())))
}

/// The length of a block of an answer.
const BLOCK: usize = 1 << 20;

/// The bytes of an answer in blocks, so that a growing answer is not copied to one of twice its length.
#[derive(Default)]
struct Blocks {
    blocks: Vec<Vec<u8>>,
    length: usize,
}

impl Blocks {
    fn extend(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len();
        while !bytes.is_empty() {
            if self.blocks.last().is_none_or(|last| last.len() == BLOCK) {
                self.blocks.push(Vec::new());
            }
            let Some(last) = self.blocks.last_mut() else { return };
            let (head, rest) = bytes.split_at(bytes.len().min(BLOCK - last.len()));
            last.extend_from_slice(head);
            bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests;
