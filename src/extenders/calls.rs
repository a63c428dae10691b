//! One call from question to result: what kube-scheduler makes of an answer, and the words in which it says what is wrong
//! with one.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::answers::{self, MetaPod};
use super::asker::{AnswerBody, Asking, Questions};
use super::{Asker, Extender, wire};
use crate::cluster::{Node, Pod, Str};
use crate::framework::{Candidate, ExtenderVerb, NodeInfo, Snapshot, Victim};

/// Factor of extender scores: plugins score up to 100, extenders up to 10.
const SCORE_FACTOR: i64 = 10;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// It failed, in kube-scheduler's words.
    #[error("{0}")]
    Failed(String),
    /// kube-scheduler does not survive the answer.
    #[error("this version of kube-scheduler crashes here: nil pointer dereference, as {0} answers null in the place of {1}")]
    Crash(String, &'static str),
    /// It was not asked, and no earlier answer is known.
    #[error("unknown: {0} was not asked to {1}, and no earlier answer is known")]
    Unknown(String, ExtenderVerb),
}

/// The result of `filter`.
#[derive(Clone, Debug, Default)]
pub struct Filtered {
    /// The nodes that are left, in order.
    pub nodes: Vec<Arc<NodeInfo>>,
    /// Whether they are as the extender returned them.
    pub replaced: bool,
    /// Why nodes are turned down, by node.
    pub failed: BTreeMap<Str, String>,
    /// Why eviction does not help nodes either, by node.
    pub unresolvable: BTreeMap<Str, String>,
}

/// The victims on a node as an extender names them.
pub type Victims = BTreeMap<Str, Candidate>;

/// The extenders that are asked in one cycle.
pub struct CycleExtenders<'a> {
    list: Vec<&'a Extender>,
    questions: Questions<'a>,
    returned: Mutex<Returned>,
}

/// Nodes that extenders returned, with their JSON, by their address: the next extender gets them so.
pub(super) type Returned = HashMap<usize, (Arc<Node>, Box<str>)>;

impl<'a> CycleExtenders<'a> {
    pub(super) fn new(list: Vec<&'a Extender>, asker: &'a Asker, asking: Asking) -> Self {
        Self { list, questions: Questions::new(asker, asking), returned: Mutex::default() }
    }

