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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ReleaseReport;
    use crate::framework::{ExtenderCall, ExtenderName};
    use crate::release::Emulated;
    use crate::report::{Answer, FORMATS, Origin, Ticket};

    #[test]
    fn a_section_is_in_text_markdown_and_html() {
        let outcome = ExtenderOutcome::WouldBind("n".into());
        let call = ExtenderCall { extender: ExtenderName { index: 0, url: "http://e".into() }, outcome };
        let mut view = CycleView::default();
        view.extenders.calls.push(call.into());
        let (release, origin) = (ReleaseReport::of(Emulated::default(), &[]), Origin::default());
        let answer = Answer::Ticket(Ticket::new(&view, &release, None, &origin));
        for (name, heading) in [("text", "\nEXTENDERS\n"), ("markdown", "\n## Extenders\n"), ("html", "Extenders</")] {
            let format = FORMATS.iter().find(|format| format.name == name).unwrap();
            let text = format.write(&answer, Document::default()).unwrap();
            let text = text.as_str();
            assert!(text.contains(heading) && text.contains("would be bound to n by extender"), "{name}: {text}");
        }
    }
}
