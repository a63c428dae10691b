//! `format`: its verbs, and the validation of constant formats; mirrors cel-go's `ext/formatting.go`.

use super::ast::{Call, Expr, Kind, Literal};
use super::budget::{self, MAX_BYTES};
use super::convert;
use super::error::EvalError;
use super::number::quote;
use super::types::Type;
use super::value::Value;

/// The conversion that a verb applies.
#[derive(Clone, Copy)]
enum Verb {
    String,
    Decimal,
    Fixed(usize),
    Scientific(usize),
    Binary,
    Hex { upper: bool },
    Octal,
}

enum Part<'a> {
    Text(&'a str),
    Verb(Verb),
}

/// Parses a format; `limit` is the number of arguments.
struct Parts<'a> {
    rest: &'a str,
    used: usize,
    limit: usize,
    /// Whether a missing argument is detected first, as at run time.
    arguments_first: bool,
}

impl<'a> Parts<'a> {
    fn next(&mut self) -> Option<Result<Part<'a>, String>> {
        if self.rest.is_empty() {
            return None;
        }
        let Some(after) = self.rest.strip_prefix('%') else {
            let end = self.rest.find('%').unwrap_or(self.rest.len());
            let (text, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Some(Ok(Part::Text(text)));
        };
        if let Some(rest) = after.strip_prefix('%') {
            self.rest = rest;
            return Some(Ok(Part::Text("%")));
        }
        let missing = || Err(format!("index {} out of range", self.used));
        if self.arguments_first && self.used >= self.limit {
            return Some(missing());
        }
        if after.is_empty() {
            return Some(Err("unexpected end of string".to_owned()));
        }
        if self.used >= self.limit {
            return Some(missing());
        }
        self.used += 1;
        self.rest = after;
        Some(self.verb().map(Part::Verb).map_err(|why| format!("could not parse formatting clause: {why}")))
    }

    fn verb(&mut self) -> Result<Verb, String> {
        let mut precision = 6;
        if let Some(rest) = self.rest.strip_prefix('.') {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == rest.len() {
                return Err("error while parsing precision: could not find end of precision specifier".to_owned());
            }
            let number = &rest[..digits];
            let failed = |why| {
                Err(format!(
                    "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing {}: {why}",
                    quote(number)
                ))
            };
            if number.is_empty() {
                return failed("invalid syntax");
            }
            precision = match number.parse::<i64>() {
                Ok(n) => usize::try_from(n).unwrap_or(0).min(i16::MAX as usize),
                Err(_) => return failed("value out of range"),
            };
            self.rest = &rest[digits..];
        }
        let first = self.rest.as_bytes().first().copied().unwrap_or_default();
        let size = self.rest.chars().next().map_or(0, char::len_utf8);
        self.rest = &self.rest[size..];
        Ok(match first {
            b's' => Verb::String,
            b'd' => Verb::Decimal,
            b'f' => Verb::Fixed(precision),
            b'e' => Verb::Scientific(precision),
            b'b' => Verb::Binary,
            b'x' => Verb::Hex { upper: false },
            b'X' => Verb::Hex { upper: true },
            b'o' => Verb::Octal,
            other => return Err(format!("unrecognized formatting clause \"{}\"", char::from(other))),
        })
    }
}

const STRING: &str =
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";

impl Verb {
    /// Returns the error for an argument that the verb does not accept.
    fn refusal(self, ty: &str) -> String {
        let why = match self {
            Self::String => STRING,
            Self::Decimal => "decimal clause can only be used on integers",
            Self::Fixed(_) => "fixed-point clause can only be used on doubles",
            Self::Scientific(_) => "scientific clause can only be used on doubles",
            Self::Binary => "only integers and bools can be formatted as binary",
            Self::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Self::Octal => "octal clause can only be used on integers",
        };
        format!("error during formatting: {why}, was given {ty}")
    }

    /// Whether the verb accepts values of a type, as far as the type is known before evaluation.
    fn takes(self, ty: &Type) -> bool {
        use Type as T;
        match self {
            _ if *ty == T::Dyn => true,
            Self::String => matches!(
                ty,
                T::List(_)
                    | T::Map(_)
                    | T::Int
                    | T::Uint
                    | T::Double
                    | T::Bool
                    | T::String
                    | T::Timestamp
                    | T::Bytes
                    | T::Duration
                    | T::Type(_)
                    | T::Null
            ),
            Self::Decimal | Self::Octal => matches!(ty, T::Int | T::Uint),
            Self::Fixed(_) | Self::Scientific(_) => matches!(ty, T::Double | T::String),
            Self::Binary => matches!(ty, T::Int | T::Uint | T::Bool),
            Self::Hex { .. } => matches!(ty, T::Int | T::Uint | T::Bytes | T::String),
        }
    }

