//! The ways in which our decision differs from a report, and the later changes that explain them.
//!
//! A later change explains a difference only if it has its direction (a reason came to nodes, or went from them), its kind,
//! and reaches enough of the nodes that differ. Otherwise the difference is unexplained.

use std::collections::{BTreeMap, BTreeSet};

use super::since::{Change, new_and_gone_nodes};
use super::touch::{Aspect, Named, Reach, Waiter, Way, is_of_budget};
use crate::cluster::{Cluster, Kind, Pod, Str};
use crate::framework::{PluginName, Status};
use crate::trace::CycleView;

/// A difference between our decision and the report of the cluster's scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// The cluster has more nodes, or fewer.
    Nodes { there: u32, here: u32 },
    /// Nodes have a reason that they did not have, or have it no more: the number of nodes that differ at least.
    Reason { reason: Named, way: Way, nodes: u32 },
    /// The pod fits now; the scheduler gave these reasons.
    Fits(Vec<Named>),
    /// The pod has no gate any more. Gates are removed only.
    Ungated,
    /// The pod is being deleted.
    Deleting,
    /// We preempt and the scheduler does not: each of our candidates became one.
    Preempts(Vec<Str>),
    /// The scheduler preempts on the node, and we do not, or on another one of these.
    PreemptsElsewhere(Vec<Str>),
    /// The result of preemption differs, without a node that shows it.
    PreemptionText,
    /// No change of the cluster explains it.
    Never,
}

/// The explanation of all shifts of one pod.
pub(super) struct Explanation<'a> {
    /// The changes that explain them.
    pub(super) changes: Vec<&'a Change>,
    /// Changes of the pod itself, in words.
    pub(super) own: Option<&'static str>,
}

/// Explains shifts by changes; `None` if one of them has no explanation.
pub(super) fn explain<'a>(
    shifts: &[Shift],
    changes: &[&'a Change],
    pod: &Pod,
    cluster: &Cluster,
    view: &CycleView,
    filters: &[PluginName],
) -> Option<Explanation<'a>> {
    let (new, gone) = new_and_gone_nodes(changes);
    let waiter = Waiter::new(pod, cluster);
    let of = |way: Way| {
        shifts.iter().filter_map(move |s| if let Shift::Reason { reason, way: w, .. } = s { (*w == way).then_some(reason) } else { None })
    };
    let found = Explainer {
        waiter,
        changes,
        view,
        filters,
        cluster,
        came: of(Way::Came).collect(),
        went: of(Way::Went).collect(),
        new: new.into_iter().filter(|node| cluster.nodes.named(node).is_some()).collect(),
        gone: gone.into_iter().filter(|node| cluster.nodes.named(node).is_none()).collect(),
    };
    let is_of_preemption = |shift: &Shift| matches!(shift, Shift::Preempts(_) | Shift::PreemptsElsewhere(_) | Shift::PreemptionText);
    // Preemption follows from the filters: where those differ, so may it.
    let follows = shifts.iter().any(|shift| !is_of_preemption(shift));
    let mut used = BTreeSet::new();
    let mut own = None;
    for shift in shifts.iter().filter(|shift| !(follows && is_of_preemption(shift))) {
        match shift {
            Shift::Ungated => own = Some("its scheduling gates were removed since"),
            Shift::Deleting => own = Some("it has started terminating since"),
            Shift::Fits(_) if takes_its_room(pod, view) => {
                own = Some("it was nominated to the node, and the pods in its way are gone since");
            }
            other => used.extend(found.explains(other)?),
        }
    }
    Some(Explanation { changes: used.into_iter().filter_map(|at| changes.get(at).copied()).collect(), own })
}

/// Returns whether a pod fits on the node to which its scheduler nominated it: preemption made room there.
fn takes_its_room(pod: &Pod, view: &CycleView) -> bool {
    let nominated = &pod.status.nominated_node_name;
    !nominated.is_empty() && view.scoring.selected.as_ref().is_some_and(|(node, ..)| node == nominated)
}

