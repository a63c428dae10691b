//! Findings beside the events of a cycle: no event has them.

use std::sync::Arc;

use crate::cluster::{MissingKinds, Str};
use crate::framework::DeviceFindings;
use crate::odds::Odds;

/// Findings beside the events of a cycle: no event has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingsView {
    /// The odds of nodes over all starting nodes of the search, if they were asked for.
    pub odds_over_starts: Option<Arc<Odds>>,
    /// The devices of rejected nodes, if they were asked for.
    pub devices: Option<Arc<DeviceFindings>>,
    /// The kinds that the source did not provide, of a pod that was not tried.
    pub unknown: MissingKinds,
    /// The profile that is meant by the scheduler name of a pod of which no scheduler has written.
    pub meant_profile: Option<Str>,
}
