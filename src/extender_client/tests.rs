//! Calls to servers on this machine.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;
use crate::extenders::TlsSettings;
use crate::framework::ExtenderName;

const CA: &str = include_str!("../../fixtures/tls/ca.pem");
const CERTIFICATE: &str = include_str!("../../fixtures/tls/server.pem");
const KEY: &str = include_str!("../../fixtures/tls/server.key");

/// A server for one connection: what it was sent, after it has answered.
fn serve_once(answer: impl FnOnce(&mut TcpStream, &str) + Send + 'static) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let request = request_of(&mut stream);
        answer(&mut stream, &request);
        request
    });
    (address, thread)
}

/// Reads a request with its body, which is `{}`.
fn request_of(stream: &mut impl Read) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n{}") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

fn respond(stream: &mut impl Write, head: &str, body: &str) {
    let length = body.len();
    write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
}

fn extender(prefix: &str) -> Extender {
    Extender {
        name: ExtenderName { index: 0, url: crate::output::url_without_password(prefix).into() },
        url_prefix: Secret::new(prefix.to_owned()),
        filter_verb: "filter".to_owned(),
        timeout: Duration::from_secs(5),
        ..Extender::default()
    }
}

/// Asks with no proxies around, and reads 1000 bytes of an answer.
fn ask(extender: &Extender) -> Answer {
    ask_in(extender, Proxies::default())
}

fn ask_in(extender: &Extender, proxies: Proxies) -> Answer {
    HttpTransport::start_with(1000, usize::MAX, proxies).unwrap().send(extender, ExtenderVerb::Filter, "{}")
}

fn failure(extender: &Extender) -> String {
    match ask(extender).body {
        AnswerBody::Error(text) => text,
        AnswerBody::Body(body) => panic!("answered {body}"),
    }
}

#[test]
fn a_question_is_posted_as_json_and_its_answer_read() {
    let (address, server) = serve_once(|stream, _| respond(stream, "200 OK", "{\"nodenames\":[]}"));
    let answer = ask(&extender(&format!("http://me:hunter%32@{address}/e0//")));
    assert_eq!(answer, Answer::response(200, "{\"nodenames\":[]}"));
    let request = server.join().unwrap().to_ascii_lowercase();
    assert!(request.starts_with("post /e0/filter http/1.1\r\n"), "{request}");
    assert!(request.contains("content-type: application/json\r\n") && request.contains(&format!("host: {address}\r\n")), "{request}");
    let credentials = BASE64.encode("me:hunter2").to_ascii_lowercase();
    assert!(request.contains(&format!("authorization: basic {credentials}\r\n")), "{request}");
}

#[test]
fn an_answer_may_come_in_chunks_and_may_break_off() {
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n";
    let (address, _server) = serve_once(move |stream, _| stream.write_all(chunks.as_bytes()).unwrap());
    assert_eq!(ask(&extender(&format!("http://{address}"))), Answer::response(200, "[1,2]"));
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"nodes\":";
    let (address, _server) = serve_once(move |stream, _| stream.write_all(short.as_bytes()).unwrap());
    assert_eq!(ask(&extender(&format!("http://{address}"))), Answer::response(200, "{\"nodes\":"));
}

#[test]
fn redirects_are_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let (to, seen) = (elsewhere.local_addr().unwrap(), asked.clone());
    std::thread::spawn(move || {
        for _ in elsewhere.incoming() {
            seen.fetch_add(1, Ordering::SeqCst);
        }
    });
    for code in ["301 Moved Permanently", "307 Temporary Redirect"] {
        let head = format!("{code}\r\nLocation: http://{to}/filter");
        let (address, _server) = serve_once(move |stream, _| respond(stream, &head, "{}"));
        let answer = ask(&extender(&format!("http://{address}")));
        assert_eq!(answer, Answer::response(code[..3].parse().unwrap(), ""));
    }
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[test]
fn an_answer_that_is_too_large_is_given_up() {
    let (address, _server) = serve_once(|stream, _| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        // Without an end, as far as the reader is concerned.
        while stream.write_all(&[b' '; 512]).is_ok() {}
    });
    let answer = ask(&extender(&format!("http://{address}")));
    assert_eq!(answer.status, Some(200));
    assert_eq!(answer.body, AnswerBody::Error("the answer has more than 1000 bytes; schedscope reads no more".to_owned()));
}

