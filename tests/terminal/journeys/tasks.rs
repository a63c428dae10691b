//! Sixteen questions of an operator, and how many keys each answer takes.

use super::words;
use crate::pty::{ENTER, Pty, command};

/// A key or a word that is typed.
#[derive(Clone, Copy)]
enum Typed {
    /// A key.
    Key(&'static str),
    /// A name or another word, which is not counted.
    Word(&'static str),
}

use Typed::{Key, Word};

struct Task {
    question: &'static str,
    arguments: &'static [&'static str],
    /// Words of the first screen.
    first: &'static str,
    typed: &'static [Typed],
    /// The most keys that it may take.
    most: usize,
    /// Words of the answer, all of which are on the last screen, and not all before.
    answer: &'static [&'static str],
}

const PAYMENTS: &[&str] = &["demo", "payments", "--pod", "shop/payments"];

const TASKS: [Task; 16] = [
    Task {
        question: "Why is shop/payments pending?",
        arguments: PAYMENTS,
        first: "shop/payments: ",
        typed: &[],
        most: 0,
        answer: &["8 of 12 nodes have less than 6 cpu free, 3 have a taint it does not tolerate and 1 is cordoned"],
    },
    Task {
        question: "Who blocks the preemption on big-2?",
        arguments: &["demo", "budgets", "--pod", "shop/checkout"],
        first: "shop/checkout: Pending",
        typed: &[Key("9"), Key(ENTER)],
        most: 2,
        answer: &["▾ shop/search", "‼ shop/search-1", "big-2: violates it"],
    },
    Task {
        question: "Which single change lets shop/payments in?",
        arguments: PAYMENTS,
        first: "shop/payments: ",
        typed: &[Key("x")],
        most: 2,
        answer: &["uncordon worker-c3"],
    },
    Task {
        question: "Which pods wait for the same reason as ingress-extra?",
        arguments: &["demo", "payments"],
        first: "drop the pod anti-affinity",
        typed: &[Key("j"), Key(ENTER)],
        most: 2,
        answer: &["platform/ingress-extra-66cb5965df-mkwvj", "platform/ingress-extra-66cb5965df-vcc6p"],
    },
    Task {
        question: "What happens if worker-a1 is drained?",
        arguments: PAYMENTS,
        first: "shop/payments: ",
        typed: &[Key(":"), Word("drain worker-a1"), Key(ENTER)],
        most: 3,
        answer: &["drain worker-a1: "],
    },
    Task {
        question: "Why is worker-a1 not chosen?",
        arguments: PAYMENTS,
        first: "any of these 2 may win",
        typed: &[Key("j"), Key("j")],
        most: 2,
        answer: &["worker-a1 is eliminated", "its highest victim has priority 1000"],
    },
    Task {
        question: "Which score function decides?",
        arguments: &["demo", "tie-breaks", "--pod", "demo/4-fewest-victims"],
        first: "demo/4-fewest-victims: Pending",
        typed: &[],
        most: 0,
        answer: &["decided by MinNumPods"],
    },
    Task {
        question: "How many more pods like this fit?",
        arguments: &["demo", "payments", "--pod", "shop/spread-85969bc548-7z2j5"],
        first: "shop/spread-85969bc548-7z2j5",
        typed: &[Key(":"), Word("capacity"), Key(ENTER)],
        most: 2,
        answer: &["this pod and 1 more like it fit"],
    },
    Task {
        question: "Which nodes have a taint that it does not tolerate?",
        arguments: PAYMENTS,
        first: "shop/payments: ",
        typed: &[Key("2"), Key("/"), Word("taint"), Key(ENTER)],
        most: 3,
        answer: &["/taint: 3 of 12", "infra-1"],
    },
    Task {
        question: "How do I hand this on?",
        arguments: PAYMENTS,
        first: "shop/payments: ",
        typed: &[Key("p"), Key(ENTER)],
        most: 2,
        answer: &["written to ticket.md"],
    },
    Task {
        question: "Which commands carry out the best fix of a cause?",
        arguments: &["demo", "payments"],
        first: "15 pending pods, 6 causes",
        typed: &[Key("x")],
        most: 1,
        answer: &["Pods that it places, one after another", "kubectl uncordon worker-c3"],
    },
    Task {
        question: "When is shop/payments tried again?",
        arguments: &["demo", "aftermath", "--pod", "shop/payments"],
        first: "shop/payments: Pending",
        typed: &[Key("v")],
        most: 1,
        answer: &["tried again when 2 ending pods on worker-a2 are gone"],
    },
    Task {
        question: "Which pod of worker-a1 is evicted first?",
        arguments: PAYMENTS,
        first: "shop/payments: ",
        typed: &[Key(":"), Word("node worker-a1"), Key(ENTER)],
        most: 2,
        answer: &["next victim batch/reports-646f8d7fc5-"],
    },
    Task {
        question: "Which pods run on worker-a1?",
        arguments: &["demo", "payments"],
        first: "15 pending pods, 6 causes",
        typed: &[Key("P"), Key("/"), Word("node:worker-a1"), Key(ENTER)],
        most: 3,
        answer: &["/node:worker-a1: 4 of 50", "shop/checkout-"],
    },
    Task {
        question: "Does the cluster's scheduler decide so too?",
        arguments: &["demo", "aftermath"],
        first: "14 pending pods, 7 causes",
        typed: &[Key("A")],
        most: 1,
        answer: &["8 agree"],
    },
    Task {
        question: "What would two nodes more change?",
        arguments: &["demo", "payments"],
        first: "15 pending pods, 6 causes",
        typed: &[Key(":"), Word("add 2 like worker-a1"), Key(ENTER)],
        most: 2,
        answer: &["pending: 9 pods without, 8 pods with"],
    },
];

#[test]
fn sixteen_answers_take_few_keys() {
    for task in &TASKS {
        let keys = task.typed.iter().filter(|typed| matches!(typed, Key(_))).count();
        assert!(keys <= task.most, "{}: {keys} keys", task.question);
        for (columns, rows) in [(80, 24), (120, 40)] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut pty = Pty::start_at(folder.path(), &[], task.arguments, columns, rows);
            let answers = |screen: &str| {
                let screen = words(screen);
                task.answer.iter().all(|part| screen.contains(part))
            };
            let first = pty.wait_for(task.first);
            assert!(task.typed.is_empty() || !answers(&first), "{}: answered before a key\n{first}", task.question);
            for typed in task.typed {
                let (Key(text) | Word(text)) = typed;
                pty.send(text);
            }
            pty.wait_until(&format!("{:?} is answered with {:?}", task.question, task.answer), |screen| answers(&screen.contents()));
        }
    }
}

/// A second ticket needs no name either.
#[test]
fn tickets_go_to_names_that_are_free() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut pty = Pty::start_at(folder.path(), &[], PAYMENTS, 120, 40);
    pty.wait_for("shop/payments: ");
    pty.send(&format!("p{ENTER}"));
    pty.wait_for("ticket about shop/payments written to ticket.md");
    pty.send(&format!("p{ENTER}"));
    pty.wait_for("ticket about shop/payments written to ticket-2.md");
    for name in ["ticket.md", "ticket-2.md"] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("a ticket");
        assert!(text.starts_with("# shop/payments is pending"), "{name}: {text}");
    }
    command(&mut pty, "export ticket.md");
    pty.wait_for("ticket.md already exists; it is not overwritten");
}
