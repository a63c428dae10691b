//! A short list for records that exist by the thousands; no counterpart upstream.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A shared, immutable list of one pointer. Cloning shares it. The empty list, the common case, allocates nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<T>", into = "Vec<T>", bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct SharedList<T>(
    /// `None` is the only form of the empty list.
    Option<Arc<Vec<T>>>,
);

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Vec<T>> for SharedList<T> {
    fn from(list: Vec<T>) -> Self {
        Self((!list.is_empty()).then(|| Arc::new(list)))
    }
}

impl<T: Clone> From<SharedList<T>> for Vec<T> {
    fn from(list: SharedList<T>) -> Self {
        list.0.map_or_else(Self::new, Arc::unwrap_or_clone)
    }
}

impl<T> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        // Long-lived lists keep no spare capacity.
        let mut list: Vec<T> = items.into_iter().collect();
        list.shrink_to_fit();
        list.into()
    }
}

impl<T> Deref for SharedList<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |list| list.as_slice())
    }
}

impl<'a, T> IntoIterator for &'a SharedList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq<U>, U, const N: usize> PartialEq<[U; N]> for SharedList<T> {
    fn eq(&self, other: &[U; N]) -> bool {
        **self == *other
    }
}

impl<T: PartialEq<U>, U> PartialEq<&[U]> for SharedList<T> {
    fn eq(&self, other: &&[U]) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_one_pointer_and_reads_as_a_sequence() {
        assert_eq!(size_of::<SharedList<String>>(), size_of::<usize>());
        let list: SharedList<i32> = [1, 2].into_iter().collect();
        assert_eq!((list.clone().0.map(|l| Arc::strong_count(&l)), list.len()), (Some(2), 2));
        assert!(SharedList::<i32>::from(Vec::new()).0.is_none());
        for list in [list, SharedList::default()] {
            let text = serde_json::to_string(&list).unwrap();
            assert_eq!(text, serde_json::to_string(&Vec::from(list.clone())).unwrap());
            assert_eq!(serde_json::from_str::<SharedList<i32>>(&text).unwrap(), list);
        }
    }
}
