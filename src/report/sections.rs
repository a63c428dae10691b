//! Sections of a decision that text, Markdown and HTML have alike, behind the nodes. A new one is added here for all of them.

use super::devices::devices_lines;
use super::extenders::calls;
use super::text::name_list;
use crate::cluster::Str;
use crate::framework::ExtenderOutcome;
use crate::output::Document;
use crate::trace::CycleView;

/// Returns the sections of a decision, each with its heading.
pub(super) fn sections(view: &CycleView) -> Document {
    let mut doc = Document::default();
    devices(&mut doc, view);
    extenders(&mut doc, view);
    doc
}

/// Adds the devices of the nodes that were rejected for them.
fn devices(doc: &mut Document, view: &CycleView) {
    if let Some(findings) = &view.findings.devices {
        doc.heading(2, "Devices");
        doc.code(0, devices_lines(findings));
    }
}

/// Adds the part of each extender.
fn extenders(doc: &mut Document, view: &CycleView) {
    let mut calls = calls(view).peekable();
    if calls.peek().is_some() {
        doc.heading(2, "Extenders");
    }
    for call in calls {
        doc.item(2, call.sentence());
        if let ExtenderOutcome::Preempted(preemption) = &call.outcome {
            let left: Vec<&Str> = preemption.left.iter().map(|candidate| &candidate.node).collect();
            let dropped: Vec<&Str> = preemption.asked.iter().filter(|node| !left.contains(node)).collect();
            if !dropped.is_empty() {
                doc.item(4, format!("removed: {}", name_list(&dropped)));
            }
        }
    }
}
