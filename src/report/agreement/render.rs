//! The comparison for reading.

use std::fmt::Write as _;

use super::{Agreements, MatchKind, Preempted, SchedulerMatch};
use crate::cluster::Kind;
use crate::plural::count;

impl SchedulerMatch {
    /// The comparison in some lines, for one pod.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let at = self.there.as_ref().and_then(|w| w.at).map_or_else(String::new, |at| format!(" at {at}"));
        match self.accord {
            MatchKind::Unwritten => return "The cluster's scheduler has written nothing about it.\n".to_owned(),
            MatchKind::NotOurs => return format!("{}\n", self.here),
            MatchKind::Same if self.other_words.is_empty() => {
                let _ = writeln!(out, "The same as the cluster's scheduler wrote{at}.");
            }
            MatchKind::Same => {
                let _ = writeln!(out, "The same as the cluster's scheduler wrote{at}, in other words.");
            }
            MatchKind::ChangedSince => {
                let _ = writeln!(out, "Not what the cluster's scheduler wrote{at}; the cluster has changed since.");
            }
            MatchKind::Unexplained => {
                let _ = writeln!(out, "Not what the cluster's scheduler wrote{at}, and nothing that is known explains it.");
            }
        }
        self.details(&mut out, "  ");
        if let Some(written) = self.there.as_ref().filter(|_| !self.differences.is_empty() || !self.other_words.is_empty()) {
            let _ = writeln!(out, "  it wrote: {}", written.message);
        }
        out
    }
}

impl SchedulerMatch {
    /// What differs, what is only put otherwise, and what has changed since.
    fn details(&self, out: &mut String, indent: &str) {
        for line in &self.differences {
            let _ = writeln!(out, "{indent}{line}");
        }
        for line in &self.other_words {
            let _ = writeln!(out, "{indent}{line}");
        }
        for line in &self.since {
            let _ = writeln!(out, "{indent}{line}");
        }
    }
}

impl Agreements {
    /// How many pods there are of each accord, in one line.
    pub fn summary(&self) -> String {
        if self.pods.is_empty() {
            return match self.missing.iter().find(|missing| missing.kind == Kind::Pod) {
                Some(missing) => format!("Whether pods are pending is unknown: {}.", missing.clause()),
                None => "No pod is pending.".to_owned(),
            };
        }
        let counts: Vec<String> = self.counts().iter().map(|(accord, n)| accord.counted(*n)).collect();
        format!("{}. Compared with the cluster's scheduler: {}.", count(self.pods.len(), "pending pod"), counts.join(", "))
    }

    /// All of it, a line or a few for each pod.
    pub fn text(&self) -> String {
        let mut out = self.summary() + "\n";
        out += "Each pod is decided on its own, ignoring the other pending pods.\n";
        for (accord, _) in self.counts() {
            let _ = writeln!(out, "\n{}:", title(accord));
            for agreement in self.pods.iter().filter(|a| a.accord == accord) {
                let _ = writeln!(out, "  {}: {}", agreement.pod, agreement.here);
                agreement.details(&mut out, "      ");
            }
        }
        if !self.preempted.is_empty() {
            out += "\nWho was evicted for whom:\n";
            for preempted in &self.preempted {
                let _ = writeln!(out, "  {}", preempted.sentence());
            }
        }
        out
    }
}

fn title(accord: MatchKind) -> String {
    let words = accord.words();
    words[..1].to_uppercase() + &words[1..]
}

impl Preempted {
    /// In a sentence.
    pub fn sentence(&self) -> String {
        let by = match (&self.preemptor, self.by.as_str()) {
            (Some(pod), _) => format!("for {pod}"),
            (None, "") => "for a pod that nothing names".to_owned(),
            (None, by) => format!("for {by}, which is no longer there"),
        };
        let node = if self.node.is_empty() { String::new() } else { format!(" on {}", self.node) };
        let at = self.at.map_or_else(String::new, |at| format!("{at}  "));
        let going = if self.going { " (still terminating)" } else { "" };
        format!("{at}{}{node} {by}{going}", self.victim)
    }
}
