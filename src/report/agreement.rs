//! Comparisons with the cluster's scheduler as text.

use crate::analysis::{Agreements, MatchKind, Missing, Preempted, SchedulerMatch, capitalized};
use crate::cluster::Key;
use crate::output::{Document, Headings, Lines, Words};
use crate::plural::{count, count_of};

/// Limit on the pods that text names which are not decided.
const NOT_DECIDED_SHOWN: usize = 5;
/// Limit on the evictions that text names, newest ones.
const EVICTIONS_SHOWN: usize = 8;

impl SchedulerMatch {
    /// Returns the comparison of one pod as a few lines.
    pub fn text(&self) -> Lines {
        let mut out = Lines::default();
        let at = self.there.as_ref().and_then(|w| w.at).map_or_else(String::new, |at| format!(" at {at}"));
        match self.accord {
            MatchKind::Unwritten => return "The cluster's scheduler has reported nothing about this pod.".into(),
            MatchKind::NotOurs => return self.here.clone().into(),
            MatchKind::Undecided => return self.known.as_ref().map(|known| known.text(self.there.as_ref())).unwrap_or_default(),
            MatchKind::Same if self.other_words.is_empty() => {
                out.line(format_args!("Agrees with what the cluster's scheduler reported{at}."));
            }
            MatchKind::Same => {
                out.line(format_args!("Agrees with what the cluster's scheduler reported{at}, in different words."));
            }
            MatchKind::Binding => {
                out.push("The cluster's scheduler chose this node too, and binds the pod's claims.");
                return out;
            }
            MatchKind::SchedulerError => {
                out.line(format_args!("The last attempt of the cluster's scheduler{at} decided nothing:"));
            }
            MatchKind::ChangedSince => {
                out.line(format_args!("Differs from what the cluster's scheduler reported{at}; the cluster has changed since."));
            }
            MatchKind::OtherRelease => {
                let release = self.decided_by.as_deref().unwrap_or_default();
                out.line(format_args!("Differs from what the cluster's scheduler reported{at}, but kube-scheduler v{release} agrees."));
            }
            MatchKind::Unexplained => {
                let why = match self.suspects[..] {
                    [] if self.untried > 0 => "; another release may agree:",
                    [] => ", for no known reason.",
                    _ => "; the source may lack the reason:",
                };
                out.line(format_args!("Differs from what the cluster's scheduler reported{at}{why}"));
            }
        }
        out.extend(self.details().into_iter().collect::<Lines>().indented(2));
        if self.accord == MatchKind::SchedulerError {
            return out;
        }
        if let Some(written) = self
            .there
            .as_ref()
            .filter(|written| !written.message.is_empty() && (!self.differences.is_empty() || !self.other_words.is_empty()))
        {
            out.line(format_args!("  it reported: {}", written.message));
        }
        out
    }
}

impl SchedulerMatch {
    /// Returns differences, notes on wording, and later changes, a line each.
    fn details(&self) -> Vec<String> {
        let mut out: Vec<String> = self.suspects.iter().map(Missing::clause).collect();
        out.extend(self.known.iter().flat_map(|known| known.text(self.there.as_ref())));
        out.extend(self.differences.iter().chain(&self.other_words).chain(&self.since).cloned());
        if let Some(release) = &self.decided_by {
            out.push(format!("kube-scheduler v{release} decides as the cluster's scheduler reported"));
        }
        if self.untried > 0 {
            let releases = count_of(self.untried, "other release", "other releases");
            out.push(format!("not tried whether {releases} of kube-scheduler would say the same: a decision takes too many steps"));
        }
        out
    }
}

