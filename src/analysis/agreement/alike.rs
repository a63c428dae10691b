//! One decision for pods that differ in their names alone, as those of a workload do.

use std::sync::{Arc, Mutex, PoisonError};

use crate::analysis::overview::WaitReason;
use crate::analysis::why::{Sentence, sentence};
use crate::cluster::{List, MetaTemplate, Pod, PodSpec, RarePodStatus, Str, Volume};
use crate::release::{DryRunReport, PreemptionText};
use crate::scheduler::Config;
use crate::trace::CycleView;

/// Maximum number of decisions that are kept: each holds the answers of all nodes.
const KEPT: usize = 4;

/// The words of a decision about a pod.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) here: String,
    pub(super) clause: String,
    pub(super) waits_for: Option<WaitReason>,
}

impl Said {
    pub(super) fn of(pod: &Pod, view: &CycleView) -> Self {
        let sentence = sentence(view);
        Self {
            here: sentence.as_ref().map_or_else(String::new, Sentence::to_string),
            clause: sentence.as_ref().map_or_else(String::new, Sentence::clause),
            waits_for: WaitReason::of(pod, view),
        }
    }
}

/// A decision with what it says.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) view: CycleView,
    pub(super) said: Said,
}

impl Decided {
    /// Returns whether all that it says holds for another pod: it does not name this one.
    fn is_of_any(&self, pod: &Pod) -> bool {
        let names = [pod.key().to_string(), format!("{:?}", pod.metadata.name.as_str())];
        let Said { here, clause, waits_for } = &self.said;
        let message = self.view.failure.as_ref().map_or("", |failure| &failure.message);
        let reasons = waits_for.iter().flat_map(|reason| reason.nodes.keys()).map(String::as_str);
        !reasons.chain([message, here, clause]).any(|text| names.iter().any(|name| text.contains(name.as_str())))
    }
}

/// All of a pod that decisions about it depend on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PodClass {
    namespace: Str,
    template: Option<Arc<MetaTemplate>>,
    /// Without volumes of no kind that scheduling reads, whose names are made for each pod.
    spec: Arc<PodSpec>,
}

impl PodClass {
    /// Returns the class of a pending pod; `None` for one of which a decision may read more: its group, its claims and volumes, its
    /// nomination, and a status that anyone but a scheduler wrote; and where extenders are asked, or messages about preemption name the
    /// pod.
    pub(super) fn of(pod: &Pod, config: &Config) -> Option<Self> {
        let preemption = &config.emulation.behaviour().preemption;
        if config.has_extenders() || preemption.dry_run != DryRunReport::Nothing && preemption.text != PreemptionText::Prefixed {
            return None;
        }
        let (spec, status) = (&pod.spec, &pod.status);
        let is_plain = |volume: &Volume| *volume == Volume { name: volume.name.clone(), ..Volume::default() };
        let rare = status.rare.handle();
        let is_of_scheduler = rare.is_none_or(|rare| {
            let blank = RarePodStatus { conditions: rare.conditions.clone(), ..RarePodStatus::default() };
            **rare == blank && rare.conditions.iter().all(|condition| condition.kind == "PodScheduled")
        });
        if pod.group_key().is_some() || !spec.resource_claims.is_empty() || !spec.volumes.iter().all(is_plain) || !is_of_scheduler {
            return None;
        }
        let mut spec = spec.clone();
        if !spec.volumes.is_empty() {
            Arc::make_mut(&mut spec).volumes = List::default();
        }
        Some(Self { namespace: pod.metadata.namespace.clone(), template: pod.metadata.template.handle().cloned(), spec })
    }
}

/// The last decisions about pods of a class, with `None` for a class whose decisions name the pod.
#[derive(Debug, Default)]
pub(super) struct LastDecided(Mutex<Vec<(PodClass, Option<Arc<Decided>>)>>);

impl LastDecided {
    /// Returns the decision about a pod of a class, which `decide` takes if none is kept.
    pub(super) fn get_or(&self, class: Option<PodClass>, pod: &Pod, decide: impl FnOnce() -> CycleView) -> Arc<Decided> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = class.as_ref().and_then(|class| kept().iter().find(|(known, _)| known == class).map(|(_, decided)| decided.clone()));
        if let Some(Some(decided)) = known {
            return decided;
        }
        let view = decide();
        let decided = Arc::new(Decided { said: Said::of(pod, &view), view });
        if let (Some(class), None) = (class, known) {
            let mut kept = kept();
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((class, decided.is_of_any(pod).then(|| decided.clone())));
        }
        decided
    }
}
