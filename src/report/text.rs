//! A decision as plain text for a terminal or a ticket, most important first.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::group_text;
use super::odds::odds_text;
use super::sections::sections;
use crate::analysis::{eliminations, odds, odds_cell, plain_value, victims_in_sum, why};
use crate::cluster::Str;
use crate::framework::{Candidate, PluginName, ScoreFunction, ScoreFunctionName, Status, Victim};
use crate::output::{self, Headings, Lines};
use crate::plural::count;
use crate::trace::{CycleView, PreemptionView, VerdictClass, victim_label};

/// Limit on the node names in a line.
const NAMES_SHOWN: usize = 8;
/// Limit on the facts of a group of nodes.
pub(super) const FACTS_SHOWN: usize = 8;
/// Limit on the nodes in the table of scores.
const SCORES_SHOWN: usize = 10;
/// Limit on the candidates in the table.
const CANDIDATES_SHOWN: usize = 20;

/// Returns the whole decision.
pub fn text(view: &CycleView) -> Lines {
    let mut out = Lines::default();
    if let Some(start) = &view.start {
        let asks: Vec<String> = start.requests.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
        let asks = if asks.is_empty() { "no requests".to_owned() } else { format!("requests {}", asks.join(", ")) };
        out.line(format_args!("{} · priority {} · {asks}", start.pod, start.priority));
    }
    let answer = why(view);
    if !answer.is_empty() {
        out.line(format_args!("{answer}"));
    }
    if let Some(failure) = view.failure.as_ref().filter(|_| view.nodes_unknown().is_none()) {
        out.blank();
        out.line(format_args!("{}", failure.message));
    }
    if view.group.is_some() {
        out.blank();
        out.extend(group_text(view));
    }
    nodes(view, &mut out);
    out.extend(sections(view).plain(Headings::Capitals));
    scores(view, &mut out);
    if let Some(preemption) = &view.preemption {
        preemption_text(preemption, view.budgets_unknown(), &mut out);
    }
    odds_text(view, &mut out);
    if !view.not_emulated.is_empty() {
        out.blank();
        out.line(format_args!("NOT EMULATED"));
        for (plugin, what) in &view.not_emulated {
            out.line(format_args!("  {plugin}: {what}"));
        }
    }
    out
}

/// Nodes with the same class of verdict, plugin and message.
pub(super) struct Group<'a> {
    pub(super) class: VerdictClass,
    pub(super) plugin: Option<PluginName>,
    pub(super) message: String,
    /// The nodes by deciding fact, the most common fact first.
    pub(super) facts: Vec<(Option<String>, Vec<&'a Str>)>,
}

/// Nodes by class of verdict, plugin and message.
type Answers<'a> = BTreeMap<(VerdictClass, Option<PluginName>, String), Vec<(&'a Str, &'a Status)>>;

/// Returns the nodes by class of verdict, plugin and message, the largest group of a class first.
pub(super) fn by_class(view: &CycleView) -> Vec<Group<'_>> {
    let mut groups = Answers::new();
    let mut last: Option<(&Status, String)> = None;
    for (node, verdict) in &view.filter.verdicts {
        let status = &verdict.status;
        let message = match last {
            Some((other, message)) if other.surely_reads_like(status) => message,
            _ => status.message(),
        };
        groups.entry((verdict.class(), status.plugin(), message.clone())).or_default().push((node, status));
        last = Some((status, message));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|a, b| a.0.0.cmp(&b.0.0).then(b.1.len().cmp(&a.1.len())));
    let groups = groups.into_iter();
    groups.map(|((class, plugin, message), nodes)| Group { class, plugin, message, facts: facts_of(&nodes) }).collect()
}

/// Returns nodes by deciding fact, the most common fact first.
fn facts_of<'a>(nodes: &[(&'a Str, &Status)]) -> Vec<(Option<String>, Vec<&'a Str>)> {
    let mut facts: BTreeMap<Option<String>, Vec<&Str>> = BTreeMap::new();
    for alike in nodes.chunk_by(|(_, one), (_, next)| one == next) {
        facts.entry(alike[0].1.fact()).or_default().extend(alike.iter().map(|(node, _)| *node));
    }
    let mut facts: Vec<_> = facts.into_iter().collect();
    facts.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    facts
}

