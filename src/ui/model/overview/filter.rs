//! The filter of the overview: words, and values of fields such as `queue:gated` or `age:>1h`, each with `!` for not.

use jiff::Timestamp;

use crate::report::WaitReason;
use crate::ui::model::fuzzy::Fuzzy;
use crate::ui::model::overview::{PodRow, preemption_words};

/// A field of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Cause,
    Plugin,
    Reason,
    Queue,
    Namespace,
    Name,
    Priority,
    Age,
    Attempts,
    Preemption,
    Agreement,
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "cause" => Self::Cause,
            "plugin" => Self::Plugin,
            "reason" => Self::Reason,
            "queue" => Self::Queue,
            "namespace" | "ns" => Self::Namespace,
            "name" | "pod" => Self::Name,
            "priority" => Self::Priority,
            "age" => Self::Age,
            "attempts" | "tries" => Self::Attempts,
            "preemption" => Self::Preemption,
            "agreement" => Self::Agreement,
            _ => return None,
        })
    }
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

enum Test {
    /// Letters of the name, or a part of any fact, in lower case.
    Anywhere(Fuzzy, String),
    /// A part of a field.
    Within(Field, String),
    /// A number, or seconds.
    Number(Field, Compare, i64),
}

/// The terms of a filter, all of which must hold.
pub(super) struct Terms(Vec<(bool, Test)>);

/// The facts about a pod that a filter reads.
pub(super) struct Facts<'a> {
    pub(super) row: &'a PodRow,
    /// The cause in words.
    pub(super) sentence: &'a str,
    /// The key of the cause.
    pub(super) cause: &'a str,
    pub(super) waits: Option<&'a WaitReason>,
    pub(super) now: Timestamp,
}

impl Terms {
    /// Parses a filter. A word with an unknown field is searched for as it is.
    pub(super) fn parse(text: &str) -> Self {
        let parse = |word: &String| {
            let (not, word) = word.strip_prefix('!').map_or((false, word.as_str()), |rest| (true, rest));
            let test = match word.split_once(':').and_then(|(name, value)| Some((Field::named(&name.to_lowercase())?, value))) {
                // A field without a value yet, while it is typed.
                Some((_, "")) => return None,
                Some((field, value)) => number(field, value).unwrap_or_else(|| Test::Within(field, value.to_lowercase())),
                None if word.is_empty() => return None,
                None => Test::Anywhere(Fuzzy::new(word), word.to_lowercase()),
            };
            Some((not, test))
        };
        Self(words(text).iter().filter_map(parse).collect())
    }

    /// Returns whether everything matches.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a pod matches all terms.
    pub(super) fn keeps(&mut self, facts: &Facts<'_>) -> bool {
        self.0.iter_mut().all(|(not, test)| test.holds(facts) != *not)
    }
}

