//! The summary sentence of a decision is true: its required and forbidden parts are derived from the decision itself.
//!
//! The recorded cases under `fixtures/conformance` and the embedded stories always run. `SCHEDSCOPE_CONFORMANCE=DIR
//! cargo test --test engine sentences` takes the recorded cases of another folder; `-- --nocapture` prints one sentence
//! of each kind.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use schedscope::analysis::{so_far, why};
use schedscope::cluster::{Key, Quantity};
use schedscope::framework::Victim;
use schedscope::report::Decision;
use schedscope::scheduler::{Evictions, Options, Quiescence, Sampling, Scheduler};
use schedscope::source::{STORIES, load};
use schedscope::trace::{CycleView, DryRunView, Event};
use serde_json::Value;

use crate::cases;
use crate::deciding::scheduler;

/// Words with which a sentence reports a plugin's rejections.
const WORDS: &[(&str, &str)] = &[
    (
        "NodeResourcesFit",
        r"\b(lacks?|(?:less|fewer) than|too (?:little|few)|no node has|too small|large enough|offers?|room for one more pod)\b",
    ),
    ("TaintToleration", r"\b(taint|not ready|unreachable|short of|no network)\b"),
    ("NodeUnschedulable", r"\bcordoned\b"),
    ("NodeName", r"\b(node it asks for|name it asks for)\b"),
    ("NodeAffinity", r"\bnode affinity\b"),
    ("NodePorts", r"\bhost port\b"),
    ("InterPodAffinity", r"\b(pod affinity|anti-affinity)\b"),
    ("PodTopologySpread", r"\btopology spread\b"),
    ("VolumeBinding", r"\bvolumes?\b"),
    ("VolumeZone", r"\bvolume's zone\b"),
    ("VolumeRestrictions", r"\b(disk in use|ReadWriteOncePod)\b"),
    ("NodeVolumeLimits", r"\b(more volumes|NodeVolumeLimits)\b"),
    ("DynamicResources", r"\b(devices?|DynamicResources)\b"),
    ("NodeDeclaredFeatures", r"\bfeatures?\b"),
];

/// Counts before a statement about nodes: `8 of 12 nodes lack`, `1 is cordoned`.
const COUNT: &str = r"(?:^|, | and )(\d+)(?: of (\d+) nodes)? (?:lacks?|has|have|is|are|does|do|would|cannot|can|was|were)\b";

