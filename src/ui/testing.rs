//! A small cluster and hand-written records of what a scheduler did in it, to be drawn by tests.
//!
//! Twelve nodes; `shop/payments` (6 cores, priority 100000) fits nowhere, eight nodes are dry-run and are candidates,
//! and worker-a2 wins. Then `shop/spread-7z2j5` is bound to a node that shares the highest score with another.

mod waiting;

pub(crate) use waiting::waiting_script;

use std::sync::Arc;

use jiff::{Timestamp, ToSpan};

use crate::cluster::{Cluster, Container, Key, Meta, MissingKinds, Node, Object, Pod, Quantity, Str, Taint};
use crate::framework::{
    BudgetViolation, Candidate, CoveringBudgets, EventLabel, NodeDryRun, NodeFilters, NodeInfo, PluginName, PluginSet, PodInfo,
    PreemptionRecord, PutBack, Reason, ScoreFunction, ScoreFunctionName, Shortage, Snapshot, Status, Victim,
};
use crate::release::{Emulation, Release};
use crate::report::LastReported;
use crate::session::{Branch, InitialQueues, Keyframe, Revision, RevisionKind, RunEnd, Timeline, Until};
use crate::trace::{
    AttemptFailure, CycleStart, CycleView, Event, Eviction, FailureCause, FailureReason, MoveCause, NodeScore, Outcome, Place, PluginScore,
    QueueEntry, QueueMove, QueueOrder, Selection, preemption_events,
};
use crate::ui::{Applied, CaughtUp, Change, Job, JobState, Restarted, SessionError, SessionHandle};

/// A driver whose frames are all written beforehand; `run_next` hands out one after the other.
pub(crate) struct Script {
    timeline: Timeline,
    ahead: Vec<Revision>,
}

impl SessionHandle for Script {
    fn timeline(&self) -> &Timeline {
        &self.timeline
    }
    fn release(&self) -> Release {
        Emulation::default().release()
    }
    fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.timeline
    }
    fn run_next(&mut self) -> bool {
        if self.ahead.is_empty() {
            return false;
        }
        self.timeline.push(self.ahead.remove(0));
        true
    }
    /// The next frame of the script that is about the pod.
    fn explain(&mut self, pod: &Key) -> Option<usize> {
        let about = |f: &Revision| f.events.iter().any(|e| matches!(e, Event::CycleStarted(s) if s.pod == *pod));
        let at = self.ahead.iter().position(about)?;
        self.timeline.push(self.ahead.remove(at));
        Some(self.timeline.revisions().len() - 1)
    }
    fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd {
        for _ in 0..turns {
            if let Some(cursor) = self.timeline.find_after(|e| until.met(e)) {
                self.timeline.seek(cursor);
                return RunEnd::Met;
            }
            if !self.run_next() {
                break;
            }
        }
        RunEnd::NothingLeft
    }
    fn start_job(&mut self, _: Job) -> Result<(), SessionError> {
        Err(SessionError::new("a script does no work"))
    }
    fn poll_job(&mut self) -> JobState {
        JobState::Idle
    }
    fn stop_job(&mut self) {}
    /// The workers lack cpu, a node that is tainted or cordoned has that besides, and affinity is not asked for.
    fn every_filter(&self, _: &Key, node: &str) -> Option<NodeFilters> {
        let fits = CycleView::of(self.timeline.revision()?.events.iter()).verdicts.get(node).is_some_and(|v| v.status.is_success());
        let node = self.timeline.moment().snapshot.get(node)?;
        let when = |rejected: bool, status: Status| if rejected { status } else { Status::success() };
        let answers = vec![
            (PluginName::NodeUnschedulable, when(node.node.unschedulable(), Status::rejected(Reason::NodeUnschedulable))),
            (PluginName::TaintToleration, when(!node.node.spec.taints.is_empty(), tainted())),
            (PluginName::NodeAffinity, Status::skip()),
            (PluginName::NodeResourcesFit, when(!fits, too_little_cpu())),
        ];
        Some(NodeFilters { answers, nominated: vec![key("batch/too-big")], with_nominated: !fits, ..NodeFilters::default() })
    }
    fn written(&self, _: &Key) -> Option<LastReported> {
        None
    }
    fn apply(&mut self, _: Change) -> Result<Applied, SessionError> {
        Err(SessionError::new("a script cannot be changed"))
    }
    fn catch_up(&mut self) -> Result<CaughtUp, SessionError> {
        Err(SessionError::new("a script is not live"))
    }
    fn settle(&mut self) -> bool {
        self.run_next()
    }
    fn branches(&self) -> (&[Branch], usize) {
        (&[], 0)
    }
    fn switch_branch(&mut self, _: usize) -> bool {
        false
    }
    fn restart(&mut self, _: InitialQueues) -> Result<Restarted, SessionError> {
        Err(SessionError::new("a script begins once"))
    }
    fn save(&self, _: &str) -> Result<(), SessionError> {
        Err(SessionError::new("a script is not saved"))
    }
    fn source(&self) -> String {
        "story payments".to_owned()
    }
    fn report_lines(&self) -> Vec<String> {
        vec![
            "12 nodes, 53 pods, 3 budgets were read".to_owned(),
            "2 ConfigMaps were skipped: they do not decide about scheduling".to_owned(),
        ]
    }
}

