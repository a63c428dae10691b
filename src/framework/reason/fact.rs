//! The deciding fact of a reason in a few words: the taint, the missing amount, the conflicting pod.

use super::{DomainConflict, NodeSelectorPart, Reason, Shortage, UnmetRequirement};
use crate::cluster::{Key, Requirement, Str, Taint};
use crate::limits::engine::{FACT_BYTES, FACT_VALUES};

/// Units of bytes, largest first.
const UNITS: [(i64, &str); 4] = [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];

/// Writes cores from thousandths: `6`, `1.5`, `0.25`.
pub fn cores(milli: i64) -> String {
    let sign = if milli < 0 { "-" } else { "" };
    let (whole, rest) = (milli.unsigned_abs() / 1000, milli.unsigned_abs() % 1000);
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:03}").trim_end_matches('0').to_owned() }
}

/// Writes bytes as a whole number of the largest possible binary unit; `None` if no unit fits.
pub fn whole_bytes(bytes: i64) -> Option<String> {
    let unit = UNITS.iter().find(|(unit, _)| bytes >= *unit && bytes % unit == 0);
    unit.map(|(unit, name)| format!("{}{name}", bytes / unit))
}

/// Writes bytes with one decimal in the largest unit not above them, rounded down.
fn about_bytes(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    let size = bytes.saturating_abs();
    match UNITS.iter().find(|(unit, _)| size >= *unit) {
        Some((unit, name)) if size % unit == 0 => format!("{sign}{}{name}", size / unit),
        Some((unit, name)) => format!("{sign}{}.{}{name}", size / unit, size % unit * 10 / unit),
        None => format!("{sign}{size}"),
    }
}

impl Shortage {
    /// Writes an amount of the resource for people: `2.1`, `3.5Gi`.
    pub fn readable(&self, amount: i64) -> String {
        match self.resource.as_str() {
            "cpu" => cores(amount),
            "memory" | "ephemeral-storage" => about_bytes(amount),
            _ => amount.to_string(),
        }
    }

    fn fact(&self) -> String {
        let needed = self.readable(self.requested);
        let free = self.readable(self.free());
        // Rounding must not make the two look alike.
        let free = if free == needed { self.free().to_string() } else { free };
        if self.free() < 0 && self.requested <= self.capacity {
            let over = self.readable(self.free().saturating_neg());
            return format!("needs {} {needed}, none free ({over} over its capacity)", self.resource);
        }
        if self.requested > self.capacity {
            return format!("needs {} {needed}, {free} free of {}", self.resource, self.readable(self.capacity));
        }
        format!("needs {} {needed}, {free} free", self.resource)
    }
}

/// Writes a taint as kubectl does: `dedicated=db:NoSchedule`.
pub fn taint_text(taint: &Taint) -> String {
    let Taint { key, value, effect } = taint;
    if value.is_empty() { format!("{key}:{effect}") } else { format!("{key}={value}:{effect}") }
}

impl UnmetRequirement {
    /// Writes the requirement: `zone=c`, `zone in (a, b)`, `!gpu`.
    fn wanted(&self) -> String {
        let Requirement { key, operator, values } = &*self.requirement;
        let list = || listed_values(values);
        match (operator.as_str(), &values[..]) {
            ("In", [one]) => format!("{key}={one}"),
            ("In", _) => format!("{key} in ({})", list()),
            ("NotIn", [one]) => format!("{key}!={one}"),
            ("NotIn", _) => format!("{key} not in ({})", list()),
            ("Exists", _) => key.to_string(),
            ("DoesNotExist", _) => format!("!{key}"),
            ("Gt", _) => format!("{key} > {}", list()),
            ("Lt", _) => format!("{key} < {}", list()),
            (other, _) => format!("{key} {other} ({})", list()),
        }
    }

