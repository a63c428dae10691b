//! Tests of `theme`.

use super::*;
use crate::ui::config::themes::EMBEDDED;

#[test]
fn every_embedded_theme_loads_at_every_depth() {
    for (name, _) in EMBEDDED {
        for depth in [Depth::None, Depth::Ansi16, Depth::Indexed, Depth::True] {
            let theme = Theme::embedded(name, depth).unwrap();
            for role in Role::iter() {
                let style = theme.style(role);
                let coloured = style.fg.is_some() || style.bg.is_some();
                assert!(depth != Depth::None || !coloured, "{name} {role:?} keeps a colour without colours");
                assert!(!matches!(style.fg, Some(Color::Rgb(..))) || depth == Depth::True, "{name} {role:?} {depth:?}");
            }
            assert_ne!(theme.style(Role::Selection), Style::new(), "a selection is always to be seen");
            assert_ne!(theme.style(Role::Moved), theme.style(Role::Text), "what moved is always to be seen");
        }
    }
}

#[test]
fn a_child_changes_the_palette_under_inherited_roles() {
    let dark = Theme::embedded("dark", Depth::True).unwrap();
    let light = Theme::embedded("light", Depth::True).unwrap();
    assert_eq!(light.style(Role::Fits).fg, Some(Color::Rgb(0x2b, 0x7a, 0x2e)));
    assert_ne!(dark.style(Role::Fits), light.style(Role::Fits));
}

fn error(text: &str) -> String {
    let user = [("mine".to_owned(), "/etc/mine.toml".to_owned(), Ok(text.to_owned()))];
    Library::new(user).load("mine", Depth::True).unwrap_err().to_string()
}

#[test]
fn errors_name_the_file_and_the_key() {
    let check = |text: &str, expected: &str| {
        let text = error(text);
        assert!(text.contains(expected), "{text}");
        assert!(text.starts_with("/etc/mine.toml: ") && !text.contains('\n'), "{text}");
    };
    check("name = ", "line 1, column 8: ");
    check("[palette]\na = '#000000'\na = 1", "line 3, column 1: duplicate key");
    check("inherits = 1", "inherits: must be a string");
    check("inherits = 'mine'", "inherits: \"mine\" inherits from itself");
    check(
        "inherits = 'gone'",
        "inherits: no theme is called \"gone\"; there are dark, light, high-contrast, colour-blind, 16-colour, mine",
    );
    check("palette = 1", "palette: must be a table");
    check("colour = 1", "colour: is not a key");
    check("[palette]\na = 'blurple'", "palette.a: \"blurple\" is neither");
    check("[palette]\na = '12'", "palette.a: \"12\" is neither");
    check("[palette]\na = 1", "palette.a: must be a colour");
    check("[palette]\na = { rgb = '#000000' }", "palette.a: needs ansi");
    check("[palette]\na = { rgb = '#000000', ansi = 'red', hsl = '' }", "palette.a: \"hsl\" is neither");
    check("[roles]\nwinners = 'red'", "roles.winners: there is no such role");
    check("[roles]\nwinner = 'green'", "roles.text: is missing");
    check("inherits = 'dark'\n[roles]\nwinner = 'moss'", "roles.winner: the palette has no \"moss\"");
    check("inherits = 'dark'\n[roles]\nwinner = 1", "roles.winner: must be a palette entry");
    check("inherits = 'dark'\n[roles]\nwinner = { bold = 1 }", "roles.winner: bold must be");
    check("inherits = 'dark'\n[roles]\nwinner = { fg = 1 }", "roles.winner: fg must be");
    check("inherits = 'dark'\n[roles]\nwinner = { blink = true }", "roles.winner: \"blink\" is not one of");
}

#[test]
fn the_environment_decides_the_depth() {
    let check = |vars: &[(&str, &str)], expected: Depth| {
        let get = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        assert_eq!(Depth::detect(get), expected, "{vars:?}");
    };
    check(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")], Depth::None);
    check(&[("NO_COLOR", ""), ("COLORTERM", "truecolor")], Depth::True);
    check(&[("TERM", "xterm-256color")], Depth::Indexed);
    check(&[("TERM", "xterm-direct")], Depth::True);
    check(&[("TERM", "linux")], Depth::Ansi16);
    check(&[("TERM", "dumb")], Depth::None);
    check(&[], Depth::None);
}

#[test]
fn full_colours_have_neighbours_in_the_cube() {
    assert_eq!(indexed(Color::Rgb(255, 255, 255)), Color::Indexed(231));
    assert_eq!(indexed(Color::Rgb(0, 0, 0)), Color::Indexed(16));
    assert_eq!(indexed(Color::Rgb(128, 128, 128)), Color::Indexed(244));
    assert_eq!(nearest_ansi(Color::Rgb(230, 60, 60)), Color::Red);
    assert_eq!(nearest_ansi(Color::Rgb(10, 10, 10)), Color::Black);
}
