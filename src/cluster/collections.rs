//! The two containers of the object model: a list and a map that read `null` as empty, as Go's decoder does.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Str;
use crate::limits::sources::LIST_ENTRIES;

/// An ordered list; `null` reads as the empty list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> List<T> {
    /// The empty list.
    pub const EMPTY: Self = Self(Vec::new());

    /// Returns whether the list is empty, for `skip_serializing_if`.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Deref for List<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Entries(mut items) = Option::<Entries<T>>::deserialize(deserializer)?.unwrap_or(Entries(Vec::new()));
        // Most lists hold one or two items, and the model is kept for long.
        items.shrink_to_fit();
        Ok(Self(items))
    }
}

/// The entries of a list, at most [`LIST_ENTRIES`].
struct Entries<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Entries<T>, A::Error> {
        let mut found = Vec::new();
        while let Some(entry) = entries.next_element()? {
            if found.len() == LIST_ENTRIES {
                return Err(A::Error::custom(format_args!("a list has more than {LIST_ENTRIES} entries, which is the limit")));
            }
            found.push(entry);
        }
        Ok(Entries(found))
    }
}

/// A map from strings, sorted by key. `null` reads as the empty map; of a repeated key the last value is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Map<V>(Vec<(Str, V)>);

/// Labels, annotations and node selectors.
pub type Labels = Map<Str>;

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Map<V> {
    /// The empty map.
    pub const EMPTY: Self = Self(Vec::new());

    /// Returns the value of `key`.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&V> {
        // Linear search for the few entries that most maps hold, binary search beyond.
        if self.0.len() <= 8 {
            return self.0.iter().find(|(k, _)| k.as_str() == key).map(|(_, v)| v);
        }
        self.position(key).ok().map(|i| &self.0[i].1)
    }

    /// Returns whether `key` is present.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns a look-up of keys that are asked for in ascending order, which is faster than [`Self::get`] in large maps.
    #[inline]
    pub fn ascending(&self) -> Ascending<'_, V> {
        Ascending(&self.0)
    }

    /// Returns the value of `key`, which is set to `default` if it is not present.
    pub fn get_or_insert(&mut self, key: &Str, default: V) -> &mut V {
        let at = self.position_to_insert(key).unwrap_or_else(|at| {
            self.0.insert(at, (key.clone(), default));
            at
        });
        &mut self.0[at].1
    }

    /// Sets `key` and returns the value it replaced.
    pub fn insert(&mut self, key: Str, value: V) -> Option<V> {
        match self.position_to_insert(&key) {
            Ok(i) => Some(std::mem::replace(&mut self.0[i].1, value)),
            Err(i) => {
                self.0.insert(i, (key, value));
                None
            }
        }
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        self.position(key).ok().map(|i| self.0.remove(i).1)
    }

    /// Returns the entries in key order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &V)> + Clone {
        self.0.iter().map(|(k, v)| (k, v))
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Str> {
        self.0.iter().map(|(k, _)| k)
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the positions of the entries in `whole`, in key order; `None` if one of them is not there with the same value.
    pub fn positions_in(&self, whole: &Self) -> Option<Vec<usize>>
    where
        V: PartialEq,
    {
        let mut rest = whole.0.iter().enumerate();
        let position = |(key, value): &(Str, V)| {
            let (i, (_, found)) = rest.find(|(_, (k, _))| k >= key).filter(|(_, (k, _))| k == key)?;
            (found == value).then_some(i)
        };
        self.0.iter().map(position).collect()
    }

    /// Returns whether all entries are in `whole` with the same value.
    pub fn is_within(&self, whole: &Self) -> bool
    where
        V: PartialEq,
    {
        // One pass over both, where a search for each entry takes longer.
        if self.0.len() > 8 && self.0.len() * 4 > whole.0.len() {
            let mut rest = whole.0.iter();
            return self.0.iter().all(|(key, value)| {
                let next = rest.by_ref().map(|entry| (entry, entry.0.cmp(key))).find(|(_, order)| order.is_ge());
                next.is_some_and(|((_, found), order)| order.is_eq() && found == value)
            });
        }
        self.0.iter().all(|(key, value)| whole.get(key) == Some(value))
    }

    /// Returns the keys with their values, to be changed, in the order of keys.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&Str, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// Returns the values, to be changed, in key order.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Returns the position of a key, or the one where it belongs. Most come in order.
    fn position_to_insert(&self, key: &str) -> Result<usize, usize> {
        match self.0.last() {
            Some((last, _)) if last.as_str() < key => Err(self.0.len()),
            _ => self.position(key),
        }
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(k, _)| k.as_str().cmp(key))
    }
}

/// A look-up in a [`Map`] of keys that are asked for in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct Ascending<'a, V>(&'a [(Str, V)]);

impl<'a, V> Ascending<'a, V> {
    /// Returns the value of `key`; `None` if it is not present, or comes before one that was asked for.
    #[inline]
    pub fn get(&mut self, key: &str) -> Option<&'a V> {
        let (first, value) = self.0.first()?;
        match first.as_str().cmp(key) {
            Ordering::Equal => return Some(value),
            Ordering::Greater => return None,
            Ordering::Less => {}
        }
        // The key is mostly one of the next.
        let (mut past, mut reach) = (1, 1);
        while self.0.get(past + reach - 1).is_some_and(|(k, _)| k.as_str() < key) {
            past += reach;
            reach *= 2;
        }
        let end = self.0.len().min(past + reach);
        let at = self.0[past..end].binary_search_by(|(k, _)| k.as_str().cmp(key));
        self.0 = &self.0[past + at.unwrap_or_else(|at| at)..];
        self.0.first().filter(|_| at.is_ok()).map(|(_, value)| value)
    }
}

