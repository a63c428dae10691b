//! Behaviours of pod groups.

/// The named behaviours of pod groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupBehaviour {
    /// When a pod group takes its nodes.
    pub rule: GroupRule,
    /// Whether preemption by a single pod evicts a group that is disrupted as one as a whole, with pod groups on.
    pub are_victims: bool,
}

/// When a pod group takes its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRule {
    /// When Permit lets enough members pass. Members without a place are asked for preemption.
    Permit,
    /// When enough members have a place. The attempt ends as soon as too few can have one, and members are not asked for preemption.
    Feasible,
}
