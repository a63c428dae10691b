use strum::IntoEnumIterator as _;

use super::*;
use crate::cluster::Requirement;

/// One reason of each kind with facts, in the text or besides it.
fn samples() -> Vec<Reason> {
    let key = || Key::new("d", "x");
    let shortage = Shortage { resource: "cpu".into(), requested: 6000, used: 13_900, capacity: 16_000 };
    vec![
        Reason::SchedulingGates { gates: vec!["a".into(), "b".into()].into() },
        Reason::UntoleratedTaint { taint: Taint { key: "dedicated".into(), value: "db".into(), effect: "NoSchedule".into() } },
        Reason::Insufficient(shortage),
        Reason::CsiDriverMissing { driver: "ebs".into() },
        Reason::ClaimLookupFailed { claim: key() },
        Reason::ClaimLost { claim: "c".into(), volume: "v".into() },
        Reason::ClaimNotOwned { claim: key(), pod: key() },
        Reason::DeviceClassNotFound { request: "gpu".into(), class: "c".into() },
        Reason::NotAmongNodes { plugins: vec![PluginName::NodeAffinity].into() },
        Reason::NoNodeLeftTogether { plugins: vec![PluginName::NodeAffinity, PluginName::VolumeBinding].into() },
        Reason::NoNodeLeftBy { plugin: PluginName::NodeAffinity },
    ]
}

#[test]
fn every_kind_has_one_row_and_every_row_its_kind() {
    for kind in ReasonKind::iter().filter(|k| *k != ReasonKind::Other) {
        assert_eq!(entries().iter().filter(|e| e.kind == kind).count(), 1, "{kind}");
    }
    // Texts that only older releases write have a note.
    let is_written = |w: &Wording| w.span.contains(Release::NEWEST) || w.note.is_some();
    assert!(entries().iter().all(|e| e.wordings.first().is_some_and(is_written)));
}