    /// Returns those that are asked about a pod, in order.
    pub fn interested(&self, pod: &Pod) -> impl Iterator<Item = &'a Extender> {
        self.list.iter().copied().filter(|extender| extender.is_interested(pod))
    }

    /// Asks which nodes are left; mirrors `Filter`.
    ///
    /// # Errors
    /// Why there is no answer that can be used.
    pub fn filter(&self, extender: &Extender, pod: &Pod, nodes: &[Arc<NodeInfo>]) -> Result<Filtered, CallError> {
        let request = self.about_nodes(extender, pod, nodes);
        let body = self.send(extender, ExtenderVerb::Filter, request)?;
        let result = answers::filter_result(body.as_bytes(), nodes.len()).map_err(|error| CallError::Failed(error.to_string()))?;
        if !result.error.is_empty() {
            return Err(CallError::Failed(result.error));
        }
        let mut filtered = Filtered { failed: result.failed, unresolvable: result.unresolvable, ..Filtered::default() };
        if let Some(names) = result.node_names.filter(|_| extender.node_cache_capable) {
            let known: HashMap<&Str, &Arc<NodeInfo>> = nodes.iter().map(|node| (node.name(), node)).collect();
            for name in names {
                let node = known.get(&name).ok_or_else(|| {
                    let url = extender.name.url.as_str();
                    let text = format!("extender {url:?} claims a filtered node {name:?} which is not found in the input node list");
                    CallError::Failed(text)
                })?;
                filtered.nodes.push(Arc::clone(node));
            }
        } else if let Some(nodes) = result.nodes {
            filtered.replaced = true;
            filtered.nodes = nodes.iter().map(|(node, _)| Arc::new(NodeInfo::from_extender(node.clone()))).collect();
            let known = nodes.into_iter().map(|(node, text)| (Arc::as_ptr(&node).addr(), (node, text)));
            self.returned.lock().unwrap_or_else(PoisonError::into_inner).extend(known);
        }
        Ok(filtered)
    }

    /// Asks how good nodes are, and returns the scores as they count in totals; mirrors `Prioritize` and the part of
    /// `prioritizeNodes` about extenders. An extender without the verb gives every node nothing, unasked.
    ///
    /// # Errors
    /// Why there is no answer that can be used.
    pub fn prioritize(&self, extender: &Extender, pod: &Pod, nodes: &[Arc<NodeInfo>]) -> Result<Vec<(Str, i64)>, CallError> {
        if !extender.has(ExtenderVerb::Prioritize) {
            return Ok(nodes.iter().map(|node| (node.name().clone(), 0)).collect());
        }
        let request = self.about_nodes(extender, pod, nodes);
        let body = self.send(extender, ExtenderVerb::Prioritize, request)?;
        let scores = answers::host_priorities(body.as_bytes()).map_err(|error| CallError::Failed(error.to_string()))?;
        let counts = |score: i64| score.wrapping_mul(extender.weight).wrapping_mul(SCORE_FACTOR);
        Ok(scores.into_iter().map(|(node, score)| (node, counts(score))).collect())
    }

    /// Asks which candidates of preemption are left; mirrors `ProcessPreemption`. The candidates come in the order of the dry
    /// run.
    ///
    /// # Errors
    /// Why there is no answer that can be used.
    pub fn preempt(&self, extender: &Extender, pod: &Pod, candidates: &Victims, snapshot: &Snapshot) -> Result<Victims, CallError> {
        let request = wire::about_candidates(self.questions.asker(), pod, candidates, extender.node_cache_capable);
        let body = self.send(extender, ExtenderVerb::Preempt, request)?;
        let result = answers::preemption_result(body.as_bytes()).map_err(|error| CallError::Failed(error.to_string()))?;
        let mut left = Victims::new();
        for (name, victims) in result {
            let failed = || CallError::Failed(format!("nodeinfo not found for node name {name:?}"));
            let node = snapshot.get(&name).ok_or_else(failed)?;
            let crash = |what| CallError::Crash(extender.name.to_string(), what);
            let victims = victims.ok_or_else(|| crash("a node's victims"))?;
            let mut found = Vec::new();
            for pod in &victims.pods {
                if pod.is_none() && !node.pods.is_empty() {
                    return Err(crash("a pod"));
                }
                let offered = candidates.get(&name).map_or(&[][..], |candidate| &candidate.victims);
                found.push(victim(pod, node, offered).ok_or_else(|| {
                    let (url, uid) = (&extender.name.url, shown_pod(pod));
                    CallError::Failed(format!(
                        "extender: {url} claims to preempt pod (UID: {uid}) on node: {name}, but the pod is not found on that node"
                    ))
                })?);
            }
            left.insert(name.clone(), Candidate { node: name, victims: found, pdb_violations: victims.pdb_violations });
        }
        Ok(left)
    }

    fn about_nodes(&self, extender: &Extender, pod: &Pod, nodes: &[Arc<NodeInfo>]) -> Value {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        wire::about_nodes(self.questions.asker(), pod, nodes, extender.node_cache_capable, &returned)
    }

    /// Sends a request, and returns the body of the answer; mirrors `send`.
    fn send(&self, extender: &Extender, verb: ExtenderVerb, request: Value) -> Result<String, CallError> {
        let answer = self.questions.answer(extender, verb, request);
        let answer = answer.ok_or_else(|| CallError::Unknown(extender.name.to_string(), verb))?;
        match (answer.status, &answer.body) {
            (Some(status), _) if status != 200 => {
                let (path, url) = (extender.verb(verb), extender.shown_url(verb));
                Err(CallError::Failed(format!("failed {path} with extender at URL {url}, code {status}")))
            }
            (_, AnswerBody::Body(body)) => Ok(body.clone()),
            (_, AnswerBody::Error(text)) => Err(CallError::Failed(text.clone())),
        }
    }
}

/// Returns the pod on the node that is meant, with what is known of its budgets.
fn victim(pod: &MetaPod, node: &NodeInfo, offered: &[Victim]) -> Option<Victim> {
    let uid = pod.as_deref()?;
    let info = node.pods.iter().find(|info| info.pod.metadata.uid == uid)?;
    let known = offered.iter().find(|victim| victim.pod().metadata.uid == uid);
    Some(known.cloned().unwrap_or_else(|| Victim::new(info.clone(), None)))
}

/// A pod as Go's `%v` shows a pointer to it.
fn shown_pod(pod: &MetaPod) -> String {
    pod.as_ref().map_or_else(|| "<nil>".to_owned(), |uid| format!("&{{{uid}}}"))
}
