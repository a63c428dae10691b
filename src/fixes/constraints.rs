//! Lists the single demands of a pod, with the nodes on which each fails.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::change::{Change, PodChange, RequirementPlace, UNSCHEDULABLE_TAINT};
use super::devices::{self, Devices};
use super::requests::{amount, lower_from};
use super::{CutShort, Untried};
use crate::cluster::{
    Key, NodeSelectorTerm, Pod, PodAffinityTerm, PodResourceClaim, PodSpec, Requirement, Str, Taint, TopologySpreadConstraint, Volume,
};
use crate::framework::{
    NodeInfo, Nodes, PluginName, PluginSet, PodResourcesOptions, Reason, ReasonKind, Shortage, Snapshot, Status, host_ports, pod_requests,
};
use crate::limits::engine::{FIXES_EVALUATIONS, FIXES_STEPS_OF_FILTER, FIXES_STEPS_OF_PLUGIN, JUDGED_CLAIMS};
use crate::plugins::helper::{is_do_not_schedule_taint, tolerates};
use crate::release::Emulation;
use crate::scheduler::{FilterTable, Scheduler};

/// A demand of a pod, with its effect on the nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    pub demand: Demand,
    /// Number of nodes on which it fails.
    pub fails: usize,
    /// Number of nodes on which only this demand fails.
    pub only: usize,
    /// Number of nodes that the pod fits on without this demand.
    pub opens: usize,
    /// Number of those that it does not fit on with the demand; `None` where that was not tried.
    pub more: Option<usize>,
    /// How the pod would drop the demand.
    pub without: Without,
    /// Values that nodes have instead, or the closest node.
    pub closest: Closest,
}

/// How a pod would drop a demand.
#[derive(Clone, Debug, PartialEq)]
pub enum Without {
    /// It cannot.
    Impossible,
    /// It was not tried: the search ended before, or tried enough others.
    Untried,
    /// By these changes.
    Changes(Vec<Change>),
}

impl Without {
    /// Returns the changes that drop the demand; `None` where there are none, or they were not tried.
    pub fn changes(&self) -> Option<&[Change]> {
        match self {
            Self::Impossible | Self::Untried => None,
            Self::Changes(changes) => Some(changes),
        }
    }
}

/// Obstacle to a demand.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Closest {
    /// Not known.
    #[default]
    Unknown,
    /// Values of a label on the nodes, the most frequent first.
    Values {
        /// Values with their numbers of nodes.
        values: Vec<(Str, usize)>,
        /// Number of further values.
        more: usize,
    },
    /// Node with the smallest shortage of a resource.
    Missing {
        /// Name of the node.
        node: Str,
        /// Its capacity and usage, with the pod's request.
        shortage: Shortage,
    },
    /// A pod in the way.
    Pod {
        /// Key of the pod in the way.
        pod: Key,
        /// Name of the node that it blocks.
        node: Str,
    },
    /// Devices that a request of a claim selects.
    Devices(Devices),
    /// The plugin's first reason on the first such node.
    Reason(Reason),
}

/// A single demand of a pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// A key of `nodeSelector`.
    Selector {
        /// The label key.
        key: Str,
        value: Str,
    },
    /// A requirement in the only term of the required node affinity.
    Requirement(Requirement),
    /// The required node affinity, with its number of alternative terms.
    NodeAffinity(usize),
    /// A taint without a toleration.
    Taint(Taint),
    /// A cordon without a toleration.
    Cordon,
    /// A required term of pod affinity or anti-affinity.
    PodTerm {
        /// Whether the term is of anti-affinity.
        anti: bool,
        /// Topology key of the term.
        topology_key: Str,
    },
    /// The anti-affinity of running pods.
    ExistingAntiAffinity,
    /// A topology spread constraint with `DoNotSchedule`.
    Spread {
        /// Topology key of the constraint.
        topology_key: Str,
        /// Its `maxSkew`.
        max_skew: i32,
    },
    HostPort {
        /// Number of the port.
        port: i32,
        /// Protocol of the port.
        protocol: Str,
    },
    /// A request of a resource.
    Resource {
        /// Name of the resource.
        resource: Str,
        /// Requested amount, in thousandths for cpu, else in units.
        amount: i64,
    },
    /// A slot among the pods that the node allows.
    PodSlot,
    Volume {
        /// Name of the volume in the pod.
        name: Str,
        /// Name of its PersistentVolumeClaim.
        claim: Option<Str>,
    },
    /// A resource claim, by its name in the pod.
    Claim(Str),
    /// Any other rejection by a plugin.
    Other {
        /// The plugin that rejects.
        plugin: PluginName,
        /// Its first reason on the first such node.
        reason: Option<Reason>,
    },
}

