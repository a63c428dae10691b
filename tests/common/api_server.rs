//! An API server for tests: HTTP on the loopback, a set of objects that can change, and scripted faults.
//!
//! It serves `/version`, discovery, paged lists, watches with resource versions and bookmarks, and streaming lists. It
//! never sleeps: watches end, fall silent or break when a test says so.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Bound;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait of a test for an expected effect.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Maximum number of changes kept for later watches.
const MAX_LOG: usize = 100_000;

/// Kind, group, version and plural of the served kinds, and whether they are namespaced.
const KINDS: [(&str, &str, &str, &str, bool); 29] = [
    ("Namespace", "", "v1", "namespaces", false),
    ("Node", "", "v1", "nodes", false),
    ("PersistentVolume", "", "v1", "persistentvolumes", false),
    ("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", true),
    ("Pod", "", "v1", "pods", true),
    ("ReplicationController", "", "v1", "replicationcontrollers", true),
    ("Service", "", "v1", "services", true),
    ("Secret", "", "v1", "secrets", true),
    ("ConfigMap", "", "v1", "configmaps", true),
    ("Event", "", "v1", "events", true),
    ("ResourceQuota", "", "v1", "resourcequotas", true),
    ("Deployment", "apps", "v1", "deployments", true),
    ("ReplicaSet", "apps", "v1", "replicasets", true),
    ("StatefulSet", "apps", "v1", "statefulsets", true),
    ("Job", "batch", "v1", "jobs", true),
    ("NodeClaim", "karpenter.sh", "v1", "nodeclaims", false),
    ("NodePool", "karpenter.sh", "v1", "nodepools", false),
    ("Workload", "kueue.x-k8s.io", "v1", "workloads", true),
    ("PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", true),
    ("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", false),
    ("CSIDriver", "storage.k8s.io", "v1", "csidrivers", false),
    ("CSINode", "storage.k8s.io", "v1", "csinodes", false),
    ("CSIStorageCapacity", "storage.k8s.io", "v1", "csistoragecapacities", true),
    ("StorageClass", "storage.k8s.io", "v1", "storageclasses", false),
    ("VolumeAttachment", "storage.k8s.io", "v1", "volumeattachments", false),
    ("DeviceClass", "resource.k8s.io", "v1", "deviceclasses", false),
    ("ResourceClaim", "resource.k8s.io", "v1", "resourceclaims", true),
    ("ResourceClaimTemplate", "resource.k8s.io", "v1", "resourceclaimtemplates", true),
    ("ResourceSlice", "resource.k8s.io", "v1", "resourceslices", false),
];

