//! Quantities: a parsed quantity is written and parsed again as the same amount.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::cluster::Quantity;

fuzz_target!(|text: &str| {
    if let Ok(quantity) = text.parse::<Quantity>() {
        let again: Quantity = quantity.to_string().parse().expect("what was written can be read");
        assert_eq!(again.cmp(&quantity), std::cmp::Ordering::Equal, "{text:?} became {quantity}");
    }
});
