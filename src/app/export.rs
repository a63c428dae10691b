//! Writes the screen or a decision to a file.

use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::WriteError;
use crate::output::{self, Text};
use crate::ui::{self, Export, Glyphs, Scene, SessionHandle, State, Theme};

/// Passes everything that drawing reads to a function.
pub(super) fn with_scene<R>(
    state: &State,
    driver: &dyn SessionHandle,
    theme: &Theme,
    glyphs: &Glyphs,
    draw: impl FnOnce(&Scene<'_>) -> R,
) -> R {
    let branch = ui::branch_label(driver);
    let pod = driver.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
    let written = pod.and_then(|pod| driver.written(&pod));
    let taken = driver.taken().and_then(|taken| taken.age(Timestamp::now()));
    draw(&Scene {
        taken: taken.as_deref(),
        written: written.as_ref(),
        state,
        timeline: driver.timeline(),
        theme,
        glyphs,
        source: &driver.source(),
        live: driver.live_status(),
        release: driver.emulated(),
        branch: &branch,
    })
}

/// Handles [`ui::Effect::Export`]: writes the file, then shows a notice or a warning.
pub(super) fn export(state: &mut State, driver: &dyn SessionHandle, theme: &Theme, glyphs: &Glyphs, path: &str, export: &Export) {
    match write(state, driver, theme, glyphs, path, export) {
        Ok(()) => state.say(format!("written to {path}")),
        Err(error) => state.warn(error.to_string()),
    }
}

/// Writes a new file.
pub(super) fn write(
    state: &State,
    driver: &dyn SessionHandle,
    theme: &Theme,
    glyphs: &Glyphs,
    path: &str,
    export: &Export,
) -> Result<(), WriteError> {
    let text = match export {
        Export::Words(text) => text.clone(),
        Export::Screen(form) => Text::document(ui::view::export::write(*form, &screen(state, driver, theme, glyphs), theme)),
    };
    write_text(path, &text)
}

/// Returns the drawn screen.
pub(super) fn screen(state: &State, driver: &dyn SessionHandle, theme: &Theme, glyphs: &Glyphs) -> Buffer {
    let area = Rect::new(0, 0, state.size.0, state.size.1);
    let mut buf = Buffer::empty(area);
    with_scene(state, driver, theme, glyphs, |scene| ui::draw(scene, area, &mut buf));
    buf
}

/// Writes a text to a new file.
pub(super) fn write_text(path: &str, text: &Text) -> Result<(), WriteError> {
    let written = output::write_new(Path::new(path), |file| file.write_all(text.as_str().as_bytes()));
    written.map_err(|error| WriteError::create(path, error))
}
