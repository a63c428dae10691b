//! Databases made here, page by page, and a real snapshot.

use std::io::Cursor;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::*;
use crate::limits::sources::{ETCD_IN_MEMORY, ETCD_PAGE};

const PAGE: usize = 4096;

/// A change of a key: its new value, or `None` for a deletion.
type Change<'a> = (&'a str, Option<Vec<u8>>);

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let of = [bytes(1, api_version.as_bytes()), bytes(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), bytes(1, &of), bytes(2, raw), bytes(3, b""), bytes(4, b"")].concat()
}

fn named(name: &str, namespace: &str) -> Vec<u8> {
    bytes(1, &[bytes(1, name.as_bytes()), bytes(3, namespace.as_bytes())].concat())
}

fn page(id: u64, flags: u16, elements: &[(u32, Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut head = Vec::new();
    let mut data = Vec::new();
    for (index, (flag, key, value)) in elements.iter().enumerate() {
        let at = (elements.len() - index) * 16 + data.len();
        for number in [*flag, at as u32, key.len() as u32, value.len() as u32] {
            head.extend(number.to_le_bytes());
        }
        data.extend([key.as_slice(), value].concat());
    }
    let length = 16 + head.len() + data.len();
    let overflow = length.div_ceil(PAGE) - 1;
    let mut page =
        [&id.to_le_bytes()[..], &flags.to_le_bytes(), &(elements.len() as u16).to_le_bytes(), &(overflow as u32).to_le_bytes()].concat();
    page.extend(head);
    page.extend(data);
    page.resize((overflow + 1) * PAGE, 0);
    page
}

fn branch(id: u64, children: &[u64]) -> Vec<u8> {
    let mut page = [&id.to_le_bytes()[..], &1u16.to_le_bytes(), &(children.len() as u16).to_le_bytes(), &0u32.to_le_bytes()].concat();
    for child in children {
        page.extend([0; 8]);
        page.extend(child.to_le_bytes());
    }
    page.resize(PAGE, 0);
    page
}

fn meta_page(id: u64, root: u64, pages: u64, transaction: u64) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [0xED0C_DAEDu32, 2, PAGE as u32, 0] {
        body.extend(number.to_le_bytes());
    }
    for number in [root, 0, 2, pages, transaction] {
        body.extend(number.to_le_bytes());
    }
    let hash = body.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let mut page = [&id.to_le_bytes()[..], &4u16.to_le_bytes(), &[0; 6], &body, &hash.to_le_bytes()].concat();
    page.resize(PAGE, 0);
    page
}

fn revision(of: u64, deleted: bool) -> Vec<u8> {
    let mut key = [&of.to_be_bytes()[..], b"_", &0u64.to_be_bytes()].concat();
    key.extend(deleted.then_some(b't'));
    key
}

/// Returns a snapshot of etcd after these changes, with revisions from 2 on; each leaf has up to `per_leaf` changes.
fn snapshot(changes: &[Change<'_>], per_leaf: usize) -> Vec<u8> {
    snapshot_compacted(changes, per_leaf, 0)
}

/// Does so, with the mark of a compaction at a revision; what that removes must be left out of the changes.
fn snapshot_compacted(changes: &[Change<'_>], per_leaf: usize, compacted: u64) -> Vec<u8> {
    let elements: Vec<(u32, Vec<u8>, Vec<u8>)> = changes
        .iter()
        .zip(2..)
        .map(|((key, value), at)| {
            let mut entry = [bytes(1, key.as_bytes()), number(2, at), number(3, at), number(4, 1)].concat();
            entry.extend(value.iter().flat_map(|value| bytes(5, value)));
            (0, revision(at, value.is_none()), entry)
        })
        .collect();
    let mut leaves: Vec<u8> = Vec::new();
    let mut children = Vec::new();
    let next = |bytes: &[u8]| 5 + (bytes.len() / PAGE) as u64;
    for elements in elements.chunks(per_leaf) {
        let id = next(&leaves);
        children.push(id);
        leaves.extend(page(id, 2, elements));
    }
    let bucket = |root: u64| [root.to_le_bytes(), [0; 8]].concat();
    let marks = if compacted > 0 { vec![(0, b"finishedCompactRev".to_vec(), revision(compacted, false))] } else { Vec::new() };
    let meta = page(0, 2, &marks);
    let meta = [bucket(0).as_slice(), &meta[..200]].concat();
    let root = page(3, 2, &[(1, b"key".to_vec(), bucket(4)), (1, b"meta".to_vec(), meta)]);
    let pages = next(&leaves);
    let mut all = [meta_page(0, 3, pages, 6), meta_page(1, 3, pages, 7), page(2, 0x10, &[]), root, branch(4, &children), leaves].concat();
    let digest = Sha256::digest(&all);
    all.extend(digest);
    all
}

/// Returns the documents that a database is read as, and the error at its end.
fn documents(database: &[u8]) -> (Vec<Value>, Option<String>) {
    let mut text = Vec::new();
    let error = Objects::newest(Cursor::new(database.to_vec())).read_to_end(&mut text).err().map(|error| error.to_string());
    (serde_json::Deserializer::from_slice(&text).into_iter().collect::<Result<_, _>>().unwrap(), error)
}

fn items(database: &[u8]) -> Vec<Value> {
    let (documents, error) = documents(database);
    assert_eq!(error, None);
    documents[0]["items"].as_array().unwrap().clone()
}

fn pod(name: &str) -> Vec<u8> {
    envelope("v1", "Pod", &named(name, "shop"))
}

const DEFAULT: &str = "/registry/namespaces/default";

#[allow(clippy::unnecessary_wraps, reason = "a change is an Option")]
fn namespace() -> Option<Vec<u8>> {
    Some(envelope("v1", "Namespace", &named("default", "")))
}

#[test]
fn the_newest_change_of_each_key_counts() {
    let changes = [
        (DEFAULT, namespace()),
        ("/registry/pods/shop/b", Some(pod("b"))),
        ("/registry/pods/shop/a", Some(pod("a"))),
        ("/registry/pods/shop/b", Some(pod("b"))),
        ("/registry/pods/shop/gone", Some(pod("gone"))),
        ("/registry/pods/shop/gone", None),
        ("compact_rev_key", Some(b"1".to_vec())),
    ];
    for per_leaf in [1, 2, 100] {
        let items = items(&snapshot(&changes, per_leaf));
        let found: Vec<String> = items
            .iter()
            .map(|item| format!("{} {} {}", item["kind"].as_str().unwrap(), item["metadata"]["name"], item["metadata"]["resourceVersion"]))
            .collect();
        assert_eq!(found, ["Namespace \"default\" \"2\"", "Pod \"a\" \"4\"", "Pod \"b\" \"5\""], "{per_leaf} a leaf");
    }
    let (documents, _) = documents(&snapshot(&changes, 3));
    assert_eq!(documents[0]["metadata"]["resourceVersion"], "8");
    let empty: Vec<&str> = documents[1..].iter().filter_map(|list| list["kind"].as_str()).collect();
    assert!(empty.contains(&"PodDisruptionBudgetList") && !empty.contains(&"PodList"), "no object of a kind is known: {empty:?}");
}

#[test]
fn values_of_secrets_are_never_decoded() {
    let planted = b"planted-value";
    let secret = |namespace: &str| Some(envelope("v1", "Secret", &[named("s", namespace), bytes(2, planted)].concat()));
    let changes = [
        (DEFAULT, namespace()),
        ("/registry/secrets/shop/s", secret("shop")),
        ("/registry/configmaps/shop/s", Some(planted.to_vec())),
        // A key that does not name it.
        ("/registry/odd/shop/s", secret("shop")),
        (
            "/registry/odd/shop/t",
            Some(json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "planted-value"}}).to_string().into_bytes()),
        ),
    ];
    let (documents, error) = documents(&snapshot(&changes, 10));
    let text = serde_json::to_string(&documents).unwrap();
    assert!(error.is_none() && !text.contains("planted"), "{text}");
    let kinds: Vec<&Value> = documents[0]["items"].as_array().unwrap().iter().map(|item| &item["kind"]).collect();
    assert_eq!(kinds, ["ConfigMap", "Namespace", "Secret", "Secret", "Secret"]);
}

