//! Reads the wire format of protocol buffers: numbered fields, each a number or bytes.

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// Text, bytes, a message, or several numbers.
    Bytes(&'a [u8]),
}

/// Bytes that are not the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The fields of a message, in the order of the bytes. Ends after the first error.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn field(&mut self) -> Option<(u32, Wire<'a>)> {
        let head = varint(&mut self.bytes)?;
        let number = u32::try_from(head >> 3).ok().filter(|number| *number > 0)?;
        let value = match head & 7 {
            0 => Wire::Varint(varint(&mut self.bytes)?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(varint(&mut self.bytes)?).ok()?;
                Wire::Bytes(self.take(length)?)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            _ => return None,
        };
        Some((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Wire<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.bytes = &[];
        }
        Some(field.ok_or(Malformed))
    }
}

/// Takes a number of up to ten bytes, seven bits each.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at).min(63);
        if byte & 0x80 == 0 {
            *bytes = &bytes[at + 1..];
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_numbers_or_bytes() {
        let fields = |bytes: &'static [u8]| Fields::new(bytes).collect::<Vec<_>>();
        assert_eq!(fields(&[8, 0x96, 1]), [Ok((1, Wire::Varint(150)))]);
        assert_eq!(fields(&[0x12, 2, b'a', b'b', 0x12, 0]), [Ok((2, Wire::Bytes(b"ab"))), Ok((2, Wire::Bytes(b"")))]);
        assert_eq!(fields(&[0x1d, 1, 0, 0, 0]), [Ok((3, Wire::Fixed32(1)))]);
        assert_eq!(fields(&[0x21, 1, 0, 0, 0, 0, 0, 0, 0]), [Ok((4, Wire::Fixed64(1)))]);
        for bytes in [&[8][..], &[8, 0x80], &[0x12, 3, 1], &[0x1d, 1], &[0x21, 1], &[0x0b], &[0, 0], &[0xff; 12]] {
            assert_eq!(Fields::new(bytes).collect::<Vec<_>>(), [Err(Malformed)], "{bytes:?}");
        }
        assert_eq!(varint(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1][..]), Some(u64::MAX));
    }
}
