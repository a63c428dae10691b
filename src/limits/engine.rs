//! Steps of decisions, dry runs, fixes, odds and expressions.

limits! { "engine":
    /// Totals of scores that are computed for the odds over starting nodes in one pass; beyond it searches are counted one by one.
    steps ODDS_TOTALS: usize = 2_000_000, "odds_that_take_too_many_steps_are_not_computed";
    /// Nodes scored for the odds over starting nodes if searches are counted one by one and odds are not asked for; beyond it they
    /// are not counted.
    steps ODDS_SCORED: usize = 20_000, "odds_of_many_starts_are_counted_when_asked_for";
    /// Nodes scored for the odds over starting nodes that are asked for; beyond it they are not counted. For a pod with a long spec it
    /// is less.
    steps ODDS_SCORED_ASKED: usize = 3_000_000, "odds_of_many_starts_are_counted_when_asked_for";
    /// Answers of device selectors that one cycle keeps for its other nodes; further selectors are evaluated again on each node.
    count MAX_KNOWN_MATCHES: usize = 1 << 18, "answers_are_kept_up_to_a_limit_and_equal_beyond_it";
    /// Devices that are judged for one request when a node's rejection is explained; the rest are counted as not judged.
    count JUDGED_FOR_REQUEST: usize = 2_000, "devices_beyond_the_limits_are_counted_as_not_judged";
    /// Devices that are judged for all requests on one node, fewer where selectors are costly; the rest are counted as not judged.
    count JUDGED_ON_NODE: usize = 10_000, "devices_beyond_the_limits_are_counted_as_not_judged";
    /// Search steps for devices on one node in each second of `filterTimeout`; beyond the timeout the node ends with its error.
    steps DEVICE_STEPS_PER_SECOND: i64 = 500_000, "costly_selectors_use_up_the_filter_timeout";
    /// Pending pods of a workload that a search for fixes changes together with one of them; the rest are left out.
    count REACTING_SIBLINGS: usize = 10, "pods_of_one_template_are_changed_together_up_to_a_limit";
    /// Operations of a run in which controllers react to a fix; the fix counts as it is after them.
    steps REACTION_STEPS: usize = 400, "a_reaction_without_end_is_cut";
}