#[test]
fn calls_fail_once_the_answers_are_too_long_in_all() {
    let transport = HttpTransport::start_with(1000, 12, Proxies::default()).unwrap();
    let ask = |body: &'static str| {
        let (address, _server) = serve_once(move |stream, _| respond(stream, "200 OK", body));
        transport.send(&extender(&format!("http://{address}")), ExtenderVerb::Filter, "{}").body
    };
    assert_eq!(ask("[1,2]"), AnswerBody::Body("[1,2]".to_owned()));
    assert_eq!(ask("[1,2,34]"), AnswerBody::Error("the answer has more than 7 bytes; schedscope reads no more".to_owned()));
    assert_eq!(ask("[]"), AnswerBody::Body("[]".to_owned()));
    assert_eq!(ask("[12]"), AnswerBody::Body("[12]".to_owned()));
    assert_eq!(ask("[1]"), AnswerBody::Error("the answer has more than 1 bytes; schedscope reads no more".to_owned()));
    assert_eq!(ask("7"), AnswerBody::Body("7".to_owned()));
    assert_eq!(ask("[]"), AnswerBody::Error("the extenders have answered more than one run reads".to_owned()));
}

#[test]
fn a_certificate_that_is_no_file_is_an_error() {
    let tls = TlsSettings { ca_file: "/dev/zero".to_owned(), ..TlsSettings::default() };
    let text = failure(&Extender { tls, ..extender("https://127.0.0.1:1") });
    assert!(text.contains("is not a regular file") || text.contains("refused"), "{text}");
    let read = tls::client_config(&TlsSettings { ca_file: "/dev/zero".to_owned(), ..TlsSettings::default() });
    assert!(read.unwrap_err().to_string().contains("is not a regular file"));
}

#[test]
fn a_proxy_without_end_is_an_error() {
    let (address, _proxy) = proxy(|mut stream| {
        while stream.write_all(&[b'x'; 512]).is_ok() {}
        String::new()
    });
    let proxies = https_by(&address, "http://");
    let answer = ask_in(&extender("https://elsewhere.test"), proxies);
    assert!(matches!(answer.body, AnswerBody::Error(_)), "{answer:?}");
}

#[test]
fn time_is_limited_for_the_whole_call() {
    let limit = Duration::from_millis(150);
    let (address, _server) = serve_once(|_, _| std::thread::sleep(Duration::from_secs(2)));
    let begin = Instant::now();
    let slow = Extender { timeout: limit, ..extender(&format!("http://{address}")) };
    assert_eq!(
        failure(&slow),
        format!("Post \"http://{address}/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
    );
    let (address, _server) = serve_once(|stream, _| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[");
        std::thread::sleep(Duration::from_secs(2));
    });
    let slow = Extender { timeout: limit, ..extender(&format!("http://{address}")) };
    assert_eq!(failure(&slow), "context deadline exceeded (Client.Timeout or context cancellation while reading body)");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
}

#[test]
fn what_fails_is_reported_in_the_words_of_go() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let post = |text: &str| format!("Post \"http://{address}/filter\": {text}");
    assert_eq!(failure(&extender(&format!("http://{address}"))), post(&format!("dial tcp {address}: connect: connection refused")));
    let (address, _server) = serve_once(|_, _| {});
    assert_eq!(failure(&extender(&format!("http://{address}"))), format!("Post \"http://{address}/filter\": EOF"));
    assert_eq!(failure(&extender("ftp://h")), "Post \"ftp://h/filter\": unsupported protocol scheme \"ftp\"");
    assert_eq!(failure(&extender("h")), "Post \"h/filter\": unsupported protocol scheme \"\"");
    let text = failure(&extender(&format!("http://me:hunter2@{}", "127.0.0.1:1")));
    assert!(text.contains("127.0.0.1:1") && !text.contains("hunter2"), "{text}");
}