const START: &str = "2026-11-20T18:26:12Z";
const ZONES: [&str; 3] = ["a", "b", "c"];

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn key(text: &str) -> Key {
    let (namespace, name) = text.split_once('/').unwrap();
    Key::new(namespace, name)
}

fn quantities(list: &[(&str, &str)]) -> crate::cluster::ResourceList {
    list.iter().map(|(name, amount)| (*name, amount.parse::<Quantity>().unwrap())).collect()
}

pub(crate) fn node(name: &str, cpu: &str, memory: &str) -> Node {
    let mut node = Node { metadata: Meta { name: name.into(), ..Meta::default() }, ..Node::default() };
    node.status.allocatable = quantities(&[("cpu", cpu), ("memory", memory), ("pods", "20")]);
    node
}

pub(crate) fn pod(name: &str, priority: i32, cpu: &str, memory: &str, node: &str, started: Option<&str>) -> Pod {
    let key = key(name);
    let mut pod = Pod { metadata: Meta { namespace: key.namespace, name: key.name, ..Meta::default() }, ..Pod::default() };
    pod.node_name = node.into();
    pod.status.start_time = started.map(|s| time(&format!("2026-11-20T{s}Z")));
    let spec = pod.spec_mut();
    spec.priority = Some(priority);
    spec.scheduler_name = "default-scheduler".into();
    let mut container = Container { name: "main".into(), ..Container::default() };
    container.resources.requests = quantities(&[("cpu", cpu), ("memory", memory)]);
    spec.containers = [container].into_iter().collect();
    pod
}

/// Nodes with the pods on them: catalog everywhere, checkout on six workers, reports beside them.
fn cluster() -> Cluster {
    let mut objects: Vec<Object> = Vec::new();
    let mut add_node = |node: Node| objects.push(Object::Node(Arc::new(node)));
    for zone in ZONES {
        for i in 1..=3 {
            let mut worker = node(&format!("worker-{zone}{i}"), "8", "32Gi");
            if (zone, i) == ("c", 3) {
                worker.spec.unschedulable = Some(true);
            }
            add_node(worker);
        }
    }
    for name in ["gpu-a1", "gpu-b1"] {
        let mut gpu = node(name, "16", "64Gi");
        gpu.spec.taints =
            [Taint { key: "nvidia.com/gpu".into(), value: "present".into(), effect: "NoSchedule".into() }].into_iter().collect();
        add_node(gpu);
    }
    let mut infra = node("infra-1", "4", "16Gi");
    infra.spec.taints = [Taint { key: "dedicated".into(), value: "infra".into(), effect: "NoExecute".into() }].into_iter().collect();
    add_node(infra);
    for (name, count) in WORKERS {
        let short = name.trim_start_matches("worker-");
        objects.push(pod_object(&format!("shop/catalog-746f66cf94-{short}"), 1000, "1500m", "6Gi", name, "18:25:29"));
        if !matches!(name, "worker-a2" | "worker-b1") {
            objects.push(pod_object(&format!("shop/checkout-6bdb4d6684-{short}"), 1000, "2", "4Gi", name, "18:25:29"));
        }
        for i in 0..count {
            let started = if i == 0 { "18:25:29" } else { "18:25:30" };
            objects.push(pod_object(&format!("batch/reports-646f8d7fc5-{short}{i}"), -10, "1200m", "2Gi", name, started));
        }
    }
    for (name, ..) in WAITING {
        let (priority, cpu, memory) = match name {
            "shop/payments" => (100_000, "6", "8Gi"),
            "shop/patient-job" => (50_000, "6", "8Gi"),
            "shop/spread-85969bc548-7z2j5" => (1000, "3", "1Gi"),
            _ => (1000, "1", "1Gi"),
        };
        let mut pod = pod(name, priority, cpu, memory, "", None);
        if name == "batch/gated" {
            pod.spec_mut().scheduling_gates = [crate::cluster::SchedulingGate { name: "example.com/quota".into() }].into_iter().collect();
        }
        objects.push(Object::Pod(Arc::new(pod)));
    }
    objects.into_iter().collect()
}

