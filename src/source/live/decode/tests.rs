//! Tests of `decode`.

use super::super::resource::Subject;
use super::*;
use crate::cluster::Kind;

fn resource(kind: Kind) -> &'static Resource {
    Resource::of(Subject::Objects(kind))
}

#[test]
fn pages_are_decoded_and_what_is_none_is_reported() {
    let text = br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"abc","remainingItemCount":3},
            "items":[{"metadata":{"name":"a","namespace":"x"}},{"metadata":{"name":"b","namespace":"x"},"spec":{"nodeName":5}}]}"#;
    let found = page(text, resource(Kind::Pod)).unwrap();
    assert_eq!((found.resource_version.as_str(), found.next.as_str(), found.items.len()), ("7", "abc", 2));
    assert!(matches!(&found.items[0].what, DecodedItem::Object { object, .. } if object.key().to_string() == "x/a"));
    assert!(matches!(&found.items[1].what, DecodedItem::Error(bad) if bad.object.as_deref() == Some("Pod x/b")));
    assert!(page(br#"{"kind":"PodList","items":null}"#, resource(Kind::Pod)).unwrap().items.is_empty());
    for (text, expected) in [
        (&text[..100], "the list of pods is truncated"),
        (&b"<html>"[..], "the list of pods is invalid"),
        (br#"{"kind":"NodeList","items":[]}"#, "expected a list of pods, got \"NodeList\""),
        (b"{}", "expected a list of pods, got \"\""),
    ] {
        let failure = page(text, resource(Kind::Pod)).unwrap_err();
        let is_content = matches!(failure.what, failure::FailureKind::Content | failure::FailureKind::OtherKind);
        assert!(is_content && failure.message.starts_with(expected), "{failure}");
    }
}

#[test]
fn a_list_of_another_kind_shows_by_its_start() {
    for (start, is_sound) in [
        (&br#"{"kind":"PodList","apiVersion":"#[..], true),
        (b"{ \"kind\" : \"PodList\"", true),
        (br#"{"kind":"NodeList","apiVersion":"#, false),
        (br#"{"kind":"Pod","#, false),
        (br#"{"apiVersion":"v1","kind":"NodeList"#, true),
        (br#"{"kind":"Pod\u004cist""#, true),
        (br#"{"kind":"PodLi"#, true),
        (b"<html>", true),
        (b"", true),
    ] {
        assert_eq!(check_start(start, resource(Kind::Pod)).is_ok(), is_sound, "{}", String::from_utf8_lossy(start));
    }
    let failure = check_start(br#"{"kind":"NodeList","#, resource(Kind::Pod)).unwrap_err();
    assert_eq!(failure.message, r#"expected a list of pods, got "NodeList": {"kind":"NodeList","#);
}

#[test]
fn pages_of_other_kinds_count_what_cannot_be_read() {
    let text = br#"{"kind":"JobList","apiVersion":"batch/v1","metadata":{"continue":"abc"},"items":[
            {"metadata":{"name":"a","namespace":"x"},"spec":{"suspend":true}},{"metadata":{"name":"b"},"spec":{"suspend":"x"}},{"metadata":{}}]}"#;
    let page = super::neighbors(text, NeighborKind::Job, "batch/v1").unwrap();
    assert_eq!((page.found.len(), page.count, page.unreadable, page.next.as_str()), (1, 3, 2, "abc"));
    for (text, expected) in [(&text[..50], "the list of jobs is truncated"), (br#"{"kind":"PodList"}"#, "expected a list of jobs, got")] {
        let failure = super::neighbors(text, NeighborKind::Job, "batch/v1").unwrap_err();
        assert!(failure.message.starts_with(expected), "{failure}");
    }
}

#[test]
fn a_page_of_too_many_items_is_refused() {
    let of = |count: usize| format!(r#"{{"kind":"PodList","items":[{}1]}}"#, "1,".repeat(count - 1));
    let failure = page(of(PAGE_ITEMS + 1).as_bytes(), resource(Kind::Pod)).unwrap_err();
    assert_eq!((failure.what, failure.message.as_str()), (failure::FailureKind::Limit, "a page of pods has more than 200000 items"));
    assert_eq!(page(of(5).as_bytes(), resource(Kind::Pod)).unwrap().items.len(), 5);
}

#[test]
fn lines_of_a_watch_are_distinguished() {
    let words = |line: &Result<Line, Failure>| match line {
        Ok(Line::Put(decoded, version)) => {
            let what = match &decoded.what {
                DecodedItem::Object { object, .. } => object.key().to_string(),
                DecodedItem::Error(bad) => format!("bad {}", bad.object.as_deref().unwrap_or_default()),
                other => format!("{other:?}"),
            };
            format!("put {what} {version}")
        }
        Ok(Line::Gone(key, uid, version)) => format!("gone {key} {uid} {version}"),
        Ok(Line::Bookmark(version, end)) => format!("bookmark {version} {end}"),
        Ok(Line::Error(failure)) => format!("error {:?} {failure}", failure.what),
        Err(failure) => failure.to_string(),
    };
    for (text, expected) in [
        (r#"{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"5"}}}"#, "put n 5"),
        (r#"{"type":"MODIFIED","object":{"metadata":{"name":"n","resourceVersion":"6"}}}"#, "put n 6"),
        (r#"{"type":"MODIFIED","object":{"metadata":{"name":"n","resourceVersion":"6"},"spec":[]}}"#, "put bad Node n 6"),
        (r#"{"type":"DELETED","object":{"metadata":{"name":"n","uid":"u","resourceVersion":"7"}}}"#, "gone n u 7"),
        (r#"{"type":"DELETED","object":{"kind":"Pod","metadata":{"name":"n","uid":"u"}}}"#, r#"the watch of nodes sent a "Pod""#),
        (r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n"}}}"#, r#"the watch of nodes sent a "Pod""#),
        (r#"{"type":"ADDED","object":{"kind":"Secret","metadata":{"name":"n"}}}"#, r#"the watch of nodes sent a "Secret""#),
        (r#"{"type":"MODIFIED","object":{"kind":"Status","code":500}}"#, r#"the watch of nodes sent a "Status""#),
        (r#"{"type":"ADDED","object":{"kind":"Node","apiVersion":"v2","metadata":{"name":"n","resourceVersion":"6"}}}"#, "put bad  6"),
        (r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"8"}}}"#, "bookmark 8 false"),
        (
            r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
            "bookmark 9 true",
        ),
        (
            r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}"#,
            "error Expired 410 Gone: too old resource version",
        ),
        (r#"{"type":"WHAT","object":{}}"#, r#"the watch sent an invalid line: {"type":"WHAT","object":{}}"#),
        ("<html>", "the watch sent an invalid line: <html>"),
    ] {
        let all: Vec<String> = lines(format!("{text}\n\n").as_bytes(), resource(Kind::Node), "v1").iter().map(words).collect();
        assert_eq!(all, [expected]);
    }
    let many = r#"{"type":"ADDED","object":{"metadata":{"name":"n","resourceVersion":"5"}}}"#.to_owned() + "\n";
    let many = many.repeat(SMALL / many.len() + 2);
    assert!(lines(many.as_bytes(), resource(Kind::Node), "v1").iter().all(|line| words(line) == "put n 5"));
}
