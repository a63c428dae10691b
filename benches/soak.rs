//! A live cluster over a longer time: memory and processor time while pods come and go.
//!
//! `cargo bench --bench soak` takes a few seconds on a small cluster. For a large one, set `SCHEDSCOPE_SOAK_NODES`,
//! `SCHEDSCOPE_SOAK_PODS`, `SCHEDSCOPE_SOAK_CHURN` (pods deleted, created and bound per second), `SCHEDSCOPE_SOAK_TEXT`
//! (bytes of each pod that are never read) and `SCHEDSCOPE_SOAK_SECONDS`. `SCHEDSCOPE_SOAK_EXPLORER=1` opens the
//! explorer on it and times its frames. The API server runs in a process of its own, so that the figures are the
//! client's alone.

#![allow(clippy::unwrap_used, reason = "a measurement that fails may panic")]

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/common/api_server.rs"]
mod api_server;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use api_server::ApiServer;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use schedscope::app::{Explorer, FollowConfig};
use schedscope::cluster::{Cluster, Key};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, InitialQueues, Options, Scheduler};
use schedscope::session::Session;
use schedscope::source::Loaded;
use schedscope::source::live::{Change, ConnectOptions, Live, State, connect};
use schedscope::ui::{self, Depth, Scene, SessionHandle as _, Theme};
use serde_json::{Value, json};

fn setting(name: &str, small: usize) -> usize {
    std::env::var(format!("SCHEDSCOPE_SOAK_{name}")).ok().and_then(|text| text.parse().ok()).unwrap_or(small)
}

fn node(number: usize) -> Value {
    json!({"kind": "Node",
        "metadata": {"name": format!("node-{number:05}"), "labels": {"kubernetes.io/hostname": format!("node-{number:05}"),
            "topology.kubernetes.io/zone": format!("zone-{}", number % 3), "kubernetes.io/os": "linux"}, "managedFields": fields()},
        "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"}, "capacity": {"cpu": "64", "memory": "256Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-21T00:00:00Z"}]}})
}

/// A field that takes most of an object's text and is never read.
fn fields() -> Value {
    let owned: Vec<Value> =
        (0..12).map(|n| json!({format!("f:field{n}"): {".": {}, "f:name": {}, "f:value": {}, "f:other": {}}})).collect();
    json!([{"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": {"f:metadata": owned}}])
}

fn pod(number: usize, node: Option<usize>) -> Value {
    let app = number % 1500;
    let mut pod = json!({"kind": "Pod",
        "metadata": {"name": format!("app-{app}-{number}"), "namespace": format!("team-{}", app % 40), "uid": format!("{number:08}"),
            "creationTimestamp": "2026-11-21T00:00:00Z", "labels": {"app": format!("app-{app}"), "tier": "web"}, "managedFields": fields(),
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("app-{app}"), "uid": format!("rs-{app}"), "controller": true}]},
        "spec": {"schedulerName": "default-scheduler", "priority": 0,
            "containers": [{"name": "main", "image": format!("registry.example.com/app-{app}:1.{}", app % 7),
                "env": [{"name": "A", "value": "x".repeat(setting("TEXT", 30))}],
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}]},
        "status": {"phase": "Pending"}});
    if let Some(node) = node {
        pod["spec"]["nodeName"] = format!("node-{node:05}").into();
        pod["status"] = json!({"phase": "Running", "startTime": "2026-11-21T00:00:00Z",
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}]});
    }
    pod
}

