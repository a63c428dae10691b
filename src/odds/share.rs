//! Shares: exact fractions of all cases.

use std::fmt;
use std::sync::OnceLock;

use serde::{Serialize, Serializer};

use super::Natural;

/// Primes up to this number are kept.
const KNOWN: u32 = 10_000;
static KNOWN_PRIMES: OnceLock<Vec<u32>> = OnceLock::new();

/// A fraction from 0 to 1 in lowest terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    cases: Natural,
    of: Natural,
}

/// As text, such as `7/25`, `1` or `0`.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.of.to_u64() == Some(1) { write!(f, "{}", self.cases) } else { write!(f, "{}/{}", self.cases, self.of) }
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Share {
    /// No case.
    pub fn none() -> Self {
        Self { cases: Natural::default(), of: 1.into() }
    }

    /// Every case.
    pub fn whole() -> Self {
        Self::new(1, 1)
    }

    /// Returns `cases` of `of` cases, which are more than none.
    pub fn new(cases: u64, of: u64) -> Self {
        let (mut a, mut b) = (cases, of);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let common = a.max(1);
        Self { cases: (cases / common).into(), of: (of / common).into() }
    }

    /// Returns `cases` of `of` cases, of which no prime factor is above `largest`.
    pub(super) fn smooth(cases: Natural, of: Natural, largest: u32) -> Self {
        if cases.is_zero() {
            return Self::none();
        }
        let (mut cases, mut of) = (cases, of);
        let known = KNOWN_PRIMES.get_or_init(|| primes(KNOWN));
        let more: Vec<u32> = if largest > KNOWN { primes(largest) } else { Vec::new() };
        let all = if largest > KNOWN { &more[..] } else { &known[..known.partition_point(|prime| *prime <= largest)] };
        for group in grouped(all) {
            // One division of a long number tells for all primes of a group.
            let product = group.iter().product();
            loop {
                let rest = cases.modulo(product);
                let mut common: Vec<u32> = group.iter().copied().filter(|prime| rest % prime == 0).collect();
                if !common.is_empty() {
                    let rest = of.modulo(product);
                    common.retain(|prime| rest % prime == 0);
                }
                if common.is_empty() {
                    break;
                }
                let common = common.iter().product();
                (cases, of) = (cases.divided(common).0, of.divided(common).0);
            }
        }
        Self { cases, of }
    }

    /// Returns the sum with a share whose product of denominators has no prime factor above `largest`.
    pub(super) fn plus(&self, other: &Self, largest: u32) -> Self {
        let (long, short) = if other.of.to_u32().is_some() { (self, other) } else { (other, self) };
        let Some(of) = short.of.to_u32() else {
            let cases = self.cases.times(&other.of).plus(&other.cases.times(&self.of));
            return Self::smooth(cases, self.of.times(&other.of), largest);
        };
        // Over the least common denominator, a common divisor of the sum's terms also divides both denominators (Knuth, The Art of
        // Computer Programming, 4.5.1).
        let common = common_divisor(long.of.modulo(of), of);
        let rest = long.of.divided(common).0;
        let cases = long.cases.times(&u64::from(of / common).into()).plus(&short.cases.times(&rest));
        let common = common_divisor(cases.modulo(common), common);
        Self { cases: cases.divided(common).0, of: rest.times(&u64::from(of).into()).divided(common).0 }
    }

    /// Returns the product with the fraction `cases / of`; no prime factor of any denominator is above `largest`.
    pub(super) fn part(&self, cases: u64, of: u64, largest: u32) -> Self {
        Self::smooth(self.cases.times(&cases.into()), self.of.times(&of.into()), largest)
    }

    /// Whether it is no case at all.
    pub fn is_none(&self) -> bool {
        self.cases.is_zero()
    }

    /// Whether it is every case.
    pub fn is_whole(&self) -> bool {
        self.cases == self.of
    }

    /// Returns it as cases out of 100, where they are whole; `None` else.
    pub fn hundredths(&self) -> Option<u64> {
        let (cases, of) = (self.cases.to_u64()?, self.of.to_u64()?);
        (100 % of == 0).then(|| cases * (100 / of))
    }

    /// Returns it as a float.
    pub fn to_f64(&self) -> f64 {
        let ((cases, up), (of, down)) = (self.cases.scaled(), self.of.scaled());
        let exponent = i32::try_from(up - down).unwrap_or(i32::MIN);
        cases / of * 2_f64.powi(exponent)
    }

    /// Returns it in per cent; see [`per_cent`].
    pub fn per_cent(&self) -> String {
        per_cent(self.to_f64())
    }

    /// Returns it in words: `in 28 of 100 cases`, or `in about 28 of 100 cases` where it is not whole.
    pub fn in_words(&self) -> String {
        let small = self.cases.to_u64().zip(self.of.to_u64()).filter(|(_, of)| *of <= 20);
        match (small, self.hundredths()) {
            _ if self.is_none() => "in no case".to_owned(),
            _ if self.is_whole() => "in every case".to_owned(),
            (Some((cases, of)), _) => format!("in {cases} of {of} cases"),
            (None, Some(whole)) => format!("in {whole} of 100 cases"),
            (None, None) if self.to_f64() < 0.01 => "in less than 1 of 100 cases".to_owned(),
            (None, None) if self.to_f64() > 0.99 => "in more than 99 of 100 cases".to_owned(),
            (None, None) => format!("in about {:.0} of 100 cases", self.to_f64() * 100.0),
        }
    }
}

