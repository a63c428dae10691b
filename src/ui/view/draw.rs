//! The input of drawing, and drawing of text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::analysis::LastReported;
use crate::output::escape;
use crate::release::{Emulated, Emulation, Gate};
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::glyphs::Glyphs;
use crate::ui::config::theme::{Role, Theme};
use crate::ui::model::live_status::LiveStatus;
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::model::verdict::Class;

/// The input of drawing.
#[derive(Clone)]
pub struct Scene<'a> {
    /// The state of the screen.
    pub state: &'a State,
    /// The record and its cursor.
    pub timeline: &'a Timeline,
    /// The styles.
    pub theme: &'a Theme,
    pub glyphs: &'a Glyphs,
    /// The last report of the cluster's own scheduler about the pod of the cycle.
    pub written: Option<&'a LastReported>,
    /// The status of a live cluster.
    pub live: Option<LiveStatus>,
    /// A short name of the source.
    pub source: &'a str,
    /// The age of the dump, in words; `None` if it is unknown, or the source is no dump.
    pub taken: Option<&'a str>,
    /// The emulated release of kube-scheduler, and why it was chosen.
    pub release: Emulated,
    /// The current branch; empty if there is only one.
    pub branch: &'a str,
}

impl<'a> Scene<'a> {
    /// Returns the cycle at the cursor.
    pub fn cycle(&self) -> &'a CycleView {
        self.timeline.cycle()
    }

    /// Returns whether an idle scheduler pops from backoffQ, by default in this release.
    pub fn pops_from_backoff(&self) -> bool {
        Emulation::from(self.release.profile).enabled(Gate::SchedulerPopFromBackoffQ)
    }

    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Returns a text in the style of a role.
    pub fn span<'t>(&self, role: Role, text: impl Into<std::borrow::Cow<'t, str>>) -> Span<'t> {
        Span::styled(text, self.style(role))
    }

    /// Returns the key of an action in [`Context::GLOBAL`], as displayed.
    pub fn key(&self, action: &Action) -> String {
        self.state.settings.keymap.label(Context::GLOBAL, action)
    }

    /// Returns the glyph and role of a verdict.
    pub fn verdict(&self, class: Class) -> (&'static str, Role) {
        match class {
            Class::Fits => (self.glyphs.fits, Role::Fits),
            Class::Unschedulable => (self.glyphs.unschedulable, Role::Unschedulable),
            Class::Unresolvable => (self.glyphs.unresolvable, Role::Unresolvable),
            Class::Failed => (self.glyphs.failed, Role::Failed),
            Class::Unseen => (self.glyphs.unseen, Role::Unseen),
        }
    }

    /// Draws a line, clipped with an ellipsis if it is too long.
    pub fn line(&self, buf: &mut Buffer, area: Rect, line: &Line<'_>) {
        put(buf, area, &line.spans, self.glyphs.ellipsis);
    }
}

/// Draws spans in one row, clipped with an ellipsis. Escapes them: this is the only place where text from outside reaches
/// the screen. Returns the columns taken.
pub fn put(buf: &mut Buffer, area: Rect, spans: &[Span<'_>], ellipsis: &str) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let room = usize::from(area.width);
    let mut used = 0;
    let rest_fits = spans.iter().try_fold(room, |left, span| Some(left - text::width_within(&span.content, left)?)).is_some();
    // Keep the last column for the ellipsis if a later span does not fit.
    for span in spans {
        if used >= room {
            break;
        }
        let left = room - used;
        let content = if rest_fits || text::width_within(&span.content, left - 1).is_some() {
            escape(&span.content)
        } else {
            std::borrow::Cow::Owned(text::cut(&span.content, left, ellipsis))
        };
        let at = area.x + used as u16;
        buf.set_stringn(at, area.y, &content, left, span.style);
        used += text::width(&content);
        if !rest_fits && used >= room {
            break;
        }
    }
    used.min(room) as u16
}
