//! Base64 with padding, and the hash by which a page's policy allows its style.

#[cfg(feature = "dumps")]
use sha2::Digest as _;

/// Returns bytes in base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) as usize & 63;
            out.push(if digit > chunk.len() { '=' } else { char::from(DIGITS[index]) });
        }
    }
    out
}

/// Returns the source of a content security policy that allows this style and no other.
#[cfg(feature = "dumps")]
pub(crate) fn style_hash(style: &str) -> String {
    format!("sha256-{}", base64(&sha2::Sha256::digest(style)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_base64() {
        for (text, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
        #[cfg(feature = "dumps")]
        assert_eq!(style_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
