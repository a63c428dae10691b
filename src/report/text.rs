//! A decision as plain text for a terminal or a ticket, most important first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use unicode_width::UnicodeWidthStr as _;

use super::group_text;
use super::odds::{odds, odds_cell, odds_text};
use super::why::why;
use crate::cluster::Str;
use crate::framework::{Candidate, Code, PluginName, ScoreFunction, ScoreFunctionName, Status, Victim};
use crate::output::{Lines, escape};
use crate::trace::{CycleView, PreemptionView};

/// Limit on the node names in a line.
const NAMES_SHOWN: usize = 8;
/// Limit on the facts of a group of nodes.
const FACTS_SHOWN: usize = 8;
/// Limit on the candidates in the table.
const CANDIDATES_SHOWN: usize = 20;

/// Returns the whole decision.
pub fn text(view: &CycleView) -> Lines {
    let mut out = Lines::default();
    if let Some(start) = &view.start {
        let asks: Vec<String> = start.requests.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
        let asks = if asks.is_empty() { "no requests".to_owned() } else { format!("asks for {}", asks.join(", ")) };
        out.line(format_args!("{} · priority {} · {asks}", start.pod, start.priority));
    }
    let answer = why(view);
    if !answer.is_empty() {
        out.line(format_args!("{answer}"));
    }
    if let Some(failure) = &view.failure {
        out.blank();
        out.line(format_args!("{}", failure.message));
    }
    if view.group.is_some() {
        out.blank();
        out.extend(group_text(view));
    }
    nodes(view, &mut out);
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

/// Nodes grouped by code, plugin and message.
type Answers<'a> = BTreeMap<(ByHelp, Option<PluginName>, String), Vec<(&'a Str, &'a Status)>>;

fn nodes(view: &CycleView, out: &mut Lines) {
    let mut groups = Answers::new();
    for (node, verdict) in &view.verdicts {
        let status = &verdict.status;
        groups.entry((ByHelp(status.code()), status.plugin(), status.message())).or_default().push((node, status));
    }
    if groups.is_empty() {
        return;
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|a, b| a.0.0.cmp(&b.0.0).then(b.1.len().cmp(&a.1.len())));
    out.blank();
    out.line(format_args!("NODES"));
    for ((code, plugin, message), nodes) in groups {
        let plugin = plugin.map_or("", PluginName::as_str);
        let (glyph, help) = match code.0 {
            Code::Success => ("✓", "fits"),
            Code::Unschedulable => ("✗", "eviction might help"),
            _ => ("⊘", "eviction cannot help"),
        };
        let line = format!("  {glyph} {:>4}  {plugin:<16}  {message}", nodes.len());
        out.line(format_args!("{}  ({help})", line.trim_end()));
        by_fact(&nodes, out);
    }
    if let Some((_, status)) = view.narrowed.as_ref().filter(|_| view.pre_filter_rejected.is_none()) {
        let message = if status.is_success() { "left out by PreFilter".to_owned() } else { status.message() };
        out.line(format_args!("  ⊘ all other nodes: {message}"));
    }
    if let Some((looked_at, of, wanted)) = view.stopped {
        out.line(format_args!(
            "  … {looked_at} of {of} nodes were evaluated: the search stops when more than {wanted} fit (--all-nodes evaluates all)"
        ));
    }
}

/// Writes the nodes of a group by fact, the most common fact first.
fn by_fact(nodes: &[(&Str, &Status)], out: &mut Lines) {
    let mut facts: BTreeMap<Option<String>, Vec<&Str>> = BTreeMap::new();
    for (node, status) in nodes {
        facts.entry(status.fact()).or_default().push(node);
    }
    let mut facts: Vec<_> = facts.into_iter().collect();
    facts.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let shown = if facts.len() > FACTS_SHOWN { FACTS_SHOWN - 1 } else { facts.len() };
    for (fact, nodes) in &facts[..shown] {
        let fact = fact.as_ref().map_or_else(String::new, |fact| format!("{fact}: "));
        out.line(format_args!("          {fact}{}", name_list(nodes)));
    }
    let rest: Vec<&Str> = facts[shown..].iter().flat_map(|(_, nodes)| nodes.iter().copied()).collect();
    if !rest.is_empty() {
        out.line(format_args!("          otherwise: {}", name_list(&rest)));
    }
}

/// Orders codes: success, then rejections that eviction might resolve, then those that it cannot.
#[derive(PartialEq, Eq)]
struct ByHelp(Code);

impl ByHelp {
    fn rank(&self) -> u8 {
        match self.0 {
            Code::Success => 0,
            Code::Unschedulable => 1,
            _ => 2,
        }
    }
}

impl PartialOrd for ByHelp {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByHelp {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

fn name_list(names: &[&Str]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(|n| n.as_str()).collect();
    let rest = names.len().saturating_sub(NAMES_SHOWN);
    if rest == 0 { shown.join(" ") } else { format!("{} … and {rest} more", shown.join(" ")) }
}

fn scores(view: &CycleView, out: &mut Lines) {
    if view.scores.is_empty() {
        return;
    }
    let mut list: Vec<_> = view.scores.values().collect();
    list.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.node.cmp(&b.node)));
    let plugins: Vec<PluginName> = list.first().map(|s| s.plugins.iter().map(|p| p.plugin).collect()).unwrap_or_default();
    let odds = odds(view);
    let mut head = vec!["NODE".to_owned(), "TOTAL".to_owned()];
    head.extend(odds.iter().map(|_| "ODDS".to_owned()));
    let mut rows = vec![[head, plugins.iter().map(|p| p.as_str().to_owned()).collect()].concat()];
    for score in list.iter().take(10) {
        let cells = score.plugins.iter().map(|p| p.weighted.to_string()).collect();
        let mut facts = vec![score.node.to_string(), score.total.to_string()];
        facts.extend(odds.iter().map(|odds| odds_cell(odds, &score.node)));
        rows.push([facts, cells].concat());
    }
    out.blank();
    out.line(format_args!("SCORES (weighted)"));
    table(&rows, out);
    if list.len() > 10 {
        out.line(format_args!("  … and {} more", list.len() - 10));
    }
}

fn preemption_text(preemption: &PreemptionView, budgets_unknown: bool, out: &mut Lines) {
    let note = if preemption.hypothetical() { ", not reached by kube-scheduler: an earlier plugin ended PostFilter" } else { "" };
    if preemption.ineligible().is_some() || preemption.potential_nodes().is_empty() {
        return;
    }
    out.blank();
    out.line(format_args!(
        "PREEMPTION ({} of {} nodes dry-run, {} candidates{note})",
        preemption.begun_dry_runs(),
        preemption.potential_nodes().len(),
        preemption.candidate_count()
    ));
    let mut head = vec!["NODE".to_owned(), "VICTIMS".to_owned(), "VIOLATIONS".to_owned()];
    head.extend(preemption.odds().map(|_| "ODDS".to_owned()));
    let mut rows = vec![[head, columns(preemption)].concat()];
    let ranked = ranked(preemption);
    for candidate in ranked.iter().take(CANDIDATES_SHOWN) {
        let violations =
            if budgets_unknown && candidate.pdb_violations == 0 { "?".to_owned() } else { candidate.pdb_violations.to_string() };
        let mut facts = vec![candidate.node.to_string(), candidate.victims.len().to_string(), violations];
        facts.extend(preemption.odds().map(|odds| odds_cell(odds, &candidate.node)));
        let scores = preemption.score_functions().iter().map(|f| score_cell(f, candidate)).collect();
        rows.push([facts, scores].concat());
    }
    if !ranked.is_empty() {
        table(&rows, out);
    }
    if ranked.len() > CANDIDATES_SHOWN {
        out.line(format_args!("  … and {} more, eliminated at this function or earlier", ranked.len() - CANDIDATES_SHOWN));
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
        out.line(format_args!("  no help on {}{why}", nodes.len()));
        out.line(format_args!("    {}", name_list(&nodes)));
    }
}

/// Returns the candidates by the tie-break that eliminated them, the last first, then by name.
fn ranked(preemption: &PreemptionView) -> Vec<&Candidate> {
    let lasted = |c: &Candidate| preemption.score_functions().iter().filter(|f| f.remaining.binary_search(&c.node).is_ok()).count();
    let mut list: Vec<(usize, &Candidate)> = preemption.candidates().map(|c| (lasted(c), c)).collect();
    list.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.node.cmp(&b.1.node)));
    list.into_iter().map(|(_, c)| c).collect()
}

