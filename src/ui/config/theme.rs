//! Themes: styles by meaning, read from TOML.
//!
//! A theme file has a palette and a style for every [`Role`]; it may inherit from another file. Panes use roles, never
//! colours. The number of colours of the terminal is applied once, here. Without colour only weight, underline and reverse
//! video remain; no meaning is lost, because every status has a glyph and a word too.

mod error;

pub use error::{FileError, KeyProblem, SyntaxError, ThemeError};

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use strum::IntoEnumIterator;

use crate::ui::config::themes::{DEFAULT, Library};

/// The meaning of a piece of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumIter, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the keys of theme files and say it")]
pub enum Role {
    Text,
    Muted,
    Strong,
    Title,
    Border,
    BorderFocused,
    Column,
    Selection,
    Accent,
    Key,
    Tab,
    TabActive,
    Fits,
    #[strum(serialize = "may_help")]
    Unschedulable,
    #[strum(serialize = "hopeless")]
    Unresolvable,
    Unseen,
    Failed,
    Victim,
    Violation,
    Winner,
    Fallen,
    Nominated,
    Moved,
    Hypothetical,
    Gated,
    BarUsed,
    BarFree,
    Current,
    Past,
    Ahead,
    PointQueue,
    PointFilter,
    PointScore,
    PointPreempt,
    PointBind,
    PointFailure,
    Notice,
    Warning,
    Error,
}

/// The colours that a terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// None: `NO_COLOR` is set, or the terminal is dumb.
    None,
    /// The 16 named colours.
    Ansi16,
    /// The 256 indexed colours.
    Indexed,
    /// 24 bits.
    #[default]
    True,
}

impl Depth {
    /// Detects the colours from the environment: `NO_COLOR`, then `COLORTERM`, then `TERM`.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        if var("NO_COLOR").is_some_and(|v| !v.is_empty()) {
            return Self::None;
        }
        if var("COLORTERM").is_some_and(|v| v.contains("truecolor") || v.contains("24bit")) {
            return Self::True;
        }
        match var("TERM").unwrap_or_default().as_str() {
            "" | "dumb" => Self::None,
            term if term.contains("direct") => Self::True,
            term if term.contains("256") => Self::Indexed,
            _ => Self::Ansi16,
        }
    }
}

/// A style for every role.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    name: String,
    styles: BTreeMap<Role, Style>,
    ground: Color,
}

/// The palette entry for the background of exported pictures, and its default.
const GROUND: &str = "ground";
const DARK_GROUND: Color = Color::Rgb(0x10, 0x14, 0x1f);

impl Theme {
    /// Returns the default embedded theme, for use in place of a broken one.
    pub fn fallback(depth: Depth) -> Self {
        Self::embedded(DEFAULT, depth).unwrap_or_else(|_| Self { name: DEFAULT.to_owned(), styles: BTreeMap::new(), ground: DARK_GROUND })
    }

    pub fn embedded(name: &str, depth: Depth) -> Result<Self, ThemeError> {
        Library::default().load(name, depth)
    }

    /// Loads a theme and those it inherits from a library. A file that inherits its own name inherits the embedded theme of
    /// that name.
    pub(super) fn load(library: &Library, name: &str, depth: Depth) -> Result<Self, ThemeError> {
        let mut chain: Vec<RawTheme> = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(name) = next.take() {
            let heir = chain.last().map(|t| t.file.as_str());
            let (file, text) = library.find(&name, heir)?;
            if chain.iter().any(|t| t.file == file) {
                return Err(ThemeError::Circle { file: chain[chain.len() - 1].file.clone(), name });
            }
            let raw = RawTheme::parse(&file, text)?;
            next.clone_from(&raw.inherits);
            chain.push(raw);
        }
        Self::resolve(name, depth, &chain)
    }