/// Workers that take pods, with how many reports pods each has.
const WORKERS: [(&str, usize); 8] = [
    ("worker-a1", 2),
    ("worker-a2", 2),
    ("worker-a3", 1),
    ("worker-b1", 2),
    ("worker-b2", 2),
    ("worker-b3", 1),
    ("worker-c1", 2),
    ("worker-c2", 2),
];

const WAITING: [(&str, i32, &str); 9] = [
    ("shop/payments", 100_000, "active"),
    ("shop/patient-job", 50_000, "active"),
    ("platform/needs-volume", 1000, "active"),
    ("shop/spread-85969bc548-7z2j5", 1000, "active"),
    ("shop/spread-85969bc548-b5rrz", 1000, "backoff"),
    ("batch/too-big", 100_000, "unschedulable"),
    ("ml/no-toleration", 1000, "unschedulable"),
    ("ml/gpu-hungry", 1000, "inferred"),
    ("batch/gated", 1000, "gated"),
];

fn pod_object(name: &str, priority: i32, cpu: &str, memory: &str, node: &str, started: &str) -> Object {
    Object::Pod(Arc::new(pod(name, priority, cpu, memory, node, Some(started))))
}

pub(crate) fn snapshot(cluster: &Cluster) -> Snapshot {
    let mut nodes: Vec<NodeInfo> = cluster.nodes.iter().map(|n| NodeInfo::new(n.clone())).collect();
    for pod in cluster.pods.iter().filter(|p| !p.node_name.is_empty()) {
        let info = Arc::new(PodInfo::new(pod.clone()));
        if let Some(node) = nodes.iter_mut().find(|n| *n.name() == pod.node_name) {
            node.add_pod(info);
        }
    }
    Snapshot::of(nodes)
}

fn start() -> Keyframe {
    let cluster = cluster();
    let clock = time(START);
    let mut moment =
        Keyframe { snapshot: snapshot(&cluster), cluster, clock, requeue_events: Arc::new(waiting::wakes()), ..Keyframe::default() };
    for (sequence, (name, priority, place)) in WAITING.into_iter().enumerate() {
        let set = |plugins: &[PluginName]| plugins.iter().copied().collect::<PluginSet>();
        let (plugins, gated_by, attempts) = match name {
            "batch/too-big" => (set(&[PluginName::NodeResourcesFit, PluginName::NodeUnschedulable, PluginName::TaintToleration]), None, 3),
            "ml/no-toleration" => (set(&[PluginName::NodeAffinity]), None, 1),
            "batch/gated" => (set(&[PluginName::SchedulingGates]), Some(PluginName::SchedulingGates), 0),
            _ => (PluginSet::default(), None, u32::from(place == "backoff")),
        };
        let place_of = match place {
            "active" => Place::Active,
            "backoff" => Place::Backoff { expires: clock + 1200.milliseconds(), error: false },
            _ => Place::Unschedulable { plugins, gated_by },
        };
        let inferred = (place == "inferred").then(|| "its PodScheduled condition is False".to_owned());
        let last_move = (place == "backoff").then(|| QueueMove {
            pod: key(name),
            from: None,
            to: place_of.clone(),
            cause: MoveCause::Label(EventLabel::ScheduleAttemptFailure),
            plugin: None,
            order: QueueOrder::default(),
            plugins,
        });
        let (timestamp, nominated) = (clock, Str::default());
        let sequence = sequence as u64;
        moment.queues.insert(QueueEntry {
            pod: key(name),
            priority,
            place: place_of,
            timestamp,
            sequence,
            attempts,
            plugins,
            nominated,
            last_move,
            inferred,
        });
    }
    moment
}