/// A set of nodes, as bits by position in the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeBits(Vec<u64>);

impl NodeBits {
    /// Returns an empty set with room for `nodes` nodes.
    pub fn none(nodes: usize) -> Self {
        Self(vec![0; nodes.div_ceil(64)])
    }

    /// Returns the positions below `nodes` that `picks` accepts.
    pub fn of(nodes: usize, picks: impl Fn(usize) -> bool) -> Self {
        let mut bits = Self::none(nodes);
        (0..nodes).filter(|at| picks(*at)).for_each(|at| bits.insert(at));
        bits
    }

    /// Adds the node at a position.
    pub fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Returns whether the node at a position is in the set.
    pub fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Returns the number of nodes in the set.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the positions in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate();
        words.flat_map(|(i, word)| {
            // Each step clears the lowest bit.
            let rest = std::iter::successors(Some(*word), |rest| Some(rest & rest.wrapping_sub(1)));
            rest.take_while(|rest| *rest != 0).map(move |rest| i * 64 + rest.trailing_zeros() as usize)
        })
    }

    fn zip(&mut self, other: &Self, f: impl Fn(u64, u64) -> u64) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a = f(*a, *b));
    }
}

/// A demand with the nodes on which it fails.
#[derive(Clone, Debug)]
pub struct Row {
    pub demand: Demand,
    /// Nodes on which it fails.
    pub fails: NodeBits,
    pub drop: Option<PodChange>,
    /// Values that nodes have instead, or the closest node.
    pub closest: Closest,
}

/// The nodes that lack a resource.
struct ResourceShortages<'a> {
    nodes: NodeBits,
    /// The first of those that lack least, by position, with what it is compared by.
    closest: ((bool, i64), usize, &'a Shortage),
}

/// All demands of a pod, over all nodes.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Demands, grouped by plugin.
    pub rows: Vec<Row>,
    /// Nodes on which exactly one demand fails.
    pub one: NodeBits,
    /// Nodes on which exactly two demands fail.
    pub two: NodeBits,
    /// Whether the profile has combined filters of old releases, which do not separate their demands.
    pub combined: bool,
    /// Steps that searches of plugins took.
    pub steps: u64,
    /// Kinds of demands that were not all tried on their own. The rest of a kind is one row for each plugin that rejects it.
    pub untried: Vec<CutShort>,
}

impl Matrix {
    /// Returns the demands that fail on a node, as indices into [`Self::rows`].
    pub fn failing(&self, node: usize) -> impl Iterator<Item = usize> {
        self.rows.iter().enumerate().filter(move |(_, row)| row.fails.contains(node)).map(|(i, _)| i)
    }

    /// Returns the nodes on which only this demand fails.
    pub fn only(&self, row: usize) -> NodeBits {
        let mut bits = self.rows[row].fails.clone();
        bits.zip(&self.one, |a, b| a & b);
        bits
    }

