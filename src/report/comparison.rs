//! The comparison of two branches as text.

use std::fmt::Write as _;

use crate::cluster::Str;
use crate::framework::{Code, Status};
use crate::plural::{count, count_of};
use crate::session::{Action, Comparison, Decided, PodDifference, PodLocation, UpgradeComparison};

/// Limit on node names listed in a line.
const NODES: usize = 6;
/// Limit on the pods listed that move on both branches.
const ANYWAY: usize = 20;

/// Returns a comparison as lines. Headings end in `:` and are not indented.
pub fn comparison(compared: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    let [a, b] = &compared.names;
    lines.push(match compared.shared {
        0 => "They diverge from the start:".to_owned(),
        shared => format!("They share {} and then diverge:", count(shared, "revision")),
    });
    for (name, since) in compared.names.iter().zip(&compared.since) {
        let did = match since.as_slice() {
            [] => "no more operations".to_owned(),
            [first] => told(first),
            [first, rest @ ..] => format!("{}, and {} more", told(first), rest.len()),
        };
        lines.push(format!("  {name}: {did}"));
    }
    if compared.settled {
        lines.push("Both are compared after running until nothing changes.".to_owned());
    }
    let words = |at: &PodLocation| if compared.settled { at.settled() } else { at.to_string() };
    if compared.is_empty() {
        lines.push(String::new());
        match &compared.upgrade {
            None if !compared.settled && compared.decided_nothing_since() => {
                lines.push("No pod was scheduled since they diverge, so nothing differs yet but the changes themselves.".to_owned());
            }
            None => lines.push("Nothing differs: the same placements, queues, victims and verdicts.".to_owned()),
            Some(upgraded) => lines.extend(upgrade(upgraded)),
        }
        lines.extend(anyway(compared, a));
        return lines;
    }
    if let Some(upgraded) = &compared.upgrade {
        lines.push(String::new());
        lines.extend(upgrade(upgraded));
    }
    if !compared.pods.is_empty() {
        lines.push(String::new());
        lines.push(format!("{} elsewhere ({a} → {b}):", count(compared.pods.len(), "pod")));
        lines.extend(compared.pods.iter().map(|pod| format!("  {}: {} → {}", pod.pod, words(&pod.at[0]), words(&pod.at[1]))));
    }
    for (name, evicted) in compared.names.iter().zip(&compared.evicted).filter(|(_, list)| !list.is_empty()) {
        lines.push(String::new());
        lines.push(format!("Evicted only on {name}:"));
        lines.extend(evicted.iter().map(|pod| format!("  {pod}")));
    }
    if !compared.decisions.is_empty() {
        lines.push(String::new());
        let n = compared.decisions.len();
        lines.push(format!("{} {}:", count(n, "decision"), if n == 1 { "differs" } else { "differ" }));
        for decided in &compared.decisions {
            decision(&mut lines, decided, &compared.names);
        }
    }
    if !compared.reasons.is_empty() {
        let names: Vec<String> = compared.reasons.iter().take(NODES).map(ToString::to_string).collect();
        let more = compared.reasons.len().saturating_sub(NODES);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let all = count_of(compared.reasons.len(), "pod stays", "pods stay");
        lines.push(String::new());
        lines.push(format!("{all} pending on both, for reasons that differ:"));
        lines.push(format!("  {}{more}", names.join(", ")));
    }
    lines.extend(anyway(compared, a));
    lines
}

/// Returns the pods that move without the changes too.
fn anyway(compared: &Comparison, without: &str) -> Vec<String> {
    if compared.anyway.is_empty() {
        return Vec::new();
    }
    let all = compared.anyway.len();
    let heading = format!("{} on both, with or without the changes since {without}:", count_of(all, "pod moves", "pods move"));
    let line = |pod: &PodDifference| format!("  {}: {} → {}", pod.pod, pod.at[0], pod.at[1].settled());
    let mut lines = vec![String::new(), heading];
    lines.extend(compared.anyway.iter().take(ANYWAY).map(line));
    if all > ANYWAY {
        lines.push(format!("  and {} more", all - ANYWAY));
    }
    lines
}

