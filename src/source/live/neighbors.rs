//! Lists the objects and events that scheduling does not read, for a question that needs them.
//!
//! Each kind is optional: one that is refused, fails or comes late is unknown, and the others count. Nothing is watched.

use std::sync::Arc;

use futures::future::{join, join_all};
use strum::IntoEnumIterator as _;
use tokio::time::Instant;

use super::connection::{Shared, lock};
use super::decode;
use super::failure::{Failure, FailureKind};
use super::reflector::{List, encode};
use super::resource::{Resource, Subject, root};
use super::waiting::Waiting;
use crate::cluster::MissingReason;
use crate::cluster::neighbors::{NeighborKind, Neighbors};
use crate::limits::live::NEIGHBOR_VERSIONS;
use crate::source::assemble::report::NeighborsQuestion;
use crate::source::decode::neighbors::DecodedNeighbor;

/// Objects of a page.
const PAGE: u32 = 500;

/// Events about objects other than pods and nodes: those about pods are followed, and those about nodes say nothing about workloads.
const OTHER_EVENTS: &str = "involvedObject.kind!=Pod,involvedObject.kind!=Node";

/// Returns the kinds that are listed for questions, with their API groups. Those that scheduling reads are followed.
pub(super) fn optional() -> impl Iterator<Item = (NeighborKind, &'static str)> {
    let kinds = NeighborKind::iter().filter(|kind| !kind.is_in_model());
    kinds.flat_map(|kind| kind.groups().iter().filter(|group| **group != "extensions").map(move |group| (kind, *group)))
}

/// Returns whether a path is a list of one of the kinds.
pub(super) fn is_list(group: &str, version: &str, rest: &[&str]) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = version.strip_prefix('v').is_some_and(|number| {
        let stage = ["alpha", "beta"].iter().find_map(|stage| number.split_once(stage));
        stage.map_or_else(|| digits(number), |(major, minor)| digits(major) && digits(minor))
    });
    let (plural, namespaced) = match rest {
        [plural] => (*plural, false),
        ["namespaces", _, plural] => (*plural, true),
        _ => return false,
    };
    is_version && optional().any(|(kind, of)| of == group && kind.resource() == plural && (!namespaced || kind.namespaced()))
}

/// Why a list has no answer.
enum Unlisted {
    /// The server does not have the resource.
    Absent,
    Withheld(MissingReason),
}

impl From<Failure> for Unlisted {
    fn from(failure: Failure) -> Self {
        tracing::info!(why = failure.message, "a list that a question needs was not read");
        match failure.what {
            FailureKind::NotFound => Self::Absent,
            FailureKind::Forbidden | FailureKind::Unauthorised => Self::Withheld(MissingReason::Refused),
            _ => Self::Withheld(MissingReason::Failed),
        }
    }
}

/// The objects or events of a list, and whether some could not be read.
#[derive(Default)]
struct Listed {
    found: Vec<DecodedNeighbor>,
    unreadable: bool,
    /// Only some namespaces were listed.
    in_part: bool,
}

pub(super) async fn answer(shared: Arc<Shared>, question: NeighborsQuestion) -> Neighbors {
    let deadline = Instant::now() + question.within;
    let lists = optional().filter(|(kind, _)| question.kinds.contains(kind));
    let shared = &shared;
    let asked = lists.map(|(kind, group)| {
        let namespace = question.namespace.as_deref().filter(|_| kind.namespaced());
        async move { (kind, in_time(deadline, objects(shared, kind, group, namespace)).await) }
    });
    let events =
        async { if question.events { Some(in_time(deadline, events(shared, question.namespace.as_deref())).await) } else { None } };
    let (lists, events) = join(join_all(asked), events).await;
    let mut neighbors = Neighbors::default();
    for (kind, list) in lists {
        match list {
            Ok(listed) => {
                let why = listed.unreadable.then_some(MissingReason::Incomplete).or(listed.in_part.then_some(MissingReason::Partial));
                let before = neighbors.why(kind);
                add(&mut neighbors, listed.found);
                match why.or(before) {
                    Some(why) => neighbors.withhold(kind, why),
                    None => neighbors.add_listed(kind),
                }
            }
            // Another group may have a kind of the name.
            Err(Unlisted::Absent) => {}
            Err(Unlisted::Withheld(why)) => neighbors.withhold(kind, why),
        }
    }
    match events {
        Some(Ok(listed)) => {
            add(&mut neighbors, listed.found);
            neighbors.events_withheld =
                listed.unreadable.then_some(MissingReason::Incomplete).or(listed.in_part.then_some(MissingReason::Partial));
        }
        Some(Err(Unlisted::Absent)) => neighbors.events_withheld = Some(MissingReason::Failed),
        Some(Err(Unlisted::Withheld(why))) => neighbors.events_withheld = Some(why),
        None => {}
    }
    neighbors
}

