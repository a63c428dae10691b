//! The definition of a pane: one value describes a pane completely.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::cluster::Str;
use crate::session::Timeline;
use crate::ui::config::action::Motion;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::column::Column;
use crate::ui::model::filter::Filter;
use crate::ui::model::list::{RowId, RowList};
use crate::ui::model::page::{PageInput, PageRow};
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::view_model::ViewModel;
use crate::ui::model::{text, time_travel};
use crate::ui::view::draw::{Scene, put};
use crate::ui::view::layout::Plan;
use crate::ui::view::panes;
use crate::ui::view::widgets::matched;

/// Limit on the columns of a filter in a title.
const LONGEST_FILTER: usize = 24;

/// The definition of a pane.
pub struct PaneDef {
    /// Its identity: name, digit, place.
    pub id: Pane,
    /// The context of its keys.
    pub context: Context,
    /// The verb that goes to it, and its help.
    pub verb: (&'static str, &'static str),
    /// Hint and help of the key that opens the selected row; `None` if rows cannot be opened.
    pub open_help: Option<(&'static str, &'static str)>,
    /// Help of the key that goes back; `None` if there is no such key.
    pub back_help: Option<&'static str>,
    /// Help of the key that sorts; empty if there is no such key.
    pub sort_help: &'static str,
    /// Its sort orders, the usual one first; none without a list to sort.
    pub sorts: &'static [SortChoice],
    /// The pane that Back goes to if no location is remembered; `None` if Back does nothing.
    pub home: Option<Pane>,
    /// Returns whether Tab goes to it and it has a tab.
    pub is_open: fn(&State) -> bool,
    /// Returns the words of its tab; empty for its name.
    pub tab: fn(&State) -> String,
    pub rows: Rows,
    /// The fields that a filter of its list can name; empty where they depend on the rows.
    pub fields: &'static [&'static str],
    /// Returns the number of things in its list without a filter, such as pods or nodes; `None` if it is not counted.
    pub total: fn(&State, &Timeline) -> Option<usize>,
    /// Returns the part of the area inside its border that holds the list.
    pub list_area: fn(&Plan, Rect) -> Rect,
    /// Returns the columns whose headings are in a row of the screen. Takes the list's area and the row.
    pub columns: fn(&State, &Timeline, Rect, u16) -> Option<Vec<Column>>,
    /// Returns the object that the pane is about when no row is selected.
    pub subject: fn(&State, &Timeline) -> Option<RowId>,
    /// Returns the node that the pane is about, which other panes highlight.
    pub node: fn(&State, &Timeline) -> Option<Str>,
    /// Goes to it.
    pub visit: fn(&Self, &mut State, &Timeline),
    /// Opens the selected row.
    pub open: fn(&mut State, &mut dyn SessionHandle),
    /// Whether a second click on the selected row opens it.
    pub opens_by_mouse: bool,
    /// Moves the selection, or the pane's substitute for one. Takes the number of rows in sight.
    pub select: fn(&Self, &mut State, &mut dyn SessionHandle, Motion, usize),
    /// Scrolls by lines of the mouse wheel. Takes the number of rows in sight.
    pub scroll: fn(&Self, &mut State, &mut dyn SessionHandle, isize, usize),
    /// Whether it shows a decision; the pod that is selected in the overview is decided before the overview is left for it.
    pub of_decision: bool,
    /// Whether moving in it moves the cursor of the timeline.
    pub moves_cursor: bool,
    /// Runs after the selection has moved.
    pub selected: fn(&mut State, &Plan),
    /// Returns the text to copy; `None` copies the selected object.
    pub copy: Option<CopyText>,
    pub draw: fn(&Self, &Scene<'_>, &Plan, &mut Buffer),
}