struct Checker {
    words: Vec<(&'static str, Regex)>,
    count: Regex,
    cpu: Regex,
    /// The claim or volume that a message names.
    object: Regex,
    brackets: Regex,
    kinds: BTreeMap<String, String>,
    wrong: Vec<String>,
    checked: usize,
}

impl Checker {
    fn new() -> Self {
        let regex = |text: &str| Regex::new(text).expect("a pattern");
        Self {
            words: WORDS.iter().map(|(plugin, words)| (*plugin, regex(words))).collect(),
            count: regex(COUNT),
            cpu: regex(r"([0-9.]+) (?:free cpu|cpu free)"),
            object: regex(r#"persistentvolume(?:claim)? "([^"]+)""#),
            brackets: regex(r" \([^)]*\)"),
            kinds: BTreeMap::new(),
            wrong: Vec::new(),
            checked: 0,
        }
    }

    /// Checks the sentence of a finished cycle against its decision.
    fn check(&mut self, name: &str, view: &CycleView) {
        let sentence = why(view);
        let decision = serde_json::to_value(Decision::of(view)).expect("plain data");
        self.checked += 1;
        let mut wrong = form(&sentence);
        let mut must = |holds: bool, what: &str| {
            if !holds {
                wrong.push(what.to_owned());
            }
        };
        must(decision["why"] == sentence.as_str(), "the decision as data says the same");
        must(so_far(view).map(|so_far| so_far.to_string()).as_ref() == Some(&sentence), "a finished cycle keeps its sentence");
        match decision["outcome"].as_str() {
            Some("scheduled") => {
                let node = decision["node"].as_str().expect("a node");
                must(names(&sentence, node), "names the node");
                let tied = decision["bestNodes"].as_array().map_or(0, Vec::len);
                must((tied > 1) == sentence.contains(&format!("{tied} tie for the highest score")), "says whether others are as good");
            }
            Some("gated") => {
                let message = decision["preEnqueue"]["message"].as_str().expect("a message");
                let plugin = decision["preEnqueue"]["plugin"].as_str().expect("a plugin");
                let gates = message.strip_prefix("waiting for scheduling gates: [").and_then(|m| m.strip_suffix(']'));
                match gates {
                    Some(gates) => must(gates.split(' ').all(|gate| names(&sentence, gate)), "names every gate"),
                    None => must(sentence.contains(plugin) || sentence.contains("preempted for it"), "names who holds the pod"),
                }
            }
            Some("error") if view.scoring.selected.is_none() => {
                must(sentence.starts_with("Not "), "does not say that the pod was rejected");
            }
            _ if view.scoring.selected.is_some() => {
                let node = view.scoring.selected.as_ref().map_or("", |(node, ..)| node.as_str());
                must(names(&sentence, node) && sentence.contains("it was to run on"), "says which node it had");
            }
            _ => {
                must(sentence.starts_with("Pending"), "says that the pod is pending");
                wrong.extend(self.causes(&sentence, view, &decision));
                wrong.extend(preemption(&sentence, view, &decision));
            }
        }
        if !wrong.is_empty() {
            self.wrong.push(format!("{name}: {sentence}\n    {}\n    {}", wrong.join("\n    "), decision["message"]));
        }
        let kind: String = sentence.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
        self.kinds.entry(kind).or_insert_with(|| format!("{name}: {sentence}"));
    }

    /// Every plugin that rejected a node is mentioned or counted, no other is, and the counts add up.
    fn causes(&self, sentence: &str, view: &CycleView, decision: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        if let Some(plugin) = decision["preFilter"]["plugin"].as_str() {
            // Where the rejection names an object, the sentence does; elsewhere it names the plugin.
            let message = decision["message"].as_str().unwrap_or_default();
            let object = self.object.captures(message).map(|found| found[1].to_owned());
            let unbound =
                message.contains("unbound immediate PersistentVolumeClaims").then(|| "immediate PersistentVolumeClaims".to_owned());
            let named = object.or(unbound).is_some_and(|object| sentence.contains(&object));
            if !named && !sentence.contains(plugin) && !sentence.contains("no node satisfies") {
                wrong.push(format!("does not name {plugin}, which ruled out every node"));
            }
            return wrong;
        }
        let filter = decision["filter"].as_array().expect("a list");
        let start = view.start.as_ref().expect("a start");
        let clause = sentence.split(';').next().unwrap_or_default().trim_end_matches('.');
        let plain = self.brackets.replace_all(clause.strip_prefix("Pending because ").unwrap_or(clause), "");
        let absent = start.nodes - filter.len();
        let others = plain.contains("other reason") || plain.contains("another reason");
        let mut plugins: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in filter {
            *plugins.entry(entry["plugin"].as_str().expect("a plugin")).or_default() += 1;
        }
        for (plugin, words) in &self.words {
            let speaks = words.is_match(&plain) || clause.contains(*plugin);
            let by_pre_filter = absent > 0 && *plugin == "NodeAffinity";
            if plugins.contains_key(plugin) && !speaks && !others {
                wrong.push(format!("leaves out {plugin}"));
            }
            // Words that several plugins share do not identify one of them.
            let own =
                matches!(*plugin, "TaintToleration" | "NodeUnschedulable" | "NodeName" | "NodePorts" | "PodTopologySpread" | "VolumeZone");
            let counted = by_pre_filter || plugins.contains_key(plugin);
            if speaks && !counted && (own || clause.contains(*plugin)) {
                wrong.push(format!("speaks of {plugin}, which turned no node down"));
            }
            if own
                && !others
                && let Some(count) = plugins.get(plugin)
                && let Some(said) = self.said_of(&plain, words)
                && said != *count
            {
                wrong.push(format!("says {said} for {plugin}, which rejected {count}"));
            }
        }
        let counts: Vec<usize> = self.count.captures_iter(&plain).filter_map(|c| c[1].parse().ok()).collect();
        let total = self.count.captures_iter(&plain).find_map(|c| c.get(2)?.as_str().parse::<usize>().ok());
        match total {
            Some(total) => {
                if total != start.nodes || counts.iter().sum::<usize>() != total {
                    wrong.push(format!("{counts:?} of {total} do not add up to {} nodes", start.nodes));
                }
            }
            // Without counts the sentence covers all nodes alike.
            None => {
                let said: BTreeSet<&str> = filter.iter().filter_map(|f| f["plugin"].as_str()).collect();
                if start.nodes > 0 && (said.len() + usize::from(absent > 0) != 1 || others) {
                    wrong.push(format!("gives one cause where there are {said:?} and {absent} absent"));
                }
            }
        }
        wrong.extend(self.resources(clause, &plain, view, filter));
        wrong
    }

    /// Returns the count of nodes before these words.
    fn said_of(&self, plain: &str, words: &Regex) -> Option<usize> {
        let at = words.find(plain)?.start();
        self.count.captures_iter(&plain[..at]).last().and_then(|c| c[1].parse().ok())
    }

    /// A resource in the sentence occurs in the verdicts, with the pod's own amount.
    fn resources(&self, clause: &str, plain: &str, view: &CycleView, filter: &[Value]) -> Vec<String> {
        let mut wrong = Vec::new();
        let lacks =
            |entry: &Value, name: &str| entry["reasons"].as_array().is_some_and(|r| r.contains(&format!("Insufficient {name}").into()));
        let start = view.start.as_ref().expect("a start");
        for (name, asked) in &start.requests {
            let word = Regex::new(&format!(r"(free|of|[0-9]) {}\b", regex::escape(name))).expect("a pattern");
            let complained = filter.iter().filter(|f| lacks(f, name)).count();
            if word.is_match(clause) && complained == 0 {
                wrong.push(format!("names {name}, which no node lacks"));
            }
            if plain.starts_with("no node") && word.is_match(plain) && complained != start.nodes {
                wrong.push(format!("says that no node has {name}, which {complained} of {} lack", start.nodes));
            }
            if name == "cpu" {
                let asked = asked.parse::<Quantity>().expect("a quantity").milli_value();
                let figures = self.cpu.captures_iter(clause).filter_map(|c| c[1].parse::<Quantity>().ok());
                if figures.map(Quantity::milli_value).any(|figure| figure != asked) {
                    wrong.push(format!("gives another figure than {asked}m cpu"));
                }
            }
        }
        wrong
    }

    fn end(self, at_least: usize) {
        for line in self.kinds.values() {
            println!("{line}");
        }
        println!("{} sentences, {} wrong", self.checked, self.wrong.len());
        assert!(self.checked >= at_least, "only {} sentences were checked", self.checked);
        let shown: Vec<&str> = self.wrong.iter().take(15).map(String::as_str).collect();
        assert!(self.wrong.is_empty(), "{} of {} sentences are wrong\n{}", self.wrong.len(), self.checked, shown.join("\n"));
    }
}

/// Returns violations of the form of a sentence.
fn form(sentence: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    must(sentence.ends_with('.') && !sentence.ends_with(".."), "ends in one full stop");
    must(sentence.chars().next().is_some_and(char::is_uppercase), "begins with a capital");
    must(!sentence.contains(['\n', '\r', '\t']) && !sentence.contains("  "), "is one line");
    must(sentence.chars().count() <= 240, "is short");
    must(!sentence.contains(" 1 nodes") && !sentence.contains(" 1 pods"), "counts one thing in the singular");
    wrong
}

/// Whether a name occurs in a sentence on its own, not as part of a longer one.
fn names(sentence: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '-';
    sentence.match_indices(name).any(|(at, _)| {
        let after = &sentence[at + name.len()..];
        let longer = after.starts_with(part) || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(part));
        !sentence[..at].ends_with(part) && !longer
    })
}

/// Checks the statement about preemption: the node, the number of victims and the violated budgets, or that it does not
/// help.
fn preemption(sentence: &str, view: &CycleView, decision: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    let found = &decision["preemption"];
    let claims = ["makes room", "it preempts", "already terminating"].iter().any(|words| sentence.contains(words));
    let Some(node) = found["selected"].as_str() else {
        must(!claims, "claims that preemption makes room");
        must(!sentence.contains("violates"), "speaks of budgets");
        if found["eligible"] == false {
            let reason = found["ineligibleReason"].as_str().unwrap_or_default();
            must(!reason.contains("Never") || sentence.contains("preemptionPolicy is Never"), "names the preemptionPolicy");
            must(!reason.contains("terminating pod") || sentence.contains(" to end on "), "says what it waits for");
        } else if view.preemption.as_ref().is_some_and(|p| !p.hypothetical()) {
            let failed = found["status"]["code"] == "Error";
            must(failed == sentence.contains("preemption failed"), "says whether preemption failed");
            let none = view.preemption.as_ref().is_some_and(|p| p.dry_runs().all(DryRunView::is_empty) && !p.potential_nodes().is_empty());
            must(failed || none == sentence.contains("no lower-priority pods to evict"), "says whether there is anybody to evict");
            must(failed || none || sentence.contains("evicting"), "says that evicting does not help");
        }
        return wrong;
    };
    must(names(sentence, node), "names the node that is nominated");
    must(claims, "says that preemption makes room");
    let chosen = found["candidates"].as_array().expect("a list").iter().find(|c| c["node"] == node).expect("the candidate");
    let victims = chosen["victims"].as_array().expect("a list").len();
    must(sentence.contains(&format!(" {victims} pod")), "says how many pods go");
    let equals = found["bestCandidates"].as_array().map_or(0, Vec::len);
    must((equals > 1) == sentence.contains(&format!("(1 of {equals} equal candidates)")), "says whether others are as good");
    let candidate = view.preemption.as_ref().and_then(|p| p.candidate(node)).expect("the candidate");
    let budgets: BTreeSet<&str> = candidate.victims.iter().flat_map(Victim::violates).map(|b| b.budget.as_str()).collect();
    let violated = chosen["pdbViolations"] != 0;
    let unknown = decision["budgetsUnknown"] == true;
    must(sentence.contains("violates no budget") == (!violated && !unknown), "says whether no budget is violated");
    must(sentence.contains("whether that violates a budget is unknown") == (!violated && unknown), "says what is unknown");
    must(!violated || !budgets.is_empty(), "knows the violated budgets");
    let named = budgets.iter().filter(|name| names(sentence, name)).count();
    must(named == budgets.len() || named == 3 && sentence.contains(" more"), "names the violated budgets");
    let priorities: BTreeSet<i32> = candidate.victims.iter().map(Victim::priority).collect();
    let highest = priorities.last().copied().unwrap_or_default();
    must(names(sentence, &highest.to_string()), "says of which priority they are");
    must(sentence.contains("or less") == (priorities.len() > 1), "says whether they share a priority");
    wrong
}

fn explain(case: &Value) -> CycleView {
    let config = cases::config(case);
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, ..Sampling::default() };
    let start = "2026-11-20T00:00:00Z".parse().expect("a time");
    let objects = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(crate::recorded::object).collect();
    let scheduler = Scheduler::new(config, objects, Options { start, sampling, ..Options::default() });
    let (namespace, name) = case["pod"].as_str().and_then(|p| p.split_once('/')).expect("namespace/name");
    crate::deciding::explained(&scheduler, &Key::new(namespace, name))
}