/// The server process: its pods come and go after the first line of input, until the input ends.
fn serve() {
    let (nodes, pods, churn) = (setting("NODES", 50), setting("PODS", 1500), setting("CHURN", 100));
    let server = ApiServer::new(&[]);
    (0..nodes).for_each(|number| server.put(node(number)));
    (0..pods).for_each(|number| server.put(pod(number, Some(number % nodes))));
    let mut giant = pod(0, None);
    giant["metadata"]["name"] = "giant".into();
    giant["metadata"]["namespace"] = "team-0".into();
    giant["metadata"]["uid"] = "giant".into();
    giant["spec"]["priority"] = 10.into();
    giant["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "63".into();
    server.put(giant);
    println!("{}", server.kubeconfig());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let ending = Arc::clone(&ended);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        ending.store(true, Ordering::Relaxed);
    });
    let begin = Instant::now();
    for done in 0.. {
        if ended.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep((begin + Duration::from_secs(1).mul_f64(done as f64 / churn as f64)).saturating_duration_since(Instant::now()));
        let (old, new) = (pod(done, None), pods + done);
        let text = |key: &str| old["metadata"][key].as_str().unwrap().to_owned();
        server.delete("Pod", &text("namespace"), &text("name"));
        server.put(pod(new, None));
        server.put(pod(new, Some(new % nodes)));
        if done % 6 == 0 {
            // A heartbeat, which changes nothing relevant.
            let mut node = node(done % nodes);
            node["status"]["conditions"][0]["lastHeartbeatTime"] = format!("2026-11-21T00:00:{:02}Z", done % 60).into();
            server.put(node);
        }
    }
}

/// Current and peak memory in MiB, and processor time.
fn figures() -> (u64, u64, Duration) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or_default() / 1024
    };
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: u64 =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<u64>().ok()).sum();
    // The kernel counts in hundredths of a second, whatever its tick rate.
    (field("VmRSS:"), field("VmHWM:"), Duration::from_millis(ticks * 10))
}

fn start_server() -> (Child, tempfile::TempDir) {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program).env("SCHEDSCOPE_SOAK_SERVE", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut kubeconfig = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut kubeconfig).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config"), kubeconfig).unwrap();
    (child, folder)
}

fn apply(live: &Live, cluster: &mut Cluster) -> usize {
    let mut count = 0;
    loop {
        let changes = live.take(1000);
        if changes.is_empty() {
            return count;
        }
        count += changes.len();
        for change in changes {
            match change {
                Change::Put(object) => drop(cluster.insert(object)),
                Change::Gone(object) => drop(cluster.remove(object.kind(), &object.key())),
                Change::Event(_) | Change::Listed(_) | Change::Unreadable(..) => {}
            }
        }
    }
}

/// Runs the explorer on the cluster at 200x60, as the program's own loop does: applies changes and draws. The open page
/// is the decision about a pod that does not fit, which is taken again each time.
fn explore(live: &Arc<Live>, loaded: Loaded, seconds: usize) {
    let options = Options { start: Timestamp::now(), queues: InitialQueues::AsObserved, events: loaded.events, ..Options::default() };
    let report = Arc::new(loaded.report);
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options);
    let mut explorer =
        Explorer::new(Session::new(scheduler, "soak")).with_reports(vec![report]).following(Arc::clone(live), FollowConfig::default());
    let mut state = ui::first_state(explorer.timeline(), (200, 60));
    ui::show_pod(&mut state, &mut explorer, &Key::new("team-0", "giant"));
    let theme = Theme::embedded("dark", Depth::True).unwrap();
    let area = Rect::new(0, 0, 200, 60);
    let (mut taken, mut drawn) = (Vec::new(), Vec::new());
    let (begin, (.., start)) = (Instant::now(), figures());
    let step = (seconds / 10).max(1);
    let mut last = start;
    for second in 1..=seconds {
        let deadline = begin + Duration::from_secs(second as u64);
        while Instant::now() < deadline {
            live.wait_beyond(live.generation(), Some(deadline));
            std::thread::sleep(
                explorer
                    .live_status()
                    .map_or(Duration::ZERO, |status| status.cooldown)
                    .min(deadline.saturating_duration_since(Instant::now())),
            );
            let from = Instant::now();
            let new = explorer.follow();
            if new {
                state.touch();
                ui::renew(&mut state, &explorer);
            }
            let (shown, _) = ui::show_live_status(&mut state, &explorer);
            if !new && !shown {
                continue;
            }
            taken.push(from.elapsed());
            let from = Instant::now();
            let mut buffer = Buffer::empty(area);
            let (source, branch) = (explorer.source(), ui::branch_label(&explorer));
            let (timeline, live_status) = (explorer.timeline(), explorer.live_status());
            let scene = Scene {
                state: &state,
                timeline,
                theme: &theme,
                glyphs: &ui::UNICODE,
                source,
                branch: &branch,
                taken: None,
                written: None,
                live: live_status,
                release: explorer.emulated(),
            };
            ui::draw(&scene, area, &mut buffer);
            drawn.push(from.elapsed());
        }
        if second % step == 0 {
            let (now, highest, used) = figures();
            let processor = used.saturating_sub(last).as_secs_f64() * 100.0 / step as f64;
            println!(
                "{second:5} s: {now} MiB ({highest} at most), {processor:.1} % of a processor, {} frames kept",
                explorer.timeline().revisions().len()
            );
            last = used;
        }
    }
    let (.., used) = figures();
    println!("{:.1} % of a processor on average", used.saturating_sub(start).as_secs_f64() * 100.0 / begin.elapsed().as_secs_f64());
    for (name, mut times) in [("taken in and decided", taken), ("drawn", drawn)] {
        times.sort();
        let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default();
        println!("{name}: {} times, median {:.1?}, 99th percentile {:.1?}, longest {:.1?}", times.len(), at(50), at(99), at(100));
    }
}

