//! Error texts of Go's `net` and `net/http`, and small encodings.

use std::io;

/// The error of a system call, as Go's `syscall` names it.
pub(super) fn system_error(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    if error.raw_os_error().is_none() {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Why no response came.
pub(super) fn http_error(error: &hyper::Error) -> String {
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        return "EOF".to_owned();
    }
    if error.is_parse() {
        return "net/http: HTTP/1.x transport connection broken: malformed HTTP response".to_owned();
    }
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return match io.kind() {
                io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
                _ => system_error(io),
            };
        }
        cause = inner.source();
    }
    error.to_string()
}

/// Base64 of the standard alphabet, padded.
pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let number = group.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = (number >> (18 - 6 * place)) as usize & 63;
            out.push(if place <= group.len() { char::from(ALPHABET[digit]) } else { '=' });
        }
    }
    out
}

/// A part of a URL without its escapes; what is none stays.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).filter(|_| byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_the_usual_ones() {
        for (text, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("me:hunter2", "bWU6aHVudGVyMg==")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        for (text, expected) in [("a%40b", "a@b"), ("%", "%"), ("100%zz%2", "100%zz%2"), ("%c3%a9", "é")] {
            assert_eq!(percent_decoded(text), expected);
        }
    }

    #[test]
    fn system_errors_read_as_gos() {
        let of = |code| system_error(&io::Error::from_raw_os_error(code));
        assert_eq!((of(111).as_str(), of(113).as_str()), ("connection refused", "no route to host"));
    }
}