    fn fact(&self) -> String {
        let key = &self.requirement.key;
        let wanted = self.wanted();
        let found = match &self.found {
            Some(value) if self.part == NodeSelectorPart::MatchFields => format!("is {value}"),
            Some(value) => format!("has {key}={value}"),
            None => format!("has no {key}"),
        };
        let rest = if self.terms > 1 { format!(" (nor {} other terms)", self.terms - 1) } else { String::new() };
        format!("{found}, not {wanted}{rest}")
    }
}

impl DomainConflict {
    fn fact(&self, what: &str) -> String {
        match &self.with {
            Some(pod) => format!("{what} {pod}"),
            None => format!("{what} a pod in {}={}", self.topology_key, self.domain),
        }
    }
}

fn used_by(with: Option<&Key>) -> String {
    with.map_or_else(String::new, |pod| format!(" by {pod}"))
}

/// Joins the first of some values, and counts the others.
fn listed<'v>(values: impl Iterator<Item = &'v str>, number: usize, joint: &str) -> String {
    let mut text = values.take(FACT_VALUES).collect::<Vec<_>>().join(joint);
    if number > FACT_VALUES {
        text += &format!(" and {} more", number - FACT_VALUES);
    }
    text
}

fn listed_values(values: &[Str]) -> String {
    listed(values.iter().map(Str::as_str), values.len(), ", ")
}

