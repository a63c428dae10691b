//! Tests of `text`.

use super::*;

#[test]
fn clipping_counts_columns() {
    let check = |text: &str, columns: usize, expected: &str| {
        let clipped = clip(text, columns, "…");
        assert_eq!(clipped, expected, "{text:?} in {columns}");
        assert!(width(&clipped) <= columns);
    };
    check("worker-a1", 9, "worker-a1");
    check("worker-a1", 8, "worker-…");
    check("worker-a1", 1, "…");
    check("worker-a1", 0, "");
    check("節点一号", 8, "節点一号");
    check("節点一号", 7, "節点一…");
    check("節点一号", 6, "節点…");
    check("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}");
    check("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…");
    check("a\u{1b}b", 8, "a\\u{1b}b");
    check("a\u{1b}b", 6, "a\\u{1…");
    check("a\nb\u{202e}", 5, "a\\nb…");
    assert_eq!(clip("worker", 4, "..."), "w...");
}

#[test]
fn pod_names_keep_their_end() {
    let check = |text: &str, columns: usize, expected: &str| assert_eq!(clip_middle(text, columns, "…"), expected);
    check("shop/spread-85969bc548-7z2j5", 28, "shop/spread-85969bc548-7z2j5");
    check("shop/spread-85969bc548-7z2j5", 20, "shop/spread-8…-7z2j5");
    check("shop/spread-85969bc548-7z2j5", 6, "shop/…");
    check("節点/節点節点節点節点", 12, "節点/節…節点");
    assert_eq!(cut("abc", 3, "…"), "ab…");
    assert_eq!(cut("abc", 0, "…"), "");
}

#[test]
fn wrapping_keeps_every_character() {
    let check = |text: &str, columns: usize, expected: &[&str]| assert_eq!(wrap(text, columns).collect::<Vec<_>>(), expected, "{text:?}");
    check("0/12 nodes are available", 10, &["0/12 nodes", "are", "available"]);
    check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
    check("ab abcdefghij k", 4, &["ab", "abcd", "efgh", "ij k"]);
    check("a\nb", 4, &["a\\nb"]);
    check("one  two   three ", 9, &["one two", "three"]);
    check("a \u{1b}bcdef", 9, &["a", "\\u{1b}bcd", "ef"]);
    check("節点", 1, &["節", "点"]);
    check("", 4, &[]);
}

#[test]
fn a_character_with_a_thousand_marks_is_measured_and_wrapped_in_bounds() {
    let name = format!("e{}", "\u{301}".repeat(100_000));
    assert!(width(&name) > MOST && width(&name) < 2 * MOST * "\\u{301}".len());
    let rows: Vec<Range<usize>> = wrapped(&name, 80).take(3).collect();
    assert!(rows.len() == 3 && rows.iter().all(|row| row.len() < 80 * BYTES), "{rows:?}");
}

#[test]
fn long_texts_are_not_gone_through() {
    for text in ["x".repeat(1 << 22), "節".repeat(1 << 20), "e\u{301}".repeat(1 << 20), "\u{1b}".repeat(1 << 20)] {
        assert_eq!(width_within(&text, 100), None);
        assert!(head(&text, 100).len() < 20_000 && tail(&text, 100).len() < 20_000);
        assert!((96..=100).contains(&width(&clip(&text, 100, "…"))));
        assert!((96..=100).contains(&width(&clip_middle(&text, 100, "…"))));
        let rows: Vec<String> = wrap(&text, 100).take(3).collect();
        assert!(rows.len() == 3 && rows.iter().all(|row| (90..=100).contains(&width(row))), "{rows:?}");
    }
}

#[test]
fn amounts_read_naturally() {
    for (milli, text) in [(6000, "6"), (1900, "1.9"), (250, "0.25"), (1, "0.001"), (0, "0"), (-500, "-0.5")] {
        assert_eq!(cpu(milli), text);
    }
    for (bytes, text) in [(8 << 30, "8Gi"), (3 << 29, "1.5Gi"), (512 << 20, "512Mi"), (1000, "1000"), (0, "0"), (-(1 << 30), "-1Gi")] {
        assert_eq!(memory(bytes), text);
    }
    for (n, text) in [(5, "5"), (999, "999"), (5000, "5,000"), (1_234_567, "1,234,567")] {
        assert_eq!(thousands(n), text);
    }
}

#[test]
fn times_read_naturally() {
    let at = |s: i64| Timestamp::from_second(s).unwrap();
    assert_eq!(since(at(0), at(12)), "+00:12");
    assert_eq!(since(at(0), at(3612)), "+1:00:12");
    assert_eq!(until(at(0), at(0)), "now");
    assert_eq!(until(at(0), Timestamp::from_millisecond(1250).unwrap()), "1.2s");
    assert_eq!(until(at(0), at(250)), "4m10s");
    assert_eq!(moment(at(0), at(12)), "00:00:12");
    assert_eq!(moment(at(0), at(86_412)), "1970-01-02 00:00:12");
    for (millis, text) in
        [(0, "0s"), (850, "0.8s"), (9900, "9.9s"), (12_300, "12s"), (250_000, "4m10s"), (7_500_000, "2h05m"), (273_600_000, "3d4h")]
    {
        assert_eq!(span(at(0), Timestamp::from_millisecond(millis).unwrap()), text);
    }
    assert_eq!(time_of_day(at(1_795_199_129)), "18:25:29");
}

#[test]
fn start_times_that_are_compared_have_all_their_days_or_none() {
    let now = Timestamp::from_second(1_795_199_129).unwrap();
    let nanos = |time: &str| time.parse::<Timestamp>().unwrap().as_nanosecond() as i64;
    let all = |times: &[&str]| {
        let form = StartTimes::of(now, times.iter().map(|time| nanos(time)));
        times.iter().map(|time| form.write(nanos(time))).collect::<Vec<_>>()
    };
    let [morning, noon, yesterday, last_year] =
        ["2026-11-20T07:10:00Z", "2026-11-20T12:00:00Z", "2026-11-19T18:25:29Z", "2025-11-20T09:00:00Z"];
    assert_eq!(all(&[morning, noon]), ["07:10:00", "12:00:00"]);
    assert_eq!(all(&[morning, yesterday]), ["11-20 07:10:00", "11-19 18:25:29"]);
    assert_eq!(all(&[last_year, morning]), ["2025-11-20 09:00:00", "2026-11-20 07:10:00"]);
    assert_eq!(all(&[]), Vec::<String>::new());
    let both = |one: &str, other: &str| StartTimes::write_both(now, [nanos(one), nanos(other)]);
    assert_eq!(both(morning, noon), [["07:10:00", "12:00:00"]; 2]);
    assert_eq!(both(morning, yesterday), [["11-20 07:10:00", "11-19 18:25:29"], ["11-20", "11-19"]]);
    assert_eq!(both(last_year, morning)[1], ["2025-11-20", "2026-11-20"]);
    assert_eq!(StartTimes::of(Timestamp::from_second(0).unwrap(), [i64::MAX]).write(i64::MAX), "2262-04-11 23:47:16");
}