/// A fault of a request.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// An answer with this code, and optionally a Retry-After in seconds.
    Status(u16, Option<u32>),
    /// An answer with this code and text.
    Answer(u16, String),
    /// An HTML page with code 200.
    Html,
    /// Only the first bytes of the answer, with a matching length.
    Truncated(usize),
    /// Only the first bytes of the answer, then a closed connection.
    Cut(usize),
    /// The answer in pieces of this many bytes.
    Slow(usize),
    /// No answer on an open connection.
    Silence,
    /// The start of a JSON answer, and then silence.
    Hang,
    /// A JSON answer without an end, which begins with this text and goes on with spaces.
    Endless(&'static str),
    /// Another JSON answer with code 200.
    Body(String),
    /// Another JSON answer, compressed.
    Packed(String),
    /// A list whose pages have this continue token, or a longer one each time.
    Token(&'static str, bool),
    /// A watch that ends with this Status.
    Error(u16),
    /// A watch that ends at once.
    End,
    /// A page of a list that leads to another one with the same objects.
    Circle,
    /// A list, or a bookmark, without a resource version.
    Versionless,
}

struct Scripted {
    on: String,
    times: usize,
    fault: Fault,
}

/// A change, as watches send it.
struct Logged {
    version: u64,
    plural: &'static str,
    namespace: String,
    line: Arc<str>,
}

/// The state of the server.
pub(crate) struct World {
    version: u64,
    objects: BTreeMap<(&'static str, String, String), Arc<str>>,
    log: Vec<Logged>,
    /// Watches from before this version are refused.
    oldest: u64,
    faults: Vec<Scripted>,
    /// Logs of pods by `namespace/name`, each line with its time before it.
    logs: BTreeMap<String, String>,
    /// Each request as `GET /path?query`.
    pub(crate) requests: Vec<String>,
    /// The headers of the last request, lower case.
    pub(crate) headers: Vec<String>,
    /// Open watches, by plural.
    pub(crate) watching: BTreeMap<&'static str, usize>,
    /// The version in `/version`.
    pub(crate) git_version: String,
    /// The version in which a group is served, if it is not v1; empty if it is not served.
    pub(crate) group_versions: BTreeMap<&'static str, &'static str>,
    /// Whether streaming lists are served.
    pub(crate) streams: bool,
    /// Whether answers are compressed if the client accepts it.
    pub(crate) gzip: bool,
    forgiven: bool,
    down: bool,
    /// Watches opened under an earlier number end.
    generation: u64,
    bookmarks: u64,
    connections: Vec<TcpStream>,
    stopped: bool,
}

struct Inner {
    world: Mutex<World>,
    changed: Condvar,
}

/// The server; it stops when dropped.
pub(crate) struct ApiServer {
    address: SocketAddr,
    inner: Arc<Inner>,
}

fn known(kind: &str) -> (&'static str, &'static str, bool) {
    let found = KINDS.iter().find(|k| k.0 == kind).unwrap_or_else(|| panic!("no kind {kind}"));
    (found.1, found.3, found.4)
}

impl ApiServer {
    /// Starts a server that holds some objects, each with `kind`.
    pub(crate) fn new(objects: &[Value]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let world = World {
            version: 100,
            objects: BTreeMap::new(),
            log: Vec::new(),
            oldest: 0,
            faults: Vec::new(),
            logs: BTreeMap::new(),
            requests: Vec::new(),
            headers: Vec::new(),
            watching: BTreeMap::new(),
            git_version: "v1.36.2".to_owned(),
            group_versions: BTreeMap::new(),
            streams: true,
            gzip: false,
            forgiven: false,
            down: false,
            generation: 0,
            bookmarks: 0,
            connections: Vec::new(),
            stopped: false,
        };
        let inner = Arc::new(Inner { world: Mutex::new(world), changed: Condvar::new() });
        let server = Self { address: listener.local_addr().unwrap(), inner: Arc::clone(&inner) };
        for object in objects {
            server.put(object.clone());
        }
        server.world().log.clear();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let mut world = inner.world.lock().unwrap();
                if world.stopped {
                    return;
                }
                if world.down {
                    continue;
                }
                world.connections.extend(stream.try_clone());
                drop(world);
                let inner = Arc::clone(&inner);
                std::thread::spawn(move || drop(serve(&inner, &stream)));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns a kubeconfig for this server.
    pub(crate) fn kubeconfig(&self) -> String {
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "me", "namespace": "shop"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.url()}}],
            "users": [{"name": "me", "user": {"token": "secret-token"}}],
        })
        .to_string()
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        // A failed test must still stop its server.
        self.inner.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the next `times` requests whose `GET /path?query` contains `on` fail.
    pub(crate) fn fault(&self, on: &str, times: usize, fault: Fault) {
        self.world().faults.push(Scripted { on: on.to_owned(), times, fault });
    }

    /// Removes all faults and ends silent connections.
    pub(crate) fn forgive(&self) {
        let mut world = self.world();
        world.faults.clear();
        world.forgiven = true;
        drop(world);
        self.inner.changed.notify_all();
    }

    /// Returns the number of faults left.
    pub(crate) fn faults_left(&self) -> usize {
        self.world().faults_left()
    }

    /// Adds or replaces an object.
    pub(crate) fn put(&self, mut object: Value) {
        let kind = object["kind"].as_str().expect("a kind").to_owned();
        let (group, plural, namespaced) = known(&kind);
        let mut world = self.world();
        world.version += 1;
        let version = world.version;
        let served = world.served(group);
        let fields = object.as_object_mut().unwrap();
        fields.remove("kind");
        fields.remove("apiVersion");
        let metadata = fields.entry("metadata").or_insert_with(|| json!({})).as_object_mut().unwrap();
        metadata.insert("resourceVersion".into(), version.to_string().into());
        if namespaced {
            metadata.entry("namespace").or_insert_with(|| "default".into());
        } else {
            metadata.remove("namespace");
        }
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        metadata.entry("uid").or_insert_with(|| format!("{plural}/{namespace}/{name}").into());
        let text: Arc<str> = object.to_string().into();
        let key = (plural, namespace.clone(), name);
        let how = if world.objects.contains_key(&key) { "MODIFIED" } else { "ADDED" };
        let line = watch_line(how, &kind, &api_version(group, served), &text);
        world.objects.insert(key, text);
        world.log.push(Logged { version, plural, namespace, line });
        if world.log.len() > MAX_LOG {
            world.log.drain(..MAX_LOG / 2);
            world.oldest = world.log[0].version;
        }
        drop(world);
        self.inner.changed.notify_all();
    }

    /// Deletes an object.
    pub(crate) fn delete(&self, kind: &str, namespace: &str, name: &str) {
        let (group, plural, _) = known(kind);
        let mut world = self.world();
        let text = world.objects.remove(&(plural, namespace.to_owned(), name.to_owned())).expect("it was there");
        world.version += 1;
        let version = world.version;
        let mut object: Value = serde_json::from_str(&text).unwrap();
        object["metadata"]["resourceVersion"] = version.to_string().into();
        let line = watch_line("DELETED", kind, &api_version(group, world.served(group)), &object.to_string());
        world.log.push(Logged { version, plural, namespace: namespace.to_owned(), line });
        drop(world);
        self.inner.changed.notify_all();
    }

    /// Adds lines to the log of a pod, as `time text`.
    pub(crate) fn log(&self, pod: &str, lines: &str) {
        self.world().logs.entry(pod.to_owned()).or_default().push_str(lines);
        self.inner.changed.notify_all();
    }

    /// Drops the log of changes: watches cannot start before now.
    pub(crate) fn compact(&self) {
        let mut world = self.world();
        world.version += 1;
        world.oldest = world.version;
        world.log.clear();
    }

    /// Sends a bookmark on every watch.
    pub(crate) fn bookmark(&self) {
        let mut world = self.world();
        world.version += 1;
        world.bookmarks = world.version;
        drop(world);
        self.inner.changed.notify_all();
    }

    /// Ends every open watch.
    pub(crate) fn end_watches(&self) {
        self.world().generation += 1;
        self.inner.changed.notify_all();
    }

    /// Breaks every connection; while down, closes new ones at once.
    pub(crate) fn set_down(&self, down: bool) {
        let mut world = self.world();
        world.down = down;
        if down {
            world.generation += 1;
            world.connections.drain(..).for_each(|connection| drop(connection.shutdown(Shutdown::Both)));
        }
        drop(world);
        self.inner.changed.notify_all();
    }

    /// Waits until a condition holds.
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn(&World) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut world = self.world();
        while !holds(&world) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what} did not come; requests:\n{}", world.requests.join("\n"));
            world = self.inner.changed.wait_timeout(world, left).unwrap().0;
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.set_down(true);
        self.world().stopped = true;
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
    }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn watch_line(how: &str, kind: &str, api_version: &str, text: &str) -> Arc<str> {
    format!("{{\"type\":\"{how}\",\"object\":{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",{}}}\n", &text[1..]).into()
}

