//! Natural numbers without an upper limit, as far as counting draws needs them.

use std::cmp::Ordering;
use std::fmt;

/// A natural number. The lowest limb comes first, and the last is never 0; zero has no limbs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Natural(Vec<u32>);

/// The largest power of ten in one limb, and its exponent.
const DECIMAL: (u32, usize) = (1_000_000_000, 9);

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        Self(vec![value as u32, (value >> 32) as u32]).trimmed()
    }
}

impl Natural {
    fn trimmed(mut self) -> Self {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let mut carry = 0;
        let mut limbs: Vec<u32> = Vec::with_capacity(long.0.len() + 1);
        for (i, limb) in long.0.iter().enumerate() {
            let sum = u64::from(*limb) + u64::from(short.0.get(i).copied().unwrap_or(0)) + carry;
            limbs.push(sum as u32);
            carry = sum >> 32;
        }
        limbs.push(carry as u32);
        Self(limbs).trimmed()
    }

    /// Returns the difference; zero where `other` is larger.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        if *self < *other {
            return Self::default();
        }
        let mut borrow = 0;
        let mut limbs = Vec::with_capacity(self.0.len());
        for (i, limb) in self.0.iter().enumerate() {
            let take = i64::from(other.0.get(i).copied().unwrap_or(0)) + borrow;
            let left = i64::from(*limb) - take;
            limbs.push(left as u32);
            borrow = i64::from(left < 0);
        }
        Self(limbs).trimmed()
    }

    /// Returns the product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut limbs = vec![0_u32; self.0.len() + other.0.len()];
        for (i, a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, b) in other.0.iter().enumerate() {
                let sum = u64::from(limbs[i + j]) + u64::from(*a) * u64::from(*b) + carry;
                limbs[i + j] = sum as u32;
                carry = sum >> 32;
            }
            limbs[i + other.0.len()] = carry as u32;
        }
        Self(limbs).trimmed()
    }

    /// Returns the quotient by a small number, and what is left; the divisor is not 0.
    pub fn divided(&self, divisor: u32) -> (Self, u32) {
        let mut limbs = vec![0; self.0.len()];
        let mut rest = 0;
        for (i, limb) in self.0.iter().enumerate().rev() {
            let value = rest << 32 | u64::from(*limb);
            limbs[i] = (value / u64::from(divisor)) as u32;
            rest = value % u64::from(divisor);
        }
        (Self(limbs).trimmed(), rest as u32)
    }

    /// Returns what division by a small number leaves; the divisor is not 0.
    pub fn modulo(&self, divisor: u32) -> u32 {
        self.0.iter().rev().fold(0, |rest, limb| (rest << 32 | u64::from(*limb)) % u64::from(divisor)) as u32
    }

    /// Returns the number as one of 64 bits, where it is one.
    pub fn to_u64(&self) -> Option<u64> {
        match self.0[..] {
            [] => Some(0),
            [low] => Some(u64::from(low)),
            [low, high] => Some(u64::from(high) << 32 | u64::from(low)),
            _ => None,
        }
    }

    /// Returns the number as one of 32 bits, where it is one.
    pub fn to_u32(&self) -> Option<u32> {
        self.to_u64()?.try_into().ok()
    }

    /// Returns a float and an exponent of two whose product is about the number.
    pub fn scaled(&self) -> (f64, i64) {
        let top = self.0.len().saturating_sub(3);
        let float = self.0[top..].iter().rev().fold(0.0, |sum, limb| sum * 4_294_967_296.0 + f64::from(*limb));
        (float, 32 * top as i64)
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

/// In decimal digits.
impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups = Vec::new();
        let mut rest = self.clone();
        while !rest.is_zero() {
            let (quotient, group) = rest.divided(DECIMAL.0);
            groups.push(group);
            rest = quotient;
        }
        let Some(first) = groups.pop() else { return f.write_str("0") };
        write!(f, "{first}")?;
        groups.iter().rev().try_for_each(|group| write!(f, "{group:0width$}", width = DECIMAL.1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A number of up to four limbs.
    fn natural(value: u128) -> Natural {
        let half = |value: u128| Natural::from(value as u64);
        half(value >> 64).times(&half(1 << 63)).times(&half(2)).plus(&half(value & u128::from(u64::MAX)))
    }

    #[test]
    fn factorials_come_out_digit_by_digit() {
        let factorial = (1..=30).fold(Natural::from(1), |product, n| product.times(&n.into()));
        assert_eq!(factorial.to_string(), "265252859812191058636308480000000");
        let back = (1..=30).fold(factorial, |quotient, n| quotient.divided(n).0);
        assert_eq!((back.to_u64(), Natural::default().to_string()), (Some(1), "0".to_owned()));
    }

    proptest! {
        #[test]
        fn it_counts_as_128_bits_do(a in any::<u128>(), b in any::<u64>(), divisor in 1..=u32::MAX, shift in 0..128) {
            let a = a >> shift;
            let (big, small) = (natural(a), Natural::from(b));
            prop_assert_eq!(big.to_string(), a.to_string());
            prop_assert_eq!(big.cmp(&small), a.cmp(&u128::from(b)));
            prop_assert_eq!(big.minus(&small).to_string(), a.saturating_sub(u128::from(b)).to_string());
            prop_assert_eq!(big.plus(&small).minus(&small), big.clone());
            let (quotient, rest) = big.divided(divisor);
            prop_assert_eq!((quotient.to_string(), rest), ((a / u128::from(divisor)).to_string(), (a % u128::from(divisor)) as u32));
            prop_assert_eq!(big.modulo(divisor), rest);
            let half = u128::from(a as u64);
            prop_assert_eq!(Natural::from(a as u64).times(&small).to_string(), (half * u128::from(b)).to_string());
            let (float, exponent) = big.scaled();
            prop_assert!((float * 2_f64.powi(exponent as i32) / (a as f64).max(1.0) - f64::from(u8::from(a > 0))).abs() < 1e-9);
        }
    }
}