fn victim(name: &str, priority: i32, started: &str, budgets: CoveringBudgets) -> Victim {
    let owner = if priority < 0 { "reports-646f8d7fc5" } else { "checkout-6bdb4d6684" };
    let Key { namespace, name } = key(name);
    let pod = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","ownerReferences":[{{"kind":"ReplicaSet","name":"{owner}","controller":true}}]}},
        "spec":{{"priority":{priority}}},"status":{{"startTime":"2026-11-20T{started}Z"}}}}"#
    );
    let info = PodInfo::new(Arc::new(serde_json::from_str(&pod).unwrap()));
    Victim::new(Arc::new(info), (budgets != CoveringBudgets::default()).then(|| Arc::new(budgets)))
}

fn allowed_by(name: &str) -> CoveringBudgets {
    CoveringBudgets { allowing: vec![name.into()], ..CoveringBudgets::default() }
}

fn queue_move(pod: &Key, from: Place, to: Place, cause: MoveCause) -> Event {
    let sequence = WAITING.iter().position(|(name, ..)| *pod == key(name)).unwrap_or(0);
    let order = QueueOrder { priority: WAITING[sequence].1, timestamp: time(START), sequence: sequence as u64 };
    let plugins = if let Place::Unschedulable { plugins, .. } = to { plugins } else { PluginSet::default() };
    Event::QueueMoved(Box::new(QueueMove { pod: pod.clone(), from: Some(from), to, cause, plugin: None, order, plugins }))
}

fn cycle_events(pod: &Key, cycle: u64, priority: i32, requests: &[(&str, &str)]) -> Vec<Event> {
    let requests = requests.iter().map(|(n, a)| (Str::from(*n), (*a).to_owned())).collect();
    let start = CycleStart {
        cycle,
        pod: pod.clone(),
        priority,
        profile: "default-scheduler".into(),
        requests,
        nominated: "".into(),
        nodes: 12,
        budgets_unknown: false,
        missing: MissingKinds::default(),
    };
    let mut events = vec![
        Event::PodPopped { pod: pod.clone(), attempts: 1, early_from_backoff: false },
        queue_move(pod, Place::Active, Place::InFlight, MoveCause::Cycle),
        Event::CycleStarted(start.into()),
    ];
    for plugin in [PluginName::NodeResourcesFit, PluginName::PodTopologySpread] {
        let status = if plugin == PluginName::PodTopologySpread { Status::skip() } else { Status::success() };
        events.push(Event::PreFiltered { plugin, status: status.with_plugin(plugin), nodes: None });
    }
    events
}

const WALK: [&str; 12] = [
    "gpu-a1",
    "gpu-b1",
    "worker-c1",
    "infra-1",
    "worker-b1",
    "worker-c2",
    "worker-a1",
    "worker-b2",
    "worker-c3",
    "worker-a2",
    "worker-b3",
    "worker-a3",
];

fn failed(pod: &Key, message: Str, plugins: PluginSet) -> Event {
    let failure = AttemptFailure { reason: FailureReason::Unschedulable, cause: FailureCause::NoFit, message, plugins };
    Event::AttemptFailed { pod: pod.clone(), failure: failure.into() }
}

fn tainted() -> Status {
    let taint = Taint { key: "dedicated".into(), value: "infra".into(), effect: "NoSchedule".into() };
    Status::rejected(Reason::UntoleratedTaint { taint })
}

fn too_little_cpu() -> Status {
    Status::rejected(Reason::Insufficient(Shortage { resource: "cpu".into(), requested: 6000, used: 14_500, capacity: 16_000 }))
}

fn filtered(name: &str, fits: &[&str]) -> Event {
    let status = match name {
        "worker-c3" => Status::rejected(Reason::NodeUnschedulable).with_plugin(PluginName::NodeUnschedulable),
        _ if fits.contains(&name) => Status::success(),
        _ if name.starts_with("worker") => too_little_cpu().with_plugin(PluginName::NodeResourcesFit),
        _ => tainted().with_plugin(PluginName::TaintToleration),
    };
    Event::NodeFiltered { node: name.into(), status, nominated: Vec::new().into() }
}