impl World {
    fn served(&self, group: &str) -> &'static str {
        self.group_versions.get(group).copied().unwrap_or("v1")
    }

    /// Returns the number of faults left.
    pub(crate) fn faults_left(&self) -> usize {
        self.faults.iter().map(|fault| fault.times).sum()
    }

    fn fault(&mut self, request: &str) -> Option<Fault> {
        let scripted = self.faults.iter_mut().find(|fault| fault.times > 0 && request.contains(&fault.on))?;
        scripted.times -= 1;
        Some(scripted.fault.clone())
    }

    /// Returns the texts of objects by namespace and name, after a key of that form.
    fn list<'a>(&'a self, plural: &'static str, namespace: &'a str, after: &str) -> impl Iterator<Item = (String, &'a Arc<str>)> + 'a {
        let (after_namespace, after_name) = after.split_once('/').unwrap_or_default();
        let first = (plural, after_namespace.to_owned(), after_name.to_owned());
        let behind = self.objects.range((Bound::Excluded(first), Bound::Unbounded)).take_while(move |(key, _)| key.0 == plural);
        let wanted = behind.filter(move |(key, _)| namespace.is_empty() || key.1 == namespace);
        wanted.map(|((_, namespace, name), text)| (format!("{namespace}/{name}"), text))
    }
}

