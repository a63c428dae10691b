//! Resource quantities, exact.
//!
//! Mirrors `staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go`: a decimal number with an optional binary
//! (`Ki` … `Ei`), decimal (`n` … `E`) or exponent (`e3`) suffix. Parsing rounds up to billionths; [`Quantity::value`]
//! and [`Quantity::milli_value`] round up too. Negative amounts round away from zero. No floating point is used.
//!
//! Results beyond 64 bits are what upstream's arithmetic makes of them, which depends on how it keeps an amount: see [`Kept`].

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NANO: i128 = 1_000_000_000;

/// The notation in which a quantity was written and is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// `500m`, `2`, `3G`
    #[default]
    DecimalSI,
    /// `512Mi`
    BinarySI,
    /// `12e6`
    DecimalExponent,
}

/// How upstream keeps an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// As a 64-bit integer times a power of ten (`int64Amount`): the exponent.
    Integer(i32),
    /// As a decimal of any length (`infDecAmount`).
    Decimal,
}

impl Default for Kept {
    fn default() -> Self {
        Self::Integer(0)
    }
}

/// A number of 128 bits in two parts: lists of quantities are aligned as most others, which allocators do faster.
#[derive(Clone, Copy, Debug, Default)]
struct Nanos {
    high: i64,
    low: u64,
}

impl Nanos {
    const fn of(nanos: i128) -> Self {
        Self { high: (nanos >> 64) as i64, low: nanos as u64 }
    }

    const fn get(self) -> i128 {
        (self.high as i128) << 64 | self.low as i128
    }
}

/// An exact amount of a resource, in billionths; amounts beyond 10^28 units saturate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    nanos: Nanos,
    format: Format,
    kept: Kept,
}

/// The error for a text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("quantity {text:?} is not a number with an optional suffix (n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent)")]
pub struct ParseQuantityError {
    text: String,
}

impl Quantity {
    /// Makes a whole number of units.
    pub const fn units(value: i64) -> Self {
        Self { nanos: Nanos::of(value as i128 * NANO), format: Format::DecimalSI, kept: Kept::Integer(0) }
    }

    /// Makes a number of thousandths.
    pub const fn milli(value: i64) -> Self {
        Self { nanos: Nanos::of(value as i128 * (NANO / 1000)), format: Format::DecimalSI, kept: Kept::Integer(-3) }
    }

    /// Makes a whole number of bytes, shown with binary suffixes.
    pub const fn bytes(value: i64) -> Self {
        Self { nanos: Nanos::of(value as i128 * NANO), format: Format::BinarySI, kept: Kept::Integer(0) }
    }

    /// Returns whole units, rounded up; what upstream returns if they do not fit 64 bits.
    pub fn value(self) -> i64 {
        self.scaled(0)
    }

    /// Returns thousandths, rounded up; what upstream returns if they do not fit 64 bits.
    pub fn milli_value(self) -> i64 {
        self.scaled(-3)
    }

    /// Returns the amount in units of `10^exponent`; mirrors `ScaledValue`.
    fn scaled(self, exponent: i32) -> i64 {
        let unit = 10i128.pow((exponent + 9).unsigned_abs());
        if self.nanos() < 0 && self.kept == Kept::Decimal {
            // The division of decimals takes each one below 2^63 for one that fits 64 bits, and rounds up towards zero.
            let (nanos, unit) = (self.nanos() as i64, unit as i64);
            return nanos / unit + i64::from(nanos % unit != 0);
        }
        let exact = ceil_div(self.nanos(), unit);
        match (i64::try_from(exact), self.kept) {
            (Ok(value), _) => value,
            // `positiveScaleInt64` multiplies at once by these powers, and gives up in the middle for others.
            (Err(_), Kept::Integer(own)) if !matches!(own.saturating_sub(exponent), 1 | 2 | 3 | 6 | 9) => 0,
            (Err(_), _) => exact as i64,
        }
    }

