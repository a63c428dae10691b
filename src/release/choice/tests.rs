//! Tests of `choice`.

use super::*;

fn emulated(version: &str, source: VersionSource) -> Emulated {
    let choice = ReleaseChoice { wanted: Some(FoundVersion { release: version.parse().unwrap(), source }), cluster: None };
    Emulated { profile: choice.profile(), choice }
}

#[test]
fn a_header_names_the_version_and_its_source() {
    let newest = Emulated::default();
    assert_eq!((newest.label(), newest.version()), ("v1.36".to_owned(), "v1.36".to_owned()));
    assert!(newest.because().starts_with("the newest verified version"));
    let same = emulated("v1.31.4-eks-a1b2c3", VersionSource::Kubelets);
    assert_eq!((same.label().as_str(), same.because().as_str()), ("v1.31.4 (kubelets)", "v1.31.4 is the version of its newest kubelet"));
    let newer = emulated("1.99", VersionSource::Flag);
    assert_eq!(newer.label(), "v1.37.0 for v1.99 (--emulate)");
    for (version, label) in [("1.31", "v1.31.14 (--emulate)"), ("1.31.99", "v1.31.14 for v1.31.99 (--emulate)")] {
        assert_eq!(emulated(version, VersionSource::Flag).label(), label);
    }
    for (version, words) in [
        ("1.99", "v1.99 was requested, which is newer than the newest supported version"),
        ("1.38.0-alpha.2", "v1.38.0 was requested, which is newer than the newest supported version"),
        ("1.17.4", "this is the closest supported version before it"),
        ("1.18.2", "this is the closest supported version after it"),
        ("1.5", "this is the oldest supported version"),
        ("1.31", "v1.31 was requested, and this is its last known patch"),
        ("1.31.99", "v1.31.99 was requested, and this is the closest known patch before it"),
        ("1.28.1", "v1.28.1 was requested, and this is the closest known patch after it"),
    ] {
        let because = emulated(version, VersionSource::Flag).because();
        assert!(because.ends_with(words), "{because}");
    }
}

#[test]
fn parts_without_cases_are_named_where_they_count() {
    let old = emulated("1.28.3", VersionSource::Server);
    assert_eq!(old.not_verified(&[Part::Decisions]), []);
    assert_eq!(old.not_verified(&[Part::Decisions, Part::Queues, Part::Extenders]), [Part::Queues, Part::Extenders]);
}

#[test]
fn the_release_follows_the_server_unless_it_is_pinned() {
    let (old, new): (Release, Release) = ("v1.31.4".parse().unwrap(), "v1.32.0".parse().unwrap());
    for (source, follows) in [
        (VersionSource::Server, true),
        (VersionSource::Kubelets, true),
        (VersionSource::Flag, false),
        (VersionSource::Command, false),
        (VersionSource::SchedulerLog, false),
    ] {
        let choice = ReleaseChoice::default().changed_to(old, source);
        let followed = choice.followed_to(new);
        assert_eq!(followed, follows.then(|| choice.changed_to(new, VersionSource::Server)), "{source:?}");
        assert_eq!(choice.followed_to(old), None, "{source:?}");
    }
    let found = ReleaseChoice::default().followed_to(new).unwrap();
    assert_eq!((found.wanted, found.cluster), (found.cluster, Some(FoundVersion { release: new, source: VersionSource::Server })));
}

#[test]
fn a_choice_is_written_and_read_back() {
    for text in ["v1.31.4", "v1.28"] {
        let choice = emulated(text, VersionSource::VersionFile).choice;
        let json = serde_json::to_string(&choice).unwrap();
        assert!(json.contains(r#""source":"version-file""#) && json.contains(text), "{json}");
        assert_eq!(serde_json::from_str::<ReleaseChoice>(&json).unwrap(), choice);
    }
    assert!(serde_json::from_str::<Release>("\"latest\"").is_err());
}
