//! Answers of device selectors, shared by all nodes of a cycle; no counterpart upstream, where every node evaluates them again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::cel::{Activation, EvalError, Selector};
use crate::limits::engine::MAX_KNOWN_MATCHES;

/// A verdict with its cost in units of cel-go's cost.
type Verdict = (Result<bool, EvalError>, u64);

/// Evaluated selectors by the addresses of selector and device, which the allocator keeps alive and unmoved.
#[derive(Debug)]
pub(super) struct Matches {
    known: Mutex<HashMap<(usize, usize), Verdict>>,
    limit: usize,
}

impl Default for Matches {
    fn default() -> Self {
        Self::up_to(MAX_KNOWN_MATCHES)
    }
}

impl Matches {
    fn up_to(limit: usize) -> Self {
        Self { known: Mutex::default(), limit }
    }

    /// Returns the selector's verdict on the device, evaluated at most once while the limit allows to keep it.
    pub(super) fn of(&self, selector: &Selector, activation: &Activation<'_>) -> Verdict {
        let key = (std::ptr::from_ref(selector) as usize, std::ptr::from_ref(activation.device()) as usize);
        if let Some(known) = self.lock().get(&key) {
            return known.clone();
        }
        let verdict = selector.evaluate(activation);
        let mut known = self.lock();
        if known.len() < self.limit {
            known.insert(key, verdict.clone());
        }
        verdict
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(usize, usize), Verdict>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::Environment;
    use crate::cluster::resource::Device;

    #[test]
    fn answers_are_kept_up_to_a_limit_and_equal_beyond_it() {
        let selectors = ["true", "false", "1 / 0 == 0"].map(|text| Selector::compile(text, Environment::default()).unwrap());
        let (driver, device) = ("d".into(), Device::default());
        let matches = Matches::up_to(2);
        for _ in 0..2 {
            for selector in &selectors {
                let activation = || Activation::new(&driver, &device, Environment::default());
                assert_eq!(matches.of(selector, &activation()), selector.evaluate(&activation()));
            }
        }
        assert_eq!(matches.lock().len(), 2);
    }
}
