//! The limits of what input from outside may cost: bytes, objects, requests, steps and time, in one table.
//!
//! Whatever reads a dump, a session, a log, a configuration, an answer of a server or of an extender, or what a user types, takes its
//! limit from here. Each file of this module holds the limits of one part of the program; [`all`] returns them in one list.
//! A test compares the table below with the list, and looks for the test that each row names;
//! `SCHEDSCOPE_UPDATE_LIMITS=1 cargo test --test engine limits` writes the table anew.
//!
//! <!-- limits -->
//! | limit | amount | about | test |
//! | --- | --- | --- | --- |
//! | [`sources::GROWTH`] | 100 | How many times its compressed size a file may grow, beyond what all files of a load may grow together; it ends there. | `what_goes_beyond_a_limit_ends_with_its_name` |
//! | [`sources::GROWTH_BEYOND`] | 32 MiB | Bytes by which all files of a load together may exceed their growth; a file that needs more ends there. | `what_goes_beyond_a_limit_ends_with_its_name` |
//! | [`sources::PATTERNS`] | 16 MiB | Length of the texts by which the pods of a load are recognised, each for metadata, specs and statuses; beyond it they are forgotten. | `patterns_take_bounded_memory` |
//! | [`sources::WATCHED_FILES`] | 10,000 | Files of a folder that `--watch` watches; a folder with more is refused. | `a_folder_of_too_many_files_is_not_watched` |
//! | [`sources::HIDDEN_FILES`] | 1,000 | Files of a hidden directory whose names are read, to tell whether a dump may be in it; the others are not considered. | `a_folder_in_part_is_reported_by_what_is_left_out` |
//! | [`sources::MANIFEST`] | 64 MiB | Bytes of the files of a manifest together; a longer one is refused. | `manifests_are_bounded` |
//! | [`sources::MANIFEST_OBJECTS`] | 10,000 | Objects of a manifest; one with more is refused. | `manifests_are_bounded` |
//! | [`sources::DECOMPRESSED`] | 64 GiB | Bytes that come out of compressed files of a load by default; a file that needs more ends there. | `what_goes_beyond_a_limit_ends_with_its_name` |
//! | [`sources::FILES`] | 1,000,000 | Files and members of archives that are opened in a load by default; the others are counted as not read. | `bombs_end_at_the_limit_and_the_rest_loads` |
//! | [`sources::OBJECT`] | 512 MiB | Length of an object; the file ends there. API servers reject objects of a few megabytes. | `an_object_without_end_ends_its_file` |
//! | [`sources::NAME`] | 1 KiB | Length of the name, the namespace or a label of an object; one with a longer one is an error. API servers accept 317 bytes. | `a_name_that_no_api_server_accepts_is_an_error` |
//! | [`sources::LIST_ENTRIES`] | 20,000 | Entries of one list of an object; an object with a longer one is refused by name, as are its fields of other types. An API server takes objects of 1.5 MiB. | `an_object_with_a_very_long_list_is_refused` |
//! | [`sources::ITEMS`] | 512 | Entries of lists of which API servers accept 32 or fewer: the devices of a claim, their conditions, the counters of a set, access modes; an object with more is an error. | `lists_that_no_api_server_accepts_are_errors` |
//! | [`sources::LISTS_WITHIN`] | 8 | Depth of lists within lists; a deeper one is an error. The stack is finite. | `lists_within_lists_are_read_up_to_a_depth` |
//! | [`sources::FLOW_DEPTH`] | 1,000 | Brackets open in YAML's flow style, and entries that begin on one line; an object with more is an error, as the parser would take quadratic time to say so. | `long_lines_and_deep_nesting_are_no_danger` |
//! | [`sources::ALIASES`] | 2 MiB | Bytes that YAML's aliases in an object may expand to, as they are estimated; an object with more is an error. | `aliases_that_expand_to_too_much_are_refused` |
//! | [`sources::VERSION_TEXT`] | 16 KiB | Length of a version among objects; a longer object without a kind is not searched for one. | `versions_are_found_in_their_files` |
//! | [`sources::ERRORS_OF_FILE`] | 50 | Errors of one file that are reported one by one; the others are counted. | `a_storm_of_errors_is_counted` |
//! | [`sources::ARCHIVES_WITHIN`] | 2 | Archives that an archive is inside of; one inside more is not opened, which an error says. | `archives_nest_one_level_and_no_more` |
//! | [`sources::UNPACK_WINDOW`] | 64 MiB | Bytes of the window of an xz or zstd stream, as their highest ordinary levels have it; the file of a stream with a larger one is not read. | `windows_of_streams_are_bounded` |
//! | [`sources::STDIN`] | 2 GiB | Bytes of standard input that are held in memory as a dump; longer input is not read. | `standard_input_is_read_up_to_a_length` |
//! | [`sources::COMPRESSIONS`] | 3 | Compressions of one stream within each other; what remains compressed is read as it is. | `compressions_within_each_other_are_undone_up_to_a_depth` |
//! | [`sources::TAR_PADDING`] | 1 MiB | Padding after the end of a tar that is read; the rest counts as other bytes that were not read. | `padding_is_read_up_to_a_length` |
//! | [`sources::TAR_EXTENSION`] | 64 KiB | Length of an extension header of a tar; a longer one is skipped. | `extensions_that_are_too_long_are_skipped` |
//! | [`sources::ZIP_IN_MEMORY`] | 256 MiB | Length of a zip that is held in memory, because it is compressed or inside another archive; a longer one is not read. | `a_stream_is_held_in_memory_up_to_a_length` |
//! | [`sources::LOG_FINDINGS`] | 200 | Findings about a scheduler's log that are kept; the others are counted. | `findings_are_kept_up_to_a_number` |
//! | [`sources::LOG_EVENTS`] | 8,000,000 | Attempts, changes, dumps and sights of a scheduler's log that are kept of each; the log ends there, which a finding says. | `a_log_of_too_many_events_ends_early` |
//! | [`sources::LOG_LINE`] | 16 MiB | Length of a line of a scheduler's log; a longer one is skipped, which a finding says. A dump of the cache is one line in JSON. | `a_line_without_end_costs_bounded_memory` |
//! | [`sources::LOG_LINES`] | 64 MiB | Length of a value of several lines in a scheduler's log; a longer one is skipped, which a finding says. | `a_value_of_too_many_lines_is_skipped` |
//! | [`sources::KEPT_UNPACKED`] | 128 MiB | Length of a compressed file, unpacked, that is kept once several of its objects or logs are read again; a longer one is unpacked for each. | `a_packed_file_is_kept_from_the_second_request_on` |
//! | [`sources::LOG_VALUES`] | 64 | Values that are kept of a line of a scheduler's log; the rest is passed over. | `values_of_a_line_are_kept_up_to_a_number` |
//! | [`sources::LOG_PREFIXES`] | 3 | Prefixes of a line of a scheduler's log that are removed, as those of `kubectl logs --prefix --timestamps`; further ones are text. | `prefixes_are_removed_up_to_a_number` |
//! | [`sources::LOG_WRITERS`] | 1,000 | Writers of one log that are distinguished; lines of others are passed over, which a finding says. | `writers_are_distinguished_up_to_a_number` |
//! | [`sources::ETCD_PAGE`] | 32 MiB | Bytes of a page of etcd's database with those that follow it; a longer one is an error, and its objects are missing. | `pages_that_are_too_long_are_named` |
//! | [`sources::ETCD_IN_MEMORY`] | 1 GiB | Bytes of a database of etcd that is compressed or in an archive, which must be in memory; a larger one is an error. | `a_database_in_an_archive_is_read_up_to_a_limit` |
//! | [`sources::ETCD_CHANGES`] | 1,000,000 | Changes of etcd's database that are kept for its history, which begins later where there are more. | `a_history_keeps_the_last_changes` |
//! | [`sources::ETCD_PREFIX_PARTS`] | 8 | Slashes in the prefix of a cluster in etcd's database; keys below a deeper one are of none. | `prefixes_are_found_up_to_a_depth` |
//! | [`sources::JOURNAL_FRAME`] | 512 MiB | Bytes of a frame of a journal, compressed; a longer one is damage, and a recorder writes none. | `a_segment_of_starts_is_checked_in_bounded_time` |
//! | [`sources::JOURNAL_SEGMENT`] | 1 GiB | Bytes of a segment of a journal; the rest of a longer one is not read, which is said. | `a_segment_is_read_up_to_a_length` |
//! | [`sources::JOURNAL_SEGMENTS`] | 100,000 | Segments of a journal; one with more is not read. | `a_journal_of_too_many_segments_is_refused` |
//! | [`sources::JOURNAL_EVENTS`] | 20,000 | Events that a recorder keeps; older ones are forgotten. | `events_are_kept_up_to_a_number` |
//! | [`sources::JOURNAL_LINE`] | 32 MiB | Bytes of a line of a journal; a longer one is damage. | `a_line_without_end_is_damage` |
//! | [`sources::JOURNAL_GAPS`] | 100 | Gaps of a journal that are kept for one answer; the others are counted. | `gaps_are_kept_up_to_a_number` |
//! | [`sources::JOURNAL_LOG_FRAME`] | 16 MiB | Bytes of the schedulers' log that a recorder writes at once, each second; it counts what is beyond, which reading says. | `a_log_that_is_too_much_at_once_is_counted` |
//! | [`sources::JOURNAL_LOG`] | 64 MiB | Bytes of the schedulers' log before a moment of a journal that are read, the newest. | `the_newest_part_of_a_log_is_read` |
//! | [`live::PAGE`] | 128 MiB | Decompressed length of a page of a list, or of an object; a longer answer is broken off. | `answers_without_end_are_broken_off` |
//! | [`live::SHORT_ANSWER`] | 8 MiB | Decompressed length of the answers of `/version` and of discovery; a longer one is broken off. | `answers_without_end_are_broken_off` |
//! | [`live::SLOWEST`] | 1 KiB | Bytes that an answer brings at least in the time in which a silent server counts as hung; a slower one is broken off. | `answers_that_drip_are_broken_off` |
//! | [`live::PAGES_WITHOUT_NEW_ITEMS`] | 3 | Pages of a list in a row that bring no new object; the list is broken off after them. | `lists_that_go_in_circles_are_broken_off` |
//! | [`live::PAGES`] | 2,000 | Pages of one list; a longer one is broken off. | `pages_and_lists_are_bounded_in_bytes_items_and_pages` |
//! | [`live::RETRY_AFTER`] | 60s | The longest time that a server can ask for before the next try; it is tried again after it. | `waits_double_to_a_limit_start_over_and_honour_what_the_server_asks_for` |
//! | [`live::NEIGHBORS`] | 2s | Time in which workloads, quotas and the events of others are listed for a question about a pod; those that come later are unknown. | `a_pod_waits_for_the_words_of_others_up_to_a_limit` |
//! | [`live::NEIGHBORS_ASKED`] | 20s | The same for a question about workloads, a manifest, all pending pods or a capture. | `a_kind_that_is_refused_or_late_is_unknown_and_the_rest_counts` |
//! | [`live::NEIGHBORS_AGAIN`] | 60s | Time after which workloads, quotas and the events of others are listed again while a cluster is followed. | `a_followed_cluster_lists_workloads_again` |
//! | [`live::NEIGHBOR_ITEMS`] | 200,000 | Objects of one kind, or events, that are listed for a question; a kind with more is unknown. | `a_kind_with_too_many_objects_is_unknown` |
//! | [`live::NEIGHBOR_VERSIONS`] | 3 | Versions of an API group in which a kind is looked for. | `a_kind_is_looked_for_in_the_versions_that_the_server_prefers` |
//! | [`live::KUBECONFIG`] | 4 MiB | Length of a kubeconfig; a longer one is refused. | `credentials_that_cannot_be_sent_are_refused_without_being_shown` |
//! | [`live::CREDENTIAL_FILE`] | 4 MiB | Length of a file with a token, key or certificate that a kubeconfig names; a longer one is refused, as is anything but a file. | `credentials_that_cannot_be_sent_are_refused_without_being_shown` |
//! | [`live::PLUGIN_ANSWER`] | 1 MiB | Length of what a credential plugin prints; the rest is not read. | `a_plugin_whose_output_stays_open_ends` |
//! | [`live::PLUGIN_OUTPUT`] | 1s | Time that the output of a credential plugin is read after the plugin has ended; what came until then counts. | `a_plugin_whose_output_stays_open_ends` |
//! | [`live::OVERVIEW_PAUSE`] | 2s | Time between the end of an overview of a cluster that changes and the start of the next; changes wait for it. | `an_overview_of_a_cluster_that_changes_is_made_a_small_part_of_the_time` |
//! | [`live::OVERVIEW_REST`] | 4 | The pause after an overview of a cluster that changes, as a multiple of the time that it took; changes wait for it. | `an_overview_of_a_cluster_that_changes_is_made_a_small_part_of_the_time` |
//! | [`live::VERSION_AGAIN`] | 300s | Time after which the server's version is asked for again; an upgrade without a failed request is noticed after it. | `an_upgrade_of_the_server_changes_the_release_unless_it_is_pinned` |
//! | [`live::OBJECT_KEPT`] | 5s | Time for which the answer about a single object counts; after it, and after a change of the object, the server is asked again. | `an_object_is_asked_for_once_until_it_changes_or_the_answer_is_old` |
//! | [`live::OBJECTS_KEPT`] | 64 | Answers about single objects that are kept; with more, those that have come are forgotten. | `few_answers_are_kept` |
//! | [`live::PLUGIN`] | 60s | Time of a credential plugin that cannot prompt; it is ended with its children after that, and there are no credentials. | `connecting_fails_with_words_that_help` |
//! | [`live::CONNECT`] | 10s | Time to connect to an API server and to read its version; connecting fails after that. | `a_version_without_end_fails_the_connection` |
//! | [`live::ANSWER`] | 45s | Time to the start of an answer, and for each SLOWEST bytes of it; the request fails after that. Also the time of discovery as a whole, and the longest silence of a watch. | `each_request_that_hangs_or_drips_is_named` |
//! | [`live::FIRST_LOAD`] | 600s | Time until the initial state of a cluster is complete; kinds that are not read by then count as failed. | `a_first_load_ends_in_time_without_what_is_missing` |
//! | [`live::FIRST_REQUESTS`] | 20,000 | Requests for the initial state of a cluster; further ones fail. | `requests_of_the_first_load_are_counted` |
//! | [`live::REFUSAL`] | 64 KiB | Length of an answer that refuses a request; the rest is not read. | `a_refusal_without_end_is_cut` |
//! | [`live::SMALL_ANSWER`] | 1 MiB | Length up to which answers, and objects in watches, are read at the same time; longer ones are read one after another. | `long_answers_are_read_one_after_another` |
//! | [`live::UNUSABLE_ANSWERS`] | 32 MiB | Bytes of answers that came to nothing, less those that could be used since, over all kinds. An answer longer than SMALL_ANSWER may take half of what is left of them; a longer page is asked for again with fewer objects, and a kind that fails when nothing is left is asked for again after the longest pause. | `answers_that_come_to_nothing_share_a_bound` |
//! | [`live::SMALLEST_PAGE`] | 10 | Objects of the smallest page that is asked for where pages are too long. | `a_page_that_is_too_long_is_asked_for_with_fewer_objects` |
//! | [`live::ANSWER_GROWTH_FREE`] | 4 MiB | Unpacked length of an answer of any size, beyond which ANSWER_GROWTH counts; a longer one fails. | `an_answer_that_unpacks_too_far_is_broken_off` |
//! | [`live::ANSWER_GROWTH`] | 100 | Factor by which an answer may grow when it is unpacked, beyond ANSWER_GROWTH_FREE. | `an_answer_that_unpacks_too_far_is_broken_off` |
//! | [`live::PAGE_ITEMS`] | 200,000 | Items of a page of a list; a page with more fails. | `a_page_of_too_many_items_is_refused` |
//! | [`live::LIST_ITEMS`] | 1,000,000 | Objects of a list or watch; it fails beyond that. | `pages_and_lists_are_bounded_in_bytes_items_and_pages` |
//! | [`live::LIST`] | 8 GiB | Length of all pages of a list, unpacked; a longer list fails. | `pages_and_lists_are_bounded_in_bytes_items_and_pages` |
//! | [`live::UNREADABLE`] | 10,000 | Objects of a list that cannot be read; a list with more fails. | `a_list_of_rubbish_is_given_up` |
//! | [`live::CONTINUE_TOKEN`] | 16 KiB | Length of a continue token; a list with a longer one fails. | `continue_tokens_that_repeat_or_grow_end_the_list` |
//! | [`live::WATCHED_OBJECT`] | 16 MiB | Length of an object in a watch; a watch that sends a longer one is opened again. | `an_object_without_end_ends_its_watch` |
//! | [`live::QUEUED_EVENTS`] | 10,000 | Events that wait to be shown; beyond it, the oldest are dropped. | `order_is_that_of_arrival_and_events_are_bounded` |
//! | [`live::KNOWN_EVENTS`] | 50,000 | Events of a cluster that are remembered; older ones would be reported again. | `old_events_are_forgotten` |
//! | [`live::EXCERPT`] | 120 | Characters of an answer that is not understood that are shown. | `answers_are_sorted_and_reported_in_one_line` |
//! | [`live::LOG_VALUE`] | 64 MiB | Length of a line, or of a value of several lines, of a scheduler's log; a longer one is passed on in parts. | `a_value_that_is_too_long_is_passed_on_in_parts` |
//! | [`live::LOG`] | 1 GiB | Length of a scheduler's log when it is first read; a longer one fails. | `a_log_without_end_is_given_up` |
//! | [`live::LOG_PODS`] | 16 | Schedulers whose logs are read; further ones are not. A control plane has 3 to 5. | `logs_of_many_schedulers_are_not_all_read` |
//! | [`live::LOG_WAITING`] | 64 MiB | Bytes of schedulers' logs that wait to be recorded; beyond it, lines are dropped and counted. | `lines_that_wait_too_long_are_counted` |
//! | [`live::LOG_READ`] | 90s | Time of the first read of the schedulers' logs; the command fails after that. | `a_log_that_hangs_is_waited_for_up_to_a_limit` |
//! | [`live::LOG_SILENCE`] | 600s | Silence of a followed log, after which it is asked for again: an idle scheduler logs nothing. | `a_followed_log_that_is_silent_is_asked_for_again` |
//! | [`extenders::LARGEST_ANSWER`] | 128 MiB | Length of one answer; a longer one is an error of the call. All nodes of a large cluster, as the API server has them, are less. | `an_answer_that_is_too_large_is_given_up` |
//! | [`extenders::ANSWER_VALUES`] | 4,000,000 | Number of values in one answer; more are an error of the call. | `an_answer_of_too_many_values_is_refused` |
//! | [`extenders::ANSWERS`] | 512 MiB | Length of all answers of one run; the calls after that fail without being made. | `calls_fail_once_the_answers_are_too_long_in_all` |
//! | [`extenders::PROXY_HEAD`] | 16 KiB | Length of a proxy's answer to `CONNECT`; a longer one is an error of the call. | `a_proxy_without_end_is_an_error` |
//! | [`extenders::CERTIFICATE_FILE`] | 4 MiB | Length of a file with a certificate or key; the rest is not read. Anything but a regular file is an error of the call. | `a_certificate_that_is_no_file_is_an_error` |
//! | [`extenders::RECORDING`] | 256 MiB | Length of a recording of answers; a longer one is refused, as is anything but a regular file. | `a_recording_that_never_ends_is_refused` |
//! | [`extenders::ANSWER_ITEMS`] | 200,000 | Number of values in one list or object of an answer; more are an error of the call. Clusters have at most thousands of nodes. | `an_answer_of_too_many_values_is_refused` |
//! | [`extenders::ANSWER_NODES`] | 1,000 | Nodes that an answer may have beyond those that it was asked about; more are an error of the call. | `an_answer_of_more_nodes_than_were_asked_about_is_refused` |
//! | [`extenders::ANSWER_DEPTH`] | 10,000 | Depth of values within values of an answer; a deeper one is an error of the call, as in kube-scheduler. | `errors_are_in_the_words_of_go` |
//! | [`sessions::CONFIGURATION`] | 2 MiB | Length of a scheduler configuration; a longer one is refused, as is anything but a file or a shell's pipe. | `files_that_never_end_are_refused` |
//! | [`sessions::OPERATIONS`] | 256 MiB | Length of the operations of `run --ops`; longer ones are refused, as is anything but a file or a shell's pipe. | `files_that_never_end_are_refused` |
//! | [`sessions::LONGEST_VALUE`] | 256 MiB | Length of one value of a session file; a longer one is refused. | `a_value_beyond_the_limit_is_refused` |
//! | [`sessions::UNPACKED`] | 4 MiB | Decompressed length of a session file of any size, beyond which UNPACKED_GROWTH counts; a longer one is refused. | `a_bomb_is_refused` |
//! | [`sessions::UNPACKED_GROWTH`] | 64 | Factor by which a session file may grow when it is decompressed, beyond UNPACKED. | `a_bomb_is_refused` |
//! | [`sessions::NODES_ADDED`] | 1,000 | Nodes that the what-if `add` adds at most; more are refused. | `what_is_no_verb_is_said` |
//! | [`sessions::REPLICAS`] | 10,000 | Pods to which the what-if `scale` scales at most; more are refused. | `what_is_no_verb_is_said` |
//! | [`sessions::REPLAYED_OPERATIONS`] | 200,000 steps | Operations that a session file replays, those within others included; a file with more is refused. | `a_session_that_replays_too_much_is_refused` |
//! | [`sessions::REPLAYED_REVISIONS`] | 1,000,000 | Revisions on all branches of a session file, shared ones counted on each; a file with more is refused. | `a_session_that_replays_too_much_is_refused` |
//! | [`sessions::REPLAYED_EVENTS`] | 4,000,000 | Events on all branches of a session file, shared ones counted on each; a file with more is refused. | `a_session_that_replays_too_much_is_refused` |
//! | [`sessions::REPLAYED_EVENTS_OF_OBJECT`] | 150 | Events by which REPLAYED_EVENTS grows for each object of the session. | `a_session_that_replays_too_much_is_refused` |
//! | [`sessions::JOURNAL_CHANGES`] | 20,000 | Changes of a journal that the timeline shows; those after them are not shown, which a notice says. | `a_window_is_bounded` |
//! | [`sessions::ATTEMPTS_COMPARED`] | 12 | Attempts of the cluster's scheduler about a pod that are compared with our decision on the state of their moment, the newest; the others are counted. | `the_newest_attempts_are_compared` |
//! | [`sessions::LOG_RELEASES_OBJECTS`] | 100,000 | Objects that schedulers of other releases load for the attempts of a log that differ from our decision; no other release is tried for those after them, which their words say. | `other_releases_are_tried_for_a_number_of_objects` |
//! | [`sessions::RUN_EVENTS`] | 600,000 | Events that a run in the explorer (`S`, `r`, `u`) records before it stops and says so, besides one for each RUN_BYTES_OF_EVENT of the source; the key goes on from there. They take 75 to 200 bytes each. | `a_run_in_the_explorer_stops_after_a_number_of_events` |
//! | [`sessions::RUN_BYTES_OF_EVENT`] | 100 bytes | Bytes of the source, unpacked, for each further event of RUN_EVENTS. | `a_run_in_the_explorer_stops_after_a_number_of_events` |
//! | [`sessions::JOURNAL_REVISIONS`] | 300 | Revisions that the timeline of a journal has, about; changes of several seconds share one where there are more. | `a_window_is_bounded` |
//! | [`sessions::METRICS_REQUEST`] | 8 KiB | Bytes of a request for the recorder's metrics; a longer one is not answered. | `a_request_without_end_is_not_answered` |
//! | [`sessions::METRICS_CLIENTS`] | 16 | Clients of the recorder's metrics that are answered at once; with another one, the connection of the first is closed. | `idle_clients_do_not_keep_others_from_the_metrics` |
//! | [`engine::ODDS_TOTALS`] | 2,000,000 steps | Totals of scores that are computed for the odds over starting nodes in one pass; beyond it searches are counted one by one. | `odds_that_take_too_many_steps_are_not_computed` |
//! | [`engine::ODDS_SCORED`] | 20,000 steps | Nodes scored for the odds over starting nodes if searches are counted one by one and odds are not asked for; beyond it they are not counted. | `odds_of_many_starts_are_counted_when_asked_for` |
//! | [`engine::ODDS_SCORED_ASKED`] | 3,000,000 steps | Nodes scored for the odds over starting nodes that are asked for; beyond it they are not counted. For a pod with a long spec it is less. | `odds_of_many_starts_are_counted_when_asked_for` |
//! | [`engine::IMAGE_COUNTS`] | 100 | Changes of the number of nodes with an image that are kept for nodes that have not changed since; older ones are forgotten. | `earlier_counts_of_an_image_are_bounded` |
//! | [`engine::TOPOLOGIES`] | 16 | Topology keys of nodes whose domains are kept on any number of nodes; those of others are found for each decision, unless TOPOLOGY_VALUES allows them. | `topologies_are_kept_up_to_a_number_and_absent_ones_are_one` |
//! | [`engine::TOPOLOGY_VALUES`] | 1,048,576 | Nodes times topology keys up to which the domains of further keys are kept. | `topologies_are_kept_up_to_a_number_and_absent_ones_are_one` |
//! | [`engine::EQUIVALENCE_CLASSES`] | 16 | Kinds of pods, by what they require of a node, about which the answers of nodes are kept in quiet runs; the one tried longest ago is forgotten. | `the_kind_of_pod_tried_longest_ago_is_forgotten` |
//! | [`engine::MAX_KNOWN_MATCHES`] | 262,144 | Answers of device selectors that one cycle keeps for its other nodes; further selectors are evaluated again on each node. | `answers_are_kept_up_to_a_limit_and_equal_beyond_it` |
//! | [`engine::JUDGED_FOR_REQUEST`] | 2,000 | Devices that are judged for one request when a node's rejection is explained; the rest are counted as not judged. | `devices_beyond_the_limits_are_counted_as_not_judged` |
//! | [`engine::JUDGED_ON_NODE`] | 10,000 | Devices that are judged for all requests on one node, fewer where selectors are costly; the rest are counted as not judged. | `devices_beyond_the_limits_are_counted_as_not_judged` |
//! | [`engine::DEVICE_STEPS_PER_SECOND`] | 500,000 steps | Search steps for devices on one node in each second of `filterTimeout`; beyond the timeout the node ends with its error. | `costly_selectors_use_up_the_filter_timeout` |
//! | [`engine::DIFF_TRIALS`] | 2,000 | Decisions about one node that a comparison of two states takes again, without changes, to find those that explain it; the explanations of further pods are not searched, which the answer says. | `explanations_are_searched_within_a_number_of_trials` |
//! | [`engine::WATCH_DECISIONS`] | 200 | Pods that became pending between two states whose decisions `--watch` takes; it names the others without. | `pods_of_other_namespaces_are_left_out_and_decisions_are_bounded` |
//! | [`engine::ADMITTED_POD_BYTES`] | 1536 KiB | Bytes that the defaults of LimitRanges may add to a pod, as etcd's limit on requests; a larger pod is refused. | `a_pod_that_defaults_make_too_large_is_refused` |
//! | [`engine::BREACHES_LISTED`] | 1,000 | Violated bounds of a LimitRange that a refusal lists; it says that there are more. | `violated_bounds_beyond_the_limit_are_not_listed` |
//! | [`engine::CAPACITY_COPIES`] | 10,000 | Copies of a pod that are placed one by one to count how many fit; more may fit. | `copies_of_pods_with_many_constraints_are_counted_up_to_fewer` |
//! | [`engine::CAPACITY_STEPS`] | 5,000,000 steps | Nodes times constraints that are asked about all copies that are placed one by one; more copies may fit. | `copies_of_pods_with_many_constraints_are_counted_up_to_fewer` |
//! | [`engine::CAPACITY_DECISION_STEPS`] | 20,000,000 steps | Steps of all decisions about copies that are placed one by one to count how many fit; more copies may fit. | `copies_are_counted_until_decisions_took_many_steps` |
//! | [`engine::FIXES_STEPS`] | 16,000,000 steps | Steps of all decisions of a search for fixes; the search ends, and says so. | `a_search_for_fixes_ends_after_a_number_of_steps` |
//! | [`engine::FIXES_STEPS_OF_ERROR`] | 10,000,000 steps | Steps that count for a decision of a search for fixes that ends with an error after a long search of a plugin. | `a_search_for_fixes_ends_after_a_number_of_steps` |
//! | [`engine::OVERVIEW_FIX_STEPS`] | 4,000,000 steps | Steps of all decisions of the search for the fix of one cause of the overview; the search ends, and says so. | `a_search_for_fixes_ends_after_a_number_of_steps` |
//! | [`engine::PLACED_MEMBERS_KEPT`] | 10,000 | Members of a pod group times placements up to which the attempts of all placements are kept until one is taken; of more, the one that is taken is made again. | `of_many_placements_the_one_that_is_taken_is_tried_again` |
//! | [`engine::PLACEMENT_ATTEMPTS`] | 50,000 | Attempts of members of a pod group in all placements together; a group with more is not decided, which its error says. | `a_group_of_very_many_placements_is_not_decided` |
//! | [`engine::PLACEMENT_ATTEMPTS_OF_NODE`] | 100 | Attempts by which PLACEMENT_ATTEMPTS grows for each node. | `a_group_of_very_many_placements_is_not_decided` |
//! | [`engine::GROUP_STEPS`] | 7,000,000 steps | Steps of the attempts of pod groups in a search for fixes, and in those of an overview together, on up to 1,000 nodes; they grow with the nodes up to ten times as many. Further fixes are not tried with the group, which the answer says. | `attempts_of_large_groups_are_bounded_over_all_causes` |
//! | [`engine::JUDGED_CLAIMS`] | 40 | Resource claims of a pod that a search for fixes tries one by one; the search says that others are not tried. | `claims_beyond_the_limit_are_not_tried` |
//! | [`engine::VOICES_OF_OBJECT`] | 20 | Words of others about one object that an answer lists, the newest of each speaker and reason before others; the rest is counted. | `words_beyond_the_limit_are_counted` |
//! | [`engine::WANTED_PODS`] | 10,000,000 | Pods that a workload can be taken to want; a larger number counts as this one. | `a_number_beyond_all_measure_is_cut` |
//! | [`engine::REACTING_SIBLINGS`] | 10 | Pending pods of a workload that a search for fixes changes together with one of them; the rest are left out. | `pods_of_one_template_are_changed_together_up_to_a_limit` |
//! | [`engine::REACTION_STEPS`] | 400 steps | Operations of a run in which controllers react to a fix; the fix counts as it is after them. | `a_reaction_without_end_is_cut` |
//! | [`engine::OUT_OF_TREE_NAMES`] | 8 | Names of out-of-tree plugins in one process; an engine with a further one is refused. | `names_of_out_of_tree_plugins_are_kept_up_to_a_limit` |
//! | [`engine::IDLE_FLUSHES`] | 100 | Flushes of unschedulablePods, in one step of the clock, that move no pod; the later ones are passed over, as they move none either. | `gated_pods_do_not_hold_up_the_clock` |
//! | [`engine::FIXES_STEPS_OF_LONG_SEARCH`] | 200,000 steps | Steps of a plugin's search above which an error counts FIXES_STEPS_OF_ERROR, and else nothing. | `a_search_for_fixes_ends_after_a_number_of_steps` |
//! | [`engine::FLOOD_PODS`] | 1,000 | Copies of a pod that come one after another beyond those that fit, to find who is evicted for them; more are not tried. | `pods_that_keep_coming_are_bounded` |
//! | [`engine::COMING_NODES`] | 20 | NodePools, NodeClaims and node groups whose coming nodes are judged for a pod; the others are counted as not tried. | `trials_are_bounded` |
//! | [`engine::COMING_NODE_TRIALS`] | 64 steps | Nodes that do not exist yet that are tried for a pod; those beyond it are named as not tried. | `trials_are_bounded` |
//! | [`engine::MANIFEST_PODS`] | 10,000 | Pods that are made of the workloads of a manifest; the others are counted as not made. | `a_manifest_of_two_billion_replicas_is_bounded` |
//! | [`engine::MANIFEST_BYTES`] | 12 MiB | Bytes of the pods of a manifest as JSON, as far as each is longer than MANIFEST_POD; the others are counted as not made. | `long_pods_of_a_manifest_are_bounded` |
//! | [`engine::MANIFEST_POD`] | 8 KiB | Length of a pod of a manifest as JSON up to which it does not count for MANIFEST_BYTES. | `long_pods_of_a_manifest_are_bounded` |
//! | [`engine::RECENT_FAILURES`] | 32 | Workloads whose pods found no node, and of which a run does not try further pods until something changes; of those before them a pod is tried again. | `the_failures_of_a_number_of_workloads_are_kept` |
//! | [`engine::MANIFEST_STEPS`] | 25,000,000 steps | Steps of all decisions about pods of a manifest and those that change with them, besides MANIFEST_STEPS_OF_OBJECT; pods that are left are counted as not decided, or as not created. | `decisions_about_a_manifest_end_after_a_number_of_steps` |
//! | [`engine::MANIFEST_STEPS_OF_OBJECT`] | 4,000 steps | Steps by which MANIFEST_STEPS grows for each node and pod of the cluster. | `decisions_about_a_manifest_end_after_a_number_of_steps` |
//! | [`engine::RUN_STEPS`] | 25,000,000 steps | Steps of all attempts of a run until nothing changes, of the two runs of a what-if together, of a comparison with another release or with a scheduler's log, and of the trials for DIFF_TRIALS, besides RUN_STEPS_OF_OBJECT; pods that are left are said to be not decided, and the exit code is 3. | `a_run_ends_after_a_number_of_steps` |
//! | [`engine::RUN_STEPS_OF_OBJECT`] | 4,000 steps | Steps by which RUN_STEPS grows for each node and pod of the cluster. | `a_run_ends_after_a_number_of_steps` |
//! | [`engine::RUN_SMALL`] | 4,000 | Nodes and pods from which on RUN_STEPS grows with the square of their number, as the work on real clusters does: by RUN_STEPS_OF_PAIR for each further one with each of all. | `clusters_of_any_size_settle_within_the_bound` |
//! | [`engine::RELEASES_SHARE`] | 8 | The part of the steps of decisions that are recorded which decisions of other releases may take, where ours differs from what was reported; whether further releases agree is not tried, which the answer says. | `other_releases_are_tried_for_a_number_of_steps` |
//! | [`engine::RUN_STEPS_OF_COMPARED`] | 10 steps | Steps of RUN_STEPS that each step of two compared decisions counts for: these are recorded. | `pods_that_are_compared_are_bounded_by_steps` |
//! | [`engine::RUN_STEPS_OF_ATTEMPT`] | 4 steps | The same of each step of an attempt in a scheduler's log that is compared with our decision: the newest ones are, and the others are counted. | `attempts_of_a_log_are_compared_up_to_a_number_of_steps` |
//! | [`engine::RUN_STEPS_OF_RECORDED`] | 6 steps | The same of each step of a run whose operations are written one by one, and of a decision about one of all pending pods, as these are recorded. Both have half as many, and RUN_STEPS_OF_BYTE for each byte of the source; operations of `run --ops` that are left are not applied, and pods that are left are not decided. | `runs_that_are_written_are_bounded_by_steps` |
//! | [`engine::RUN_STEPS_OF_BYTE`] | 45 steps | Steps that each byte of the source, unpacked, adds to those of a run whose operations are written, and of all pending pods. | `runs_that_are_written_are_bounded_by_steps` |
//! | [`engine::RUN_STEPS_OF_ENTRY`] | 100 steps | Steps that each pod in the queues takes where these are written after an operation. | `runs_that_are_written_are_bounded_by_steps` |
//! | [`engine::RUN_BYTES_OF_OBJECT`] | 200 bytes | Bytes of a source, unpacked, for each node or pod that counts for RUN_STEPS; smaller ones count in part. | `clusters_of_any_size_settle_within_the_bound` |
//! | [`engine::RUN_STEPS_OF_PAIR`] | 16 steps | Steps of a further node or pod with each of all. | `clusters_of_any_size_settle_within_the_bound` |
//! | [`engine::MANIFEST_ROUNDS`] | 1,000 steps | Rounds in which the workloads of a manifest make pods that wait for others: ordinals and rollouts; the rest is not made. | `rounds_of_ordered_pods_are_bounded` |
//! | [`engine::MANIFEST_ODDS`] | 100 | Pods of a manifest whose odds are counted where they are not asked for; those of the others are left out. | `odds_of_many_pods_are_counted_when_asked_for` |
//! | [`engine::MANIFEST_ODDS_STEPS`] | 3,000,000 steps | Steps of the decisions from which these odds are counted, where they are asked for half of MANIFEST_STEPS; those of further pods are left out. | `odds_that_take_many_steps_are_counted_when_asked_for` |
//! | [`engine::REASONS_LISTED`] | 150,000 | Reasons of rejections that an answer in JSON or YAML lists, of all nodes together; of a node beyond that it lists REASONS_OF_NODE, and the number of the others. | `reasons_of_an_answer_are_listed_up_to_a_number` |
//! | [`engine::REASONS_OF_NODE`] | 16 | Reasons that an answer lists of each node in any case. | `reasons_of_an_answer_are_listed_up_to_a_number` |
//! | [`engine::REASON_BYTES`] | 512 bytes | Bytes of the facts behind a reason up to which it counts as one of REASONS_LISTED. A longer one counts by its length, and beyond REASONS_LISTED it is not listed. | `long_reasons_of_an_answer_count_by_their_length` |
//! | [`engine::SELECTOR_ERRORS`] | 1,000 | Errors of a selector that its message names; the others are counted. | `errors_of_a_selector_are_named_up_to_a_number` |
//! | [`engine::TYPO_PAIRS`] | 100,000 | Values that a pod asks for times values on nodes that are compared for typos; of more none is taken for a typo. | `a_typo_is_looked_for_among_a_number_of_values` |
//! | [`engine::FACT_VALUES`] | 20 | Values of a requirement, zones of a volume or names of claims that the text of a reason lists; the others are counted. | `facts_of_any_length_are_cut` |
//! | [`engine::FACT_BYTES`] | 1 KiB | Bytes of the text of the fact behind a reason; of a longer one the start is shown, with an ellipsis. | `facts_of_any_length_are_cut` |
//! | [`engine::MANIFEST_DECISIONS`] | 50 | Different pods of a manifest that are decided again to say why they are pending; the others have the scheduler's message. | `decisions_about_pending_pods_are_bounded` |
//! | [`engine::CONFIG_BYTES`] | 1 MiB | Length of a configuration, the size limit of a ConfigMap; a longer one is refused. | `what_would_take_long_is_refused` |
//! | [`engine::CONFIG_WITH_ALIASES`] | 8 KiB | Length of a configuration with YAML's aliases, which expand to a multiple of their length; a longer one is refused. | `what_would_take_long_is_refused` |
//! | [`engine::CONFIG_DEPTH`] | 200 | Brackets open at once in a configuration; one with more is refused, as the parser's time grows with the square of the depth. | `what_would_take_long_is_refused` |
//! | [`engine::CONFIG_VALUES`] | 100,000 | Values in a configuration, with what its aliases expand to; one with more is refused. | `what_would_take_long_is_refused` |
//! | [`engine::CONFIG_ITEMS`] | 2,000 | Items of one list of a configuration; a longer one is an error, as validation compares them with each other. | `what_would_take_long_is_refused` |
//! | [`engine::CONFIG_ERRORS`] | 500 | Errors of a configuration that are listed; the others are left out, which the last line says. | `what_would_take_long_is_refused` |
//! | [`engine::EXTENDERS`] | 64 | Extenders of a configuration; one with more is refused, as each has its part in every decision. | `what_would_take_long_is_refused` |
//! | [`engine::EXTENDER_RESOURCES`] | 200 | Resources that all extenders of a configuration manage; one with more is refused, as each profile ignores them. | `what_would_take_long_is_refused` |
//! | [`engine::CONFIG_LINES`] | 20 | Errors of a configuration whose lines an engine's builder looks for; the others are without a line. | `lines_of_errors_in_a_configuration_are_found_up_to_a_limit` |
//! | [`engine::VICTIM_ORDERS`] | 2,000 steps | Orders of equal pods that are tried for the odds of one preemption; beyond it the odds are unknown, with the reason. | `too_many_orders_are_unknown_with_the_reason` |
//! | [`engine::VICTIM_COMBINATIONS`] | 512 steps | Combinations of candidates that are counted for the odds of one preemption; beyond it the odds are unknown, with the reason. | `too_many_combinations_are_unknown_with_the_reason` |
//! | [`engine::VICTIM_COUNTED`] | 20,000 steps | Nodes times combinations that are counted for the odds of one preemption; beyond it the odds are unknown, with the reason. | `too_many_combinations_are_unknown_with_the_reason` |
//! | [`engine::SEARCH_STEPS`] | 2,000,000 steps | Steps of plugins' searches on all nodes together in a decision that is one of many, as those of a search for fixes; a node that takes more than its share ends with an error, unless SEARCH_STEPS_ON_NODE allows them. | `a_decision_among_many_ends_after_steps_on_each_node` |
//! | [`engine::SEARCH_STEPS_ON_NODE`] | 5,000 steps | Steps of plugins' searches that a node may take at least in a decision that is one of many. | `a_decision_among_many_ends_after_steps_on_each_node` |
//! | [`engine::FIXES_STEPS_OF_PLUGIN`] | 4 steps | Steps of a decision of a search for fixes that each step of a plugin's search counts for, by the time that they take. | `a_search_for_fixes_ends_after_a_number_of_steps` |
//! | [`engine::FIXES_STEPS_OF_VALUE`] | 8 steps | Steps of a search for fixes that each value of an object counts for that a trial changes, by the time that writing and reading it takes. | `trials_on_large_objects_end_after_a_number_of_steps` |
//! | [`engine::FIXES_EVALUATIONS`] | 300,000 steps | Evaluations of selectors of devices that tell, in a search for fixes, how many devices a request selects and which claims hold them; beyond it that is not known. | `devices_that_take_many_evaluations_are_not_counted` |
//! | [`engine::PLACE_COMPARISONS`] | 1,000,000 | Comparisons of what a pod asks of labels with the places of its volumes; contradictions that take more are not named. | `contradictions_of_many_terms_are_not_searched` |
//! | [`engine::FIXES_PATCH_VALUES`] | 200,000 | Values of objects that the patches of all demands of a pod may take to make; further ones are said to be left out. | `patches_of_many_demands_of_a_large_pod_are_left_out` |
//! | [`engine::FIXES_STEPS_OF_FILTER`] | 2 steps | Steps of a plugin's search that each node counts for where a demand of a pod is tried on its own, by the time that its filters take. | `demands_are_tried_on_their_own_up_to_a_number_of_steps` |
//! | [`engine::STEPS_OF_MEMBER`] | 10 steps | Steps that each node counts for in the attempt of a member of a pod group, which is scored. | `attempts_of_a_large_group_end_before_the_search_does` |
//! | [`terminal::SCREEN_ENDS`] | 2s | Time that a screen has to end after a signal, which restores the terminal; the program ends after it in any case. | `a_signal_ends_the_explorer_though_nobody_reads_its_terminal` |
//! | [`terminal::MEMORY_LEFT`] | 8 MiB | Address space left below the system's limit at which the program ends with a reason. | `little_memory_ends_with_a_reason` |
//! | [`terminal::RESERVED_MEMORY`] | 32 MiB | Address space that the allocator reserves at a time, where the system limits it; it doubles after every eighth time. | `address_space_that_is_enough_gives_an_answer` |
//! | [`terminal::MEMORY_LOOK`] | 2ms | Time between two looks at the address space in use, where the system limits it. | `little_memory_ends_with_a_reason` |
//! | [`terminal::RESTORE_WAIT`] | 200ms | Time that the terminal has to take the sequences that restore it, before the program ends though a thread is stuck. | `a_signal_ends_the_explorer_though_nobody_reads_its_terminal` |
//! | [`terminal::ESCAPE_WAIT`] | 50ms | Time after ESC within which more bytes make it a sequence; later, it is the key Esc. | `escape_alone_is_a_key_after_a_moment` |
//! | [`terminal::SEQUENCE_WAIT`] | 250ms | Time without a byte after which an unfinished sequence of a key or the mouse is dropped. | `an_unfinished_sequence_is_over_after_some_time_and_ctrl_c_ends_it_at_once` |
//! | [`terminal::SEQUENCE`] | 64 bytes | Bytes of a sequence of a key or the mouse; a longer one is dropped. | `a_sequence_of_too_many_bytes_is_dropped` |
//! | [`terminal::PASTE_WAIT`] | 2s | Time without a byte after which a paste that does not end is dropped, which a notice says. | `a_paste_that_does_not_end_is_over_after_silence` |
//! | [`terminal::PASTE`] | 64 KiB | Bytes of a paste; a longer one is dropped, which a notice says. | `a_paste_of_too_many_bytes_is_dropped_and_costs_no_more_memory` |
//! | [`terminal::TYPED`] | 4,096 | Characters of a line that is typed or pasted; more are not inserted. | `a_line_takes_characters_up_to_a_limit` |
//! | [`terminal::KEYS_AHEAD`] | 64 | Keys that wait while the screen is busy or a load runs; further keys are dropped. | `no_more_keys_wait_than_there_is_room_for` |
//! | [`terminal::PRINTED_KEYS`] | 4,096 | Keys of `--keys`; more are refused. | `keys_are_named_and_words_are_typed` |
//! | [`terminal::REPLY_WAIT`] | 5s | Time after the question for the terminal's background within which a reply is taken as one; later, its bytes are keys. | `the_answer_is_taken_out_from_among_the_keys` |
//! | [`terminal::REPLY_KEYS`] | 40 | Keys of a reply about the terminal's background; a longer one is taken as typed. | `the_answer_is_taken_out_from_among_the_keys` |
//! | [`terminal::COPIED`] | 512 KiB | Bytes copied to the terminal's clipboard; a longer text is not copied, which a notice says. | `what_is_too_long_for_a_clipboard_is_not_copied` |
//! | [`terminal::SETTINGS`] | 1 MiB | Bytes of the configuration file and of a theme; a larger one is not used, which a notice says. | `files_are_found_and_what_cannot_be_read_is_reported` |
//! | [`terminal::OFFERED_DUMPS`] | 40 | Dumps of the current folder that the start screen offers; more are left out. | `dumps_of_a_folder_are_offered_in_order_and_no_more_than_there_is_room_for` |
//! | [`terminal::FREE_NAMES`] | 999 | Names that are tried for a file that the user does not name; if all of them exist, nothing is written, which a notice says. | `free_names_are_tried_up_to_a_limit` |
//! | [`terminal::METRIC_SERIES`] | 100 | Series of one family of metrics whose labels come from the cluster; the pods of the others are added up in one series. | `series_beyond_the_limit_are_added_up` |
//! | [`terminal::METRIC_LABEL`] | 256 bytes | Bytes of a label of metrics whose text comes from the cluster; a longer one is cut, and series of labels that begin alike are added up. | `labels_beyond_the_length_are_cut_and_those_that_begin_alike_are_added_up` |
//! | [`terminal::COMPLETION`] | 3s | Time in which completions for kubectl are found; after it there are none. | `a_completion_that_takes_too_long_is_empty` |
//! | [`terminal::LOG_DAYS`] | 7 | Files of the daily log; older ones are removed. | `old_files_go` |
//! | [`terminal::COLUMNS`] | 2,048 | Columns drawn; the rest of a wider terminal remains empty. | `a_window_is_drawn_up_to_a_size` |
//! | [`terminal::ROWS`] | 512 | Rows drawn; the rest of a higher terminal remains empty. | `a_window_is_drawn_up_to_a_size` |
//! <!-- /limits -->