/// Cuts a long text, which names of any length make.
fn cut(mut text: String) -> String {
    if text.len() > FACT_BYTES {
        let end = (0..=FACT_BYTES).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
    text
}

impl Reason {
    /// Returns the deciding fact in a few words about one node or the pod, such as `has taint dedicated=db:NoSchedule`;
    /// `None` if the text already contains it. A long one is cut.
    pub fn fact(&self) -> Option<String> {
        self.whole_fact().map(cut)
    }

    fn whole_fact(&self) -> Option<String> {
        Some(match self {
            Self::GangIncomplete { pods, min_count } => format!("{pods} of {min_count} pods are there"),
            Self::GangQuorumUnmet { placed, min_count } => format!("{placed} of {min_count} pods have a place"),
            Self::NodeNameMismatch { wanted } => format!("asks for node {wanted}"),
            Self::UntoleratedTaint { taint } => format!("has taint {}", taint_text(taint)),
            Self::NodeAffinityMismatch { unmet: Some(unmet) } | Self::AddedAffinityMismatch { unmet: Some(unmet) } => unmet.fact(),
            Self::HostPortConflict(conflict) => {
                format!("host port {}/{} is taken{}", conflict.port, conflict.protocol, used_by(conflict.with.as_ref()))
            }
            Self::TooManyPods { pods, allowed } => format!("runs {pods} of {allowed} pods"),
            Self::Insufficient(shortage) => shortage.fact(),
            Self::NodeLabelPresence { label, wanted: true } => format!("has no label {label}"),
            Self::NodeLabelPresence { label, wanted: false } => format!("has label {label}"),
            Self::ServiceAffinityViolated { label, wanted } => format!("does not have {label}={wanted}"),
            Self::DiskConflict(disk) => format!("disk of volume {} is in use by {}", disk.volume, disk.with),
            Self::ReadWriteOncePodConflict { claim: Some(claim) } => format!("claim {claim:?} is in use by another pod"),
            Self::MaxVolumeCountExceeded(limit) => {
                format!("{} of {} volumes of {} attached, {} more needed", limit.attached, limit.limit, limit.driver, limit.added)
            }
            Self::NoVolumeToBind { claim: Some(claim), chosen: Some(node) } => format!("claim {claim:?} is pinned to {node}"),
            Self::NoVolumeToBind { claim: Some(claim), chosen: None } => format!("no volume for claim {claim:?}"),
            Self::NotEnoughStorage { claim: Some(claim) } => format!("no room for a volume of claim {claim:?}"),
            Self::VolumeNodeAffinityConflict { volume: Some(volume) } => format!("volume {volume} is not reachable"),
            Self::BoundVolumeMissing { claim: Some(claim) } => format!("claim {claim:?} is bound to a volume that was not found"),
            Self::UnboundImmediateClaims { claims } if !claims.is_empty() => {
                let named: Vec<Str> = claims.iter().map(|claim| format!("{:?}", claim.as_str()).into()).collect();
                format!("unbound: {}", listed_values(&named))
            }
            Self::VolumeZoneConflict(zone) => {
                let values = listed(zone.values.iter(), zone.values.count(), " or ");
                let found = zone.found.as_ref().map_or_else(|| format!("has no {}", zone.key), |v| format!("is in {v}"));
                format!("volume {} is in {values}, node {found}", zone.volume)
            }
            Self::TopologySpreadSkew(skew) => format!(
                "{}={} would have {} matching pods, {} the fewest: skew {} > {}",
                skew.topology_key,
                skew.domain,
                skew.matching,
                skew.lowest,
                skew.matching - skew.lowest,
                skew.max_skew
            ),
            Self::TopologyKeyMissing { topology_key } => format!("has no label {topology_key}"),
            Self::PodAffinityMismatch(miss) => match &miss.domain {
                Some(domain) => format!("no matching pod in {}={domain}", miss.topology_key),
                None => format!("has no label {}", miss.topology_key),
            },
            Self::PodAntiAffinity(conflict) => conflict.fact("anti-affinity with"),
            Self::ExistingPodAntiAffinity(conflict) => conflict.fact("anti-affinity of"),
            Self::FeaturesMissing { features } if !features.is_empty() => {
                format!("lacks {}", listed_values(features))
            }
            Self::ResourceClaimUnavailable { claim } => format!("claim {claim:?} is allocated elsewhere"),
            Self::ExtendedResourceMissing { resource } => format!("does not offer {resource}"),
            _ => return None,
        })
    }

    /// Returns the part of the fact that does not depend on the node, in a word or two: the taint, the required label,
    /// the conflicting pod; `None` if there is none. A long one is cut.
    pub fn brief(&self) -> Option<String> {
        self.whole_brief().map(cut)
    }

    fn whole_brief(&self) -> Option<String> {
        Some(match self {
            Self::NodeNameMismatch { wanted } => wanted.to_string(),
            Self::UntoleratedTaint { taint } => taint_text(taint),
            Self::NodeAffinityMismatch { unmet: Some(unmet) } | Self::AddedAffinityMismatch { unmet: Some(unmet) } => match unmet.terms {
                0 | 1 => unmet.wanted(),
                terms => format!("{} or {} other terms", unmet.wanted(), terms - 1),
            },
            Self::HostPortConflict(conflict) => format!("{}/{}", conflict.port, conflict.protocol),
            Self::ReadWriteOncePodConflict { claim: Some(claim) }
            | Self::NoVolumeToBind { claim: Some(claim), .. }
            | Self::NotEnoughStorage { claim: Some(claim) }
            | Self::BoundVolumeMissing { claim: Some(claim) } => format!("claim {claim:?}"),
            Self::VolumeNodeAffinityConflict { volume: Some(volume) } => volume.to_string(),
            Self::MaxVolumeCountExceeded(limit) => limit.driver.to_string(),
            Self::VolumeZoneConflict(zone) => listed(zone.values.iter(), zone.values.count(), " or "),
            Self::TopologySpreadSkew(skew) => format!("by {}, maxSkew {}", skew.topology_key, skew.max_skew),
            Self::TopologyKeyMissing { topology_key } => topology_key.to_string(),
            Self::PodAffinityMismatch(miss) => format!("by {}", miss.topology_key),
            Self::PodAntiAffinity(conflict) | Self::ExistingPodAntiAffinity(conflict) => {
                conflict.with.as_ref().map_or_else(|| format!("by {}", conflict.topology_key), ToString::to_string)
            }
            Self::FeaturesMissing { features } if !features.is_empty() => listed_values(features),
            Self::ResourceClaimUnavailable { claim } => format!("claim {claim:?}"),
            Self::ExtendedResourceMissing { resource } => resource.to_string(),
            _ => return None,
        })
    }
}