#[test]
fn a_proxy_is_asked_for_hosts_elsewhere() {
    let (address, server) = serve_once(|stream, _| respond(stream, "200 OK", "[]"));
    let proxies = Proxies { http: Secret::new(format!("http://p:w@{address}")), ..Proxies::default() };
    let answer = ask_in(&extender("http://extender.invalid:81/x"), proxies);
    assert_eq!(answer, Answer::response(200, "[]"));
    let request = server.join().unwrap().to_ascii_lowercase();
    assert!(request.starts_with("post http://extender.invalid:81/x/filter http/1.1\r\n"), "{request}");
    assert!(request.contains("host: extender.invalid:81\r\n") && request.contains("proxy-authorization: basic "), "{request}");
    let (address, _server) = serve_once(|stream, _| respond(stream, "200 OK", "[]"));
    let proxies = Proxies { http: Secret::new("http://127.0.0.1:1".to_owned()), ..Proxies::default() };
    assert_eq!(ask_in(&extender(&format!("http://{address}")), proxies), Answer::response(200, "[]"), "this machine has no proxy");
}

#[test]
fn credentials_that_an_answer_echoes_are_hidden() {
    let user = BASE64.encode("me:hunter2");
    let echo = format!("{{\"Error\":\"Basic {user} of me:hunter2 (?token=abcdef%21, abcdef!)\"}}");
    let (address, _server) = serve_once(move |stream, _| respond(stream, "200 OK", &echo));
    let answer = ask(&extender(&format!("http://me:hunter%32@{address}/x?token=abcdef%21&")));
    assert_eq!(answer, Answer::response(200, "{\"Error\":\"Basic [hidden] of [hidden] (?token=[hidden], [hidden])\"}"));
    let (address, _proxy) = proxy(|mut stream| {
        let head = head_of(&mut stream);
        let header = head.lines().find(|line| line.starts_with("Proxy-Authorization")).unwrap();
        write!(stream, "HTTP/1.1 407 denied {header}\r\n\r\n").unwrap();
        head
    });
    let proxies = Proxies { https: Secret::new(format!("http://me:hunter2@{address}")), ..Proxies::default() };
    let answer = ask_in(&extender("https://extender.invalid/x"), proxies);
    let text = "denied Proxy-Authorization: Basic [hidden]";
    assert_eq!(answer, Answer::failed(format!("Post \"https://extender.invalid/x/filter\": {text}")));
    // The name of a node that the request has decides, whatever else it is.
    let call = |body: &str| {
        let (answer, _) = mpsc::channel();
        Call { extender: extender("http://me:worker-1@h"), verb: ExtenderVerb::Filter, body: body.to_owned(), answer }
    };
    let named = Answer::response(200, "{\"NodeNames\":[\"worker-1\"]}");
    assert_eq!(without_credentials(named.clone(), &call("{\"NodeNames\":[\"worker-1\"]}"), &Proxies::default()), named);
    let hidden = Answer::response(200, "{\"NodeNames\":[\"[hidden]\"]}");
    assert_eq!(without_credentials(named, &call("{}"), &Proxies::default()), hidden);
}

/// Reads up to an empty line.
fn head_of(stream: &mut impl Read) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

/// A proxy for one connection, which ends at itself; returns what was said to it.
fn proxy(serve: impl FnOnce(TcpStream) -> String + Send + 'static) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (address, std::thread::spawn(move || serve(listener.accept().unwrap().0)))
}