/// Answers a question again and again.
pub(super) async fn follow(shared: Arc<Shared>, question: NeighborsQuestion) {
    loop {
        let found = answer(Arc::clone(&shared), question.clone()).await;
        {
            let mut answered = lock(&shared.neighbors);
            if answered.0 == 0 || *answered.1 != found {
                *answered = (answered.0 + 1, Arc::new(found));
            }
        }
        shared.wake();
        tokio::time::sleep(shared.timing.neighbors).await;
    }
}

fn add(neighbors: &mut Neighbors, found: Vec<DecodedNeighbor>) {
    for one in found {
        match one {
            DecodedNeighbor::Object(object) => neighbors.insert(object),
            DecodedNeighbor::Event(_, event) => neighbors.events.push(event),
            DecodedNeighbor::Withheld(Some(kind), why) => neighbors.withhold(kind, why),
            DecodedNeighbor::Withheld(None, why) => neighbors.events_withheld = Some(why),
        }
    }
}

async fn in_time(deadline: Instant, list: impl Future<Output = Result<Listed, Unlisted>>) -> Result<Listed, Unlisted> {
    tokio::time::timeout_at(deadline, list).await.unwrap_or_else(|_| {
        tracing::info!("a list that a question needs did not come in time");
        Err(Unlisted::Withheld(MissingReason::Failed))
    })
}

/// The groups that every server has.
const BUILT_IN: [&str; 4] = ["", "apps", "batch", "autoscaling"];

/// Lists the objects of a kind in the version that the server prefers.
async fn objects(shared: &Shared, kind: NeighborKind, group: &str, namespace: Option<&str>) -> Result<Listed, Unlisted> {
    let versions = match shared.offers.versions_of(group) {
        Some(versions) => versions,
        None if BUILT_IN.contains(&group) => vec!["v1".to_owned()],
        None => return Err(Unlisted::Withheld(MissingReason::Failed)),
    };
    // A custom group may have other kinds only; one that is built in has all of its.
    let mut last = if BUILT_IN.contains(&group) { Unlisted::Withheld(MissingReason::Failed) } else { Unlisted::Absent };
    for version in versions.iter().take(NEIGHBOR_VERSIONS) {
        let resource = Place { root: root(group, version), plural: kind.resource().to_owned(), selector: None };
        let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
        let read = |text: &[u8]| decode::neighbors(text, kind, &api_version);
        match everywhere(shared, &resource, kind.namespaced(), namespace, &read).await {
            Err(Unlisted::Absent) => {}
            Err(why) => last = why,
            Ok(listed) => return Ok(listed),
        }
    }
    Err(last)
}

async fn events(shared: &Shared, namespace: Option<&str>) -> Result<Listed, Unlisted> {
    let resource = Resource::of(Subject::Events);
    let place = Place { root: root("", "v1"), plural: "events".to_owned(), selector: Some(OTHER_EVENTS) };
    let read = |text: &[u8]| {
        let decode::Page { items, next, .. } = decode::page(text, resource)?;
        let count = items.len();
        // A server may ignore the selector, and those about pods are known.
        let is_other = |neighbor: &DecodedNeighbor| match neighbor {
            DecodedNeighbor::Event(_, event) => !matches!(event.about.kind.as_str(), "Pod" | "Node"),
            DecodedNeighbor::Object(_) | DecodedNeighbor::Withheld(..) => false,
        };
        let found = items.into_iter().filter_map(|item| item.neighbor).map(|neighbor| *neighbor).filter(is_other).collect();
        Ok(decode::NeighborPage { found, count, unreadable: 0, next })
    };
    everywhere(shared, &place, true, namespace, &read).await
}

