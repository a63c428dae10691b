//! `kubectl get -o json|yaml`: a list; with `--watch --output-watch-events`, a line for each change.

use super::{Layout, Signs};

pub(super) fn sign(signs: Signs) -> Option<Layout> {
    (signs.watched > 0 || signs.items > signs.singles).then_some(Layout::Kubectl)
}
