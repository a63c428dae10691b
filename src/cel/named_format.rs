//! Named formats of texts. Mirrors `staging/src/k8s.io/apiserver/pkg/cel/library/format.go` and the checks it calls, in
//! `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go` and `k8s.io/kube-openapi/pkg/validation/strfmt`.

use super::time::Timestamp;
use super::url;

#[derive(Debug)]
pub(super) struct NamedFormat {
    /// The name of its function and in `format.named`.
    function: &'static str,
    pub(super) name: &'static str,
    /// Returns the errors of a text; empty if it has the format.
    pub(super) validate: fn(&str) -> Vec<String>,
    /// The length of the pattern for computing costs.
    pub(super) regex_size: u64,
}

const fn format(function: &'static str, name: &'static str, validate: fn(&str) -> Vec<String>, regex_size: u64) -> NamedFormat {
    NamedFormat { function, name, validate, regex_size }
}

static FORMATS: [NamedFormat; 13] = [
    format("dns1123Label", "DNS1123Label", dns1123_label, 30),
    format("dns1123Subdomain", "DNS1123Subdomain", dns1123_subdomain, 60),
    format("dns1035Label", "DNS1035Label", dns1035_label, 30),
    format("qualifiedName", "QualifiedName", qualified_name, 60),
    format("dns1123LabelPrefix", "DNS1123LabelPrefix", |s| dns1123_label(&masked(s)), 30),
    format("dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", |s| dns1123_subdomain(&masked(s)), 60),
    format("dns1035LabelPrefix", "DNS1035LabelPrefix", |s| dns1035_label(&masked(s)), 30),
    format("labelValue", "LabelValue", label_value, 40),
    format("uri", "URI", |s| url::check(s).err().into_iter().collect(), 1_103),
    format("uuid", "uuid", |s| refused(is_uuid(s), "does not match the UUID format"), 70),
    format("byte", "byte", |s| refused(is_base64(s), "invalid base64"), 84),
    format("date", "date", |s| refused(is_date(s), "invalid date"), 71),
    format("datetime", "datetime", |s| refused(is_datetime(s), "invalid datetime"), 71),
];

/// Returns the format that `format.named` gives.
pub(super) fn by_name(name: &str) -> Option<&'static NamedFormat> {
    FORMATS.iter().find(|format| format.function == name)
}

/// Returns the format that a function without arguments gives.
pub(super) fn named(function: &str) -> Option<&'static NamedFormat> {
    function.strip_prefix("format.").and_then(by_name)
}

fn refused(fits: bool, message: &str) -> Vec<String> {
    if fits { Vec::new() } else { vec![message.to_owned()] }
}

/// Masks a final dash of a prefix, because generated names append to it.
fn masked(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut rest = rest.to_owned();
            rest.pop();
            rest + "a"
        }
        _ => text.to_owned(),
    }
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_FAILED: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN_FAILED: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const DNS1035_FAILED: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_FAILED: &str =
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_FAILED: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

fn pattern_message(message: &str, pattern: &str, examples: &[&str]) -> String {
    let examples = examples.iter().map(|example| format!("'{example}', ")).collect::<Vec<_>>().join(" or ");
    format!("{message} (e.g. {examples}regex used for validation is '{pattern}')")
}

fn too_long(text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} characters"))
}

fn ends_in(text: &str, fits: impl Fn(u8) -> bool) -> bool {
    text.bytes().next().is_some_and(&fits) && text.bytes().next_back().is_some_and(fits)
}

fn lower(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    ends_in(text, lower) && text.bytes().all(|b| lower(b) || b == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_name(text: &str) -> bool {
    ends_in(text, |b| b.is_ascii_alphanumeric()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

fn dns1123_label(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label(text) {
        problems.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            pattern_message(LABEL_FAILED, LABEL, &["my-name", "123-abc"])
        });
    }
    problems
}

fn dns1123_subdomain(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 253).into_iter().collect();
    if !is_subdomain(text) {
        problems.push(pattern_message(SUBDOMAIN_FAILED, SUBDOMAIN, &["example.com"]));
    }
    problems
}

fn dns1035_label(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label(text) || !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        problems.push(pattern_message(DNS1035_FAILED, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"]));
    }
    problems
}

fn qualified_name(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let parts: Vec<&str> = text.split('/').collect();
    let (prefix, name) = match parts.as_slice() {
        [name] => (None, *name),
        [prefix, name] => (Some(*prefix), *name),
        _ => {
            let message = pattern_message(KEY_FAILED, NAME, &examples);
            return vec![format!("{message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")];
        }
    };
    let mut problems: Vec<String> = match prefix {
        None => Vec::new(),
        Some("") => return vec!["prefix part must be non-empty".to_owned()],
        Some(prefix) => dns1123_subdomain(prefix).into_iter().map(|problem| format!("prefix part {problem}")).collect(),
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else {
        problems.extend(too_long(name, 63).map(|problem| format!("name part {problem}")));
    }
    if !is_name(name) {
        problems.push(format!("name part {}", pattern_message(KEY_FAILED, NAME, &examples)));
    }
    problems
}

fn label_value(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 63).into_iter().collect();
    if !text.is_empty() && !is_name(text) {
        problems.push(pattern_message(VALUE_FAILED, &format!("({NAME})?"), &["MyValue", "my_value", "12345"]));
    }
    problems
}

fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (i, size) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        rest = if i > 0 { rest.strip_prefix('-').unwrap_or(rest) } else { rest };
        match rest.split_at_checked(size) {
            Some((group, after)) if group.bytes().all(|b| b.is_ascii_hexdigit()) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// Whether a text has whole groups of four characters; the last may end in one or two `=`.
fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - bare.len() <= 2
        && bare.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_some()
}

fn is_datetime(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let time = time.as_bytes();
    let digits = |from: usize| matches!(time.get(from..from + 2), Some([a, b]) if a.is_ascii_digit() && b.is_ascii_digit());
    let clock = digits(0) && digits(3) && digits(6) && time.get(2) == Some(&b':') && time.get(5) == Some(&b':');
    if text.len() < 4 || !is_date(date) || !clock || time[..2] > b"23"[..] || time[3..5] > b"59"[..] || time[6..8] > b"59"[..] {
        return false;
    }
    let zone = |rest: &[u8]| match rest {
        b"z" => true,
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].into_iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let rest = &time[8..];
    // Upstream's pattern accepts any character but a line end before the fraction.
    let fraction = |rest: &[u8]| {
        let size = std::str::from_utf8(rest).ok().and_then(|r| r.chars().next()).filter(|c| *c != '\n').map_or(0, char::len_utf8);
        let digits = rest[size..].iter().take_while(|b| b.is_ascii_digit()).count();
        size > 0 && (1..=digits).any(|n| zone(&rest[size + n..]))
    };
    zone(rest) || fraction(rest)
}
