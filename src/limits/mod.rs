//! The limits of what input from outside may cost: bytes, objects, requests, steps and time, in one table.
//!
//! Whatever reads a dump, a session, a log, a configuration, an answer of a server or of an extender, or what a user types, takes its
//! limit from here. Each file of this module holds the limits of one part of the program; [`all`] returns them in one list.
//! A test compares the table below with the list, and looks for the test that each row names;
//! `SCHEDSCOPE_UPDATE_LIMITS=1 cargo test --test engine limits` writes the table anew.
//!
//! <!-- limits -->
//! | limit | amount | about | test |
//! | --- | --- | --- | --- |
//! <!-- /limits -->

use std::time::Duration;

/// A limit with its name, amount and test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The part of the program: a file of this module.
    pub part: &'static str,
    /// The name of the constant.
    pub name: &'static str,
    /// The amount.
    pub amount: Amount,
    /// What it limits, and what happens beyond it.
    pub about: &'static str,
    /// The name of the test function that reaches it.
    pub test: &'static str,
}

/// The amount of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Things: objects, files, requests, levels.
    Count(u64),
    /// Steps of a computation.
    Steps(u64),
    /// Time.
    Time(Duration),
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(bytes) => {
                let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
                match units.into_iter().find(|(unit, _)| bytes >= unit && bytes.is_multiple_of(*unit)) {
                    Some((unit, name)) => write!(f, "{} {name}", bytes / unit),
                    None => write!(f, "{bytes} bytes"),
                }
            }
            Self::Count(count) => write!(f, "{}", crate::plural::thousands(*count as usize)),
            Self::Steps(steps) => write!(f, "{} steps", crate::plural::thousands(*steps as usize)),
            Self::Time(time) => write!(f, "{time:?}"),
        }
    }
}

/// Declares limits: a constant each, and a list `LIMITS` of all. A row is the documentation (what is limited; what happens beyond),
/// the unit (`bytes`, `count`, `steps` or `time`), the constant and the test that reaches it.
macro_rules! limits {
    ($part:literal: $($(#[doc = $about:expr])+ $unit:ident $name:ident: $type:ty = $value:expr, $test:literal;)*) => {
        $($(#[doc = $about])+ pub const $name: $type = $value;)*
        pub(super) const LIMITS: &[super::Limit] = &[$(super::Limit {
            part: $part,
            name: stringify!($name),
            amount: limits!(@amount $unit $name),
            about: concat!($($about),+),
            test: $test,
        }),*];
    };
    (@amount bytes $name:ident) => { super::Amount::Bytes($name as u64) };
    (@amount count $name:ident) => { super::Amount::Count($name as u64) };
    (@amount steps $name:ident) => { super::Amount::Steps($name as u64) };
    (@amount time $name:ident) => { super::Amount::Time($name) };
}

pub mod engine;
pub mod extenders;
pub mod live;
pub mod sessions;
pub mod sources;
pub mod terminal;

/// Returns all limits, part by part.
pub fn all() -> impl Iterator<Item = Limit> {
    [sources::LIMITS, live::LIMITS, extenders::LIMITS, sessions::LIMITS, engine::LIMITS, terminal::LIMITS].into_iter().flatten().copied()
}
