//! Databases of etcd that are made here: of any size, with large values of Secrets and ConfigMaps among the objects.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test or measurement that fails may panic, and prints its figures")]

use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use pretty_assertions::assert_eq;
use schedscope::cluster::Kind;
use schedscope::source::history::EtcdHistory;
use schedscope::source::{Input, Limits, Severity, load};
use sha2::{Digest as _, Sha256};

use crate::measure::{measured, next, program, setting};

const PAGE: usize = 4096;

/// A text in each value that is confidential.
const PLANTED: &str = "planted-and-never-decoded";

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Returns a field of protocol buffers that holds a number.
fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value, &mut out);
    out
}

/// Returns a field of protocol buffers that holds bytes: a text, a message or an entry of a map.
fn bytes(field: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let mut out = Vec::with_capacity(value.len() + 8);
    varint(field << 3 | 2, &mut out);
    varint(value.len() as u64, &mut out);
    out.extend(value);
    out
}

fn entry(field: u64, key: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
    bytes(field, [bytes(1, key), bytes(2, value)].concat())
}

fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let of = [bytes(1, api_version), bytes(2, kind)].concat();
    [b"k8s\0".to_vec(), bytes(1, of), bytes(2, raw), bytes(3, b""), bytes(4, b"")].concat()
}

/// The seconds of the first revision's time.
const BEGIN: u64 = 1_795_750_000;

fn metadata(name: &str, namespace: &str, uid: u64, labels: &[(&str, &str)], fields: usize, time: u64) -> Vec<u8> {
    bytes(1, metadata_fields(name, namespace, uid, labels, fields, time))
}

/// Returns the fields of metadata with labels, and with managers' fields of a length.
fn metadata_fields(name: &str, namespace: &str, uid: u64, labels: &[(&str, &str)], fields: usize, time: u64) -> Vec<u8> {
    let time = number(1, time);
    let managed = [
        bytes(1, "kube-controller-manager"),
        bytes(2, "Update"),
        bytes(3, "v1"),
        bytes(4, &time),
        bytes(6, "FieldsV1"),
        bytes(7, bytes(1, format!("{{\"f:f\":\"{}\"}}", "f".repeat(fields)))),
    ];
    let labels: Vec<Vec<u8>> = labels.iter().map(|(key, value)| entry(11, key, value)).collect();
    let parts = [bytes(1, name), bytes(3, namespace), bytes(5, format!("{uid:08x}")), bytes(8, time)];
    [parts.concat(), labels.concat(), bytes(17, managed.concat())].concat()
}

fn quantities(field: u64, list: &[(&str, &str)]) -> Vec<u8> {
    list.iter().flat_map(|(name, quantity)| entry(field, name, bytes(1, quantity))).collect()
}

fn condition(kind: &str, status: &str) -> Vec<u8> {
    [bytes(1, kind), bytes(2, status)].concat()
}

/// The content of a database, in numbers of objects.
#[derive(Clone, Copy, Debug)]
struct Size {
    nodes: u64,
    pods: u64,
    events: u64,
    secrets: u64,
    config_maps: u64,
    /// Changes after the last compaction: pods, and leases of nodes.
    changes: u64,
}

impl Size {
    fn pod(self, number: u64, version: u64) -> (String, Vec<u8>) {
        let app = number % 400;
        let (name, namespace, app) = (format!("app-{app}-{number:06}"), format!("team-{}", app % 20), format!("app-{app}"));
        let owner = bytes(13, [bytes(1, "ReplicaSet"), bytes(3, &app), bytes(4, "u"), bytes(5, "apps/v1")].concat());
        let fields = metadata_fields(&name, &namespace, number, &[("app", &app), ("tier", "web")], 2200, BEGIN + version / 100);
        let metadata = bytes(1, [fields, owner].concat());
        let requests = quantities(2, &[("cpu", "250m"), ("memory", "256Mi")]);
        let environment = bytes(7, [bytes(1, "SETTING"), bytes(2, vec![b'e'; 900])].concat());
        let container =
            bytes(2, [bytes(1, "main"), bytes(2, format!("registry.example/{app}:1")), environment, bytes(8, requests)].concat());
        // Each hundredth pod waits.
        let node = if number % 100 == 99 { Vec::new() } else { bytes(10, format!("node-{:05}", number % self.nodes)) };
        let spec = bytes(2, [container, node.clone(), bytes(19, "default-scheduler"), self::number(25, 0)].concat());
        let ready = if version.is_multiple_of(2) { "True" } else { "False" };
        let (phase, conditions) = if node.is_empty() {
            ("Pending", Vec::new())
        } else {
            ("Running", [bytes(2, condition("Ready", ready)), bytes(2, condition("PodScheduled", "True"))].concat())
        };
        let status = bytes(3, [bytes(1, phase), conditions].concat());
        (format!("/registry/pods/{namespace}/{name}"), envelope("v1", "Pod", &[metadata, spec, status].concat()))
    }