    /// Returns the sum that upstream keeps, with `format`.
    fn sum(self, other: Self, format: Format) -> Self {
        let nanos = self.nanos().saturating_add(other.nanos());
        let kept = match (self.kept, other.kept) {
            (Kept::Integer(_), Kept::Integer(_)) if other.nanos() == 0 => self.kept,
            (Kept::Integer(_), Kept::Integer(_)) if self.nanos() == 0 => other.kept,
            (Kept::Integer(a), Kept::Integer(b)) => {
                let least = a.min(b);
                let fits = |nanos| is_integer_of(nanos, least);
                if fits(self.nanos()) && fits(other.nanos()) && fits(nanos) { Kept::Integer(least) } else { Kept::Decimal }
            }
            _ => Kept::Decimal,
        };
        Self { nanos: Nanos::of(nanos), format, kept }
    }

    /// Returns whether the amount is zero.
    pub fn is_zero(self) -> bool {
        self.nanos() == 0
    }

    /// Returns the exact amount in billionths.
    pub fn nanos(self) -> i128 {
        self.nanos.get()
    }
}

impl std::ops::Add for Quantity {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.sum(other, if self.nanos() == 0 { other.format } else { self.format })
    }
}

impl std::ops::AddAssign for Quantity {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::ops::Sub for Quantity {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        let format = if self.nanos() == 0 { other.format } else { self.format };
        self.sum(Self { nanos: Nanos::of(-other.nanos()), ..other }, format)
    }
}

/// Quantities are equal if their amounts are, in whatever notation.
impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos() == other.nanos()
    }
}

impl Eq for Quantity {}

impl std::hash::Hash for Quantity {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.nanos().hash(state);
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.nanos().cmp(&other.nanos())
    }
}

fn ceil_div(a: i128, b: i128) -> i128 {
    a / b + if a % b == 0 { 0 } else { a.signum() }
}

/// Returns whether an amount is a 64-bit integer times `10^exponent`.
fn is_integer_of(nanos: i128, exponent: i32) -> bool {
    let unit = u32::try_from(exponent.saturating_add(9)).ok().and_then(|power| 10i128.checked_pow(power));
    unit.is_some_and(|unit| nanos % unit == 0 && i64::try_from(nanos / unit).is_ok())
}

impl std::str::FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseQuantityError { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Quantity> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') {
        return None;
    }
    let (base, exponent, format) = scale(suffix)?;
    let digits = whole.trim_start_matches('0').len().max(1);

    // mantissa × base^exponent, in billionths.
    // A longer mantissa would overflow once it is multiplied by a power of two.
    let longest = (i128::MAX >> if base == 2 { exponent } else { 0 }) / 20;
    let mut mantissa: i128 = 0;
    let mut shift = 0i32;
    let mut lost = false;
    for (i, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let in_fraction = i >= whole.len();
        if mantissa > longest {
            // Remember whether a digit that is cut off was not 0, so that the result still rounds up.
            lost |= digit != b'0';
            shift = shift.saturating_add(i32::from(!in_fraction));
            continue;
        }
        mantissa = mantissa * 10 + i128::from(digit - b'0');
        shift = shift.saturating_sub(i32::from(in_fraction));
    }
    let (mut nanos, kept) = match base {
        2 => {
            // Upstream estimates the digits of the suffix.
            let is_short = fraction.is_empty() && digits + (exponent as usize * 3 / 10) < 15;
            let shifted = mantissa.checked_mul(1i128.checked_shl(exponent as u32)?).unwrap_or(i128::MAX / NANO);
            let kept = if is_short && i64::try_from(shifted).is_ok() { Kept::Integer(0) } else { Kept::Decimal };
            (apply_decimal(shifted, shift.saturating_add(9), &mut lost), kept)
        }
        _ => {
            let own = exponent.saturating_sub(i32::try_from(fraction.len()).unwrap_or(i32::MAX));
            let kept = if digits + fraction.len() <= MAX_INTEGER_DIGITS && own >= -9 { Kept::Integer(own) } else { Kept::Decimal };
            (apply_decimal(mantissa, shift.saturating_add(exponent).saturating_add(9), &mut lost), kept)
        }
    };
    if number.bytes().all(|byte| byte == b'.') && kept == Kept::Decimal {
        return None;
    }
    nanos = nanos.saturating_add(i128::from(lost));
    if format == Format::BinarySI {
        nanos = nanos.min(i128::from(i64::MAX) * NANO);
    }
    Some(Quantity { nanos: Nanos::of(if negative { -nanos } else { nanos }), format, kept })
}

