//! A complete ticket about a decision: Markdown with the source, the time, the release, the unknown facts, tables, the fixes,
//! and the command that reproduces it.

use jiff::Timestamp;
use serde::Serialize;

use super::details;
use super::odds::odds_section;
use super::sections::sections;
use super::text::{FACTS_SHOWN, by_class, candidate_rows, decided_by, elimination_sentences, name_list, score_rows, victim_rows};
use super::{Answer, group_document};
use crate::analysis::{
    FixReport, FixesReport, LastReported, Missing, ReleaseReport, SchedulerMatch, When, capitalized, missing_sentences, why,
};
use crate::analysis::{Since, VoiceReport};
use crate::cluster::Str;
use crate::framework::PluginName;
use crate::output::{CodeLine, Document};
use crate::plural::count;
use crate::trace::{CycleView, Outcome, VerdictClass};

/// How much of a decision is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Tables of what decides.
    Tables,
    /// The tables, and below them all nodes and candidates.
    Whole,
}

/// Limit on the fixes in a ticket.
const FIXES_SHOWN: usize = 10;
/// Limit on the earlier changes in a ticket.
const STEPS_SHOWN: usize = 20;

/// Limit on the equal candidates whose victims are listed.
const CANDIDATES_SHOWN: usize = 5;

/// Returns the equal candidates whose victims are listed, the nominated one first.
fn with_victims<'a>(node: &'a Str, best: &'a [Str]) -> impl Iterator<Item = &'a Str> {
    std::iter::once(node).chain(best.iter().filter(move |other| *other != node)).take(CANDIDATES_SHOWN)
}

/// The relation of a decision's message to what the cluster's scheduler wrote about the pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reported {
    /// The scheduler wrote this message.
    This,
    /// The scheduler wrote another one.
    Another,
    /// The scheduler wrote nothing yet, or it is unknown.
    #[default]
    Nothing,
}

impl Reported {
    /// Compares a decision with the scheduler's last report about its pod.
    pub fn of(view: &CycleView, written: Option<&LastReported>) -> Self {
        match (written, &view.failure) {
            (None, _) => Self::Nothing,
            (Some(written), Some(failure)) if written.says(&failure.message) => Self::This,
            (Some(_), _) => Self::Another,
        }
    }
}

/// Where a decision comes from, and how it is taken again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The source of the cluster in words.
    pub source: String,
    /// The scheduler's clock at the decision; `None` if it is unknown.
    pub at: Option<Timestamp>,
    /// The command that takes the decision again; `None` if none does.
    pub command: Option<String>,
    /// The steps of the session before the decision that are not in the source, in order.
    pub steps: Vec<String>,
    /// Those of the steps that change the cluster or the scheduler as the user asked, in order.
    pub what_ifs: Vec<String>,
    /// The relation of the message to the scheduler's last report about the pod.
    pub reported: Reported,
    /// Whether the source is a live cluster.
    pub is_live: bool,
    /// Whether the command makes the steps too.
    pub command_has_steps: bool,
    /// Whether the pod exists only because of the steps, so that no command about it works.
    pub invented: bool,
    /// The result of the last what-if with its title.
    pub result: Option<(String, Document)>,
}

/// A decision with everything that a ticket about it needs.
#[derive(Clone, Copy, Debug)]
pub struct Ticket<'a> {
    /// The decision.
    pub view: &'a CycleView,
    /// The emulated release.
    pub release: &'a ReleaseReport,
    /// The fixes; `None` if they were not searched.
    pub fixes: Option<&'a FixesReport>,
    /// Where the decision comes from.
    pub origin: &'a Origin,
    /// The pod's priority, for a decision that did not get as far as the record of it.
    pub priority: Option<i32>,
    /// Facts about the pod.
    pub facts: PodFacts<'a>,
}

/// Facts about a pod besides the decision. Each is a field of the answer in JSON; in text it is a section, which the command line
/// appends.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodFacts<'a> {
    /// The comparison with the cluster's scheduler; `None` where it is not compared.
    pub agreement: Option<&'a SchedulerMatch>,
    /// The words of others about the pod, newest first.
    pub others: &'a [VoiceReport],
    /// The number of words that are left out, because there are too many about one object.
    #[serde(skip_serializing_if = "crate::analysis::is_zero")]
    pub others_left_out: usize,
    /// Findings from these words and the decision together, a sentence each.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub others_together: &'a [String],
    /// When the pod is tried again; `None` if nothing says so.
    pub when: Option<&'a When>,
    /// The difference from the dump before; `None` where the source is not a series of dumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<&'a Since>,
}

