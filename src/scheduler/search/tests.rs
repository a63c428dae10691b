//! Tests of `search`.

use crate::cluster::{Key, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, Operation, Options, PostFilter, Sampling, Scheduler};
use crate::trace::Event;

/// Every third node is tainted, every seventh is small, and the others hold more and more from one to the next.
fn cluster(nodes: usize) -> Vec<Object> {
    let mut objects = Vec::new();
    for i in 0..nodes {
        let taint = if i % 3 == 0 { r#"{"key":"k","effect":"NoSchedule"}"# } else { "" };
        let cpu = if i % 7 == 0 { 1 } else { 8 };
        let zone = i % 5;
        let labels = format!(r#"{{"kubernetes.io/hostname":"n{i}","topology.kubernetes.io/zone":"z{zone}"}}"#);
        let images = format!(r#"[{{"names":["i:{zone}"],"sizeBytes":900000000}}]"#);
        let text = format!(
            r#"{{"metadata":{{"name":"n{i}","uid":"n{i}","labels":{labels}}},"spec":{{"taints":[{taint}]}},"status":{{"allocatable":{{"cpu":"{cpu}","memory":"8Gi","pods":"9"}},"images":{images}}}}}"#
        );
        objects.push(Object::Node(std::sync::Arc::new(serde_json::from_str(&text).unwrap())));
        objects.push(pod(&format!("on-{i}"), &format!(r#""nodeName":"n{i}","#), "web", i % 900, ""));
    }
    let spread = r#""topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}],"#;
    for i in 0..12 {
        objects.push(pod(&format!("new-{i}"), if i % 2 == 0 { spread } else { "" }, "web", 1500 + 600 * i, ""));
    }
    objects.push(pod("urgent", "", "db", 7900, r#","priority":1000"#));
    objects.push(pod("huge", "", "db", 90_000, ""));
    objects
}

fn pod(name: &str, spec: &str, app: &str, milli: usize, rest: &str) -> Object {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{name}","labels":{{"app":"{app}"}}}},"spec":{{{spec}"schedulerName":"default-scheduler","containers":[{{"name":"c","image":"i:2","resources":{{"requests":{{"cpu":"{milli}m"}}}}}}]{rest}}}}}"#
    );
    Object::Pod(std::sync::Arc::new(serde_json::from_str(&text).unwrap()))
}

fn run(threads: usize, nodes: usize, all_nodes: bool) -> Vec<Vec<Event>> {
    let sampling = Sampling { all_nodes, ..Sampling::default() };
    let options = Options { sampling, ..Options::default() };
    let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), cluster(nodes), options);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| (0..14).map(|_| scheduler.apply(Operation::Schedule)).collect())
}

#[test]
fn the_events_do_not_depend_on_how_many_threads_there_are() {
    for (nodes, all_nodes) in [(100, true), (700, false), (700, true), (1000, false)] {
        let one = run(1, nodes, all_nodes);
        let count = |met: fn(&Event) -> bool| one.iter().flatten().filter(|e| met(e)).count();
        assert_eq!(count(|e| matches!(e, Event::FilterStopped { .. })) > 0, nodes > 100 && !all_nodes);
        assert!(count(|e| matches!(e, Event::NodeScored(_))) > nodes && count(|e| matches!(e, Event::PreemptionStarted(_))) > 0);
        for threads in [2, 3] {
            assert_eq!(run(threads, nodes, all_nodes), one, "{nodes} nodes, {threads} threads");
        }
    }
}

#[test]
fn what_rejects_the_nominated_node_counts_although_the_node_is_not_filtered_again() {
    let node = |name: &str, spec: &str| {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","uid":"{name}"}},"spec":{{{spec}}},"status":{{"allocatable":{{"cpu":"1","pods":"9"}}}}}}"#
        );
        Object::Node(std::sync::Arc::new(serde_json::from_str(&text).unwrap()))
    };
    let named = r#""affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
            {"matchFields":[{"key":"metadata.name","operator":"In","values":["small"]}]}]}}},"#;
    for (release, expected) in [
        ("v1.36.2", "NodeAffinity NodeResourcesFit TaintToleration"),
        ("v1.31.1", "NodeAffinity NodeResourcesFit TaintToleration"),
        ("v1.30.1", "NodeResourcesFit"),
        ("v1.29.1", "NodeResourcesFit"),
        ("v1.28.3", "NodeResourcesFit TaintToleration"),
    ] {
        let objects = vec![
            node("tainted", r#""taints":[{"key":"k","effect":"NoSchedule"}]"#),
            node("small", ""),
            pod("p", named, "web", 5000, r#"},"status":{"nominatedNodeName":"tainted""#),
        ];
        let emulation = crate::release::Profile::named(release).expect("an emulated release").into();
        let scheduler = Scheduler::new(Config::defaults(emulation), objects, Options::default());
        let pod = scheduler.state().cluster().pods.get(&Key::new("n", "p")).expect("the pod").clone();
        let decision = scheduler.dry_decision(&pod, PostFilter::LeaveOut);
        let diagnosis = decision.diagnosis().expect("a diagnosis");
        let mut plugins: Vec<String> = diagnosis.unschedulable_plugins.iter().map(|p| p.to_string()).collect();
        plugins.sort();
        assert_eq!(plugins.join(" "), expected, "{release}");
        if release == "v1.36.2" {
            let absent = diagnosis.node_to_status.absent().message();
            assert_eq!(absent, "node(s) didn't satisfy plugin(s) [NodeAffinity TaintToleration]");
        }
    }
}

#[test]
fn a_decision_without_a_record_does_not_either() {
    for (nodes, all_nodes) in [(100, true), (700, true), (1000, false)] {
        let options = Options { sampling: Sampling { all_nodes, ..Sampling::default() }, ..Options::default() };
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), cluster(nodes), options);
        for name in ["new-0", "new-1", "urgent", "huge"] {
            let pod = &scheduler.state().cluster().pods.get(&Key::new("n", name)).expect("the pod").clone();
            let [one, two, three] = [1, 2, 3].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let decision = pool.install(|| scheduler.dry_decision(pod, PostFilter::Run));
                let lists = (decision.best().to_vec(), decision.feasible().to_vec());
                (decision.message(), lists, decision.diagnosis().cloned(), decision.preemption().cloned())
            });
            assert_eq!((&two, &three), (&one, &one), "{name} on {nodes} nodes");
        }
    }
}