use std::time::Duration;

/// A limit with its name, amount and test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The part of the program: a file of this module.
    pub part: &'static str,
    /// The name of the constant.
    pub name: &'static str,
    pub amount: Amount,
    /// The thing that is limited, and the effect beyond it.
    pub about: &'static str,
    /// The name of the test function that reaches it.
    pub test: &'static str,
}

/// The amount of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Bytes(u64),
    /// Things: objects, files, requests, levels.
    Count(u64),
    /// Steps of a computation.
    Steps(u64),
    Time(Duration),
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(bytes) => {
                let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
                match units.into_iter().find(|(unit, _)| bytes >= unit && bytes.is_multiple_of(*unit)) {
                    Some((unit, name)) => write!(f, "{} {name}", bytes / unit),
                    None => write!(f, "{bytes} bytes"),
                }
            }
            Self::Count(count) => write!(f, "{}", crate::plural::thousands(*count as usize)),
            Self::Steps(steps) => write!(f, "{} steps", crate::plural::thousands(*steps as usize)),
            Self::Time(time) => write!(f, "{time:?}"),
        }
    }
}

/// Declares limits: a constant each, and a list `LIMITS` of all. A row is the documentation (what is limited; what happens beyond),
/// the unit (`bytes`, `count`, `steps` or `time`), the constant and the test that reaches it.
macro_rules! limits {
    ($part:literal: $($(#[doc = $about:expr])+ $unit:ident $name:ident: $type:ty = $value:expr, $test:literal;)*) => {
        $($(#[doc = $about])+ pub const $name: $type = $value;)*
        pub(super) const LIMITS: &[super::Limit] = &[$(super::Limit {
            part: $part,
            name: stringify!($name),
            amount: limits!(@amount $unit $name),
            about: concat!($($about),+),
            test: $test,
        }),*];
    };
    (@amount bytes $name:ident) => { super::Amount::Bytes($name as u64) };
    (@amount count $name:ident) => { super::Amount::Count($name as u64) };
    (@amount steps $name:ident) => { super::Amount::Steps($name as u64) };
    (@amount time $name:ident) => { super::Amount::Time($name) };
}

pub mod engine;
pub mod extenders;
pub mod live;
pub mod sessions;
pub mod sources;
pub mod terminal;

/// Returns all limits, part by part.
pub fn all() -> impl Iterator<Item = Limit> {
    [sources::LIMITS, live::LIMITS, extenders::LIMITS, sessions::LIMITS, engine::LIMITS, terminal::LIMITS].into_iter().flatten().copied()
}
