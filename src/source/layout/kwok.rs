//! `kwokctl snapshot export`: objects one after another. What follows when it was told to record are
//! `ResourcePatch`es, which are counted and not applied.
//!
//! See `pkg/apis/action/v1alpha1` in kubernetes-sigs/kwok.

use super::{Layout, Signs};

pub(super) fn sign(signs: Signs) -> Option<Layout> {
    (signs.form.kwok && signs.items == 0).then_some(Layout::Kwok)
}
