//! Tests of `comparison`.

use super::*;
use crate::cluster::{Key, Kind};
use crate::output::Headings;
use crate::session::VerdictChange;

#[test]
fn that_no_pod_is_pending_is_said_only_where_it_is_known() {
    let versions = ["v1.31.14".to_owned(), "v1.36.3".to_owned()];
    let mut compared = UpgradeComparison { versions, ..UpgradeComparison::default() };
    let text = |compared: &UpgradeComparison| upgrade(compared).plain(Headings::Colon).into_vec().join(" ");
    assert!(text(&compared).starts_with("No pod is pending, so there is nothing to compare"), "{}", text(&compared));
    compared.unknown.partial.insert(Kind::Pod);
    assert!(text(&compared).starts_with("Whether pods are pending is unknown: Pods were read in some namespaces only; none is known, so"));
}

#[test]
fn everything_that_differs_is_reported() {
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
    let text = |compared: &Comparison| comparison(compared).plain(Headings::Colon).into_vec();
    assert_eq!(text(&compared).last().unwrap(), "Nothing differs: the same placements, queues, victims and verdicts.");
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
    assert_eq!(text(&compared).join("\n"), expected);
}