/// Returns the differences of two releases about pending pods, as lines like those of [`comparison`].
pub fn upgrade(compared: &UpgradeComparison) -> Vec<String> {
    let UpgradeComparison { versions, pods, otherwise, other_reasons } = compared;
    let [from, to] = versions;
    let heading = |n: usize, rest: &str| {
        let verb = if n == 1 { "is" } else { "are" };
        format!("{n} of {} {verb} {rest}", count(*pods, "pending pod"))
    };
    let mut lines = Vec::new();
    if *pods == 0 {
        return vec![format!("No pod is pending, so there is nothing to compare for kube-scheduler {from} and {to}.")];
    }
    if otherwise.is_empty() {
        lines.push(format!(
            "Outcome, node and victims of all {} are the same for kube-scheduler {from} and {to}.",
            count(*pods, "pending pod")
        ));
    } else {
        lines.push(heading(otherwise.len(), &format!("decided differently by kube-scheduler {to} than by {from}:")));
        for decided in otherwise {
            decision(&mut lines, decided, versions);
        }
    }
    if !other_reasons.is_empty() {
        lines.push(String::new());
        lines.push(heading(other_reasons.len(), "decided the same way, for different reasons:"));
        for decided in other_reasons {
            decision(&mut lines, decided, versions);
        }
    }
    lines
}

/// Returns an operation in words.
fn told((action, title): &(Action, String)) -> String {
    match action {
        Action::Explain(pod) => format!("dry decision about {pod}"),
        _ => title.clone(),
    }
}

fn decision(lines: &mut Vec<String>, decided: &Decided, names: &[String; 2]) {
    lines.push(format!("  {}", decided.pod));
    for (i, name) in names.iter().enumerate() {
        let mut line = format!("    {name}: {}", decided.outcomes[i].as_deref().unwrap_or("not tried since"));
        if let Some((node, victims)) = &decided.victims[i] {
            let victims: Vec<String> = victims.iter().map(ToString::to_string).collect();
            let _ = write!(line, " Preemption: {node}, evicting {}", victims.join(", "));
        }
        lines.push(line);
    }
    for change in &decided.verdicts {
        let [from, to] = change.verdicts.each_ref().map(|v| verdict(v.as_ref(), change.is_of_code()));
        let mut nodes: Vec<&str> = change.nodes.iter().take(NODES).map(Str::as_str).collect();
        if change.nodes.len() > NODES {
            nodes.push("…");
        }
        lines.push(format!("    {}: {from} → {to} ({})", count(change.nodes.len(), "node"), nodes.join(", ")));
    }
    for change in &decided.scores {
        let [from, to] = change.scores.map(|score| score.map_or_else(|| "none".to_owned(), |score| score.to_string()));
        lines.push(format!("    score of {} by {}: {from} → {to}", change.node, change.plugin));
    }
}

fn verdict(status: Option<&Status>, with_help: bool) -> String {
    match status {
        None => "not evaluated".to_owned(),
        Some(status) if status.is_success() => "fits".to_owned(),
        Some(status) if with_help => {
            let help = if status.code() == Code::Unschedulable { "eviction might help" } else { "eviction cannot help" };
            format!("{}, {help}", status.message())
        }
        Some(status) => status.message(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Key;
    use crate::session::VerdictChange;

    #[test]
    fn everything_that_differs_is_told() {
        let done = |title: &str| (Action::Apply(crate::scheduler::Operation::Schedule), title.to_owned());
        let pod = Key::new("shop", "p");
        let mut compared = Comparison {
            names: ["main".to_owned(), "branch 2".to_owned()],
            shared: 1,
            since: [[done("schedule shop/p")].to_vec(), [done("cordon"), done("schedule shop/p")].to_vec()],
            settled: false,
            anyway: Vec::new(),
            pods: Vec::new(),
            evicted: [Vec::new(), Vec::new()],
            decisions: Vec::new(),
            reasons: Vec::new(),
            upgrade: None,
        };
        assert_eq!(comparison(&compared).last().unwrap(), "Nothing differs: the same placements, queues, victims and verdicts.");
        compared.pods.push(PodDifference { pod: pod.clone(), at: [PodLocation::Node("n".into()), PodLocation::Gone] });
        compared.evicted[1].push(Key::new("shop", "v"));
        compared.decisions.push(Decided {
            pod,
            outcomes: [Some("bound to n".to_owned()), Some("0/1 nodes are available.".to_owned())],
            victims: [None, Some(("n".into(), vec![Key::new("shop", "v")]))],
            verdicts: vec![VerdictChange {
                verdicts: [Some(Status::success()), Some(Status::unschedulable("Too many pods"))],
                nodes: vec!["n".into()],
            }],
            scores: Vec::new(),
        });
        let expected = "\
They share 1 revision and then diverge:
  main: schedule shop/p
  branch 2: cordon, and 1 more

1 pod elsewhere (main → branch 2):
  shop/p: on n → gone

Evicted only on branch 2:
  shop/v

1 decision differs:
  shop/p
    main: bound to n
    branch 2: 0/1 nodes are available. Preemption: n, evicting shop/v
    1 node: fits → Too many pods (n)";
        assert_eq!(comparison(&compared).join("\n"), expected);
    }
}
