//! Tests of `read_only`.

use super::super::resource::Subject;
use super::*;
use crate::cluster::Kind;
use crate::limits::live::{PAGE, SHORT_ANSWER};
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

fn pods() -> Waiting {
    Waiting::List(Subject::Objects(Kind::Pod), None)
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
    ReadOnlyClient::new(connector, &timing, ReadOnly::default(), Bounds::default(), Waits::default()).unwrap()
}

#[tokio::test]
async fn answers_without_end_are_broken_off() {
    let client = client("", &[b' '; 4096], Duration::ZERO);
    let failure = client.text("/api/v1/pods", pods(), 100_000).await.err().unwrap();
    assert_eq!(failure.message, "the list of pods is longer than 100000 bytes");
    let failure = client.json::<serde::de::IgnoredAny>("/version", Waiting::Version, Duration::from_secs(60)).await.unwrap_err();
    assert_eq!(failure.message, format!("the server's version is longer than {SHORT_ANSWER} bytes"));
    const { assert!(PAGE > SHORT_ANSWER) };
}

#[tokio::test]
async fn answers_that_drip_are_broken_off() {
    let client = client("", b" ", Duration::from_millis(20));
    let failure = client.text("/api/v1/pods", pods(), PAGE).await.err().unwrap();
    assert!(failure.message.starts_with("only ") && failure.message.ends_with("bytes of the list of pods in 300ms"), "{}", failure.message);
}

#[test]
fn the_server_tells_the_time() {
    let time = read_date("Sat, 21 Nov 2026 01:58:07 GMT").map(|t| t.to_string());
    assert_eq!(time.as_deref(), Some("2026-11-21T01:58:07Z"));
    assert_eq!(read_date("now"), None);
}
