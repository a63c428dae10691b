//! Tests of `domains`.

use super::*;

#[test]
fn numbers_of_few_keys_and_of_many_are_found() {
    for keys in [1, FEW_KEYS, FEW_KEYS + 1, 100] {
        let mut domains = Domains::default();
        for round in 1..=2 {
            for key in 0..keys {
                add_to(domains.values_of(&format!("k{key}").into()), &"v".into(), round * key as i64);
            }
        }
        let get = |key: &str, value| domains.keys().place(key).map(|place| domains.get(place, value));
        let found: Vec<Option<i64>> = (0..keys).map(|key| get(&format!("k{key}"), "v")).collect();
        assert_eq!(found, (0..keys as i64).map(|key| Some(3 * key)).collect::<Vec<_>>());
        assert_eq!((get("k0", "w"), get("other", "v"), domains.len()), (Some(0), None, keys));
        let in_order: Vec<String> = (0..keys).map(|key| format!("k{key}")).collect();
        assert!(domains.keys().as_slice().iter().map(Str::as_str).eq(in_order.iter().map(String::as_str)));
    }
}