/// A resource in a version.
struct Place {
    root: String,
    plural: String,
    selector: Option<&'static str>,
}

type ReadPage<'a> = &'a (dyn Fn(&[u8]) -> Result<decode::NeighborPage, Failure> + Sync);

/// Lists a resource in all namespaces or in one; in those that the user named if all may not be listed.
async fn everywhere(
    shared: &Shared,
    place: &Place,
    namespaced: bool,
    namespace: Option<&str>,
    read: ReadPage<'_>,
) -> Result<Listed, Unlisted> {
    let mut listed = Listed::default();
    match list(shared, place, namespace, read, &mut listed).await {
        Ok(()) => return Ok(listed),
        Err(failure) if failure.what != FailureKind::Forbidden => return Err(failure.into()),
        Err(failure) if namespace.is_some() || !namespaced || shared.namespaces.is_empty() => return Err(failure.into()),
        Err(_) => {}
    }
    for namespace in &shared.namespaces {
        list(shared, place, Some(namespace), read, &mut listed).await?;
    }
    listed.in_part = true;
    Ok(listed)
}

/// Lists a resource page by page.
async fn list(shared: &Shared, place: &Place, namespace: Option<&str>, read: ReadPage<'_>, listed: &mut Listed) -> Result<(), Failure> {
    let bounds = shared.client.bounds();
    let Place { root, plural, selector } = place;
    let path = namespace.map_or_else(|| format!("{root}/{plural}"), |namespace| format!("{root}/namespaces/{namespace}/{plural}"));
    let selector = selector.map_or_else(String::new, |selector| format!("&fieldSelector={}", encode(selector)));
    let mut pages = List::default();
    loop {
        let from = if pages.next.is_empty() { String::new() } else { format!("&continue={}", encode(&pages.next)) };
        let text = shared.client.text(&format!("{path}?limit={PAGE}{from}{selector}"), Waiting::Object(path.clone()), bounds.page).await?;
        let page = read(&text.bytes).map_err(|failure| shared.client.hide(failure))?;
        listed.unreadable |= page.unreadable > 0;
        pages.pages += 1;
        pages.items += page.count;
        pages.bytes += text.bytes.len() as u64;
        text.used();
        pages.without_progress = if page.count > 0 { 0 } else { pages.without_progress + 1 };
        listed.found.extend(page.found);
        if pages.items > bounds.neighbors {
            return Err(Failure::new(FailureKind::Limit, format!("there are more than {} {plural}", bounds.neighbors)));
        }
        if page.next.is_empty() {
            return Ok(());
        }
        pages.go_on(page.next, bounds)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_listed_and_nothing_else() {
        for (path, allowed) in [
            (("apps", "v1", vec!["deployments"]), true),
            (("apps", "v1", vec!["namespaces", "shop", "deployments"]), true),
            (("apps", "v1", vec!["namespaces", "shop", "deployments", "web"]), false),
            (("apps", "v1", vec!["namespaces", "shop", "deployments", "web", "scale"]), false),
            (("apps", "v1", vec!["replicasets"]), false),
            (("batch", "v1", vec!["jobs"]), true),
            (("batch", "v1", vec!["deployments"]), false),
            (("karpenter.sh", "v1beta1", vec!["nodepools"]), true),
            (("karpenter.sh", "v1beta1", vec!["namespaces", "a", "nodepools"]), false),
            (("karpenter.sh", "..", vec!["nodepools"]), false),
            (("karpenter.sh", "v1betax", vec!["nodepools"]), false),
            (("karpenter.sh", "v", vec!["nodepools"]), false),
            (("", "v1", vec!["serviceaccounts"]), true),
            (("", "v1", vec!["secrets"]), false),
            (("", "v1", vec!["configmaps"]), false),
            (("", "v1", vec!["namespaces", "shop", "secrets"]), false),
            (("extensions", "v1beta1", vec!["deployments"]), false),
        ] {
            let (group, version, rest) = &path;
            assert_eq!(is_list(group, version, rest), allowed, "{path:?}");
        }
        assert!(optional().all(|(kind, group)| is_list(group, "v1", &[kind.resource()])));
    }
}
