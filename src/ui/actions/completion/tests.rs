use super::*;
use crate::ui::actions::arguments;

fn prompt(line: &str, words: &[&str], chosen: Option<usize>) -> Prompt {
    Prompt {
        typing: Typing::Command,
        input: line.into(),
        before: String::new(),
        completions: words.iter().map(|w| Completion { word: (*w).to_owned(), takes: "", help: "" }).collect(),
        chosen,
    }
}

#[test]
fn words_complete_as_far_as_they_agree() {
    let check = |line: &str, words: &[&str], expected: Option<&str>| {
        assert_eq!(complete(&prompt(line, words, None)).as_deref(), expected, "{line} of {words:?}");
    };
    check("nod", &["node", "uncordon"], Some("node "));
    check("node worker-a", &["worker-a1", "worker-a2"], Some("node worker-a1"));
    check("node w", &["worker-a1", "worker-a2"], Some("node worker-a"));
    check("cordon a2", &["worker-a2"], Some("cordon worker-a2"));
    check("x", &[], None);
    assert_eq!(complete(&prompt("node w", &["worker-a1", "worker-a2"], Some(1))).as_deref(), Some("node worker-a2"));
}

#[test]
fn one_match_completes() {
    let check = |line: &str, words: &[&str], expected: Option<&str>| {
        assert_eq!(only(&prompt(line, words, None)).as_deref(), expected, "{line} of {words:?}");
    };
    check("node a2", &["worker-a2"], Some("node worker-a2"));
    check("node w", &["worker-a1", "worker-a2"], None);
    check("pod pay", &["shop/payments", "shop/spread-daily"], Some("pod shop/payments"));
    check("pod shop/pay", &["shop/pay", "shop/payments"], None);
    check("node ", &["worker-a1"], None);
    check("cord", &["cordon", "uncordon"], Some("cordon"));
    check("x", &[], None);
    // Letters in order are no reason to act on another pod.
    check("pod app-00060", &["shop/app-00600-6c"], None);
}

#[test]
fn a_complete_word_stays_where_longer_ones_begin_with_it() {
    let all = ["web", "web-2"];
    let words = arguments::words(all, "web");
    let prompt = Prompt { completions: words, ..prompt("break budget web", &[], None) };
    assert_eq!(prompt.completions.len(), 2);
    assert_eq!(only(&prompt), None);
    assert_eq!(complete(&prompt).as_deref(), Some("break budget web-2"));
    assert!(arguments::words(all, "web-2").is_empty());
}

#[test]
fn commands_are_found_by_what_they_do() {
    let table = crate::ui::actions::table();
    let names = |line: &str| commands(&table, line).into_iter().map(|c| c.word).collect::<Vec<_>>();
    assert_eq!(names("bran"), ["branch", "branches", "compare", "release", "undo"]);
    assert!(names("zzz").is_empty() && names("").len() > 20);
    assert_eq!(names("dump"), ["capture", "diff", "open", "open!"]);
}
