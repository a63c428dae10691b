//! A prefix tree of patterns.

use super::gap::{Fills, Gap};

/// A piece of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Literal(&'a [u8]),
    Gap(Gap),
}

/// Patterns with a value each. Whether a gap follows depends on the text before it alone, so a text takes at most one way
/// through the tree.
#[derive(Debug)]
pub(super) struct Tree<V> {
    nodes: Vec<Node>,
    values: Vec<V>,
    /// Bytes of all literals and nodes.
    size: usize,
}

impl<V> Default for Tree<V> {
    fn default() -> Self {
        Self { nodes: Vec::new(), values: Vec::new(), size: 0 }
    }
}

/// A literal and its continuation.
#[derive(Debug)]
struct Node {
    literal: Box<[u8]>,
    next: Next,
}

#[derive(Debug)]
enum Next {
    Gap(Gap, u32),
    /// Nodes by the first byte of their literals.
    Branch(Vec<(u8, u32)>),
    /// The end of a pattern, and its value.
    End(u32),
}

impl<V> Tree<V> {
    /// Returns the bytes that the tree takes, without its values.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of patterns.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Finds the pattern of which `text` starts with an instance; returns its value and the instance's length. The text of its
    /// gaps goes to `fills`, which may have changed too if there is no such pattern.
    pub(super) fn find<'t>(&self, text: &'t [u8], fills: &mut Fills<'t>) -> Option<(&V, usize)> {
        let (mut node, mut at) = (self.nodes.first()?, 0);
        loop {
            let rest = text[at..].strip_prefix(&*node.literal)?;
            at = text.len() - rest.len();
            match &node.next {
                Next::End(value) => return Some((&self.values[*value as usize], at)),
                Next::Gap(gap, next) => {
                    let length = gap.length(rest)?;
                    fills.put(*gap, &rest[..length]);
                    at += length;
                    node = &self.nodes[*next as usize];
                }
                Next::Branch(children) => {
                    let first = rest.first()?;
                    let (_, child) = children.iter().find(|(byte, _)| byte == first)?;
                    node = &self.nodes[*child as usize];
                }
            }
        }
    }

    /// Adds a pattern; returns false if it is there already.
    pub(super) fn insert(&mut self, pieces: &[Piece<'_>], value: V) -> bool {
        if self.nodes.is_empty() {
            self.append(pieces, value);
            return true;
        }
        let mut at = 0;
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Gap(gap) => match &self.nodes[at].next {
                    Next::Gap(known, next) if known == gap => at = *next as usize,
                    _ => return false,
                },
                Piece::Literal(literal) => match self.descend(at, literal) {
                    Descent::Known(node) => at = node,
                    Descent::Conflict => return false,
                    Descent::Parts { node, rest } => {
                        let first = rest[0];
                        let pieces: Vec<Piece<'_>> =
                            [Piece::Literal(rest)].into_iter().chain(pieces[index + 1..].iter().copied()).collect();
                        let child = self.append(&pieces, value);
                        if let Next::Branch(children) = &mut self.nodes[node].next {
                            children.push((first, child));
                        }
                        return true;
                    }
                },
            }
        }
        false
    }

    /// Follows a literal from a node. Where it parts from all that are known, the node there becomes a branch.
    fn descend<'l>(&mut self, mut at: usize, mut literal: &'l [u8]) -> Descent<'l> {
        loop {
            let node = &self.nodes[at];
            let common = if literal.starts_with(&node.literal) {
                node.literal.len()
            } else {
                node.literal.iter().zip(literal).take_while(|(a, b)| a == b).count()
            };
            literal = &literal[common..];
            if common < node.literal.len() {
                if literal.is_empty() {
                    return Descent::Conflict;
                }
                self.cut(at, common);
                return Descent::Parts { node: at, rest: literal };
            }
            if literal.is_empty() {
                return Descent::Known(at);
            }
            let Next::Branch(children) = &node.next else { return Descent::Conflict };
            match children.iter().find(|(byte, _)| *byte == literal[0]) {
                Some((_, child)) => at = *child as usize,
                None => return Descent::Parts { node: at, rest: literal },
            }
        }
    }

    /// Cuts a node in two after `length` bytes of its literal, so that it can branch there.
    fn cut(&mut self, at: usize, length: usize) {
        let lower = self.nodes.len() as u32;
        let node = &mut self.nodes[at];
        let (above, below) = node.literal.split_at(length);
        let (above, below): (Box<[u8]>, Box<[u8]>) = (above.into(), below.into());
        let next = std::mem::replace(&mut node.next, Next::Branch(vec![(below[0], lower)]));
        node.literal = above;
        self.push(Node { literal: below, next });
    }

    /// Adds a pattern as nodes of its own; returns the first.
    fn append(&mut self, pieces: &[Piece<'_>], value: V) -> u32 {
        let first = self.nodes.len() as u32;
        let mut literal: &[u8] = &[];
        for piece in pieces {
            match piece {
                Piece::Literal(next) => literal = next,
                Piece::Gap(gap) => {
                    let next = self.nodes.len() as u32 + 1;
                    self.push(Node { literal: std::mem::take(&mut literal).into(), next: Next::Gap(*gap, next) });
                }
            }
        }
        self.push(Node { literal: literal.into(), next: Next::End(self.values.len() as u32) });
        self.values.push(value);
        first
    }

    fn push(&mut self, node: Node) {
        self.size += size_of::<Node>() + node.literal.len() + size_of::<V>();
        self.nodes.push(node);
    }
}

