//! Tests of `decision`.

use super::*;
use crate::framework::Shortage;

#[test]
fn reasons_of_an_answer_are_listed_up_to_a_number() {
    let lacking = |number: usize| {
        let shortage = |at| Shortage { resource: format!("example.com/r{at}").into(), requested: 1, used: 0, capacity: 0 };
        Status::new(Code::Unschedulable, (0..number).map(|at| Reason::Insufficient(shortage(at))))
    };
    let (many, few) = (lacking(REASONS_LISTED / 2 + 1), lacking(REASONS_OF_NODE));
    let mut listed = ReasonList::new();
    let mut numbers = |status: &Status| {
        let (reasons, facts, left_out) = listed.of(status);
        assert_eq!((reasons.len(), reasons.len() + left_out), (facts.len(), status.reasons().len()));
        (reasons.len(), left_out)
    };
    assert_eq!(numbers(&many), (REASONS_LISTED / 2 + 1, 0));
    // A node beyond the number has some of its reasons, and one with few has all.
    assert_eq!(numbers(&many), (REASONS_OF_NODE, REASONS_LISTED / 2 + 1 - REASONS_OF_NODE));
    assert_eq!(numbers(&few), (REASONS_OF_NODE, 0));
}

#[test]
fn long_reasons_of_an_answer_count_by_their_length() {
    use crate::cluster::Requirement;
    use crate::framework::{NodeSelectorPart, UnmetRequirement};
    let of_values = |number: usize| {
        let values = (0..number).map(|at| format!("v{at:07}").into()).collect();
        let requirement = Arc::new(Requirement { key: "zone".into(), operator: "In".into(), values });
        let unmet = UnmetRequirement { part: NodeSelectorPart::MatchExpressions, requirement, found: None, terms: 1 };
        Status::new(Code::UnschedulableAndUnresolvable, [Reason::NodeAffinityMismatch { unmet: Some(Box::new(unmet)) }])
    };
    // About a third of the number, by its length.
    let (long, short) = (of_values(REASONS_LISTED), of_values(REASON_BYTES / 20));
    let mut listed = ReasonList::new();
    let mut numbers = |status: &Status| {
        let (reasons, facts, left_out) = listed.of(status);
        assert_eq!(reasons.len(), facts.len());
        (reasons.len(), left_out)
    };
    let found: Vec<(usize, usize)> = (0..4).map(|_| numbers(&long)).collect();
    assert_eq!(found, [(1, 0), (1, 0), (0, 1), (0, 1)], "a long one is listed while there is room");
    assert_eq!(numbers(&short), (1, 0), "a short one is listed after that");
}
