//! Tests of `preemption`.

use super::*;
use crate::framework::{PodInfo, PutBack, ScoreFunctionName};

fn run(node: &str, helps: bool) -> Arc<NodeDryRun> {
    let pod = Arc::new(PodInfo::new(Arc::default()));
    let candidate = Candidate { node: node.into(), victims: Vec::new(), pdb_violations: 0 };
    let status = if helps { Status::success() } else { Status::unschedulable("x") };
    let put_back = vec![PutBack { victim: Victim::new(pod.clone(), None), status: Status::unschedulable("y") }];
    let filtered = Some(status.clone());
    let put_back = if helps { put_back } else { Vec::new() };
    Arc::new(NodeDryRun {
        node: node.into(),
        removed: vec![pod].into(),
        filtered,
        put_back: put_back.into(),
        status,
        candidate: helps.then_some(candidate),
        has_ties: false,
    })
}

fn record() -> Arc<PreemptionRecord> {
    let none = Arc::new(NodeDryRun { node: "n".into(), status: Status::unresolvable("z"), ..NodeDryRun::default() });
    let function = ScoreFunction { name: ScoreFunctionName::MinNumPods, scores: Vec::new(), remaining: SharedList::default() };
    Arc::new(PreemptionRecord {
        dry_runs: vec![run("b", true), none, run("c", false), run("a", true)].into(),
        score_functions: vec![function.clone(), function],
        best: vec!["a".into(), "b".into()].into(),
        ..PreemptionRecord::default()
    })
}

/// Describes the begun dry runs by name, each with its steps and a dot at its end; then candidates, functions and
/// the choice.
fn words(view: &PreemptionView) -> String {
    let end = |run: &DryRunView<'_>| if run.status().is_some() { "." } else { "" };
    let runs: Vec<String> = view.dry_runs().map(|r| format!("{}{}{}", r.node(), r.steps().count(), end(&r))).collect();
    let candidates: String = view.candidates().map(|c| c.node.as_str()).collect();
    assert_eq!(view.candidate_count(), candidates.len());
    assert_eq!(view.begun_dry_runs(), runs.len());
    let chosen = view.selected().map_or("-", |(node, _)| node.as_str());
    format!("{} {candidates} {} {chosen}", runs.join(","), view.score_functions().len())
}

#[test]
fn a_view_shows_the_record_as_far_as_the_events_go() {
    let record = record();
    let mut view = PreemptionView::started(record.clone());
    let mut seen = Vec::new();
    for event in preemption_events(&record) {
        view.apply(&event);
        let under_way = view.under_way().map(|run| run.node().clone());
        let begun = view.dry_runs().find(|run| run.status().is_none()).map(|run| run.node().clone());
        assert_eq!(under_way, begun);
        seen.push(words(&view));
    }
    let want = [
        "  0 -",
        "b1  0 -",
        "b2  0 -",
        "b3  0 -",
        "b3. b 0 -",
        "b3.,n0. b 0 -",
        "b3.,c1,n0. b 0 -",
        "b3.,c2,n0. b 0 -",
        "b3.,c2.,n0. b 0 -",
        "a1,b3.,c2.,n0. b 0 -",
        "a2,b3.,c2.,n0. b 0 -",
        "a3,b3.,c2.,n0. b 0 -",
        "a3.,b3.,c2.,n0. ab 0 -",
        "a3.,b3.,c2.,n0. ab 1 -",
        "a3.,b3.,c2.,n0. ab 2 -",
        "a3.,b3.,c2.,n0. ab 2 a",
    ];
    assert_eq!(seen, want);
    assert_eq!(view, PreemptionView::whole(record));
    assert!(view.dry_run("b").is_some_and(|run| run.step(2).is_some() && run.step(3).is_none()));
}

#[test]
fn an_event_equals_that_of_another_record_with_the_same_facts() {
    let (one, other): (Vec<Event>, Vec<Event>) = (preemption_events(&record()).collect(), preemption_events(&record()).collect());
    assert_eq!(one, other);
    assert!(one[1] != one[2] && one[1] != one[9], "another step, or another node's, is another event");
}