impl Agreements {
    /// Returns the number of pods of each kind of match, in one line.
    pub fn summary(&self) -> String {
        if self.pods.is_empty() {
            return match self.pending_unknown() {
                Some(unknown) => format!("{}.", capitalized(&unknown)),
                None if self.unselected > 0 => {
                    let place = self.namespace.as_ref().map_or_else(|| "this namespace".to_owned(), |name| format!("namespace {name}"));
                    format!("No pod is pending in {place}; others have {} (-A shows them).", self.unselected)
                }
                None => "No pod is pending.".to_owned(),
            };
        }
        let counts: Vec<String> = self.counts().iter().map(|(accord, n)| accord.counted(*n)).collect();
        let left = match self.not_decided.len() {
            0 => String::new(),
            left => format!(" {} not decided, as the others took all steps.", count_of(left, "more is", "more are")),
        };
        format!("{}. Compared with the cluster's scheduler: {}.{left}", count(self.pods.len(), "pending pod"), counts.join(", "))
    }

    /// Returns all comparisons as text, each pod with its lines.
    pub fn text(&self) -> Lines {
        self.document().plain(Headings::Colon)
    }

    /// Returns all comparisons, the summary first.
    pub fn document(&self) -> Document {
        let mut out = Document::default();
        out.paragraph(self.summary());
        out.append(self.details());
        out
    }

    /// Returns all comparisons without the summary.
    pub(super) fn details(&self) -> Document {
        let mut out = Document::default();
        if !self.pods.is_empty() {
            let some_with_group = self.pods.iter().any(|found| found.group.is_some());
            let together = if some_with_group { ", or with its pod group" } else { "" };
            out.paragraph(format!("Each pod is decided on its own{together}, ignoring the other pending pods."));
        }
        out.paragraph(self.release.sentence());
        for (accord, _) in self.counts() {
            out.blank();
            out.heading(2, title(accord));
            for agreement in self.pods.iter().filter(|a| a.accord == accord) {
                out.item(2, Words::of_pod(&agreement.pod).text(format!(": {}", agreement.here)));
                agreement.details().into_iter().for_each(|line| out.item(6, line));
            }
        }
        if !self.not_decided.is_empty() {
            let named: Vec<String> = self.not_decided.iter().take(NOT_DECIDED_SHOWN).map(Key::to_string).collect();
            let more = self.not_decided.len() - named.len();
            let rest = if more > 0 { format!(" and {more} more (-o json lists all)") } else { String::new() };
            out.blank();
            out.heading(2, "Not decided");
            out.item(2, format!("the decisions about the other pods took all steps: {}{rest}", named.join(", ")));
        }
        self.evictions(&mut out);
        out
    }

    /// Adds the evictions of the selected pods, the newest last, and counts the others.
    fn evictions(&self, out: &mut Document) {
        let selected: Vec<&Preempted> = self.preempted_of_selected.iter().filter_map(|at| self.preempted.get(*at)).collect();
        if selected.is_empty() {
            return;
        }
        out.blank();
        out.heading(2, "Who was evicted for whom");
        let earlier = selected.len().saturating_sub(EVICTIONS_SHOWN);
        if earlier > 0 {
            out.item(2, format!("{} (-o json lists all)", count_of(earlier, "earlier eviction", "earlier evictions")));
        }
        for preempted in &selected[earlier..] {
            out.item(2, preempted.sentence());
        }
        let others = self.preempted.len() - selected.len();
        if others > 0 {
            out.item(2, format!("and {} of other namespaces (-A shows them)", count_of(others, "eviction", "evictions")));
        }
    }
}

fn title(accord: MatchKind) -> String {
    capitalized(accord.words())
}

impl Preempted {
    /// Returns the eviction in a sentence.
    pub fn sentence(&self) -> Words {
        let by = match (&self.preemptor, &self.gone, self.by.as_str()) {
            (Some(pod), ..) => format!("for {pod}"),
            (None, Some(pod), _) => format!("for {pod}, which no longer exists"),
            (None, None, "") => "for an unknown pod".to_owned(),
            (None, None, by) => format!("for the pod with UID {by}, which no longer exists"),
        };
        let at = self.at.map_or_else(String::new, |at| format!("{at}  "));
        let going = if self.going { " (still terminating)" } else { "" };
        let words = Words::from(at).pod(&self.victim);
        let words = if self.node.is_empty() { words } else { words.text(" on ").node(&self.node) };
        words.text(format!(" {by}{going}"))
    }
}
