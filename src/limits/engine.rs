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
    /// Changes of the number of nodes with an image that are kept for nodes that have not changed since; older ones are forgotten.
    count IMAGE_COUNTS: usize = 100, "earlier_counts_of_an_image_are_bounded";
    /// Topology keys of nodes whose domains are kept on any number of nodes; those of others are found for each decision, unless
    /// TOPOLOGY_VALUES allows them.
    count TOPOLOGIES: usize = 16, "topologies_are_kept_up_to_a_number_and_absent_ones_are_one";
    /// Nodes times topology keys up to which the domains of further keys are kept.
    count TOPOLOGY_VALUES: usize = 1 << 20, "topologies_are_kept_up_to_a_number_and_absent_ones_are_one";
    /// Kinds of pods, by what they require of a node, about which the answers of nodes are kept in quiet runs; the one tried longest ago is forgotten.
    count EQUIVALENCE_CLASSES: usize = 16, "the_kind_of_pod_tried_longest_ago_is_forgotten";
    /// Answers of device selectors that one cycle keeps for its other nodes; further selectors are evaluated again on each node.
    count MAX_KNOWN_MATCHES: usize = 1 << 18, "answers_are_kept_up_to_a_limit_and_equal_beyond_it";
    /// Devices that are judged for one request when a node's rejection is explained; the rest are counted as not judged.
    count JUDGED_FOR_REQUEST: usize = 2_000, "devices_beyond_the_limits_are_counted_as_not_judged";
    /// Devices that are judged for all requests on one node, fewer where selectors are costly; the rest are counted as not judged.
    count JUDGED_ON_NODE: usize = 10_000, "devices_beyond_the_limits_are_counted_as_not_judged";
    /// Search steps for devices on one node in each second of `filterTimeout`; beyond the timeout the node ends with its error.
    steps DEVICE_STEPS_PER_SECOND: i64 = 500_000, "costly_selectors_use_up_the_filter_timeout";
    /// Decisions about one node that a comparison of two states takes again, without changes, to find those that explain it; the
    /// explanations of further pods are not searched, which the answer says.
    count DIFF_TRIALS: usize = 2_000, "explanations_are_searched_within_a_number_of_trials";
    /// Pods that became pending between two states whose decisions `--watch` takes; it names the others without.
    count WATCH_DECISIONS: usize = 200, "pods_of_other_namespaces_are_left_out_and_decisions_are_bounded";
    /// Bytes that the defaults of LimitRanges may add to a pod, as etcd's limit on requests; a larger pod is refused.
    bytes ADMITTED_POD_BYTES: usize = 3 << 19, "a_pod_that_defaults_make_too_large_is_refused";
    /// Violated bounds of a LimitRange that a refusal lists; it says that there are more.
    count BREACHES_LISTED: usize = 1_000, "violated_bounds_beyond_the_limit_are_not_listed";
    /// Copies of a pod that are placed one by one to count how many fit; more may fit.
    count CAPACITY_COPIES: usize = 10_000, "copies_of_pods_with_many_constraints_are_counted_up_to_fewer";
    /// Nodes times constraints that are asked about all copies that are placed one by one; more copies may fit.
    steps CAPACITY_STEPS: u64 = 5_000_000, "copies_of_pods_with_many_constraints_are_counted_up_to_fewer";
    /// Steps of all decisions about copies that are placed one by one to count how many fit; more copies may fit.
    steps CAPACITY_DECISION_STEPS: u64 = 20_000_000, "copies_are_counted_until_decisions_took_many_steps";
    /// Steps of all decisions of a search for fixes; the search ends, and says so.
    steps FIXES_STEPS: u64 = 16_000_000, "a_search_for_fixes_ends_after_a_number_of_steps";
    /// Steps that count for a decision of a search for fixes that ends with an error after a long search of a plugin.
    steps FIXES_STEPS_OF_ERROR: u64 = 10_000_000, "a_search_for_fixes_ends_after_a_number_of_steps";
    /// Steps of all decisions of the search for the fix of one cause of the overview; the search ends, and says so.
    steps OVERVIEW_FIX_STEPS: u64 = 4_000_000, "a_search_for_fixes_ends_after_a_number_of_steps";
    /// Members of a pod group times placements up to which the attempts of all placements are kept until one is taken; of more, the one
    /// that is taken is made again.
    count PLACED_MEMBERS_KEPT: usize = 10_000, "of_many_placements_the_one_that_is_taken_is_tried_again";
    /// Attempts of members of a pod group in all placements together; a group with more is not decided, which its error says.
    count PLACEMENT_ATTEMPTS: usize = 50_000, "a_group_of_very_many_placements_is_not_decided";
    /// Attempts by which PLACEMENT_ATTEMPTS grows for each node.
    count PLACEMENT_ATTEMPTS_OF_NODE: usize = 100, "a_group_of_very_many_placements_is_not_decided";
    /// Steps of the attempts of pod groups in a search for fixes, and in those of an overview together, on up to 1,000 nodes; they grow
    /// with the nodes up to ten times as many. Further fixes are not tried with the group, which the answer says.
    steps GROUP_STEPS: u64 = 7_000_000, "attempts_of_large_groups_are_bounded_over_all_causes";
    /// Resource claims of a pod that a search for fixes tries one by one; the search says that others are not tried.
    count JUDGED_CLAIMS: usize = 40, "claims_beyond_the_limit_are_not_tried";
    /// Words of others about one object that an answer lists, the newest of each speaker and reason before others; the rest is counted.
    count VOICES_OF_OBJECT: usize = 20, "words_beyond_the_limit_are_counted";
    /// Pods that a workload can be taken to want; a larger number counts as this one.
    count WANTED_PODS: usize = 10_000_000, "a_number_beyond_all_measure_is_cut";
    /// Pending pods of a workload that a search for fixes changes together with one of them; the rest are left out.
    count REACTING_SIBLINGS: usize = 10, "pods_of_one_template_are_changed_together_up_to_a_limit";
    /// Operations of a run in which controllers react to a fix; the fix counts as it is after them.
    steps REACTION_STEPS: usize = 400, "a_reaction_without_end_is_cut";
    /// Names of out-of-tree plugins in one process; an engine with a further one is refused.
    count OUT_OF_TREE_NAMES: usize = 8, "names_of_out_of_tree_plugins_are_kept_up_to_a_limit";
    /// Flushes of unschedulablePods, in one step of the clock, that move no pod; the later ones are passed over, as they move none either.
    count IDLE_FLUSHES: usize = 100, "gated_pods_do_not_hold_up_the_clock";
    /// Steps of a plugin's search above which an error counts FIXES_STEPS_OF_ERROR, and else nothing.
    steps FIXES_STEPS_OF_LONG_SEARCH: u64 = 200_000, "a_search_for_fixes_ends_after_a_number_of_steps";
    /// Copies of a pod that come one after another beyond those that fit, to find who is evicted for them; more are not tried.
    count FLOOD_PODS: usize = 1_000, "pods_that_keep_coming_are_bounded";
    /// NodePools, NodeClaims and node groups whose coming nodes are judged for a pod; the others are counted as not tried.
    count COMING_NODES: usize = 20, "trials_are_bounded";
    /// Nodes that do not exist yet that are tried for a pod; those beyond it are named as not tried.
    steps COMING_NODE_TRIALS: usize = 64, "trials_are_bounded";
    /// Pods that are made of the workloads of a manifest; the others are counted as not made.
    count MANIFEST_PODS: usize = 10_000, "a_manifest_of_two_billion_replicas_is_bounded";
    /// Bytes of the pods of a manifest as JSON, as far as each is longer than MANIFEST_POD; the others are counted as not made.
    bytes MANIFEST_BYTES: usize = 12 << 20, "long_pods_of_a_manifest_are_bounded";
    /// Length of a pod of a manifest as JSON up to which it does not count for MANIFEST_BYTES.
    bytes MANIFEST_POD: usize = 8 << 10, "long_pods_of_a_manifest_are_bounded";
    /// Workloads whose pods found no node, and of which a run does not try further pods until something changes; of those before them
    /// a pod is tried again.
    count RECENT_FAILURES: usize = 32, "the_failures_of_a_number_of_workloads_are_kept";
    /// Steps of all decisions about pods of a manifest and those that change with them, besides MANIFEST_STEPS_OF_OBJECT; pods that
    /// are left are counted as not decided, or as not created.
    steps MANIFEST_STEPS: u64 = 25_000_000, "decisions_about_a_manifest_end_after_a_number_of_steps";
    /// Steps by which MANIFEST_STEPS grows for each node and pod of the cluster.
    steps MANIFEST_STEPS_OF_OBJECT: u64 = 4_000, "decisions_about_a_manifest_end_after_a_number_of_steps";
    /// Steps of all attempts of a run until nothing changes, of the two runs of a what-if together, of a comparison with another release
    /// or with a scheduler's log, and of the trials for DIFF_TRIALS, besides RUN_STEPS_OF_OBJECT; pods that are left are said to be not decided, and the exit code
    /// is 3.
    steps RUN_STEPS: u64 = 25_000_000, "a_run_ends_after_a_number_of_steps";
    /// Steps by which RUN_STEPS grows for each node and pod of the cluster.
    steps RUN_STEPS_OF_OBJECT: u64 = 4_000, "a_run_ends_after_a_number_of_steps";
    /// Nodes and pods from which on RUN_STEPS grows with the square of their number, as the work on real clusters does: by
    /// RUN_STEPS_OF_PAIR for each further one with each of all.
    count RUN_SMALL: usize = 4_000, "clusters_of_any_size_settle_within_the_bound";
    /// The part of the steps of decisions that are recorded which decisions of other releases may take, where ours differs from what was
    /// reported; whether further releases agree is not tried, which the answer says.
    count RELEASES_SHARE: u64 = 8, "other_releases_are_tried_for_a_number_of_steps";
    /// Steps of RUN_STEPS that each step of two compared decisions counts for: these are recorded.
    steps RUN_STEPS_OF_COMPARED: u64 = 10, "pods_that_are_compared_are_bounded_by_steps";
    /// The same of each step of an attempt in a scheduler's log that is compared with our decision: the newest ones are, and the others are
    /// counted.
    steps RUN_STEPS_OF_ATTEMPT: u64 = 4, "attempts_of_a_log_are_compared_up_to_a_number_of_steps";
    /// The same of each step of a run whose operations are written one by one, and of a decision about one of all pending pods, as these
    /// are recorded. Both have half as many, and RUN_STEPS_OF_BYTE for each byte of the source; operations of `run --ops` that are left are not
    /// applied, and pods that are left are not decided.
    steps RUN_STEPS_OF_RECORDED: u64 = 6, "runs_that_are_written_are_bounded_by_steps";
    /// Steps that each byte of the source, unpacked, adds to those of a run whose operations are written, and of all pending pods.
    steps RUN_STEPS_OF_BYTE: u64 = 45, "runs_that_are_written_are_bounded_by_steps";
    /// Steps that each pod in the queues takes where these are written after an operation.
    steps RUN_STEPS_OF_ENTRY: u64 = 100, "runs_that_are_written_are_bounded_by_steps";
    /// Bytes of a source, unpacked, for each node or pod that counts for RUN_STEPS; smaller ones count in part.
    bytes RUN_BYTES_OF_OBJECT: u64 = 200, "clusters_of_any_size_settle_within_the_bound";
    /// Steps of a further node or pod with each of all.
    steps RUN_STEPS_OF_PAIR: u64 = 16, "clusters_of_any_size_settle_within_the_bound";
    /// Rounds in which the workloads of a manifest make pods that wait for others: ordinals and rollouts; the rest is not made.
    steps MANIFEST_ROUNDS: usize = 1_000, "rounds_of_ordered_pods_are_bounded";
    /// Pods of a manifest whose odds are counted where they are not asked for; those of the others are left out.
    count MANIFEST_ODDS: usize = 100, "odds_of_many_pods_are_counted_when_asked_for";
    /// Steps of the decisions from which these odds are counted, where they are asked for half of MANIFEST_STEPS; those of further pods
    /// are left out.
    steps MANIFEST_ODDS_STEPS: u64 = 3_000_000, "odds_that_take_many_steps_are_counted_when_asked_for";
    /// Reasons of rejections that an answer in JSON or YAML lists, of all nodes together; of a node beyond that it lists REASONS_OF_NODE, and
    /// the number of the others.
    count REASONS_LISTED: usize = 150_000, "reasons_of_an_answer_are_listed_up_to_a_number";
    /// Reasons that an answer lists of each node in any case.
    count REASONS_OF_NODE: usize = 16, "reasons_of_an_answer_are_listed_up_to_a_number";
    /// Bytes of the facts behind a reason up to which it counts as one of REASONS_LISTED. A longer one counts by its length, and beyond
    /// REASONS_LISTED it is not listed.
    bytes REASON_BYTES: usize = 512, "long_reasons_of_an_answer_count_by_their_length";
    /// Errors of a selector that its message names; the others are counted.
    count SELECTOR_ERRORS: usize = 1_000, "errors_of_a_selector_are_named_up_to_a_number";
    /// Values that a pod asks for times values on nodes that are compared for typos; of more none is taken for a typo.
    count TYPO_PAIRS: usize = 100_000, "a_typo_is_looked_for_among_a_number_of_values";
    /// Values of a requirement, zones of a volume or names of claims that the text of a reason lists; the others are counted.
    count FACT_VALUES: usize = 20, "facts_of_any_length_are_cut";
    /// Bytes of the text of the fact behind a reason; of a longer one the start is shown, with an ellipsis.
    bytes FACT_BYTES: usize = 1 << 10, "facts_of_any_length_are_cut";
    /// Different pods of a manifest that are decided again to say why they are pending; the others have the scheduler's message.
    count MANIFEST_DECISIONS: usize = 50, "decisions_about_pending_pods_are_bounded";
    /// Length of a configuration, the size limit of a ConfigMap; a longer one is refused.
    bytes CONFIG_BYTES: usize = 1 << 20, "what_would_take_long_is_refused";
    /// Length of a configuration with YAML's aliases, which expand to a multiple of their length; a longer one is refused.
    bytes CONFIG_WITH_ALIASES: usize = 8 << 10, "what_would_take_long_is_refused";
    /// Brackets open at once in a configuration; one with more is refused, as the parser's time grows with the square of the depth.
    count CONFIG_DEPTH: usize = 200, "what_would_take_long_is_refused";
    /// Values in a configuration, with what its aliases expand to; one with more is refused.
    count CONFIG_VALUES: usize = 100_000, "what_would_take_long_is_refused";
    /// Items of one list of a configuration; a longer one is an error, as validation compares them with each other.
    count CONFIG_ITEMS: usize = 2_000, "what_would_take_long_is_refused";
    /// Errors of a configuration that are listed; the others are left out, which the last line says.
    count CONFIG_ERRORS: usize = 500, "what_would_take_long_is_refused";
    /// Extenders of a configuration; one with more is refused, as each has its part in every decision.
    count EXTENDERS: usize = 64, "what_would_take_long_is_refused";
    /// Resources that all extenders of a configuration manage; one with more is refused, as each profile ignores them.
    count EXTENDER_RESOURCES: usize = 200, "what_would_take_long_is_refused";
    /// Errors of a configuration whose lines an engine's builder looks for; the others are without a line.
    count CONFIG_LINES: usize = 20, "lines_of_errors_in_a_configuration_are_found_up_to_a_limit";
    /// Orders of equal pods that are tried for the odds of one preemption; beyond it the odds are unknown, with the reason.
    steps VICTIM_ORDERS: u64 = 2_000, "too_many_orders_are_unknown_with_the_reason";
    /// Combinations of candidates that are counted for the odds of one preemption; beyond it the odds are unknown, with the reason.
    steps VICTIM_COMBINATIONS: usize = 512, "too_many_combinations_are_unknown_with_the_reason";
    /// Nodes times combinations that are counted for the odds of one preemption; beyond it the odds are unknown, with the reason.
    steps VICTIM_COUNTED: usize = 20_000, "too_many_combinations_are_unknown_with_the_reason";
    /// Steps of plugins' searches on all nodes together in a decision that is one of many, as those of a search for fixes; a node that
    /// takes more than its share ends with an error, unless SEARCH_STEPS_ON_NODE allows them.
    steps SEARCH_STEPS: u64 = 2_000_000, "a_decision_among_many_ends_after_steps_on_each_node";
    /// Steps of plugins' searches that a node may take at least in a decision that is one of many.
    steps SEARCH_STEPS_ON_NODE: u64 = 5_000, "a_decision_among_many_ends_after_steps_on_each_node";
    /// Steps of a decision of a search for fixes that each step of a plugin's search counts for, by the time that they take.
    steps FIXES_STEPS_OF_PLUGIN: u64 = 4, "a_search_for_fixes_ends_after_a_number_of_steps";
    /// Steps of a search for fixes that each value of an object counts for that a trial changes, by the time that writing and reading it takes.
    steps FIXES_STEPS_OF_VALUE: u64 = 8, "trials_on_large_objects_end_after_a_number_of_steps";
    /// Evaluations of selectors of devices that tell, in a search for fixes, how many devices a request selects and which claims hold
    /// them; beyond it that is not known.
    steps FIXES_EVALUATIONS: u64 = 300_000, "devices_that_take_many_evaluations_are_not_counted";
    /// Comparisons of what a pod asks of labels with the places of its volumes; contradictions that take more are not named.
    count PLACE_COMPARISONS: usize = 1_000_000, "contradictions_of_many_terms_are_not_searched";
    /// Values of objects that the patches of all demands of a pod may take to make; further ones are said to be left out.
    count FIXES_PATCH_VALUES: u64 = 200_000, "patches_of_many_demands_of_a_large_pod_are_left_out";
    /// Steps of a plugin's search that each node counts for where a demand of a pod is tried on its own, by the time that its filters take.
    steps FIXES_STEPS_OF_FILTER: u64 = 2, "demands_are_tried_on_their_own_up_to_a_number_of_steps";
    /// Steps that each node counts for in the attempt of a member of a pod group, which is scored.
    steps STEPS_OF_MEMBER: u64 = 10, "attempts_of_a_large_group_end_before_the_search_does";
}
