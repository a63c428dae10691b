//! Time limits and intervals of a connection.

use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use crate::limits::live::{RETRY_AFTER, VERSION_AGAIN};

/// The time limits and intervals of a connection. The defaults suit real servers; tests shorten them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// To connect, and to get the first answer; 10 s.
    pub connect: Duration,
    /// To wait for an answer's start and between two pieces of it; 45 s, after which a silent server counts as hung too.
    pub answer: Duration,
    /// The longest silence of a watch with bookmarks before it counts as dead; 150 s, since bookmarks come once a
    /// minute.
    pub silence: Duration,
    /// The longest silence of a server before it is probed; 30 s, as in client-go.
    pub probe: Duration,
    /// The time limit of the probe, after which all requests are broken off; 15 s, as in client-go.
    pub probe_answer: Duration,
    /// The time limit of a program for credentials that cannot prompt; 60 s.
    pub exec: Duration,
    /// The requested duration of a watch; 290 s. A watch without bookmarks counts as dead a while after that.
    pub watch: Duration,
    /// The first wait after a failure, which doubles with each further one; 800 ms.
    pub backoff: Duration,
    /// The longest wait between two tries; 30 s.
    pub max_backoff: Duration,
    /// The interval between tries if access is forbidden; 60 s.
    pub forbidden: Duration,
    /// The interval between tries if the server does not have the resource; 300 s.
    pub absent: Duration,
    /// The interval between questions for the server's version; [`VERSION_AGAIN`].
    pub version: Duration,
    /// The duration of one second of `Retry-After`, which tests shorten.
    pub second: Duration,
    /// Failures in a row after which the initial state does without a kind, other than Nodes and Pods; 3.
    pub patience: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(45),
            silence: Duration::from_secs(150),
            probe: Duration::from_secs(30),
            probe_answer: Duration::from_secs(15),
            exec: Duration::from_secs(60),
            watch: Duration::from_secs(290),
            backoff: Duration::from_millis(800),
            max_backoff: Duration::from_secs(30),
            forbidden: Duration::from_secs(60),
            absent: Duration::from_secs(300),
            version: VERSION_AGAIN,
            second: Duration::from_secs(1),
            patience: 3,
        }
    }
}

/// An exponential backoff. Each wait is between half and all of its full length, so that many clients of a recovering
/// server do not return at once.
#[derive(Debug)]
pub(super) struct Backoff {
    failures: u32,
    random: fn() -> u64,
}

impl Default for Backoff {
    fn default() -> Self {
        // Each hasher of the standard library has another seed, which is enough randomness here.
        Self { failures: 0, random: || std::collections::hash_map::RandomState::new().build_hasher().finish() }
    }
}

impl Backoff {
    /// Returns the number of failures since the last success.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Counts a failure; returns how long to wait, which is at least what the server asked for.
    pub(super) fn next(&mut self, timing: &Timing, asked: Option<Duration>) -> Duration {
        let full = timing.backoff.saturating_mul(1 << self.failures.min(16)).min(timing.max_backoff);
        self.failures = self.failures.saturating_add(1);
        let part = (self.random)() % 1024;
        let wait = full / 2 + full.mul_f64(part as f64 / 2048.0);
        wait.max(asked.unwrap_or_default().min(RETRY_AFTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_a_limit_start_over_and_honour_what_the_server_asks_for() {
        let timing = Timing { backoff: Duration::from_secs(1), max_backoff: Duration::from_secs(5), ..Timing::default() };
        for (random, full) in [((|| 0) as fn() -> u64, 0.5), (|| 1023, 1.0)] {
            let mut backoff = Backoff { failures: 0, random };
            let waits: Vec<f64> = (0..5).map(|_| backoff.next(&timing, None).as_secs_f64()).collect();
            for (wait, expected) in waits.iter().zip([1.0, 2.0, 4.0, 5.0, 5.0]) {
                assert!((wait - expected * full).abs() < 0.01, "{waits:?}");
            }
            assert_eq!(backoff.next(&timing, Some(Duration::from_secs(60))), Duration::from_secs(60));
            assert_eq!(backoff.next(&timing, Some(Duration::MAX)), RETRY_AFTER);
            assert_eq!(backoff.failures(), 7);
            backoff.reset();
            assert!(backoff.next(&timing, None) <= timing.backoff);
        }
        let mut other = Backoff::default();
        assert!(other.next(&timing, None) >= timing.backoff / 2);
    }
}