    /// Runs all filters on all nodes for the pod, and a plugin with several demands once more per demand, until it took this number of
    /// steps of a search for fixes. Returns `None` where the scheduler has no profile for the pod.
    pub fn of(scheduler: &Scheduler, pod: &Arc<Pod>, most: u64) -> Option<Self> {
        let snapshot = scheduler.state().snapshot();
        let emulation = scheduler.state().config().emulation;
        let table = scheduler.filter_table(pod, None)?;
        let (rows, untried, steps) = (Vec::new(), Vec::new(), table.steps.into());
        let mut builder = Builder { scheduler, pod, snapshot: &snapshot, emulation, table: &table, rows, untried, steps, most };
        builder.node_affinity();
        builder.taints();
        builder.pod_affinity();
        builder.spread();
        builder.ports();
        builder.resources();
        builder.volumes();
        builder.claims();
        builder.rest();
        let (mut rows, untried, steps) = (builder.rows, builder.untried, builder.steps.get());
        let combined = COMBINED.iter().any(|plugin| table.asked.contains(*plugin));
        if combined {
            // One filter may have rejected the node for any of its demands: a demand without a rejection of its own is unknown.
            rows.retain(|row| row.fails.count() > 0);
        }
        let nodes = snapshot.len();
        let (mut one, mut two, mut more) = (NodeBits::none(nodes), NodeBits::none(nodes), NodeBits::none(nodes));
        for row in &rows {
            // Count up to three demands per node, for 64 nodes at a time.
            let mut carry = row.fails.clone();
            more.zip(&both(&two, &carry), |a, b| a | b);
            carry.zip(&one, |a, b| a & b);
            one.zip(&row.fails, |a, b| a | b);
            two.zip(&carry, |a, b| a | b);
        }
        // `one` holds the nodes with at least one failing demand here, `two` those with at least two.
        let at_least_two = two.clone();
        one.zip(&at_least_two, |a, b| a & !b);
        two.zip(&more, |a, b| a & !b);
        Some(Self { rows, one, two, combined, steps, untried })
    }
}

fn both(one: &NodeBits, other: &NodeBits) -> NodeBits {
    let mut bits = one.clone();
    bits.zip(other, |a, b| a & b);
    bits
}

struct Builder<'a> {
    scheduler: &'a Scheduler,
    pod: &'a Arc<Pod>,
    snapshot: &'a Snapshot,
    emulation: Emulation,
    table: &'a FilterTable,
    rows: Vec<Row>,
    untried: Vec<CutShort>,
    /// Steps that searches of plugins took so far.
    steps: Cell<u64>,
    /// The steps of a search for fixes after which no further demand is tried on its own.
    most: u64,
}

/// The demands of a kind, which are tried on their own.
struct DemandKind<'k, T> {
    what: Untried,
    /// The plugins that weigh them.
    plugins: &'k [PluginName],
    demands: &'k [T],
    /// The number of demands after which no further one is tried on its own.
    limit: usize,
    /// Returns the pod with these demands of the kind alone.
    with: &'k dyn Fn(&[T]) -> Pod,
    /// Whether a rejection is one of these demands.
    test: &'k dyn Fn(&Status) -> bool,
}

/// Returns the pod with a changed spec.
fn changed(pod: &Pod, change: impl FnOnce(&mut PodSpec)) -> Pod {
    let mut pod = pod.clone();
    change(pod.spec_mut());
    pod
}

/// Maximum number of named values of a label.
const VALUES_NAMED: usize = 8;

impl<'a> Builder<'a> {
    fn nodes(&self) -> &Nodes {
        self.snapshot.nodes()
    }

    fn asked(&self, plugin: PluginName) -> bool {
        self.table.asked.contains(plugin)
    }

    fn push(&mut self, demand: Demand, fails: NodeBits, drop: Option<PodChange>, closest: Closest) {
        self.rows.push(Row { demand, fails, drop, closest });
    }

    /// Returns the nodes that one of these plugins rejects with a status that passes the test.
    fn rejected(table: &FilterTable, plugins: &[PluginName], test: impl Fn(&Status) -> bool) -> NodeBits {
        let fails = |at: usize| table.nodes[at].iter().any(|(by, status)| plugins.contains(by) && test(status));
        NodeBits::of(table.nodes.len(), fails)
    }

    /// Runs some plugins for a changed pod.
    fn table_of(&self, plugins: &[PluginName], pod: Pod) -> FilterTable {
        let only: PluginSet = plugins.iter().copied().collect();
        let table = self.scheduler.filter_table(&Arc::new(pod), Some(only)).unwrap_or_default();
        let of_filters = FIXES_STEPS_OF_FILTER * self.snapshot.len() as u64;
        self.steps.set(self.steps.get().saturating_add(table.steps).saturating_add(of_filters));
        table
    }

    /// Whether no further demand is tried on its own: the search for fixes says that it took too many steps.
    fn is_over(&self) -> bool {
        self.steps.get() > self.most / FIXES_STEPS_OF_PLUGIN
    }

