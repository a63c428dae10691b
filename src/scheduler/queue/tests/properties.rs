//! Random histories: the invariants of [`Fixture::run`] hold after every operation, and the same history always has the
//! same result.

use proptest::prelude::*;

use super::*;
use crate::cluster::Toleration;
use crate::scheduler::queue::{InferredQueue, Observed};

#[derive(Clone, Debug)]
enum Step {
    Add(u8, i32),
    Observe(u8, u8, u16),
    Delete(u8),
    Tolerate(u8),
    Relabel(u8),
    Reprioritize(u8, i32),
    Nominate(u8, u8),
    RenominateField(u8, u8),
    Refuse(u8, u8),
    Pop,
    Fail(u8, u8),
    Leave(u8),
    Done(u8),
    Node(u8),
    PodGone(Option<i32>),
    Activate(u8),
    Advance(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pod = 0..5_u8;
    let step = prop_oneof![
        3 => (pod.clone(), 0..3).prop_map(|(p, n)| Step::Add(p, n)),
        1 => (pod.clone(), any::<u8>(), 0..400_u16).prop_map(|(p, bits, age)| Step::Observe(p, bits, age)),
        1 => pod.clone().prop_map(Step::Delete),
        1 => pod.clone().prop_map(Step::Tolerate),
        1 => pod.clone().prop_map(Step::Relabel),
        1 => (pod.clone(), 0..3).prop_map(|(p, n)| Step::Reprioritize(p, n)),
        1 => (pod.clone(), 0..3_u8).prop_map(|(p, n)| Step::Nominate(p, n)),
        1 => (pod.clone(), 0..3_u8).prop_map(|(p, n)| Step::RenominateField(p, n)),
        1 => (pod.clone(), 0..4_u8).prop_map(|(p, n)| Step::Refuse(p, n)),
        4 => Just(Step::Pop),
        4 => (pod.clone(), 0..8_u8).prop_map(|(p, n)| Step::Fail(p, n)),
        1 => pod.clone().prop_map(Step::Leave),
        1 => pod.clone().prop_map(Step::Done),
        2 => (0..3_u8).prop_map(Step::Node),
        1 => proptest::option::of(0..3).prop_map(Step::PodGone),
        1 => pod.prop_map(Step::Activate),
        2 => (0..40_000_u16).prop_map(Step::Advance),
    ];
    proptest::collection::vec(step, 1..60)
}

fn plugins(bits: u8) -> Vec<PluginName> {
    let all = [PluginName::NodeName, PluginName::NodeResourcesFit, PluginName::TaintToleration];
    all.into_iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, p)| p).collect()
}

impl Fixture {
    fn exists(&self, name: &str) -> bool {
        self.world.cluster.pods.get(&Self::key(name)).is_some()
    }

