//! Time limits and intervals of a connection.

use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use tokio::time::Instant;

use crate::limits::live as limits;

/// The time limits and intervals of a connection. The defaults suit real servers; tests shorten them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// To connect, and to read the server's version; 10 s.
    pub connect: Duration,
    /// To wait for an answer's start, and for each [`Bounds::slowest`](super::Bounds::slowest) bytes of it; 45 s. Also for discovery as a
    /// whole.
    pub answer: Duration,
    /// The longest silence of a watch before it counts as dead; 45 s, since the server ends each watch after `watch`.
    pub silence: Duration,
    /// The longest silence of a server before it is probed; 30 s, as in client-go.
    pub probe: Duration,
    /// The time limit of the probe, after which all requests are broken off; 15 s, as in client-go.
    pub probe_answer: Duration,
    /// The time limit of a program for credentials that cannot prompt; 60 s.
    pub exec: Duration,
    /// The silence of a followed log, after which it is asked for again; 10 min.
    pub log_silence: Duration,
    /// The requested duration of a watch; 30 s, so that one that hangs alone is soon missed.
    pub watch: Duration,
    /// The first wait after a failure, which doubles with each further one; 800 ms.
    pub backoff: Duration,
    /// The longest wait between two tries, before jitter; 30 s.
    pub max_backoff: Duration,
    /// The time without a failure after which waits start over; 2 min.
    pub backoff_reset: Duration,
    /// The interval between tries if access is forbidden; 60 s.
    pub forbidden: Duration,
    /// The interval between tries if the server does not have the resource; 300 s.
    pub absent: Duration,
    /// The interval between questions for the server's version; [`limits::VERSION_AGAIN`].
    pub version: Duration,
    /// The interval between questions for workloads, quotas and the events of others while a cluster is followed;
    /// [`limits::NEIGHBORS_AGAIN`].
    pub neighbors: Duration,
    /// The duration of one second of `Retry-After`, which tests shorten.
    pub second: Duration,
    /// The longest wait that the server may ask for; 60 s.
    pub retry_after: Duration,
    /// Failures in a row after which the initial state does without a kind, other than Nodes and Pods; 3. Failing for as long as
    /// `answer` has the same effect.
    pub patience: u32,
    /// The time of the whole initial state, which then does without the kinds that are not read; 10 min.
    pub first_load: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: limits::CONNECT,
            answer: limits::ANSWER,
            silence: limits::ANSWER,
            probe: Duration::from_secs(30),
            probe_answer: Duration::from_secs(15),
            exec: limits::PLUGIN,
            log_silence: limits::LOG_SILENCE,
            watch: Duration::from_secs(30),
            backoff: Duration::from_millis(800),
            max_backoff: Duration::from_secs(30),
            backoff_reset: Duration::from_secs(120),
            forbidden: Duration::from_secs(60),
            absent: Duration::from_secs(300),
            version: limits::VERSION_AGAIN,
            neighbors: limits::NEIGHBORS_AGAIN,
            second: Duration::from_secs(1),
            retry_after: limits::RETRY_AFTER,
            patience: 3,
            first_load: limits::FIRST_LOAD,
        }
    }
}

/// An exponential backoff with the jitter of client-go's reflectors (`NewReflectorWithOptions` in
/// `staging/src/k8s.io/client-go/tools/cache/reflector.go`): each wait is between one and two times its length, and waits start
/// over only after a while without any. A success alone does not reset them, so that a server that fails after each success is not
/// asked without a pause.
#[derive(Debug)]
pub(super) struct Backoff {
    /// Failures since the last success.
    failures: u32,
    /// Waits since they started over.
    steps: u32,
    /// When the last wait began.
    last: Option<Instant>,
    random: fn() -> u64,
}

impl Default for Backoff {
    fn default() -> Self {
        // Each hasher of the standard library has another seed, which is enough randomness here.
        Self { failures: 0, steps: 0, last: None, random: || std::collections::hash_map::RandomState::new().build_hasher().finish() }
    }
}

impl Backoff {
    /// Returns the number of failures since the last success.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// Records a success.
    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Returns whether there was no wait for a while.
    pub(super) fn is_fresh(&self, timing: &Timing) -> bool {
        self.last.is_none_or(|last| last.elapsed() > timing.backoff_reset)
    }

    /// Returns how long to wait without a failure, as before a watch that ended very soon.
    pub(super) fn pause(&mut self, timing: &Timing) -> Duration {
        if self.is_fresh(timing) {
            self.steps = 0;
        }
        self.last = Some(Instant::now());
        let full = timing.backoff.saturating_mul(1 << self.steps.min(16)).min(timing.max_backoff);
        self.steps = self.steps.saturating_add(1);
        full + full.mul_f64(((self.random)() % 1024) as f64 / 1024.0)
    }

    /// Makes the next wait the longest.
    pub(super) fn exhaust(&mut self) {
        self.last = Some(Instant::now());
        self.steps = 16;
    }

    /// Counts a failure; returns how long to wait, which is at least what the server asked for, within the limit.
    pub(super) fn next(&mut self, timing: &Timing, asked: Option<Duration>) -> Duration {
        self.failures = self.failures.saturating_add(1);
        self.pause(timing).max(asked.unwrap_or_default().min(timing.retry_after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_a_limit_start_over_and_honour_what_the_server_asks_for() {
        let timing = Timing { backoff: Duration::from_secs(1), max_backoff: Duration::from_secs(5), ..Timing::default() };
        for (random, factor) in [((|| 0) as fn() -> u64, 1.0), (|| 1023, 2.0)] {
            let mut backoff = Backoff { random, ..Backoff::default() };
            assert!(backoff.is_fresh(&timing));
            let waits: Vec<f64> = (0..5).map(|_| backoff.next(&timing, None).as_secs_f64()).collect();
            for (wait, expected) in waits.iter().zip([1.0, 2.0, 4.0, 5.0, 5.0]) {
                assert!((wait - expected * factor).abs() < 0.01, "{waits:?}");
            }
            assert_eq!(backoff.next(&timing, Some(Duration::from_secs(60))), Duration::from_secs(60));
            assert_eq!(backoff.next(&timing, Some(Duration::MAX)), limits::RETRY_AFTER);
            assert_eq!(backoff.failures(), 7);
            backoff.succeeded();
            assert_eq!(backoff.failures(), 0);
            assert!(backoff.next(&timing, None) >= timing.max_backoff, "a success does not start waits over");
            let timing = Timing { backoff_reset: Duration::ZERO, ..timing.clone() };
            std::thread::sleep(Duration::from_micros(1));
            assert!(backoff.is_fresh(&timing) && backoff.next(&timing, None) <= timing.backoff * 2, "time does");
        }
    }
}