fn https_by(address: &str, scheme: &str) -> Proxies {
    Proxies { https: Secret::new(format!("{scheme}p:w@{address}")), ..Proxies::default() }
}

#[test]
fn tls_goes_through_a_tunnel_of_the_proxy() {
    let named = TlsSettings { ca_data: CA.as_bytes().to_vec(), server_name: "api.test".to_owned(), ..TlsSettings::default() };
    let extender = Extender { tls: named, ..extender("https://extender.invalid/x") };
    let (address, proxy_thread) = proxy(|mut stream| {
        let head = head_of(&mut stream);
        stream.write_all(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n").unwrap();
        answer_with_tls(stream);
        head
    });
    assert_eq!(ask_in(&extender, https_by(&address, "http://")), Answer::response(200, "[]"));
    let head = proxy_thread.join().unwrap();
    assert!(head.starts_with("CONNECT extender.invalid:443 HTTP/1.1\r\nHost: extender.invalid:443\r\n"), "{head}");
    assert!(head.contains(&format!("Proxy-Authorization: Basic {}\r\n", BASE64.encode("p:w"))), "{head}");
    for (line, text) in
        [("HTTP/1.1 407 Proxy Authentication Required", "Proxy Authentication Required"), ("HTTP/1.1 502", "unknown status code")]
    {
        let (address, _proxy) = proxy(move |mut stream| {
            let head = head_of(&mut stream);
            write!(stream, "{line}\r\n\r\n").unwrap();
            head
        });
        let answer = ask_in(&extender, https_by(&address, "http://"));
        assert_eq!(answer, Answer::failed(format!("Post \"https://extender.invalid/x/filter\": {text}")));
    }
    // A host in NO_PROXY is reached directly; this one does not exist.
    let direct = Proxies { exceptions: "extender.invalid".to_owned(), ..https_by("127.0.0.1:1", "http://") };
    let AnswerBody::Error(text) = ask_in(&extender, direct).body else { panic!("answered") };
    assert!(text.contains("dial tcp: lookup extender.invalid"), "{text}");
    let AnswerBody::Error(text) = ask_in(&extender, https_by("127.0.0.1:1", "http://")).body else { panic!("answered") };
    assert!(text.ends_with("proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused") && !text.contains("p:w"), "{text}");
    let AnswerBody::Error(text) = ask_in(&extender, https_by("127.0.0.1:1", "https://")).body else { panic!("answered") };
    assert!(text.ends_with("a proxy of scheme \"https\", which schedscope does not speak"), "{text}");
}

#[test]
fn a_socks_proxy_leads_to_names_and_addresses() {
    let exactly = |stream: &mut TcpStream, count: usize| {
        let mut bytes = vec![0; count];
        stream.read_exact(&mut bytes).unwrap();
        bytes
    };
    let (address, proxy_thread) = proxy(move |mut stream| {
        assert_eq!(exactly(&mut stream, 4), [5, 2, 0, 2], "without and with a password");
        stream.write_all(&[5, 2]).unwrap();
        assert_eq!(exactly(&mut stream, 5), [1, 1, b'p', 1, b'w']);
        stream.write_all(&[1, 0]).unwrap();
        let asked = exactly(&mut stream, 5 + "extender.invalid".len() + 2);
        stream.write_all(&[5, 0, 0, 3, 2, b'x', b'y', 0, 80]).unwrap();
        let request = request_of(&mut stream);
        respond(&mut stream, "200 OK", "[1]");
        format!("{:?} {}", &asked[..5], String::from_utf8_lossy(&asked[5..21])) + &request
    });
    let by_socks = |address: &str| Proxies { http: Secret::new(format!("socks5://p:w@{address}")), ..Proxies::default() };
    assert_eq!(ask_in(&extender("http://extender.invalid"), by_socks(&address)), Answer::response(200, "[1]"));
    let said = proxy_thread.join().unwrap();
    assert!(said.starts_with("[5, 1, 0, 3, 16] extender.invalidPOST /filter HTTP/1.1\r\n"), "{said}");
    let (address, _proxy) = proxy(move |mut stream| {
        let _ = exactly(&mut stream, 4);
        stream.write_all(&[5, 0]).unwrap();
        let _ = exactly(&mut stream, 10);
        stream.write_all(&[5, 5, 0, 1]).unwrap();
        String::new()
    });
    let AnswerBody::Error(text) = ask_in(&extender("http://192.0.2.1:81"), by_socks(&address)).body else { panic!("answered") };
    assert!(text.contains("socks connect tcp 127.0.0.1:") && text.ends_with("->192.0.2.1:81: unknown error connection refused"), "{text}");
}

/// Answers `[]` to one request by TLS.
fn answer_with_tls(stream: TcpStream) {
    let mut stream = rustls::StreamOwned::new(rustls::ServerConnection::new(server_config()).unwrap(), stream);
    let request = request_of(&mut stream);
    if !request.is_empty() {
        respond(&mut stream, "200 OK", "[]");
        let _ = stream.flush();
    }
}

fn server_config() -> Arc<rustls::ServerConfig> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(CERTIFICATE.as_bytes()).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap())
}

