use super::*;
use crate::ui::{Action, Depth};

#[test]
fn the_folder_is_where_the_environment_has_it() {
    let check = |vars: &[(&str, &str)], expected: Option<&str>| {
        let var = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        assert_eq!(folder(var, "XDG_CONFIG_HOME", ".config"), expected.map(PathBuf::from), "{vars:?}");
    };
    check(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")], Some("/x/schedscope"));
    check(&[("XDG_CONFIG_HOME", ""), ("HOME", "/h")], Some("/h/.config/schedscope"));
    let state = |name: &str| (name == "HOME").then(|| "/h".to_owned());
    assert_eq!(folder(state, "XDG_STATE_HOME", ".local/state"), Some(PathBuf::from("/h/.local/state/schedscope")));
    check(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")], Some("/h/.config/schedscope"));
    check(&[("HOME", "")], None);
    check(&[], None);
}

#[test]
fn a_configuration_says_theme_signs_and_keys() {
    let found = parse("c.toml", "theme = 'mine'\nglyphs = 'ascii'\n[keys.global]\nstep = ['m', 'space']");
    assert_eq!((found.theme.as_deref(), found.glyphs, found.problems), (Some("mine"), Some(ASCII), Vec::new()));
    let step = Action::STEP;
    assert_eq!(found.keymap.label(crate::ui::Context::GLOBAL, &step), "m");
    assert_eq!(parse("c.toml", "glyphs = 'unicode'").glyphs, Some(UNICODE));
    assert_eq!(parse("c.toml", ""), Configured::default());
    assert_eq!(["", "mouse = true", "mouse = false"].map(|text| parse("c.toml", text).mouse), [true, true, false]);
}

#[test]
fn the_examples_of_the_book_can_be_used() {
    let page = include_str!("../../../docs/configuration.md");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [config, theme] = blocks[..] else { panic!("{blocks:?}") };
    let found = parse("config.toml", config);
    assert_eq!(found.problems, Vec::<String>::new());
    assert!(found.theme.is_some() && found.glyphs.is_some() && found.keymap != ui::keymap());
    let library = Library::new([("mine".to_owned(), "mine.toml".to_owned(), Ok(theme.to_owned()))]);
    assert!(library.load("mine", Depth::True).is_ok());
}

#[test]
fn problems_name_the_file_and_the_key_and_keep_the_rest() {
    let check = |text: &str, expected: &str| {
        let found = parse("/c.toml", &format!("{text}\n[keys.global]\nuntil = 'Z'"));
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
        assert!(found.problems[0].starts_with(&format!("/c.toml: {expected}")), "{:?}", found.problems);
        assert_eq!(found.keymap, parse("", "keys.global.until = 'Z'").keymap, "{text}");
    };
    check("theme = 1", "theme: must be a string");
    check("glyphs = 'emoji'", "glyphs: must be \"ascii\" or \"unicode\"");
    check("colour = 1", "colour: is not one of theme, glyphs, mouse, keys");
    check("mouse = 'off'", "mouse: must be true or false");
    check("keys.queues.foo = 'x'", "keys.queues.foo: is not one of step-in, open");
    let found = parse("/c.toml", "theme = 'a'\nglyphs =");
    assert_eq!(found.theme, None);
    assert!(found.problems[0].starts_with("/c.toml: line 2, column 9: "), "{:?}", found.problems);
    assert_eq!(parse("/c.toml", "keys = 1").problems, ["/c.toml: keys: must be a table"]);
}

#[test]
fn files_are_found_and_what_cannot_be_read_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join("schedscope");
    assert_eq!(read(Some(&own)), Configured::default());
    assert_eq!(read(None), Configured::default());
    fs::create_dir_all(own.join("themes/folder.toml")).unwrap();
    fs::create_dir_all(own.join("config.toml")).unwrap();
    assert_eq!(read(Some(&own)).problems, [format!("{}: is not a file", own.join("config.toml").display())]);
    fs::remove_dir(own.join("config.toml")).unwrap();
    fs::write(own.join("config.toml"), [0xff, 0xfe]).unwrap();
    assert!(read(Some(&own)).problems[0].contains("UTF-8"), "{:?}", read(Some(&own)).problems);
    fs::write(own.join("config.toml"), "theme = 'mine'").unwrap();
    assert_eq!(read(Some(&own)).theme.as_deref(), Some("mine"));
    for (name, text) in [("mine.toml", "inherits = 'light'"), ("broken.toml", "[roles]\nx = 1"), ("notes.txt", "")] {
        fs::write(own.join("themes").join(name), text).unwrap();
    }
    fs::write(own.join("themes/large.toml"), "#".repeat(1 << 20) + "#").unwrap();
    let library = library(Some(&own.join("themes")));
    assert_eq!(library.load("mine", Depth::True).unwrap().name(), "mine");
    let wrong: Vec<String> = library.entries().into_iter().filter_map(|e| e.problem).collect();
    let path = |name: &str| own.join("themes").join(name).display().to_string();
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert_eq!(wrong[0], format!("{}: roles.x: there is no such role", path("broken.toml")));
    assert_eq!(wrong[1], format!("{}: is not a file", path("folder.toml")));
    assert_eq!(wrong[2], format!("{}: is larger than 1048576 bytes", path("large.toml")));
}
