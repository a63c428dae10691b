//! A shared, immutable string.
//!
//! Names, label keys and images repeat thousands of times in a cluster, so every string of the model is one pointer to a
//! reference-counted text. Cloning increments the count; comparison compares pointers first. The empty string, which
//! most optional fields hold, takes no memory.
//!
//! Decoding interns strings: each thread keeps the strings that it made recently in a table of bounded size, however
//! many different names a dump holds.

use arcstr::ArcStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;

use super::operations::operation;

/// A shared, immutable string; `null` reads as the empty string, as Go's decoder does.
#[derive(Clone, Default, Eq)]
pub struct Str(ArcStr);

/// Initial and maximal slots of the interning table; powers of two. The table grows, so that a small input pays for a
/// small table.
const FIRST_SLOTS: usize = 1 << 7;
const MOST_SLOTS: usize = 1 << 16;

/// Longer strings are rarely equal to another one and are costly to compare.
const INTERNED_LENGTH: usize = 160;

thread_local! {
    static INTERNER: RefCell<Interner> = const { RefCell::new(Interner { slots: Vec::new(), made: 0 }) };
}

/// The strings that a thread interned recently.
struct Interner {
    slots: Vec<Option<ArcStr>>,
    /// Strings made since the table last grew.
    made: usize,
}

impl Interner {
    fn get(&mut self, text: &str) -> ArcStr {
        if self.made >= self.slots.len() && self.slots.len() < MOST_SLOTS {
            self.enlarge();
        }
        let mask = self.slots.len() - 1;
        let slot = &mut self.slots[hash(text.as_bytes()) & mask];
        match slot {
            Some(known) if *known == text => known.clone(),
            _ => {
                self.made += 1;
                slot.insert(ArcStr::from(text)).clone()
            }
        }
    }

    fn enlarge(&mut self) {
        let slots = (self.slots.len() * 4).clamp(FIRST_SLOTS, MOST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![None; slots]);
        for text in old.into_iter().flatten() {
            let at = hash(text.as_bytes()) & (slots - 1);
            self.slots[at] = Some(text);
        }
        self.made = 0;
    }
}

impl Str {
    /// The empty string.
    pub const EMPTY: Self = Self(ArcStr::new());
    /// The resource `cpu`.
    pub const CPU: Self = Self(arcstr::literal!("cpu"));
    /// The resource `memory`.
    pub const MEMORY: Self = Self(arcstr::literal!("memory"));
    /// The resource `ephemeral-storage`.
    pub const EPHEMERAL_STORAGE: Self = Self(arcstr::literal!("ephemeral-storage"));

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        operation();
        self.0.as_str()
    }

    /// Returns a string that shares the memory of an equal one interned recently on this thread, if any.
    pub fn interned(text: &str) -> Self {
        if text.is_empty() || text.len() > INTERNED_LENGTH {
            return Self::from(text);
        }
        Self(INTERNER.with_borrow_mut(|interner| interner.get(text)))
    }

    /// Clears this thread's table of [interned](Self::interned) strings.
    pub fn forget_interned() {
        INTERNER.with_borrow_mut(|interner| *interner = Interner { slots: Vec::new(), made: 0 });
    }
}

/// Hashes quickly. A collision costs an allocation, nothing else.
fn hash(bytes: &[u8]) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut state = bytes.len() as u64;
    for word in words {
        state = (state ^ u64::from_le_bytes(*word)).wrapping_mul(MULTIPLIER).rotate_left(29);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    state = (state ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER);
    (state >> 32) as usize
}

impl PartialEq for Str {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        operation();
        ArcStr::ptr_eq(&self.0, &other.0) || self.as_str() == other.as_str()
    }
}

impl PartialOrd for Str {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let (text, other_text) = (self.as_str(), other.as_str());
        // Most names that are compared share a namespace, which is one text.
        if ArcStr::ptr_eq(&self.0, &other.0) { std::cmp::Ordering::Equal } else { text.cmp(other_text) }
    }
}

impl std::hash::Hash for Str {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Deref for Str {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Str {
    #[inline]
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Str {
    #[inline]
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self(ArcStr::from(text))
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self(ArcStr::from(text))
    }
}

impl From<Str> for String {
    fn from(text: Str) -> Self {
        text.as_str().to_owned()
    }
}

impl PartialEq<str> for Str {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl Serialize for Str {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Str {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_with(deserializer, Str::interned)
    }
}

/// Reads a string that no other object has, such as a uid. It is not interned, since it would only displace strings that
/// repeat.
pub(super) fn read_unique<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Str, D::Error> {
    deserialize_with(deserializer, |text| Str::from(text))
}

/// Reads a string through `make`; `null` reads as the default.
pub(super) fn deserialize_with<'de, T: Default, D: Deserializer<'de>>(deserializer: D, make: fn(&str) -> T) -> Result<T, D::Error> {
    struct Visitor<T>(fn(&str) -> T);
    impl<'de, T: Default> serde::de::Visitor<'de> for Visitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            Ok((self.0)(text))
        }
        fn visit_unit<E: serde::de::Error>(self) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_none<E: serde::de::Error>(self) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
            deserializer.deserialize_str(self)
        }
    }
    deserializer.deserialize_option(Visitor(make))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_memory_once_interned_and_compare_equal_in_any_case() {
        let (a, b) = (Str::interned("node-1"), Str::interned("node-1"));
        assert!(std::ptr::eq(a.as_str(), b.as_str()));
        Str::forget_interned();
        let c = Str::interned("node-1");
        assert!(!std::ptr::eq(a.as_str(), c.as_str()));
        assert_eq!(a, c);
        assert!(Str::default() < a && a < Str::interned("node-2"));
        assert_eq!(Str::from(String::new()), Str::default());
        assert_eq!(Str::interned(""), "");
        let long = "x".repeat(INTERNED_LENGTH + 1);
        assert_eq!(Str::interned(&long), Str::from(long.as_str()));
    }

    #[test]
    fn the_table_grows_with_what_it_holds_and_keeps_it() {
        let known = Str::interned("known");
        for i in 0..2 * FIRST_SLOTS {
            Str::interned(&format!("other-{}", i % FIRST_SLOTS / 2));
            assert!(i > 0 || std::ptr::eq(known.as_str(), Str::interned("known").as_str()));
        }
        let slots = || INTERNER.with_borrow(|interner| interner.slots.len());
        assert_eq!(slots(), FIRST_SLOTS);
        for i in 0..2 * MOST_SLOTS {
            Str::interned(&format!("many-{i}"));
        }
        assert_eq!(slots(), MOST_SLOTS);
        let last = Str::interned("last");
        assert!(std::ptr::eq(last.as_str(), Str::interned("last").as_str()));
        Str::forget_interned();
        assert_eq!(slots(), 0);
    }

    #[test]
    fn null_reads_as_the_empty_string() {
        assert_eq!(serde_json::from_str::<Str>("null").unwrap(), "");
        assert!(serde_json::from_str::<Str>("1").is_err());
    }
}
