//! A decision in one sentence, in its parts, so that narrow places can say less of it.

use std::fmt;

/// A sentence about a decision: the opening, the cause, and what follows from it behind a semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    opening: &'static str,
    /// The cause, with fewer remarks in brackets from one to the next; the first is the fullest. Never empty.
    causes: Vec<String>,
    rest: String,
    end: &'static str,
}

/// The opening of a sentence about a pod that is rejected.
const PENDING: &str = "Pending because ";

impl Sentence {
    /// Returns a sentence that is not shortened otherwise than at its end.
    pub(super) fn plain(text: String) -> Self {
        Self { opening: "", causes: vec![text], rest: String::new(), end: "." }
    }

    /// Returns why a pod is pending, with the causes from the fullest to the shortest.
    pub(crate) fn pending(mut causes: Vec<String>, rest: Option<String>) -> Self {
        causes.dedup();
        Self { opening: PENDING, causes, rest: rest.unwrap_or_default(), end: "." }
    }

    /// Adds a clause at the end.
    pub(super) fn and(mut self, more: &str) -> Self {
        if !self.rest.is_empty() {
            self.rest.push_str("; ");
        }
        self.rest.push_str(more);
        self
    }

    /// Returns whether the sentence opens with the words that the pod is pending.
    pub fn is_pending(&self) -> bool {
        !self.opening.is_empty()
    }

    /// Returns the sentence without its opening.
    pub fn unopened(&self) -> String {
        self.with("", &self.causes[0])
    }

    /// Returns the fullest cause and what follows from it, as a clause for another sentence: without opening and full stop.
    pub fn clause(&self) -> String {
        let semicolon = if self.rest.is_empty() { "" } else { "; " };
        format!("{}{semicolon}{}", self.causes[0], self.rest)
    }

    /// Returns the whole sentence, from the fullest to the shortest: first the causes lose remarks, then the opening is left out.
    pub fn forms(&self) -> impl Iterator<Item = String> + '_ {
        let causes = self.causes.iter().map(|cause| self.with(self.opening, cause));
        causes.chain(self.is_pending().then(|| self.with("", self.shortest_cause())))
    }

    /// Returns the causes with the opening, from the fullest to the shortest, and the shortest one without it.
    pub fn causes(&self) -> impl Iterator<Item = String> + '_ {
        let causes = self.causes.iter().map(|cause| format!("{}{cause}", self.opening));
        causes.chain(self.is_pending().then(|| self.shortest_cause().to_owned()))
    }

    /// Returns the shortest cause, without the opening.
    pub fn shortest_cause(&self) -> &str {
        self.causes.last().map_or("", String::as_str)
    }

    /// Returns what follows from the cause: what preemption does about it, and plugins that are not emulated. Empty if nothing.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    fn with(&self, opening: &str, cause: &str) -> String {
        let semicolon = if self.rest.is_empty() { "" } else { "; " };
        format!("{opening}{cause}{semicolon}{}{}", self.rest, self.end)
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(self.opening, &self.causes[0]))
    }
}

impl From<String> for Sentence {
    /// Returns a sentence of a text that has its own full stop, or needs none.
    fn from(text: String) -> Self {
        Self { end: "", ..Self::plain(text) }
    }
}
