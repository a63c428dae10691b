//! Fixes and constraints as text.

use super::text::table;
use crate::analysis::fixes::words::{alternatives_text, names};
use crate::analysis::{ConstraintReport, FixReport, FixesReport};
use crate::cluster::Str;
use crate::fixes::Alternative;
use crate::output::{CodeLine, Document, Headings, Lines, Words};
use crate::plural::count;

/// Heading of the fixes that are last resorts.
const LAST_RESORTS: &str = "Only if nothing else helps";
/// Remark on a command that deletes a pod.
const NO_BUDGETS: &str = "# asks no disruption budget";
/// Remark on a command that creates a claim for which no volume is provisioned as far as is known.
const NEEDS_VOLUME: &str = "# adapt size and class; then a PersistentVolume must come for it";
/// Remark on a command that replaces a pod.
const REPLACES: &str = "# deletes the pod and creates it again";
/// Limit on the fixes shown in text.
const SHOWN: usize = 20;
/// Limit on the fixes shown that differ in one choice only.
const ALTERNATIVES: usize = 4;

impl FixReport {
    /// Returns the commands, one a line, with the remark that a deletion asks no budget, or a comment that says why there are none; empty if
    /// kubectl cannot make the changes.
    pub fn commands(&self) -> Vec<CodeLine> {
        let remarked = |command: &str| {
            let remark = match () {
                () if command.starts_with("kubectl delete pod ") => NO_BUDGETS,
                () if command.starts_with("printf ") && self.needs_volume => NEEDS_VOLUME,
                () if command.starts_with("kubectl get pod ") && command.ends_with("kubectl replace --force -f -") => REPLACES,
                () => "",
            };
            CodeLine { text: command.to_owned(), remark }
        };
        let comment = self.no_command.iter().map(|why| format!("# no command: {why}").into());
        self.kubectl.iter().flat_map(|commands| commands.lines()).map(remarked).chain(comment).collect()
    }

    /// Returns the remark that the template of the commands was not read; `None` if it was.
    pub(crate) fn template_words(&self) -> Option<String> {
        self.template_unread.as_ref().map(|owner| format!("{owner} was not read: its template is taken to be like the pod's spec"))
    }
}

impl ConstraintReport {
    /// Returns the demand in one line.
    fn line(&self) -> String {
        if self.fails == 0 {
            return format!("{}: every node meets it", self.text);
        }
        let closest = if self.closest.is_empty() { String::new() } else { format!("; {}", self.closest) };
        let fails = count(self.fails, "node");
        let rules_out = match self.only {
            0 if self.fails == 1 => format!("rules out {fails} (also ruled out by others)"),
            0 => format!("rules out {fails} (all also ruled out by others)"),
            only if only == self.fails => format!("rules out {fails} by itself"),
            only => format!("rules out {fails}, {only} of them by itself"),
        };
        let without = match self.more {
            None => "not tried".to_owned(),
            Some(0) => "no more nodes fit".to_owned(),
            Some(more) => format!("{} {}", count(more, "more node"), if more == 1 { "fits" } else { "fit" }),
        };
        format!("{}: {rules_out}; without it: {without}{closest}", self.text)
    }
}

