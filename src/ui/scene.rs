//! One screen: everything drawing reads, and the order in which it is drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::release::Release;
use crate::report::LastReported;
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::action::{Action, Pane};
use crate::ui::facts::Class;
use crate::ui::glyphs::Glyphs;
use crate::ui::keymap::Context;
use crate::ui::layout::{Mode, Plan};
use crate::ui::order::Order;
use crate::ui::overlay::{Overlay, Typing};
use crate::ui::sheet::Form;
use crate::ui::state::State;
use crate::ui::theme::{Role, Theme};
use crate::ui::{overlays, panes, text};

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
    /// How following a live cluster goes, and whether something is wrong.
    pub news: Option<(String, bool)>,
    /// Where the cluster came from.
    pub source: &'a str,
    /// The release of kube-scheduler whose decisions are taken.
    pub release: Release,
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
        self.state.settings.keymap.label(Context::Global, action)
    }

    /// The sign and role of a verdict.
    pub fn verdict(&self, class: Class) -> (&'static str, Role) {
        match class {
            Class::Fits => (self.glyphs.fits, Role::Fits),
            Class::MayHelp => (self.glyphs.may_help, Role::MayHelp),
            Class::Hopeless => (self.glyphs.hopeless, Role::Hopeless),
            Class::Failed => (self.glyphs.failed, Role::Failed),
            Class::Unseen => (self.glyphs.unseen, Role::Unseen),
        }
    }

    /// Puts a line into an area, clipped with an ellipsis where it is too long.
    pub fn line(&self, buf: &mut Buffer, area: Rect, line: &Line<'_>) {
        put(buf, area, &line.spans, self.glyphs.ellipsis);
    }
}

