//! Tests of `counts`.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn node(labels: &[(usize, usize)]) -> Arc<Node> {
    let labels: serde_json::Map<_, _> = labels.iter().map(|(key, value)| (format!("k{key}"), format!("v{value}").into())).collect();
    Arc::new(serde_json::from_value(serde_json::json!({"metadata": {"name": "n", "labels": labels}})).unwrap())
}

proptest! {
    #[test]
    fn counts_are_the_sums_of_all_changes(
        nodes in prop::collection::vec(prop::collection::btree_map(0..12_usize, 0..3_usize, 0..12), 1..4),
        changes in prop::collection::vec((0..4_usize, 0..12_usize, -2..3_i64), 0..40),
    ) {
        let nodes: Vec<(BTreeMap<usize, usize>, Arc<Node>)> =
            nodes.into_iter().map(|labels| (labels.clone(), node(&labels.into_iter().collect::<Vec<_>>()))).collect();
        // `PreFilter` knows the first keys, of which some have no domains.
        let known: Vec<Str> = (0..4).map(|key| format!("k{key}").into()).collect();
        let mut counts = Counts::new(Domains::of_keys(known.iter().collect()));
        let mut sums: BTreeMap<(usize, usize), i64> = BTreeMap::new();
        for (at, key, amount) in changes {
            let (labels, node) = &nodes[at % nodes.len()];
            let place = counts.place_or_add(&format!("k{key}").into());
            counts.update(node, place, amount);
            if let Some(value) = labels.get(&key) {
                *sums.entry((key, *value)).or_default() += amount;
            }
            prop_assert_eq!(counts.is_empty(), sums.values().all(|sum| *sum == 0));
            for (labels, node) in &nodes {
                for keys in 0..=counts.keys().count() {
                    let expected = (0..keys).find(|place| counts.get(node, *place).is_some_and(|count| count > 0));
                    prop_assert_eq!(counts.first_positive_of(node, keys), expected);
                }
                for key in 0..12 {
                    let place = counts.keys().position(|k| k.as_str() == format!("k{key}"));
                    let found = place.and_then(|place| counts.get(node, place));
                    let expected = labels.get(&key).map(|value| sums.get(&(key, *value)).copied().unwrap_or(0));
                    prop_assert_eq!(found, expected.filter(|_| place.is_some()));
                }
            }
        }
    }
}