/// An answer being written.
struct Reply<'a> {
    stream: &'a TcpStream,
    gzip: bool,
}

impl Reply<'_> {
    fn send(&mut self, code: u16, kind: &str, more: &str, body: &[u8], fault: Option<&Fault>) -> std::io::Result<()> {
        let mut body = body.to_vec();
        let mut head = format!("HTTP/1.1 {code} X\r\nContent-Type: {kind}\r\nDate: Sat, 21 Nov 2026 01:58:07 GMT\r\n{more}");
        if let Some(Fault::Truncated(length)) = fault {
            body.truncate(*length);
        }
        if self.gzip && code == 200 {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(&body)?;
            body = encoder.finish()?;
            head.push_str("Content-Encoding: gzip\r\n");
        }
        write!(head, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
        self.stream.write_all(head.as_bytes())?;
        match fault {
            Some(Fault::Cut(length)) => {
                self.stream.write_all(&body[..body.len().min(*length)])?;
                self.stream.shutdown(Shutdown::Both)
            }
            Some(Fault::Slow(length)) => body.chunks(*length).try_for_each(|piece| {
                self.stream.write_all(piece)?;
                std::thread::yield_now();
                self.stream.flush()
            }),
            _ => self.stream.write_all(&body),
        }
    }

    fn json(&mut self, value: &Value, fault: Option<&Fault>) -> std::io::Result<()> {
        self.send(200, "application/json", "", value.to_string().as_bytes(), fault)
    }

    fn status(&mut self, code: u16, message: &str, retry_after: Option<u32>) -> std::io::Result<()> {
        let more = retry_after.map_or_else(String::new, |seconds| format!("Retry-After: {seconds}\r\n"));
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code});
        self.send(code, "application/json", &more, body.to_string().as_bytes(), None)
    }

    fn chunk(&mut self, text: &str) -> std::io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }
}

/// Answers the requests of a connection until it ends.
fn serve(inner: &Inner, stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    if reader.fill_buf()?.first() == Some(&0x16) {
        // The client speaks TLS.
        return Write::write_all(&mut &*stream, b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nthis is plain HTTP");
    }
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let request = format!("{} {}", words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            if header.trim().is_empty() {
                break;
            }
            headers.push(header.trim().to_lowercase());
        }
        let gzip = headers.iter().any(|h| h.starts_with("accept-encoding") && h.contains("gzip"));
        let (fault, gzip) = {
            let mut world = inner.world.lock().unwrap();
            world.requests.push(request.clone());
            world.headers = headers;
            (world.fault(&request), gzip && world.gzip)
        };
        inner.changed.notify_all();
        answer(inner, &request, fault.as_ref(), &mut Reply { stream, gzip })?;
        if matches!(fault, Some(Fault::Cut(_))) {
            return Ok(());
        }
    }
}

