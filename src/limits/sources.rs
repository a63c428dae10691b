//! Dumps, archives and captures.

limits! { "sources":
    /// How many times its compressed size a file may grow, beyond what all files of a load may grow together; it ends there.
    count GROWTH: u64 = 100, "what_goes_beyond_a_limit_ends_with_its_name";
    /// Bytes by which all files of a load together may exceed their growth; a file that needs more ends there.
    bytes GROWTH_BEYOND: u64 = 32 << 20, "what_goes_beyond_a_limit_ends_with_its_name";
    /// Files of a hidden directory whose names are read, to tell whether a dump may be in it; the others are not considered.
    count HIDDEN_FILES: usize = 1_000, "a_folder_in_part_is_told_by_what_is_left_out";
    /// Bytes of the files of a manifest together; a longer one is refused.
    bytes MANIFEST: u64 = 64 << 20, "manifests_are_bounded";
    /// Objects of a manifest; one with more is refused.
    count MANIFEST_OBJECTS: usize = 10_000, "manifests_are_bounded";
}