    fn node(number: u64) -> (String, Vec<u8>) {
        let name = format!("node-{number:05}");
        let zone = format!("zone-{}", number % 3);
        let metadata =
            metadata(&name, "", number, &[("kubernetes.io/hostname", &name), ("topology.kubernetes.io/zone", &zone)], 5000, BEGIN);
        let all = [("cpu", "16"), ("memory", "64Gi"), ("pods", "110")];
        let images: Vec<u8> =
            (0..30).flat_map(|image| bytes(8, bytes(1, format!("registry.example/image-{image}@sha256:{}", "0".repeat(64))))).collect();
        let status = bytes(3, [quantities(1, &all), quantities(2, &all), bytes(4, condition("Ready", "True")), images].concat());
        (format!("/registry/minions/{name}"), envelope("v1", "Node", &[metadata, status].concat()))
    }

    /// The changes in an order that mixes the kinds: each with its key, and `None` where it is deleted.
    fn changes(self) -> impl Iterator<Item = (String, Option<Vec<u8>>)> {
        let Self { nodes, pods, events, secrets, config_maps, changes } = self;
        let namespace =
            |name: &str| (format!("/registry/namespaces/{name}"), envelope("v1", "Namespace", &metadata(name, "", 1, &[], 10, BEGIN)));
        let first =
            ["default", "kube-system"].map(namespace).into_iter().chain((0..20).map(move |team| namespace(&format!("team-{team}"))));
        let longest = nodes.max(pods).max(events).max(secrets).max(config_maps);
        let mixed = (0..longest).flat_map(move |at| {
            let takes = |count: u64| (at * count / longest != (at + 1) * count / longest).then(|| at * count / longest);
            let mut made = Vec::new();
            made.extend(takes(nodes).map(Self::node));
            made.extend(takes(pods).map(|number| self.pod(number, 0)));
            made.extend(takes(events).map(|number| {
                let (pod, _) = self.pod(number % pods, 0);
                let about = [bytes(1, "Pod"), bytes(2, pod.split('/').nth(3).unwrap()), bytes(3, pod.split('/').nth(4).unwrap())].concat();
                let raw = [
                    metadata(&format!("e{number}"), "team-0", number, &[], 300, BEGIN),
                    bytes(2, about),
                    bytes(3, "Pulled"),
                    bytes(4, "Container image already present on machine"),
                ];
                (format!("/registry/events/team-0/e{number}"), envelope("v1", "Event", &raw.concat()))
            }));
            made.extend(takes(secrets).map(|number| {
                let data = entry(2, "token", [PLANTED.as_bytes(), &vec![b's'; 300_000]].concat());
                let raw = [metadata(&format!("s{number}"), "team-0", number, &[], 100, BEGIN), data].concat();
                (format!("/registry/secrets/team-0/s{number}"), envelope("v1", "Secret", &raw))
            }));
            made.extend(takes(config_maps).map(|number| {
                let data = entry(2, "settings", [PLANTED.as_bytes(), &vec![b'c'; 900_000]].concat());
                let raw = [metadata(&format!("c{number}"), "team-0", number, &[], 100, BEGIN), data].concat();
                (format!("/registry/configmaps/team-0/c{number}"), envelope("v1", "ConfigMap", &raw))
            }));
            made
        });
        let mut seed = 7;
        let later = (1..=changes).map(move |at| {
            let number = next(&mut seed) % pods;
            match at % 10 {
                0..3 => {
                    let (key, value) = self.pod(number, at);
                    (key, Some(value))
                }
                3 if number.is_multiple_of(7) => (self.pod(number, at).0, None),
                _ => {
                    let name = format!("node-{:05}", number % nodes);
                    let raw = [metadata(&name, "kube-node-lease", number, &[], 200, BEGIN + at / 100), bytes(2, bytes(1, &name))].concat();
                    (format!("/registry/leases/kube-node-lease/{name}"), Some(envelope("coordination.k8s.io/v1", "Lease", &raw)))
                }
            }
        });
        first.chain(mixed).map(|(key, value)| (key, Some(value))).chain(later)
    }

    /// The number of changes up to the compaction.
    fn base(self) -> u64 {
        22 + self.nodes + self.pods + self.events + self.secrets + self.config_maps
    }
}

