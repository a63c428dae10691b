//! Reads the envelope around each object in protocol buffers.

use super::wire::{Fields, Wire};

/// The envelope of a value in protocol buffers, `runtime.Unknown`.
pub(super) struct Envelope<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    pub(super) raw: &'a [u8],
    /// The content is encoded once more.
    pub(super) encoded: bool,
}

impl<'a> Envelope<'a> {
    /// Reads an envelope behind its first bytes; `None` if it is malformed.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut envelope = Self { api_version: "", kind: "", raw: &[], encoded: false };
        for field in Fields::new(bytes) {
            match field.ok()? {
                (1, Wire::Bytes(of)) => {
                    for field in Fields::new(of) {
                        match field.ok()? {
                            (1, Wire::Bytes(text)) => envelope.api_version = std::str::from_utf8(text).ok()?,
                            (2, Wire::Bytes(text)) => envelope.kind = std::str::from_utf8(text).ok()?,
                            _ => {}
                        }
                    }
                }
                (2, Wire::Bytes(raw)) => envelope.raw = raw,
                (3, Wire::Bytes(encoding)) => envelope.encoded = !encoding.is_empty(),
                _ => {}
            }
        }
        Some(envelope)
    }
}