    /// Adds a row for each demand of a kind that some plugins weigh, tried without the others of the kind, as long as steps are left
    /// and up to a number of demands. Those that are left are tried together: they are a row for each plugin that rejects them.
    fn one_by_one<T>(&mut self, kind: &DemandKind<'_, T>, row: impl Fn(&Self, &T, &FilterTable) -> (Demand, PodChange, Closest)) {
        let DemandKind { what, plugins, demands, limit, with, test } = kind;
        for (at, demand) in demands.iter().enumerate() {
            let left = &demands[at..];
            // The last one alone takes no longer than all that are left.
            if at < *limit && (!self.is_over() || left.len() == 1) {
                let table = self.table_of(plugins, with(std::slice::from_ref(demand)));
                let bits = Self::rejected(&table, plugins, test);
                let (demand, drop, closest) = row(self, demand, &table);
                self.push(demand, bits, Some(drop), closest);
                continue;
            }
            self.untried.push(CutShort::Untried { what: what.clone(), tried: at, of: demands.len() });
            let pod = with(left);
            let of_left = (pod.spec != self.pod.spec).then(|| self.table_of(plugins, pod));
            let table = of_left.as_ref().unwrap_or(self.table);
            let rows = plugins.iter().filter_map(|plugin| {
                let bits = Self::rejected(table, &[*plugin], test);
                let of_first = table.nodes[bits.iter().next()?].iter().find(|(by, status)| by == plugin && test(status));
                let reason = of_first.and_then(|(_, status)| status.reasons().first().cloned());
                Some(Row { demand: Demand::Other { plugin: *plugin, reason }, fails: bits, drop: None, closest: Closest::Unknown })
            });
            self.rows.extend(rows);
            return;
        }
    }

    /// Returns the values of a label on the nodes, the most frequent first.
    fn values(&self, key: &str) -> Closest {
        let mut counts: BTreeMap<&Str, usize> = BTreeMap::new();
        for node in self.nodes() {
            if let Some(value) = node.node.metadata.labels.get(key) {
                *counts.entry(value).or_default() += 1;
            }
        }
        let mut values: Vec<(Str, usize)> = counts.into_iter().map(|(value, count)| (value.clone(), count)).collect();
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let more = values.len().saturating_sub(VALUES_NAMED);
        values.truncate(VALUES_NAMED);
        Closest::Values { values, more }
    }

