//! Values of literals; mirrors cel-go's `parser/unescape.go` and the literal rules of `parser/parser.go`.

use super::ast::Literal;
use super::number::parse_float;

/// Parses a signed integer.
pub(super) fn int(sign: &str, text: &str) -> Result<Literal, &'static str> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
    i64::from_str_radix(&format!("{sign}{digits}"), radix).map(Literal::Int).map_err(|_| "invalid int literal")
}

/// Parses an unsigned integer, which ends in `u`.
pub(super) fn uint(text: &str) -> Result<Literal, &'static str> {
    let text = &text[..text.len() - 1];
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
    u64::from_str_radix(digits, radix).map(Literal::Uint).map_err(|_| "invalid uint literal")
}

/// Parses a signed floating point number.
pub(super) fn double(sign: &str, text: &str) -> Result<Literal, &'static str> {
    parse_float(&format!("{sign}{text}")).map(Literal::Double).ok_or("invalid double literal")
}

/// Parses a string literal with its quotes.
pub(super) fn string(text: &str) -> Result<Literal, &'static str> {
    let bytes = unescape(text, false)?;
    String::from_utf8(bytes).map(|s| Literal::String(s.into())).map_err(|_| "invalid unicode code point")
}

/// Parses a bytes literal, which begins with `b`.
pub(super) fn bytes(text: &str) -> Result<Literal, &'static str> {
    unescape(&text[1..], true).map(Literal::Bytes)
}

const FAILED: &str = "unable to unescape string";

fn unescape(text: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (raw, quoted) = match text.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, text.as_str()),
    };
    let quotes = if quoted.len() >= 6 && (quoted.starts_with("'''") || quoted.starts_with("\"\"\"")) { 3 } else { 1 };
    let body = quoted.get(quotes..quoted.len().saturating_sub(quotes)).ok_or(FAILED)?;
    if raw {
        return Ok(body.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(body.len());
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            escape(&mut chars, is_bytes, &mut out)?;
        } else {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Ok(out)
}

/// Parses the escape sequence after a backslash.
fn escape(chars: &mut std::str::Chars<'_>, is_bytes: bool, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let c = chars.next().ok_or("unable to unescape string, found '\\' as last character")?;
    let (first, digits, radix) = match c {
        'x' | 'X' => (0, 2, 16),
        'u' | 'U' if is_bytes => return Err(FAILED),
        'u' => (0, 4, 16),
        'U' => (0, 8, 16),
        '0'..='3' => (c as u32 - '0' as u32, 2, 8),
        _ => {
            out.push(match c {
                'a' => 7,
                'b' => 8,
                'f' => 12,
                'n' => b'\n',
                'r' => b'\r',
                't' => b'\t',
                'v' => 11,
                '\\' | '\'' | '"' | '`' | '?' => c as u8,
                _ => return Err(FAILED),
            });
            return Ok(());
        }
    };
    let failed = if radix == 8 { "unable to unescape octal sequence in string" } else { FAILED };
    let mut value: u32 = first;
    for _ in 0..digits {
        let digit = chars.next().and_then(|c| c.to_digit(radix)).ok_or(failed)?;
        value = value.wrapping_mul(radix).wrapping_add(digit);
    }
    if is_bytes {
        out.push(value as u8);
        return Ok(());
    }
    let c = char::from_u32(value).ok_or("invalid unicode code point")?;
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(())
}