#[test]
fn every_recorded_decision_has_a_true_sentence() {
    let mut checker = Checker::new();
    for case in cases::cases(&cases::folder(), "decisions-") {
        checker.check(case["id"].as_str().expect("an id"), &explain(&case));
    }
    checker.end(100);
}

/// Every prefix of a cycle has a well-formed sentence that promises nothing before the decision.
fn check_on_the_way(name: &str, events: &[Event], wrong: &mut Vec<String>) -> usize {
    let mut view = CycleView::default();
    let mut said = 0;
    for event in events {
        view.apply(event);
        let Some(sentence) = so_far(&view).map(|sentence| sentence.to_string()) else { continue };
        said += 1;
        let mut problems = form(&sentence);
        let promises = sentence.contains("makes room") || sentence.contains("it preempts");
        if promises && view.preemption.as_ref().is_none_or(|p| p.selected().is_none()) {
            problems.push("promises room without a chosen candidate".to_owned());
        }
        if sentence.starts_with("Fits") && view.scoring.selected.is_none() {
            problems.push("says that it fits before a node is selected".to_owned());
        }
        if !problems.is_empty() {
            wrong.push(format!("{name}: {sentence}\n    {}", problems.join("\n    ")));
        }
    }
    said
}

#[test]
fn every_cycle_of_the_recorded_runs_has_a_true_sentence() {
    let (mut checker, mut wrong, mut on_the_way) = (Checker::new(), Vec::new(), 0);
    for case in cases::cases(&cases::folder(), "runs-") {
        let config = cases::config(&case);
        let evictions = if case["graceful"] == true { Evictions::Marked } else { Evictions::AtOnce };
        let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, ..Sampling::default() };
        let start = "2026-11-20T00:00:00Z".parse().expect("a time");
        let objects = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(crate::recorded::object).collect();
        let mut scheduler = Scheduler::new(config, objects, Options { start, sampling, evictions, ..Options::default() });
        for (at, operation) in case["ops"].as_array().expect("operations").iter().enumerate() {
            let Some(operation) = crate::recorded::operation(operation) else { continue };
            let events = scheduler.apply(operation);
            let view = CycleView::of(&events);
            if view.start.is_some() && view.outcome.is_some() {
                let name = format!("{} operation {at}", case["id"].as_str().expect("an id"));
                checker.check(&name, &view);
                on_the_way += check_on_the_way(&name, &events, &mut wrong);
            }
        }
    }
    assert!(on_the_way > 1000, "{on_the_way}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    checker.end(100);
}

