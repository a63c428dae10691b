//! Live clusters, kubeconfigs and credential plugins.

use std::time::Duration;

limits! { "live":
    /// Decompressed length of a page of a list, or of an object; a longer answer is broken off.
    bytes PAGE: u64 = 128 << 20, "answers_without_end_are_broken_off";
    /// Decompressed length of the answers of `/version` and of discovery; a longer one is broken off.
    bytes SHORT_ANSWER: u64 = 8 << 20, "answers_without_end_are_broken_off";
    /// Bytes that an answer brings at least in the time in which a silent server counts as hung; a slower one is broken off.
    bytes SLOWEST: u64 = 1 << 10, "answers_that_drip_are_broken_off";
    /// Pages of a list in a row that bring no new object; the list is broken off after them.
    count PAGES_WITHOUT_NEW_ITEMS: usize = 3, "lists_that_go_in_circles_are_broken_off";
    /// Pages of one list; a longer one is broken off.
    count PAGES: usize = 2_000, "pages_and_lists_are_bounded_in_bytes_items_and_pages";
    /// The longest time that a server can ask for before the next try; it is tried again after it.
    time RETRY_AFTER: Duration = Duration::from_secs(60), "waits_double_to_a_limit_start_over_and_honour_what_the_server_asks_for";
    /// Time in which workloads, quotas and the events of others are listed for a question about a pod; those that come later are unknown.
    time NEIGHBORS: Duration = Duration::from_secs(2), "a_pod_waits_for_the_words_of_others_up_to_a_limit";
    /// The same for a question about workloads, a manifest, all pending pods or a capture.
    time NEIGHBORS_ASKED: Duration = Duration::from_secs(20), "a_kind_that_is_refused_or_late_is_unknown_and_the_rest_counts";
    /// Time after which workloads, quotas and the events of others are listed again while a cluster is followed.
    time NEIGHBORS_AGAIN: Duration = Duration::from_secs(60), "a_followed_cluster_lists_workloads_again";
    /// Objects of one kind, or events, that are listed for a question; a kind with more is unknown.
    count NEIGHBOR_ITEMS: usize = 200_000, "a_kind_with_too_many_objects_is_unknown";
    /// Versions of an API group in which a kind is looked for.
    count NEIGHBOR_VERSIONS: usize = 3, "a_kind_is_looked_for_in_the_versions_that_the_server_prefers";
    /// Length of a kubeconfig; a longer one is refused.
    bytes KUBECONFIG: u64 = 4 << 20, "credentials_that_cannot_be_sent_are_refused_without_being_shown";
    /// Length of a file with a token, key or certificate that a kubeconfig names; a longer one is refused, as is anything but a file.
    bytes CREDENTIAL_FILE: u64 = 4 << 20, "credentials_that_cannot_be_sent_are_refused_without_being_shown";
    /// Length of what a credential plugin prints; the rest is not read.
    bytes PLUGIN_ANSWER: u64 = 1 << 20, "a_plugin_whose_output_stays_open_ends";
    /// Time that the output of a credential plugin is read after the plugin has ended; what came until then counts.
    time PLUGIN_OUTPUT: Duration = Duration::from_secs(1), "a_plugin_whose_output_stays_open_ends";
    /// Time between the end of an overview of a cluster that changes and the start of the next; changes wait for it.
    time OVERVIEW_PAUSE: Duration = Duration::from_secs(2), "an_overview_of_a_cluster_that_changes_is_made_a_small_part_of_the_time";
    /// The pause after an overview of a cluster that changes, as a multiple of the time that it took; changes wait for it.
    count OVERVIEW_REST: u32 = 4, "an_overview_of_a_cluster_that_changes_is_made_a_small_part_of_the_time";
    /// Time after which the server's version is asked for again; an upgrade without a failed request is noticed after it.
    time VERSION_AGAIN: Duration = Duration::from_secs(300), "an_upgrade_of_the_server_changes_the_release_unless_it_is_pinned";
    /// Time for which the answer about a single object counts; after it, and after a change of the object, the server is asked again.
    time OBJECT_KEPT: Duration = Duration::from_secs(5), "an_object_is_asked_for_once_until_it_changes_or_the_answer_is_old";
    /// Answers about single objects that are kept; with more, those that have come are forgotten.
    count OBJECTS_KEPT: usize = 64, "few_answers_are_kept";
    /// Time of a credential plugin that cannot prompt; it is ended with its children after that, and there are no credentials.
    time PLUGIN: Duration = Duration::from_secs(60), "connecting_fails_with_words_that_help";
    /// Time to connect to an API server and to read its version; connecting fails after that.
    time CONNECT: Duration = Duration::from_secs(10), "a_version_without_end_fails_the_connection";
    /// Time to the start of an answer, and for each SLOWEST bytes of it; the request fails after that. Also the time of discovery as a
    /// whole, and the longest silence of a watch.
    time ANSWER: Duration = Duration::from_secs(45), "each_request_that_hangs_or_drips_is_named";
    /// Time until the initial state of a cluster is complete; kinds that are not read by then count as failed.
    time FIRST_LOAD: Duration = Duration::from_secs(600), "a_first_load_ends_in_time_without_what_is_missing";
    /// Requests for the initial state of a cluster; further ones fail.
    count FIRST_REQUESTS: u64 = 20_000, "requests_of_the_first_load_are_counted";
    /// Length of an answer that refuses a request; the rest is not read.
    bytes REFUSAL: u64 = 64 << 10, "a_refusal_without_end_is_cut";
    /// Length up to which answers, and objects in watches, are read at the same time; longer ones are read one after another.
    bytes SMALL_ANSWER: u64 = 1 << 20, "long_answers_are_read_one_after_another";
    /// Bytes of answers that came to nothing, less those that could be used since, over all kinds. An answer longer than SMALL_ANSWER may
    /// take half of what is left of them; a longer page is asked for again with fewer objects, and a kind that fails when nothing is
    /// left is asked for again after the longest pause.
    bytes UNUSABLE_ANSWERS: u64 = 32 << 20, "answers_that_come_to_nothing_share_a_bound";
    /// Objects of the smallest page that is asked for where pages are too long.
    count SMALLEST_PAGE: u32 = 10, "a_page_that_is_too_long_is_asked_for_with_fewer_objects";
    /// Unpacked length of an answer of any size, beyond which ANSWER_GROWTH counts; a longer one fails.
    bytes ANSWER_GROWTH_FREE: u64 = 4 << 20, "an_answer_that_unpacks_too_far_is_broken_off";
    /// Factor by which an answer may grow when it is unpacked, beyond ANSWER_GROWTH_FREE.
    count ANSWER_GROWTH: u64 = 100, "an_answer_that_unpacks_too_far_is_broken_off";
    /// Items of a page of a list; a page with more fails.
    count PAGE_ITEMS: usize = 200_000, "a_page_of_too_many_items_is_refused";
    /// Objects of a list or watch; it fails beyond that.
    count LIST_ITEMS: usize = 1_000_000, "pages_and_lists_are_bounded_in_bytes_items_and_pages";
    /// Length of all pages of a list, unpacked; a longer list fails.
    bytes LIST: u64 = 8 << 30, "pages_and_lists_are_bounded_in_bytes_items_and_pages";
    /// Objects of a list that cannot be read; a list with more fails.
    count UNREADABLE: usize = 10_000, "a_list_of_rubbish_is_given_up";
    /// Length of a continue token; a list with a longer one fails.
    bytes CONTINUE_TOKEN: usize = 16 << 10, "continue_tokens_that_repeat_or_grow_end_the_list";
    /// Length of an object in a watch; a watch that sends a longer one is opened again.
    bytes WATCHED_OBJECT: usize = 16 << 20, "an_object_without_end_ends_its_watch";
    /// Events that wait to be shown; beyond it, the oldest are dropped.
    count QUEUED_EVENTS: usize = 10_000, "order_is_that_of_arrival_and_events_are_bounded";
    /// Events of a cluster that are remembered; older ones would be reported again.
    count KNOWN_EVENTS: usize = 50_000, "old_events_are_forgotten";
    /// Characters of an answer that is not understood that are shown.
    count EXCERPT: usize = 120, "answers_are_sorted_and_reported_in_one_line";
    /// Length of a line, or of a value of several lines, of a scheduler's log; a longer one is passed on in parts.
    bytes LOG_VALUE: usize = 64 << 20, "a_value_that_is_too_long_is_passed_on_in_parts";
    /// Length of a scheduler's log when it is first read; a longer one fails.
    bytes LOG: u64 = 1 << 30, "a_log_without_end_is_given_up";
    /// Schedulers whose logs are read; further ones are not. A control plane has 3 to 5.
    count LOG_PODS: usize = 16, "logs_of_many_schedulers_are_not_all_read";
    /// Bytes of schedulers' logs that wait to be recorded; beyond it, lines are dropped and counted.
    bytes LOG_WAITING: usize = 64 << 20, "lines_that_wait_too_long_are_counted";
    /// Time of the first read of the schedulers' logs; the command fails after that.
    time LOG_READ: Duration = Duration::from_secs(90), "a_log_that_hangs_is_waited_for_up_to_a_limit";
    /// Silence of a followed log, after which it is asked for again: an idle scheduler logs nothing.
    time LOG_SILENCE: Duration = Duration::from_secs(600), "a_followed_log_that_is_silent_is_asked_for_again";
}
