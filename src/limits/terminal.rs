//! The terminal and its input, the files of settings and of the log, completions, and metrics.

use std::time::Duration;

limits! { "terminal":
    /// Time that a screen has to end after a signal, which restores the terminal; the program ends after it in any case.
    time SCREEN_ENDS: Duration = Duration::from_secs(2), "a_signal_ends_the_explorer_though_nobody_reads_its_terminal";
    /// Address space left below the system's limit at which the program ends with a reason.
    bytes MEMORY_LEFT: u64 = 8 << 20, "little_memory_ends_with_a_reason";
    /// Address space that the allocator reserves at a time, where the system limits it; it doubles after every eighth time.
    bytes RESERVED_MEMORY: u64 = 32 << 20, "address_space_that_is_enough_gives_an_answer";
    /// Time between two looks at the address space in use, where the system limits it.
    time MEMORY_LOOK: Duration = Duration::from_millis(2), "little_memory_ends_with_a_reason";
    /// Time that the terminal has to take the sequences that restore it, before the program ends though a thread is stuck.
    time RESTORE_WAIT: Duration = Duration::from_millis(200), "a_signal_ends_the_explorer_though_nobody_reads_its_terminal";
    /// Time after ESC within which more bytes make it a sequence; later, it is the key Esc.
    time ESCAPE_WAIT: Duration = Duration::from_millis(50), "escape_alone_is_a_key_after_a_moment";
    /// Time without a byte after which an unfinished sequence of a key or the mouse is dropped.
    time SEQUENCE_WAIT: Duration = Duration::from_millis(250), "an_unfinished_sequence_is_over_after_some_time_and_ctrl_c_ends_it_at_once";
    /// Bytes of a sequence of a key or the mouse; a longer one is dropped.
    bytes SEQUENCE: usize = 64, "a_sequence_of_too_many_bytes_is_dropped";
    /// Time without a byte after which a paste that does not end is dropped, which a notice says.
    time PASTE_WAIT: Duration = Duration::from_secs(2), "a_paste_that_does_not_end_is_over_after_silence";
    /// Bytes of a paste; a longer one is dropped, which a notice says.
    bytes PASTE: usize = 64 << 10, "a_paste_of_too_many_bytes_is_dropped_and_costs_no_more_memory";
    /// Characters of a line that is typed or pasted; more are not inserted.
    count TYPED: usize = 4096, "a_line_takes_characters_up_to_a_limit";
    /// Keys that wait while the screen is busy or a load runs; further keys are dropped.
    count KEYS_AHEAD: usize = 64, "no_more_keys_wait_than_there_is_room_for";
    /// Keys of `--keys`; more are refused.
    count PRINTED_KEYS: usize = 4096, "keys_are_named_and_words_are_typed";
    /// Time after the question for the terminal's background within which a reply is taken as one; later, its bytes are keys.
    time REPLY_WAIT: Duration = Duration::from_secs(5), "the_answer_is_taken_out_from_among_the_keys";
    /// Keys of a reply about the terminal's background; a longer one is taken as typed.
    count REPLY_KEYS: usize = 40, "the_answer_is_taken_out_from_among_the_keys";
    /// Bytes copied to the terminal's clipboard; a longer text is not copied, which a notice says.
    bytes COPIED: usize = 512 << 10, "what_is_too_long_for_a_clipboard_is_not_copied";
    /// Bytes of the configuration file and of a theme; a larger one is not used, which a notice says.
    bytes SETTINGS: u64 = 1 << 20, "files_are_found_and_what_cannot_be_read_is_reported";
    /// Dumps of the current folder that the start screen offers; more are left out.
    count OFFERED_DUMPS: usize = 40, "dumps_of_a_folder_are_offered_in_order_and_no_more_than_there_is_room_for";
    /// Names that are tried for a file that the user does not name; if all of them exist, nothing is written, which a notice says.
    count FREE_NAMES: usize = 999, "free_names_are_tried_up_to_a_limit";
    /// Series of one family of metrics whose labels come from the cluster; the pods of the others are added up in one series.
    count METRIC_SERIES: usize = 100, "series_beyond_the_limit_are_added_up";
    /// Bytes of a label of metrics whose text comes from the cluster; a longer one is cut, and series of labels that begin alike are added up.
    bytes METRIC_LABEL: usize = 256, "labels_beyond_the_length_are_cut_and_those_that_begin_alike_are_added_up";
    /// Time in which completions for kubectl are found; after it there are none.
    time COMPLETION: Duration = Duration::from_secs(3), "a_completion_that_takes_too_long_is_empty";
    /// Files of the daily log; older ones are removed.
    count LOG_DAYS: usize = 7, "old_files_go";
    /// Columns drawn; the rest of a wider terminal remains empty.
    count COLUMNS: u16 = 2048, "a_window_is_drawn_up_to_a_size";
    /// Rows drawn; the rest of a higher terminal remains empty.
    count ROWS: u16 = 512, "a_window_is_drawn_up_to_a_size";
}