/// How far a literal is known.
enum Descent<'l> {
    /// To its end, which is that of this node.
    Known(usize),
    /// Up to the end of this node, which branches there; the rest is new.
    Parts { node: usize, rest: &'l [u8] },
    /// It ends, or goes on, where a known pattern does not.
    Conflict,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        for (index, part) in text.split('_').enumerate() {
            if index > 0 {
                pieces.push(Piece::Gap(Gap::Text));
            }
            pieces.push(Piece::Literal(part.as_bytes()));
        }
        pieces
    }

    #[test]
    fn a_pattern_is_found_by_its_literals_whatever_fills_its_gaps() {
        let mut tree = Tree::default();
        let patterns = [r#"{"a":"_","b":1}"#, r#"{"a":"_","b":2,"c":"_"}"#, r#"{"b":1}"#, r#"{"a":"_","b":23}"#];
        for (value, text) in patterns.into_iter().enumerate() {
            assert!(tree.insert(&pattern(text), value), "{text}");
            assert!(!tree.insert(&pattern(text), 9), "{text} again");
        }
        assert_eq!(tree.len(), 4);
        for (text, found) in [
            (r#"{"a":"x","b":1}, and more"#, Some((0, 15))),
            (r#"{"a":"","b":1}"#, None),
            (r#"{"a":"yy","b":2,"c":"z"}"#, Some((1, 24))),
            (r#"{"a":"yy","b":23}"#, Some((3, 17))),
            (r#"{"b":1}"#, Some((2, 7))),
            (r#"{"b":1"#, None),
            (r#"{"a":"yy"#, None),
            (r#"{"a":"y\"y","b":1}"#, None),
            (r#"{"c":1}"#, None),
            ("", None),
        ] {
            assert_eq!(tree.find(text.as_bytes(), &mut Fills::default()).map(|(value, end)| (*value, end)), found, "{text}");
        }
    }

    #[test]
    fn a_pattern_at_odds_with_others_is_left_out() {
        let mut tree = Tree::default();
        assert!(tree.insert(&pattern("{a_b}"), 0));
        assert!(!tree.insert(&pattern("{a}"), 1));
        assert!(!tree.insert(&pattern("{axb}"), 1));
        assert!(!tree.insert(&pattern("{"), 1));
        assert!(!tree.insert(&pattern("{a_b}c"), 1));
        assert!(tree.insert(&pattern("{a_c}"), 1));
        assert_eq!(tree.len(), 2);
        assert!(tree.size() > 0);
    }
}