#[test]
fn what_is_written_is_read_back() {
    for reason in samples() {
        let text = reason.text(Release::NEWEST);
        let read = read_reason(&text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((read.kind, read.note), (reason.kind(), None), "{text}");
        assert_eq!(read.canonical(), text);
    }
    for entry in entries().iter().filter(|e| e.kind != ReasonKind::Preemption) {
        for wording in entry.wordings.iter().filter(|w| !w.template.is_empty() && template::is_plain(w.template)) {
            let read = read_reason(wording.template).expect("a known text");
            assert_eq!((read.kind, read.note), (entry.kind, wording.note), "{}", wording.template);
        }
    }
}

#[test]
fn other_words_of_other_releases_are_the_same_reason() {
    for (text, canonical) in [
        ("node(s) had untolerated taint {a: b}", "node(s) had untolerated taint(s)"),
        ("node(s) had taint {a: }, that the pod didn't tolerate", "node(s) had untolerated taint(s)"),
        ("node(s) didn't match node selector", "node(s) didn't match Pod's node affinity/selector"),
        ("node(s) had volume node affinity conflict", "node(s) didn't match PersistentVolume's node affinity"),
        ("Insufficient pods", "Too many pods"),
    ] {
        let read = read_reason(text).expect("a known text");
        assert!(read.note.is_some(), "{text}");
        assert_eq!(read.canonical(), canonical);
    }
    assert_eq!(read_reason("the moon was in the wrong phase"), None);
}

#[test]
fn facts_have_a_few_words() {
    let amount = |resource: &str, requested, used, capacity| {
        Reason::Insufficient(Shortage { resource: resource.into(), requested, used, capacity }).fact().expect("a fact")
    };
    assert_eq!(amount("cpu", 6000, 13_900, 16_000), "needs cpu 6, 2.1 free");
    assert_eq!(amount("cpu", 20_000, 13_900, 16_000), "needs cpu 20, 2.1 free of 16");
    assert_eq!(amount("memory", 8 << 30, 5 << 30, (8 << 30) + (300 << 20)), "needs memory 8Gi, 3.2Gi free");
    assert_eq!(amount("nvidia.com/gpu", 2, 3, 4), "needs nvidia.com/gpu 2, 1 free");
    assert_eq!(amount("cpu", 100, 4200, 4000), "needs cpu 0.1, none free (0.2 over its capacity)");
    let unmet = |operator: &str, values: &[&str], found: Option<&str>, terms| UnmetRequirement {
        part: if terms == 0 { NodeSelectorPart::NodeSelector } else { NodeSelectorPart::MatchExpressions },
        requirement: Requirement { key: "zone".into(), operator: operator.into(), values: values.iter().map(|v| (*v).into()).collect() }
            .into(),
        found: found.map(Into::into),
        terms,
    };
    let fact = |unmet| Reason::NodeAffinityMismatch { unmet: Some(Box::new(unmet)) }.fact().expect("a fact");
    assert_eq!(fact(unmet("In", &["c"], Some("a"), 0)), "has zone=a, not zone=c");
    assert_eq!(fact(unmet("In", &["b", "c"], None, 3)), "has no zone, not zone in (b, c) (nor 2 other terms)");
    let taint = Taint { key: "dedicated".into(), value: "db".into(), effect: "NoSchedule".into() };
    assert_eq!(Reason::UntoleratedTaint { taint }.fact().as_deref(), Some("has taint dedicated=db:NoSchedule"));
    let conflict = DomainConflict { topology_key: "host".into(), domain: "n".into(), with: Some(Key::new("shop", "web-0")) };
    assert_eq!(Reason::PodAntiAffinity(Box::new(conflict)).fact().as_deref(), Some("anti-affinity with shop/web-0"));
}

#[test]
fn facts_serialize_next_to_their_kind() {
    let json = |reason: &Reason| serde_json::to_string(reason).expect("plain data");
    let samples = samples();
    assert_eq!(json(&samples[1]), r#"{"kind":"untoleratedTaint","taint":{"key":"dedicated","value":"db","effect":"NoSchedule"}}"#);
    assert_eq!(json(&samples[2]), r#"{"kind":"insufficient","resource":"cpu","requested":"6","used":"13900m","capacity":"16"}"#);
    assert_eq!(json(&samples[4]), r#"{"kind":"claimLookupFailed","claim":"d/x"}"#);
    assert_eq!(json(&Reason::from("odd")), r#"{"kind":"other","text":"odd"}"#);
    assert_eq!(json(&Reason::NodeUnschedulable), r#"{"kind":"nodeUnschedulable"}"#);
}

#[test]
fn a_reason_is_small() {
    assert!(size_of::<Reason>() <= 40, "{}", size_of::<Reason>());
}

/// A pod that is gated by another of its group waits and proves as much as the other.
#[test]
fn a_gated_group_waits_and_misses_what_its_gated_pod_does() {
    let with = |reason: Reason| Reason::GroupGated { pod: Key::new("n", "other"), reasons: vec![reason] };
    assert!(with(Reason::PreemptionInProgress).waits_for_victims());
    assert!(with(with(Reason::GroupPreemptionInProgress)).waits_for_victims());
    assert!(!with(Reason::SchedulingGates { gates: SharedList::default() }).waits_for_victims());
    assert_eq!(with(Reason::PodGroupMissing { group: "g".into() }).missing_kinds(), [Kind::PodGroup]);
    assert!(with(Reason::PreemptionInProgress).missing_kinds().is_empty());
}

#[test]
fn facts_of_any_length_are_cut() {
    use crate::limits::engine::{FACT_BYTES, FACT_VALUES};
    let unmet = |key: &str, number: usize| {
        let values = (0..number).map(|at| format!("v{at}").into()).collect();
        let requirement = Requirement { key: key.into(), operator: "In".into(), values }.into();
        let unmet = UnmetRequirement { part: NodeSelectorPart::MatchExpressions, requirement, found: None, terms: 1 };
        Reason::NodeAffinityMismatch { unmet: Some(Box::new(unmet)) }
    };
    let whole = unmet("zone", FACT_VALUES).fact().unwrap();
    assert!(whole.ends_with(&format!(", v{})", FACT_VALUES - 1)), "{whole}");
    let more = unmet("zone", FACT_VALUES + 2).fact().unwrap();
    assert!(more.ends_with(&format!(", v{} and 2 more)", FACT_VALUES - 1)), "{more}");
    let long = unmet(&"ä".repeat(FACT_BYTES), 1);
    for text in [long.fact().unwrap(), long.brief().unwrap()] {
        assert!(text.ends_with("ä…") && text.len() <= FACT_BYTES + '…'.len_utf8(), "{}", text.len());
    }
}

#[test]
fn zones_are_read_from_a_label() {
    for (label, expected) in
        [("a", &["a"] as &[&str]), ("a__b__c", &["a", "b", "c"]), (" a __b", &["a", "b"]), ("", &[""]), ("a____b__", &["a", "", "b", ""])]
    {
        let zones = Zones::of(&label.into());
        assert_eq!(zones.iter().collect::<Vec<_>>(), expected, "{label}");
        assert_eq!((zones.count(), label.split("__").count()), (expected.len(), expected.len()));
        assert_eq!(serde_json::to_value(&zones).unwrap(), serde_json::json!(expected));
    }
}
