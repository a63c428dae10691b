//! The program from a user's view: keys and screens, commands and their output, and the README's statements about them.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../common/api_server.rs"]
mod api_server;
#[cfg(unix)]
#[path = "../common/interrupts.rs"]
mod interrupts;
#[cfg(unix)]
#[path = "../common/pty.rs"]
mod pty;

#[cfg(unix)]
mod completion;
#[cfg(unix)]
mod edges;
#[cfg(unix)]
mod explorer;
mod garbage;
#[cfg(unix)]
mod journeys;
mod live_explorer;
mod live_log;
#[cfg(unix)]
mod live_screen;
mod packages;
mod pages;
mod print;
#[cfg(unix)]
mod readme;
mod tickets;