    /// Returns the first part of an argument that the verb does not accept.
    fn refused(self, arg: &Expr) -> Option<&Expr> {
        if !self.takes(&arg.ty) {
            return Some(arg);
        }
        match (self, &arg.kind) {
            (Self::String, Kind::List(_) | Kind::Map(_)) => arg.children().into_iter().find_map(|child| self.refused(child)),
            _ => None,
        }
    }

    fn show(self, value: &Value) -> Result<String, String> {
        let refused = || Err(self.refusal(value.type_name()));
        Ok(match (self, value) {
            (Self::String, _) => show(value)?,
            (Self::Decimal, Value::Int(_) | Value::Uint(_)) => value.show(),
            (Self::Fixed(_) | Self::Scientific(_), Value::Double(d)) => self.show_double(*d),
            (Self::Fixed(_) | Self::Scientific(_), Value::String(s)) => match s.as_str() {
                "NaN" => self.show_double(f64::NAN),
                "Infinity" => self.show_double(f64::INFINITY),
                "-Infinity" => self.show_double(f64::NEG_INFINITY),
                _ => return refused(),
            },
            (Self::Binary, Value::Bool(b)) => i32::from(*b).to_string(),
            (Self::Binary, Value::Int(i)) => signed(*i, |u| format!("{u:b}")),
            (Self::Binary, Value::Uint(u)) => format!("{u:b}"),
            (Self::Octal, Value::Int(i)) => signed(*i, |u| format!("{u:o}")),
            (Self::Octal, Value::Uint(u)) => format!("{u:o}"),
            (Self::Hex { upper }, _) => {
                let hex = match value {
                    Value::Int(i) => signed(*i, |u| format!("{u:x}")),
                    Value::Uint(u) => format!("{u:x}"),
                    Value::String(s) => s.bytes().map(|b| format!("{b:02x}")).collect(),
                    Value::Bytes(b) => b.iter().map(|b| format!("{b:02x}")).collect(),
                    _ => return refused(),
                };
                if upper { hex.to_uppercase() } else { hex }
            }
            _ => return refused(),
        })
    }

    /// Formats a number as the message printer of American English does.
    fn show_double(self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "" };
        let size = value.abs();
        let number = match self {
            _ if value.is_nan() => "NaN".to_owned(),
            _ if value.is_infinite() => format!("{sign}∞"),
            Self::Scientific(_) => format!("{sign}{}", scientific(size)),
            Self::Fixed(precision) => format!("{sign}{}", grouped(&fixed(size, precision))),
            _ => value.to_string(),
        };
        match self {
            // Upstream passes the precision as the width.
            Self::Scientific(width) => format!("{number:>width$}"),
            _ => number,
        }
    }
}

/// Formats a number that is not negative; mirrors `ConvertFloat` and `decimalVisibleDigits` in
/// `golang.org/x/text/internal/number`.
fn fixed(size: f64, precision: usize) -> String {
    if precision == 0 {
        return whole(size);
    }
    let mut shown = format!("{size:.precision$}");
    // The smallest number of decimals is held in eight bits.
    let (least, zeros) = (precision % 256, shown.len() - shown.trim_end_matches('0').len());
    shown.truncate(shown.len() - zeros.min(precision - least));
    if shown.ends_with('.') {
        shown.pop();
    }
    shown
}

/// Formats a number without decimals. The shortest digits are rounded to the nearest even number, and halves below one up.
/// A number that gets a digit more by that (99.6, 0.5) loses it again, as the old exponent is kept.
fn whole(size: f64) -> String {
    let shown = format!("{size:e}");
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    if digits.iter().all(|digit| *digit == 0) {
        return "0".to_owned();
    }
    // The number is 0.digits, times ten to the power of this.
    let exponent = exponent.parse::<i32>().unwrap_or(0) + 1;
    let keep = usize::try_from(exponent).unwrap_or(0);
    if let Some(next) = digits.get(keep).copied() {
        let is_odd = keep.checked_sub(1).is_none_or(|last| digits[last] % 2 == 1);
        let up = next > 5 || next == 5 && (digits.len() > keep + 1 || is_odd);
        digits.truncate(keep);
        if up {
            while digits.last() == Some(&9) {
                digits.pop();
            }
            match digits.last_mut() {
                Some(last) => *last += 1,
                None => digits.push(1),
            }
        }
    }
    let text = |digits: &[u8]| digits.iter().map(|digit| char::from(b'0' + digit)).collect::<String>();
    match digits.len() {
        0 => "0".to_owned(),
        length if keep == 0 => format!("0.{}{}", "0".repeat(exponent.unsigned_abs() as usize), text(&digits[..length])),
        length => format!("{}{}", text(&digits), "0".repeat(keep.saturating_sub(length))),
    }
}

