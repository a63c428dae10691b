//! Interns the names and texts of a log.

use std::collections::HashMap;
use std::sync::Arc;

/// The index of a text in [`Names`]; 0 is the empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

impl Name {
    /// Returns whether it is the empty text.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The interned texts of a log.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl Default for Names {
    fn default() -> Self {
        let empty: Arc<str> = Arc::from("");
        Self { texts: vec![Arc::clone(&empty)], numbers: HashMap::from([(empty, 0)]) }
    }
}

impl Names {
    /// Returns the index of a text, which is added if it is new.
    pub(super) fn add(&mut self, text: &str) -> Name {
        if let Some(number) = self.numbers.get(text) {
            return Name(*number);
        }
        let Ok(number) = u32::try_from(self.texts.len()) else { return Name::default() };
        let text: Arc<str> = Arc::from(text);
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        Name(number)
    }

    /// Returns the index of a text; `None` if it is not interned.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).map(|number| Name(*number))
    }

    /// Returns the text of an index.
    pub fn text(&self, name: Name) -> &str {
        self.texts.get(name.0 as usize).map_or("", |text| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one() {
        let mut names = Names::default();
        let (a, b, again, none) = (names.add("a/b"), names.add("a/c"), names.add("a/b"), names.add(""));
        assert!(a == again && a != b && none.is_empty() && none == Name::default());
        assert_eq!((names.text(b), names.find("a/b"), names.find("x")), ("a/c", Some(a), None));
    }
}
