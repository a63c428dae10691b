//! The values of a requirement.

use std::hash::{Hash, Hasher};
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::validation::is_value;
use crate::cluster::{List, Str};

/// The values of a requirement in their order; `null` reads as none. Long lists are looked up by binary search.
#[derive(Clone, Default)]
pub struct Values {
    list: List<Str>,
    /// Of a long list.
    lookup: Option<Box<Lookup>>,
}

#[derive(Clone)]
struct Lookup {
    /// The places of the values, in the order of the values.
    order: Box<[u32]>,
    /// Whether each may be the value of a label.
    are_valid: bool,
}

impl Values {
    /// The number of values up to which a search through all is as fast.
    const SHORT: usize = 16;

    /// Returns whether `value` is one of the values.
    pub fn contains(&self, value: &Str) -> bool {
        match &self.lookup {
            None => self.list.contains(value),
            Some(lookup) => lookup.order.binary_search_by(|place| self.list[*place as usize].cmp(value)).is_ok(),
        }
    }

    /// Returns whether each may be the value of a label.
    pub(super) fn are_valid(&self) -> bool {
        self.lookup.as_ref().map_or_else(|| self.list.iter().all(|value| is_value(value)), |lookup| lookup.are_valid)
    }

    /// Adds a value at the end.
    pub fn push(&mut self, value: Str) {
        let mut list = std::mem::take(&mut self.list);
        list.push(value);
        *self = list.into();
    }
}

impl From<List<Str>> for Values {
    fn from(list: List<Str>) -> Self {
        let lookup = u32::try_from(list.len()).ok().filter(|number| *number as usize > Self::SHORT).map(|number| {
            let mut order: Box<[u32]> = (0..number).collect();
            order.sort_by(|a, b| list[*a as usize].cmp(&list[*b as usize]));
            Box::new(Lookup { order, are_valid: list.iter().all(|value| is_value(value)) })
        });
        Self { list, lookup }
    }
}

impl From<Vec<Str>> for Values {
    fn from(values: Vec<Str>) -> Self {
        List(values).into()
    }
}

impl FromIterator<Str> for Values {
    fn from_iter<I: IntoIterator<Item = Str>>(values: I) -> Self {
        List::from_iter(values).into()
    }
}

impl Deref for Values {
    type Target = [Str];
    fn deref(&self) -> &[Str] {
        &self.list
    }
}

impl<'a> IntoIterator for &'a Values {
    type Item = &'a Str;
    type IntoIter = std::slice::Iter<'a, Str>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.list.fmt(f)
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Eq for Values {}

impl Hash for Values {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.list.hash(state);
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        List::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_a_list_of_any_length() {
        for number in [0, 1, Values::SHORT, Values::SHORT + 1, 1000] {
            let values: Values = (0..number).map(|at| Str::from(format!("{:x}", at * 7919 % 1009))).collect();
            assert_eq!(values.lookup.is_some(), number > Values::SHORT);
            for value in &values {
                assert!(values.contains(value), "{value} of {number}");
            }
            for other in ["", "g", "zz", "0 "] {
                assert!(!values.contains(&other.into()), "{other} of {number}");
            }
            assert!(values.are_valid());
            let mut more = values.clone();
            more.push("- no value".into());
            assert!(!more.are_valid() && more.contains(&"- no value".into()) && more != values);
            assert_eq!(more.len(), number + 1);
        }
    }

    #[test]
    fn values_are_written_in_their_order() {
        let text = serde_json::to_string(&(0..40).map(|at| format!("{}", 40 - at)).collect::<Vec<_>>()).unwrap();
        let values: Values = serde_json::from_str(&text).unwrap();
        assert_eq!((serde_json::to_string(&values).unwrap(), values.first().map(Str::as_str)), (text, Some("40")));
        assert!(serde_json::from_str::<Values>("null").unwrap().is_empty());
    }
}