/// Which eviction each worker needs; `violating` lets worker-a1's checkout pod violate a budget.
fn candidate(name: &str, reports: usize, violating: bool) -> Candidate {
    let short = name.trim_start_matches("worker-");
    let mut victims = Vec::new();
    if !matches!(name, "worker-a2" | "worker-b1") {
        let violated = vec![BudgetViolation { budget: "checkout".into(), allowed: 0, left: -1 }];
        let violates = violating && name == "worker-a1";
        let budgets = if violates { CoveringBudgets { violated, ..CoveringBudgets::default() } } else { allowed_by("checkout") };
        victims.push(victim(&format!("shop/checkout-6bdb4d6684-{short}"), 1000, "18:25:29", budgets));
    }
    for i in 0..reports {
        // With a violation somewhere the tie is broken as well: worker-a2's oldest victim started a second later.
        let started = if i > 0 || (violating && name == "worker-a2") { "18:25:30" } else { "18:25:29" };
        victims.push(victim(&format!("batch/reports-646f8d7fc5-{short}{i}"), -10, started, CoveringBudgets::default()));
    }
    let pdb_violations = victims.iter().filter(|v| !v.violates().is_empty()).count() as i64;
    Candidate { node: name.into(), victims, pdb_violations }
}

/// The dry run of a node where all victims have to go, and a pod of the catalog comes back.
fn dry_run(candidate: Candidate) -> NodeDryRun {
    let node = candidate.node.clone();
    let short = node.trim_start_matches("worker-");
    let catalog = victim(&format!("shop/catalog-746f66cf94-{short}"), 1000, "18:25:29", allowed_by("catalog"));
    let removed = candidate.victims.iter().chain([&catalog]).map(|v| v.info().clone()).collect();
    let insufficient = Status::unschedulable("Insufficient cpu").with_plugin(PluginName::NodeResourcesFit);
    let stay_off = candidate.victims.iter().map(|v| PutBack { victim: v.clone(), status: insufficient.clone() });
    let put_back = [PutBack { victim: catalog.clone(), status: Status::success() }].into_iter().chain(stay_off).collect();
    NodeDryRun { node, removed, filtered: Some(Status::success()), put_back, status: Status::success(), candidate: Some(candidate) }
}

fn score_functions(candidates: &[Candidate]) -> Vec<ScoreFunction> {
    use ScoreFunctionName as F;
    let mut left: Vec<&Candidate> = candidates.iter().collect();
    let mut functions = Vec::new();
    for name in [F::MinNumPDBViolations, F::MinHighestPriority, F::MinSumPriorities, F::MinNumPods, F::LatestStartTime] {
        if left.len() < 2 {
            break;
        }
        let score = |c: &Candidate| match name {
            F::MinNumPDBViolations => -c.pdb_violations,
            F::MinHighestPriority => -i64::from(c.victims[0].priority()),
            F::MinSumPriorities => -c.victims.iter().map(|v| i64::from(v.priority()) + (1 << 31)).sum::<i64>(),
            F::MinNumPods => -(c.victims.len() as i64),
            F::LatestStartTime => {
                c.victims.iter().filter(|v| v.priority() == c.victims[0].priority()).filter_map(Victim::start_time).min().unwrap()
            }
        };
        let best = left.iter().map(|c| score(c)).max().unwrap();
        let scores = left.iter().map(|c| (c.node.clone(), score(c))).collect();
        left.retain(|c| score(c) == best);
        functions.push(ScoreFunction { name, scores, remaining: left.iter().map(|c| c.node.clone()).collect() });
    }
    functions
}

fn payments_events(violating: bool) -> Vec<Event> {
    let pod = key("shop/payments");
    let mut events = cycle_events(&pod, 1, 100_000, &[("cpu", "6"), ("memory", "8Gi")]);
    events.extend(WALK.map(|name| filtered(name, &[])));
    let potential_nodes = WORKERS.iter().map(|(n, _)| (*n).into()).collect();
    let candidates: Vec<Candidate> = WORKERS.iter().map(|(name, reports)| candidate(name, *reports, violating)).collect();
    let score_functions = score_functions(&candidates);
    let best = score_functions.last().unwrap().remaining.clone();
    let node = best[0].clone();
    let chosen = candidates.iter().find(|c| c.node == node).unwrap().clone();
    let dry_runs = candidates.into_iter().map(|c| Arc::new(dry_run(c))).collect::<Vec<_>>().into();
    let record =
        PreemptionRecord { potential_nodes, wanted_candidates: 100, dry_runs, score_functions, best, ..PreemptionRecord::default() };
    events.extend(preemption_events(&Arc::new(record)));
    let preemptor = Arc::new(pod.clone());
    for v in &chosen.victims {
        let (evicted, preemptor) = (Box::new(v.key()), preemptor.clone());
        events.push(Event::VictimEvicted { pod: evicted, node: node.clone(), preemptor, how: Eviction::Terminating });
    }
    let plugins: PluginSet =
        [PluginName::NodeResourcesFit, PluginName::NodeUnschedulable, PluginName::TaintToleration].into_iter().collect();
    let message = "0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), 8 Insufficient cpu.".into();
    events.extend([
        Event::PostFiltered { plugin: PluginName::DefaultPreemption, status: Status::success() },
        failed(&pod, message, plugins),
        queue_move(
            &pod,
            Place::InFlight,
            Place::Unschedulable { plugins, gated_by: None },
            MoveCause::Label(EventLabel::ScheduleAttemptFailure),
        ),
        Event::PodNominated { pod: pod.clone(), node },
        Event::CycleFinished { pod, outcome: Outcome::Unschedulable },
    ]);
    events
}

