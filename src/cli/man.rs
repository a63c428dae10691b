//! `schedscope man DIR`: man pages, for packages.

use std::io::Write as _;
use std::path::Path;

use clap::{Command, CommandFactory as _};

use super::{Cli, EXIT_OK, Failure};
use crate::output::{self, Text};

/// Writes a page for the program and for each of its commands, as new files.
pub(super) fn run(folder: &Path) -> Result<u8, Failure> {
    for (name, page) in pages()? {
        let path = folder.join(name);
        output::write_new(&path, |file| file.write_all(page.as_str().as_bytes()))
            .map_err(|error| Failure::source(format!("{}: {error}", path.display())))?;
    }
    Ok(EXIT_OK)
}

/// Returns each page with the name of its file.
fn pages() -> Result<Vec<(String, Text)>, Failure> {
    let mut root = Cli::command();
    root.build();
    let shown = root.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    // Built commands have names such as schedscope-explain.
    std::iter::once(&root).chain(shown).cloned().map(page).collect()
}

fn page(command: Command) -> Result<(String, Text), Failure> {
    let name = format!("{}.1", command.get_display_name().unwrap_or("schedscope"));
    let mut page = Vec::new();
    let written =
        clap_mangen::Man::new(command).manual("schedscope").source(concat!("schedscope ", env!("CARGO_PKG_VERSION"))).render(&mut page);
    written.map_err(|error| Failure::source(format!("{name}: {error}")))?;
    Ok((name, Text::document(String::from_utf8_lossy(&page).into_owned())))
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
            assert!(page.as_str().contains(".SH NAME") && page.as_str().contains(".SH SYNOPSIS"), "{name}: {}", page.as_str());
        }
        let explain = &pages.iter().find(|(name, _)| name == "schedscope-explain.1").unwrap().1;
        assert!(explain.as_str().contains("Examples:") && explain.as_str().contains("\\-\\-fixes"), "{}", explain.as_str());
    }
}