impl<K: Into<Str>, V> FromIterator<(K, V)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut entries: Vec<(Str, V)> = entries.into_iter().map(|(k, v)| (k.into(), v)).collect();
        if entries.is_sorted_by(|a, b| a.0 < b.0) {
            return Self(entries);
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        // The sort is stable: of equal keys the last one read comes last, and `dedup_by` on the reversed list keeps it.
        entries.reverse();
        entries.dedup_by(|a, b| a.0 == b.0);
        entries.reverse();
        Self(entries)
    }
}

impl<V: Serialize> Serialize for Map<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Map<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> serde::de::Visitor<'de> for Visitor<V> {
            type Value = Map<V>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }
            fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
                Ok(Map::default())
            }
            fn visit_none<E: serde::de::Error>(self) -> Result<Self::Value, E> {
                Ok(Map::default())
            }
            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
                deserializer.deserialize_map(self)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                // The hint is the input's claim, so it must not decide how much memory is reserved.
                let mut entries = Vec::with_capacity(access.size_hint().unwrap_or(0).min(64));
                while let Some(entry) = access.next_entry::<Str, V>()? {
                    entries.push(entry);
                }
                let mut map: Map<V> = entries.into_iter().collect();
                map.0.shrink_to_fit();
                Ok(map)
            }
        }
        deserializer.deserialize_option(Visitor(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_reads_as_empty_and_the_last_of_repeated_keys_stays() {
        assert!(serde_json::from_str::<List<i32>>("null").unwrap().is_empty());
        assert!(serde_json::from_str::<Labels>("null").unwrap().is_empty());
        let map: Labels = serde_json::from_str(r#"{"b":"1","a":"2","b":"3"}"#).unwrap();
        assert_eq!(map.get("b").unwrap(), "3");
        assert_eq!(map.keys().map(Str::as_str).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn an_object_with_a_very_long_list_is_refused() {
        let text = |entries: usize| format!("[{}]", vec!["{}"; entries].join(","));
        let read = |entries| serde_json::from_str::<List<Labels>>(&text(entries));
        assert_eq!(read(LIST_ENTRIES).unwrap().len(), LIST_ENTRIES);
        let error = read(LIST_ENTRIES + 1).unwrap_err().to_string();
        assert!(error.starts_with("a list has more than 20000 entries, which is the limit at line 1"), "{error}");
        assert_eq!(
            serde_json::from_str::<List<i32>>("7").unwrap_err().to_string(),
            "invalid type: integer `7`, expected a sequence at line 1 column 1"
        );
        let pod = format!(r#"{{"metadata": {{"name": "p"}}, "spec": {{"schedulingGates": {}}}}}"#, text(LIST_ENTRIES + 1));
        assert!(serde_json::from_str::<crate::cluster::Pod>(&pod).is_err());
    }

    #[test]
    fn a_part_of_a_map_is_found_by_key_and_value() {
        let map = |text: &str| serde_json::from_str::<Labels>(text).unwrap();
        let whole = map(r#"{"a":"1","b":"2","c":"3"}"#);
        assert_eq!(map(r#"{"a":"1","c":"3"}"#).positions_in(&whole), Some(vec![0, 2]));
        assert_eq!(map("{}").positions_in(&whole), Some(Vec::new()));
        let long = |from: usize, to: usize, value: &str| (from..to).map(|i| (format!("k{i:02}"), Str::from(value))).collect::<Labels>();
        for whole in [long(0, 20, "v"), long(0, 60, "v")] {
            for (part, expected) in
                [(long(3, 15, "v"), true), (long(10, 20, "v"), true), (long(3, 15, "w"), false), (long(51, 61, "v"), false)]
            {
                assert_eq!(part.is_within(&whole), expected, "{part:?} {whole:?}");
            }
            assert!(long(0, 3, "v").is_within(&whole) && !long(0, 3, "w").is_within(&whole) && long(0, 0, "").is_within(&whole));
        }
        for other in [r#"{"a":"2"}"#, r#"{"aa":"1"}"#, r#"{"c":"3","d":"4"}"#] {
            assert_eq!(map(other).positions_in(&whole), None, "{other}");
        }
    }

    #[test]
    fn keys_that_are_asked_for_in_ascending_order_are_found() {
        let keys = |every: usize, first: usize| (first..80).step_by(every).map(|number| format!("key-{number:02}"));
        for (every, first, asked) in (1..9).flat_map(|every| (0..9).map(move |first| (every, first, 1 + (first + every) % 7))) {
            let map: Map<usize> = keys(every, first).enumerate().map(|(at, key)| (key, at)).collect();
            let mut found = map.ascending();
            for key in keys(asked, 0) {
                assert_eq!(found.get(&key), map.get(key.as_str()), "{key} of each {every} from {first}");
            }
        }
        assert_eq!(Map::<usize>::default().ascending().get("a"), None);
    }
}