/// A TLS server for one connection; what it answers is `[]`.
fn tls_server() -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (address, std::thread::spawn(move || answer_with_tls(listener.accept().unwrap().0)))
}

#[test]
fn certificates_are_verified_unless_the_configuration_says_otherwise() {
    let ask_with = |tls: TlsSettings| {
        let (address, _server) = tls_server();
        (address.clone(), ask(&Extender { tls, ..extender(&format!("https://{address}")) }))
    };
    let error_of = |tls: TlsSettings| match ask_with(tls).1.body {
        AnswerBody::Error(text) => text,
        AnswerBody::Body(body) => panic!("answered {body}"),
    };
    let named = |ca: &str| TlsSettings { ca_data: ca.as_bytes().to_vec(), server_name: "api.test".to_owned(), ..TlsSettings::default() };
    assert_eq!(ask_with(named(CA)).1, Answer::response(200, "[]"));
    assert_eq!(ask_with(named(CERTIFICATE)).1, Answer::response(200, "[]"), "a trusted certificate may be the server's own");
    assert_eq!(ask_with(TlsSettings { insecure: true, ..TlsSettings::default() }).1, Answer::response(200, "[]"));
    let (address, answer) = ask_with(TlsSettings { ca_data: Vec::new(), ..named("") });
    let text = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert_eq!(answer, Answer::failed(format!("Post \"https://{address}/filter\": {text}")));
    for trusted in [CA, CERTIFICATE] {
        let text = error_of(TlsSettings { server_name: "elsewhere.example".to_owned(), ..named(trusted) });
        assert!(text.ends_with("x509: certificate is valid for api.test, not elsewhere.example"), "{text}");
    }
    let text = error_of(TlsSettings { server_name: String::new(), ..named(CA) });
    assert!(text.ends_with("x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"), "{text}");
    let text = error_of(TlsSettings { ca_file: "/no/such/file".to_owned(), ..TlsSettings::default() });
    assert!(text.ends_with("open /no/such/file: no such file or directory"), "{text}");
}

#[test]
fn a_server_without_tls_is_distinguished_from_a_bad_certificate() {
    let (address, _server) = serve_once_raw(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let text =
        failure(&Extender { tls: TlsSettings { insecure: true, ..TlsSettings::default() }, ..extender(&format!("https://{address}")) });
    assert_eq!(text, format!("Post \"https://{address}/filter\": http: server gave HTTP response to HTTPS client"));
}

/// A server that answers without reading a request.
fn serve_once_raw(answer: impl FnOnce(&mut TcpStream) + Send + 'static) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        answer(&mut stream);
        std::thread::sleep(Duration::from_millis(100));
    });
    (address, thread)
}
