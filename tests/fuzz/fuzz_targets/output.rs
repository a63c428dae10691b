//! Output: every form of any text is plain, and machine-readable forms read back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::output::{self, Lines, Text, is_plain};
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let escaped = output::escape(text);
    assert!(escaped.chars().all(is_plain) && output::escape(&escaped) == escaped);
    let value = json!({ text: [text, {"a": text}] });
    let (json, line, yaml) =
        (output::to_json(&value).expect("JSON"), output::to_json_line(&value).expect("JSON"), output::to_yaml(&value).expect("YAML"));
    for read in [json.as_str(), line.as_str()] {
        assert_eq!(serde_json::from_str::<Value>(read).expect("it reads back"), value);
    }
    let markdown = output::to_markdown(text, &Lines::from(text));
    for text in [json, line, yaml, markdown, Text::document(text.to_owned()), Lines::from(text).into()] {
        assert!(text.as_str().chars().all(|c| c == '\n' || is_plain(c)), "{text:?}");
    }
});
