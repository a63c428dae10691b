//! KubeSchedulerConfiguration: decoded, or refused with a message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::release::{Emulation, FeatureGates, Profile};
use schedscope::scheduler::Config;

fuzz_target!(|text: &str| {
    let whole = Config::parse(text, Emulation::default());
    let head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    let body = Config::parse(&format!("{head}{text}"), Emulation::default());
    for error in [whole.err(), body.err()].into_iter().flatten() {
        assert!(!error.to_string().is_empty());
    }
    let _ = FeatureGates::parse(text, Profile::newest());
});
