//! Dumps, archives and captures.

limits! { "sources":
    /// Files of a hidden directory whose names are read, to tell whether a dump may be in it; the others are not considered.
    count HIDDEN_FILES: usize = 1_000, "a_folder_in_part_is_told_by_what_is_left_out";
}
