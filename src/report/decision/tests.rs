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