/// Returns a likelihood in per cent: `28 %`, `2.4 %`, or `<0.1 %`. Only certainty is 100 %.
pub fn per_cent(likelihood: f64) -> String {
    let per_cent = likelihood * 100.0;
    if (per_cent - per_cent.round()).abs() < 1e-9 && (likelihood == 0.0 || per_cent.round() > 0.0) {
        return format!("{per_cent:.0} %");
    }
    match per_cent {
        ..0.1 => "<0.1 %".to_owned(),
        99.9.. => ">99.9 %".to_owned(),
        _ => format!("{per_cent:.1} %"),
    }
}

/// Returns the greatest common divisor of two numbers that are not both 0.
fn common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the primes up to a number.
fn primes(largest: u32) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    for n in 2..=largest {
        if found.iter().take_while(|p| **p * **p <= n).all(|p| n % p != 0) {
            found.push(n);
        }
    }
    found
}

/// Returns the primes in groups whose product has 32 bits.
fn grouped(primes: &[u32]) -> Vec<&[u32]> {
    let mut groups = Vec::new();
    let (mut start, mut product) = (0, 1_u32);
    for (at, prime) in primes.iter().enumerate() {
        product = product.checked_mul(*prime).unwrap_or_else(|| {
            groups.push(&primes[start..at]);
            start = at;
            *prime
        });
    }
    groups.push(&primes[start..]);
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_are_written_in_lowest_terms_and_in_words() {
        let check = |share: &Share, text: &str, per_cent: &str, words: &str| {
            assert_eq!((share.to_string().as_str(), share.per_cent().as_str(), share.in_words().as_str()), (text, per_cent, words));
        };
        check(&Share::new(28, 100), "7/25", "28 %", "in 28 of 100 cases");
        check(&Share::new(2, 6), "1/3", "33.3 %", "in 1 of 3 cases");
        check(&Share::new(7, 23), "7/23", "30.4 %", "in about 30 of 100 cases");
        check(&Share::new(1, 5000), "1/5000", "<0.1 %", "in less than 1 of 100 cases");
        check(&Share::new(4999, 5000), "4999/5000", ">99.9 %", "in more than 99 of 100 cases");
        check(&Share::whole(), "1", "100 %", "in every case");
        check(&Share::new(0, 7), "0", "0 %", "in no case");
    }

    #[test]
    fn primes_stand_in_groups_of_one_limb() {
        let found = primes(5000);
        assert_eq!((found.len(), found.first(), found.last()), (669, Some(&2), Some(&4999)));
        assert_eq!(grouped(&found).concat(), found);
        assert!(grouped(&found).iter().all(|group| group.iter().try_fold(1_u32, |product, p| product.checked_mul(*p)).is_some()));
    }

    proptest! {
        #[test]
        fn sums_and_parts_are_those_of_fractions(a in 0..50_u64, b in 1..50_u64, c in 0..50_u64, d in 1..50_u64) {
            let (x, y) = (Share::new(a, b), Share::new(c, d));
            prop_assert_eq!(x.plus(&y, 50), Share::new(a * d + c * b, b * d));
            prop_assert_eq!(x.part(c, d, 50), Share::new(a * c, b * d));
            prop_assert!((x.to_f64() - a as f64 / b as f64).abs() < 1e-9);
        }

        #[test]
        fn long_sums_are_in_lowest_terms(parts in proptest::collection::vec((0..5000_u64, 1..5000_u64), 1..60)) {
            let mut sum = Share::none();
            let (mut cases, mut of) = (Natural::default(), Natural::from(1));
            for (a, b) in parts {
                sum = sum.plus(&Share::new(a, b), 5000);
                (cases, of) = (cases.times(&b.into()).plus(&of.times(&a.into())), of.times(&b.into()));
                prop_assert_eq!(&sum, &Share::smooth(cases.clone(), of.clone(), 5000));
                prop_assert_eq!(&sum.plus(&sum, 5000), &Share::smooth(cases.times(&2.into()), of.clone(), 5000));
            }
        }
    }
}
