//! Comparisons with the cluster's scheduler as text.

use crate::analysis::{Agreements, MatchKind, Preempted, SchedulerMatch};
use crate::cluster::Kind;
use crate::output::Lines;
use crate::plural::{count, count_of};

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
                    [] => ", for no known reason.",
                    _ => "; the source may lack the reason:",
                };
                out.line(format_args!("Differs from what the cluster's scheduler reported{at}{why}"));
            }
        }
        self.details(&mut out, "  ");
        if self.accord == MatchKind::SchedulerError {
            return out;
        }
        if let Some(written) = self.there.as_ref().filter(|_| !self.differences.is_empty() || !self.other_words.is_empty()) {
            out.line(format_args!("  it reported: {}", written.message));
        }
        out
    }
}

impl SchedulerMatch {
    /// Adds differences, notes on wording, and later changes.
    fn details(&self, out: &mut Lines, indent: &str) {
        for missing in &self.suspects {
            out.line(format_args!("{indent}{}", missing.clause()));
        }
        for line in self.known.iter().flat_map(|known| known.text(self.there.as_ref()).into_vec()) {
            out.line(format_args!("{indent}{line}"));
        }
        for line in &self.differences {
            out.line(format_args!("{indent}{line}"));
        }
        for line in &self.other_words {
            out.line(format_args!("{indent}{line}"));
        }
        for line in &self.since {
            out.line(format_args!("{indent}{line}"));
        }
        if let Some(release) = &self.decided_by {
            out.line(format_args!("{indent}kube-scheduler v{release} decides as the cluster's scheduler reported"));
        }
    }
}

impl Agreements {
    /// Returns the number of pods of each kind of match, in one line.
    pub fn summary(&self) -> String {
        if self.pods.is_empty() {
            return match self.missing.iter().find(|missing| missing.kind == Kind::Pod) {
                Some(missing) => format!("Whether pods are pending is unknown: {}.", missing.clause()),
                None if self.unselected > 0 => {
                    format!("No pod is pending in this namespace; others have {} (-A shows them).", self.unselected)
                }
                None => "No pod is pending.".to_owned(),
            };
        }
        let counts: Vec<String> = self.counts().iter().map(|(accord, n)| accord.counted(*n)).collect();
        format!("{}. Compared with the cluster's scheduler: {}.", count(self.pods.len(), "pending pod"), counts.join(", "))
    }

    /// Returns all comparisons, each pod with its lines.
    pub fn text(&self) -> Lines {
        let mut out = Lines::from(self.summary());
        if !self.pods.is_empty() {
            let some_with_group = self.pods.iter().any(|found| found.group.is_some());
            let together = if some_with_group { ", or with its pod group" } else { "" };
            out.line(format_args!("Each pod is decided on its own{together}, ignoring the other pending pods."));
        }
        out.push(self.release.sentence());
        for (accord, _) in self.counts() {
            out.blank();
            out.line(format_args!("{}:", title(accord)));
            for agreement in self.pods.iter().filter(|a| a.accord == accord) {
                out.line(format_args!("  {}: {}", agreement.pod, agreement.here));
                agreement.details(&mut out, "      ");
            }
        }
        self.evictions(&mut out);
        out
    }

    /// Adds the evictions of the selected pods, the newest last, and counts the others.
    fn evictions(&self, out: &mut Lines) {
        let selected: Vec<&Preempted> = self.preempted_of_selected.iter().filter_map(|at| self.preempted.get(*at)).collect();
        if selected.is_empty() {
            return;
        }
        out.blank();
        out.push("Who was evicted for whom:");
        let earlier = selected.len().saturating_sub(EVICTIONS_SHOWN);
        if earlier > 0 {
            out.line(format_args!("  {} (-o json lists all)", count_of(earlier, "earlier eviction", "earlier evictions")));
        }
        for preempted in &selected[earlier..] {
            out.line(format_args!("  {}", preempted.sentence()));
        }
        let others = self.preempted.len() - selected.len();
        if others > 0 {
            out.line(format_args!("  and {} of other namespaces (-A shows them)", count_of(others, "eviction", "evictions")));
        }
    }
}

fn title(accord: MatchKind) -> String {
    let words = accord.words();
    words[..1].to_uppercase() + &words[1..]
}

impl Preempted {
    /// Returns the eviction in a sentence.
    pub fn sentence(&self) -> String {
        let by = match (&self.preemptor, self.by.as_str()) {
            (Some(pod), _) => format!("for {pod}"),
            (None, "") => "for an unknown pod".to_owned(),
            (None, by) => format!("for {by}, which no longer exists"),
        };
        let node = if self.node.is_empty() { String::new() } else { format!(" on {}", self.node) };
        let at = self.at.map_or_else(String::new, |at| format!("{at}  "));
        let going = if self.going { " (still terminating)" } else { "" };
        format!("{at}{}{node} {by}{going}", self.victim)
    }
}
