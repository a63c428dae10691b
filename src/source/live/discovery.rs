//! Discovers which of the needed resources an API server offers, and in which versions.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use serde::Deserialize;
use tokio::time::Instant;

use super::failure::{Failure, FailureKind};
use super::read_only::ReadOnlyClient;
use super::resource::{RESOURCES, Resource, Subject, root};
use super::waiting::Waiting;
use crate::cluster::Kind;

/// Whether a resource is offered, and in which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// Offered in this version, an index in the resource's versions.
    Version(usize),
    /// Not offered.
    Absent,
    /// Offered only in a version that cannot be read, an index in [`Offers::versions`].
    Old,
    /// Unknown: the server did not answer.
    Unknown,
}

/// The groups, versions and resources that a server offers.
#[derive(Debug, Default)]
pub(super) struct Offers {
    /// All versions by group; `None` if unknown.
    groups: Option<BTreeMap<String, Vec<String>>>,
    resources: BTreeMap<(String, String), Vec<String>>,
}

#[derive(Deserialize)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    version: String,
}

#[derive(Deserialize)]
struct Resources {
    resources: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Returns the names of the resources of a group's version. Their verbs do not count: a resource that cannot be listed is unknown, not
/// absent.
async fn resources(client: &ReadOnlyClient, group: &str, version: &str, within: Duration) -> Result<Vec<String>, Failure> {
    let waiting = Waiting::Resources(if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") });
    let (found, _) = client.json::<Resources>(&root(group, version), waiting, within).await?;
    Ok(found.resources.into_iter().map(|resource| resource.name).collect())
}

impl Offers {
    /// Queries a server, for as long as `within` in all. Requests that fail leave their part unknown, except if the server rejects
    /// the client altogether.
    pub(super) async fn ask(client: &ReadOnlyClient, within: Duration) -> Result<Self, Failure> {
        Self::ask_about(client, RESOURCES.iter(), within).await
    }

    /// Queries a server again about one resource, for as long as `within` in all.
    pub(super) async fn ask_again(client: &ReadOnlyClient, resource: &Resource, within: Duration) -> Offer {
        Self::ask_about(client, std::iter::once(resource), within).await.map_or(Offer::Unknown, |offers| offers.of(resource))
    }

    async fn ask_about(client: &ReadOnlyClient, about: impl Iterator<Item = &Resource>, within: Duration) -> Result<Self, Failure> {
        let deadline = Instant::now() + within;
        let mut offers = Self::default();
        let fatal = |failure: &Failure| matches!(failure.what, FailureKind::Unauthorised | FailureKind::Content | FailureKind::Credentials);
        let groups = match client.json::<Groups>("/apis", Waiting::Groups, within).await {
            Ok((groups, _)) => groups.groups,
            Err(failure) if fatal(&failure) => return Err(failure),
            Err(failure) => {
                tracing::info!(why = failure.message, "the API groups are unknown");
                return Ok(offers);
            }
        };
        let mut by_name: BTreeMap<String, Vec<String>> =
            groups.into_iter().map(|group| (group.name, group.versions.into_iter().map(|v| v.version).collect())).collect();
        by_name.insert(String::new(), vec!["v1".to_owned()]);
        let mut wanted: Vec<(&str, &str)> = about.flat_map(|r| r.versions.iter().map(|version| (r.group, *version))).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|(group, version)| by_name.get(*group).is_some_and(|versions| versions.iter().any(|v| v == version)));
        let left = deadline.saturating_duration_since(Instant::now());
        // Together, so that groups that hang do not add up.
        let asked = wanted.iter().map(|(group, version)| resources(client, group, version, left));
        for ((group, version), found) in wanted.iter().zip(join_all(asked).await) {
            if let Ok(names) = found {
                offers.resources.insert(((*group).to_owned(), (*version).to_owned()), names);
            }
        }
        offers.groups = Some(by_name);
        Ok(offers)
    }

    /// Returns whether a resource is offered. It is absent only if all that could name it was read; those of the core group are on every
    /// server, so a discovery without them is not believed.
    pub(super) fn of(&self, resource: &Resource) -> Offer {
        match self.named(resource) {
            Offer::Absent | Offer::Old if resource.group.is_empty() => Offer::Unknown,
            offer => offer,
        }
    }

    fn named(&self, resource: &Resource) -> Offer {
        let Some(groups) = &self.groups else { return Offer::Unknown };
        let Some(versions) = groups.get(resource.group) else { return Offer::Absent };
        let mut looked_up = true;
        for (place, version) in resource.versions.iter().enumerate() {
            if !versions.iter().any(|v| v == version) {
                continue;
            }
            match self.resources.get(&(resource.group.to_owned(), (*version).to_owned())) {
                Some(names) if names.iter().any(|name| name == resource.plural) => return Offer::Version(place),
                Some(_) => {}
                None => looked_up = false,
            }
        }
        match versions.iter().any(|version| resource.understands(version)) {
            _ if !looked_up => Offer::Unknown,
            // Servers without them offer other resources of their group.
            true => Offer::Absent,
            false if is_gated(resource.subject) => Offer::Absent,
            false => Offer::Old,
        }
    }

    /// Returns the versions of a group, in the order in which the server prefers them, none if it does not have the group; `None` if
    /// unknown.
    pub(super) fn versions_of(&self, group: &str) -> Option<Vec<String>> {
        self.groups.as_ref().map(|groups| groups.get(group).cloned().unwrap_or_default())
    }

    /// Returns the offered versions of a resource's group.
    pub(super) fn versions(&self, resource: &Resource) -> String {
        let versions = self.groups.as_ref().and_then(|groups| groups.get(resource.group));
        versions.into_iter().flatten().map(|version| resource.api_version(version)).collect::<Vec<_>>().join(", ")
    }
}

/// Returns whether a server of this version can answer a list by a stream of events (`WatchList`, on by default in 1.32
/// and again from 1.34 on). Older servers may ignore the request to mark the end of the initial events, which would then
/// never come.
pub(super) fn streams_lists(version: Option<&str>) -> bool {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let (major, rest) = text.trim_start_matches('v').split_once('.')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((major.parse().ok()?, digits.parse().ok()?))
    };
    version.and_then(numbers).is_some_and(|version| version >= (1, 32))
}

/// Returns whether the initial state cannot do without the subject.
pub(super) fn is_essential(subject: Subject) -> bool {
    matches!(subject, Subject::Objects(Kind::Node | Kind::Pod))
}

/// Returns whether schedulers of some releases read the subject only with a feature gate. Few servers offer it.
pub(super) fn is_gated(subject: Subject) -> bool {
    matches!(subject, Subject::Objects(kind) if kind.is_gated())
}

#[cfg(test)]
mod tests;