fn answer(inner: &Inner, request: &str, fault: Option<&Fault>, reply: &mut Reply<'_>) -> std::io::Result<()> {
    let (method, target) = request.split_once(' ').unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if method != "GET" {
        return reply.status(405, "this server can only be read", None);
    }
    match fault {
        Some(Fault::Status(code, retry_after)) => return reply.status(*code, "scripted", *retry_after),
        Some(Fault::Answer(code, text)) => return reply.send(*code, "text/plain", "", text.as_bytes(), None),
        Some(Fault::Html) => return reply.send(200, "text/html; charset=utf-8", "", b"<html><h1>Please log in</h1></html>", None),
        Some(Fault::Silence) => {
            let world = inner.world.lock().unwrap();
            drop(inner.changed.wait_while(world, |world| !world.forgiven && !world.down).unwrap());
            return reply.stream.shutdown(Shutdown::Both);
        }
        Some(Fault::Hang) => {
            reply.stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"kind\":")?;
            let world = inner.world.lock().unwrap();
            drop(inner.changed.wait_while(world, |world| !world.forgiven && !world.down).unwrap());
            return reply.stream.shutdown(Shutdown::Both);
        }
        Some(Fault::Endless(start)) => {
            reply.stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")?;
            reply.stream.write_all(start.as_bytes())?;
            // Ends when the client hangs up.
            loop {
                reply.stream.write_all(&[b' '; 1 << 14])?;
            }
        }
        Some(Fault::Body(body)) => return reply.send(200, "application/json", "", body.as_bytes(), None),
        Some(Fault::Packed(body)) => {
            reply.gzip = true;
            return reply.send(200, "application/json", "", body.as_bytes(), None);
        }
        Some(Fault::Token(token, grows)) => {
            let asked = param(query, "continue").unwrap_or_default();
            let next = if *grows { format!("{asked}{token}") } else { (*token).to_owned() };
            let kind = KINDS.iter().find(|k| path.ends_with(k.3)).map_or("?", |k| k.0);
            let body = json!({"kind": format!("{kind}List"), "metadata": {"resourceVersion": "1", "continue": next}, "items": []});
            return reply.json(&body, None);
        }
        _ => {}
    }
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let world = inner.world.lock().unwrap();
    let (group, version, rest) = match parts.as_slice() {
        ["version"] => {
            let version = world.git_version.clone();
            drop(world);
            return reply.json(&json!({"major": "1", "gitVersion": version}), fault);
        }
        ["apis"] => {
            let mut groups: Vec<&str> = KINDS.iter().map(|k| k.1).filter(|group| !group.is_empty()).collect();
            groups.dedup();
            let one = |group: &&str| json!({"name": group, "versions": [{"version": world.served(group)}]});
            let groups: Vec<Value> = groups.iter().filter(|group| !world.served(group).is_empty()).map(one).collect();
            drop(world);
            return reply.json(&json!({"kind": "APIGroupList", "groups": groups}), fault);
        }
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => ("?", "", &[][..]),
    };
    if world.served(group) != version {
        drop(world);
        return reply.status(404, "the server could not find the requested resource", None);
    }
    if rest.is_empty() {
        let one = |k: &(&str, &str, &str, &str, bool)| json!({"name": k.3, "kind": k.0, "verbs": ["get", "list", "watch"]});
        let resources: Vec<Value> = KINDS.iter().filter(|k| k.1 == group).map(one).collect();
        drop(world);
        return reply.json(&json!({"kind": "APIResourceList", "resources": resources}), fault);
    }
    if let ["namespaces", namespace, "pods", name, "log"] = rest {
        return log(inner, world, &format!("{namespace}/{name}"), query, fault, reply);
    }
    let (namespace, plural, name) = match rest {
        ["namespaces", namespace, plural] => (*namespace, *plural, None),
        ["namespaces", namespace, plural, name] => (*namespace, *plural, Some(*name)),
        [plural] => ("", *plural, None),
        [plural, name] => ("", *plural, Some(*name)),
        _ => ("", "", None),
    };
    let Some((kind, _, _, plural, _)) = KINDS.iter().find(|k| k.1 == group && k.3 == plural) else {
        drop(world);
        return reply.status(404, "the server could not find the requested resource", None);
    };
    let kind = (*kind, api_version(group, version), *plural);
    if let Some(name) = name {
        let text = world.objects.get(&(*plural, namespace.to_owned(), name.to_owned())).cloned();
        drop(world);
        return match text {
            Some(text) => {
                let mut object: Value = serde_json::from_str(&text).unwrap();
                (object["kind"], object["apiVersion"]) = (kind.0.into(), kind.1.as_str().into());
                reply.json(&object, fault)
            }
            None => reply.status(404, &format!("{plural} {name:?} not found"), None),
        };
    }
    if param(query, "watch") == Some("true") {
        watch(inner, world, &kind, namespace, query, fault, reply)
    } else {
        list(world, &kind, namespace, query, fault, reply)
    }
}