#[test]
fn values_that_cannot_be_read_are_counted_by_kind() {
    let changes = [
        (DEFAULT, namespace()),
        ("/registry/pods/shop/a", Some(b"k8s:enc:aescbc:v1:key:xxxx".to_vec())),
        ("/registry/pods/shop/b", Some(b"k8s:enc:aescbc:v1:key:yyyy".to_vec())),
        ("/registry/pods/shop/c", Some(pod("c"))),
        ("/registry/minions/n", Some(envelope("v1", "Node", &[0x0a, 9]))),
        ("/registry/poddisruptionbudgets/shop/p", Some(vec![0xd9, 0xd9, 0xf7, 1])),
        ("/cilium/state/x", Some(b"anything".to_vec())),
    ];
    let items = items(&snapshot(&changes, 10));
    let said: Vec<String> = items
        .iter()
        .filter(|item| item["kind"] == "Status")
        .map(|item| format!("{} {}", item["details"]["kind"], item["message"]))
        .collect();
    assert_eq!(
        said,
        [
            r#""nodes" "1 value in etcd cannot be read: Node is malformed""#,
            r#""poddisruptionbudgets" "1 value in etcd cannot be read: they are in CBOR""#,
            r#""pods" "2 values in etcd cannot be read: they are encrypted at rest (aescbc)""#,
        ]
    );
    assert!(items.iter().any(|item| item["metadata"]["name"] == "c"));
}