/// Puts spans into one row; text that does not fit ends in an ellipsis. Returns the columns taken.
pub fn put(buf: &mut Buffer, area: Rect, spans: &[Span<'_>], ellipsis: &str) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let total: usize = spans.iter().map(|s| text::width(&s.content)).sum();
    let room = usize::from(area.width);
    let mut used = 0;
    for span in spans {
        if used >= room {
            break;
        }
        let left = room - used;
        // The last column is kept for the ellipsis when something further on does not fit.
        let rest_fits = total <= room;
        let content = if rest_fits || text::width(&span.content) < left {
            std::borrow::Cow::Borrowed(span.content.as_ref())
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

/// Draws the whole screen.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    buf.set_style(area, scene.style(Role::Text));
    if Mode::of(area.width, area.height) == Mode::TooSmall {
        return too_small(scene, area, buf);
    }
    let plan = scene.state.plan();
    if !area.contains(Position::new(plan.hints.x, plan.hints.y)) {
        // The terminal has shrunk and the state has not heard of it yet; the next frame will be right.
        return;
    }
    panes::header::draw(scene, plan.header, buf);
    panes::answer::draw(scene, plan.answer, buf);
    if let Some(tabs) = plan.tabs {
        panes::tabs::draw(scene, &plan, tabs, buf);
    }
    for (pane, _) in &plan.panes {
        match pane {
            Pane::Queues => panes::queues::draw(scene, &plan, buf),
            Pane::Nodes => panes::nodes::draw(scene, &plan, buf),
            Pane::Preemption => panes::preemption::draw(scene, &plan, buf),
            Pane::NodeDetail => panes::node_detail::draw(scene, &plan, buf),
            Pane::Steps => panes::steps::draw(scene, &plan, buf),
            Pane::Message => panes::message::draw(scene, &plan, buf),
            Pane::PodDetail | Pane::Candidate | Pane::Budgets => panes::page::draw(scene, &plan, *pane, buf),
        }
    }
    panes::hints::draw(scene, plan.hints, buf);
    if let Some(over) = &scene.state.overlay {
        draw_over(scene, over, &plan, area, buf);
    }
}

fn draw_over(scene: &Scene<'_>, over: &Overlay, plan: &Plan, area: Rect, buf: &mut Buffer) {
    match over {
        Overlay::Help(view) => overlays::help::draw(scene, view, area, buf),
        Overlay::Text(sheet) => match sheet.form {
            Form::Prose => overlays::report::draw(scene, sheet, area, buf),
            Form::Yaml => overlays::object::draw(scene, sheet, area, buf),
        },
        Overlay::Themes { selected, .. } => overlays::themes::draw(scene, selected, area, buf),
        Overlay::Prompt(prompt) => {
            if let Typing::Over(under) = &prompt.typing {
                draw_over(scene, under, plan, area, buf);
            }
            overlays::prompt::draw(scene, prompt, plan.hints, buf);
        }
    }
}

fn too_small(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let lines = [
        (Role::Strong, "schedscope needs a little more room".to_owned()),
        (Role::Muted, format!("this is {}x{}, at least 60x16 please", area.width, area.height)),
        (Role::Muted, format!("{} quits", scene.key(&Action::Quit))),
    ];
    let top = area.y + area.height.saturating_sub(lines.len() as u16) / 2;
    for (i, (role, words)) in lines.iter().enumerate() {
        let y = top + i as u16;
        if y >= area.bottom() {
            break;
        }
        let width = (text::width(words) as u16).min(area.width);
        let row = Rect { x: area.x + (area.width - width) / 2, y, width, height: 1 };
        put(buf, row, &[scene.span(*role, words.as_str())], scene.glyphs.ellipsis);
    }
}

/// Draws a pane's border and title, and what stands at its right; says what is left inside.
pub fn chrome(scene: &Scene<'_>, plan: &Plan, pane: Pane, title: Vec<Span<'_>>, right: Vec<Span<'_>>, buf: &mut Buffer) -> Rect {
    let (Some(area), Some(inner)) = (plan.area(pane), plan.inner(pane)) else { return Rect::default() };
    let focused = scene.state.focus == pane;
    let set = if focused { scene.glyphs.border_focused } else { scene.glyphs.border };
    let style = scene.style(if focused { Role::BorderFocused } else { Role::Border });
    if plan.flat && pane == Pane::Message {
        for y in (area.top()..area.bottom()).filter(|_| focused) {
            buf[(area.left(), y)].set_symbol(set.vertical_left).set_style(style);
        }
        return inner;
    }
    for x in area.left()..area.right() {
        buf[(x, area.y)].set_symbol(set.horizontal_top).set_style(style);
    }
    if !(plan.flat && pane == Pane::Steps) {
        for x in area.left()..area.right() {
            buf[(x, area.bottom() - 1)].set_symbol(set.horizontal_bottom).set_style(style);
        }
        for y in area.top()..area.bottom() {
            buf[(area.left(), y)].set_symbol(set.vertical_left).set_style(style);
            buf[(area.right() - 1, y)].set_symbol(set.vertical_right).set_style(style);
        }
        for (x, y, symbol) in [
            (area.left(), area.top(), set.top_left),
            (area.right() - 1, area.top(), set.top_right),
            (area.left(), area.bottom() - 1, set.bottom_left),
            (area.right() - 1, area.bottom() - 1, set.bottom_right),
        ] {
            buf[(x, y)].set_symbol(symbol).set_style(style);
        }
    }
    let bar = Rect { x: area.x + 2, width: area.width.saturating_sub(4), height: 1, ..area };
    let right_width: usize = right.iter().map(|s| text::width(&s.content)).sum();
    let mut spans = vec![Span::raw(" ")];
    spans.extend(title);
    spans.push(Span::raw(" "));
    let taken = put(buf, bar, &spans, scene.glyphs.ellipsis);
    if right_width > 0 && usize::from(taken) + right_width + 3 <= usize::from(bar.width) {
        let width = right_width as u16 + 2;
        let mut spans = vec![Span::raw(" ")];
        spans.extend(right);
        spans.push(Span::raw(" "));
        put(buf, Rect { x: bar.right() - width, width, ..bar }, &spans, scene.glyphs.ellipsis);
    }
    inner
}

/// Says in a pane's lower border which part of its list is in sight, where that is not all of it.
pub fn extent(scene: &Scene<'_>, plan: &Plan, pane: Pane, offset: usize, total: usize, buf: &mut Buffer) {
    let (Some(area), list) = (plan.area(pane), plan.list(pane)) else { return };
    let room = usize::from(list.height);
    if total <= room || area.width < 24 {
        return;
    }
    let words = format!(" {}-{} of {} ", offset + 1, text::thousands((offset + room).min(total)), text::thousands(total));
    let width = text::width(&words) as u16;
    let foot = Rect { x: area.right().saturating_sub(width + 2), y: area.bottom() - 1, width, height: 1 };
    put(buf, foot, &[scene.span(Role::Muted, words)], scene.glyphs.ellipsis);
}

/// A pane's title, with its digit, bold where the keys go.
pub fn title<'t>(scene: &Scene<'_>, pane: Pane, words: impl Into<std::borrow::Cow<'t, str>>) -> Vec<Span<'t>> {
    let digit = pane.digit();
    let role = if scene.state.focus == pane { Role::Title } else { Role::Text };
    let mut spans = vec![scene.span(Role::Muted, format!("{digit} ")), scene.span(role, words.into())];
    let order = scene.state.order(pane);
    if order != Order::Usual {
        spans.push(scene.span(Role::Accent, format!("  {}", order.words(pane))));
    }
    // The way back, the nearest first.
    if scene.state.focus == pane && (pane == Pane::NodeDetail || Pane::PAGES.contains(&pane)) {
        for spot in scene.state.trail.iter().rev().take(2) {
            spans.push(scene.span(Role::Muted, format!(" {} {}", scene.glyphs.crumb, spot.name())));
        }
    }
    let filter = scene.state.filter(pane);
    if !filter.is_empty() {
        spans.push(scene.span(Role::Accent, format!("  /{filter}")));
    }
    spans
}