    /// Does the step if it is possible.
    fn step(&mut self, step: &Step) {
        let node = |n: u8| if n == 0 { String::new() } else { format!("n{n}") };
        match *step {
            // A name keeps its pod while an attempt for it is under way.
            Step::Add(p, priority) if !self.exists(&name(p)) && !self.popped.contains_key(&Self::key(&name(p))) => {
                self.add(&name(p), priority);
            }
            Step::Observe(p, bits, age) if !self.exists(&name(p)) && !self.popped.contains_key(&Self::key(&name(p))) => {
                let observed = Observed {
                    waits: [InferredQueue::Active, InferredQueue::Parked, InferredQueue::AfterError, InferredQueue::Nowhere]
                        [usize::from(bits % 4)],
                    timestamp: self.world.now - SignedDuration::from_secs(age.into()),
                    attempts: u32::from(bits / 32),
                    plugins: plugins(bits / 4).into_iter().collect(),
                    from: "what was seen".into(),
                };
                let nominated = if bits & 128 == 0 { "" } else { r#","status":{"nominatedNodeName":"n1"}"# };
                let pod = Self::object(&name(p), i32::from(bits & 1), nominated);
                self.world.cluster.insert(Object::Pod(pod.clone()));
                self.run(|q, w| q.place_as_observed(w, &pod, observed));
            }
            Step::Refuse(p, bits) => {
                let refusing = [PluginName::SchedulingGates, PluginName::DefaultPreemption];
                let refusing = refusing.into_iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, p)| p).collect();
                self.world.refusals.insert(Self::key(&name(p)), refusing);
            }
            Step::Pop => {
                self.pop();
            }
            Step::Fail(p, bits) if self.popped.contains_key(&Self::key(&name(p))) => {
                if self.exists(&name(p)) {
                    // A pod that was updated after `done` is queued already.
                    drop(self.try_fail(&name(p), &plugins(bits), &[]));
                } else {
                    self.leave(&name(p), Place::Gone);
                }
            }
            Step::Leave(p) if self.popped.contains_key(&Self::key(&name(p))) => self.leave(&name(p), Place::Gone),
            Step::Node(help) => self.node(["yes", "no", "broken"][help as usize]),
            Step::PodGone(max) => self.move_all(ClusterEvent::ASSIGNED_POD_DELETE, "", max),
            Step::Advance(millis) => self.advance(i64::from(millis)),
            Step::Delete(p) if self.exists(&name(p)) => self.delete(&name(p)),
            Step::Activate(p) if self.exists(&name(p)) => self.activate(&name(p)),
            Step::Tolerate(p) if self.exists(&name(p)) => self.update(&name(p), |p| p.spec_mut().tolerations.0.push(Toleration::default())),
            Step::Relabel(p) if self.exists(&name(p)) => self.update(&name(p), |p| drop(p.metadata.labels.insert("a".into(), "b".into()))),
            Step::Reprioritize(p, priority) if self.exists(&name(p)) && !self.popped.contains_key(&Self::key(&name(p))) => {
                self.update(&name(p), |p| p.spec_mut().priority = Some(priority));
            }
            Step::RenominateField(p, n) if self.exists(&name(p)) => {
                self.update(&name(p), |p| p.status.nominated_node_name = node(n).into());
            }
            Step::Nominate(p, n) if self.exists(&name(p)) => {
                let pod = self.pod(&name(p));
                self.run(|q, w| q.add_nominated_pod(w, &pod, &crate::framework::NominatingInfo::Override(node(n).into())));
            }
            Step::Done(p) => {
                if let Some(info) = self.popped.get(&Self::key(&name(p))).cloned() {
                    self.run(|q, _| q.done(info.pod()));
                }
            }
            _ => {}
        }
    }
}

fn name(p: u8) -> String {
    format!("p{p}")
}

fn play(steps: &[Step], off: &[Gate]) -> (Vec<Event>, Fixture) {
    let mut f = Fixture::with_emulation(off);
    let mut events = Vec::new();
    for step in steps {
        f.world.events.clear();
        f.step(step);
        events.append(&mut f.world.events.clone());
    }
    (events, f)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_and_histories_repeat(steps in steps(), early in any::<bool>()) {
        let off: &[Gate] = if early { &[] } else { &[Gate::SchedulerPopFromBackoffQ] };
        let (events, f) = play(&steps, off);
        let (again, g) = play(&steps, off);
        prop_assert_eq!(events, again);
        prop_assert_eq!(f.queue.view(), g.queue.view());
    }

    /// A clone is unchanged while the original continues, and continues in the same way.
    #[test]
    fn a_clone_is_independent(steps in steps(), cut in 0..60_usize) {
        let cut = cut.min(steps.len());
        let (_, kept) = play(&steps[..cut], &[]);
        let (mut first, before) = (kept.clone(), kept.queue.view().clone());
        steps[cut..].iter().for_each(|s| first.step(s));
        prop_assert_eq!(kept.queue.view(), &before);
        kept.check();
        let mut second = kept;
        steps[cut..].iter().for_each(|s| second.step(s));
        prop_assert_eq!(first.queue.view(), second.queue.view());
    }

    /// A single advance has the same effect as one second by second.
    #[test]
    fn time_may_pass_in_one_go_or_in_pieces(steps in steps(), seconds in 1..400_i64) {
        let (_, f) = play(&steps, &[]);
        let (mut whole, mut pieces) = (f.clone(), f);
        whole.advance(seconds * 1000);
        (0..seconds).for_each(|_| pieces.advance(1000));
        prop_assert_eq!(whole.queue.view(), pieces.queue.view());
    }
}
