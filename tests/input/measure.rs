//! The settings of the measurements that are run by hand, and the cost of a command of the program.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails may panic, and prints its figures")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Returns a number of the environment.
pub(crate) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the program that is measured.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("SCHEDSCOPE_SOAK_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_schedscope").into(), PathBuf::from)
}

/// Returns the next of a row of numbers that look random.
pub(crate) fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Prints the time and the memory of a command of the program.
pub(crate) fn measured(arguments: &[&str], source: &Path) {
    let begin = Instant::now();
    let output = Command::new("/usr/bin/time").arg("-v").arg(program()).args(arguments).arg(source).output().unwrap();
    let (took, said) = (begin.elapsed(), String::from_utf8_lossy(&output.stderr).into_owned());
    let field = |name: &str| said.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap_or("?").to_owned();
    let megabytes = field("Maximum resident set size (kbytes): ").parse::<u64>().unwrap_or(0) / 1000;
    let (user, system) = (field("User time (seconds): "), field("System time (seconds): "));
    println!("{took:>8.2?}  {megabytes:>5} MB  {user} s + {system} s  exit {:?}  {}", output.status.code(), arguments.join(" "));
}