/// Sends the log of a pod from a time on, and what is added to it if it is followed.
fn log<'a>(
    inner: &'a Inner,
    mut world: MutexGuard<'a, World>,
    pod: &str,
    query: &str,
    fault: Option<&Fault>,
    reply: &mut Reply<'_>,
) -> std::io::Result<()> {
    let Some(text) = world.logs.get(pod) else {
        drop(world);
        return reply.status(404, &format!("pods {pod:?} not found"), None);
    };
    // Servers give times in whole seconds.
    let since = param(query, "sinceTime").map_or_else(String::new, |time| time.trim_end_matches('Z').to_owned());
    let first = text.split_inclusive('\n').take_while(|line| line.get(..19).is_none_or(|time| *time < *since)).map(str::len).sum::<usize>();
    if param(query, "follow") != Some("true") {
        let text = text[first..].to_owned();
        drop(world);
        return reply.send(200, "text/plain", "", text.as_bytes(), fault);
    }
    reply.stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    let (generation, mut sent) = (world.generation, first);
    loop {
        let piece = world.logs.get(pod).map_or_else(String::new, |text| text[sent..].to_owned());
        sent += piece.len();
        drop(world);
        if let Some(Fault::Cut(length)) = fault {
            reply.chunk(&piece[..piece.len().min(*length)])?;
            return reply.stream.shutdown(Shutdown::Both);
        }
        reply.chunk(&piece)?;
        let idle = |world: &mut World| {
            !world.stopped && !world.down && world.generation == generation && world.logs.get(pod).is_some_and(|text| text.len() == sent)
        };
        world = inner.changed.wait_while(inner.world.lock().unwrap(), idle).unwrap();
        if world.stopped || world.down || world.generation != generation {
            drop(world);
            return reply.stream.write_all(b"0\r\n\r\n");
        }
    }
}

fn param<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Kind, apiVersion and plural.
type What = (&'static str, String, &'static str);

