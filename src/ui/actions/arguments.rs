//! Completions of arguments that several commands take.

use std::collections::BTreeSet;

use strum::IntoEnumIterator;

use crate::cluster::{Key, Kind, Pod, Str};
use crate::release::{Gate, Profile};
use crate::session::{Names, Row};
use crate::trace::Event;
use crate::ui::model::fuzzy::Fuzzy;
use crate::ui::model::overlay::Completion;
use crate::ui::model::session_handle::SessionHandle;

/// Limit on the names offered.
const OFFERED: usize = 12;
/// Limit on the pods considered.
const CONSIDERED: usize = 1000;
/// Limit on the pods that are read for their names or owners.
const SCANNED: usize = 20_000;

/// Returns completions of the last argument of a what-if.
pub fn of_what_if(row: &Row, session: &dyn SessionHandle, args: &str) -> Vec<Completion> {
    if row.names == [Names::KindAndName] {
        return kind_and_name(session, args);
    }
    let typed = last(args);
    match row.names_at(args.matches(' ').count()) {
        Names::Free | Names::KindAndName => Vec::new(),
        Names::Word(word) => words([word], typed),
        Names::Node => nodes(session, typed),
        Names::NodeOrLabel => node_labels_and_nodes(session, typed),
        Names::Pod => pods(session, typed),
        Names::PodOnNode => pods_on_nodes(session, typed),
        Names::Budget => budgets(session, typed),
        Names::Workload => owners(session, typed),
        Names::PriorityClass => priority_classes(session, typed),
        Names::Plugin => plugins(session, typed),
        Names::Gate => words(Gate::iter().flat_map(|gate| [format!("{gate}=true"), format!("{gate}=false")]), typed),
        Names::Release => {
            let mut minors: Vec<String> = Profile::all().iter().rev().map(|profile| profile.release.minor()).collect();
            minors.dedup();
            words(minors, typed)
        }
    }
}

/// Returns a completion without arguments and without help.
pub fn plain(word: impl Into<String>) -> Completion {
    Completion { word: word.into(), takes: "", help: "" }
}

/// Returns the words that begin with the typed text, in their order; none if it is the only one.
pub fn words<W: Into<String>>(all: impl IntoIterator<Item = W>, typed: &str) -> Vec<Completion> {
    let found: Vec<String> = all.into_iter().map(Into::into).filter(|w: &String| w.starts_with(typed)).take(OFFERED.max(20)).collect();
    if found == [typed] { Vec::new() } else { found.into_iter().map(plain).collect() }
}

/// Returns the names that contain the typed text, those that begin with it first, or else those that have its letters in order;
/// none if it is the only one.
pub fn named(mut all: Vec<String>, typed: &str) -> Vec<Completion> {
    all.sort();
    all.dedup();
    let own = |name: &String| name.rsplit('/').next().is_some_and(|own| own.starts_with(typed));
    let rank = |name: &String| if name.starts_with(typed) { 0 } else { 1 + u8::from(!own(name)) };
    keep_matches(&mut all, typed, |name| name.as_str().into());
    if let [only] = all.as_slice()
        && only == typed
    {
        return Vec::new();
    }
    all.sort_by_key(rank);
    all.into_iter().take(OFFERED).map(plain).collect()
}

/// Keeps the items whose text contains the typed one, without regard to case, or else those that have its letters in order.
pub fn keep_matches<T>(all: &mut Vec<T>, typed: &str, text: impl Fn(&T) -> std::borrow::Cow<'_, str>) {
    let lower = typed.to_lowercase();
    let contains = |item: &T| text(item).to_lowercase().contains(&lower);
    if all.iter().any(contains) {
        all.retain(contains);
    } else {
        let mut fuzzy = Fuzzy::new(typed);
        all.retain(|item| fuzzy.keeps(&text(item)));
    }
}

/// Returns pods that are in a queue, or that a recorded cycle was about.
pub fn pods(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    named(waiting(session), typed)
}

fn waiting(session: &dyn SessionHandle) -> Vec<String> {
    let timeline = session.timeline();
    let tried = timeline.revisions().iter().flat_map(|f| f.events.others()).filter_map(|e| match e {
        Event::CycleStarted(start) => Some(&start.pod),
        _ => None,
    });
    timeline.queues().entries.keys().chain(tried).take(CONSIDERED).map(Key::to_string).collect()
}

