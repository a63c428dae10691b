//! What drawing reads, and drawing of text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::output::escape;
use crate::release::Emulated;
use crate::report::LastReported;
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::glyphs::Glyphs;
use crate::ui::config::theme::{Role, Theme};
use crate::ui::model::session_handle::LiveStatus;
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::model::verdict::Class;

/// Everything drawing reads.
#[derive(Clone)]
pub struct Scene<'a> {
    /// What the screen remembers.
    pub state: &'a State,
    /// The record and its cursor.
    pub timeline: &'a Timeline,
    /// Styles by meaning.
    pub theme: &'a Theme,
    /// Signs.
    pub glyphs: &'a Glyphs,
    /// What the cluster's own scheduler last wrote about the pod of the cycle.
    pub written: Option<&'a LastReported>,
    /// How following a live cluster goes.
    pub live: Option<LiveStatus>,
    /// Where the cluster came from.
    pub source: &'a str,
    /// The release of kube-scheduler whose decisions are taken, and why it is that one.
    pub release: Emulated,
    /// Which of several branches this is; empty where there is one only.
    pub branch: &'a str,
}

impl<'a> Scene<'a> {
    /// The cycle at the cursor.
    pub fn cycle(&self) -> &'a CycleView {
        self.timeline.cycle()
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// A piece of text in a role.
    pub fn span<'t>(&self, role: Role, text: impl Into<std::borrow::Cow<'t, str>>) -> Span<'t> {
        Span::styled(text, self.style(role))
    }

    /// The key of an action that works everywhere, as people write it.
    pub fn key(&self, action: &Action) -> String {
        self.state.settings.keymap.label(Context::GLOBAL, action)
    }

    /// The sign and role of a verdict.
    pub fn verdict(&self, class: Class) -> (&'static str, Role) {
        match class {
            Class::Fits => (self.glyphs.fits, Role::Fits),
            Class::Unschedulable => (self.glyphs.unschedulable, Role::Unschedulable),
            Class::Unresolvable => (self.glyphs.unresolvable, Role::Unresolvable),
            Class::Failed => (self.glyphs.failed, Role::Failed),
            Class::Unseen => (self.glyphs.unseen, Role::Unseen),
        }
    }

    /// Puts a line into an area, clipped with an ellipsis where it is too long.
    pub fn line(&self, buf: &mut Buffer, area: Rect, line: &Line<'_>) {
        put(buf, area, &line.spans, self.glyphs.ellipsis);
    }
}

/// Puts spans into one row, escaped, as text from outside reaches the screen here and nowhere else; text that does not fit
/// ends in an ellipsis. Returns the columns taken.
pub fn put(buf: &mut Buffer, area: Rect, spans: &[Span<'_>], ellipsis: &str) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let room = usize::from(area.width);
    let mut used = 0;
    let rest_fits = spans.iter().try_fold(room, |left, span| Some(left - text::width_within(&span.content, left)?)).is_some();
    // The last column is kept for the ellipsis when something further on does not fit.
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
