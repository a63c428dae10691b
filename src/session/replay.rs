//! Bounds what a session file may replay, before any of it is replayed.

use super::branch::Fork;
use super::revision::Action;
use crate::limits::sessions::{REPLAYED_EVENTS, REPLAYED_EVENTS_OF_OBJECT, REPLAYED_OPERATIONS, REPLAYED_REVISIONS};
use crate::scheduler::Operation;

/// A limit on the replay of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayLimit {
    /// There are more operations on all branches, those within others included.
    #[error("more than {0} operations are to be replayed")]
    Operations(usize),
    /// There are more revisions on all branches, shared ones counted on each.
    #[error("the branches have more than {0} revisions together")]
    Revisions(usize),
    /// There are more events on all branches, shared ones counted on each.
    #[error("the branches have more than {0} events together")]
    Events(usize),
}

/// The amounts that may still be replayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplayBudget {
    operations: usize,
    revisions: usize,
    events: usize,
    most_events: usize,
}

impl ReplayBudget {
    /// Returns the amounts for a session with a number of objects, of which each cycle may record some.
    pub(super) fn of(objects: usize) -> Self {
        let events = REPLAYED_EVENTS.saturating_add(objects.saturating_mul(REPLAYED_EVENTS_OF_OBJECT));
        Self { operations: REPLAYED_OPERATIONS, revisions: REPLAYED_REVISIONS, events, most_events: events }
    }

    /// Takes in a branch with its number of events.
    pub(super) fn take(&mut self, fork: Option<Fork>, actions: &[Action], events: usize) -> Result<(), ReplayLimit> {
        let operations = actions.iter().map(operations).fold(0, usize::saturating_add);
        let revisions = fork.map_or(0, |fork| fork.revisions).saturating_add(actions.len());
        self.operations = self.operations.checked_sub(operations).ok_or(ReplayLimit::Operations(REPLAYED_OPERATIONS))?;
        self.revisions = self.revisions.checked_sub(revisions).ok_or(ReplayLimit::Revisions(REPLAYED_REVISIONS))?;
        self.events = self.events.checked_sub(events).ok_or(ReplayLimit::Events(self.most_events))?;
        Ok(())
    }
}

/// Returns the number of operations of an action, itself included.
fn operations(action: &Action) -> usize {
    let mut found = 1_usize;
    let (Action::Apply(operation) | Action::WhatIf { operation, .. }) = action else { return found };
    let mut open = vec![operation];
    while let Some(operation) = open.pop() {
        if let Operation::Batch { operations, .. } = operation {
            found = found.saturating_add(operations.len());
            open.extend(operations);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(operations: Vec<Operation>) -> Operation {
        Operation::Batch { name: "b".into(), operations }
    }

    #[test]
    fn a_session_that_replays_too_much_is_refused() {
        let nested = Action::Apply(batch(vec![Operation::Schedule, batch(vec![Operation::Schedule, Operation::Schedule])]));
        assert_eq!(operations(&nested), 5);
        let what_if = Action::from(("drain n".parse::<crate::session::Verb>().unwrap(), batch(vec![Operation::Schedule])));
        assert_eq!(operations(&what_if), 2);
        assert_eq!(ReplayBudget::of(1000).events, REPLAYED_EVENTS + 1000 * REPLAYED_EVENTS_OF_OBJECT);
        let mut budget = ReplayBudget { operations: 6, revisions: 10, events: 100, most_events: 100 };
        let once = |budget: &mut ReplayBudget, actions: &[Action], revisions, events| {
            budget.take(Some(Fork { branch: 0, revisions }), actions, events)
        };
        assert_eq!(once(&mut budget, &[nested.clone(), Action::Apply(Operation::Schedule)], 3, 40), Ok(()));
        let left = budget;
        assert_eq!(once(&mut left.clone(), &[Action::Apply(Operation::Schedule)], 0, 0), Err(ReplayLimit::Operations(REPLAYED_OPERATIONS)));
        assert_eq!(once(&mut left.clone(), &[], 6, 0), Err(ReplayLimit::Revisions(REPLAYED_REVISIONS)));
        assert_eq!(once(&mut left.clone(), &[], 5, 61), Err(ReplayLimit::Events(100)));
        assert_eq!(once(&mut left.clone(), &[], 5, 60), Ok(()));
        assert_eq!(once(&mut left.clone(), &[], usize::MAX, 0), Err(ReplayLimit::Revisions(REPLAYED_REVISIONS)));
    }
}
