//! Dumps, archives and captures.

limits! { "sources":
    /// How many times its compressed size a file may grow, beyond what all files of a load may grow together; it ends there.
    count GROWTH: u64 = 100, "what_goes_beyond_a_limit_ends_with_its_name";
    /// Bytes by which all files of a load together may exceed their growth; a file that needs more ends there.
    bytes GROWTH_BEYOND: u64 = 32 << 20, "what_goes_beyond_a_limit_ends_with_its_name";
    /// Files of a hidden directory whose names are read, to tell whether a dump may be in it; the others are not considered.
    count HIDDEN_FILES: usize = 1_000, "a_folder_in_part_is_told_by_what_is_left_out";
    /// Bytes of a page of etcd's database with those that follow it; a longer one is an error, and its objects are missing.
    bytes ETCD_PAGE: u64 = 32 << 20, "pages_that_are_too_long_are_named";
    /// Bytes of a database of etcd that is compressed or in an archive, which must be in memory; a larger one is an error.
    bytes ETCD_IN_MEMORY: u64 = 1 << 30, "a_database_in_an_archive_is_read_up_to_a_limit";
}