impl<'a> Ticket<'a> {
    /// Makes a ticket of a decision alone.
    pub fn new(view: &'a CycleView, release: &'a ReleaseReport, fixes: Option<&'a FixesReport>, origin: &'a Origin) -> Self {
        Self { view, release, fixes, origin, priority: None, facts: PodFacts::default() }
    }

    /// Returns the answer without the origin, for formats that have no place for it.
    pub(super) fn answer(&self) -> Answer<'a> {
        match self.fixes {
            Some(fixes) => Answer::Fixes(self.view, self.release, fixes),
            None => Answer::Decision(self.view, self.release),
        }
    }

    /// Returns the ticket, with more at its end.
    pub fn document(&self, more: &Document) -> Document {
        let mut doc = self.sections(Detail::Tables);
        doc.append(more.clone());
        reproduction(&mut doc, self.origin);
        doc
    }

    /// Returns the ticket as a page that holds the whole decision: nodes, candidates and functions of the tie-break under headings of
    /// their own, to fold. More is at its end.
    pub(super) fn page(&self, more: Document) -> Document {
        let mut doc = self.sections(Detail::Whole);
        doc.append(more);
        reproduction(&mut doc, self.origin);
        doc
    }

    fn sections(&self, detail: Detail) -> Document {
        let mut doc = Document::default();
        self.head(&mut doc);
        if let Some(failure) = self.view.failure.as_ref().filter(|_| self.view.nodes_unknown().is_none()) {
            doc.heading(2, self.message_heading());
            doc.code(0, [failure.message.to_string()]);
        }
        if self.view.group.is_some() {
            doc.heading(2, "Pod group");
            doc.append(group_document(self.view));
        }
        self.nodes(&mut doc);
        if detail == Detail::Whole {
            details::nodes(&mut doc, self.view);
        }
        doc.append(sections(self.view));
        self.scores(&mut doc);
        self.preemption(&mut doc);
        if let Some(preemption) = self.view.preemption.as_ref().filter(|_| detail == Detail::Whole) {
            let listed: Vec<&Str> = preemption.selected().map_or_else(Vec::new, |(node, best)| with_victims(node, best).collect());
            details::preemption(&mut doc, preemption, &listed, self.view.budgets_unknown());
        }
        self.odds(&mut doc);
        self.unknown(&mut doc);
        self.fixes(&mut doc);
        if let Some((title, result)) = &self.origin.result {
            doc.heading(2, title.as_str());
            doc.append(result.clone());
        }
        doc
    }

    /// Returns the heading above the message: whose words it is in.
    fn message_heading(&self) -> &'static str {
        match self.origin.reported {
            _ if !self.origin.what_ifs.is_empty() => "Message that kube-scheduler would write (what-if)",
            Reported::This => "kube-scheduler's message",
            Reported::Another => "Message that kube-scheduler would write now (its last one differs)",
            Reported::Nothing => "Message that kube-scheduler would write (not reported yet)",
        }
    }

    fn head(&self, doc: &mut Document) {
        let pod = self.view.start.as_ref().map_or_else(|| "a pod".to_owned(), |start| start.pod.to_string());
        let state = match self.view.outcome {
            Some(Outcome::Scheduled) => "fits",
            Some(Outcome::Gated) => "is gated",
            Some(Outcome::Error) => "could not be decided",
            Some(Outcome::Unschedulable) => "is pending",
            None => "is being decided",
        };
        let Origin { what_ifs, steps, .. } = self.origin;
        doc.heading(1, format!("{pod} {state}{}", if what_ifs.is_empty() { "" } else { " in a what-if" }));
        if !what_ifs.is_empty() {
            let shown = what_ifs.iter().take(STEPS_SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
            let more = if what_ifs.len() > STEPS_SHOWN { format!("; and {} more", what_ifs.len() - STEPS_SHOWN) } else { String::new() };
            doc.paragraph(format!("With what-if: {shown}{more}. The cluster itself is not changed."));
        }
        let emulated = steps.len() - what_ifs.len().min(steps.len());
        if emulated > 0 {
            doc.paragraph(format!("After {} of the emulated scheduler, which the cluster has not taken.", count(emulated, "step")));
        }
        doc.paragraph(why(self.view));
        let mut rows = vec![("Source".to_owned(), self.origin.source.clone())];
        rows.extend(self.origin.at.map(|at| ("Decided at".to_owned(), at.to_string())));
        rows.push(("Release".to_owned(), self.release.sentence().to_owned()));
        if let Some(start) = &self.view.start {
            let asks: Vec<String> = start.requests.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
            rows.push(("Priority".to_owned(), start.priority.to_string()));
            rows.push(("Requests".to_owned(), if asks.is_empty() { "none".to_owned() } else { asks.join(", ") }));
            rows.push(("Nodes".to_owned(), start.nodes.to_string()));
        }
        rows.push(("Generated by".to_owned(), format!("schedscope {}", env!("CARGO_PKG_VERSION"))));
        doc.table(["", ""], rows.into_iter().map(|(name, value)| vec![name, value]));
    }

    fn nodes(&self, doc: &mut Document) {
        let groups = by_class(self.view);
        if groups.is_empty() {
            return;
        }
        doc.heading(2, "Nodes");
        let mut rows = Vec::new();
        for group in groups {
            let verdict = match group.class {
                VerdictClass::Fits => "fits".to_owned(),
                class => format!("does not fit; {}", class.eviction()),
            };
            let plugin = group.plugin.map_or("", PluginName::as_str);
            let rest: Vec<_> = group.facts.iter().skip(FACTS_SHOWN).flat_map(|(_, nodes)| nodes.iter().copied()).collect();
            for (fact, nodes) in group.facts.iter().take(FACTS_SHOWN) {
                let reason = match fact {
                    Some(fact) => format!("{}: {fact}", group.message),
                    None => group.message.clone(),
                };
                rows.push(vec![nodes.len().to_string(), verdict.clone(), plugin.to_owned(), reason, name_list(nodes)]);
            }
            if !rest.is_empty() {
                let reason = format!("{}: other facts", group.message);
                rows.push(vec![rest.len().to_string(), verdict.clone(), plugin.to_owned(), reason, name_list(&rest)]);
            }
        }
        if let Some((_, status)) = self.view.pre_filter.narrowed.as_ref().filter(|_| self.view.pre_filter.rejected.is_none()) {
            let reason = if status.is_success() { "ruled out by PreFilter".to_owned() } else { status.message() };
            rows.push(vec!["all others".to_owned(), "does not fit".to_owned(), String::new(), reason, String::new()]);
        }
        doc.table(["Nodes", "Verdict", "Plugin", "Reason", "Names"], rows);
    }

    fn scores(&self, doc: &mut Document) {
        let rows = score_rows(self.view);
        if let Some((head, rows)) = rows.split_first() {
            doc.heading(2, "Scores (weighted)");
            table(doc, head, rows);
        }
    }

    fn preemption(&self, doc: &mut Document) {
        let Some(preemption) = self.view.preemption.as_ref().filter(|p| p.ineligible().is_none() && !p.potential_nodes().is_empty()) else {
            return;
        };
        doc.heading(2, "Preemption");
        let tried = count(preemption.begun_dry_runs(), "node");
        let note =
            if preemption.hypothetical() { " kube-scheduler does not get this far: an earlier plugin ended PostFilter." } else { "" };
        doc.paragraph(format!("{tried} dry-run, {}.{note}", count(preemption.candidate_count(), "candidate")));
        let rows = candidate_rows(preemption, self.view.budgets_unknown());
        if let Some((head, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) {
            table(doc, head, rows);
        }
        let eliminations = elimination_sentences(preemption);
        if !eliminations.is_empty() {
            doc.list(eliminations.iter().map(String::as_str));
        }
        if let Some((node, best)) = preemption.selected() {
            doc.paragraph(decided_by(preemption, node, best));
            for candidate in with_victims(node, best).filter_map(|node| preemption.candidate(node)) {
                let rows = victim_rows(candidate, self.view.budgets_unknown());
                doc.heading(3, format!("Victims on {}, most important first", candidate.node));
                if let Some((head, rows)) = rows.split_first() {
                    table(doc, head, rows);
                }
            }
            if best.len() > CANDIDATES_SHOWN {
                doc.paragraph(format!("The victims on {} are not listed.", count(best.len() - CANDIDATES_SHOWN, "more equal candidate")));
            }
        }
    }

    fn odds(&self, doc: &mut Document) {
        if let Some((title, lines)) = odds_section(self.view) {
            doc.heading(2, format!("Odds ({title})"));
            doc.code(0, lines);
        }
    }

    fn unknown(&self, doc: &mut Document) {
        let missing = Missing::all(self.view.missing());
        let mut items: Vec<String> = missing_sentences(missing.iter().filter(|missing| missing.matters_to(self.view)));
        items.extend(self.view.not_emulated.iter().map(|(plugin, what)| format!("Not emulated: {plugin}: {what}")));
        items.extend(self.release.not_verified.iter().map(|part| format!("Not verified against this release: {part}")));
        if let Some((evaluated, of, _)) = self.view.filter.stopped {
            items.push(format!("{evaluated} of {of} nodes were evaluated, as kube-scheduler does in a large cluster"));
        }
        doc.heading(2, "Unknowns");
        if items.is_empty() {
            doc.paragraph("None that affect this decision.");
        } else {
            doc.list(items.iter().map(String::as_str));
        }
    }

    fn fixes(&self, doc: &mut Document) {
        doc.heading(2, "Fixes");
        if self.view.outcome == Some(Outcome::Scheduled) {
            return doc.paragraph("None needed: the pod fits.");
        }
        let Some(report) = self.fixes else {
            return doc.paragraph("Not searched; add --fixes.");
        };
        if let Some(text) = report.unknown_text() {
            doc.paragraph(format!("{}.", capitalized(&text)));
        }
        if !report.not_proposed.is_empty() {
            doc.paragraph("Not proposed:");
            doc.list(report.not_proposed.iter().map(String::as_str));
        }
        if !report.preempts.is_empty() {
            doc.paragraph(format!("No fix is needed: {}.", report.preempts));
            if report.fixes.is_empty() {
                return;
            }
        }
        if report.fixes.is_empty() {
            return doc.paragraph(format!("None found ({}).", report.searched));
        }
        let different: Vec<&FixReport> = report.fixes.iter().filter(|fix| fix.equal_to.is_none()).collect();
        let rows = different.iter().take(FIXES_SHOWN).enumerate();
        doc.table(
            ["", "Change", "Result"],
            rows.map(|(i, fix)| {
                let why = fix.last_resort.as_ref().map_or_else(String::new, |why| format!("; only if nothing else helps: {why}"));
                vec![(i + 1).to_string(), fix.text.clone(), format!("{}{why}", fix.result)]
            }),
        );
        let more = different.len().saturating_sub(FIXES_SHOWN);
        if more > 0 {
            doc.paragraph(format!("And {more} more."));
        }
        if !report.complete {
            doc.paragraph(format!("Incomplete: {}.", report.searched));
        }
        let mut commands: Vec<CodeLine> = Vec::new();
        for (i, fix) in different.iter().take(FIXES_SHOWN).enumerate() {
            let lines = fix.commands();
            if !lines.is_empty() {
                commands.push(format!("# {}", i + 1).into());
                commands.extend(lines);
            }
        }
        if self.origin.invented {
            doc.paragraph("No commands: the pod exists only in this what-if.");
        } else if !commands.is_empty() {
            doc.paragraph("Commands, by fix number:");
            doc.code(0, commands);
        }
    }
}

/// Adds how an answer is made again.
pub(super) fn reproduction(doc: &mut Document, origin: &Origin) {
    doc.heading(2, "How to reproduce");
    let Origin { steps, what_ifs, command, is_live, command_has_steps, .. } = origin;
    // A command that makes the what-ifs makes the steps within them too.
    let steps = if *command_has_steps { what_ifs } else { steps };
    if !steps.is_empty() {
        doc.paragraph("The session adds these steps to its source; :save FILE saves them, and schedscope open FILE opens them again:");
        doc.list(steps.iter().take(STEPS_SHOWN).map(String::as_str));
        if steps.len() > STEPS_SHOWN {
            doc.paragraph(format!("And {} more.", steps.len() - STEPS_SHOWN));
        }
    }
    match command {
        Some(command) => {
            doc.paragraph(match (steps.is_empty(), command_has_steps) {
                (true, _) => "The command:",
                (false, true) => "The command, which makes the what-if on the cluster as it was read, and runs until nothing changes:",
                (false, false) => "The command, for the cluster as it was read, without these steps:",
            });
            doc.code(0, [command.clone()]);
        }
        None if steps.is_empty() => doc.paragraph("No command: the source cannot be read again."),
        None => {}
    }
    if *is_live {
        doc.paragraph("A live cluster changes; save its current state with schedscope capture FILE.");
    }
}

fn table(doc: &mut Document, head: &[String], rows: &[Vec<String>]) {
    doc.table(head.iter().map(String::as_str), rows.iter().cloned());
}

/// Returns the words of a command line, each quoted for a shell where it must be.
pub fn shell_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let quoted = |word: &'w str| {
        if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(shell_line(["a", "b/c-1.2", ""]), "a b/c-1.2 ''");
        assert_eq!(shell_line(["it's", "$(x)", "a b"]), "'it'\\''s' '$(x)' 'a b'");
    }
}
