//! A kubeconfig: its contexts are read, or it is refused with a message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::source::live::{context_namespaces, contexts, may_ask};

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("schedscope-fuzz-kubeconfig-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("a file for the kubeconfig");
    match contexts(Some(&path)) {
        Ok(known) => {
            for name in known.names.iter().map(Some).chain([None]) {
                let name = name.map(String::as_str);
                let _ = (context_namespaces(Some(&path), name), may_ask(Some(&path), name));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