fn signed(value: i64, digits: impl Fn(u64) -> String) -> String {
    format!("{}{}", if value < 0 { "-" } else { "" }, digits(value.unsigned_abs()))
}

/// Groups the digits before the decimal point by thousands.
fn grouped(digits: &str) -> String {
    let (whole, fraction) = digits.find('.').map_or((digits, ""), |point| digits.split_at(point));
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out + fraction
}

fn scientific(value: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let shown = format!("{value:.6e}");
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = format!("{:02}", exponent.abs()).bytes().map(|b| DIGITS[usize::from(b - b'0')]).collect();
    format!("{mantissa}×10{}{digits}", if exponent < 0 { "⁻" } else { "" })
}

/// Formats a value for `%s`.
fn show(value: &Value) -> Result<String, String> {
    let refused = || Verb::String.refusal(value.type_name());
    match value {
        Value::Null => Ok("null".to_owned()),
        Value::Type(ty) => Ok(ty.name().to_owned()),
        Value::List(_) | Value::Map(_) => show_within(value).map_err(|why| format!("error during formatting: {why}")),
        Value::Quantity(_) | Value::Ip(_) | Value::Cidr(_) => Err(refused()),
        _ => match convert::convert("string", value) {
            Ok(Value::String(text)) => Ok(text.to_string()),
            _ if matches!(value, Value::Bytes(_)) => {
                Err(format!("error during formatting: could not convert argument \"{}\" to string", EvalError::Utf8))
            }
            _ => Err(refused()),
        },
    }
}

/// Formats a value inside a list or a map.
fn show_within(value: &Value) -> Result<String, String> {
    if !budget::spend(8) {
        return Ok(String::new());
    }
    Ok(match value {
        Value::String(s) => quote(s),
        Value::Bytes(_) => format!("b{}", quote(&show(value)?)),
        Value::Double(d) if d.is_nan() => "\"NaN\"".to_owned(),
        Value::Double(d) if d.is_infinite() => format!("\"{}Inf\"", if *d < 0.0 { '-' } else { '+' }),
        Value::Double(d) => format!("{d:.6}"),
        Value::Timestamp(_) => format!("timestamp({})", quote(&show(value)?)),
        Value::Duration(_) => format!("duration({})", quote(&show(value)?)),
        Value::List(items) => format!("[{}]", items.iter().map(show_within).collect::<Result<Vec<_>, _>>()?.join(", ")),
        Value::Map(map) => {
            let mut entries = Vec::new();
            for (key, value) in &map.entries {
                let key = match &key.0 {
                    Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => show_within(&key.0)?,
                    other => return Err(format!("no formatting function for map key of type {}", other.type_name())),
                };
                entries.push((key, show_within(value)?));
            }
            entries.sort();
            format!("{{{}}}", entries.into_iter().map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Type(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => show(value)?,
        _ => return Err(format!("no formatting function for {}", value.type_name())),
    })
}

/// Applies a format to arguments.
pub(super) fn apply(text: &str, args: &[Value]) -> Result<String, EvalError> {
    let mut parts = Parts { rest: text, used: 0, limit: args.len(), arguments_first: true };
    let mut out = String::new();
    while let Some(part) = parts.next() {
        match part.map_err(EvalError::Format)? {
            Part::Text(text) => out.push_str(text),
            Part::Verb(verb) => out.push_str(&verb.show(&args[parts.used - 1]).map_err(EvalError::Format)?),
        }
        if out.len() > MAX_BYTES {
            return Err(EvalError::CostLimit);
        }
    }
    Ok(out)
}

/// Returns the error of a constant format and its argument list, with its place.
pub(super) fn check(expr: &Expr, call: &Call) -> Option<(usize, String)> {
    let (Some(Expr { kind: Kind::Literal(Literal::String(text)), .. }), [Expr { kind: Kind::List(elements), .. }]) =
        (&call.target, call.args.as_slice())
    else {
        return None;
    };
    if call.function.as_str() != "format" {
        return None;
    }
    let mut parts = Parts { rest: text, used: 0, limit: elements.len(), arguments_first: false };
    while let Some(part) = parts.next() {
        match part {
            Err(why) => return Some((expr.at, why)),
            Ok(Part::Text(_)) => {}
            Ok(Part::Verb(verb)) => {
                if let Some(refused) = verb.refused(&elements[parts.used - 1].value) {
                    return Some((refused.at, verb.refusal(refused.ty.name())));
                }
            }
        }
    }
    (elements.len() > parts.used)
        .then(|| (expr.at, format!("too many arguments supplied to string.format (expected {}, got {})", parts.used, elements.len())))
}
