//! kube-scheduler-simulator: an export is one object with lists whose items have no kind, and the scheduler's
//! configuration; a record has one change a line. The splitter and the decoder recognize both by their keys.
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
