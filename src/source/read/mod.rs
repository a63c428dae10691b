//! Reads inputs as text: finds, opens and decompresses files, folders, archives and standard input within limits, and
//! cuts them into spans of one object each.

pub(super) mod archive;
pub(super) mod etcd;
pub(super) mod input;
pub(super) mod limits;
pub(super) mod progress;
pub(super) mod sniff;
pub(super) mod split;
