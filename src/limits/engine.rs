//! Steps of decisions, dry runs, fixes, odds and expressions.

limits! { "engine":
    /// Totals of scores that are computed for the odds over starting nodes in one pass; beyond it searches are counted one by one.
    steps ODDS_TOTALS: usize = 2_000_000, "odds_that_take_too_many_steps_are_not_computed";
    /// Nodes scored for the odds over starting nodes if searches are counted one by one and nobody asks for odds; beyond it they are
    /// not counted.
    steps ODDS_SCORED: usize = 20_000, "odds_of_many_starts_are_counted_when_asked_for";
    /// Nodes scored for the odds over starting nodes that are asked for; beyond it they are not counted. For a pod with a long spec it
    /// is less.
    steps ODDS_SCORED_ASKED: usize = 3_000_000, "odds_of_many_starts_are_counted_when_asked_for";
}
