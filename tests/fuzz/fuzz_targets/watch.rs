//! A stream of watch events, or any other body, from an API server on the loopback: the connection reads it or says what is wrong.
#![no_main]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use schedscope::source::live::{ConnectOptions, Timing, connect};

/// The body of the answer to everything but the version.
static BODY: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The kubeconfig of the server, which is started once.
static KUBECONFIG: LazyLock<std::path::PathBuf> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drop(serve(stream)));
        }
    });
    let path = std::env::temp_dir().join(format!("schedscope-fuzz-watch-{}", std::process::id()));
    let text = format!(
        "{{current-context: c, contexts: [{{name: c, context: {{cluster: c}}}}], clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{port}'}}}}]}}"
    );
    std::fs::write(&path, text).expect("a kubeconfig");
    path
});

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut header) = (String::new(), String::new());
    reader.read_line(&mut first)?;
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let body = if first.contains("/version") {
        br#"{"major":"1","minor":"36","gitVersion":"v1.36.0"}"#.to_vec()
    } else {
        BODY.lock().expect("the body").clone()
    };
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len())?;
    stream.write_all(&body)
}

fuzz_target!(|bytes: &[u8]| {
    let kubeconfig = Some(KUBECONFIG.clone());
    *BODY.lock().expect("the body") = bytes.to_vec();
    let short = Duration::from_millis(20);
    let timing = Timing {
        connect: short,
        answer: short,
        backoff: short,
        max_backoff: short,
        forbidden: short,
        absent: short,
        second: short,
        ..Timing::default()
    };
    let live = connect(&ConnectOptions { kubeconfig, timing, ..ConnectOptions::default() });
    if let Ok(live) = live {
        let _ = live.wait_first(Some(Instant::now() + 5 * short));
        drop((live.take(100), live.status(), live.cluster()));
    }
});
