//! Answers of an extender: any body of any status leaves nodes or scores, or is refused with a message.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use schedscope::cluster::Pod;
use schedscope::extenders::{Answer, Asker, Asking, Extender, ExtenderTransport, Victims};
use schedscope::framework::{ExtenderVerb, Snapshot};
use schedscope::release::Emulation;
use schedscope::scheduler::Config;

const CONFIG: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n- {urlPrefix: 'http://localhost:1', \
    filterVerb: f, prioritizeVerb: p, preemptVerb: q, weight: 1, nodeCacheCapable: true}\n";

/// Gives the same answer to every question.
struct Same(Answer);

impl ExtenderTransport for Same {
    fn send(&self, _: &Extender, _: ExtenderVerb, _: &str) -> Answer {
        self.0.clone()
    }
}

fuzz_target!(|input: (u8, &str)| {
    let (status, body) = input;
    let status = if status < 200 { 200 } else { 300 + u16::from(status) };
    let asker = Asker::of_answers([]).with_transport(Box::new(Same(Answer::response(status, body))));
    let config = Config::parse(CONFIG, Emulation::default()).expect("the configuration").asked_by(Arc::new(asker), |_| true);
    let extenders = config.extenders.for_cycle(Asking::Ask).expect("an extender that is asked");
    let pod: Pod = serde_json::from_value(serde_json::json!({"metadata": {"name": "p", "namespace": "d"}})).expect("a pod");
    for extender in config.extenders.list() {
        let problems = [
            extenders.filter(extender, &pod, &[]).err(),
            extenders.prioritize(extender, &pod, &[]).err(),
            extenders.preempt(extender, &pod, &Victims::new(), &Snapshot::default()).err(),
        ];
        assert!(problems.into_iter().flatten().all(|problem| !problem.to_string().is_empty()));
    }
});