/// A page, with the pages of its overflow.
fn page(id: u64, flags: u16, elements: &[(u32, Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut head = Vec::new();
    let mut at = elements.len() * 16;
    for (index, (flag, key, value)) in elements.iter().enumerate() {
        for number in [*flag, (at - index * 16) as u32, key.len() as u32, value.len() as u32] {
            head.extend(number.to_le_bytes());
        }
        at += key.len() + value.len();
    }
    let overflow = (16 + at).div_ceil(PAGE) - 1;
    let count = elements.len() as u16;
    let mut page = [&id.to_le_bytes()[..], &flags.to_le_bytes(), &count.to_le_bytes(), &(overflow as u32).to_le_bytes(), &head].concat();
    for (_, key, value) in elements {
        page.extend(key);
        page.extend(value);
    }
    page.resize((overflow + 1) * PAGE, 0);
    page
}

fn meta_page(id: u64, root: u64, pages: u64) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [0xED0C_DAED_u32, 2, PAGE as u32, 0] {
        body.extend(number.to_le_bytes());
    }
    for number in [root, 0, 2, pages, 6 + id] {
        body.extend(number.to_le_bytes());
    }
    let hash = body.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let mut page = [&id.to_le_bytes()[..], &4_u16.to_le_bytes(), &[0; 6], &body, &hash.to_le_bytes()].concat();
    page.resize(PAGE, 0);
    page
}

fn revision(of: u64, deleted: bool) -> Vec<u8> {
    let mut key = [&of.to_be_bytes()[..], b"_", &0_u64.to_be_bytes()].concat();
    key.extend(deleted.then_some(b't'));
    key
}

/// Writes the database of a cluster, with the digest of a snapshot behind it.
fn write(path: &Path, size: Size) {
    let mut file = BufWriter::new(File::options().create(true).truncate(true).read(true).write(true).open(path).unwrap());
    let mut id = 0;
    let put = |file: &mut BufWriter<File>, page: &[u8], id: &mut u64| {
        file.write_all(page).unwrap();
        *id += (page.len() / PAGE) as u64;
    };
    // The pages of both metas, and an empty list of free pages; they are written again at the end.
    for _ in 0..2 {
        put(&mut file, &[0; PAGE], &mut id);
    }
    put(&mut file, &page(2, 0x10, &[]), &mut id);
    let mut children: Vec<(Vec<u8>, u64)> = Vec::new();
    let mut elements = Vec::new();
    let mut length = 0;
    for ((key, value), at) in size.changes().zip(2..) {
        let name = revision(at, value.is_none());
        let mut entry = [bytes(1, &key), number(2, at), number(3, at), number(4, 1)].concat();
        entry.extend(value.iter().flat_map(|value| bytes(5, value)));
        // A leaf is split where it is longer than a page.
        if length + 16 + name.len() + entry.len() + 16 > PAGE && !elements.is_empty() {
            children.push((elements.first().map(|(_, name, _): &(u32, Vec<u8>, Vec<u8>)| name.clone()).unwrap(), id));
            let leaf = page(id, 2, &std::mem::take(&mut elements));
            put(&mut file, &leaf, &mut id);
            length = 0;
        }
        length += 16 + name.len() + entry.len();
        elements.push((0, name, entry));
    }
    children.push((elements[0].1.clone(), id));
    put(&mut file, &page(id, 2, &elements), &mut id);
    while children.len() > 1 {
        let mut above = Vec::new();
        for group in children.chunks(100) {
            let mut branch = [&id.to_le_bytes()[..], &1_u16.to_le_bytes(), &(group.len() as u16).to_le_bytes(), &[0; 4]].concat();
            let mut at = group.len() * 16;
            for (index, (key, child)) in group.iter().enumerate() {
                branch.extend(((at - index * 16) as u32).to_le_bytes());
                branch.extend((key.len() as u32).to_le_bytes());
                branch.extend(child.to_le_bytes());
                at += key.len();
            }
            for (key, _) in group {
                branch.extend(key);
            }
            branch.resize(PAGE, 0);
            above.push((group[0].0.clone(), id));
            put(&mut file, &branch, &mut id);
        }
        children = above;
    }
    let bucket = |root: u64| [root.to_le_bytes(), [0; 8]].concat();
    // etcd removes what is older than the compaction; here nothing before it is replaced.
    let marks = page(0, 2, &[(0, b"finishedCompactRev".to_vec(), revision(size.base() + 1, false))]);
    let meta = [bucket(0).as_slice(), &marks[..200]].concat();
    let root = id;
    put(&mut file, &page(root, 2, &[(1, b"key".to_vec(), bucket(children[0].1)), (1, b"meta".to_vec(), meta)]), &mut id);
    let mut file = file.into_inner().unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    for number in 0..2 {
        file.write_all(&meta_page(number, root, id)).unwrap();
    }
    file.seek(SeekFrom::Start(0)).unwrap();
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let count = file.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
    }
    file.write_all(&digest.finalize()).unwrap();
}