/// Returns the sign of a verdict: whether the nodes fit, eviction might help, or it cannot.
pub(super) fn verdict_sign(class: VerdictClass) -> &'static str {
    match class {
        VerdictClass::Fits => "✓",
        VerdictClass::Unschedulable => "✗",
        VerdictClass::Unresolvable | VerdictClass::Failed | VerdictClass::Unseen => "⊘",
    }
}

fn nodes(view: &CycleView, out: &mut Lines) {
    let groups = by_class(view);
    if groups.is_empty() {
        return;
    }
    out.blank();
    out.line(format_args!("NODES"));
    for Group { class, plugin, message, facts } in groups {
        let plugin = plugin.map_or("", PluginName::as_str);
        let glyph = verdict_sign(class);
        let message = if message.is_empty() && plugin == PluginName::Extender.as_str() { "ruled out without a reason" } else { &message };
        let count: usize = facts.iter().map(|(_, nodes)| nodes.len()).sum();
        let line = format!("  {glyph} {count:>4}  {plugin:<16}  {message}");
        out.line(format_args!("{}  ({})", line.trim_end(), class.eviction()));
        by_fact(&facts, out);
    }
    if let Some((_, status)) = view.pre_filter.narrowed.as_ref().filter(|_| view.pre_filter.rejected.is_none()) {
        let message = if status.is_success() { "ruled out by PreFilter".to_owned() } else { status.message() };
        out.line(format_args!("  ⊘ all other nodes: {message}"));
    }
    if let Some((looked_at, of, wanted)) = view.filter.stopped {
        out.line(format_args!(
            "  … {looked_at} of {of} nodes were evaluated: the search stops when more than {wanted} fit (--all-nodes evaluates all)"
        ));
    }
}

/// Writes the nodes of a group by fact.
fn by_fact(facts: &[(Option<String>, Vec<&Str>)], out: &mut Lines) {
    let shown = if facts.len() > FACTS_SHOWN { FACTS_SHOWN - 1 } else { facts.len() };
    for (fact, nodes) in &facts[..shown] {
        let fact = fact.as_ref().map_or_else(String::new, |fact| format!("{fact}: "));
        out.line(format_args!("          {fact}{}", name_list(nodes)));
    }
    let rest: Vec<&Str> = facts[shown..].iter().flat_map(|(_, nodes)| nodes.iter().copied()).collect();
    if !rest.is_empty() {
        out.line(format_args!("          others: {}", name_list(&rest)));
    }
}

pub(super) fn name_list(names: &[&Str]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(|n| n.as_str()).collect();
    let rest = names.len().saturating_sub(NAMES_SHOWN);
    if rest == 0 { shown.join(" ") } else { format!("{} … and {rest} more", shown.join(" ")) }
}

/// Returns the table of scores, the headings first and then the nodes with the highest; none without scores.
pub(super) fn score_rows(view: &CycleView) -> Vec<Vec<String>> {
    let mut list: Vec<_> = view.scoring.scores.values().collect();
    list.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.node.cmp(&b.node)));
    let Some(first) = list.first() else { return Vec::new() };
    let plugins: Vec<String> = first.plugins.iter().map(|p| p.plugin.as_str().to_owned()).collect();
    let odds = odds(view);
    let scoring = view.extenders.scoring();
    let titles = scoring.iter().map(|index| format!("extenders[{index}]"));
    let mut head = vec!["NODE".to_owned(), "TOTAL".to_owned()];
    head.extend(odds.iter().map(|_| "ODDS".to_owned()));
    head.extend(plugins.into_iter().chain(titles));
    let mut rows = vec![head];
    for score in list.iter().take(SCORES_SHOWN) {
        let given = view.extenders.scores_of(&score.node);
        let by_extenders = scoring.iter().map(|index| given.get(index).map_or_else(String::new, ToString::to_string));
        let mut row = vec![score.node.to_string(), score.total.to_string()];
        row.extend(odds.iter().map(|odds| odds_cell(odds, &score.node)));
        row.extend(score.plugins.iter().map(|p| p.weighted.to_string()).chain(by_extenders));
        rows.push(row);
    }
    rows
}