fn columns(preemption: &PreemptionView) -> Vec<String> {
    preemption.score_functions().iter().map(|f| f.name.to_string()).collect()
}

/// Returns a score in the unit of its function, and whether the candidate remains. Most functions negate the value, so that
/// higher is better.
fn score_cell(function: &ScoreFunction, candidate: &Candidate) -> String {
    let node = &candidate.node;
    let Ok(at) = function.scores.binary_search_by(|(n, _)| n.cmp(node)) else { return String::new() };
    let score = &function.scores[at].1;
    let shown = match function.name {
        ScoreFunctionName::LatestStartTime => {
            Timestamp::from_nanosecond(i128::from(*score)).map_or_else(|_| score.to_string(), |t| t.to_string())
        }
        // The function offsets each priority to make it positive; show the plain sum.
        ScoreFunctionName::MinSumPriorities => candidate.victims.iter().map(|v| i64::from(v.priority())).sum::<i64>().to_string(),
        _ => score.saturating_neg().to_string(),
    };
    let mark = if function.remaining.binary_search(node).is_ok() { "✓" } else { "✗" };
    format!("{shown} {mark}")
}

/// Returns which score function decided, in words.
pub fn decided_by(preemption: &PreemptionView, node: &Str, best: &[Str]) -> String {
    if best.len() > 1 {
        return format!(
            "{node} is nominated: {} candidates are equal in everything, any of them is right (this is the first by name)",
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
    let rows: Vec<Vec<String>> = std::iter::once(vec!["POD".into(), "PRIORITY".into(), "STARTED".into(), "BUDGET".into(), "OWNER".into()])
        .chain(candidate.victims.iter().map(|v| victim_row(v, budgets_unknown)))
        .collect();
    table(&rows, out);
}

fn victim_row(victim: &Victim, budgets_unknown: bool) -> Vec<String> {
    let started = victim.start_time().and_then(|t| Timestamp::from_nanosecond(i128::from(t)).ok());
    let budget = if let Some(violation) = victim.violates().first() {
        format!("violates {} (allows {})", violation.budget, violation.allowed)
    } else if victim.covered_by().is_empty() && budgets_unknown {
        "unknown".to_owned()
    } else if victim.covered_by().is_empty() {
        "none".to_owned()
    } else {
        format!("{} allows it", victim.covered_by().iter().map(Str::as_str).collect::<Vec<_>>().join(", "))
    };
    let pod = if victim.is_terminating() { format!("{} (terminating)", victim.key()) } else { victim.key().to_string() };
    let started = started.map_or_else(|| "unknown".into(), |t| t.to_string());
    vec![pod, victim.priority().to_string(), started, budget, victim.owner().unwrap_or_default()]
}

/// Writes rows as columns padded to their widest cell.
pub(super) fn table(rows: &[Vec<String>], out: &mut Lines) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..columns).map(|c| rows.iter().filter_map(|r| r.get(c)).map(|cell| width(cell)).max().unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::from(" ");
        for (cell, widest) in row.iter().zip(&widths) {
            let pad = widest - width(cell);
            let _ = write!(line, " {cell}{:pad$} ", "");
        }
        out.line(format_args!("{}", line.trim_end()));
    }
}

/// Returns the columns that a text takes after escaping.
fn width(text: &str) -> usize {
    escape(text).width()
}
