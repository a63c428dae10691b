//! Dumps, archives and captures.

limits! { "sources":
    /// How many times its compressed size a file may grow, beyond what all files of a load may grow together; it ends there.
    count GROWTH: u64 = 100, "what_goes_beyond_a_limit_ends_with_its_name";
    /// Bytes by which all files of a load together may exceed their growth; a file that needs more ends there.
    bytes GROWTH_BEYOND: u64 = 32 << 20, "what_goes_beyond_a_limit_ends_with_its_name";
    /// Length of the texts by which the pods of a load are recognised, each for metadata, specs and statuses; beyond it they are forgotten.
    bytes PATTERNS: usize = 16 << 20, "patterns_take_bounded_memory";
    /// Files of a folder that `--watch` watches; a folder with more is refused.
    count WATCHED_FILES: usize = 10_000, "a_folder_of_too_many_files_is_not_watched";
    /// Files of a hidden directory whose names are read, to tell whether a dump may be in it; the others are not considered.
    count HIDDEN_FILES: usize = 1_000, "a_folder_in_part_is_reported_by_what_is_left_out";
    /// Bytes of the files of a manifest together; a longer one is refused.
    bytes MANIFEST: u64 = 64 << 20, "manifests_are_bounded";
    /// Objects of a manifest; one with more is refused.
    count MANIFEST_OBJECTS: usize = 10_000, "manifests_are_bounded";
    /// Bytes that come out of compressed files of a load by default; a file that needs more ends there.
    bytes DECOMPRESSED: u64 = 64 << 30, "what_goes_beyond_a_limit_ends_with_its_name";
    /// Files and members of archives that are opened in a load by default; the others are counted as not read.
    count FILES: usize = 1_000_000, "bombs_end_at_the_limit_and_the_rest_loads";
    /// Length of an object; the file ends there. API servers reject objects of a few megabytes.
    bytes OBJECT: u64 = 512 << 20, "an_object_without_end_ends_its_file";
    /// Length of the name, the namespace or a label of an object; one with a longer one is an error. API servers accept 317 bytes.
    bytes NAME: usize = 1 << 10, "a_name_that_no_api_server_accepts_is_an_error";
    /// Entries of one list of an object; an object with a longer one is refused by name, as are its fields of other types. An API server takes
    /// objects of 1.5 MiB.
    count LIST_ENTRIES: usize = 20_000, "an_object_with_a_very_long_list_is_refused";
    /// Entries of lists of which API servers accept 32 or fewer: the devices of a claim, their conditions, the counters of a set, access
    /// modes; an object with more is an error.
    count ITEMS: usize = 512, "lists_that_no_api_server_accepts_are_errors";
    /// Depth of lists within lists; a deeper one is an error. The stack is finite.
    count LISTS_WITHIN: u8 = 8, "lists_within_lists_are_read_up_to_a_depth";
    /// Brackets open in YAML's flow style, and entries that begin on one line; an object with more is an error, as the parser would take
    /// quadratic time to say so.
    count FLOW_DEPTH: usize = 1_000, "long_lines_and_deep_nesting_are_no_danger";
    /// Bytes that YAML's aliases in an object may expand to, as they are estimated; an object with more is an error.
    bytes ALIASES: usize = 2 << 20, "aliases_that_expand_to_too_much_are_refused";
    /// Length of a version among objects; a longer object without a kind is not searched for one.
    bytes VERSION_TEXT: usize = 16 << 10, "versions_are_found_in_their_files";
    /// Errors of one file that are reported one by one; the others are counted.
    count ERRORS_OF_FILE: usize = 50, "a_storm_of_errors_is_counted";
    /// Archives that an archive is inside of; one inside more is not opened, which an error says.
    count ARCHIVES_WITHIN: usize = 2, "archives_nest_one_level_and_no_more";
    /// Bytes of the window of an xz or zstd stream, as their highest ordinary levels have it; the file of a stream with a larger one is
    /// not read.
    bytes UNPACK_WINDOW: u64 = 64 << 20, "windows_of_streams_are_bounded";
    /// Bytes of standard input that are held in memory as a dump; longer input is not read.
    bytes STDIN: u64 = 2 << 30, "standard_input_is_read_up_to_a_length";
    /// Compressions of one stream within each other; what remains compressed is read as it is.
    count COMPRESSIONS: usize = 3, "compressions_within_each_other_are_undone_up_to_a_depth";
    /// Padding after the end of a tar that is read; the rest counts as other bytes that were not read.
    bytes TAR_PADDING: u64 = 1 << 20, "padding_is_read_up_to_a_length";
    /// Length of an extension header of a tar; a longer one is skipped.
    bytes TAR_EXTENSION: u64 = 64 << 10, "extensions_that_are_too_long_are_skipped";
    /// Length of a zip that is held in memory, because it is compressed or inside another archive; a longer one is not read.
    bytes ZIP_IN_MEMORY: u64 = 256 << 20, "a_stream_is_held_in_memory_up_to_a_length";
    /// Findings about a scheduler's log that are kept; the others are counted.
    count LOG_FINDINGS: usize = 200, "findings_are_kept_up_to_a_number";
    /// Attempts, changes, dumps and sights of a scheduler's log that are kept of each; the log ends there, which a finding says.
    count LOG_EVENTS: usize = 8_000_000, "a_log_of_too_many_events_ends_early";
    /// Length of a line of a scheduler's log; a longer one is skipped, which a finding says. A dump of the cache is one line in JSON.
    bytes LOG_LINE: usize = 16 << 20, "a_line_without_end_costs_bounded_memory";
    /// Length of a value of several lines in a scheduler's log; a longer one is skipped, which a finding says.
    bytes LOG_LINES: usize = 64 << 20, "a_value_of_too_many_lines_is_skipped";
    /// Length of a compressed file, unpacked, that is kept once several of its objects or logs are read again; a longer one is unpacked for each.
    bytes KEPT_UNPACKED: u64 = 128 << 20, "a_packed_file_is_kept_from_the_second_request_on";
    /// Values that are kept of a line of a scheduler's log; the rest is passed over.
    count LOG_VALUES: usize = 64, "values_of_a_line_are_kept_up_to_a_number";
    /// Prefixes of a line of a scheduler's log that are removed, as those of `kubectl logs --prefix --timestamps`; further ones are text.
    count LOG_PREFIXES: usize = 3, "prefixes_are_removed_up_to_a_number";
    /// Writers of one log that are distinguished; lines of others are passed over, which a finding says.
    count LOG_WRITERS: usize = 1_000, "writers_are_distinguished_up_to_a_number";
    /// Bytes of a page of etcd's database with those that follow it; a longer one is an error, and its objects are missing.
    bytes ETCD_PAGE: u64 = 32 << 20, "pages_that_are_too_long_are_named";
    /// Bytes of a database of etcd that is compressed or in an archive, which must be in memory; a larger one is an error.
    bytes ETCD_IN_MEMORY: u64 = 1 << 30, "a_database_in_an_archive_is_read_up_to_a_limit";
    /// Changes of etcd's database that are kept for its history, which begins later where there are more.
    count ETCD_CHANGES: usize = 1_000_000, "a_history_keeps_the_last_changes";
    /// Slashes in the prefix of a cluster in etcd's database; keys below a deeper one are of none.
    count ETCD_PREFIX_PARTS: usize = 8, "prefixes_are_found_up_to_a_depth";
    /// Bytes of a frame of a journal, compressed; a longer one is damage, and a recorder writes none.
    bytes JOURNAL_FRAME: u32 = 512 << 20, "a_segment_of_starts_is_checked_in_bounded_time";
    /// Bytes of a segment of a journal; the rest of a longer one is not read, which is said.
    bytes JOURNAL_SEGMENT: u64 = 1 << 30, "a_segment_is_read_up_to_a_length";
    /// Segments of a journal; one with more is not read.
    count JOURNAL_SEGMENTS: usize = 100_000, "a_journal_of_too_many_segments_is_refused";
    /// Events that a recorder keeps; older ones are forgotten.
    count JOURNAL_EVENTS: usize = 20_000, "events_are_kept_up_to_a_number";
    /// Bytes of a line of a journal; a longer one is damage.
    bytes JOURNAL_LINE: u64 = 32 << 20, "a_line_without_end_is_damage";
    /// Gaps of a journal that are kept for one answer; the others are counted.
    count JOURNAL_GAPS: usize = 100, "gaps_are_kept_up_to_a_number";
    /// Bytes of the schedulers' log that a recorder writes at once, each second; it counts what is beyond, which reading says.
    bytes JOURNAL_LOG_FRAME: usize = 16 << 20, "a_log_that_is_too_much_at_once_is_counted";
    /// Bytes of the schedulers' log before a moment of a journal that are read, the newest.
    bytes JOURNAL_LOG: usize = 64 << 20, "the_newest_part_of_a_log_is_read";
}
