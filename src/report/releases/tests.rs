//! Tests of `releases`.

use super::*;
use crate::release::Emulation;
use crate::scheduler::{Config, Options, Scheduler};

#[test]
fn details_that_differ_are_counted_by_what_they_are() {
    let sentence = |pods: &[&[&str]]| {
        let mut reworded = Reworded::default();
        for changed in pods {
            reworded.add(changed);
        }
        reworded.sentence().unwrap_or_default()
    };
    assert_eq!(sentence(&[&[]]), "");
    assert_eq!(sentence(&[&["message"], &[]]), "1 pod differs in details only: 1 in the message.");
    assert_eq!(
        sentence(&[&["message", "score"], &["score"], &["bestNodes"]]),
        "3 pods differ in details only: 1 in the message, 2 in scores, 1 in other details."
    );
}

#[test]
fn pods_that_are_not_decided_are_counted() {
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), Vec::new(), Options::default());
    let report = || ReleaseReport::of(scheduler.emulated(), &[]);
    let mut comparison = ReleaseComparison::new([report(), report()], ["1.36".into(), "1.35".into()], MissingKinds::default());
    let found = |comparison: &ReleaseComparison| {
        let text = comparison.text().to_string();
        (serde_json::to_value(comparison).unwrap().get("undecided").cloned(), text.contains("2 more pending pods are not decided: "))
    };
    assert_eq!(found(&comparison), (None, false));
    comparison.undecided = 2;
    assert_eq!(found(&comparison), (Some(2.into()), true));
}
