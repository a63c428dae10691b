//! A Bloom filter of each pod's namespace and labels, which rules out most pods before any selector runs; no
//! counterpart upstream.

use crate::cluster::{LabelSelector, Pod};

/// A Bloom filter with one bit for a pod's namespace and one for each of its labels, chosen by hashing.
///
/// Two labels can share a bit: a pod without all bits of a query does not match it, and a pod with all of them may.
/// [`EquivalenceClasses`](super::EquivalenceClasses) stores the bits of all classes contiguously, so that counting pods
/// fetches only the classes that may match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelBloom(u64);

impl LabelBloom {
    /// Returns the bits of a pod.
    pub fn of(pod: &Pod) -> Self {
        let labels = pod.metadata.labels.iter().map(|(key, value)| Self::label(key, value));
        labels.fold(Self::namespace(&pod.metadata.namespace), Self::and)
    }

    /// Returns the bit of a namespace.
    pub fn namespace(namespace: &str) -> Self {
        Self::bit(b"", namespace.as_bytes())
    }

    /// Returns the bits that every pod has which the selector matches.
    pub fn selected_by(selector: &LabelSelector) -> Self {
        let by_label = selector.match_labels.iter().map(|(key, value)| Self::label(key, value));
        let by_expression = selector.match_expressions.iter().filter(|r| r.operator == "In").filter_map(|r| match &r.values[..] {
            [value] => Some(Self::label(&r.key, value)),
            _ => None,
        });
        by_label.chain(by_expression).fold(Self::default(), Self::and)
    }

    /// All bits. As a query it matches no pod.
    pub const ALL: Self = Self(u64::MAX);

    /// Returns the bits that both have.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the bits that either has.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has all bits of `wanted`.
    pub fn covers(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    fn label(key: &str, value: &str) -> Self {
        Self::bit(key.as_bytes(), value.as_bytes())
    }

    /// Hashes with FNV-1a over key, separator and value. The separator is a byte that never occurs in UTF-8.
    fn bit(key: &[u8], value: &[u8]) -> Self {
        let bytes = key.iter().chain(&[0xff]).chain(value);
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        // Folding the lower bits in leaves the upper bits well mixed.
        Self(1 << (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_that_matches_always_has_the_bits() {
        let pod: Pod = serde_json::from_str(r#"{"metadata":{"name":"p","namespace":"n","labels":{"a":"1","b":"2"}}}"#).unwrap();
        let bits = LabelBloom::of(&pod);
        assert!(bits.covers(LabelBloom::namespace("n")) && bits.covers(LabelBloom::default()));
        for selector in [
            "{}",
            r#"{"matchLabels":{"a":"1","b":"2"}}"#,
            r#"{"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]}"#,
            r#"{"matchExpressions":[{"key":"a","operator":"In","values":["7","1"]},{"key":"b","operator":"Exists"}]}"#,
            r#"{"matchExpressions":[{"key":"c","operator":"NotIn","values":["3"]},{"key":"d","operator":"DoesNotExist"}]}"#,
        ] {
            let selector: LabelSelector = serde_json::from_str(selector).unwrap();
            assert!(selector.matches(&pod.metadata.labels) && bits.covers(LabelBloom::selected_by(&selector)), "{selector:?}");
        }
    }

    #[test]
    fn different_labels_mostly_have_different_bits() {
        let wanted = LabelBloom::label("app", "web").and(LabelBloom::namespace("shop"));
        let others = (0..1000).filter(|i| LabelBloom::namespace("shop").and(LabelBloom::label("app", &format!("web-{i}"))).covers(wanted));
        assert!(others.count() < 50);
    }
}
