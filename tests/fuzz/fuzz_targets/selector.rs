//! Selectors: any value that the API could hold, valid or not, gives an answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::cluster::{LabelSelector, Labels, NodeSelector, Str};

fuzz_target!(|input: (&str, Vec<(&str, &str)>)| {
    let (text, pairs) = input;
    let labels = Labels::from_iter(pairs.iter().map(|(k, v)| (*k, Str::from(*v))));
    if let Ok(selector) = serde_json::from_str::<LabelSelector>(text) {
        let empty = selector.is_empty();
        assert!(!empty || (selector.matches(&labels) && selector.validate().is_ok()), "an empty selector matches everything");
        let _ = (selector.validate(), selector.matches(&labels));
    }
    if let Ok(selector) = serde_json::from_str::<NodeSelector>(text) {
        selector.matches(&labels, None);
        for term in selector.node_selector_terms.iter() {
            let _ = (term.error(), term.errors("spec"), term.is_empty());
        }
    }
});
