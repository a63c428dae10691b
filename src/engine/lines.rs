//! The line of a field in a configuration.

use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A step of a path such as `profiles[0].plugins`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'p> {
    Field(&'p str),
    Item(usize),
}

/// Returns the line of a field of a YAML or JSON text, from 1: that of the last part of the path that the text has. `None` for a text
/// that is no YAML.
///
/// A value that refuses to be read at that place makes the parser say where it is.
pub(super) fn line_of(text: &str, path: &str) -> Option<u32> {
    let steps = steps(path);
    let error = Place(&steps).deserialize(serde_yaml::Deserializer::from_str(text).next()?).err()?;
    error.location().and_then(|at| u32::try_from(at.line()).ok())
}

/// Returns the line at which a text is no YAML; `None` if it is.
pub(super) fn syntax_error_line(text: &str) -> Option<u32> {
    // The configuration's own reader has refused what would take long.
    let error = serde_yaml::Deserializer::from_str(text).next().map(IgnoredAny::deserialize)?.err()?;
    error.location().and_then(|at| u32::try_from(at.line()).ok())
}

fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let (field, items) = part.split_once('[').unwrap_or((part, ""));
        if !field.is_empty() {
            steps.push(Step::Field(field));
        }
        let indexes = items.split('[').filter_map(|item| item.strip_suffix(']')?.parse().ok());
        steps.extend(indexes.map(Step::Item));
    }
    steps
}

/// Refuses the value at the end of a path.
struct Place<'p>(&'p [Step<'p>]);

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("another place")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if let [Step::Field(name), rest @ ..] = self.0 {
            while let Some(key) = map.next_key::<String>()? {
                if key == *name {
                    return map.next_value_seed(Place(rest));
                }
                map.next_value::<IgnoredAny>()?;
            }
        }
        Err(A::Error::custom("here"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if let [Step::Item(at), rest @ ..] = self.0 {
            for _ in 0..*at {
                if items.next_element::<IgnoredAny>()?.is_none() {
                    return Err(A::Error::custom("here"));
                }
            }
            items.next_element_seed(Place(rest))?;
        }
        Err(A::Error::custom("here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "apiVersion: v1\nprofiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    score:\n      enabled:\n      - name: A\n      - name: B\n        weight: 7\nparallelism: many\n";

    #[test]
    fn the_line_of_a_field_is_found() {
        for (path, line) in [
            ("parallelism", 11),
            ("apiVersion", 1),
            ("profiles[1].schedulerName", 4),
            ("profiles[1].plugins.score.enabled[1].weight", 10),
            ("profiles[1].plugins.score.enabled[0]", 8),
            // A field that is missing is at the object that lacks it.
            ("profiles[0].plugins.filter", 3),
            ("profiles[1].plugins.filter", 6),
            ("kind", 1),
            ("", 1),
        ] {
            assert_eq!(line_of(TEXT, path), Some(line), "{path}");
        }
        assert_eq!(line_of("{\n \"a\": {\n  \"b\": [1,\n   2]}}", "a.b[1]"), Some(4));
        assert_eq!(line_of("a: [", "a"), Some(1));
        assert_eq!(
            steps("profiles[0].a[1][2].b"),
            [Step::Field("profiles"), Step::Item(0), Step::Field("a"), Step::Item(1), Step::Item(2), Step::Field("b")]
        );
    }
}
