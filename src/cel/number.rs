//! Numbers as Go parses, formats and compares them.

use std::cmp::Ordering;

use super::error::EvalError;

/// Parses a number as Go's `strconv.ParseFloat` does; `None` if Go returns an error.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.trim_start_matches(['+', '-']);
    if text.len() - unsigned.len() > 1 {
        return None;
    }
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" => return if unsigned.len() == text.len() { Some(f64::NAN) } else { None },
        _ => {}
    }
    if !underscores_fit(unsigned) {
        return None;
    }
    let plain = unsigned.replace('_', "");
    let value = match plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        Some(hex) => parse_hex(hex)?,
        None => {
            let known = plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
            if !known || plain.starts_with(['+', '-']) {
                return None;
            }
            plain.parse().ok()?
        }
    };
    if f64::is_infinite(value) { None } else { Some(sign * value) }
}

/// Whether all underscores are between digits.
fn underscores_fit(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_hexdigit);
    bytes
        .iter()
        .enumerate()
        .all(|(i, b)| *b != b'_' || (i > 0 && (digit(i - 1) || bytes[i - 1].eq_ignore_ascii_case(&b'x')) && digit(i + 1)))
}

/// Parses a hexadecimal mantissa with its required binary exponent.
fn parse_hex(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let mut value: u128 = 0;
    let mut power: i64 = -4 * fraction.len() as i64;
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = digit.to_digit(16)?;
        if value >> 120 == 0 { value = value << 4 | u128::from(digit) } else { power += 4 }
    }
    let digits = exponent.trim_start_matches(['+', '-']);
    if digits.is_empty() || exponent.len() - digits.len() > 1 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    power += exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { -100_000 } else { 100_000 });
    let mut result = value as f64;
    // Scaling in steps keeps each factor in range until the product leaves it.
    for _ in 0..power.unsigned_abs().min(4_000) {
        result *= if power > 0 { 2.0 } else { 0.5 };
    }
    Some(result)
}

/// Formats a number with Go's verb `%g` and the fewest digits; an exponent is used below -4 and from `digits` on.
pub(super) fn show(value: f64, digits: i32) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..digits).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Converts to a whole number in the range of `int`.
pub(super) fn to_int(value: f64) -> Result<i64, EvalError> {
    if value.is_nan() || value <= i64::MIN as f64 || value >= i64::MAX as f64 {
        return Err(EvalError::IntegerOverflow);
    }
    Ok(value as i64)
}

/// Converts to a whole number in the range of `uint`.
pub(super) fn to_uint(value: f64) -> Result<u64, EvalError> {
    if value.is_nan() || value < 0.0 || value >= u64::MAX as f64 {
        return Err(EvalError::UnsignedOverflow);
    }
    Ok(value as u64)
}

/// Compares as `compareDoubleInt` does; `a` must not be NaN.
pub(super) fn compare_int(a: f64, b: i64) -> Ordering {
    if a < i64::MIN as f64 {
        return Ordering::Less;
    }
    if a > i64::MAX as f64 {
        return Ordering::Greater;
    }
    a.partial_cmp(&(b as f64)).unwrap_or(Ordering::Equal)
}

/// Compares as `compareDoubleUint` does; `a` must not be NaN.
pub(super) fn compare_uint(a: f64, b: u64) -> Ordering {
    if a < 0.0 {
        return Ordering::Less;
    }
    if a > u64::MAX as f64 {
        return Ordering::Greater;
    }
    a.partial_cmp(&(b as f64)).unwrap_or(Ordering::Equal)
}

/// Quotes a text as Go's `strconv.Quote` does.
pub(super) fn quote(text: &str) -> String {
    quote_bytes(text.as_bytes())
}

/// Quotes bytes that need not be a text.
pub(super) fn quote_bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        quote_chars(chunk.valid(), &mut out);
        chunk.invalid().iter().for_each(|b| out.push_str(&format!("\\x{b:02x}")));
    }
    out.push('"');
    out
}

fn quote_chars(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x80 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
}

/// Whether Go's `unicode.IsPrint` holds, approximated by Rust's own tables.
fn is_printable(c: char) -> bool {
    c == ' '
        || (!c.is_control()
            && !c.is_whitespace()
            && !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'))
}