fn scores(view: &CycleView, out: &mut Lines) {
    let rows = score_rows(view);
    if rows.is_empty() {
        return;
    }
    out.blank();
    out.line(format_args!("SCORES (weighted)"));
    table(&rows, out);
    if view.scoring.scores.len() > SCORES_SHOWN {
        out.line(format_args!("  … and {} more", view.scoring.scores.len() - SCORES_SHOWN));
    }
}

/// Returns the table of candidates, the headings first.
pub(super) fn candidate_rows(preemption: &PreemptionView, budgets_unknown: bool) -> Vec<Vec<String>> {
    let mut head = vec!["NODE".to_owned(), "VICTIMS".to_owned(), "VIOLATIONS".to_owned()];
    head.extend(preemption.odds().map(|_| "ODDS".to_owned()));
    let mut rows = vec![[head, columns(preemption)].concat()];
    for candidate in ranked(preemption).iter().take(CANDIDATES_SHOWN) {
        let violations =
            if budgets_unknown && candidate.pdb_violations == 0 { "?".to_owned() } else { candidate.pdb_violations.to_string() };
        let mut facts = vec![candidate.node.to_string(), candidate.victims.len().to_string(), violations];
        facts.extend(preemption.odds().map(|odds| odds_cell(odds, &candidate.node)));
        let scores = preemption.score_functions().iter().map(|f| score_cell(f, candidate, budgets_unknown)).collect();
        rows.push([facts, scores].concat());
    }
    rows
}

fn preemption_text(preemption: &PreemptionView, budgets_unknown: bool, out: &mut Lines) {
    let note = if preemption.hypothetical() { ", not reached by kube-scheduler: an earlier plugin ended PostFilter" } else { "" };
    if preemption.ineligible().is_some() || preemption.potential_nodes().is_empty() {
        return;
    }
    out.blank();
    out.line(format_args!(
        "PREEMPTION ({} of {} dry-run, {}{note})",
        preemption.begun_dry_runs(),
        count(preemption.potential_nodes().len(), "node"),
        count(preemption.candidate_count(), "candidate")
    ));
    let (rows, ranked) = (candidate_rows(preemption, budgets_unknown), ranked(preemption));
    if !ranked.is_empty() {
        table(&rows, out);
    }
    if ranked.len() > CANDIDATES_SHOWN {
        out.line(format_args!("  … and {} more, eliminated at this function or earlier", ranked.len() - CANDIDATES_SHOWN));
    }
    for sentence in elimination_sentences(preemption) {
        out.line(format_args!("  {sentence}"));
    }
    if let Some((node, best)) = preemption.selected() {
        out.line(format_args!("  {}", decided_by(preemption, node, best)));
        if let Some(candidate) = preemption.candidate(node) {
            victims(candidate, budgets_unknown, out);
        }
    }
    let mut failed: BTreeMap<String, Vec<&Str>> = BTreeMap::new();
    for run in preemption.dry_runs() {
        if let Some(status) = run.status().filter(|s| !s.is_success()) {
            failed.entry(status.message()).or_default().push(run.node());
        }
    }
    for (reason, nodes) in failed {
        // Releases with predicates give no reason.
        let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        out.line(format_args!("  eviction does not help on {}{why}", count(nodes.len(), "node")));
        out.line(format_args!("    {}", name_list(&nodes)));
    }
}

/// Returns why candidates were eliminated, a sentence for each score function.
pub(super) fn elimination_sentences(preemption: &PreemptionView) -> Vec<String> {
    let times = |both: [i64; 2]| [both.map(start_time), both.map(start_time)];
    let eliminations = eliminations(preemption, &times);
    eliminations
        .iter()
        .map(|elimination| {
            let [sentence, ..] = elimination.sentences();
            sentence
        })
        .collect()
}

