use super::*;
use crate::release::Emulation;
use crate::scheduler::{Config, Options};
use crate::scheduler_log::{FileFacts, Reader, SchedulerLog};

fn object(kind: Kind, yaml: &str) -> Object {
    Object::deserialize_kind(kind, serde_yaml::from_str::<serde_yaml::Value>(yaml).unwrap()).unwrap()
}

fn log(text: &str) -> SchedulerLog {
    let mut reader = Reader::default();
    reader.file("log", &FileFacts::default(), &mut text.as_bytes(), &mut |_| true);
    reader.finish()
}

#[test]
fn attempts_of_a_log_are_compared_up_to_a_number_of_steps() {
    let requests: Vec<String> = (0..2_000).map(|at| format!("example.com/r{at}: 1")).collect();
    let pod = |name: &str, requests: &str| {
        let containers = format!("containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]");
        object(Kind::Pod, &format!("{{metadata: {{name: {name}, namespace: d}}, spec: {{{containers}}}}}"))
    };
    let mut objects: Vec<Object> = (0..100).map(|at| object(Kind::Node, &format!("{{metadata: {{name: n{at}}}}}"))).collect();
    objects.extend([pod("small", "cpu: 1"), pod("large", &requests.join(", "))]);
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default());
    let line = |name: &str| {
        let said = "0/100 nodes are available: 100 Too many pods.";
        format!("I1122 23:00:00.000000       1 a.go:1] \"Unable to schedule pod; no fit; waiting\" pod=\"d/{name}\" err=\"{said}\"\n")
    };
    let comparable = |pods: &[&str]| {
        let log = log(&pods.iter().map(|name| line(name)).collect::<String>());
        let report = LogReport::new(&log, None).unwrap();
        assert_eq!(log.attempts.len(), pods.len());
        Replay::new(&report, &scheduler, None).comparable(log.attempts.iter())
    };
    assert_eq!(comparable(&["small"; 1_000]), 1_000);
    assert_eq!(comparable(&["of-no-dump"; 1_000]), 1_000);
    let some = comparable(&["large"; 100]);
    assert!((5..50).contains(&some), "{some}");
    // The newest count first.
    let mixed: Vec<&str> = std::iter::repeat_n("large", 100).chain(["small"; 30]).collect();
    let with_small = comparable(&mixed);
    assert!((30 + some - 1..=30 + some).contains(&with_small), "{with_small}");
}

#[test]
fn other_releases_are_tried_for_a_number_of_objects() {
    let node = object(Kind::Node, "{metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 10}}}");
    let containers = "containers: [{name: c, resources: {requests: {cpu: 4}}}]";
    let spec = format!("{{metadata: {{name: p, namespace: d}}, spec: {{schedulerName: default-scheduler, {containers}}}}}");
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), vec![node, object(Kind::Pod, &spec)], Options::default());
    let said = "0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful \
                for scheduling.";
    let line = |second| {
        format!("I1122 23:00:{second:02}.000000       1 a.go:1] \"Unable to schedule pod; no fit; waiting\" pod=\"d/p\" err=\"{said}\"\n")
    };
    let log = log(&(0..3).map(line).collect::<String>());
    let report = LogReport::new(&log, None).unwrap();
    let mut replay = Replay::new(&report, &scheduler, None);
    let untried = "Whether another release decides so was not tried.";
    let words = |replay: &mut Replay<'_>, number: usize| {
        let compared = replay.at(&log.attempts[number], true).comparison.unwrap();
        assert!(compared.words.starts_with("differs: "), "{}", compared.words);
        compared.words
    };
    // One scheduler of another release loads more objects than this.
    replay.objects_to_load.set(1);
    assert!(!words(&mut replay, 0).contains(untried));
    assert!(words(&mut replay, 1).contains(untried), "{}", words(&mut replay, 1));
    replay.objects_to_load.set(LOG_RELEASES_OBJECTS);
    assert!(!words(&mut replay, 2).contains(untried));
    assert!(replay.objects_to_load.get() < LOG_RELEASES_OBJECTS);
}
