//! Tests of `known`.

use super::*;
use crate::release::Part;

#[test]
fn releases_are_listed_oldest_first() {
    assert!(PROFILES.windows(2).all(|pair| pair[0].release < pair[1].release && pair[0].since <= pair[1].since));
    assert!(PROFILES.iter().all(|p| !p.config_api_versions.is_empty()));
    let named = "1.11, 1.12, 1.20, 1.21, 1.22, 1.23, 1.24, 1.25, 1.26, 1.27, 1.28, 1.29, 1.30, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37";
    assert_eq!(supported(), named);
    assert_eq!(Profile::newest().release, Release::NEWEST);
    assert_eq!(Profile::named(&Release::NEWEST.to_string()), Some(Profile::newest()));
}

#[test]
fn every_version_has_a_release_that_answers_for_it() {
    for (version, profile, is) in [
        ("1.36", "v1.36.4", Match::Same),
        ("v1.36.0", "v1.36.2", Match::Same),
        ("1.36.9", "v1.36.4", Match::Same),
        ("1.37.1", "v1.37.0", Match::Same),
        ("1.38.0-alpha.2", "v1.37.0", Match::Older),
        ("1.40", "v1.37.0", Match::Older),
        ("1.5", "v1.11.1", Match::Newer),
        ("1.10.13", "v1.11.1", Match::Newer),
        ("1.11.1", "v1.11.1", Match::Same),
        ("1.12.10", "v1.12.0", Match::Same),
        ("1.17.4", "v1.12.0", Match::Older),
        ("1.18.2", "v1.20.15", Match::Newer),
        ("1.19", "v1.20.15", Match::Newer),
        ("1.20.1", "v1.20.15", Match::Same),
        ("1.26.8", "v1.26.8", Match::Same),
        ("1.27.99", "v1.27.16", Match::Same),
        ("1.28.1", "v1.28.3", Match::Same),
        ("1.28.5", "v1.28.5", Match::Same),
        ("1.28", "v1.28.15", Match::Same),
        ("1.30.1", "v1.30.1", Match::Same),
        ("v1.31.4-eks-a1b2c3", "v1.31.4", Match::Same),
        ("1.31", "v1.31.14", Match::Same),
    ] {
        let found = nearest(version.parse().unwrap());
        assert_eq!((found.profile.release.to_string().as_str(), found.is), (profile, is), "{version}");
    }
}

#[test]
fn patches_without_a_change_between_them_behave_alike() {
    let of = |version: &str| nearest(version.parse().unwrap()).profile;
    for [a, b] in [["1.31.1", "1.31.2"], ["1.31.3", "1.31.14"], ["1.30.2", "1.30.2"], ["1.28.12", "1.28.13"], ["1.32.2", "1.32"]] {
        assert!(of(a).behaves_like(of(b)) && of(a).behaviour == of(b).behaviour, "{a} {b}");
    }
    for [a, b] in [["1.31.2", "1.31.3"], ["1.26.8", "1.26.9"], ["1.27.5", "1.27.6"], ["1.28.5", "1.28.6"], ["1.29.0", "1.29.1"]] {
        assert!(!of(a).behaves_like(of(b)) && of(a).behaviour != of(b).behaviour, "{a} {b}");
    }
    assert!(PROFILES.chunk_by(Profile::behaves_like).all(|group| group.iter().all(|p| p.behaviour == group[0].behaviour)));
    let verified = |version: &str, parts: &[Part]| {
        let (patch, apart) = of(version).verified_as(parts);
        (patch.to_string(), apart)
    };
    let (decisions, all) = ([Part::Decisions], [Part::Decisions, Part::Queues]);
    assert_eq!(verified("1.31.1", &decisions), ("v1.31.1".to_owned(), 0));
    assert_eq!(verified("1.31.0", &decisions), ("v1.31.1".to_owned(), 1));
    assert_eq!(verified("1.31.14", &decisions), ("v1.31.14".to_owned(), 0));
    assert_eq!(verified("1.31.7", &decisions), ("v1.31.14".to_owned(), 0));
    assert_eq!(verified("1.31.14", &all), ("v1.31.14".to_owned(), 0));
    assert_eq!(verified("1.27.16", &all).0, "v1.27.1");
    assert_eq!(verified("1.26.15", &decisions), ("v1.26.9".to_owned(), 3));
    assert_eq!(verified("1.26.4", &decisions), ("v1.26.4".to_owned(), 0));
    assert_eq!(verified("1.25.10", &decisions), ("v1.25.10".to_owned(), 0));
    assert_eq!(verified("1.25.2", &decisions), ("v1.25.2".to_owned(), 0));
}

/// The data of a minor version is that of its checked patch, and the rows up to it lead there from the first known patch.
#[test]
fn the_changes_lead_from_the_first_patch_to_the_checked_one() {
    for minor in &MINORS {
        let checked = Profile::named(&minor.checked().to_string()).unwrap();
        assert_eq!(checked.behaviour, minor.data().behaviour, "{}", checked.release);
        assert!(minor.changes.is_sorted_by_key(|change| change.since), "{}", checked.release);
        let ends = minor.changes.iter().filter_map(|change| change.until);
        assert!(ends.into_iter().all(|end| minor.changes.iter().any(|other| other.since == end)), "{}", checked.release);
        assert!(minor.changes.iter().all(|change| change.since.same_minor(checked.release)), "{}", checked.release);
        assert!(minor.changes.iter().all(|change| change.about.ends_with('.')), "{}", checked.release);
    }
}

#[test]
fn neighbours_differ_and_say_what_no_case_covers() {
    assert!(Profile::all().windows(2).all(|pair| pair[0] != pair[1] && !pair[0].behaves_like(pair[1])));
    let not_verified = |version: &str| Profile::named(version).unwrap().not_verified().collect::<Vec<_>>();
    assert_eq!(not_verified("v1.36.2"), []);
    assert_eq!(not_verified("v1.37.0").len(), 4);
    assert_eq!(not_verified("v1.12.0"), [Part::Queues, Part::Configuration, Part::Extenders]);
    assert_eq!(not_verified("v1.31.1"), [Part::Configuration, Part::Extenders]);
    assert_eq!(not_verified("v1.28.3"), [Part::Queues, Part::Configuration, Part::Extenders]);
    assert_eq!(not_verified("v1.20.15"), [Part::Queues, Part::Configuration, Part::Extenders]);
    assert_eq!(not_verified("v1.26.15"), [Part::Queues, Part::Configuration, Part::Extenders]);
}

#[test]
fn pods_were_looked_for_in_the_queue_more_often_once() {
    for profile in PROFILES.iter().filter(|p| p.release >= v1_20::PROFILE.release) {
        let seconds = if profile.release < Release::patch(24, 0) { 60 } else { 300 };
        assert_eq!(profile.behaviour.queue.leftover.as_secs(), seconds, "{}", profile.release);
        // Any event moves a pod without a recorded rejecting plugin.
        assert_eq!(profile.behaviour.cycle.rejectors_noted, profile.release >= Release::patch(21, 0), "{}", profile.release);
        assert_eq!(profile.reads_policies(), profile.release < Release::patch(23, 0), "{}", profile.release);
    }
}

#[test]
fn a_release_is_found_by_its_exact_name() {
    assert_eq!(Profile::named("v1.36.2").map(|p| p.release), Some(Release::patch(36, 2)));
    assert_eq!(Profile::named("v1.31.7").map(|p| p.release), Some(Release::patch(31, 7)));
    assert_eq!(Profile::named("v1.36"), None);
    assert_eq!(Profile::named("1.36.2"), None);
}
