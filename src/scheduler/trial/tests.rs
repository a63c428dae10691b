//! Tests of `trial`.

use super::*;
use crate::cluster::testing::object;
use crate::framework::Code;
use crate::release::Emulation;
use crate::scheduler::{Config, Options, PostFilter};

fn scheduler() -> Scheduler {
    let node = |name: &str, rest: &str| {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","labels":{{"zone":"{name}"}}}},"spec":{{{rest}}},"status":{{"allocatable":{{"cpu":"2","pods":"10"}}}}}}"#
        );
        object(Kind::Node, &text)
    };
    let pod = |name: &str, rest: &str, cpu: &str| {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{name}"}},"spec":{{{rest}"schedulerName":"default-scheduler","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}}}}"#
        );
        object(Kind::Pod, &text)
    };
    let objects = vec![
        node("a", ""),
        node("b", r#""taints":[{"key":"k","effect":"NoSchedule"}],"unschedulable":true"#),
        pod("on-a", r#""nodeName":"a","#, "1500m"),
        pod("p", r#""nodeSelector":{"zone":"b"},"#, "1"),
    ];
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default())
}

#[test]
fn the_table_has_every_rejection_of_every_node() {
    let scheduler = scheduler();
    let pod = scheduler.state().cluster().pods.get(&Key::new("n", "p")).unwrap().clone();
    let table = scheduler.filter_table(&pod, None).unwrap();
    let plugins = |at: usize| table.nodes[at].iter().map(|(plugin, _)| plugin.as_str()).collect::<Vec<_>>();
    assert_eq!(table.names, ["a", "b"]);
    assert_eq!((plugins(0), plugins(1)), (vec!["NodeAffinity", "NodeResourcesFit"], vec!["NodeUnschedulable", "TaintToleration"]));
    let only = [PluginName::NodeAffinity].into_iter().collect();
    let table = scheduler.filter_table(&pod, Some(only)).unwrap();
    assert_eq!(table.nodes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(table.nodes[0][0].1.code(), Code::UnschedulableAndUnresolvable);
}

#[test]
fn edits_change_decisions_on_the_copy_alone() {
    let scheduler = scheduler();
    let pod = scheduler.state().cluster().pods.get(&Key::new("n", "p")).unwrap().clone();
    let best = |s: &Scheduler| s.dry_decision(&pod, PostFilter::Run).best().to_vec();
    let open = object(Kind::Node, r#"{"metadata":{"name":"b","labels":{"zone":"b"}},"status":{"allocatable":{"cpu":"2","pods":"10"}}}"#);
    let changed = scheduler.with_edits([ObjectEdit::Put(open)]);
    assert_eq!((best(&scheduler), best(&changed)), (vec![], vec![Str::from("b")]));
    assert_eq!(changed.state().clock(), scheduler.state().clock());
    let gone = changed.with_edits([ObjectEdit::Remove(Kind::Node, Key::new("", "b"))]);
    assert_eq!(best(&gone), Vec::<Str>::new());
}