impl FixesReport {
    /// Returns fixes and constraints as text, an empty line before each heading.
    pub fn text(&self) -> Lines {
        let mut out = self.found().plain(Headings::Capitals);
        if !self.constraints.is_empty() {
            out.blank();
            out.push("CONSTRAINTS (FAILS: nodes that fail it; ONLY: nodes that fail nothing else; MORE: nodes that fit only without it)");
            let head = ["DEMAND", "FAILS", "ONLY", "MORE", ""].map(str::to_owned).to_vec();
            let cells = |c: &ConstraintReport| {
                let more = c.more.map_or_else(|| "?".to_owned(), |more| more.to_string());
                vec![c.text.clone(), c.fails.to_string(), c.only.to_string(), more, c.closest.clone()]
            };
            let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.constraints.iter().map(cells)).collect();
            table(&rows, &mut out);
        }
        out
    }

    /// Returns the equal nodes with which a fix works as well, as a clause; empty without any.
    fn equal_nodes(&self, at: usize) -> String {
        let others = self.fixes.iter().filter(|fix| fix.equal_to == Some(at)).filter_map(|fix| fix.node.as_ref());
        let others: Vec<&Str> = others.collect();
        if others.is_empty() { String::new() } else { format!(" (or the equal {})", names(&others)) }
    }

    /// Returns fixes and constraints. Each fix is a span with its index.
    pub fn document(&self) -> Document {
        let mut doc = self.found();
        if !self.constraints.is_empty() && !self.needs_none() {
            doc.heading(2, "Constraints");
            self.constraints.iter().for_each(|c| doc.item(2, c.line()));
        }
        doc
    }

    /// Returns whether a change would take the place that is being made; JSON lists them all the same.
    fn needs_none(&self) -> bool {
        !self.nothing.is_empty() && self.waits
    }

    /// Returns the fixes.
    fn found(&self) -> Document {
        let mut doc = Document::default();
        doc.heading(2, "Fixes");
        if !self.nothing.is_empty() {
            doc.item(2, self.nothing.as_str());
            if self.needs_none() {
                return doc;
            }
        } else if !self.preempts.is_empty() {
            let others = if self.fixes.is_empty() { "" } else { "; these would spare them" };
            doc.item(2, format!("it needs no fix: {}{others}", self.preempts));
        } else if self.fixes.is_empty() {
            doc.item(2, format!("none found ({})", self.searched));
        }
        let mut shown = 0;
        let mut in_last_resorts = false;
        let mut left_out: Vec<(&Alternative, usize)> = Vec::new();
        for (i, fix) in self.fixes.iter().enumerate().filter(|(_, fix)| fix.equal_to.is_none()) {
            let alike = |other: &&FixReport| other.alternative.is_some() && other.alternative == fix.alternative;
            if self.fixes[..i].iter().filter(alike).count() >= ALTERNATIVES
                && let Some(alternative) = &fix.alternative
            {
                match left_out.iter_mut().find(|(one, _)| *one == alternative) {
                    Some((_, more)) => *more += 1,
                    None => left_out.push((alternative, 1)),
                }
                continue;
            }
            shown += 1;
            if shown > SHOWN {
                continue;
            }
            if fix.last_resort.is_some() && !std::mem::replace(&mut in_last_resorts, true) {
                doc.heading(2, LAST_RESORTS);
            }
            let why = fix.last_resort.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            doc.item(2, Words::of_fix(i, format!("{shown}. {}{}: {}{why}", fix.text, self.equal_nodes(i), fix.result)));
            doc.code(5, fix.commands());
        }
        let mut more: Vec<String> = left_out.into_iter().map(|(alternative, more)| alternatives_text(alternative, more)).collect();
        more.extend(shown.checked_sub(SHOWN).filter(|more| *more > 0).map(|more| format!("{more} more")));
        if !more.is_empty() {
            doc.item(2, format!("… and {} (explain --fixes -o json lists all)", more.join(", ")));
        }
        if let Some(words) = self.fixes.iter().find_map(FixReport::template_words) {
            doc.item(2, words);
        }
        self.unknown_text().into_iter().for_each(|text| doc.item(2, text));
        self.not_proposed.iter().for_each(|text| doc.item(2, format!("not proposed: {text}")));
        if !self.complete {
            doc.item(2, format!("incomplete: {}", self.searched));
        }
        doc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constraint_says_what_it_rules_out_alone_and_what_fits_without_it() {
        for (fails, only, more, expected) in [
            (0, 0, Some(0), "x: every node meets it"),
            (1, 0, Some(0), "x: rules out 1 node (also ruled out by others); without it: no more nodes fit"),
            (3, 0, Some(1), "x: rules out 3 nodes (all also ruled out by others); without it: 1 more node fits"),
            (3, 2, Some(2), "x: rules out 3 nodes, 2 of them by itself; without it: 2 more nodes fit"),
            (3, 3, None, "x: rules out 3 nodes by itself; without it: not tried"),
        ] {
            let (text, kind, closest) = ("x".to_owned(), String::new(), String::new());
            let report =
                ConstraintReport { text, kind, field: None, fails, only, opens: 7, more, without: None, without_left_out: false, closest };
            assert_eq!(report.line(), expected);
        }
    }
}
