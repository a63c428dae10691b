//! Kinds that a source lacks, as text and as data.

use serde::Serialize;

use crate::cluster::{Kind, MissingKinds, MissingReason};
use crate::plural::count_of;
use crate::source::{effect_of_absence, effect_of_part};
use crate::trace::CycleView;

/// The number of kinds that one sentence names.
const KINDS_NAMED: usize = 4;

/// A kind that is unknown, or known in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub kind: Kind,
    /// Why it is unknown.
    pub why: MissingReason,
    /// The effect on decisions, as the rest of a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
}

impl Missing {
    /// Returns the unknown kinds, in the order of kinds.
    pub fn all(missing: MissingKinds) -> Vec<Self> {
        missing.iter().map(|(kind, why)| Self { kind, why, effect: Some(effect(kind, why)) }).collect()
    }

    /// Returns the unknown kinds without their effects, for output that repeats them.
    pub fn brief(missing: MissingKinds) -> Vec<Self> {
        missing.iter().map(|(kind, why)| Self { kind, why, effect: None }).collect()
    }

    /// Returns whether the kind may change a decision: it could not be read whole, or the decision depends on it and the source lacks it.
    pub fn matters_to(&self, view: &CycleView) -> bool {
        match (self.why, self.kind) {
            (MissingReason::NotInSource, Kind::PodDisruptionBudget) => view.preemption.as_ref().is_some_and(|p| p.candidate_count() > 0),
            (MissingReason::NotInSource, kind) if !decides(kind) => view.missed_kinds().contains(kind),
            _ => true,
        }
    }

    /// Returns a clause such as `Nodes cannot be read (no permission)`.
    pub fn clause(&self) -> String {
        missing_clause(&self.kind.plural(), self.why)
    }

    /// Returns that it is unknown whether pods are pending, as a clause, if pods are the missing kind.
    pub fn leaves_pending_unknown(&self) -> Option<String> {
        (self.kind == Kind::Pod).then(|| format!("whether pods are pending is unknown: {}", self.clause()))
    }

    fn effect(&self) -> &'static str {
        effect(self.kind, self.why)
    }

    /// Returns a sentence such as `Nodes cannot be read (no permission): where pods fit is unknown.`
    pub fn sentence(&self) -> String {
        format!("{}: {}", capitalized(&self.clause()), self.effect())
    }
}

/// Returns why kinds are not known, as a clause.
pub fn missing_clause(kinds: &str, why: MissingReason) -> String {
    match why {
        MissingReason::NotInSource => format!("the source contains no {kinds}"),
        MissingReason::Refused => format!("{kinds} cannot be read (no permission)"),
        MissingReason::Failed => format!("not all {kinds} could be read"),
        MissingReason::Incomplete => format!("{kinds} may be missing, since a part of the source could not be read"),
        MissingReason::Partial => format!("{kinds} were read in some namespaces only"),
        MissingReason::Selected => format!("the source seems to hold only some of the {kinds}"),
    }
}

/// Returns a clause as the beginning of a sentence.
pub fn capitalized(clause: &str) -> String {
    let mut chars = clause.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// Returns the effect of a missing kind, as the rest of a sentence.
fn effect(kind: Kind, why: MissingReason) -> &'static str {
    match why {
        MissingReason::Partial | MissingReason::Selected => effect_of_part(kind),
        _ => effect_of_absence(kind),
    }
}

/// Returns a sentence for each kind; the kinds that a part of the source may have held share one.
pub fn missing_sentences<'m>(missing: impl IntoIterator<Item = &'m Missing>) -> Vec<String> {
    let (parts, others): (Vec<&Missing>, Vec<&Missing>) = missing.into_iter().partition(|missing| missing.why == MissingReason::Incomplete);
    let mut sentences: Vec<String> = others.into_iter().map(Missing::sentence).collect();
    match parts.as_slice() {
        [] => {}
        [one] => sentences.push(one.sentence()),
        // Nodes and pods decide most, so they are named first.
        several => {
            let (main, rest): (Vec<&Missing>, Vec<&Missing>) =
                several.iter().partition(|missing| matches!(missing.kind, Kind::Node | Kind::Pod));
            let names: Vec<String> = main.into_iter().chain(rest).map(|missing| missing.kind.plural()).collect();
            let shown = names.iter().take(KINDS_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = names.len().saturating_sub(KINDS_NAMED);
            let more = if more > 0 { format!(" and {}", count_of(more, "more kind", "more kinds")) } else { String::new() };
            sentences
                .push(format!("A part of the source could not be read: {shown}{more} may be missing, so the answer may be another one."));
        }
    }
    sentences
}

/// Returns a sentence for each kind that could not be read, or not whole, and for nodes and pods also where the source lacks them.
pub fn unread_sentences(missing: MissingKinds) -> Vec<String> {
    let all = Missing::all(missing);
    missing_sentences(all.iter().filter(|missing| missing.why != MissingReason::NotInSource || decides(missing.kind)))
}

/// Returns whether every decision needs the kind.
fn decides(kind: Kind) -> bool {
    matches!(kind, Kind::Node | Kind::Pod)
}

/// Returns why the budgets are unknown.
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
        assert_eq!(all[0].sentence(), "Nodes cannot be read (no permission): where pods fit is unknown.");
        let brief = serde_json::to_string(&Missing::brief(missing)).unwrap();
        assert_eq!(brief, r#"[{"kind":"Node","why":"refused"}]"#);
        assert_eq!(budgets_unknown_because(MissingKinds { budgets: true, ..missing }), "the source contains no PodDisruptionBudgets");
    }
}
