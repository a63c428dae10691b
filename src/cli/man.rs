//! `schedscope man DIR`: man pages, for packages.

use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::manual::Manual;
use super::{Cli, EXIT_OK, Failure};
use crate::output::{self, Text};

/// Writes a page for the program and for each of its commands, as new files of a folder, which is created.
pub(super) fn run(folder: &Path) -> Result<u8, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::source(format!("{}: {error}", folder.display())))?;
    for (name, page) in pages()? {
        let path = folder.join(name);
        output::write_new_public(&path, |file| file.write_all(page.as_str().as_bytes()))
            .map_err(|error| Failure::source(format!("{}: {error}", path.display())))?;
    }
    Ok(EXIT_OK)
}

/// Returns each page with the name of its file.
fn pages() -> Result<Vec<(String, Text)>, Failure> {
    // The command `help` has no page.
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let shown = || root.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<String> = std::iter::once(&root).chain(shown()).map(page_name).collect();
    std::iter::once(&root)
        .chain(shown())
        .map(|command| {
            let mut page = Vec::new();
            let name = page_name(command);
            write_page(command, &names, &mut page).map_err(|error| Failure::source(format!("{name}: {error}")))?;
            Ok((format!("{name}.1"), Text::document(String::from_utf8_lossy(&page).into_owned())))
        })
        .collect()
}

/// Returns the name of a command's page. Built commands have names such as schedscope-explain.
fn page_name(command: &Command) -> String {
    command.get_display_name().unwrap_or("schedscope").to_owned()
}

/// Writes a page. The parts that clap knows are written by its crate, without what follows its help.
fn write_page(command: &Command, names: &[String], page: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(command.clone()).manual("schedscope").source(concat!("schedscope ", env!("CARGO_PKG_VERSION")));
    man.render_title(page)?;
    man.render_name_section(page)?;
    section(page, "SYNOPSIS", &[synopsis(command)])?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.has_subcommands() {
        writeln!(page, ".SH COMMANDS")?;
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            tagged(page, &format!("{}(1)", page_name(sub)), &about)?;
        }
    }
    let manual = Manual::of(if command.has_subcommands() { "" } else { command.get_name() });
    section(page, "EXAMPLES", manual.examples)?;
    section(page, "OPERATIONS", manual.operations)?;
    writeln!(page, ".SH EXIT STATUS")?;
    manual.all_exit_codes().iter().try_for_each(|(code, meaning)| tagged(page, code, meaning))?;
    writeln!(page, ".SH ENVIRONMENT")?;
    ENVIRONMENT.iter().try_for_each(|(name, meaning)| tagged(page, name, meaning))?;
    writeln!(page, ".SH FILES")?;
    FILES.iter().try_for_each(|(name, meaning)| tagged(page, name, meaning))?;
    writeln!(page, ".SH SEE ALSO")?;
    let own = page_name(command);
    let others: Vec<String> = names.iter().filter(|name| **name != own).map(|name| format!("\\fB{}\\fR(1)", roff(name))).collect();
    writeln!(page, "{}", others.join(", "))
}

const ENVIRONMENT: [(&str, &str); 5] = [
    ("KUBECONFIG", "The kubeconfigs, as kubectl reads them."),
    ("HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "The proxies to the API server."),
    ("NO_COLOR", "If it is set, colours are off."),
    ("TERM, COLORTERM, COLORFGBG", "The colours of the terminal, and whether its background is dark."),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME", "The places of the settings and of the log."),
];

const FILES: [(&str, &str); 4] = [
    ("~/.kube/config", "The kubeconfig, if KUBECONFIG names none."),
    ("~/.config/schedscope/config.toml", "Settings: the theme, glyphs, the mouse, keys."),
    ("~/.config/schedscope/themes/", "Themes of your own."),
    ("~/.local/state/schedscope/", "The explorer's log, which holds no content of objects."),
];

/// Returns a command's line: its options are listed below.
fn synopsis(command: &Command) -> String {
    let mut line = command.get_bin_name().unwrap_or("schedscope").to_owned() + " [OPTIONS]";
    for argument in command.get_positionals() {
        let name = argument.get_value_names().and_then(<[_]>::first).map_or_else(|| argument.get_id().to_string(), ToString::to_string);
        let several = if argument.get_num_args().is_some_and(|range| range.max_values() > 1) { "..." } else { "" };
        line += &if argument.is_required_set() { format!(" {name}{several}") } else { format!(" [{name}]{several}") };
    }
    if command.has_subcommands() { line + " [COMMAND]" } else { line }
}

/// Writes a section of lines that stay as they are; none without lines.
fn section(page: &mut dyn Write, title: &str, lines: &[impl AsRef<str>]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(page, ".SH {title}\n.nf")?;
    lines.iter().try_for_each(|line| writeln!(page, "{}", roff(line.as_ref())))?;
    writeln!(page, ".fi")
}

/// Writes a paragraph under a tag.
fn tagged(page: &mut dyn Write, tag: &str, text: &str) -> io::Result<()> {
    writeln!(page, ".TP\n\\fB{}\\fR\n{}", roff(tag), roff(text))
}

/// Escapes a line of roff.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    // Lines that begin with these are requests.
    if escaped.starts_with(['.', '\'']) { format!("\\&{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page_with_its_usage_and_examples() {
        let pages = pages().map_err(|failure| failure.message).unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        let expected = ["", "-demo", "-open", "-live", "-capture", "-explain", "-run", "-log", "-completions", "-info", "-schema"];
        let missing: Vec<&&str> = expected.iter().filter(|name| !names.contains(&format!("schedscope{name}.1").as_str())).collect();
        assert!(missing.is_empty() && !names.contains(&"schedscope-man.1"), "{missing:?} of {names:?}");
        for (name, page) in &pages {
            let page = page.as_str();
            let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
            let parts = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"];
            assert!(parts.iter().all(|part| headings.contains(part)), "{name}: {headings:?}");
            let more = ["COMMANDS", "EXAMPLES", "OPERATIONS", "Reading", "Screen"];
            assert!(headings.iter().all(|part| parts.contains(part) || more.contains(part)), "{name}: {headings:?}");
            assert!(!page.contains("schedscope\\-help(1)") && !page.contains("[subcommands]"), "{name}: {page}");
            // A page that another names is there.
            let named = page.split("\\fB").filter_map(|rest| rest.split_once("\\fR(1)").map(|(name, _)| name.replace('\\', "")));
            assert!(named.into_iter().all(|other| names.contains(&format!("{other}.1").as_str())), "{name}");
        }
        let page = |name: &str| pages.iter().find(|(found, _)| found == name).unwrap().1.as_str();
        let explain = page("schedscope-explain.1");
        assert!(explain.contains(".SH SYNOPSIS\n.nf\nschedscope explain [OPTIONS] [[pod/]NAME]...\n"), "{explain}");
        assert!(explain.contains(".SH EXAMPLES\n.nf\nschedscope explain ") && explain.contains("\\-\\-fixes"), "{explain}");
        assert!(page("schedscope-diff.1").contains("a decision changed") && page("schedscope-run.1").contains(".SH OPERATIONS"));
        assert!(page("schedscope-capture.1").contains("[OPTIONS] [FILE]\n"), "{}", page("schedscope-capture.1"));
        assert_eq!(roff(".x \\ -y"), "\\&.x \\e \\-y");
    }
}