#[test]
fn values_of_another_kind_than_their_keys_and_keys_that_are_no_text_are_counted() {
    let of = |kind: &str| Some(envelope("v1", kind, &named("a", "shop")));
    let changes = [
        (DEFAULT, namespace()),
        ("/registry/pods/shop/a", of("Zod")),
        ("/registry/pods/shop/b", of("Secret")),
        ("/registry/pods/shop/c", Some(br#"{"apiVersion":"e.com/v1","kind":"Widget"}"#.to_vec())),
        ("/registry/minions/n", Some(envelope("v1", "Node", &named("n", "")))),
        ("/registry/services/endpoints/shop/a", of("Endpoints")),
        ("/registry/scheduling.x-k8s.io/podgroups/shop/a", Some(envelope("scheduling.x-k8s.io/v1", "PodGroup", &named("a", "shop")))),
        ("/registry/persistentvolumes/zzz", Some(envelope("v1", "PersistentVolume", &named("z", "")))),
    ];
    let mut database = snapshot(&changes, 10);
    let at = memchr::memmem::find(&database, b"persistentvolumes/zzz").unwrap() + b"persistentvolumes/".len();
    database[at] = 0xe5;
    database.truncate(database.len() - 32);
    let digest = Sha256::digest(&database);
    database.extend(digest);
    let said: Vec<String> = items(&database)
        .iter()
        .filter(|item| item["kind"] == "Status")
        .map(|item| format!("{} {}", item["details"]["kind"], item["message"]))
        .collect();
    assert_eq!(
        said,
        [
            r#""persistentvolumes" "1 value in etcd cannot be read: their keys are no UTF-8""#,
            r#""pods" "3 values in etcd cannot be read: they are of another kind than their keys""#,
        ]
    );
}

#[test]
fn objects_in_json_and_of_unknown_kinds_are_read() {
    let workload = json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w"}, "spec": {"a": [1]}});
    let changes = [
        ("/k/namespaces/default", namespace()),
        ("/k/kueue.x-k8s.io/workloads/shop/w", Some(workload.to_string().into_bytes())),
        ("/k/leases/x", Some(envelope("example.com/v9", "Thing", &named("t", "shop")))),
    ];
    let items = items(&snapshot(&changes, 10));
    assert_eq!(
        items[0],
        json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w", "resourceVersion": "3"}, "spec": {"a": [1]}})
    );
    assert_eq!(items[1]["metadata"], json!({"name": "t", "namespace": "shop", "resourceVersion": "4"}));
}

#[test]
fn fields_have_the_form_of_the_api() {
    let time = |seconds: u64, nanos: u64| [number(1, seconds), number(2, nanos)].concat();
    let entry = |key: &str, value: &[u8]| [bytes(1, key.as_bytes()), bytes(2, value)].concat();
    let quantity = bytes(1, b"100m");
    let container = [
        bytes(1, b"c"),
        bytes(6, &[number(3, 8080)].concat()),
        bytes(8, &bytes(2, &entry("cpu", &quantity))),
        bytes(10, &bytes(1, &bytes(2, &[bytes(1, b"/"), bytes(2, &[number(1, 1), bytes(3, b"web")].concat())].concat()))),
    ]
    .concat();
    let volume = [bytes(1, b"v"), bytes(2, &bytes(10, &bytes(1, b"data")))].concat();
    let metadata = [
        bytes(1, b"p"),
        bytes(3, b"shop"),
        bytes(8, &time(1_790_000_000, 0)),
        bytes(11, &entry("b", b"2")),
        bytes(11, &entry("a", b"1\n\"")),
        bytes(17, &[bytes(1, b"kubelet"), bytes(4, &time(1_790_000_000, 5)), bytes(7, &bytes(1, br#"{"f:a": {}}"#))].concat()),
    ]
    .concat();
    let spec = [bytes(1, &volume), bytes(2, &container), number(4, 30), number(25, u64::MAX), bytes(10, b"n")].concat();
    let object = envelope("v1", "Pod", &[bytes(1, &metadata), bytes(2, &spec)].concat());
    let items = items(&snapshot(&[(DEFAULT, namespace()), ("/registry/pods/shop/p", Some(object))], 10));
    assert_eq!(
        items[1],
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "resourceVersion": "3", "name": "p", "namespace": "shop", "creationTimestamp": "2026-09-21T14:13:20Z",
                "labels": {"a": "1\n\"", "b": "2"},
                "managedFields": [{"manager": "kubelet", "time": "2026-09-21T14:13:20Z", "fieldsV1": {"f:a": {}}}],
            },
            "spec": {
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
                "containers": [{
                    "name": "c", "ports": [{"containerPort": 8080}], "resources": {"requests": {"cpu": "100m"}},
                    "livenessProbe": {"httpGet": {"path": "/", "port": "web"}},
                }],
                "terminationGracePeriodSeconds": 30, "nodeName": "n", "priority": -1,
            },
            "status": {},
        })
    );
}

#[test]
fn damage_is_an_error_after_what_can_be_read() {
    let changes: Vec<(String, Option<Vec<u8>>)> = (0..20).map(|at| (format!("/registry/pods/shop/{at:02}"), Some(pod("p")))).collect();
    let changes: Vec<Change<'_>> = changes.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let sound = snapshot(&changes, 5);
    let read = |database: &[u8]| {
        let (documents, error) = documents(database);
        (documents.first().map_or(0, |list| list["items"].as_array().unwrap().len()), documents.len(), error)
    };
    let whole = read(&sound);
    assert_eq!((whole.0, whole.2), (20, None));
    // A byte of a value.
    let mut flipped = sound.clone();
    let at = flipped.windows(4).position(|four| four == b"shop").unwrap();
    flipped[at] ^= 1;
    assert_eq!(read(&flipped), (20, 1, Some("the SHA-256 at its end does not match".to_owned())));
    // The number of a leaf, in a member's file, which has no digest.
    let mut member = sound[..sound.len() - 32].to_vec();
    member[6 * PAGE] ^= 0x40;
    assert_eq!(read(&member), (15, 1, Some("page 6 holds another page".to_owned())));
    let mut order = sound[..sound.len() - 32].to_vec();
    let (first, second) = order.split_at_mut(7 * PAGE);
    first[6 * PAGE + 16..].copy_from_slice(&second[16..PAGE]);
    assert_eq!(read(&order).2, Some("page 7 has keys out of order".to_owned()));
    let mut again = sound[..sound.len() - 32].to_vec();
    again[4 * PAGE + 16 + 8..4 * PAGE + 32].copy_from_slice(&4u64.to_le_bytes());
    assert!(read(&again).2.unwrap().contains("is reached more than once"));
    // One of the two meta pages is enough.
    let mut meta = sound[..sound.len() - 32].to_vec();
    meta[PAGE + 60] ^= 1;
    assert_eq!(read(&meta), (20, whole.1, None));
    meta[60] ^= 1;
    assert_eq!(read(&meta), (0, 0, Some("neither of its two meta pages is valid".to_owned())));
    for cut in (100..sound.len() - 1).step_by(777) {
        assert!(read(&sound[..cut]).2.is_some(), "cut at {cut}");
    }
}

#[test]
fn pages_that_are_too_long_are_named() {
    let mut database = snapshot(&[(DEFAULT, namespace())], 5);
    database.truncate(database.len() - 32);
    let pages = u32::try_from(ETCD_PAGE).unwrap() / PAGE as u32 + 1;
    database[5 * PAGE + 12..5 * PAGE + 16].copy_from_slice(&pages.to_le_bytes());
    assert_eq!(documents(&database).1, Some("page 5 is too long".to_owned()));
}

/// A file of which a number of reads can be made, and a number of bytes read.
struct Counted {
    file: Cursor<Vec<u8>>,
    left: usize,
    bytes: usize,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(1).expect("the file is read without end");
        let count = self.file.read(out)?;
        self.bytes = self.bytes.checked_sub(count).expect("the bytes are read again and again");
        Ok(count)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn pages_in_a_circle_are_read_once() {
    // The bucket's branch has the bucket itself 200 times below it, and its meta pages count more pages than any file has.
    let bucket = |root: u64| [root.to_le_bytes(), [0; 8]].concat();
    let key = |root: u64| page(2, 2, &[(1, b"key".to_vec(), bucket(root))]);
    let circle = [meta_page(0, 2, 1 << 60, 6), meta_page(1, 2, 1 << 60, 7), key(3), branch(3, &[3; 200])].concat();
    let counted = Counted { file: Cursor::new(circle), left: 100, bytes: 1 << 20 };
    let error = Objects::newest(counted).read_to_string(&mut String::new()).unwrap_err().to_string();
    assert_eq!(error, "page 3 is reached more than once, and 199 more");
    // Long pages that lie within each other, each with the pages of all after it.
    let mut nested = [meta_page(0, 2, 1 << 60, 6), meta_page(1, 2, 1 << 60, 7), key(3)].concat();
    nested.extend(branch(3, &(4..84).collect::<Vec<u64>>()));
    for at in 4..84u64 {
        let mut leaf = page(at, 2, &[]);
        leaf[12..16].copy_from_slice(&(83 - at as u32).to_le_bytes());
        nested.extend(leaf);
    }
    let counted = Counted { file: Cursor::new(nested), left: 100, bytes: 1 << 20 };
    let error = Objects::newest(counted).read_to_string(&mut String::new()).unwrap_err().to_string();
    assert_eq!(error, "page 5 is reached more than once");
}

#[test]
fn a_long_page_is_not_read_again_for_each_object() {
    // Two long leaves, between which the keys in their order alternate.
    let name = |at: u64| format!("/registry/pods/shop/{:03}", at % 200 * 2 + at / 200);
    let long = [pod("p"), bytes(9, &[b'p'; 1000])].concat();
    let drawn: Vec<(String, Option<Vec<u8>>)> = (0..400).map(|at| (name(at), Some(long.clone()))).collect();
    let changes: Vec<Change<'_>> = drawn.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let mut database = snapshot(&changes, 200);
    database.truncate(database.len() - 32);
    // The whole, and for each object itself and the beginning of its page.
    let bytes = 2 * database.len() + changes.len() * (2 * PAGE);
    let counted = Counted { file: Cursor::new(database.clone()), left: usize::MAX, bytes };
    let mut text = String::new();
    Objects::newest(counted).read_to_string(&mut text).unwrap();
    assert_eq!((text.matches("\"Pod\"").count(), text.matches("\"Status\"").count()), (400, 0));
    // Elements that share their bytes would be read again too.
    let element = |at: usize| 5 * PAGE + 16 + at * 16;
    for at in 1..200 {
        let same = u32::from_le_bytes(database[element(0) + 4..element(0) + 8].try_into().unwrap()) - 16 * at as u32;
        database[element(at) + 4..element(at) + 8].copy_from_slice(&same.to_le_bytes());
        database[element(at) + 12..element(at) + 16].copy_from_slice(&200_000u32.to_le_bytes());
    }
    assert_eq!(documents(&database).1, Some("page 5 has elements that overlap".to_owned()));
}

/// A file that notes which of its bytes are read.
struct Watched {
    file: Cursor<Vec<u8>>,
    read: std::rc::Rc<std::cell::RefCell<Vec<bool>>>,
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let at = self.file.position() as usize;
        let count = self.file.read(out)?;
        self.read.borrow_mut()[at..at + count].fill(true);
        Ok(count)
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn long_values_that_are_confidential_are_not_read() {
    let planted = |start: &str| Some([start.as_bytes(), &vec![b's'; 200_000]].concat());
    let long = [pod("long"), bytes(9, &vec![b'p'; 100_000])].concat();
    let changes = [
        (DEFAULT, namespace()),
        ("/registry/secrets/shop/s", planted("secret")),
        ("/registry/pods/shop/long", Some(long)),
        ("/registry/configmaps/shop/c", planted("settings")),
        ("/registry/secrets/shop/s", None),
        ("/registry/pods/shop/b", Some(pod("b"))),
    ];
    for per_leaf in [1, 2, 6] {
        let mut database = snapshot(&changes, per_leaf);
        // A member's file has no digest, for which all is read.
        database.truncate(database.len() - 32);
        let read = std::rc::Rc::new(std::cell::RefCell::new(vec![false; database.len()]));
        let watched = Watched { file: Cursor::new(database.clone()), read: std::rc::Rc::clone(&read) };
        let mut text = String::new();
        Objects::newest(watched).read_to_string(&mut text).unwrap();
        let items: Value = serde_json::Deserializer::from_str(&text).into_iter().next().unwrap().unwrap();
        let names: Vec<&Value> = items["items"].as_array().unwrap().iter().map(|item| &item["metadata"]["name"]).collect();
        assert_eq!(names, [&Value::Null, &json!("default"), &json!("b"), &json!("long")], "{per_leaf} a leaf");
        for (start, value) in ["secret", "settings"].map(|start| (start, planted(start).unwrap())) {
            let at = database.windows(value.len()).position(|part| part == value).unwrap();
            let count = read.borrow()[at..at + value.len()].iter().filter(|read| **read).count();
            assert!(count <= 4096, "{count} bytes of {start} are read");
        }
    }
}

#[test]
fn flipped_bits_in_the_head_of_a_long_page_never_go_unseen() {
    let secret = [&b"planted"[..], &vec![b's'; 70_000]].concat();
    let changes = [(DEFAULT, namespace()), ("/registry/secrets/shop/s", Some(secret)), ("/registry/pods/shop/b", Some(pod("b")))];
    let sound = snapshot(&changes, 3);
    let leaf = 5 * PAGE;
    // The page's header, the headers of its elements, and the beginning of what they lead to.
    for bit in (0..200 * 8).step_by(3) {
        let mut flipped = sound.clone();
        flipped[leaf + bit / 8] ^= 1 << (bit % 8);
        let (documents, error) = documents(&flipped);
        assert!(error.is_some() && !serde_json::to_string(&documents).unwrap().contains("planted"), "bit {bit}");
    }
}

/// Returns 400 copies with one bit flipped, each with the place of its byte and the bit.
fn flips(sound: &[u8]) -> impl Iterator<Item = (usize, u64, Vec<u8>)> {
    let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(1u64), next).skip(1).take(400).map(|state| {
        let (at, bit) = ((state >> 33) as usize % sound.len(), (state >> 20) % 8);
        let mut flipped = sound.to_vec();
        flipped[at] ^= 1 << bit;
        (at, bit, flipped)
    })
}

#[test]
fn flipped_bits_never_go_unseen() {
    let changes: Vec<(String, Option<Vec<u8>>)> = (0..9).map(|at| (format!("/registry/pods/shop/{at}"), Some(pod("p")))).collect();
    let changes: Vec<Change<'_>> = changes.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let sound = snapshot(&changes, 4);
    for (at, bit, flipped) in flips(&sound) {
        if is_database(&flipped) {
            assert!(documents(&flipped).1.is_some(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_database_in_an_archive_is_read_up_to_a_limit() {
    use crate::source::read::archive;
    use crate::source::read::limits::Budget;
    struct Endless(Cursor<Vec<u8>>, u64);
    impl Read for Endless {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out)? {
                0 => {
                    self.1 += out.len() as u64;
                    assert!(self.1 <= ETCD_IN_MEMORY + (1 << 20), "it was read beyond the limit");
                    out.fill(0);
                    Ok(out.len())
                }
                count => Ok(count),
            }
        }
    }
    let head = snapshot(&[(DEFAULT, namespace())], 5);
    let mut text = String::new();
    let read = archive::open_database(Box::new(Endless(Cursor::new(head.clone()), 0)), 1 << 16, &Budget::unlimited())
        .reader
        .read_to_string(&mut text);
    assert!(read.unwrap_err().to_string().starts_with("a database of etcd that is compressed or inside another archive can be read up to"));
    let mut whole = archive::open_database(Box::new(Cursor::new(head)), 1 << 16, &Budget::unlimited()).reader;
    text.clear();
    assert!(whole.read_to_string(&mut text).is_ok() && text.contains("\"default\""));
}

/// A history with its file, which is opened again for each text.
struct Held {
    history: std::sync::Arc<History>,
    _file: tempfile::NamedTempFile,
}

impl std::ops::Deref for Held {
    type Target = History;

    fn deref(&self) -> &History {
        &self.history
    }
}

fn history(database: &[u8], keep: usize) -> io::Result<Held> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    io::Write::write_all(&mut file, database).unwrap();
    let history = History::keeping(file.path(), &crate::source::read::limits::Budget::unlimited(), keep)?;
    Ok(Held { history: std::sync::Arc::new(history), _file: file })
}

/// Returns the text of a history's revision and the error at its end.
fn text_at(held: &Held, revision: u64) -> (String, Option<String>) {
    use crate::source::read::input::OpenText as _;
    let text = HistoryText::new(std::sync::Arc::clone(&held.history), revision);
    let mut read = Vec::new();
    let error = text.open().unwrap().read_to_end(&mut read).err().map(|error| error.to_string());
    (String::from_utf8(read).unwrap(), error)
}

/// Draws changes of pods, nodes and Secrets: creations, updates and deletions.
fn drawn(count: usize, seed: u64) -> Vec<(String, Option<Vec<u8>>)> {
    let mut state = seed;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut changes = vec![(DEFAULT.to_owned(), namespace())];
    for number in 0..count as u64 {
        let name = format!("p{}", draw(7));
        changes.push(match draw(10) {
            0 => (format!("/registry/secrets/shop/{name}"), Some(b"planted-value".to_vec())),
            1..4 => (format!("/registry/pods/shop/{name}"), None),
            4 => (format!("/registry/minions/{name}"), Some(envelope("v1", "Node", &named(&name, "")))),
            _ => {
                let labels = bytes(11, &[bytes(1, b"at"), bytes(2, number.to_string().as_bytes())].concat());
                let time = self::number(1, 1_790_000_000 + number);
                let metadata = [bytes(1, name.as_bytes()), bytes(3, b"shop"), bytes(8, &time), labels].concat();
                (format!("/registry/pods/shop/{name}"), Some(envelope("v1", "Pod", &bytes(1, &metadata))))
            }
        });
    }
    changes
}

#[test]
fn a_history_holds_the_state_at_each_revision() {
    for (seed, keep) in [(1, 1000), (2, 1000), (3, 20), (4, 1)] {
        let drawn = drawn(60, seed);
        let changes: Vec<Change<'_>> = drawn.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let history = history(&snapshot(&changes, 7), keep).unwrap();
        let newest = 1 + changes.len() as u64;
        assert_eq!(history.newest(), newest);
        assert_eq!(history.begin(), if keep == 1000 { 0 } else { newest - keep as u64 });
        for revision in history.begin().max(2)..=newest {
            let (text, error) = text_at(&history, revision);
            // The state at a revision is the newest state of a database that ends there.
            let then = snapshot(&changes[..(revision - 1) as usize], 7);
            let mut expected = String::new();
            Objects::newest(Cursor::new(then)).read_to_string(&mut expected).unwrap();
            assert_eq!((text, error), (expected, None), "seed {seed}, revision {revision}");
        }
        let mut steps = 0;
        for step in history.after(history.begin()).unwrap() {
            steps += 1;
            for change in step.changes {
                match (change, &changes[(step.revision - 2) as usize]) {
                    (HistoryChange::Put(text), (_, Some(_))) => {
                        let text = String::from_utf8(text).unwrap();
                        assert!(
                            text.contains(&format!("\"resourceVersion\":\"{}\"", step.revision)) && !text.contains("planted"),
                            "{text}"
                        );
                    }
                    (HistoryChange::Gone(kind, key), (name, None)) => {
                        assert_eq!((kind, format!("/registry/pods/{key}")), (Kind::Pod, (*name).to_owned()));
                    }
                    (change, _) => panic!("{change:?} at {}", step.revision),
                }
            }
        }
        assert_eq!(steps, history.changed().count());
    }
}

#[test]
fn a_history_begins_at_the_last_compaction() {
    let kept = |name: &str| (format!("/registry/pods/shop/{name}"), Some(pod(name)));
    let drawn = [(DEFAULT.to_owned(), namespace()), kept("a"), kept("b"), ("/registry/pods/shop/a".to_owned(), None)];
    let changes: Vec<Change<'_>> = drawn.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let compacted = history(&snapshot_compacted(&changes, 7, 3), 100).unwrap();
    assert_eq!((compacted.begin(), compacted.newest(), compacted.changed().collect::<Vec<_>>()), (3, 5, vec![4, 5]));
    assert!(text_at(&compacted, 4).0.contains("\"a\"") && !text_at(&compacted, 5).0.contains("\"a\""));
    // Where the mark cannot be read, only the newest state is known to be whole.
    let mut database = snapshot_compacted(&changes, 7, 3);
    let at = database.windows(18).position(|bytes| bytes == b"finishedCompactRev").unwrap();
    database[at + 18 + 8] = b'x';
    database.truncate(database.len() - 32);
    let unknown = history(&database, 100).unwrap();
    assert_eq!((unknown.begin(), unknown.newest(), unknown.changed().count()), (5, 5, 0));
}

#[test]
fn a_history_keeps_the_last_changes() {
    let drawn = drawn(60, 9);
    let changes: Vec<Change<'_>> = drawn.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let database = snapshot(&changes, 7);
    for keep in [1, 10, 59] {
        let history = history(&database, keep).unwrap();
        assert!(history.found_changes() <= keep && history.begin() == history.newest() - keep as u64, "{keep}");
    }
}

#[test]
fn flipped_bits_of_a_history_are_an_error_or_said() {
    let drawn = drawn(40, 5);
    let changes: Vec<Change<'_>> = drawn.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let sound = snapshot_compacted(&changes, 7, 3);
    for (at, bit, flipped) in flips(&sound) {
        // An error is said by the program.
        let Ok(history) = history(&flipped, 100) else { continue };
        let (text, error) = text_at(&history, history.begin());
        assert!(error.is_some() && !text.contains("planted"), "bit {bit} of byte {at}");
        history.after(history.begin()).unwrap().for_each(drop);
    }
    for cut in (100..sound.len() - 1).step_by(777) {
        if let Ok(history) = history(&sound[..cut], 100) {
            assert!(text_at(&history, history.begin()).1.is_some(), "cut at {cut}");
        }
    }
}

/// Returns JSON without what has no meaning: nulls and empty objects.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().map(|(key, value)| (key.clone(), plain(value)));
            Value::Object(kept.filter(|(_, value)| !value.is_null() && value != &json!({})).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dumps/etcd").join(name);
    let mut bytes = Vec::new();
    lzma_rust2::XzReader::new(std::fs::File::open(path).unwrap(), true).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_real_snapshot_holds_what_the_api_server_listed() {
    let listed: Value = serde_json::from_slice(&fixture("objects.json.xz")).unwrap();
    let stored = items(&fixture("snapshot-1.31.db.xz"));
    let found: std::collections::HashMap<String, Value> = stored
        .into_iter()
        .map(|item| (format!("{} {} {}", item["kind"], item["metadata"]["namespace"], item["metadata"]["name"]), item))
        .collect();
    // The list was asked for a moment later: five objects are of revisions after the snapshot's newest, 12347.
    let version = |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    let (then, later): (Vec<&Value>, Vec<&Value>) =
        listed["items"].as_array().unwrap().iter().partition(|object| version(object) <= 12_347);
    assert_eq!((then.len(), later.len()), (1_937, 5));
    for object in then {
        let name = format!("{} {} {}", object["kind"], object["metadata"]["namespace"], object["metadata"]["name"]);
        let Some(stored) = found.get(&name) else {
            panic!("{name} is missing");
        };
        assert_eq!(plain(stored), plain(object), "{name}");
    }
}