    fn node_affinity(&mut self) {
        let plugin = PluginName::NodeAffinity;
        let spec = self.pod.spec.clone();
        let asked = self.asked(plugin);
        let fails = |builder: &Self, test: &dyn Fn(&NodeInfo) -> bool| {
            NodeBits::of(builder.snapshot.len(), |at| asked && test(&builder.nodes()[at]))
        };
        for (key, value) in spec.node_selector.iter().flat_map(crate::cluster::Map::iter) {
            let bits = fails(self, &|node| node.node.metadata.labels.get(key) != Some(value));
            let drop = PodChange::DropSelector { key: key.clone(), value: value.clone() };
            let closest = self.values(key);
            self.push(Demand::Selector { key: key.clone(), value: value.clone() }, bits, Some(drop), closest);
        }
        let is_added = |r: &&Reason| r.kind() == ReasonKind::AddedAffinityMismatch;
        let added = |status: &Status| status.reasons().iter().any(|r| is_added(&r));
        let bits = Self::rejected(self.table, &[plugin], added);
        let first = bits.iter().next();
        if let Some(at) = first {
            let reason = self.table.nodes[at].iter().flat_map(|(_, status)| status.reasons()).find(is_added).cloned();
            self.push(Demand::Other { plugin, reason }, bits, None, Closest::Unknown);
        }
        let required = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref()).and_then(|a| a.required.as_ref());
        let Some(required) = required else { return };
        let matches = |term: &NodeSelectorTerm, node: &NodeInfo| term.matches(&node.node.metadata.labels, Some(node.name()));
        if let [term] = &required.node_selector_terms[..]
            && !term.is_empty()
            && term.is_valid()
        {
            let parts = [(false, &term.match_expressions), (true, &term.match_fields)];
            for (field, index, one) in parts.into_iter().flat_map(|(f, list)| list.iter().enumerate().map(move |(i, r)| (f, i, r))) {
                let mut alone = NodeSelectorTerm::default();
                (if field { &mut alone.match_fields } else { &mut alone.match_expressions }).push(one.clone());
                let bits = fails(self, &|node| !matches(&alone, node));
                let place = RequirementPlace { term: 0, field, index, terms: 1 };
                let drop = PodChange::DropRequirement { place, requirement: one.clone() };
                let closest = if field { Closest::Unknown } else { self.values(&one.key) };
                self.push(Demand::Requirement(one.clone()), bits, Some(drop), closest);
            }
            return;
        }
        let bits = fails(self, &|node| !required.matches(&node.node.metadata.labels, Some(node.name())));
        let terms = required.node_selector_terms.len();
        self.push(Demand::NodeAffinity(terms), bits, Some(PodChange::DropNodeAffinity), Closest::Unknown);
    }

    /// Adds a row per taint without a toleration. A cordon and its taint are one demand.
    fn taints(&mut self) {
        let (tolerations, emulation) = (&self.pod.spec.tolerations, self.emulation);
        let cordon = Taint { key: UNSCHEDULABLE_TAINT.into(), effect: "NoSchedule".into(), ..Taint::default() };
        let by_taints = self.asked(PluginName::TaintToleration);
        let mut cordoned = Self::rejected(self.table, &[PluginName::NodeUnschedulable], |_| true);
        let mut found: BTreeMap<(Str, Str, Str), NodeBits> = BTreeMap::new();
        for (at, node) in self.nodes().iter().enumerate().filter(|_| by_taints) {
            for taint in node.taints().iter().filter(|t| is_do_not_schedule_taint(t) && !tolerates(tolerations, t, emulation)) {
                if *taint == cordon {
                    cordoned.insert(at);
                    continue;
                }
                let key = (taint.key.clone(), taint.value.clone(), taint.effect.clone());
                found.entry(key).or_insert_with(|| NodeBits::none(self.snapshot.len())).insert(at);
            }
        }
        for ((key, value, effect), bits) in found {
            let taint = Taint { key, value, effect };
            let drop = (!taint.key.is_empty()).then(|| PodChange::Tolerate(taint.clone()));
            self.push(Demand::Taint(taint), bits, drop, Closest::Unknown);
        }
        if cordoned.count() > 0 {
            self.push(Demand::Cordon, cordoned, Some(PodChange::Tolerate(cordon)), Closest::Unknown);
        }
    }

    fn pod_affinity(&mut self) {
        let plugins = [PluginName::InterPodAffinity];
        let pod = self.pod.clone();
        let affinity = pod.spec.affinity.clone().unwrap_or_default();
        let without_terms = changed(&pod, |spec| {
            if let Some(affinity) = &mut spec.affinity {
                for list in [&mut affinity.pod_affinity, &mut affinity.pod_anti_affinity].into_iter().flatten() {
                    list.required.0.clear();
                }
            }
        });
        let kinds = [(false, &affinity.pod_affinity, Untried::PodAffinity), (true, &affinity.pod_anti_affinity, Untried::PodAntiAffinity)];
        for (anti, own, what) in kinds {
            let with = |terms: &[(usize, &PodAffinityTerm)]| {
                changed(&without_terms, |spec| {
                    let affinity = spec.affinity.get_or_insert_default();
                    let list = if anti { &mut affinity.pod_anti_affinity } else { &mut affinity.pod_affinity };
                    list.get_or_insert_default().required.0.extend(terms.iter().map(|(_, term)| (*term).clone()));
                })
            };
            let demands: Vec<_> = own.iter().flat_map(|list| list.required.0.iter()).enumerate().collect();
            let test = |status: &Status| !is_existing_anti_affinity(status);
            let kind = DemandKind { what, plugins: &plugins, demands: &demands, limit: usize::MAX, with: &with, test: &test };
            self.one_by_one(&kind, |_, (index, term), table| {
                let closest = if anti { Self::pod_in_the_way(table, &plugins) } else { Closest::Unknown };
                let topology_key = term.topology_key.clone();
                let drop = PodChange::DropPodTerm { anti, index: *index, topology_key: topology_key.clone() };
                (Demand::PodTerm { anti, topology_key }, drop, closest)
            });
        }
        let table = self.table_of(&plugins, without_terms);
        let bits = Self::rejected(&table, &plugins, is_existing_anti_affinity);
        if bits.count() > 0 {
            let closest = Self::pod_in_the_way(&table, &plugins);
            self.push(Demand::ExistingAntiAffinity, bits, None, closest);
        }
    }

    /// Returns the first pod that a reason names.
    fn pod_in_the_way(table: &FilterTable, plugins: &[PluginName]) -> Closest {
        let found = table.nodes.iter().zip(&table.names).find_map(|(rejections, node)| {
            let mut reasons = rejections.iter().filter(|(by, _)| plugins.contains(by)).flat_map(|(_, status)| status.reasons());
            reasons.find_map(pod_in_reason).map(|pod| Closest::Pod { pod, node: node.clone() })
        });
        found.unwrap_or_default()
    }

    /// Returns the first reason for which some plugins reject a node.
    fn first_reason(table: &FilterTable, plugins: &[PluginName]) -> Option<Reason> {
        let mut rejections = table.nodes.iter().flatten().filter(|(by, _)| plugins.contains(by));
        rejections.find_map(|(_, status)| status.reasons().first().cloned())
    }

    fn spread(&mut self) {
        let pod = self.pod.clone();
        let without = changed(&pod, |spec| spec.topology_spread_constraints.0.clear());
        let with = |constraints: &[(usize, &TopologySpreadConstraint)]| {
            let those = constraints.iter().map(|(_, constraint)| (*constraint).clone());
            changed(&without, |spec| spec.topology_spread_constraints.0.extend(those))
        };
        let all = pod.spec.topology_spread_constraints.iter().enumerate();
        let demands: Vec<_> = all.filter(|(_, constraint)| constraint.when_unsatisfiable != "ScheduleAnyway").collect();
        let (what, plugins) = (Untried::SpreadConstraints, &[PluginName::PodTopologySpread]);
        let kind = DemandKind { what, plugins, demands: &demands, limit: usize::MAX, with: &with, test: &|_| true };
        self.one_by_one(&kind, |_, (index, constraint), _| {
            let topology_key = constraint.topology_key.clone();
            let demand = Demand::Spread { topology_key: topology_key.clone(), max_skew: constraint.max_skew };
            (demand, PodChange::DropSpread { index: *index, topology_key }, Closest::Unknown)
        });
    }

    fn ports(&mut self) {
        let protocol_of = |protocol: &Str| if protocol.is_empty() { Str::from("TCP") } else { protocol.clone() };
        let mut seen = HashSet::new();
        let ports = host_ports(self.pod, self.emulation).map(|port| (port.host_port.unwrap_or(0), protocol_of(&port.protocol)));
        let demands: Vec<(i32, Str)> = ports.filter(|port| seen.insert(port.clone())).collect();
        let pod = self.pod.clone();
        let with = |ports: &[(i32, Str)]| {
            let ports: HashSet<&(i32, Str)> = ports.iter().collect();
            changed(&pod, |spec| {
                for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut()) {
                    container.ports.retain(|port| ports.contains(&(port.host_port.unwrap_or(0), protocol_of(&port.protocol))));
                }
            })
        };
        let (what, plugins) = (Untried::HostPorts, &[PluginName::NodePorts]);
        let kind = DemandKind { what, plugins, demands: &demands, limit: usize::MAX, with: &with, test: &|_| true };
        self.one_by_one(&kind, |_, (port, protocol), table| {
            let drop = PodChange::DropHostPorts(Some((*port, protocol.clone())));
            let closest = Self::pod_in_the_way(table, plugins);
            (Demand::HostPort { port: *port, protocol: protocol.clone() }, drop, closest)
        });
    }

    /// Returns the nodes that lack each resource, in one pass over all reasons: a pod may ask for thousands.
    fn shortages(&self) -> HashMap<&'a Str, ResourceShortages<'a>> {
        let table = self.table;
        let is_fit = |by: PluginName| by == PluginName::NodeResourcesFit;
        let mut found: HashMap<&Str, ResourceShortages<'_>> = HashMap::new();
        for (at, rejections) in table.nodes.iter().enumerate() {
            // A node that another demand excludes too is not close.
            let is_out = rejections.iter().any(|(by, _)| !is_fit(*by));
            let reasons = rejections.iter().filter(|(by, _)| is_fit(*by)).flat_map(|(_, status)| status.reasons());
            for shortage in reasons.filter_map(|reason| if let Reason::Insufficient(shortage) = reason { Some(shortage) } else { None }) {
                let key = (is_out, shortage.requested.saturating_sub(shortage.free()));
                let begin = || ResourceShortages { nodes: NodeBits::none(table.nodes.len()), closest: (key, at, shortage) };
                let of_resource = found.entry(&shortage.resource).or_insert_with(begin);
                of_resource.nodes.insert(at);
                if key < of_resource.closest.0 {
                    of_resource.closest = (key, at, shortage);
                }
            }
        }
        found
    }

    fn resources(&mut self) {
        let plugin = [PluginName::NodeResourcesFit];
        let requests = pod_requests(self.pod, PodResourcesOptions::default());
        let mut shortages = self.shortages();
        for (resource, quantity) in requests.iter() {
            let (bits, closest) = match shortages.remove(resource) {
                Some(ResourceShortages { nodes, closest: (_, at, shortage) }) => {
                    (nodes, Closest::Missing { node: self.table.names[at].clone(), shortage: shortage.clone() })
                }
                None => (NodeBits::none(self.snapshot.len()), Closest::Unknown),
            };
            let amount = amount(resource, *quantity);
            let drop = lower_from(self.pod, resource, amount, requested_beyond(self.pod, resource)).map(PodChange::Lower);
            self.push(Demand::Resource { resource: resource.clone(), amount }, bits, drop, closest);
        }
        let full = Self::rejected(self.table, &plugin, |status| status.reasons().iter().any(|r| r.kind() == ReasonKind::TooManyPods));
        if full.count() > 0 {
            self.push(Demand::PodSlot, full, None, Closest::Unknown);
        }
    }

    fn volumes(&mut self) {
        let pod = self.pod.clone();
        let demands: Vec<&Volume> = pod.spec.volumes.iter().collect();
        let with = |volumes: &[&Volume]| {
            let names: HashSet<&Str> = volumes.iter().map(|volume| &volume.name).collect();
            changed(&pod, |spec| spec.volumes.retain(|volume| names.contains(&volume.name)))
        };
        let (what, plugins) = (Untried::Volumes, &VOLUME_PLUGINS);
        let kind = DemandKind { what, plugins, demands: &demands, limit: usize::MAX, with: &with, test: &|_| true };
        self.one_by_one(&kind, |_, volume, table| {
            let claim = volume.persistent_volume_claim.as_ref().map(|c| c.claim_name.clone());
            let closest = match Self::pod_in_the_way(table, plugins) {
                Closest::Unknown => Self::first_reason(table, plugins).map_or(Closest::Unknown, Closest::Reason),
                closest => closest,
            };
            (Demand::Volume { name: volume.name.clone(), claim }, PodChange::DropVolume(volume.name.clone()), closest)
        });
    }

    fn claims(&mut self) {
        let pod = self.pod.clone();
        let demands: Vec<&PodResourceClaim> = pod.spec.resource_claims.iter().collect();
        let with = |claims: &[&PodResourceClaim]| {
            let names: HashSet<&Str> = claims.iter().map(|claim| &claim.name).collect();
            changed(&pod, |spec| spec.resource_claims.retain(|claim| names.contains(&claim.name)))
        };
        let (what, plugins) = (Untried::Claims, &[PluginName::DynamicResources]);
        let (cluster, emulation) = (self.scheduler.state().cluster(), self.emulation);
        let inventory = OnceCell::new();
        let kind = DemandKind { what, plugins, demands: &demands, limit: JUDGED_CLAIMS, with: &with, test: &|_| true };
        self.one_by_one(&kind, |builder, claim, table| {
            let closest = match Self::first_reason(table, plugins) {
                Some(Reason::CannotAllocateClaims) => {
                    let inventory = inventory.get_or_init(|| devices::Inventory::of(cluster, emulation, FIXES_EVALUATIONS));
                    devices::scarcest(cluster, inventory, builder.pod, claim).map_or(Closest::Unknown, Closest::Devices)
                }
                reason => reason.map_or(Closest::Unknown, Closest::Reason),
            };
            (Demand::Claim(claim.name.clone()), PodChange::DropClaim(claim.name.clone()), closest)
        });
    }

    /// Adds rows for rejections that no row of their plugin covers.
    fn rest(&mut self) {
        let mut rest: BTreeMap<(PluginName, Option<ReasonKind>), (Option<Reason>, NodeBits)> = BTreeMap::new();
        for (at, rejections) in self.table.nodes.iter().enumerate() {
            for (plugin, status) in rejections {
                if self.rows.iter().any(|row| row.demand.is_weighed_by(*plugin) && row.fails.contains(at)) {
                    continue;
                }
                let reason = status.reasons().first();
                let entry = rest.entry((*plugin, reason.map(Reason::kind)));
                entry.or_insert_with(|| (reason.cloned(), NodeBits::none(self.snapshot.len()))).1.insert(at);
            }
        }
        for ((plugin, _), (reason, bits)) in rest {
            self.push(Demand::Other { plugin, reason }, bits, None, Closest::Unknown);
        }
    }
}

