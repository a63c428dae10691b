//! Reads inputs as text: finds, opens and decompresses files, folders, archives and standard input within limits, and
//! cuts them into spans of one object each.

pub(super) mod archive;
#[cfg(feature = "dumps")]
pub(super) mod etcd;
/// Replaces the reader of etcd in a build without it.
#[cfg(not(feature = "dumps"))]
pub(super) mod etcd {
    pub(in crate::source) fn is_database(_: &[u8]) -> bool {
        false
    }

    pub(in crate::source) fn is_damage(_: &std::io::Error) -> bool {
        false
    }
}
pub(super) mod input;
pub(super) mod limits;
#[cfg(feature = "dumps")]
pub(super) mod made;
pub(super) mod progress;
pub(super) mod sniff;
pub(super) mod split;