fn spread_events() -> Vec<Event> {
    let pod = key("shop/spread-85969bc548-7z2j5");
    let mut events = cycle_events(&pod, 2, 1000, &[("cpu", "3"), ("memory", "1Gi")]);
    let fits = ["worker-a2", "worker-a3", "worker-b1", "worker-b3"];
    events.extend(WALK.map(|name| filtered(name, &fits)));
    events.push(Event::PreScored { plugin: PluginName::TaintToleration, status: Status::success() });
    for node in fits {
        let fit = if matches!(node, "worker-a2" | "worker-b1") { 35 } else { 31 };
        let score = |plugin, raw, normalized, weighted| PluginScore { plugin, raw, normalized, weighted };
        let plugins = [
            score(PluginName::TaintToleration, 0, 100, 300),
            score(PluginName::NodeResourcesFit, fit.into(), fit, fit.into()),
            score(PluginName::NodeResourcesBalancedAllocation, 66, 66, 66),
            score(PluginName::ImageLocality, 0, 0, 0),
        ];
        let total = plugins.iter().map(|p| p.weighted).sum();
        events.push(Event::NodeScored(NodeScore { node: node.into(), plugins: plugins.to_vec().into(), total }.into()));
    }
    let node = Str::from("worker-a2");
    events.extend([
        Event::NodeSelected { node: node.clone(), why: Selection::HighestScore, tied: vec!["worker-a2".into(), "worker-b1".into()].into() },
        Event::PodAssumed { pod: pod.clone(), node: node.clone() },
        Event::PodBound { pod: pod.clone(), node: node.clone() },
        queue_move(&pod, Place::InFlight, Place::Bound { node }, MoveCause::Cycle),
        Event::CycleFinished { pod, outcome: Outcome::Scheduled },
    ]);
    events
}

fn patient_events() -> Vec<Event> {
    let pod = key("shop/patient-job");
    let mut events = cycle_events(&pod, 3, 50_000, &[("cpu", "6"), ("memory", "8Gi")]);
    events.extend(WALK.map(|name| filtered(name, &[])));
    let why = "not eligible due to preemptionPolicy=Never.";
    let message = format!(
        "0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), 8 Insufficient cpu. no new claims to deallocate, preemption: {why}"
    );
    let plugins: PluginSet = [PluginName::NodeResourcesFit].into_iter().collect();
    events.extend([
        Event::PreemptionStarted(Arc::new(PreemptionRecord {
            ineligible: Some(Status::rejected(Reason::PreemptionPolicyNever)),
            ..PreemptionRecord::default()
        })),
        failed(&pod, message.into(), plugins),
        queue_move(
            &pod,
            Place::InFlight,
            Place::Unschedulable { plugins, gated_by: None },
            MoveCause::Label(EventLabel::ScheduleAttemptFailure),
        ),
        Event::CycleFinished { pod, outcome: Outcome::Unschedulable },
    ]);
    events
}

