//! kube-scheduler-simulator: an export is one object of lists whose items tell no kind, beside the scheduler's
//! configuration; a record is a line for each change. The splitter and the decoder know both by their keys.
//!
//! See `simulator/snapshot` and `simulator/recorder` in kubernetes-sigs/kube-scheduler-simulator.

use super::{Layout, Signs};

pub(super) fn sign(signs: Signs) -> Option<Layout> {
    match () {
        () if signs.form.export => Some(Layout::SimulatorExport),
        () if signs.recorded > 0 => Some(Layout::SimulatorRecord),
        () => None,
    }
}
