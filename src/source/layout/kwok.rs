//! `kwokctl snapshot export`: objects one after another. With recording, `ResourcePatch`es follow, which are counted but
//! not applied.
//!
//! See `pkg/apis/action/v1alpha1` in kubernetes-sigs/kwok.

use super::{Layout, Signs};

pub(super) fn sign(signs: Signs) -> Option<Layout> {
    (signs.form.kwok && signs.items == 0).then_some(Layout::Kwok)
}
