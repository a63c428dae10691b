//! Session files, configurations, operations and other files that a user names.

limits! { "sessions":
    /// Length of a scheduler configuration; a longer one is refused, as is anything but a file or a shell's pipe.
    bytes CONFIGURATION: u64 = 2 << 20, "files_that_never_end_are_refused";
    /// Length of the operations of `run --ops`; longer ones are refused, as is anything but a file or a shell's pipe.
    bytes OPERATIONS: u64 = 256 << 20, "files_that_never_end_are_refused";
    /// Length of one value of a session file; a longer one is refused.
    bytes LONGEST_VALUE: usize = 256 << 20, "a_value_beyond_the_limit_is_refused";
    /// Decompressed length of a session file of any size, beyond which UNPACKED_GROWTH counts; a longer one is refused.
    bytes UNPACKED: u64 = 4 << 20, "a_bomb_is_refused";
    /// Factor by which a session file may grow when it is decompressed, beyond UNPACKED.
    count UNPACKED_GROWTH: u64 = 64, "a_bomb_is_refused";
    /// Nodes that the what-if `add` adds at most; more are refused.
    count NODES_ADDED: usize = 1000, "what_is_no_verb_is_said";
    /// Pods to which the what-if `scale` scales at most; more are refused.
    count REPLICAS: usize = 10_000, "what_is_no_verb_is_said";
    /// Operations that a session file replays, those within others included; a file with more is refused.
    steps REPLAYED_OPERATIONS: usize = 200_000, "a_session_that_replays_too_much_is_refused";
    /// Revisions on all branches of a session file, shared ones counted on each; a file with more is refused.
    count REPLAYED_REVISIONS: usize = 1_000_000, "a_session_that_replays_too_much_is_refused";
    /// Events on all branches of a session file, shared ones counted on each; a file with more is refused.
    count REPLAYED_EVENTS: usize = 4_000_000, "a_session_that_replays_too_much_is_refused";
    /// Events by which REPLAYED_EVENTS grows for each object of the session.
    count REPLAYED_EVENTS_OF_OBJECT: usize = 150, "a_session_that_replays_too_much_is_refused";
    /// Changes of a journal that the timeline shows; those after them are not shown, which a notice says.
    count JOURNAL_CHANGES: usize = 20_000, "a_window_is_bounded";
    /// Attempts of the cluster's scheduler about a pod that are compared with our decision on the state of their moment, the newest; the
    /// others are counted.
    count ATTEMPTS_COMPARED: usize = 12, "the_newest_attempts_are_compared";
    /// Objects that schedulers of other releases load for the attempts of a log that differ from our decision; no other release is
    /// tried for those after them, which their words say.
    count LOG_RELEASES_OBJECTS: usize = 100_000, "other_releases_are_tried_for_a_number_of_objects";
    /// Events that a run in the explorer (`S`, `r`, `u`) records before it stops and says so, besides one for each RUN_BYTES_OF_EVENT of the
    /// source; the key goes on from there. They take 75 to 200 bytes each.
    count RUN_EVENTS: usize = 600_000, "a_run_in_the_explorer_stops_after_a_number_of_events";
    /// Bytes of the source, unpacked, for each further event of RUN_EVENTS.
    bytes RUN_BYTES_OF_EVENT: u64 = 100, "a_run_in_the_explorer_stops_after_a_number_of_events";
    /// Revisions that the timeline of a journal has, about; changes of several seconds share one where there are more.
    count JOURNAL_REVISIONS: usize = 300, "a_window_is_bounded";
    /// Bytes of a request for the recorder's metrics; a longer one is not answered.
    bytes METRICS_REQUEST: usize = 8 << 10, "a_request_without_end_is_not_answered";
    /// Clients of the recorder's metrics that are answered at once; with another one, the connection of the first is closed.
    count METRICS_CLIENTS: usize = 16, "idle_clients_do_not_keep_others_from_the_metrics";
}