/// Returns pods: of all those that contain the typed text, or else of those that [`pods`] returns.
pub fn all_pods(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let mut found = waiting(session);
    if !typed.is_empty() {
        let (namespace, name) = typed.rsplit_once('/').unwrap_or(("", typed));
        let is_like = |pod: &Pod| {
            if namespace.is_empty() {
                pod.metadata.name.contains(name)
            } else {
                pod.metadata.namespace.ends_with(namespace) && pod.metadata.name.starts_with(name)
            }
        };
        let all = session.timeline().keyframe().cluster.pods.iter();
        // Those that begin as typed are not crowded out by those that contain it.
        let (mut begin, mut contain) = (Vec::new(), Vec::new());
        for pod in all.filter(|pod| is_like(pod)) {
            let list = if pod.metadata.name.starts_with(name) { &mut begin } else { &mut contain };
            if list.len() < CONSIDERED {
                list.push(pod.key().to_string());
            }
        }
        found.extend(begin.into_iter().chain(contain));
    }
    named(found, typed)
}

/// Returns nodes of the cluster at the cursor.
pub fn nodes(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    named(session.timeline().keyframe().snapshot.nodes().iter().map(|n| n.name()).map(Str::to_string).collect(), typed)
}

/// Returns the last word of the arguments.
pub fn last(args: &str) -> &str {
    args.rsplit(' ').next().unwrap_or(args)
}

/// Returns the labels that several nodes may share, short, then nodes: `zone=a`, `worker-a1`.
pub fn node_labels_and_nodes(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let snapshot = &session.timeline().keyframe().snapshot;
    let nodes = snapshot.nodes().iter().take(CONSIDERED);
    let labels = nodes.flat_map(|info| info.node.metadata.labels.iter()).filter(|(key, _)| key.as_str() != "kubernetes.io/hostname");
    let mut pairs: Vec<String> = labels.map(|(key, value)| format!("{}={value}", key.rsplit('/').next().unwrap_or(key))).collect();
    pairs.sort();
    pairs.dedup();
    let mut found = words(pairs, typed);
    found.extend(self::nodes(session, typed));
    found.truncate(OFFERED);
    found
}

/// Returns pods that have a node.
pub fn pods_on_nodes(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let pods = session.timeline().keyframe().cluster.pods.iter().take(SCANNED).filter(|pod| !pod.node_name.is_empty());
    let is_like = |name: &String| typed.is_empty() || name.contains(typed);
    named(pods.map(|pod| pod.key().to_string()).filter(is_like).take(CONSIDERED).collect(), typed)
}

pub fn budgets(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let budgets = session.timeline().keyframe().cluster.pod_disruption_budgets.iter();
    named(budgets.take(CONSIDERED).map(|budget| budget.metadata.key().to_string()).collect(), typed)
}

pub fn priority_classes(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let classes = session.timeline().keyframe().cluster.priority_classes.iter();
    named(classes.take(CONSIDERED).map(|class| class.metadata.name.to_string()).collect(), typed)
}

/// Returns workloads, as `kind/namespace/name`.
pub fn owners(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let all = crate::whatif::scalable(&session.timeline().keyframe().cluster, SCANNED);
    named(all.into_iter().map(|owner| owner.to_string()).collect(), typed)
}

/// Returns the plugins of the profiles at the end of the branch.
pub fn plugins(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let (branches, current) = (session.branches(), session.current());
    let profiles = branches.get(current).map(|branch| branch.scheduler().state().config().profiles.as_slice()).unwrap_or_default();
    let names: BTreeSet<&str> = profiles.iter().flat_map(|profile| &profile.all).map(|plugin| plugin.name().as_str()).collect();
    words(names, typed)
}

/// Returns kinds; after the kind of a pod or a node, the names of its objects.
pub fn kind_and_name(session: &dyn SessionHandle, args: &str) -> Vec<Completion> {
    match args.split_once(' ') {
        None => words(Kind::iter().map(|k| k.to_string().to_lowercase()), args),
        Some((kind, name)) => match Kind::named(kind) {
            Some(Kind::Pod) => pods(session, name),
            Some(Kind::Node) => nodes(session, name),
            _ => Vec::new(),
        },
    }
}