/// Returns the name of a text and the text; an error says why there is none.
pub type CopyText = fn(&Timeline) -> Result<(&'static str, String), &'static str>;

/// The rows of a pane.
pub enum Rows {
    /// No list.
    None,
    /// A list that is made after every change.
    List {
        /// Makes the rows.
        make: fn(&mut State, &Timeline),
        get: fn(&ViewModel) -> &dyn RowList,
    },
    /// Facts and tables, made while the pane is in sight. Takes the object that the page is about.
    Page(fn(&PageInput<'_>, Option<&RowId>, &mut Filter) -> Vec<PageRow>),
}

impl PaneDef {
    /// Returns a definition: identity, context, the verb that goes to the pane with its help, and its drawing. The pane has
    /// no list, is always open, and its list area is all of its inside.
    pub const fn new(
        id: Pane,
        context: Context,
        verb: (&'static str, &'static str),
        draw: fn(&Self, &Scene<'_>, &Plan, &mut Buffer),
    ) -> Self {
        Self {
            id,
            context,
            verb,
            open_help: None,
            back_help: None,
            sort_help: "",
            sorts: &[],
            home: None,
            is_open: |_| true,
            tab: |_| String::new(),
            rows: Rows::None,
            fields: &[],
            total: |_, _| None,
            list_area: |_, inner| inner,
            columns: |_, _, _, _| None,
            subject: |_, _| None,
            node: |_, _| None,
            visit: Self::show,
            open: |_, _| {},
            opens_by_mouse: true,
            select: Self::select_row,
            scroll: Self::scroll_list,
            of_decision: false,
            moves_cursor: false,
            selected: |_, _| {},
            copy: None,
            draw,
        }
    }

    pub fn list<'m>(&self, model: &'m ViewModel) -> &'m dyn RowList {
        const NONE: &Vec<PageRow> = &Vec::new();
        match self.rows {
            Rows::None => NONE,
            Rows::List { get, .. } => get(model),
            Rows::Page(_) => model.page(self.id),
        }
    }

    /// Returns whether it has a list, which can be filtered.
    pub fn has_list(&self) -> bool {
        !matches!(self.rows, Rows::None)
    }

    /// Returns the words of its tab, with its digit.
    pub fn tab_words(&self, state: &State) -> String {
        let words = (self.tab)(state);
        let words = if words.is_empty() { self.id.name.to_owned() } else { text::clip(&words, 24, "…").into_owned() };
        format!("{} {words}", self.id.key())
    }

    /// Returns a sort order of its list, with its name.
    pub fn choice(&self, sort: Sort) -> Option<SortChoice> {
        self.sorts.iter().find(|choice| choice.sort == sort).copied()
    }

    /// Goes to the pane. The way back from a page stays, and begins with the page itself.
    pub fn show(&self, state: &mut State, timeline: &Timeline) {
        time_travel::pin(state, timeline, self.id);
        let is_page = state.arrangement.whole.is_some() || panes::def(state.focus).home.is_some();
        if is_page && state.focus != self.id {
            state.leave(self.id);
        }
        // Rows may have been left out while the pane was out of sight.
        state.touch_rows(self.id);
        state.show(self.id);
        state.focus = self.id;
    }

    /// Goes to the pane as a page.
    pub fn show_page(&self, state: &mut State, timeline: &Timeline) {
        time_travel::pin(state, timeline, self.id);
        state.open_page(self.id);
    }

    /// Moves the selection of its list.
    fn select_row(&self, state: &mut State, _: &mut dyn SessionHandle, motion: Motion, height: usize) {
        state.lists.entry(self.id).or_default().go(self.list(&state.view_model), motion, height);
    }

    fn scroll_list(&self, state: &mut State, _: &mut dyn SessionHandle, by: isize, height: usize) {
        state.lists.entry(self.id).or_default().scroll(self.list(&state.view_model), by, height);
    }

    /// Returns the area of its list; empty if the pane is not visible.
    pub fn list_in(&self, plan: &Plan) -> Rect {
        plan.inner(self.id).map_or_else(Rect::default, |inner| (self.list_area)(plan, inner))
    }

    /// Draws its border with the title, and words at the right. Returns the area inside.
    pub fn chrome(&self, scene: &Scene<'_>, plan: &Plan, title: Vec<Span<'_>>, right: Vec<Span<'_>>, buf: &mut Buffer) -> Rect {
        let pane = self.id;
        let (Some(area), Some(inner)) = (plan.area(pane), plan.inner(pane)) else { return Rect::default() };
        let focused = scene.state.focus == pane;
        let set = if focused { scene.glyphs.border_focused } else { scene.glyphs.border };
        let style = scene.style(if focused { Role::BorderFocused } else { Role::Border });
        if plan.is_line(pane) || (plan.flat && pane == Pane::MESSAGE) {
            for y in (area.top()..area.bottom()).filter(|_| focused) {
                buf[(area.left(), y)].set_symbol(set.vertical_left).set_style(style);
            }
            return inner;
        }
        for x in area.left()..area.right() {
            buf[(x, area.y)].set_symbol(set.horizontal_top).set_style(style);
        }
        if !(plan.flat && pane == Pane::STEPS) {
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

    /// Draws the visible range of its list into the lower border, unless all of it is visible.
    pub fn extent(&self, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
        let (Some(area), list) = (plan.area(self.id), self.list_in(plan)) else { return };
        let (offset, rows) = (scene.state.list(self.id).offset, self.list(&scene.state.view_model));
        let room = usize::from(list.height);
        if room == 0 || rows.count() <= room || area.width < 24 {
            return;
        }
        // Headings are not counted.
        let [first, last, total] = [offset, offset + room, rows.count()].map(|end| rows.selectable(end));
        let words = format!(" {}-{} of {} ", text::thousands((first + 1).min(last)), text::thousands(last), text::thousands(total));
        let width = text::columns(&words);
        let foot = Rect { x: area.right().saturating_sub(width + 2), y: area.bottom() - 1, width, height: 1 };
        put(buf, foot, &[scene.span(Role::Muted, words)], scene.glyphs.ellipsis);
    }

    /// Draws the first of the texts that fits into the lower border, left of the range of visible rows.
    pub fn foot(&self, scene: &Scene<'_>, plan: &Plan, forms: &[String], buf: &mut Buffer) {
        /// The corners and the range.
        const AROUND: u16 = 24;
        let Some(area) = plan.area(self.id) else { return };
        let room = usize::from(area.width.saturating_sub(AROUND));
        let Some(words) = forms.iter().find(|words| text::width(words) + 2 <= room) else { return };
        let foot = Rect { x: area.x + 2, y: area.bottom() - 1, width: area.width.saturating_sub(4), height: 1 };
        put(buf, foot, &[scene.span(Role::Muted, format!(" {words} "))], scene.glyphs.ellipsis);
    }

    /// Marks the letters that its filter matches in the visible rows.
    pub fn mark_matches(&self, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
        let mut filter = scene.state.row_filter(self.id);
        if filter.is_empty() {
            return;
        }
        let (list, rows, offset) = (self.list_in(plan), self.list(&scene.state.view_model), scene.state.list(self.id).offset);
        for (i, y) in (list.top()..list.bottom()).enumerate() {
            if rows.id_at(offset + i).is_some() {
                matched::mark(scene, &mut filter, Rect { y, height: 1, ..list }, buf);
            }
        }
    }

    /// Returns that its filter names a field that its list does not have, if that decides about the rows.
    pub fn unknown_field(&self, state: &State) -> Option<String> {
        let filter = state.row_filter(self.id);
        let (field, negated) = filter.unknown_field(self.fields).filter(|_| !self.fields.is_empty())?;
        // Rows may have the whole word in their text.
        let decides = negated || self.list(&state.view_model).things() == 0;
        decides.then(|| format!("no field \"{field}\" here"))
    }

    /// Returns its title with digit, filter, sort order and the way back. The filter comes first, so that it is never
    /// clipped.
    pub fn title<'t>(&self, scene: &Scene<'_>, words: impl Into<std::borrow::Cow<'t, str>>) -> Vec<Span<'t>> {
        let (pane, key) = (self.id, self.id.key());
        let role = if scene.state.focus == pane { Role::Title } else { Role::Text };
        let mut spans = vec![scene.span(Role::Muted, format!("{key} "))];
        let filter = scene.state.filter(pane);
        if !filter.is_empty() {
            let filter = text::clip(filter, LONGEST_FILTER, scene.glyphs.ellipsis);
            match self.unknown_field(scene.state) {
                Some(words) => spans.push(scene.span(Role::Warning, format!("/{filter}: {words}  "))),
                None => {
                    let kept = text::thousands(self.list(&scene.state.view_model).things());
                    let of = (self.total)(scene.state, scene.timeline).map_or_else(String::new, |n| format!(" of {}", text::thousands(n)));
                    spans.push(scene.span(Role::Accent, format!("/{filter}: {kept}{of}  ")));
                }
            }
        }
        spans.push(scene.span(role, words.into()));
        let sort = scene.state.sort_of(pane);
        if let Some(choice) = self.choice(sort).filter(|_| sort != Sort::Usual) {
            spans.push(scene.span(Role::Accent, format!("  {}", choice.words)));
        }
        // The way back, nearest location first.
        if scene.state.focus == pane && self.home.is_some() {
            for location in scene.state.history.iter().rev().take(2) {
                spans.push(scene.span(Role::Muted, format!(" {} {}", scene.glyphs.crumb, location.name())));
            }
        }
        spans
    }
}
