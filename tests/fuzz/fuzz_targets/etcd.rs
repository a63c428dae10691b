//! A database of etcd: any bytes, any pages below sound meta pages, or sound pages with any keys and values. Every revision of it is
//! read, or is said to be damaged; and values of Secrets are in no text.
#![no_main]

use std::io::Read as _;

use libfuzzer_sys::fuzz_target;
use schedscope::source::history::EtcdHistory;
use schedscope::source::{Input, Limits, OpenText, load};

/// Bytes of a page, the fewest that bbolt allows.
const PAGE: usize = 512;

/// Keys that are drawn by their number.
const KEYS: [&str; 12] = [
    "/registry/namespaces/default",
    "/registry/pods/shop/web",
    "/registry/pods/shop/db",
    "/registry/minions/n1",
    "/registry/minions/n2",
    "/registry/secrets/shop/token",
    "/registry/configmaps/shop/settings",
    "/registry/events/shop/e1",
    "/registry/apps.example/secrets/shop/of-a-crd",
    "/registry/poddisruptionbudgets/shop/web",
    "/kubernetes.io/namespaces/default",
    "compact_rev_key",
];

const PLANTED: &[u8] = b"planted-and-never-decoded";

fn meta_page(id: u64, root: u64, pages: u64) -> Vec<u8> {
    let mut body = Vec::new();
    for number in [0xED0C_DAED_u32, 2, PAGE as u32, 0] {
        body.extend(number.to_le_bytes());
    }
    for number in [root, 0, 2, pages, id + 1] {
        body.extend(number.to_le_bytes());
    }
    let hash = body.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let mut page = [&id.to_le_bytes()[..], &4_u16.to_le_bytes(), &[0; 6], &body, &hash.to_le_bytes()].concat();
    page.resize(PAGE, 0);
    page
}

/// Returns a page with its elements: the flags, the key and the value of each.
fn page(id: u64, elements: &[(u32, Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let (mut head, mut data) = (Vec::new(), Vec::new());
    for (index, (flag, key, value)) in elements.iter().enumerate() {
        let at = (elements.len() - index) * 16 + data.len();
        for number in [*flag, at as u32, key.len() as u32, value.len() as u32] {
            head.extend(number.to_le_bytes());
        }
        data.extend([key.as_slice(), value].concat());
    }
    let overflow = (16 + head.len() + data.len()).div_ceil(PAGE) - 1;
    let count = elements.len() as u16;
    let mut page = [&id.to_le_bytes()[..], &2_u16.to_le_bytes(), &count.to_le_bytes(), &(overflow as u32).to_le_bytes()].concat();
    page.extend(head);
    page.extend(data);
    page.resize((overflow + 1) * PAGE, 0);
    page
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(bytes);
    out
}

/// Returns a database with a change for each part of the input: a byte for its key and kind, and its value.
fn of_changes(input: &[u8]) -> Vec<u8> {
    let compacted = u64::from(input.first().copied().unwrap_or_default() % 8);
    let parts = input.split(|byte| *byte == 0xff).filter(|part| !part.is_empty()).zip(2_u64..).take(400);
    let elements = parts.map(|(part, number)| {
        let (how, rest) = (part[0], &part[1..]);
        let key = KEYS[usize::from(how) % KEYS.len()];
        let mut name = [&number.to_be_bytes()[..], b"_", &[0; 8]].concat();
        let mut entry = field(1, key.as_bytes());
        if how >= 240 {
            name.push(b't');
        } else {
            let value = match how / 60 {
                _ if key.contains("/secrets/") => [PLANTED, rest].concat(),
                0 => rest.to_vec(),
                1 => [b"k8s\0", rest].concat(),
                2 => {
                    let (version, kind) = if key.contains("minions") { ("v1", "Node") } else { ("v1", "Pod") };
                    let of = [field(1, version.as_bytes()), field(2, kind.as_bytes())].concat();
                    [b"k8s\0".to_vec(), field(1, &of), field(2, rest)].concat()
                }
                _ => [b"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",", rest].concat(),
            };
            entry.extend(field(5, &value));
        }
        (0, name, entry)
    });
    let elements: Vec<(u32, Vec<u8>, Vec<u8>)> = elements.collect();
    let leaf = page(3, &elements);
    let mark = [&compacted.to_be_bytes()[..], b"_", &[0; 8]].concat();
    let marks = page(0, &[(0, b"finishedCompactRev".to_vec(), mark)]);
    let bucket = |root: u64| [root.to_le_bytes(), [0; 8]].concat();
    let root = page(2, &[(1, b"key".to_vec(), bucket(3)), (1, b"meta".to_vec(), [bucket(0).as_slice(), &marks[..120]].concat())]);
    let pages = 3 + (leaf.len() / PAGE) as u64;
    [meta_page(0, 2, pages), meta_page(1, 2, pages), root, leaf].concat()
}

/// Returns a database of drawn pages, each with its right number.
fn of_pages(input: &[u8]) -> Vec<u8> {
    let count = input.len().div_ceil(PAGE) as u64 + 2;
    let mut all = [meta_page(0, 2, count), meta_page(1, 2, count)].concat();
    for (part, id) in input.chunks(PAGE).zip(2_u64..) {
        let mut page = part.to_vec();
        page.resize(PAGE, 0);
        page[..8].copy_from_slice(&id.to_le_bytes());
        all.extend(page);
    }
    all
}

fn text(made: &dyn OpenText) -> Vec<u8> {
    let mut text = Vec::new();
    if let Ok(mut reader) = made.open() {
        let _ = reader.read_to_end(&mut text);
    }
    text
}

fuzz_target!(|bytes: &[u8]| {
    let Some((how, rest)) = bytes.split_first() else { return };
    let database = match how % 3 {
        0 => rest.to_vec(),
        1 => of_pages(rest),
        _ => of_changes(rest),
    };
    let path = std::env::temp_dir().join(format!("schedscope-fuzz-etcd-{}.db", std::process::id()));
    std::fs::write(&path, &database).expect("a file");
    let newest = load(&[Input::Path(path.clone())]);
    drop(newest.cluster());
    let Ok(history) = EtcdHistory::open(&path, &Limits::default()) else { return };
    for revision in [history.begin(), history.newest()] {
        let text = text(&*history.text(revision));
        assert!(!text.windows(PLANTED.len()).any(|part| part == PLANTED), "a value of a Secret is in the text");
        let _ = (history.time_of(revision), history.check(revision));
    }
    let _ = history.changed();
    if let Ok(steps) = history.after(history.begin()) {
        for step in steps {
            assert!(!format!("{step:?}").contains("planted-and-never-decoded"), "a value of a Secret is in a step");
        }
    }
});