fn revisions(first: Keyframe, operations: Vec<(&str, Vec<Event>)>) -> Vec<Revision> {
    let mut now = first;
    let mut revisions = Vec::new();
    for (title, events) in operations {
        let mut after = now.clone();
        for event in &events {
            after.queues.apply(event);
            if let Event::ClockMoved { to, .. } = event {
                after.clock = *to;
            }
            if let Some(node) = waiting::new_node(event) {
                after.cluster.insert(node);
            }
        }
        let view = CycleView::of(&events);
        for (victim, _) in &view.evicted {
            let mut pod = (**after.cluster.pods.get(victim).unwrap()).clone();
            pod.metadata.deletion_timestamp = Some(after.clock + 30.seconds());
            after.cluster.insert(Object::Pod(Arc::new(pod)));
        }
        if let (Some(node), Some(start)) = (&view.bound, &view.start) {
            let mut pod = (**after.cluster.pods.get(&start.pod).unwrap()).clone();
            pod.node_name = node.clone();
            after.cluster.insert(Object::Pod(Arc::new(pod)));
        }
        after.snapshot = snapshot(&after.cluster);
        revisions.push(Revision {
            kind: RevisionKind::default(),
            title: title.to_owned(),
            events: events.into(),
            before: now,
            after: after.clone(),
        });
        now = after;
    }
    revisions
}

/// The whole script; with `violating`, a budget is violated on worker-a1 and LatestStartTime decides.
pub(crate) fn script(violating: bool) -> Script {
    let first = start();
    let operations = vec![
        ("schedule shop/payments", payments_events(violating)),
        ("schedule shop/spread-85969bc548-7z2j5", spread_events()),
        ("schedule shop/patient-job", patient_events()),
    ];
    Script { timeline: Timeline::new(first.clone()), ahead: revisions(first, operations) }
}

/// One cycle over very many nodes, all looked at: a third fits, the rest lacks cpu or is tainted.
pub(crate) fn large(nodes: usize) -> Script {
    let labelled = |i: usize| {
        let mut node = node(&format!("node-{i:05}"), ["8", "8", "16"][i % 7 % 3], "32Gi");
        let pool = [Some("general"), Some("general"), Some("batch"), Some("gpu"), None][i % 7 % 5];
        let pool = pool.map(|pool| ("cloud.google.com/gke-nodepool", pool));
        let zone = ("topology.kubernetes.io/zone", ["west-a", "west-b", "west-c"][i % 11 % 3]);
        node.metadata.labels = pool.into_iter().chain([zone]).map(|(key, value)| (key, Str::from(value))).collect();
        node
    };
    let objects = (0..nodes).map(|i| Object::Node(Arc::new(labelled(i))));
    let cluster: Cluster = objects.collect();
    let first = Keyframe { snapshot: snapshot(&cluster), cluster, clock: time(START), ..Keyframe::default() };
    let pod = key("shop/payments");
    let mut events = cycle_events(&pod, 1, 0, &[("cpu", "1")]);
    for i in 0..nodes {
        let name = Str::from(format!("node-{i:05}"));
        let status = match i % 3 {
            0 => Status::success(),
            1 => too_little_cpu().with_plugin(PluginName::NodeResourcesFit),
            _ => tainted().with_plugin(PluginName::TaintToleration),
        };
        events.push(Event::NodeFiltered { node: name, status, nominated: Vec::new().into() });
    }
    let ahead = revisions(first.clone(), vec![("schedule shop/payments", events)]);
    Script { timeline: Timeline::new(first), ahead }
}

/// A cluster of one node and one waiting pod of any names.
pub(crate) fn named(node_name: &str, pod_name: &str) -> Script {
    let pod = key(pod_name);
    let objects =
        [Object::Node(Arc::new(node(node_name, "8", "32Gi"))), Object::Pod(Arc::new(self::pod(pod_name, 0, "1", "1Gi", "", None)))];
    let cluster: Cluster = objects.into_iter().collect();
    let mut first = Keyframe { snapshot: snapshot(&cluster), cluster, clock: time(START), ..Keyframe::default() };
    first.queues.insert(QueueEntry {
        pod: pod.clone(),
        priority: 0,
        place: Place::Active,
        timestamp: first.clock,
        sequence: 0,
        attempts: 0,
        plugins: PluginSet::default(),
        nominated: Str::default(),
        last_move: None,
        inferred: None,
    });
    let mut events = cycle_events(&pod, 1, 0, &[("cpu", "1")]).split_off(2);
    let status = Status::unschedulable("\u{1b}[2J節点 e\u{301}\nsecond line").with_plugin(PluginName::NodeResourcesFit);
    events.push(Event::NodeFiltered { node: node_name.into(), status, nominated: Vec::new().into() });
    let ahead = revisions(first.clone(), vec![("schedule", events)]);
    Script { timeline: Timeline::new(first), ahead }
}