    /// Merges a chain of files: later files fill the gaps of earlier ones, and roles use the merged palette.
    fn resolve(name: &str, depth: Depth, chain: &[RawTheme]) -> Result<Self, ThemeError> {
        let mut palette = BTreeMap::new();
        for raw in chain.iter().rev() {
            palette.extend(raw.palette.iter().map(|(k, v)| (k.clone(), *v)));
        }
        let mut styles = BTreeMap::new();
        for raw in chain.iter().rev() {
            for (role, spec) in &raw.roles {
                styles.insert(*role, spec.style(&raw.file, *role, &palette, depth)?);
            }
        }
        for role in Role::iter() {
            if !styles.contains_key(&role) {
                let key = format!("roles.{}", <&str>::from(role));
                return Err(ThemeError::Key { file: chain[0].file.clone(), key, problem: KeyProblem::Missing });
            }
        }
        let ground = palette.get(GROUND).map_or(DARK_GROUND, |paint| paint.full);
        Ok(Self { name: name.to_owned(), styles, ground })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the background of exported pictures; on a terminal its own background is used.
    pub fn ground(&self) -> Color {
        self.ground
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles.get(&role).copied().unwrap_or_default()
    }
}

/// A palette entry: the full colour, and its replacement on terminals with 16 colours.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Paint {
    full: Color,
    ansi: Color,
}

#[derive(Debug)]
struct RawTheme {
    file: String,
    inherits: Option<String>,
    palette: BTreeMap<String, Paint>,
    roles: BTreeMap<Role, Spec>,
}

#[derive(Debug, Default)]
struct Spec {
    fg: Option<String>,
    bg: Option<String>,
    modifier: Modifier,
}

impl RawTheme {
    fn parse(file: &str, text: &str) -> Result<Self, ThemeError> {
        let fail = |key: &str, problem: KeyProblem| ThemeError::Key { file: file.to_owned(), key: key.to_owned(), problem };
        let table: toml::Table =
            text.parse().map_err(|e| ThemeError::Syntax { file: file.to_owned(), error: SyntaxError::new(text, &e) })?;
        let mut raw = Self { file: file.to_owned(), inherits: None, palette: BTreeMap::new(), roles: BTreeMap::new() };
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("name", toml::Value::String(_)) => {}
                ("inherits", toml::Value::String(name)) => raw.inherits = Some(name.clone()),
                ("palette", toml::Value::Table(entries)) => {
                    for (name, value) in entries {
                        let paint = parse_paint(value).map_err(|m| fail(&format!("palette.{name}"), m))?;
                        raw.palette.insert(name.clone(), paint);
                    }
                }
                ("roles", toml::Value::Table(entries)) => {
                    for (name, value) in entries {
                        let key = format!("roles.{name}");
                        let role = name.parse::<Role>().map_err(|_| fail(&key, KeyProblem::UnknownRole))?;
                        raw.roles.insert(role, Spec::parse(value).map_err(|m| fail(&key, m))?);
                    }
                }
                ("name" | "inherits", _) => return Err(fail(key, KeyProblem::NotAString)),
                ("palette" | "roles", _) => return Err(fail(key, KeyProblem::NotATable)),
                _ => return Err(fail(key, KeyProblem::UnknownKey)),
            }
        }
        Ok(raw)
    }
}

fn parse_color(text: &str) -> Result<Color, KeyProblem> {
    let named = text.replace('-', "");
    let numeric = named.bytes().all(|b| b.is_ascii_digit());
    match named.parse::<Color>() {
        Ok(color) if !numeric => Ok(color),
        _ => Err(KeyProblem::Color(text.to_owned())),
    }
}

fn parse_paint(value: &toml::Value) -> Result<Paint, KeyProblem> {
    match value {
        toml::Value::String(text) => parse_color(text).map(|c| Paint { full: c, ansi: nearest_ansi(c) }),
        toml::Value::Table(table) => {
            let get = |key: &'static str| match table.get(key) {
                Some(toml::Value::String(text)) => parse_color(text),
                _ => Err(KeyProblem::NoColor(key)),
            };
            if let Some(key) = table.keys().find(|k| !matches!(k.as_str(), "rgb" | "ansi")) {
                return Err(KeyProblem::PaintKey(key.clone()));
            }
            Ok(Paint { full: get("rgb")?, ansi: get("ansi")? })
        }
        _ => Err(KeyProblem::NotAPaint),
    }
}