/// Splits a filter at blanks outside of quotation marks.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in text.chars() {
        match (c, words.last_mut()) {
            ('"', _) => quoted = !quoted,
            (c, _) if c.is_whitespace() && !quoted => words.push(String::new()),
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn number(field: Field, value: &str) -> Option<Test> {
    if !matches!(field, Field::Priority | Field::Age | Field::Attempts) {
        return None;
    }
    let (compare, digits) =
        [(">=", Compare::AtLeast), ("<=", Compare::AtMost), (">", Compare::More), ("<", Compare::Less), ("=", Compare::Equal)]
            .into_iter()
            .find_map(|(sign, compare)| Some((compare, value.strip_prefix(sign)?)))
            // An age is hardly ever exact.
            .unwrap_or((if field == Field::Age { Compare::AtLeast } else { Compare::Equal }, value));
    let unit = match digits.chars().last().filter(|_| field == Field::Age) {
        Some('s') => Some(1),
        Some('m') => Some(60),
        Some('h') => Some(3600),
        Some('d') => Some(86_400),
        _ => None,
    };
    let digits = if unit.is_some() { digits.get(..digits.len() - 1)? } else { digits };
    let number: i64 = digits.parse().ok()?;
    Some(Test::Number(field, compare, number.saturating_mul(unit.unwrap_or(1))))
}

impl Test {
    fn holds(&mut self, facts: &Facts<'_>) -> bool {
        match self {
            Self::Anywhere(fuzzy, word) => {
                let prose = [Field::Cause, Field::Plugin, Field::Reason, Field::Queue];
                fuzzy.keeps_key(&facts.row.key) || prose.iter().any(|field| facts.any(*field, word))
            }
            Self::Within(field, part) => facts.any(*field, part),
            Self::Number(field, compare, wanted) => facts.number(*field).is_some_and(|number| match compare {
                Compare::Less => number < *wanted,
                Compare::AtMost => number <= *wanted,
                Compare::Equal => number == *wanted,
                Compare::AtLeast => number >= *wanted,
                Compare::More => number > *wanted,
            }),
        }
    }
}

impl Facts<'_> {
    /// Returns whether a text of the field contains a part, which is in lower case.
    fn any(&self, field: Field, part: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(part);
        match field {
            Field::Cause => has(self.sentence) || has(self.cause),
            Field::Plugin => self.waits.is_some_and(|waits| waits.plugins.iter().any(|plugin| has(plugin.as_str()))),
            Field::Reason => self.waits.is_some_and(|waits| waits.nodes.keys().any(|text| has(text)) || has(&waits.key)),
            Field::Queue => self.row.queue.is_some_and(|queue| has(queue.title()) || has(queue.in_short())),
            Field::Namespace => has(&self.row.key.namespace),
            Field::Name => has(&self.row.key.name),
            Field::Preemption => self.row.preemption.is_some_and(|help| has(preemption_words(help))),
            // From their start, because what disagrees contains what agrees.
            Field::Agreement => {
                self.row.accord.is_some_and(|accord| accord.words().starts_with(part) || accord.in_short().starts_with(part))
            }
            // A value that is not a number.
            Field::Priority | Field::Age | Field::Attempts => false,
        }
    }

    fn number(&self, field: Field) -> Option<i64> {
        match field {
            Field::Priority => Some(i64::from(self.row.priority)),
            Field::Attempts => Some(i64::from(self.row.attempts)),
            Field::Age => Some(self.now.as_second() - self.row.since?.as_second()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::cluster::Key;
    use crate::framework::{PluginName, PluginSet};
    use crate::report::{MatchKind, PreemptionHelp};
    use crate::ui::model::rows::QueuePart;

    #[test]
    fn words_and_fields_keep_pods() {
        let row = PodRow {
            key: Key::new("shop", "payments"),
            queue: Some(QueuePart::Unschedulable),
            inferred: false,
            priority: 1000,
            since: Timestamp::from_second(1000).ok(),
            attempts: 3,
            preemption: Some(PreemptionHelp::No),
            accord: Some(MatchKind::Unexplained),
        };
        let mut plugins = PluginSet::default();
        plugins.insert(PluginName::NodeResourcesFit);
        let waits = WaitReason {
            key: "Insufficient(cpu)".to_owned(),
            words: String::new(),
            nodes: BTreeMap::from([("Insufficient cpu".to_owned(), 3)]),
            plugins,
            preemption: PreemptionHelp::No,
        };
        let now = Timestamp::from_second(1000 + 7200).unwrap();
        let facts = Facts { row: &row, sentence: "no node has enough free cpu", cause: &waits.key, waits: Some(&waits), now };
        let check = |text: &str, expected: bool| assert_eq!(Terms::parse(text).keeps(&facts), expected, "{text:?}");
        for kept in [
            "",
            "  ",
            "shpay",
            "enough",
            "Enough !gpu",
            "cause:cpu",
            "cause:\"free cpu\"",
            "plugin:resources",
            "reason:\"insufficient CPU\"",
            "queue:unsched",
            "ns:shop name:pay",
            "namespace:shop",
            "priority:1000",
            "priority:>=1000",
            "priority:<1001",
            "!priority:5",
            "age:>1h",
            "age:2h",
            "age:<3h",
            "age:<=7200s",
            "attempts:3",
            "tries:>2",
            "preemption:no",
            "agreement:disagrees",
            "!agreement:agrees",
            "queue:",
            "!",
        ] {
            check(kept, true);
        }
        for dropped in [
            "zzz",
            "!enough",
            "cause:memory",
            "plugin:taint",
            "queue:gated",
            "ns:other",
            "priority:999",
            "priority:>1000",
            "priority:high",
            "age:>2h",
            "age:3d",
            "attempts:<3",
            "preemption:helps",
            "odd:cpu",
            "cpu odd",
        ] {
            check(dropped, false);
        }
    }
}
