//! The scrub bar: all recorded events in one line, coloured by extension point, with an edge where a cycle begins.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::trace::{Event, ExtensionPoint, Outcome};
use crate::ui::config::theme::Role;
use crate::ui::view::draw::Scene;

/// Returns the role for the extension point of an event.
pub fn role(event: &Event) -> Role {
    match event.extension_point() {
        ExtensionPoint::Failure if matches!(event, Event::CycleFinished { outcome: Outcome::Scheduled, .. }) => Role::PointBind,
        ExtensionPoint::Queue | ExtensionPoint::PreEnqueue => Role::PointQueue,
        ExtensionPoint::PreFilter | ExtensionPoint::Filter => Role::PointFilter,
        ExtensionPoint::PostFilter => Role::PointPreempt,
        ExtensionPoint::PreScore | ExtensionPoint::Score => Role::PointScore,
        ExtensionPoint::Reserve | ExtensionPoint::Permit | ExtensionPoint::PreBind | ExtensionPoint::Bind => Role::PointBind,
        ExtensionPoint::Failure => Role::PointFailure,
    }
}

/// Draws the bar over the whole width of a row.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let (done, total) = scene.timeline.progress();
    let starts = &scene.state.view_model.revision.starts;
    let revisions = scene.timeline.revisions();
    let span = usize::from(area.width.max(2) - 1);
    let here = (done * span).checked_div(total).unwrap_or(0);
    for column in 0..usize::from(area.width) {
        let cell = &mut buf[(area.x + column as u16, area.y)];
        if total == 0 {
            cell.set_symbol(scene.glyphs.scrub_ahead).set_style(scene.style(Role::Ahead));
            continue;
        }
        // The first event of this column, and whether a revision begins between it and the next column.
        let event = (column * total).div_ceil(span).min(total - 1);
        let revision = starts.partition_point(|s| *s <= event).saturating_sub(1);
        let begins = event == starts[revision] && revision > 0 && total <= span * 4;
        let part = revisions[revision].events.get(event - starts[revision]).map_or(Role::Ahead, |event| role(&event));
        let (symbol, role) = match () {
            () if column == here => (scene.glyphs.scrub_here, Role::Current),
            () if begins => (scene.glyphs.scrub_edge, Role::Muted),
            () if column < here => (scene.glyphs.scrub_done, part),
            () => (scene.glyphs.scrub_ahead, part),
        };
        cell.set_symbol(symbol).set_style(scene.style(role));
    }
}
