//! Resource quantities, exact.
//!
//! Mirrors `staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go`: a decimal number with an optional binary
//! (`Ki` … `Ei`), decimal (`n` … `E`) or exponent (`e3`) suffix. Parsing rounds up to billionths; [`Quantity::value`]
//! and [`Quantity::milli_value`] round up too. Negative amounts round away from zero. No floating point is used.

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

/// An exact amount of a resource, in billionths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    nanos: i128,
    format: Format,
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
        Self { nanos: value as i128 * NANO, format: Format::DecimalSI }
    }

    /// Makes a number of thousandths.
    pub const fn milli(value: i64) -> Self {
        Self { nanos: value as i128 * (NANO / 1000), format: Format::DecimalSI }
    }

    /// Makes a whole number of bytes, shown with binary suffixes.
    pub const fn bytes(value: i64) -> Self {
        Self { nanos: value as i128 * NANO, format: Format::BinarySI }
    }

    /// Returns whole units, rounded up.
    pub fn value(self) -> i64 {
        saturate(ceil_div(self.nanos, NANO))
    }

    /// Returns thousandths, rounded up.
    pub fn milli_value(self) -> i64 {
        saturate(ceil_div(self.nanos, NANO / 1000))
    }

    /// Returns whether the amount is zero.
    pub fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// Returns the exact amount in billionths.
    pub fn nanos(self) -> i128 {
        self.nanos
    }
}

impl std::ops::Add for Quantity {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos + other.nanos, format }
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
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos - other.nanos, format }
    }
}

/// Quantities are equal if their amounts are, in whatever notation.
impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl std::hash::Hash for Quantity {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

fn ceil_div(a: i128, b: i128) -> i128 {
    a / b + if a % b == 0 { 0 } else { a.signum() }
}

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
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
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let (base, exponent, format) = scale(suffix)?;

    // mantissa × base^exponent, in billionths. Kubernetes caps the amount at 2^63-1 units.
    let cap = i128::from(i64::MAX) * NANO;
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
    let mut nanos = match base {
        2 => {
            let shifted = mantissa.checked_mul(1i128.checked_shl(exponent as u32)?).unwrap_or(i128::MAX / NANO);
            apply_decimal(shifted, shift.saturating_add(9), &mut lost)
        }
        _ => apply_decimal(mantissa, shift.saturating_add(exponent).saturating_add(9), &mut lost),
    };
    nanos = (nanos + i128::from(lost)).min(cap);
    Some(Quantity { nanos: if negative { -nanos } else { nanos }, format })
}

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
            let exponent: i32 = digits.strip_prefix('+').unwrap_or(digits).parse().ok()?;
            (10, exponent, Format::DecimalExponent)
        }
    };
    Some((base, exponent, format))
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Amounts below 1024 and fractions are shown in decimal, whatever the notation.
        if self.format == Format::BinarySI && self.nanos % NANO == 0 && self.nanos.abs() >= 1024 * NANO {
            let mut value = self.nanos / NANO;
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
        let mut value = self.nanos;
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
                Ok(Quantity::units(i64::try_from(value).unwrap_or(i64::MAX)))
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
mod tests {
    use super::*;

    fn q(text: &str) -> Quantity {
        text.parse().unwrap()
    }

    #[test]
    fn values_round_up() {
        for (text, value, milli) in [
            ("0", 0, 0),
            ("1", 1, 1000),
            ("100m", 1, 100),
            ("1.5", 2, 1500),
            (".5", 1, 500),
            ("5.", 5, 5000),
            ("1u", 1, 1),
            ("1n", 1, 1),
            ("0.0001m", 1, 1),
            ("1500m", 2, 1500),
            ("2Ki", 2048, 2_048_000),
            ("1.5Gi", 1_610_612_736, 1_610_612_736_000),
            ("0.1Ki", 103, 102_400),
            ("1k", 1000, 1_000_000),
            ("12e3", 12000, 12_000_000),
            ("12E3", 12000, 12_000_000),
            ("1e-3", 1, 1),
            ("2E", 2_000_000_000_000_000_000, i64::MAX),
            ("-1", -1, -1000),
            ("-1500m", -2, -1500),
            ("1e2147483647", i64::MAX, i64::MAX),
            ("1e-2147483648", 1, 1),
            ("0e2147483647", 0, 0),
            ("12345678901234567890123n", 12_345_678_901_235, 12_345_678_901_234_568),
            ("0.00000000000000000000000000000000000000000001Ei", 1, 1),
            ("1000000000000000000000000000000000000000000000n", i64::MAX, i64::MAX),
            ("+4", 4, 4000),
            ("9999999999999999999999", i64::MAX, i64::MAX),
        ] {
            assert_eq!((q(text).value(), q(text).milli_value()), (value, milli), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_quantity() {
        for text in ["", "1..5", "abc", "1Kii", "1 Gi", "--1", "1ki", "e3", ".", "1e", "0x10"] {
            assert!(text.parse::<Quantity>().is_err(), "{text}");
        }
    }

    #[test]
    fn reads_strings_and_numbers_of_any_size() {
        for (json, expected) in
            [("\"500m\"", "500m"), ("2", "2"), ("0.1", "100m"), ("null", "0"), ("18446744073709551615", "1e30"), ("-3", "-3")]
        {
            assert_eq!(serde_json::from_str::<Quantity>(json).unwrap(), q(expected), "{json}");
        }
        assert_eq!(serde_yaml::from_str::<Quantity>("340282366920938463463374607431768211455").unwrap(), q("1e30"));
        for json in ["\"\"", "true", "[]", "{}"] {
            assert!(serde_json::from_str::<Quantity>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn shows_the_canonical_form() {
        for (text, shown) in [
            ("1500m", "1500m"),
            ("2000m", "2"),
            ("1024Mi", "1Gi"),
            ("0", "0"),
            ("0Ki", "0"),
            ("5000", "5k"),
            ("128974848", "128974848"),
            ("12e6", "12e6"),
            ("1200E-3", "1200e-3"),
            ("0.5Ki", "512"),
            ("1.5Ki", "1536"),
            ("0.1Gi", "107374182400m"),
        ] {
            assert_eq!(q(text).to_string(), shown, "{text}");
        }
    }
}
