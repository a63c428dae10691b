//! Programs that were started and must not outlive this one.

use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The process groups of the programs that run, by the id of their leader.
static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<u32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program with a process group of its own, which ends with this program unless this value was dropped before.
#[derive(Debug)]
pub struct ChildGroup(u32);

impl ChildGroup {
    /// Remembers the group of a leader that is not waited for yet: its id belongs to no other group.
    pub fn new(leader: u32) -> Self {
        groups().push(leader);
        Self(leader)
    }

    /// Ends all processes of the group.
    pub fn end(&self) {
        end(self.0);
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        groups().retain(|leader| *leader != self.0);
    }
}

/// Ends the programs that run, before this one ends.
pub fn end_children() {
    groups().drain(..).for_each(end);
}

#[cfg(unix)]
fn end(leader: u32) {
    // The standard library signals single processes only. A group that has ended is no error.
    let kill = Command::new("sh")
        .args(["-c", &format!("kill -KILL -{leader}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let _ = kill;
}

#[cfg(not(unix))]
fn end(_leader: u32) {}