impl Spec {
    fn parse(value: &toml::Value) -> Result<Self, KeyProblem> {
        let table = match value {
            toml::Value::String(text) => return Ok(Self { fg: Some(text.clone()), ..Self::default() }),
            toml::Value::Table(table) => table,
            _ => return Err(KeyProblem::NotARole),
        };
        let mut spec = Self::default();
        for (key, value) in table {
            let modifier = match key.as_str() {
                "fg" | "bg" => {
                    let text = value.as_str().ok_or_else(|| KeyProblem::RoleString(key.clone()))?.to_owned();
                    *(if key == "fg" { &mut spec.fg } else { &mut spec.bg }) = Some(text);
                    continue;
                }
                "bold" => Modifier::BOLD,
                "dim" => Modifier::DIM,
                "italic" => Modifier::ITALIC,
                "underline" => Modifier::UNDERLINED,
                "reverse" => Modifier::REVERSED,
                _ => return Err(KeyProblem::RoleKey(key.clone())),
            };
            if value.as_bool().ok_or_else(|| KeyProblem::RoleBool(key.clone()))? {
                spec.modifier |= modifier;
            }
        }
        Ok(spec)
    }

    fn style(&self, file: &str, role: Role, palette: &BTreeMap<String, Paint>, depth: Depth) -> Result<Style, ThemeError> {
        let find = |name: &String| match palette.get(name) {
            Some(paint) => Ok(*paint),
            None => parse_color(name).map(|c| Paint { full: c, ansi: nearest_ansi(c) }).map_err(|_| ThemeError::Key {
                file: file.to_owned(),
                key: format!("roles.{}", <&str>::from(role)),
                problem: KeyProblem::NotInPalette(name.clone()),
            }),
        };
        let fg = self.fg.as_ref().map(find).transpose()?;
        let bg = self.bg.as_ref().map(find).transpose()?;
        let mut style = Style::new().add_modifier(self.modifier);
        match depth {
            // A selection is marked by its background alone, so without colour it becomes reverse video.
            Depth::None if bg.is_some() => style = style.add_modifier(Modifier::REVERSED),
            Depth::None => {}
            _ => {
                let pick = |p: Paint| match depth {
                    Depth::Ansi16 => p.ansi,
                    Depth::Indexed => indexed(p.full),
                    _ => p.full,
                };
                style.fg = fg.map(pick);
                style.bg = bg.map(pick);
            }
        }
        Ok(style)
    }
}

/// Returns the nearest colour of the cube and grey ramp of 256-colour terminals.
fn indexed(color: Color) -> Color {
    let Color::Rgb(r, g, b) = color else { return color };
    let step = |v: u8| if v < 48 { 0 } else { (u16::from(v).saturating_sub(35) / 40) as u8 };
    let level = |s: u8| if s == 0 { 0i32 } else { 55 + 40 * i32::from(s) };
    let (cr, cg, cb) = (step(r), step(g), step(b));
    let distance = |x: i32, y: i32, z: i32| (x - i32::from(r)).pow(2) + (y - i32::from(g)).pow(2) + (z - i32::from(b)).pow(2);
    let grey = ((i32::from(r) + i32::from(g) + i32::from(b)) / 3 - 3).clamp(0, 238) / 10;
    let grey_level = 8 + 10 * grey.min(23);
    if distance(grey_level, grey_level, grey_level) < distance(level(cr), level(cg), level(cb)) {
        Color::Indexed((232 + grey.min(23)) as u8)
    } else {
        Color::Indexed(16 + 36 * cr + 6 * cg + cb)
    }
}

/// Returns a named colour for an RGB colour, by its strongest components.
fn nearest_ansi(color: Color) -> Color {
    let Color::Rgb(r, g, b) = color else { return color };
    let strong = r.max(g).max(b);
    if strong < 64 {
        return Color::Black;
    }
    let on = |v: u8| u16::from(v) * 4 > u16::from(strong) * 3;
    match (on(r), on(g), on(b)) {
        (true, true, true) => Color::Gray,
        (true, true, false) => Color::Yellow,
        (true, false, true) => Color::Magenta,
        (false, true, true) => Color::Cyan,
        (true, false, false) => Color::Red,
        (false, true, false) => Color::Green,
        _ => Color::Blue,
    }
}

#[cfg(test)]
mod tests;
