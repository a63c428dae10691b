use super::*;
use crate::framework::{CoveringBudget, CoveringBudgets, NodeDryRun, PluginSet, PodInfo, PreemptionRecord, PutBack, Status, Victim};
use crate::trace::{AttemptFailure, FailureCause, FailureReason, ObjectChange, preemption_events};

#[test]
fn each_condition_is_met_by_its_own_event() {
    let key = Key::new("a", "p");
    let victim = |left: i32| {
        let pod = serde_json::from_str(r#"{"metadata":{"name":"v","namespace":"a"}}"#).unwrap();
        let victim = Victim::new(
            Arc::new(PodInfo::new(Arc::new(pod))),
            Some(Arc::new(CoveringBudgets::new([CoveringBudget::default()].into(), [Some(left)]))),
        );
        let put_back = vec![PutBack { victim, status: Status::unschedulable("x") }];
        let run = NodeDryRun { node: "n".into(), filtered: Some(Status::success()), put_back: put_back.into(), ..NodeDryRun::default() };
        let record = PreemptionRecord { dry_runs: vec![Arc::new(run)].into(), ..PreemptionRecord::default() };
        preemption_events(&Arc::new(record)).nth(2).unwrap()
    };
    let events = [
        Event::PodPopped { pod: key.clone(), attempts: 1, early_from_backoff: false },
        Event::AttemptFailed {
            pod: Key::new("a", "q"),
            failure: Arc::new(AttemptFailure {
                reason: FailureReason::Unschedulable,
                cause: FailureCause::NoFit,
                message: "".into(),
                plugins: PluginSet::default(),
            }),
        },
        Event::PreemptionStarted(Arc::default()),
        victim(0),
        Event::PodBound { pod: Key::new("a", "q"), node: "n2".into() },
        Event::ObjectChanged { kind: Kind::Pod, key: key.clone(), change: ObjectChange::Updated },
        Event::ObjectChanged { kind: Kind::Node, key: Key::new("", "n"), change: ObjectChange::Updated },
        victim(1),
        Event::PodNominated { pod: key.clone(), node: "n3".into() },
        Event::PodNominated { pod: key.clone(), node: "".into() },
    ];
    let check = |text: &str, expected: &[usize]| {
        let until: Until = text.parse().unwrap();
        let at = |i: usize| Occurrence { before: None, event: &events[i], cycle: Some(&key) };
        let met: Vec<usize> = (0..events.len()).filter(|i| until.met(&at(*i))).collect();
        assert_eq!(met, expected, "{text}");
    };
    check("popped", &[0]);
    check("rejected", &[1]);
    check("preemption", &[2]);
    check("budget", &[3]);
    check("bound", &[4]);
    check("pod a/p", &[0, 5, 8, 9]);
    check("node n", &[3, 6, 7]);
    check("node n2", &[4]);
    check("nominated", &[8]);
    for (text, expected) in [
        ("popped a/p", &[0][..]),
        ("popped a/q", &[]),
        ("rejected a/q", &[1]),
        ("rejected a/p", &[]),
        ("preemption a/p", &[2]),
        ("preemption a/q", &[]),
        ("bound a/q", &[4]),
        ("bound a/p", &[]),
        ("nominated a/p", &[8]),
        ("nominated a/q", &[]),
    ] {
        check(text, expected);
    }
    for wrong in ["", "pod", "node ", "budget x", "never"] {
        assert!(wrong.parse::<Until>().is_err(), "{wrong:?}");
    }
    for (text, words) in [
        ("pod p", "default/p is touched"),
        ("bound", "a pod is bound"),
        ("bound shop/payments", "shop/payments is bound"),
        ("preemption shop/payments", "a preemption for shop/payments starts"),
    ] {
        assert_eq!(text.parse::<Until>().unwrap().to_string(), words);
    }
}
