//! Tests of `themes`.

use super::*;
use crate::ui::config::theme::Role;
use ratatui::style::Color;

fn library(user: &[(&str, &str)]) -> Library {
    Library::new(user.iter().map(|(n, text)| ((*n).to_owned(), format!("/c/{n}.toml"), Ok((*text).to_owned()))))
}

#[test]
fn the_reader_s_themes_go_with_and_replace_embedded_ones() {
    let own = "inherits = 'dark'\n[palette]\nink = '#123456'";
    let library = library(&[("mine", "inherits = 'dark'"), ("dark", own), ("broken", "x = 1")]);
    assert_eq!(library.names(), ["dark", "light", "high-contrast", "colour-blind", "16-colour", "broken", "mine"]);
    // A user's theme that inherits its own name changes the embedded one; other themes inherit the change.
    for name in ["dark", "mine", "light"] {
        let expected = if name == "light" { Color::Rgb(0x2d, 0x33, 0x45) } else { Color::Rgb(0x12, 0x34, 0x56) };
        assert_eq!(library.load(name, Depth::True).unwrap().style(Role::Text).fg, Some(expected), "{name}");
    }
    let wrong: Vec<ThemeEntry> = library.entries().into_iter().filter(|e| e.problem.is_some()).collect();
    assert_eq!(wrong.len(), 1);
    assert_eq!((wrong[0].name.as_str(), wrong[0].file.as_deref()), ("broken", Some("/c/broken.toml")));
    assert!(wrong[0].problem.as_ref().unwrap().starts_with("/c/broken.toml: x: is not a key of a theme"), "{wrong:?}");
}

#[test]
fn circles_and_files_that_cannot_be_read_are_reported() {
    let library = library(&[("a", "inherits = 'b'"), ("b", "inherits = 'a'")]);
    assert_eq!(library.load("a", Depth::True).unwrap_err().to_string(), "/c/b.toml: inherits: \"a\" inherits from itself");
    let library = Library::new([("a".to_owned(), "/c/a.toml".to_owned(), Err(std::io::Error::other("permission denied").into()))]);
    assert_eq!(library.load("a", Depth::True).unwrap_err().to_string(), "/c/a.toml: permission denied");
    let unknown = library.load("nope", Depth::True).unwrap_err().to_string();
    assert_eq!(unknown, "no theme is called \"nope\"; there are dark, light, high-contrast, colour-blind, 16-colour, a");
}

/// Returns the relative luminance of a colour as the WCAG defines it, from 0 to 1.
fn luminance([r, g, b]: [f64; 3]) -> f64 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn linear(color: Color) -> [f64; 3] {
    let Color::Rgb(r, g, b) = color else { panic!("{color:?} is no full colour") };
    [r, g, b].map(|v| f64::from(v) / 255.0).map(|v| if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) })
}

const SPOKEN: [Role; 14] = [
    Role::Text,
    Role::Muted,
    Role::Key,
    Role::Fits,
    Role::Unschedulable,
    Role::Unresolvable,
    Role::Unseen,
    Role::Failed,
    Role::Victim,
    Role::Nominated,
    Role::Moved,
    Role::Notice,
    Role::Warning,
    Role::Error,
];

#[test]
fn words_stand_out_from_the_background() {
    for (name, background, least) in [("dark", 0.01, 3.5), ("light", 1.0, 4.0), ("high-contrast", 0.0, 7.0), ("colour-blind", 0.0, 4.5)] {
        let theme = Theme::embedded(name, Depth::True).unwrap();
        for role in SPOKEN {
            let light = luminance(linear(theme.style(role).fg.unwrap()));
            let ratio = (light.max(background) + 0.05) / (light.min(background) + 0.05);
            assert!(ratio >= least, "{name} {role:?}: {ratio:.1}");
        }
    }
}

/// Matrices of colours seen without red, green or blue cones (Machado, Oliveira and Fernandes 2009, severity 1).
const BLINDNESS: [(&str, [[f64; 3]; 3]); 3] = [
    ("protanopia", [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]]),
    ("deuteranopia", [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]]),
    ("tritanopia", [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]]),
];

/// Converts linear sRGB to CIE Lab.
fn lab(rgb: [f64; 3]) -> [f64; 3] {
    const XYZ: [[f64; 3]; 3] = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]];
    let bend = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let [x, y, z] = XYZ.map(|row| bend(row.iter().zip(rgb).map(|(m, v)| m * v).sum()));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Returns the smallest distance (CIE76) between the colours of two verdicts, and for which vision.
fn closest(name: &str) -> (f64, String) {
    let theme = Theme::embedded(name, Depth::True).unwrap();
    let mut least = (f64::MAX, String::new());
    for (kind, matrix) in BLINDNESS {
        let seen = |role: Role| {
            let c = linear(theme.style(role).fg.unwrap());
            lab(matrix.map(|row| row.iter().zip(c).map(|(m, v)| m * v).sum::<f64>().clamp(0.0, 1.0)))
        };
        for (a, b) in [
            (Role::Fits, Role::Unschedulable),
            (Role::Fits, Role::Unresolvable),
            (Role::Unschedulable, Role::Unresolvable),
            (Role::Fits, Role::Victim),
        ] {
            let distance = seen(a).iter().zip(seen(b)).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
            if distance < least.0 {
                least = (distance, format!("{a:?} and {b:?} with {kind}"));
            }
        }
    }
    least
}

#[test]
fn verdicts_stay_apart_for_the_colour_blind() {
    let (distance, who) = closest("colour-blind");
    assert!(distance > 30.0, "{distance:.0}: {who}");
    let (dark, who) = closest("dark");
    assert!(dark < 20.0, "the measure tells a theme apart that is not made for it: {dark:.0}, {who}");
}