/// Upstream's limit on the decimal digits of an amount that is kept as an integer (`maxInt64Factors`).
const MAX_INTEGER_DIGITS: usize = 18;

/// Returns `value × 10^power`, saturating; sets `lost` if digits are cut off.
fn apply_decimal(value: i128, power: i32, lost: &mut bool) -> i128 {
    if value == 0 {
        return 0;
    }
    if power >= 0 {
        return 10i128.checked_pow(power as u32).and_then(|p| value.checked_mul(p)).unwrap_or(i128::MAX / 2);
    }
    let Some(divisor) = 10i128.checked_pow(power.unsigned_abs()) else {
        *lost = true;
        return 0;
    };
    *lost |= value % divisor != 0;
    value / divisor
}

fn scale(suffix: &str) -> Option<(u8, i32, Format)> {
    let (base, exponent, format) = match suffix {
        "" => (10, 0, Format::DecimalSI),
        "n" => (10, -9, Format::DecimalSI),
        "u" => (10, -6, Format::DecimalSI),
        "m" => (10, -3, Format::DecimalSI),
        "k" => (10, 3, Format::DecimalSI),
        "M" => (10, 6, Format::DecimalSI),
        "G" => (10, 9, Format::DecimalSI),
        "T" => (10, 12, Format::DecimalSI),
        "P" => (10, 15, Format::DecimalSI),
        "E" => (10, 18, Format::DecimalSI),
        "Ki" => (2, 10, Format::BinarySI),
        "Mi" => (2, 20, Format::BinarySI),
        "Gi" => (2, 30, Format::BinarySI),
        "Ti" => (2, 40, Format::BinarySI),
        "Pi" => (2, 50, Format::BinarySI),
        "Ei" => (2, 60, Format::BinarySI),
        _ => {
            let digits = suffix.strip_prefix(['e', 'E'])?;
            // Upstream cuts the exponent to 32 bits.
            let exponent: i64 = digits.parse().ok()?;
            (10, exponent as i32, Format::DecimalExponent)
        }
    };
    Some((base, exponent, format))
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Amounts below 1024 and fractions are shown in decimal, whatever the notation.
        if self.format == Format::BinarySI && self.nanos() % NANO == 0 && self.nanos().abs() >= 1024 * NANO {
            let mut value = self.nanos() / NANO;
            let mut suffix = "";
            for next in ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] {
                if value == 0 || value % 1024 != 0 {
                    break;
                }
                value /= 1024;
                suffix = next;
            }
            return write!(f, "{value}{suffix}");
        }
        let mut value = self.nanos();
        let suffixes = match self.format {
            Format::DecimalExponent => ["e-9", "e-6", "e-3", "", "e3", "e6", "e9", "e12", "e15", "e18"],
            Format::DecimalSI | Format::BinarySI => ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"],
        };
        let mut steps = suffixes.into_iter();
        let mut suffix = steps.next().unwrap_or("");
        if value == 0 {
            return f.write_str("0");
        }
        for next in steps {
            if value % 1000 != 0 {
                break;
            }
            value /= 1000;
            suffix = next;
        }
        write!(f, "{value}{suffix}")
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Quantity;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity such as 500m, 2 or 512Mi")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
                text.trim().parse().map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Quantity, E> {
                Ok(Quantity::units(value))
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Quantity, E> {
                value.to_string().parse().map_err(E::custom)
            }
            fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Quantity, E> {
                value.to_string().parse().map_err(E::custom)
            }
            fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Quantity, E> {
                value.to_string().parse().map_err(E::custom)
            }
            fn visit_unit<E: serde::de::Error>(self) -> Result<Quantity, E> {
                Ok(Quantity::default())
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Quantity, E> {
                // YAML parses a bare `1.5` as a float; its shortest text is the text as written.
                value.to_string().parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests;
