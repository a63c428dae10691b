//! Quantities in Kubernetes' two representations, which `isInteger` and `asInteger` distinguish; mirrors
//! `staging/src/k8s.io/apimachinery/pkg/api/resource`.

use std::cmp::Ordering;

use super::error::{EvalError, QuantityError};

/// An amount of a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    amount: Amount,
    /// Whether it was computed. kube-scheduler compares only parsed quantities on the right of `==`.
    pub(super) computed: bool,
}

/// `value` times ten to the `power`.
#[derive(Clone, Copy, Debug)]
enum Amount {
    /// `int64Amount`
    Small { value: i64, power: i32 },
    /// `infDecAmount`. The value saturates beyond 38 digits, which no resource has.
    Large { value: i128, power: i32 },
}

/// The exponent of the smallest amount, a billionth.
const NANO: i32 = -9;

fn pow10(power: u32) -> i128 {
    10_i128.checked_pow(power).unwrap_or(i128::MAX)
}

impl Quantity {
    /// Parses a text as `ParseQuantity` does.
    pub(super) fn parse(text: &str) -> Result<Self, QuantityError> {
        let parsed = |amount| Ok(Self { amount, computed: false });
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let Parts { negative, whole, fraction, suffix, has_digits } = split(text).ok_or(QuantityError::Format)?;
        let (base, exponent) = interpret(suffix).ok_or(QuantityError::Suffix)?;
        let digits = (whole.len() + fraction.len()) as i32;
        let sign = if negative { -1 } else { 1 };
        let (room, power, factor) = match base {
            10 => (18 - digits, exponent.saturating_sub(fraction.len() as i32), 1),
            _ if fraction.is_empty() => (15 - whole.len() as i32 - exponent * 3 / 10 - 1, 0, 1_i64 << exponent),
            _ => (-1, 0, 1),
        };
        if room >= 0 && power >= NANO {
            let value: i64 = format!("{whole}{fraction}").parse().map_err(|_| QuantityError::Number)?;
            if let Some(value) = value.checked_mul(factor) {
                return parsed(Amount::Small { value: sign * value, power });
            }
        }
        if !has_digits {
            return Err(QuantityError::Number);
        }
        let value = format!("{whole}{fraction}").bytes().fold(0_i128, |v, b| v.saturating_mul(10).saturating_add(i128::from(b - b'0')));
        let (mut value, mut power) = match base {
            10 => (value, exponent.saturating_sub(fraction.len() as i32)),
            _ => (value.saturating_mul(1 << exponent), -(fraction.len() as i32)),
        };
        if value != 0 {
            (value, power) = rounded_up(value, power);
        }
        if base == 2 && compare(value, power, i64::MAX.into(), 0) == Ordering::Greater {
            (value, power) = (i64::MAX.into(), 0);
        }
        parsed(Amount::Large { value: i128::from(sign) * value, power })
    }

    fn parts(self) -> (i128, i32) {
        match self.amount {
            Amount::Small { value, power } => (value.into(), power),
            Amount::Large { value, power } => (value, power),
        }
    }

    /// Returns the amount if it is stored as a whole number.
    pub(super) fn as_int(self) -> Result<i64, EvalError> {
        match self.amount {
            Amount::Small { value, power: 0 } => Ok(value),
            Amount::Small { value, power } if power > 0 => scaled(value, power).ok_or(EvalError::NotWhole),
            _ => Err(EvalError::NotWhole),
        }
    }

    /// Returns the amount as a float; mirrors `AsApproximateFloat64`.
    pub(super) fn as_float(self) -> f64 {
        let (value, power) = self.parts();
        if power == 0 {
            return value as f64;
        }
        value as f64 * format!("1e{power}").parse::<f64>().unwrap_or(f64::INFINITY)
    }

    pub(super) fn sign(self) -> i64 {
        self.parts().0.signum() as i64
    }

    pub(super) fn cmp(self, other: Self) -> Ordering {
        let ((a, a_power), (b, b_power)) = (self.parts(), other.parts());
        compare(a, a_power, b, b_power)
    }

