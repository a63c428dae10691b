//! Shares the answers to requests for single objects for a short time: a search for fixes asks for the same pod many times at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::connection::lock;
use crate::limits::live::{OBJECT_KEPT, OBJECTS_KEPT};

/// Identifies the state of an object: its path, and its resource version as far as that is known.
pub(super) type StateOf = (String, Option<String>);

/// An answer: the text of the object, or why there is none.
pub(super) type Answer = Result<Arc<[u8]>, String>;

/// The newest answers.
#[derive(Debug, Default)]
pub(super) struct Objects {
    asked: Mutex<HashMap<StateOf, Arc<Asked>>>,
}

/// A request. It is answered once, for all that wait for it.
#[derive(Debug, Default)]
struct Asked {
    answer: OnceLock<(Answer, Instant)>,
}

impl Asked {
    fn is_over(&self, now: Instant) -> bool {
        self.answer.get().is_some_and(|(_, at)| now.saturating_duration_since(*at) >= OBJECT_KEPT)
    }
}

impl Objects {
    /// Returns the answer about an object, and asks for it unless that was done a moment ago. Concurrent callers wait for one request.
    pub(super) fn get(&self, state: StateOf, ask: impl FnOnce() -> Answer) -> Answer {
        self.get_at(state, Instant::now(), ask)
    }

    fn get_at(&self, state: StateOf, now: Instant, ask: impl FnOnce() -> Answer) -> Answer {
        let asked = {
            let mut known = lock(&self.asked);
            known.retain(|_, asked| !asked.is_over(now));
            if known.len() >= OBJECTS_KEPT && !known.contains_key(&state) {
                known.retain(|_, asked| asked.answer.get().is_none());
            }
            Arc::clone(known.entry(state).or_default())
        };
        asked.answer.get_or_init(|| (ask(), Instant::now())).0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn of(name: usize, version: &str) -> StateOf {
        (format!("/api/v1/namespaces/shop/pods/{name}"), Some(version.to_owned()))
    }

    #[test]
    fn an_object_is_asked_for_once_until_it_changes_or_the_answer_is_old() {
        let (objects, asked) = (Objects::default(), AtomicUsize::new(0));
        let ask = || {
            asked.fetch_add(1, Ordering::Relaxed);
            std::thread::yield_now();
            Ok(Arc::from(&b"{}"[..]))
        };
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| objects.get(of(1, "5"), ask).unwrap());
            }
        });
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        objects.get(of(1, "6"), ask).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        objects.get_at(of(1, "6"), Instant::now() + OBJECT_KEPT, ask).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert_eq!(objects.get(of(2, "1"), || Err("it is gone".to_owned())).unwrap_err(), "it is gone");
    }

    #[test]
    fn few_answers_are_kept() {
        let objects = Objects::default();
        for number in 0..3 * OBJECTS_KEPT {
            objects.get(of(number, "1"), || Ok(Arc::from(&b"{}"[..]))).unwrap();
        }
        assert!(lock(&objects.asked).len() <= OBJECTS_KEPT);
    }
}
