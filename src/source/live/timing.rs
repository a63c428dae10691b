//! How long to wait for what.

use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// Waiting times of a connection. The defaults suit real servers; tests make them short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// For a connection, and for the first answer when connecting; 10 s.
    pub connect: Duration,
    /// For an answer to begin and, within one, between two pieces of it; 65 s, since API servers give up after 60.
    pub answer: Duration,
    /// How long a watch whose server sends bookmarks may be silent before it is taken to be dead; 150 s, since bookmarks
    /// come once a minute.
    pub silence: Duration,
    /// How long nothing at all may be heard of a server before it is asked for a sign of life; 30 s, as client-go does.
    pub probe: Duration,
    /// How long that may take before all that is under way counts as broken; 15 s, as client-go does.
    pub probe_answer: Duration,
    /// How long a program that makes credentials may take where it can ask nobody; 60 s.
    pub exec: Duration,
    /// How long a watch is asked to last; 290 s. One without bookmarks is dead a while after that.
    pub watch: Duration,
    /// The first wait after a failure, doubled with each one that follows; 800 ms.
    pub backoff: Duration,
    /// The longest wait between two tries; 30 s.
    pub max_backoff: Duration,
    /// Between tries of what is forbidden; 60 s.
    pub forbidden: Duration,
    /// Between tries of what the server does not have; 300 s.
    pub absent: Duration,
    /// How long a second of `Retry-After` takes.
    pub second: Duration,
    /// Failures in a row after which the first picture of the cluster does without a kind, other than Nodes and Pods; 3.
    pub patience: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(65),
            silence: Duration::from_secs(150),
            probe: Duration::from_secs(30),
            probe_answer: Duration::from_secs(15),
            exec: Duration::from_secs(60),
            watch: Duration::from_secs(290),
            backoff: Duration::from_millis(800),
            max_backoff: Duration::from_secs(30),
            forbidden: Duration::from_secs(60),
            absent: Duration::from_secs(300),
            second: Duration::from_secs(1),
            patience: 3,
        }
    }
}

/// Waits between tries that grow from failure to failure, each between half and all of its full length so that many
/// clients of a server that comes back do not come at once.
#[derive(Debug)]
pub(super) struct Backoff {
    failures: u32,
    random: fn() -> u64,
}

impl Default for Backoff {
    fn default() -> Self {
        // Each hasher of the standard library is seeded differently, which is all the chance that is needed here.
        Self { failures: 0, random: || std::collections::hash_map::RandomState::new().build_hasher().finish() }
    }
}

impl Backoff {
    /// Failures since the last success.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Notes a failure; how long to wait now, and no shorter than what the server asked for.
    pub(super) fn next(&mut self, timing: &Timing, asked: Option<Duration>) -> Duration {
        let full = timing.backoff.saturating_mul(1 << self.failures.min(16)).min(timing.max_backoff);
        self.failures = self.failures.saturating_add(1);
        let part = (self.random)() % 1024;
        let wait = full / 2 + full.mul_f64(part as f64 / 2048.0);
        wait.max(asked.unwrap_or_default())
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
            assert_eq!(backoff.failures(), 6);
            backoff.reset();
            assert!(backoff.next(&timing, None) <= timing.backoff);
        }
        let mut other = Backoff::default();
        assert!(other.next(&timing, None) >= timing.backoff / 2);
    }
}
