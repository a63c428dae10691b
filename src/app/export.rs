//! Writes the screen or a decision to a file.

use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::WriteError;
use crate::output::{self, Text};
use crate::ui::{self, Export, Glyphs, NewFile, Scene, SessionHandle, State, Theme};

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
        source: driver.source(),
        live: driver.live_status(),
        release: driver.emulated(),
        branch: &branch,
    })
}

/// Handles [`ui::Effect::Export`]: writes the file, then shows a notice or a warning.
pub(super) fn export(state: &mut State, driver: &dyn SessionHandle, theme: &Theme, glyphs: &Glyphs, file: &NewFile, export: &Export) {
    match write(state, driver, theme, glyphs, file, export) {
        Ok(path) => state.say(format!("written to {path}")),
        Err(error) => state.warn(error.to_string()),
    }
}

/// Writes a new file. Returns its path.
fn write(
    state: &State,
    driver: &dyn SessionHandle,
    theme: &Theme,
    glyphs: &Glyphs,
    file: &NewFile,
    export: &Export,
) -> Result<String, WriteError> {
    match export {
        Export::Words(text) => write_file(file, text),
        Export::Screen(form) => {
            write_file(file, &Text::document(ui::view::export::write(*form, &screen(state, driver, theme, glyphs), theme)))
        }
    }
}

/// Returns the drawn screen.
pub(super) fn screen(state: &State, driver: &dyn SessionHandle, theme: &Theme, glyphs: &Glyphs) -> Buffer {
    let area = Rect::new(0, 0, state.size.0, state.size.1);
    let mut buf = Buffer::empty(area);
    with_scene(state, driver, theme, glyphs, |scene| ui::draw(scene, area, &mut buf));
    buf
}

/// Writes a text to a new file: the one that is named, or the first of a free name. Returns its path.
pub(super) fn write_file(file: &NewFile, text: &Text) -> Result<String, WriteError> {
    let mut number = 1;
    loop {
        let path = file.path(number).unwrap_or_default();
        number += 1;
        match write_text(&path, text) {
            Err(WriteError::Exists { .. }) if file.path(number).is_some() => {}
            result => return result.map(|()| path),
        }
    }
}

/// Writes a text to a new file.
pub(super) fn write_text(path: &str, text: &Text) -> Result<(), WriteError> {
    let written = output::write_new(Path::new(path), |file| file.write_all(text.as_str().as_bytes()));
    written.map_err(|error| WriteError::create(path, error))
}
