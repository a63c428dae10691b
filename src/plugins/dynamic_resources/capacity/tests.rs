use super::*;

fn device(policy: &str) -> Device {
    serde_json::from_str(&format!(r#"{{"name":"d","capacity":{{"memory":{{"value":"10Gi"{policy}}}}}}}"#)).unwrap()
}

fn amounts(text: &str) -> Map<Quantity> {
    serde_json::from_str(&format!("{{{text}}}")).unwrap()
}

#[test]
fn requests_are_rounded_by_the_policy_and_must_fit() {
    let range = r#","requestPolicy":{"default":"1Gi","validRange":{"min":"2Gi","max":"8Gi","step":"2Gi"}}"#;
    let values = r#","requestPolicy":{"default":"3Gi","validValues":["3Gi","6Gi"]}"#;
    for (policy, request, consumed, expected) in [
        // Without a policy: the whole capacity, or the request.
        ("", "", "", Some("10Gi")),
        ("", "", r#""memory":"1""#, None),
        ("", r#""memory":"4Gi""#, r#""memory":"6Gi""#, Some("4Gi")),
        ("", r#""memory":"4Gi""#, r#""memory":"7Gi""#, None),
        ("", r#""memory":"11Gi""#, "", None),
        ("", r#""cores":"1""#, "", None),
        // A range rounds up to its minimum and its steps.
        (range, "", "", Some("1Gi")),
        (range, r#""memory":"1""#, "", Some("2Gi")),
        (range, r#""memory":"3Gi""#, "", Some("4Gi")),
        (range, r#""memory":"9Gi""#, "", None),
        // Values round up to the next one; nothing fits beyond the last.
        (values, "", "", Some("3Gi")),
        (values, r#""memory":"4Gi""#, "", Some("6Gi")),
        (values, r#""memory":"7Gi""#, "", None),
    ] {
        let device = device(policy);
        let request = CapacityRequirements { requests: amounts(request) };
        let consumed = amounts(consumed);
        let case = format!("{policy} {request:?} {consumed:?}");
        assert_eq!(fits(&device, Some(&request), Some(&consumed), None, Ranges::default()), Ok(expected.is_some()), "{case}");
        assert_eq!(fits(&device, Some(&request), None, Some(&consumed), Ranges::default()), Ok(expected.is_some()), "{case}");
        if let Some(expected) = expected {
            assert_eq!(consumed_by(&device, Some(&request), Ranges::default()).get("memory"), Some(&expected.parse().unwrap()), "{case}");
        }
    }
}

#[test]
fn fractions_of_a_range_count_in_thousandths_where_the_release_does() {
    let range = r#","requestPolicy":{"default":"1","validRange":{"min":"500m","max":"4","step":"250m"}}"#;
    let whole = r#","requestPolicy":{"default":"1","validRange":{"min":"1","max":"4","step":"2"}}"#;
    for (policy, request, as_whole, as_fraction) in
        [(range, "600m", "1", "750m"), (range, "900m", "1", "1"), (range, "100m", "500m", "500m"), (whole, "1500m", "3", "3")]
    {
        let device = device(policy);
        let request = CapacityRequirements { requests: amounts(&format!(r#""memory":"{request}""#)) };
        let of = |ranges| consumed_by(&device, Some(&request), ranges).get("memory").copied();
        assert_eq!(of(Ranges::default()), Some(as_whole.parse().unwrap()), "{policy} {request:?}");
        let fractional = Ranges { thousandths: true, checked: true };
        assert_eq!(of(fractional), Some(as_fraction.parse().unwrap()), "{policy} {request:?}");
        assert_eq!(fits(&device, Some(&request), None, None, fractional), Ok(true), "{policy} {request:?}");
    }
}

#[test]
fn amounts_that_are_negative_or_cannot_be_counted_are_errors_where_they_are_checked() {
    let range = |min: &str, step: &str| format!(r#","requestPolicy":{{"default":"1","validRange":{{"min":"{min}","step":"{step}"}}}}"#);
    let default = r#","requestPolicy":{"default":"-1","validValues":["1"]}"#.to_owned();
    let max = i64::MAX.to_string();
    let not = |rest: &str| format!("capacity \"memory\": capacity request cannot be represented in the device's range arithmetic: {rest}");
    for (policy, request, thousandths, error) in [
        (String::new(), "-1", false, "capacity \"memory\": capacity value is negative".to_owned()),
        (default, "", false, "capacity \"memory\": capacity value is negative".to_owned()),
        (range("1", "2"), "9223372036854775808", false, not("request 9223372036854775808 exceeds MaxInt64")),
        (range("0", "2"), &max, false, not("rounding request 9223372036854775807 up to the next step passes MaxInt64")),
        (range("0", "1"), &max, true, not("request 9223372036854775807 is not a representable milli value")),
        (range("0", "2m"), "1500u", true, not("request 1500u is not a representable milli value")),
        (
            range("0", "2m"),
            "9223372036854775807m",
            true,
            not("rounding request 9223372036854775807m up to the next step passes the milli-value range"),
        ),
    ] {
        let device = device(&policy);
        let request = if request.is_empty() { String::new() } else { format!(r#""memory":"{request}""#) };
        let request = CapacityRequirements { requests: amounts(&request) };
        let of = |checked| fits(&device, Some(&request), None, None, Ranges { thousandths, checked });
        assert_eq!(of(true).map_err(|error| error.to_string()), Err(error), "{policy} {request:?}");
        assert!(of(false).is_ok(), "{policy} {request:?}");
    }
    // A capacity that the device lacks only leaves the device out, whatever else is asked for.
    let request = CapacityRequirements { requests: amounts(r#""cores":"1","memory":"-1""#) };
    let checked = Ranges { thousandths: true, checked: true };
    assert_eq!(fits(&device(""), Some(&request), None, None, checked), Ok(false));
}