/// Returns the kinds of objects that may explain shifts if the source lacks some.
pub(super) fn suspects(shifts: &[Shift]) -> BTreeSet<Kind> {
    let of_reason = |reason: &Named| match reason.aspect() {
        Aspect::Node => vec![Kind::Node],
        Aspect::Storage => {
            vec![Kind::Pod, Kind::Node, Kind::PersistentVolume, Kind::PersistentVolumeClaim, Kind::StorageClass, Kind::CSINode]
        }
        Aspect::VolumeCount => vec![Kind::Pod, Kind::CSINode, Kind::VolumeAttachment, Kind::PersistentVolume, Kind::PersistentVolumeClaim],
        Aspect::Devices => vec![Kind::Pod, Kind::ResourceClaim, Kind::ResourceSlice, Kind::DeviceClass, Kind::DeviceTaintRule],
        Aspect::Group => vec![Kind::Pod, Kind::PodGroup],
        Aspect::Affinity | Aspect::AntiAffinity | Aspect::AnyAffinity => vec![Kind::Pod, Kind::Namespace],
        Aspect::Room(_) | Aspect::Ports | Aspect::Spread | Aspect::Disks => vec![Kind::Pod],
        Aspect::Other => Vec::new(),
    };
    let of = |shift: &Shift| match shift {
        Shift::Nodes { .. } => vec![Kind::Node],
        Shift::Reason { reason, .. } => of_reason(reason),
        Shift::Fits(reasons) => reasons.iter().flat_map(of_reason).collect(),
        Shift::Preempts(_) | Shift::PreemptsElsewhere(_) | Shift::PreemptionText => vec![Kind::Pod, Kind::PodDisruptionBudget],
        Shift::Ungated | Shift::Deleting | Shift::Never => Vec::new(),
    };
    shifts.iter().flat_map(of).collect()
}

struct Explainer<'c, 'a> {
    waiter: Waiter<'c>,
    changes: &'c [&'a Change],
    view: &'c CycleView,
    /// The Filter plugins in their order, as far as the first that rejects ends them.
    filters: &'c [PluginName],
    cluster: &'c Cluster,
    /// The reasons that came to nodes, and those that went from nodes.
    came: Vec<&'c Named>,
    went: Vec<&'c Named>,
    /// Nodes that were created, and nodes that were deleted.
    new: BTreeSet<Str>,
    gone: BTreeSet<Str>,
}

