//! A part of an object that many objects share.
//!
//! The pods of one workload differ in names and nodes and in little else. Their common parts are [`CowArc`]s, which the
//! loader shares between equal pods. An empty part takes no memory.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A type with a static empty value, which an empty [`CowArc`] points to.
pub trait Empty: Default + PartialEq + 'static {
    /// Returns the empty value.
    fn empty() -> &'static Self;
}

/// A shared part of an object, empty by default. Changing it copies it, so other owners keep the old value.
#[derive(Clone, Debug)]
pub struct CowArc<T>(Option<Arc<T>>);

impl<T> Default for CowArc<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> CowArc<T> {
    /// Returns the shared allocation; `None` for the empty value.
    #[inline]
    pub fn handle(&self) -> Option<&Arc<T>> {
        self.0.as_ref()
    }

    /// Returns the allocation, for replacing it by an equal one.
    pub fn handle_mut(&mut self) -> Option<&mut Arc<T>> {
        self.0.as_mut()
    }
}

impl<T: Empty> From<T> for CowArc<T> {
    fn from(value: T) -> Self {
        Self((value != *T::empty()).then(|| Arc::new(value)))
    }
}

impl<T: Empty> Deref for CowArc<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::empty())
    }
}

impl<T: Empty + Clone> DerefMut for CowArc<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl<T: Empty> PartialEq for CowArc<T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq::<T>(&raw const **self, &raw const **other) || **self == **other
    }
}

impl<T: Empty + Eq> Eq for CowArc<T> {}

impl<T: Empty + Hash> Hash for CowArc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Empty for String {
        fn empty() -> &'static Self {
            static EMPTY: String = String::new();
            &EMPTY
        }
    }

    #[test]
    fn what_is_empty_takes_nothing_and_a_change_is_ones_own() {
        let mut a = CowArc::from(String::new());
        assert!(a.handle().is_none() && a.is_empty() && a == CowArc::default());
        a.push('x');
        let mut b = a.clone();
        assert!(a == b && std::ptr::eq(a.as_str(), b.as_str()));
        b.push('y');
        assert_eq!((a.as_str(), b.as_str()), ("x", "xy"));
        b.clear();
        assert!(b.handle().is_some() && b == CowArc::default() && a != b);
    }
}
