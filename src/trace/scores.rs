//! The scores of the nodes of a cycle, kept in shared tables: there may be hundreds of thousands.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cluster::Str;
use crate::framework::PluginName;

/// A node's scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeScore {
    pub node: Str,
    /// By plugin, in profile order.
    pub plugins: Part<PluginScore>,
    /// Sum of the weighted scores.
    pub total: i64,
}

/// One plugin's score of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginScore {
    pub plugin: PluginName,
    /// The score that the plugin returned.
    pub raw: i64,
    /// The score normalized to 0..=100.
    pub normalized: i32,
    /// The normalized score times the plugin's weight.
    pub weighted: i64,
}

/// Consecutive items of a shared table. Dereferences to a slice; clones share the table.
pub struct Part<T> {
    table: Arc<Vec<T>>,
    from: u32,
    len: u32,
}

/// One row of a shared table. Dereferences to the row; clones share the table.
pub struct Row<T> {
    table: Arc<Vec<T>>,
    at: u32,
}

impl<T> Part<T> {
    /// Puts parts of `len` items each into one table, and returns them in order. Parts that are equal to the one before share its items.
    ///
    /// # Panics
    /// If the table has more items than `u32::MAX`.
    pub fn all<I: Iterator<Item = T>>(parts: impl Iterator<Item = I>, len: usize) -> impl Iterator<Item = Self>
    where
        T: PartialEq,
    {
        let mut table: Vec<T> = Vec::new();
        let mut starts: Vec<u32> = Vec::with_capacity(parts.size_hint().0);
        for part in parts {
            let before = table.len();
            table.extend(part.take(len));
            let repeats = before >= len && table[before - len..before] == table[before..];
            if repeats {
                table.truncate(before);
            }
            starts.push(u32::try_from(table.len() - len.min(table.len())).expect("a cycle has fewer scores than that"));
        }
        table.shrink_to_fit();
        let (table, len) = (Arc::new(table), len as u32);
        starts.into_iter().map(move |from| Self { table: table.clone(), from, len })
    }
}

impl<T> Row<T> {
    /// Returns all rows of a table, in order.
    ///
    /// # Panics
    /// If the table has more rows than `u32::MAX`.
    pub fn all(table: Vec<T>) -> impl Iterator<Item = Self> {
        let count = u32::try_from(table.len()).expect("a cluster has fewer nodes than that");
        let table = Arc::new(table);
        (0..count).map(move |at| Self { table: table.clone(), at })
    }
}

impl<T> Deref for Part<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.table[self.from as usize..][..self.len as usize]
    }
}

impl<T> Deref for Row<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.table[self.at as usize]
    }
}

impl<T> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), ..*self }
    }
}

impl<T> Clone for Row<T> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), at: self.at }
    }
}

impl<T> From<Vec<T>> for Part<T> {
    fn from(items: Vec<T>) -> Self {
        let len = items.len() as u32;
        Self { table: Arc::new(items), from: 0, len }
    }
}

impl<T> From<T> for Row<T> {
    fn from(row: T) -> Self {
        Self { table: Arc::new(vec![row]), at: 0 }
    }
}

impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: PartialEq> PartialEq for Row<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Part<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for Row<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Serialize> Serialize for Part<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<T: Serialize> Serialize for Row<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Part<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Row<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_reads_as_its_rows_and_parts() {
        let rows: Vec<Row<char>> = Row::all(vec!['a', 'b']).collect();
        assert_eq!((rows.len(), *rows[1]), (2, 'b'));
        assert_eq!((&rows[1], rows[0] == rows[1]), (&Row::from('b'), false));
        let parts = |of: &[[i32; 2]]| Part::all(of.iter().map(|part| part.iter().copied()), 2).collect::<Vec<Part<i32>>>();
        let some = parts(&[[1, 2], [1, 2], [3, 4], [1, 2]]);
        assert_eq!((some.len(), some[2].to_vec(), some[2].clone()), (4, vec![3, 4], vec![3, 4].into()));
        assert_eq!(some.iter().map(|part| part.from).collect::<Vec<u32>>(), [0, 0, 2, 4]);
        assert_eq!((&some[0], some[1] == some[3]), (&vec![1, 2].into(), true));
        assert_eq!((format!("{:?}", some[0]), format!("{:?}", rows[0])), ("[1, 2]".to_owned(), "'a'".to_owned()));
        let empty = Part::all([[0; 0].into_iter(), [0; 0].into_iter()].into_iter(), 0).map(|part: Part<i32>| part.len());
        assert_eq!((empty.collect::<Vec<usize>>(), parts(&[]).len(), Row::all(Vec::<i32>::new()).count()), (vec![0, 0], 0, 0));
    }

    #[test]
    fn a_score_is_written_as_if_it_stood_alone() {
        let text = r#"{"node":"n","plugins":[{"plugin":"ImageLocality","raw":2,"normalized":1,"weighted":3}],"total":3}"#;
        let score: Row<NodeScore> = serde_json::from_str(text).unwrap();
        assert_eq!((score.plugins.len(), score.total), (1, 3));
        assert_eq!(serde_json::to_string(&score).unwrap(), text);
        assert_eq!((size_of::<NodeScore>(), size_of::<PluginScore>(), size_of::<Row<NodeScore>>()), (32, 24, 16));
    }
}