    /// Makes a whole number.
    pub(super) fn units(value: i64) -> Self {
        Self { amount: Amount::Small { value, power: 0 }, computed: true }
    }

    pub(super) fn add(self, other: Self) -> Self {
        self.plus(other, 1)
    }

    pub(super) fn sub(self, other: Self) -> Self {
        self.plus(other, -1)
    }

    /// Adds the other amount times the sign, in the small form if both are small and the sum fits.
    fn plus(self, other: Self, sign: i64) -> Self {
        let of = |amount| Self { amount, computed: true };
        if let (Amount::Small { value: a, power: p }, Amount::Small { value: b, power: q }) = (self.amount, other.amount) {
            // The smallest number has no negative and stays as it is, as in Go.
            let b = b.wrapping_mul(sign);
            if b == 0 {
                return of(self.amount);
            }
            if a == 0 {
                return of(Amount::Small { value: b, power: q });
            }
            let power = p.min(q);
            let sum = scaled(a, p - power).zip(scaled(b, q - power)).and_then(|(a, b)| a.checked_add(b));
            if let Some(value) = sum {
                return of(Amount::Small { value, power });
            }
        }
        let ((a, p), (b, q)) = (self.parts(), other.parts());
        let (b, power) = (b.saturating_mul(sign.into()), p.min(q));
        let lift = |value: i128, by: i32| value.saturating_mul(pow10(by.unsigned_abs()));
        of(Amount::Large { value: lift(a, p - power).saturating_add(lift(b, q - power)), power })
    }
}

/// Returns `value` times ten to the `power`, which must not be negative.
fn scaled(value: i64, power: i32) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    10_i64.checked_pow(power.unsigned_abs()).and_then(|factor| value.checked_mul(factor))
}

/// Rounds to billionths, away from zero.
fn rounded_up(value: i128, power: i32) -> (i128, i32) {
    if power >= NANO {
        return match 10_i128.checked_pow((power - NANO).unsigned_abs()).and_then(|factor| value.checked_mul(factor)) {
            Some(value) => (value, NANO),
            None => (value, power),
        };
    }
    let divisor = pow10((NANO - power).unsigned_abs());
    (value / divisor + i128::from(value % divisor != 0), NANO)
}

fn compare(a: i128, a_power: i32, b: i128, b_power: i32) -> Ordering {
    if a.signum() != b.signum() || a == 0 {
        return a.signum().cmp(&b.signum());
    }
    let power = a_power.min(b_power);
    let lift = |value: i128, by: i32| 10_i128.checked_pow(by.unsigned_abs()).and_then(|factor| value.checked_mul(factor));
    match (lift(a, a_power - power), lift(b, b_power - power)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // Only one side can overflow when scaled; it has the larger magnitude.
        (None, _) => a.signum().cmp(&0),
        (_, None) => 0.cmp(&b.signum()),
    }
}

/// The parts of a quantity's text; `whole` has no leading zeros.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
    /// Whether there is a digit before the suffix.
    has_digits: bool,
}

fn split(text: &str) -> Option<Parts<'_>> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = unsigned.trim_start_matches('0');
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let letters = suffix.bytes().take_while(|b| b"eEinumkKMGTP".contains(b)).count();
    let exponent = suffix[letters..].strip_prefix(['+', '-']).unwrap_or(&suffix[letters..]);
    if digits(exponent) != exponent.len() {
        return None;
    }
    let number = &text[..text.len() - suffix.len()];
    let has_digits = number.bytes().any(|b| b.is_ascii_digit());
    Some(Parts { negative: text.starts_with('-'), whole: if whole.is_empty() { "0" } else { whole }, fraction, suffix, has_digits })
}

/// Returns the base and the exponent of a suffix.
fn interpret(suffix: &str) -> Option<(i32, i32)> {
    Some(match suffix {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (2, 10),
        "Mi" => (2, 20),
        "Gi" => (2, 30),
        "Ti" => (2, 40),
        "Pi" => (2, 50),
        "Ei" => (2, 60),
        _ => (10, suffix.strip_prefix(['e', 'E']).filter(|digits| !digits.is_empty())?.parse::<i64>().ok()? as i32),
    })
}
