//! Limits that a Node publishes as `attachable-volumes-csi-DRIVER`, as before CSINodes existed; mirrors
//! `getVolumeLimits` of releases that read them, and `GetCSIAttachLimitKey` in `pkg/volume/util/attach_limit.go`.

use std::collections::{BTreeMap, BTreeSet};

use super::AttachableVolume;
use crate::cluster::Str;
use crate::framework::NodeInfo;

const ANY_PREFIX: &str = "attachable-volumes-";
const PREFIX: &str = "attachable-volumes-csi-";
/// Maximum length of the resource name in bytes; longer driver names are shortened.
const LONGEST_NAME: usize = 63;
/// Bytes kept of a shortened driver name.
const KEPT: usize = 23;
/// Hexadecimal digits of the hash that replaces the rest.
const HASHED: usize = 16;

/// Returns the limits of the drivers of some volumes: that of the CSINode, else that of the Node.
pub(super) fn of_drivers<'v>(
    volumes: &'v BTreeSet<AttachableVolume>,
    node: &NodeInfo,
    by_csi_node: &BTreeMap<&Str, i64>,
) -> BTreeMap<&'v Str, i64> {
    let limit = |driver: &Str| by_csi_node.get(driver).or_else(|| node.allocatable.scalar.get(limit_key(driver).as_str())).copied();
    volumes.iter().filter_map(|(driver, _)| Some((driver, limit(driver)?))).collect()
}

/// Returns whether the Node publishes a limit, of whatever driver or volume plugin.
pub(super) fn has_any(node: &NodeInfo) -> bool {
    node.allocatable.scalar.keys().any(|name| name.starts_with(ANY_PREFIX))
}

/// Returns the resource in which a Node publishes the limit of a driver.
fn limit_key(driver: &str) -> String {
    if PREFIX.len() + driver.len() < LONGEST_NAME {
        return format!("{PREFIX}{driver}");
    }
    let mut hash: String = sha1(driver.as_bytes()).iter().map(|word| format!("{word:08x}")).collect();
    hash.truncate(HASHED);
    let kept = driver.get(..KEPT).unwrap_or(driver);
    format!("{PREFIX}{kept}{hash}")
}

/// Returns the SHA-1 digest (RFC 3174) as five words.
fn sha1(message: &[u8]) -> [u32; 5] {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.as_chunks::<64>().0 {
        let mut words = [0u32; 80];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        for i in 16..80 {
            words[i] = (words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1);
        }
        let mut mixed = state;
        for (i, word) in words.iter().enumerate() {
            let [first, x, y, z, last] = mixed;
            let (chosen, constant) = match i / 20 {
                0 => ((x & y) | (!x & z), 0x5a82_7999),
                1 => (x ^ y ^ z, 0x6ed9_eba1),
                2 => ((x & y) | (x & z) | (y & z), 0x8f1b_bcdc),
                _ => (x ^ y ^ z, 0xca62_c1d6),
            };
            let sum = first.rotate_left(5).wrapping_add(chosen).wrapping_add(last).wrapping_add(*word).wrapping_add(constant);
            mixed = [sum, first, x.rotate_left(30), y, z];
        }
        for (sum, more) in state.iter_mut().zip(mixed) {
            *sum = sum.wrapping_add(more);
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_drivers_are_shortened() {
        assert_eq!(limit_key("ebs.csi.aws.com"), "attachable-volumes-csi-ebs.csi.aws.com");
        let long = limit_key("a-driver-with-a-rather-long-name.csi.example.com");
        assert!(long.starts_with("attachable-volumes-csi-a-driver-with-a-rather-") && long.len() == 62, "{long}");
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        let hex = |text: &str| sha1(text.as_bytes()).iter().map(|word| format!("{word:08x}")).collect::<String>();
        assert_eq!(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    }
}
