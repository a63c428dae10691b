//! Inputs as text: files, folders, archives and standard input are found, opened and decompressed within limits, and cut
//! into spans of one object each.

pub(super) mod archive;
pub(super) mod input;
pub(super) mod limits;
pub(super) mod progress;
pub(super) mod sniff;
pub(super) mod split;
