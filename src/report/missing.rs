//! What a source left unknown, for reading and for programs.

use serde::Serialize;

use crate::cluster::{Kind, MissingKinds, MissingReason};
use crate::source::effect_of_absence;

/// A kind that is not known, or not wholly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Which.
    pub kind: Kind,
    /// Why.
    pub why: MissingReason,
    /// What that leaves unknown, as the rest of a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
}

impl Missing {
    /// All that is not known, in the kinds' order.
    pub fn all(missing: MissingKinds) -> Vec<Self> {
        missing.iter().map(|(kind, why)| Self { kind, why, effect: Some(effect_of_absence(kind)) }).collect()
    }

    /// The same without what it leaves unknown, for lines that are many.
    pub fn brief(missing: MissingKinds) -> Vec<Self> {
        missing.iter().map(|(kind, why)| Self { kind, why, effect: None }).collect()
    }

    /// `Nodes may not be read`.
    pub fn clause(&self) -> String {
        let kinds = self.kind.plural();
        match self.why {
            MissingReason::NotInSource => format!("the source holds no {kinds}"),
            MissingReason::Refused => format!("{kinds} may not be read"),
            MissingReason::Failed => format!("not all {kinds} could be read"),
            MissingReason::Partial => format!("{kinds} were read in some namespaces only"),
        }
    }

    /// `Nodes may not be read: where pods fit is unknown.`
    pub fn sentence(&self) -> String {
        let clause = self.clause();
        let rest = clause.chars().skip(1).collect::<String>();
        let capital: String = clause.chars().take(1).flat_map(char::to_uppercase).collect();
        format!("{capital}{rest}: {}", effect_of_absence(self.kind))
    }
}

/// Why it is unknown which budgets there are.
pub fn budgets_unknown_because(missing: MissingKinds) -> String {
    let why = missing.why(Kind::PodDisruptionBudget).unwrap_or(MissingReason::NotInSource);
    Missing { kind: Kind::PodDisruptionBudget, why, effect: None }.clause()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_is_missing_and_why() {
        let missing = MissingKinds { refused: [Kind::Node].into_iter().collect(), ..MissingKinds::default() };
        let all = Missing::all(missing);
        assert_eq!(all[0].sentence(), "Nodes may not be read: where pods fit is unknown.");
        let brief = serde_json::to_string(&Missing::brief(missing)).unwrap();
        assert_eq!(brief, r#"[{"kind":"Node","why":"refused"}]"#);
        assert_eq!(budgets_unknown_because(MissingKinds { budgets: true, ..missing }), "the source holds no PodDisruptionBudgets");
    }
}
