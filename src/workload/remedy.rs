//! Changes that can be computed, and objects to look at.

use crate::cluster::neighbors::{About, NeighborKind, Neighbors};
use crate::cluster::{Key, Quantity, Str};

/// A change that lets missing pods be created, or the object that explains more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Raise hard values of a quota.
    RaiseQuota(QuotaRaise),
    /// Create the service account.
    CreateServiceAccount(Key),
    /// Create the priority class.
    CreatePriorityClass(Str),
    /// Set `suspend` to false.
    Unsuspend(About),
    /// Resume the paused rollout.
    Resume(About),
    /// Look at an object.
    LookAt(About),
}

/// Hard values of a quota that let a number of pods in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaRaise {
    /// The quota.
    pub quota: About,
    /// Each resource with its value now, if known, and the value that is enough.
    pub hard: Vec<(Str, Option<Str>, Str)>,
}

/// The state of a quota for a pod that it refused.
pub(super) enum QuotaRoom {
    /// The quota has room for one more such pod now.
    Enough,
    /// These values let all of the pods in.
    Raise(QuotaRaise),
    /// An amount cannot be read.
    Unknown,
}

/// Compares a quota with the pods that it refused: with its current state if the source has it, else with the amounts of the
/// refusal.
pub(super) fn quota_room(
    neighbors: &Neighbors,
    quota: &Key,
    pods: usize,
    requested: &[(Str, Str)],
    used: &[(Str, Str)],
    limited: &[(Str, Str)],
) -> QuotaRoom {
    let object = neighbors.get(NeighborKind::ResourceQuota, quota);
    let now = |part: &str, resource: &str| -> Option<Str> {
        let amount = object?.field(part)?.get(resource)?;
        Some(amount.as_str().map_or_else(|| amount.to_string().into(), Str::from))
    };
    let of = |amounts: &[(Str, Str)], resource: &str| amounts.iter().find(|(name, _)| name == resource).map(|(_, amount)| amount.clone());
    let mut hard = Vec::new();
    let mut fits = object.is_some();
    for (resource, amount) in requested {
        let is = now("/status/used", resource).or_else(|| of(used, resource));
        let allowed = now("/spec/hard", resource).or_else(|| now("/status/hard", resource)).or_else(|| of(limited, resource));
        let (Some(is), Ok(amount)) = (is.and_then(|is| is.parse::<Quantity>().ok()), amount.parse::<Quantity>()) else {
            return QuotaRoom::Unknown;
        };
        let limit = allowed.as_ref().and_then(|allowed| allowed.parse::<Quantity>().ok());
        fits &= limit.is_some_and(|limit| is + amount <= limit);
        let needed = is + times(amount, pods.max(1));
        if limit.is_none_or(|limit| limit < needed) {
            hard.push((resource.clone(), allowed, Str::from(needed.to_string())));
        }
    }
    match (fits, hard.is_empty()) {
        (true, _) => QuotaRoom::Enough,
        (false, true) => QuotaRoom::Unknown,
        (false, false) => QuotaRoom::Raise(QuotaRaise { quota: About::new("ResourceQuota", quota.clone()), hard }),
    }
}

/// Returns an amount a number of times, by doubling.
fn times(amount: Quantity, mut count: usize) -> Quantity {
    let (mut sum, mut power) = (Quantity::default(), amount);
    while count > 0 {
        if count & 1 == 1 {
            sum = if sum.is_zero() { power } else { sum + power };
        }
        power = power + power;
        count >>= 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_amount_is_multiplied_exactly() {
        let cpu: Quantity = "500m".parse().unwrap();
        assert_eq!([0, 1, 2, 3, 7].map(|n| times(cpu, n).to_string()), ["0", "500m", "1", "1500m", "3500m"]);
    }

    #[test]
    fn without_the_quota_the_amounts_of_the_refusal_count() {
        let pair = |amount: &str| vec![(Str::from("requests.cpu"), Str::from(amount))];
        let found = quota_room(&Neighbors::default(), &Key::new("shop", "q"), 3, &pair("500m"), &pair("2"), &pair("2"));
        let QuotaRoom::Raise(raise) = found else { panic!("it has no room") };
        assert_eq!(raise.hard, [("requests.cpu".into(), Some("2".into()), "3500m".into())]);
        let odd = quota_room(&Neighbors::default(), &Key::new("shop", "q"), 3, &pair("much"), &pair("2"), &pair("2"));
        assert!(matches!(odd, QuotaRoom::Unknown));
    }
}