#[test]
fn every_pod_and_every_cycle_of_the_stories_has_a_true_sentence() {
    let (mut checker, mut wrong, mut on_the_way) = (Checker::new(), Vec::new(), 0);
    for story in &STORIES {
        let loaded = load(&[story.input()]);
        let start = loaded.report.newest.expect("the story has times");
        let mut scheduler = scheduler(loaded.objects, start);
        let pods: Vec<Key> =
            scheduler.state().cluster().pods.iter().filter(|p| p.node_name.is_empty() && !p.is_terminal()).map(|p| p.key()).collect();
        for pod in &pods {
            if scheduler
                .state()
                .config()
                .profile(&scheduler.state().cluster().pods.get(pod).expect("the pod").spec.scheduler_name)
                .is_some()
            {
                checker.check(&format!("{} {pod}", story.name), &crate::deciding::explained(&scheduler, pod));
            }
        }
        let mut settling = Quiescence::default();
        while let Some(operation) = scheduler.next_operation(&settling) {
            let events = scheduler.apply(operation);
            settling.observe(&events);
            let view = CycleView::of(&events);
            let Some(start) = &view.start else { continue };
            let name = format!("{} cycle {} {}", story.name, start.cycle, start.pod);
            checker.check(&name, &view);
            on_the_way += check_on_the_way(&name, &events, &mut wrong);
        }
    }
    assert!(on_the_way > 1000, "{on_the_way}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    checker.end(50);
}