/// Combined filters of old releases.
const COMBINED: [PluginName; 3] = [PluginName::GeneralPredicates, PluginName::MatchNodeSelector, PluginName::MatchInterPodAffinity];

/// Plugins that filter by volumes.
pub(super) const VOLUME_PLUGINS: [PluginName; 8] = [
    PluginName::VolumeBinding,
    PluginName::VolumeRestrictions,
    PluginName::VolumeZone,
    PluginName::NodeVolumeLimits,
    PluginName::AzureDiskLimits,
    PluginName::CinderLimits,
    PluginName::EBSLimits,
    PluginName::GCEPDLimits,
];

impl Demand {
    /// Returns whether a plugin rejects pods for this kind of demand.
    fn is_weighed_by(&self, plugin: PluginName) -> bool {
        match self {
            Self::Selector { .. } | Self::Requirement(_) | Self::NodeAffinity(_) => plugin == PluginName::NodeAffinity,
            Self::Taint(_) => plugin == PluginName::TaintToleration,
            Self::Cordon => matches!(plugin, PluginName::TaintToleration | PluginName::NodeUnschedulable),
            Self::PodTerm { .. } | Self::ExistingAntiAffinity => plugin == PluginName::InterPodAffinity,
            Self::Spread { .. } => plugin == PluginName::PodTopologySpread,
            Self::HostPort { .. } => plugin == PluginName::NodePorts,
            Self::Resource { .. } | Self::PodSlot => plugin == PluginName::NodeResourcesFit,
            Self::Volume { .. } => VOLUME_PLUGINS.contains(&plugin),
            Self::Claim(_) => plugin == PluginName::DynamicResources,
            Self::Other { plugin: own, .. } => plugin == *own,
        }
    }

