//! Functions of texts; mirrors cel-go's `ext/strings.go`. Indexes count code points.

use super::budget;
use super::error::EvalError;
use super::functions::no_overload;
use super::value::Value;

/// Calls a member function of a text.
pub(super) fn call(name: &str, text: &str, rest: &[Value]) -> Result<Value, EvalError> {
    use Value::{Int, String as S};
    let chars = || text.chars().collect::<Vec<char>>();
    let within = |at: i64, size: usize| usize::try_from(at).ok().filter(|i| *i <= size).ok_or(EvalError::IndexOutOfRange(at));
    let times = |limit: &[Value]| if let [Int(n)] = limit { usize::try_from(*n).unwrap_or(usize::MAX) } else { usize::MAX };
    Ok(match (name, rest) {
        ("charAt", [Int(at)]) => {
            let chars = chars();
            Value::string(chars.get(within(*at, chars.len())?).map(char::to_string).unwrap_or_default())
        }
        ("lowerAscii", []) => Value::string(text.to_ascii_lowercase()),
        ("upperAscii", []) => Value::string(text.to_ascii_uppercase()),
        ("trim", []) => Value::string(text.trim()),
        ("substring", [Int(from)]) => {
            let chars = chars();
            Value::string(chars[within(*from, chars.len())?..].iter().collect::<String>())
        }
        ("substring", [Int(from), Int(to)]) => {
            if from > to {
                return Err(EvalError::SubstringRange { from: *from, to: *to });
            }
            let chars = chars();
            let from = within(*from, chars.len())?;
            Value::string(chars[from..within(*to, chars.len())?].iter().collect::<String>())
        }
        ("indexOf", [S(part)]) => Int(index_of(&chars(), part, 0)?),
        ("indexOf", [S(part), Int(from)]) => Int(index_of(&chars(), part, *from)?),
        ("lastIndexOf", [S(part)]) => {
            let chars = chars();
            match chars.len() as i64 {
                size if part.is_empty() => Int(size),
                _ if text.len() < part.len() => Int(-1),
                size => Int(last_index_of(&chars, part, size - 1)?),
            }
        }
        ("lastIndexOf", [S(part), Int(from)]) => Int(last_index_of(&chars(), part, *from)?),
        ("replace", [S(old), S(new), limit @ ..]) => {
            let times = times(limit).min(text.matches(old.as_str()).count());
            if times.saturating_mul(new.len()) > budget::MAX_BYTES {
                return Err(EvalError::CostLimit);
            }
            Value::string(text.replacen(old.as_str(), new, times))
        }
        ("split", [S(separator), limit @ ..]) => Value::strings(split(text, separator, times(limit))),
        _ => return Err(no_overload(name, &[&[Value::string(text)], rest].concat())),
    })
}

fn index_of(chars: &[char], part: &str, from: i64) -> Result<i64, EvalError> {
    if part.is_empty() {
        return Ok(from);
    }
    let start = usize::try_from(from).map_err(|_| EvalError::IndexOutOfRange(from))?;
    let part: Vec<char> = part.chars().collect();
    Ok((start..chars.len()).find(|i| chars[*i..].starts_with(&part)).map_or(-1, |i| i as i64))
}

fn last_index_of(chars: &[char], part: &str, from: i64) -> Result<i64, EvalError> {
    if part.is_empty() {
        return Ok(from);
    }
    let start = usize::try_from(from).map_err(|_| EvalError::IndexOutOfRange(from))?;
    if start >= chars.len() {
        return Ok(-1);
    }
    let part: Vec<char> = part.chars().collect();
    Ok((0..=start).rev().find(|i| chars[*i..].starts_with(&part)).map_or(-1, |i| i as i64))
}

/// Splits a text as Go's `strings.SplitN` does: an empty separator splits between characters.
fn split(text: &str, separator: &str, limit: usize) -> Vec<String> {
    if limit == 0 {
        return Vec::new();
    }
    if !separator.is_empty() {
        return text.splitn(limit, separator).map(str::to_owned).collect();
    }
    let mut parts: Vec<String> = text.chars().map(String::from).collect();
    if parts.len() > limit {
        let rest = parts.split_off(limit - 1).concat();
        parts.push(rest);
    }
    parts
}

/// Returns the text as a literal.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
