//! Ends the program before a limit on its memory (`ulimit -v`) does. Rust aborts where an allocation fails, and nothing can catch that.
//!
//! Memory that grows by less than [`MEMORY_LEFT`] between two looks is seen in time; one larger allocation still aborts. Where there
//! is a limit, the allocator must reserve little address space ahead, as that counts.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::thread;
#[cfg(target_os = "linux")]
use std::{env, process::Command};

use super::signals;
#[cfg(target_os = "linux")]
use crate::limits::terminal::RESERVED_MEMORY;
use crate::limits::terminal::{MEMORY_LEFT, MEMORY_LOOK};

/// Exit code of a program that ran out of memory: the source could not be read.
const OUT_OF_MEMORY: i32 = 3;

/// The variable from which mimalloc takes how much it reserves at a time, in KiB; that doubles after every eighth time. Without
/// a reserve it would ask the system for each page of 64 KiB.
#[cfg(target_os = "linux")]
const ALLOCATOR_RESERVE: &str = "MIMALLOC_ARENA_RESERVE";

/// The variable from which glibc takes how many of its threads may reserve 64 MiB each. Its allocator serves a few buffers of the system.
#[cfg(target_os = "linux")]
const LIBRARY_RESERVE: &str = "MALLOC_ARENA_MAX";

/// Starts this program again, with allocators that reserve little, if the system limits its memory. For a `main` whose allocator is
/// mimalloc, before anything else. Returns where there is no limit, where that is done already, or where it cannot be done.
#[cfg(target_os = "linux")]
pub fn reserve_little_under_a_limit() {
    use std::os::unix::process::CommandExt as _;
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    if limit_of(&limits).is_none() || env::var_os(ALLOCATOR_RESERVE).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let mut again = Command::new(program);
    again
        .arg0(arguments.next().unwrap_or_default())
        .args(arguments)
        .env(ALLOCATOR_RESERVE, (RESERVED_MEMORY >> 10).to_string())
        .env(LIBRARY_RESERVE, "1");
    // It returns where it fails only.
    let _ = again.exec();
}

/// Starts the thread that watches memory, if the system limits it.
pub fn end_on_little_memory() {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let Some(limit) = limit_of(&limits) else { return };
    let Ok(mut status) = File::open("/proc/self/status") else { return };
    let mut is_little = move || used(&mut status).map(|used| used.saturating_add(MEMORY_LEFT) > limit);
    let end = move || signals::end(Some(format!("schedscope: out of memory: the system's limit is {} MiB", limit >> 20)), OUT_OF_MEMORY);
    match is_little() {
        Some(true) => end(),
        Some(false) => {}
        None => return,
    }
    let watch = move || {
        loop {
            match is_little() {
                Some(true) => end(),
                Some(false) => thread::sleep(MEMORY_LOOK),
                None => return,
            }
        }
    };
    let _ = thread::Builder::new().name("memory".to_owned()).stack_size(128 << 10).spawn(watch);
}

/// Returns the limit on the address space, in bytes; `None` without one.
fn limit_of(limits: &str) -> Option<u64> {
    let rest = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns the address space in use, in bytes.
fn used(status: &mut File) -> Option<u64> {
    let mut buffer = [0; 4096];
    status.rewind().ok()?;
    let count = status.read(&mut buffer).ok()?;
    let text = std::str::from_utf8(buffer.get(..count)?).ok()?;
    let size = text.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    Some(size.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_read_where_there_is_one() {
        let limits =
            |soft: &str| format!("Limit  Soft Limit  Hard Limit  Units\nMax address space         {soft}      unlimited    bytes\n");
        assert_eq!([limit_of(&limits("1024")), limit_of(&limits("unlimited")), limit_of("")], [Some(1024), None, None]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_in_use_is_read() {
        let used = used(&mut File::open("/proc/self/status").unwrap());
        assert!(used > Some(1 << 20), "{used:?}");
    }
}
