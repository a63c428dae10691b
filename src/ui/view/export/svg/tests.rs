//! Tests of `svg`.

use ratatui::style::Style;

use super::*;
use crate::ui::config::theme::Depth;

fn drawn(text: &str, style: Style, theme: &str, depth: Depth) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, 12, 1));
    buf.set_string(0, 0, text, style);
    svg(&buf, &Theme::embedded(theme, depth).unwrap())
}

fn texts_of(svg: &str) -> Vec<&str> {
    svg.lines().filter(|l| l.starts_with("<text")).collect()
}

#[test]
fn the_grid_holds_for_wide_and_combining_letters() {
    let svg = drawn("a节e\u{301}b─★c", Style::new(), "dark", Depth::True);
    let at = |column: u32, columns: u32, text: &str| {
        let (x, length) = (px(MARGIN + column * COLUMN), px(columns * COLUMN));
        format!("<text x=\"{x}\" y=\"22.9\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\">{text}</text>")
    };
    let expected = [at(0, 1, "a"), at(1, 2, "节"), at(3, 1, "e\u{301}"), at(4, 1, "b"), at(5, 1, "─"), at(6, 1, "★"), at(7, 5, "c    ")];
    assert_eq!(texts_of(&svg), expected);
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"120.8\" height=\"37\""), "{svg}");
}

#[test]
fn markup_in_names_stays_text() {
    let svg = drawn("<b>&\"x\"", Style::new(), "dark", Depth::True);
    assert!(texts_of(&svg)[0].ends_with(">&lt;b&gt;&amp;\"x\"     </text>"), "{svg}");
    assert_eq!(escaped("\u{1b}\u{ffff}"), "\u{fffd}\u{fffd}");
}

#[test]
fn styles_are_painted_at_every_depth() {
    let check = |theme: &str, depth, role, parts: &[&str], ground: &str| {
        let style = Theme::embedded(theme, depth).unwrap().style(role);
        let svg = drawn("word", style, theme, depth);
        assert!(svg.contains(&format!("rx=\"6\" fill=\"{ground}\"")), "{svg}");
        for part in parts {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
    };
    check("dark", Depth::True, Role::Fits, &["fill=\"#94cf8e\">word"], "#10141f");
    check("dark", Depth::Ansi16, Role::Fits, &["fill=\"#00cd00\">word"], "#10141f");
    check("dark", Depth::Indexed, Role::Fits, &["fill=\"#87d787\">word"], "#10141f");
    check("dark", Depth::True, Role::TabActive, &["font-weight=\"bold\" text-decoration=\"underline\">word"], "#10141f");
    check("light", Depth::True, Role::Fits, &["fill=\"#2b7a2e\">word"], "#ffffff");
    // Without colour a selection is reversed: dark letters on a light bar.
    let bar = format!("width=\"{}\" height=\"17\" fill=\"#c9d1e3\"/>", px(4 * COLUMN));
    check("dark", Depth::None, Role::Selection, &[&bar, "fill=\"#10141f\" font-weight=\"bold\">word"], "#10141f");
}

#[test]
fn an_animation_shows_each_screen_in_turn_and_writes_shared_rows_once() {
    let frame = |caption: &str, lines: [&str; 2]| {
        let mut screen = Buffer::empty(Rect::new(0, 0, 6, 2));
        screen.set_string(0, 0, lines[0], Style::new());
        screen.set_string(0, 1, lines[1], Style::new());
        Frame { caption: caption.to_owned(), screen }
    };
    let frames = [frame("start", ["head", "one"]), frame("n", ["head", "two"]), frame("<", ["", "one"])];
    let svg = animation(&frames, 1.5, &Theme::embedded("dark", Depth::True).unwrap());
    assert!(svg.contains("height=\"71\"") && svg.contains("animation:f 4.50s") && svg.contains("{animation-delay:3.00s}"), "{svg}");
    let shown: Vec<&str> = svg.lines().filter(|line| line.starts_with("<g class")).collect();
    let uses = |ids: &[usize]| ids.iter().map(|id| format!("<use href=\"#r{id}\"/>")).collect::<String>();
    let expected = [[0, 1, 2].as_slice(), &[0, 3, 4], &[1, 5]].map(|ids| format!("<g class=\"f\">{}</g>", uses(ids)));
    assert_eq!(shown, expected);
    assert_eq!((svg.matches(">head  </text>").count(), svg.matches(">one   </text>").count()), (1, 1));
    assert!(svg.contains(">&lt;</text>"), "{svg}");
}

#[test]
fn a_page_leads_from_screen_to_screen_without_a_script() {
    let frame = |caption: &str, line: &str| {
        let mut screen = Buffer::empty(Rect::new(0, 0, 6, 2));
        screen.set_string(0, 0, "head", Style::new());
        screen.set_string(0, 1, line, Style::new());
        Frame { caption: caption.to_owned(), screen }
    };
    let theme = Theme::embedded("light", Depth::True).unwrap();
    let page = page(&[frame("start", "one"), frame("</h2><script>", "two"), frame("n", "<b>")], 1.5, &theme);
    let step = |number: usize| {
        let rest = page.split_once(&format!("<section class=\"step\" id=\"s{number}\">")).expect("a step").1;
        rest.split_once("</section>").expect("its end").0
    };
    let links = |number: usize| step(number).lines().filter(|line| line.starts_with("<a ")).collect::<Vec<_>>().join(" ");
    assert_eq!(links(1), "<a href=\"#s2\">Next</a> <a href=\"#steps\">Play</a>");
    assert_eq!(links(3), "<a href=\"#s2\">Back</a> <a href=\"#s1\">First</a> <a href=\"#steps\">Play</a>");
    assert!(step(2).contains("<h2>2 of 3: &lt;/h2&gt;&lt;script&gt;</h2>"), "{page}");
    assert_eq!(page.matches(">head  </text>").count(), 1, "a row that screens share is written once: {page}");
    assert!(page.contains("animation:f 4.50s") && page.contains(":nth-child(3){animation-delay:3.00s}"), "{page}");
    assert!(page.contains("color-scheme:light") && page.contains("text{white-space:pre}") && !page.contains("<b>"), "{page}");
    let style = page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).expect("a style").0;
    assert!(page.contains(&format!("style-src '{}'", output::style_hash(style))), "the policy allows the style");
    let one = super::page(&[frame("", "one")], 1.0, &theme);
    assert!(!one.contains("<nav>") && !one.contains("<a ") && one.contains("<use href=\"#r1\"></use>"), "{one}");
}