impl Explainer<'_, '_> {
    /// Returns the indexes of the changes that explain a shift; `None` if it is unexplained.
    fn explains(&self, shift: &Shift) -> Option<BTreeSet<usize>> {
        match shift {
            Shift::Nodes { there, here } => {
                let (new, gone) = (self.new.len() as u64, self.gone.len() as u64);
                let explained = u64::from(*here) + gone >= u64::from(*there) && u64::from(*there) + new >= u64::from(*here);
                explained.then(|| self.node_changes())
            }
            Shift::Reason { reason, way, nodes } => self.reason(reason, *way, *nodes),
            Shift::Fits(reasons) => {
                let fits: Vec<&Str> = self.view.feasible().collect();
                let reaches: Vec<BTreeMap<usize, Reach>> = reasons.iter().map(|reason| self.reaches(reason, Way::Went)).collect();
                let on = |node: &Str| {
                    reaches.iter().flatten().filter(|(_, reach)| reach.covers(node)).map(|(at, _)| *at).collect::<BTreeSet<_>>()
                };
                let each = fits.iter().map(|node| Some(on(node)).filter(|found| !found.is_empty()));
                each.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty()).map(|all| all.into_iter().flatten().collect())
            }
            Shift::Preempts(nodes) => {
                let on = |node: &Str| self.of_preemption(node, Way::Went);
                let each = nodes.iter().map(|node| Some(on(node)).filter(|found| !found.is_empty()));
                each.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty()).map(|all| all.into_iter().flatten().collect())
            }
            Shift::PreemptsElsewhere(nodes) => {
                let budgets = self.indexes(is_of_budget);
                let ways = [Way::Came, Way::Went];
                let on = nodes.iter().flat_map(|node| ways.into_iter().flat_map(|way| self.of_preemption(node, way)));
                let found: BTreeSet<usize> = on.chain(budgets).collect();
                (!found.is_empty()).then_some(found)
            }
            Shift::PreemptionText => {
                let any = |change: &Change| {
                    is_of_budget(change)
                        || [Way::Came, Way::Went].into_iter().any(|way| self.waiter.reach_of_preemption(change, way) != Reach::None)
                };
                let found: BTreeSet<usize> = self.indexes(any).collect();
                (!found.is_empty()).then_some(found)
            }
            Shift::Ungated | Shift::Deleting => Some(BTreeSet::new()),
            Shift::Never => None,
        }
    }

    fn indexes(&self, wanted: impl Fn(&Change) -> bool) -> impl Iterator<Item = usize> {
        self.changes.iter().enumerate().filter(move |(_, change)| wanted(change)).map(|(at, _)| at)
    }

    /// Returns the changes of the number of nodes.
    fn node_changes(&self) -> BTreeSet<usize> {
        self.indexes(|change| {
            let (new, gone) = new_and_gone_nodes(&[change]);
            !new.is_disjoint(&self.new) || !gone.is_disjoint(&self.gone)
        })
        .collect()
    }

    /// Returns the changes that can give a reason to nodes, or take it from them, with the nodes.
    fn reaches(&self, reason: &Named, way: Way) -> BTreeMap<usize, Reach> {
        let reach =
            |(at, change): (usize, &&Change)| Some((at, self.waiter.reach(change, reason, way))).filter(|(_, reach)| *reach != Reach::None);
        self.changes.iter().enumerate().filter_map(reach).collect()
    }

    fn of_preemption(&self, node: &Str, way: Way) -> BTreeSet<usize> {
        self.indexes(|change| self.waiter.reach_of_preemption(change, way).covers(node)).collect()
    }

    /// Explains that a reason came to nodes, or went from them. A node has the reasons of one plugin only, so a reason also goes where
    /// one of an earlier plugin comes, and comes where one of an earlier plugin goes.
    fn reason(&self, reason: &Named, way: Way, nodes: u32) -> Option<BTreeSet<usize>> {
        let own = self.reaches(reason, way);
        let (others, other_way) = match way {
            Way::Came => (&self.went, Way::Went),
            Way::Went => (&self.came, Way::Came),
        };
        let hiding = others.iter().filter(|other| other.may_hide(reason, self.filters));
        let others: Vec<(&Named, BTreeMap<usize, Reach>)> = hiding.map(|other| (*other, self.reaches(other, other_way))).collect();
        let mut used = BTreeSet::new();
        // A node that was deleted took its reason along.
        let mut explained = if way == Way::Went { self.gone.len() } else { 0 };
        if explained > 0 {
            used.extend(self.node_changes());
        }
        for node in self.cluster.nodes.iter().map(|node| &node.metadata.name) {
            let status = self.status(node);
            let has = |reason: &Named| status.is_some_and(|status| reason.is_among(status.reasons()));
            if has(reason) != (way == Way::Came) {
                continue;
            }
            let by_others = others.iter().filter(|(other, _)| way == Way::Came || has(other)).flat_map(|(_, reaches)| reaches);
            let on: BTreeSet<usize> = own.iter().chain(by_others).filter(|(_, reach)| reach.covers(node)).map(|(at, _)| *at).collect();
            if !on.is_empty() {
                explained += 1;
                used.extend(on);
            }
        }
        (explained >= nodes as usize).then_some(used)
    }

    /// Returns the status of a node: its own, or that of all nodes that PreFilter left out.
    fn status(&self, node: &Str) -> Option<&Status> {
        let verdict = self.view.filter.verdicts.get(node).map(|verdict| &verdict.status);
        verdict.or_else(|| self.view.pre_filter.narrowed.as_ref().map(|(_, status)| status))
    }
}
