//! Node selector terms that are matched with many nodes.

use std::collections::HashMap;

use super::{NodeSelectorTerm, Requirement, Values};
use crate::cluster::{Labels, Str};

/// Weighted node selector terms, prepared for many nodes: equal terms are one, and each label of a node is looked up once for all.
#[derive(Clone, Debug)]
pub struct PreparedTerms {
    /// The place of each label key.
    keys: HashMap<Str, usize>,
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Term {
    weight: i64,
    /// Conditions on labels, each with the place of its key.
    expressions: Vec<(usize, Condition)>,
    fields: Vec<Requirement>,
}

/// The operator of a requirement on a label, with its values.
#[derive(Clone, Debug)]
enum Condition {
    In(Values),
    NotIn(Values),
    Exists,
    DoesNotExist,
    Gt(i64),
    Lt(i64),
    Never,
}

impl PreparedTerms {
    /// Requirements from which preparing pays.
    const WORTH: usize = 16;

    /// Prepares terms that are not empty and have no error, with their weights; `None` for so few that this does not pay.
    pub fn of<'a>(terms: impl Iterator<Item = (&'a NodeSelectorTerm, i64)> + Clone) -> Option<Self> {
        let requirements = |(term, _): (&NodeSelectorTerm, i64)| term.match_expressions.len() + term.match_fields.len();
        let mut many = terms.clone().map(requirements).scan(0, |sum, more| {
            *sum += more;
            Some(*sum)
        });
        if !many.any(|sum| sum >= Self::WORTH) {
            return None;
        }
        let mut known: HashMap<&NodeSelectorTerm, usize> = HashMap::new();
        let mut prepared = Self { keys: HashMap::new(), terms: Vec::new() };
        for (term, weight) in terms {
            let at = *known.entry(term).or_insert_with(|| {
                let term = Term {
                    weight: 0,
                    expressions: term.match_expressions.iter().map(|r| (place(&mut prepared.keys, &r.key), Condition::of(r))).collect(),
                    fields: term.match_fields.to_vec(),
                };
                prepared.terms.push(term);
                prepared.terms.len() - 1
            });
            prepared.terms[at].weight += weight;
        }
        Some(prepared)
    }

    /// Returns the sum of the weights of the terms that match; `name` as in [`super::NodeSelector::matches`].
    pub fn weight(&self, labels: &Labels, name: Option<&Str>) -> i64 {
        let found = self.found(labels);
        self.terms.iter().filter(|term| term.matches(&found, name)).map(|term| term.weight).sum()
    }

    /// Returns whether any term matches.
    pub fn any(&self, labels: &Labels, name: Option<&Str>) -> bool {
        let found = self.found(labels);
        self.terms.iter().any(|term| term.matches(&found, name))
    }

    /// Returns the values of the labels by the place of their key.
    fn found<'a>(&self, labels: &'a Labels) -> Vec<Option<&'a Str>> {
        let mut found = vec![None; self.keys.len()];
        for (key, value) in labels.iter() {
            if let Some(at) = self.keys.get(key) {
                found[*at] = Some(value);
            }
        }
        found
    }
}

fn place(keys: &mut HashMap<Str, usize>, key: &Str) -> usize {
    let new = keys.len();
    *keys.entry(key.clone()).or_insert(new)
}

impl Term {
    fn matches(&self, found: &[Option<&Str>], name: Option<&Str>) -> bool {
        self.expressions.iter().all(|(at, condition)| condition.holds(found[*at])) && self.fields.iter().all(|r| r.matches_node_field(name))
    }
}

impl Condition {
    fn of(requirement: &Requirement) -> Self {
        let bound = || requirement.values.first().and_then(|value| value.parse().ok());
        match requirement.operator.as_str() {
            "In" => Self::In(requirement.values.clone()),
            "NotIn" => Self::NotIn(requirement.values.clone()),
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            "Gt" => bound().map_or(Self::Never, Self::Gt),
            "Lt" => bound().map_or(Self::Never, Self::Lt),
            _ => Self::Never,
        }
    }

    /// Evaluates as [`Requirement::matches_node_label`].
    fn holds(&self, value: Option<&Str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => value.is_some_and(|value| values.contains(value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::Gt(bound) => number().is_some_and(|value| value > *bound),
            Self::Lt(bound) => number().is_some_and(|value| value < *bound),
            Self::Never => false,
        }
    }
}