fn list(
    world: MutexGuard<'_, World>,
    what: &What,
    namespace: &str,
    query: &str,
    fault: Option<&Fault>,
    reply: &mut Reply<'_>,
) -> std::io::Result<()> {
    let limit: usize = param(query, "limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
    // A continue token is the list's version and the last key.
    let from = param(query, "continue").map(|token| token.replace("%2F", "/")).unwrap_or_default();
    let circles = matches!(fault, Some(Fault::Circle));
    let (version, after) = match from.split_once('_') {
        Some((version, key)) if !circles => (version.parse().unwrap(), key),
        _ => (world.version, ""),
    };
    let mut items = world.list(what.2, namespace, after).peekable();
    let mut body = String::new();
    let mut last = String::new();
    for (key, text) in items.by_ref().take(limit) {
        if !body.is_empty() {
            body.push(',');
        }
        body.push_str(text);
        last = key;
    }
    let next = if items.peek().is_some() { format!("{version}_{last}") } else { String::new() };
    drop(items);
    let next = if circles { format!("{}_again", world.requests.len()) } else { next };
    drop(world);
    let shown = if matches!(fault, Some(Fault::Versionless)) { String::new() } else { version.to_string() };
    let body = format!(
        "{{\"kind\":\"{}List\",\"apiVersion\":\"{}\",\"metadata\":{{\"resourceVersion\":\"{shown}\",\"continue\":\"{next}\"}},\"items\":[{body}]}}\n",
        what.0, what.1
    );
    reply.send(200, "application/json", "", body.as_bytes(), fault)
}

fn watch<'a>(
    inner: &'a Inner,
    mut world: MutexGuard<'a, World>,
    what: &What,
    namespace: &str,
    query: &str,
    fault: Option<&Fault>,
    reply: &mut Reply<'_>,
) -> std::io::Result<()> {
    let initial = param(query, "sendInitialEvents") == Some("true");
    if initial && !world.streams {
        drop(world);
        return reply.status(422, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled", None);
    }
    let generation = world.generation;
    let mut at: u64 = if initial { world.version } else { param(query, "resourceVersion").and_then(|v| v.parse().ok()).unwrap_or(0) };
    let (mut bookmarked, mut scanned) = (world.bookmarks, at);
    let bookmark = |version: u64, end: bool| {
        let shown = if matches!(fault, Some(Fault::Versionless)) { String::new() } else { version.to_string() };
        let annotations = if end { ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" } else { "" };
        format!(
            "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{{\"resourceVersion\":\"{shown}\"{annotations}}}}}}}\n",
            what.0, what.1
        )
    };
    let mut text = String::new();
    let gone = (!initial && at < world.oldest).then_some(410);
    let error = match fault {
        Some(Fault::Error(code)) => Some(*code),
        _ => gone,
    };
    if let Some(code) = error {
        text = format!("{}\n", json!({"type": "ERROR", "object": {"kind": "Status", "code": code, "message": "too old resource version"}}));
    } else if initial {
        for (_, object) in world.list(what.2, namespace, "") {
            text.push_str(&watch_line("ADDED", what.0, &what.1, object));
        }
        text.push_str(&bookmark(at, true));
    }
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sat, 21 Nov 2026 01:58:07 GMT\r\nTransfer-Encoding: chunked\r\n\r\n";
    let done = error.is_some() || matches!(fault, Some(Fault::End));
    if !done {
        *world.watching.entry(what.2).or_default() += 1;
    }
    drop(world);
    inner.changed.notify_all();
    reply.stream.write_all(head.as_bytes())?;
    let mut cut = match fault {
        Some(Fault::Cut(length)) => Some(*length),
        _ => None,
    };
    let result = loop {
        if let Some(left) = &mut cut
            && text.len() > *left
        {
            // The rest of the chunk is never sent.
            let sent = reply.stream.write_all(format!("{:x}\r\n{}", text.len(), &text[..*left]).as_bytes());
            break sent.and(reply.stream.shutdown(Shutdown::Both));
        }
        if let Some(left) = &mut cut {
            *left -= text.len();
        }
        let sent = match fault {
            Some(Fault::Slow(length)) => {
                let pieces: Vec<char> = text.chars().collect();
                pieces.chunks(*length).try_for_each(|piece| reply.chunk(&piece.iter().collect::<String>()))
            }
            _ => reply.chunk(&text),
        };
        if sent.is_err() || done {
            break sent.and_then(|()| reply.stream.write_all(b"0\r\n\r\n"));
        }
        text.clear();
        let world = inner.world.lock().unwrap();
        let updates =
            |logged: &&Logged| logged.version > at && logged.plural == what.2 && (namespace.is_empty() || logged.namespace == namespace);
        let idle = |world: &mut World| {
            // The log is in the order of versions.
            let from = world.log.partition_point(|logged| logged.version <= scanned);
            let any = world.log[from..].iter().any(|logged| updates(&logged));
            scanned = world.version;
            !any && !world.stopped && world.generation == generation && world.bookmarks <= bookmarked
        };
        let world = inner.changed.wait_while(world, idle).unwrap();
        let from = world.log.partition_point(|logged| logged.version <= at);
        world.log[from..].iter().filter(updates).for_each(|logged| text.push_str(&logged.line));
        at = at.max(world.version);
        if world.bookmarks > bookmarked {
            bookmarked = world.bookmarks;
            at = at.max(world.bookmarks);
            text.push_str(&bookmark(at, false));
        }
        if world.stopped || world.generation != generation {
            drop(world);
            let sent = reply.chunk(&text);
            break sent.and_then(|()| reply.stream.write_all(b"0\r\n\r\n"));
        }
    };
    if !done {
        let mut world = inner.world.lock().unwrap();
        *world.watching.entry(what.2).or_default() -= 1;
        drop(world);
        inner.changed.notify_all();
    }
    result
}
