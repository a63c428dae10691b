//! Error texts of Go's `net` and `net/http`.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_read_as_gos() {
        let of = |code| system_error(&io::Error::from_raw_os_error(code));
        assert_eq!((of(111).as_str(), of(113).as_str()), ("connection refused", "no route to host"));
    }
}
