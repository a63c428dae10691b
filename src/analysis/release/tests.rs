use super::*;
use crate::release::{FoundVersion, ReleaseChoice, VersionSource};

#[test]
fn an_answer_of_a_release_without_its_own_code_says_so() {
    let found = FoundVersion { release: "v1.37.1".parse().unwrap(), source: VersionSource::Server };
    let emulated = ReleaseChoice { wanted: Some(found), cluster: Some(found) }.emulated();
    let report = ReleaseReport::of(emulated, &[Part::Decisions]);
    let sentence = "kube-scheduler v1.37.0: v1.37.1 is the API server's version, and this is the closest known patch before it; \
                    not verified against its own code: decisions";
    assert_eq!(report.sentence(), sentence);
}

#[test]
fn configurations_of_the_last_patch_are_verified_as_those_of_another() {
    let found = FoundVersion { release: "v1.36.3".parse().unwrap(), source: VersionSource::Server };
    let emulated = ReleaseChoice { wanted: Some(found), cluster: Some(found) }.emulated();
    let report = ReleaseReport::of(emulated, &[Part::Decisions, Part::Queues, Part::Configuration]);
    let expected = "decisions are verified, the rest as v1.36.2, which differs by 1 known change";
    assert!(report.sentence().ends_with(expected), "{}", report.sentence());
}

/// The header of a live cluster shows the label, an answer the sentence.
#[test]
fn a_header_and_an_answer_name_the_same_patch_and_the_server() {
    for (server, patch, apart) in [
        ("v1.31.4-eks-a1b2c3", "v1.31.4", ""),
        ("v1.31.1", "v1.31.1", ""),
        ("v1.31.99", "v1.31.14", ""),
        ("v1.31.0", "v1.31.0", "; verified as v1.31.1, which differs by 1 known change"),
        ("v1.36.9", "v1.36.4", "; verified as v1.36.3, which differs by 2 known changes"),
        ("v1.99.0", "v1.37.0", "which is newer than the newest supported version"),
        ("v1.28.15", "v1.28.15", "; not verified: queues"),
        ("v1.26.15", "v1.26.15", "; verified as v1.26.9, which differs by 3 known changes; not verified: queues"),
    ] {
        let found = FoundVersion { release: server.parse().unwrap(), source: VersionSource::Server };
        let emulated = ReleaseChoice { wanted: Some(found), cluster: Some(found) }.emulated();
        let (label, report) = (emulated.label(), ReleaseReport::of(emulated, &[Part::Decisions, Part::Queues]));
        let asked = found.release.to_string();
        let expected = if asked == patch { format!("{patch} (server)") } else { format!("{patch} for {asked} (server)") };
        assert_eq!(label, expected);
        let begins = format!("kube-scheduler {patch}: {asked} is the API server's version");
        let decision = ReleaseReport::of(emulated, &[Part::Decisions]);
        assert_eq!(decision.sentence().contains("differs by"), apart.starts_with("; verified"), "{}", decision.sentence());
        assert!(report.sentence().starts_with(&begins) && report.sentence().contains(apart), "{}", report.sentence());
        assert_eq!(report.sentence().contains("differs by"), apart.contains("differs by"), "{}", report.sentence());
        assert_eq!((format!("v{}", report.emulates), report.cluster.map(|c| format!("v{c}"))), (patch.to_owned(), Some(asked)));
    }
}