    /// Returns the field of the pod's spec behind the demand; `None` where the spec has none.
    pub fn field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Selector { .. } => "nodeSelector",
            Self::Requirement(_) | Self::NodeAffinity(_) => "affinity.nodeAffinity",
            Self::Taint(_) | Self::Cordon => "tolerations",
            Self::PodTerm { anti: false, .. } => "affinity.podAffinity",
            Self::PodTerm { anti: true, .. } => "affinity.podAntiAffinity",
            Self::Spread { .. } => "topologySpreadConstraints",
            Self::HostPort { .. } => "ports",
            Self::Resource { .. } => "resources",
            Self::Volume { .. } => "volumes",
            Self::Claim(_) => "resourceClaims",
            Self::ExistingAntiAffinity | Self::PodSlot | Self::Other { .. } => return None,
        })
    }
}

fn is_existing_anti_affinity(status: &Status) -> bool {
    status.reasons().iter().any(|r| r.kind() == ReasonKind::ExistingPodAntiAffinity)
}

fn pod_in_reason(reason: &Reason) -> Option<Key> {
    match reason {
        Reason::HostPortConflict(conflict) => conflict.with.clone(),
        Reason::PodAntiAffinity(conflict) | Reason::ExistingPodAntiAffinity(conflict) => conflict.with.clone(),
        Reason::DiskConflict(disk) => Some(disk.with.clone()),
        _ => None,
    }
}

/// Returns the least amount of a resource that a pod can request: the overhead of its RuntimeClass.
pub(super) fn requested_beyond(pod: &Pod, resource: &str) -> i64 {
    let overhead = pod.spec.overhead.get(resource).copied().unwrap_or_default();
    if resource == "cpu" { overhead.milli_value() } else { overhead.value() }
}