const SMALL: Size = Size { nodes: 5, pods: 300, events: 100, secrets: 3, config_maps: 2, changes: 400 };

#[test]
fn a_made_database_is_read_at_its_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.db");
    write(&path, SMALL);
    let history = EtcdHistory::open(&path, &Limits::default()).unwrap();
    assert_eq!((history.begin(), history.newest()), (SMALL.base() + 1, SMALL.base() + 1 + SMALL.changes));
    for (revision, pods) in [(history.begin(), Some(SMALL.pods)), (history.newest(), None)] {
        let loaded = load(&[Input::Text { name: "made.db".to_owned(), text: history.text(revision) }]);
        assert!(loaded.diagnostics.iter().all(|found| found.severity != Severity::Error), "{:?}", loaded.diagnostics);
        let read = |kind: Kind| loaded.objects.iter().filter(|object| object.kind() == kind).count() as u64;
        assert_eq!((read(Kind::Node), read(Kind::Namespace)), (SMALL.nodes, 22), "{:?}", loaded.diagnostics);
        assert!(pods.map_or(read(Kind::Pod) < SMALL.pods, |pods| read(Kind::Pod) == pods), "{}", read(Kind::Pod));
    }
    let newest = load(&[Input::Path(path)]);
    let said: Vec<&str> = newest.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert!(said.iter().any(|line| line.contains("ConfigMap") && line.contains("unread")), "{said:?}");
}

/// Runs a command on a source, and returns all that it wrote to its standard streams and its file.
fn written(arguments: &[&str], source: &Path, file: &Path) -> Vec<u8> {
    let _ = std::fs::remove_file(file);
    let arguments = arguments.iter().map(|argument| if *argument == "FILE" { file.as_os_str() } else { argument.as_ref() });
    let output = Command::new(program()).args(arguments).arg(source).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
    [output.stdout, output.stderr, std::fs::read(file).unwrap_or_default()].concat()
}

#[test]
fn a_planted_secret_is_in_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.db");
    write(&path, SMALL);
    let held = std::fs::read(&path).unwrap();
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds(&held, PLANTED));
    let commands: [&[&str]; 9] = [
        &["explain", "-A", "--pending", "--from"],
        &["explain", "-A", "--pending", "-o", "json", "--from"],
        &["explain", "team-19/app-99-000099", "-o", "markdown", "--all-nodes", "--from"],
        &["explain", "team-19/app-99-000099", "-o", "html", "--at", "rev:433", "--from"],
        &["run", "--from"],
        &["run", "-o", "json", "--at", "-1s", "--from"],
        &["capture", "FILE", "--from"],
        &["capture", "FILE", "--at", "rev:433", "--from"],
        &["open", "--print", "FILE"],
    ];
    for arguments in commands {
        let file = folder.path().join(if arguments[0] == "open" { "out.txt" } else { "out.json" });
        let bytes = written(arguments, &path, &file);
        let shown = String::from_utf8_lossy(&bytes);
        assert!(holds(&bytes, "app-99"), "{arguments:?}: {shown}");
        assert!(!holds(&bytes, PLANTED) && !holds(&bytes, "ssssssss") && !holds(&bytes, "cccccccc"), "{arguments:?}");
    }
}

/// Makes a database of 2 GB unless SCHEDSCOPE_ETCD has one, and measures reading it.
#[test]
#[ignore = "writes 2 GB; SCHEDSCOPE_ETCD keeps it, SCHEDSCOPE_SOAK_PROGRAM measures another build"]
fn a_large_database_is_read_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("SCHEDSCOPE_ETCD").map_or_else(|| folder.path().join("large.db"), PathBuf::from);
    if !path.exists() {
        let of = |name: &str, default| setting(&format!("SCHEDSCOPE_ETCD_{name}"), default);
        let size = Size {
            nodes: of("NODES", 5000),
            pods: of("PODS", 150_000),
            events: of("EVENTS", 150_000),
            secrets: of("SECRETS", 1500),
            config_maps: of("CONFIG_MAPS", 300),
            changes: of("CHANGES", 150_000),
        };
        write(&path, size);
    }
    println!("{:.2} GB", std::fs::metadata(&path).unwrap().len() as f64 / 1e9);
    let screen = folder.path().join("screen.txt");
    let pod = "team-19/app-99-000099";
    for arguments in [
        &["explain", pod, "--from"][..],
        &["explain", "-A", "--pending", "--from"],
        &["explain", pod, "--at", "-10m", "--from"],
        &["explain", pod, "--evicted", "--from"],
        &["open", "--print", screen.to_str().unwrap()],
        &["open", "--at", "-10m", "--print", screen.to_str().unwrap()],
    ] {
        let _ = std::fs::remove_file(&screen);
        measured(arguments, &path);
    }
}