fn main() {
    if std::env::var_os("SCHEDSCOPE_SOAK_SERVE").is_some() {
        return serve();
    }
    let seconds = setting("SECONDS", 3);
    let (mut child, folder) = start_server();
    for streaming in [false, true] {
        let options = ConnectOptions { kubeconfig: Some(folder.path().join("config")), streaming, ..ConnectOptions::default() };
        let begin = Instant::now();
        let (_, _, before) = figures();
        let live = connect(&options).unwrap();
        let loaded = live.wait_first(None).unwrap();
        let (now, highest, used) = figures();
        println!(
            "{}: {} objects, {} MiB of text in {:.1} s ({:.1} s of processor time); {now} MiB, {highest} MiB at most",
            if streaming { "streamed" } else { "in pages" },
            loaded.objects.len(),
            loaded.report.bytes >> 20,
            begin.elapsed().as_secs_f64(),
            (used.checked_sub(before).unwrap_or_default()).as_secs_f64(),
        );
        if !streaming {
            continue;
        }
        if setting("EXPLORER", 0) > 0 {
            child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
            explore(&Arc::new(live), loaded, seconds);
            drop(child.stdin.take());
            child.wait().unwrap();
            return;
        }
        let mut cluster = loaded.cluster();
        drop(loaded);
        child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        let (begin, (.., start)) = (Instant::now(), figures());
        let (mut last, mut changes, mut total) = (start, 0, 0);
        let step = (seconds / 20).max(1);
        for second in 1..=seconds {
            let deadline = begin + Duration::from_secs(second as u64);
            while live.wait_beyond(live.generation(), Some(deadline)) && Instant::now() < deadline {
                // At the rate of screen updates.
                std::thread::sleep(Duration::from_millis(50).min(deadline.saturating_duration_since(Instant::now())));
                changes += apply(&live, &mut cluster);
            }
            if second % step == 0 {
                let (now, highest, used) = figures();
                println!(
                    "{second:5} s: {now} MiB ({highest} at most), {:.1} % of a processor, {} changes/s, {} pods, {} watches",
                    (used.checked_sub(last).unwrap_or_default()).as_secs_f64() * 100.0 / step as f64,
                    changes / step,
                    cluster.pods.len(),
                    live.status().kinds.iter().filter(|kind| kind.state == State::Watching).count(),
                );
                last = used;
                total += changes;
                changes = 0;
            }
        }
        let (.., used) = figures();
        println!(
            "{total} changes, {:.1} % of a processor on average",
            (used.checked_sub(start).unwrap_or_default()).as_secs_f64() * 100.0 / begin.elapsed().as_secs_f64()
        );
        drop(child.stdin.take());
        child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        apply(&live, &mut cluster);
        let known = live.cluster();
        let differing = cluster.objects().zip(known.objects()).find(|(taken, known)| taken != known);
        assert!(differing.is_none(), "what was taken is not what is known: {differing:?}");
        assert_eq!(cluster.objects().count(), known.objects().count());
    }
}
