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
    /// The node.
    pub node: Str,
    /// By plugin, in profile order.
    pub plugins: Part<PluginScore>,
    /// Sum of the weighted scores.
    pub total: i64,
}

/// One plugin's score of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginScore {
    /// The plugin.
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
    /// Splits a table into parts of `len` items each, in order; drops a last part that is incomplete.
    ///
    /// # Panics
    /// If the table has more items than `u32::MAX`.
    pub fn all(table: Vec<T>, len: usize) -> impl Iterator<Item = Self> {
        let count = u32::try_from(table.len()).expect("a cycle has fewer scores than that");
        let (table, len) = (Arc::new(table), len as u32);
        (0..count.checked_div(len).unwrap_or(0)).map(move |i| Self { table: table.clone(), from: i * len, len })
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
        let parts: Vec<Part<i32>> = Part::all(vec![1, 2, 3, 4, 5], 2).collect();
        assert_eq!((parts.len(), parts[1].to_vec(), parts[1].clone()), (2, vec![3, 4], vec![3, 4].into()));
        assert_eq!((format!("{:?}", parts[0]), format!("{:?}", rows[0])), ("[1, 2]".to_owned(), "'a'".to_owned()));
        assert_eq!(Part::all(vec![1], 0).count() + Part::all(Vec::<i32>::new(), 3).count() + Row::all(Vec::<i32>::new()).count(), 0);
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