/// Returns the candidates by the tie-break that eliminated them, the last first, then by name.
fn ranked(preemption: &PreemptionView) -> Vec<&Candidate> {
    let lasted = |c: &Candidate| preemption.score_functions().iter().filter(|f| f.remaining.binary_search(&c.node).is_ok()).count();
    let mut list: Vec<(usize, &Candidate)> = preemption.all_candidates().map(|c| (lasted(c), c)).collect();
    list.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.node.cmp(&b.1.node)));
    list.into_iter().map(|(_, c)| c).collect()
}

fn columns(preemption: &PreemptionView) -> Vec<String> {
    preemption.score_functions().iter().map(|f| f.name.to_string()).collect()
}

/// Returns the value that a function compares, and whether the candidate remains.
fn score_cell(function: &ScoreFunction, candidate: &Candidate, budgets_unknown: bool) -> String {
    let Some(shown) = score_text(function, candidate, budgets_unknown) else { return String::new() };
    let mark = if function.remaining.binary_search(&candidate.node).is_ok() { "✓" } else { "✗" };
    format!("{shown} {mark}")
}

/// Returns the value that a function compares, in people's units; `None` if the function gave the candidate none.
pub(super) fn score_text(function: &ScoreFunction, candidate: &Candidate, budgets_unknown: bool) -> Option<String> {
    let value = plain_value(function, candidate)?;
    Some(match function.name {
        ScoreFunctionName::LatestStartTime => start_time(value),
        // Without budgets no victim counts as a violation.
        ScoreFunctionName::MinNumPDBViolations if budgets_unknown && candidate.pdb_violations == 0 => "?".to_owned(),
        // Each pod weighs more than any priority.
        ScoreFunctionName::MinSumPriorities => format!("{value} of {}", count(victims_in_sum(candidate), "pod")),
        _ => value.to_string(),
    })
}

fn start_time(nanoseconds: i64) -> String {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).map_or_else(|_| nanoseconds.to_string(), |time| time.to_string())
}

/// Returns which score function decided, in words.
pub fn decided_by(preemption: &PreemptionView, node: &Str, best: &[Str]) -> String {
    if best.len() > 1 {
        return format!(
            "{node} is nominated: {} candidates are equal by every score function, and any of them may be taken (this is the first by name)",
            best.len()
        );
    }
    match preemption.score_functions().last() {
        Some(function) => format!("{node} is nominated: decided by {}", function.name),
        None => format!("{node} is nominated: it is the only candidate"),
    }
}

fn victims(candidate: &Candidate, budgets_unknown: bool, out: &mut Lines) {
    out.blank();
    out.line(format_args!("VICTIMS on {}, most important first", candidate.node));
    table(&victim_rows(candidate, budgets_unknown), out);
}

/// Returns the table of a candidate's victims, the headings first.
pub(super) fn victim_rows(candidate: &Candidate, budgets_unknown: bool) -> Vec<Vec<String>> {
    let head = ["POD", "PRIORITY", "STARTED", "BUDGET", "OWNER"].map(str::to_owned).to_vec();
    std::iter::once(head).chain(candidate.victims.iter().map(|v| victim_row(v, &candidate.node, budgets_unknown))).collect()
}

fn victim_row(victim: &Victim, node: &str, budgets_unknown: bool) -> Vec<String> {
    let started = victim.start_time().and_then(|t| Timestamp::from_nanosecond(i128::from(t)).ok());
    let budget = if let Some(violation) = victim.violates().next() {
        format!("violates {} (allows {})", violation.budget, violation.allowed)
    } else if victim.covered_by().next().is_none() && budgets_unknown {
        "unknown".to_owned()
    } else if victim.covered_by().next().is_none() {
        "none".to_owned()
    } else {
        format!("{} allows it", victim.covered_by().map(Str::as_str).collect::<Vec<_>>().join(", "))
    };
    let started = started.map_or_else(|| "unknown".into(), |t| t.to_string());
    vec![victim_label(victim, node), victim.priority().to_string(), started, budget, victim.owner().unwrap_or_default()]
}

/// Writes rows as columns.
pub(super) fn table(rows: &[Vec<String>], out: &mut Lines) {
    out.extend(output::columns(rows));
}
