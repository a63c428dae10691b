use super::*;

fn device(json: &str) -> Device {
    serde_json::from_str(json).unwrap()
}

fn gpu() -> Device {
    device(
        r#"{"name":"d","allowMultipleAllocations":true,
            "attributes":{"model":{"string":"h100"},"numa":{"int":1},"healthy":{"bool":true},
                          "driverVersion":{"version":"1.3.0"},"other.example.com/slot":{"int":7}},
            "capacity":{"memory":{"value":"80Gi"},"cores":{"value":"500m"}}}"#,
    )
}

fn selects_device(selector: &Selector, driver: &str, device: &Device) -> Result<bool, EvalError> {
    selector.matches(&Activation::new(&driver.into(), device, Environment::default()))
}

/// Returns the verdict, or the error without kube-scheduler's prefix.
fn run(expression: &str) -> Result<bool, String> {
    let selector = Selector::compile(expression, Environment::default()).map_err(|e| e.to_string())?;
    selects_device(&selector, "gpu.example.com", &gpu()).map_err(|e| e.to_string())
}

#[test]
fn selects() {
    for (expression, expected) in [
        ("true", true),
        ("device.driver == 'gpu.example.com'", true),
        ("device.allowMultipleAllocations", true),
        (r#"device.attributes["gpu.example.com"].model == "h100""#, true),
        (r#"device.attributes["gpu.example.com"]["model"] in ["a100", "h100"]"#, true),
        (r#"device.attributes["gpu.example.com"].model.startsWith("h") && !("x" in device.attributes)"#, true),
        (r#"device.attributes["gpu.example.com"].numa >= 1 && device.attributes["gpu.example.com"].numa < 1.5"#, true),
        (r#"device.attributes["gpu.example.com"].healthy"#, true),
        (r#"device.attributes["other.example.com"].slot == 7"#, true),
        (r#""slot" in device.attributes["gpu.example.com"]"#, false),
        (r#""x" in device.attributes["absent.example.com"]"#, false),
        (r#"has(device.attributes["gpu.example.com"].model) && !has(device.attributes["gpu.example.com"].x)"#, true),
        (r#"device.attributes["absent"].size() == 0 && size(device.attributes) == 2"#, true),
        (r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) == 0"#, true),
        (r#"device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("40Gi"))"#, true),
        (r#"device.capacity["gpu.example.com"].memory == quantity("81920Mi")"#, true),
        (r#"device.capacity["gpu.example.com"].cores.isInteger()"#, false),
        (r#"quantity("1Ki").add(24).asInteger() == 1048 && sign(quantity("-1")) == -1 && isQuantity("1Gi") && !isQuantity("x")"#, true),
        (r#"device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.3.0-rc1"))"#, true),
        (r#"device.attributes["gpu.example.com"].driverVersion.compareTo(semver("v1.3", true)) == 0"#, true),
        (r#"isSemver("1.2") || semver("3.2.1").major() == 3"#, true),
        (r#"device.attributes["gpu.example.com"].model.matches("^h[0-9]+$")"#, true),
        (r#"cel.bind(gpu, device.attributes["gpu.example.com"], gpu.healthy && gpu.model != 'x')"#, true),
        (r#"device.attributes.exists_one(d, d == "other.example.com")"#, true),
        (r#"device.attributes["gpu.example.com"].all(name, name != "")"#, true),
        ("[1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && [1, 2].filter(x, x > 1).size() == 1", true),
        (r#"{"a": 1}["a"] == 1 && {"a": 1}.a == 1"#, true),
        (r#""a,b".split(",").join("-") == "a-b" && "hello".substring(1, 3) == "el" && "abc".indexOf("c") == 2"#, true),
        (r#"sets.contains(["a", "b"], ["a"]) && "x".upperAscii() == "X" && int("7") % 4 == 3"#, true),
        ("device.driver.size() > 3 ? false : true", false),
        ("-9223372036854775808 < 0 && 0x10 == 16 && 1u < 2u && dyn(1) == 1.0", true),
        ("'\\x41\\u0042\\103' == 'ABC' && r'\\n' != '\\n' && \"\"\"a\"b\"\"\" == 'a\"b'", true),
        // A failure is ignored if the other side decides the result.
        (r#"device.attributes["x"].y == 1 || true"#, true),
        (r#"device.attributes["x"].y == 1 && false"#, false),
        ("[0, 1].exists(x, 1 / x == 1)", true),
        ("// comment\ntrue", true),
    ] {
        assert_eq!(run(expression), Ok(expected), "{expression}");
    }
}

#[test]
fn fails_in_cel_gos_words() {
    for (expression, error) in [
        (r#"device.attributes["gpu.example.com"].nothing == "x""#, "no such key: nothing"),
        (r#"device.attributes["x"]["y"].isGreaterThan(quantity("0"))"#, "no such key: y"),
        (r#"device.attributes["x"].y || device.attributes["x"].z"#, "no such key: y"),
        (r#"device.attributes["gpu.example.com"].model > 1"#, "no such overload"),
        (r#"device.attributes["gpu.example.com"].numa.startsWith("x")"#, "no such overload"),
        (r#"device.attributes["gpu.example.com"].driverVersion == 1"#, "no such overload"),
        ("1 / 0 == 1", "division by zero"),
        ("[1][2] == 1", "index out of bounds: 2"),
        ("9223372036854775807 + 1 > 0", "integer overflow"),
        (
            "device.attributes['gpu.example.com'].model",
            "CEL result of type string could not be converted to bool: unsupported native conversion from string to 'bool'",
        ),
        ("semver('1') == semver('1')", "No Major.Minor.Patch elements found"),
    ] {
        assert_eq!(run(expression), Err(error.to_owned()), "{expression}");
    }
    let nested = (0..7).fold("true".to_owned(), |body, i| format!("[1,2,3,4,5,6,7,8,9,10].all(x{i}, {body})"));
    assert_eq!(run(&nested), Err("operation cancelled: actual cost limit exceeded".to_owned()));
}

#[test]
fn a_device_with_a_broken_attribute_fails_every_selector() {
    let selector = Selector::compile("true", Environment::default()).unwrap();
    for (attributes, error) in [
        (r#"{"v":{"version":"1"}}"#, "attribute v: parse semantic version: No Major.Minor.Patch elements found"),
        (r#"{"names":{}}"#, "attribute names: unsupported attribute value"),
    ] {
        let device = device(&format!(r#"{{"name":"d","attributes":{attributes}}}"#));
        assert_eq!(selects_device(&selector, "x", &device).unwrap_err().to_string(), error);
    }
}

#[test]
fn refuses_before_evaluation() {
    for (expression, error) in [
        ("1", "must evaluate to bool or the unknown type, not int"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("device.foo", "compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n | device.foo\n | ......^"),
        ("true &&\n  x", "compilation failed: ERROR: <input>:2:3: undeclared reference to 'x' (in container '')\n |   x\n | ..^"),
        (
            "device.driver == 1",
            "compilation failed: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(string, int)'\n | device.driver == 1\n | ..............^",
        ),
    ] {
        assert_eq!(Selector::compile(expression, Environment::default()).unwrap_err().to_string(), error, "{expression}");
    }
    for (expression, part) in [
        ("?!", "Syntax error"),
        ("", "Syntax error"),
        ("true true", "Syntax error"),
        ("'open", "Syntax error"),
        ("nothing()", "undeclared reference to 'nothing'"),
        ("[1, 'a'].size() == 2", "expected type 'int' but found 'string'"),
        ("duration('x') == duration('1s')", "invalid duration argument"),
        ("'%d'.format(['x']) == ''", "decimal clause can only be used on integers, was given string"),
        ("Device{}", "undeclared reference to 'Device'"),
        ("9223372036854775808 > 0", "invalid int literal"),
        ("'x'.matches('(')", "invalid matches argument"),
        ("'x'.find('(') == ''", "program instantiation failed: error parsing regexp: missing closing ): `(`"),
        ("device.driver.size('x') == 1", "found no matching overload for 'size' applied to 'string.(string)'"),
        ("has(1)", "invalid argument to has() macro"),
        ("[1].all(1, true)", "argument must be a simple name"),
    ] {
        let error = Selector::compile(expression, Environment::default()).unwrap_err().to_string();
        assert!(error.contains(part), "{expression}: {error}");
    }
}

#[test]
fn depth_is_limited() {
    for expression in [
        "(".repeat(5000) + "true",
        "!".repeat(5000) + "true",
        format!("{}true{}", "[".repeat(3000), "]".repeat(3000)),
        format!("1{} == 1", " + 1".repeat(5000)),
        format!("device{}", ".a".repeat(5000)),
    ] {
        let _ = Selector::compile(&expression, Environment::default()).map(|s| selects_device(&s, "x", &gpu()));
    }
    assert_eq!(run(&format!("true{}", " && true".repeat(1000))), Ok(true));
}

/// Doubles a text or a list: `$` in `tail` is `init`, 2^times times.
fn doubled(times: usize, init: &str, tail: &str) -> String {
    let binds: String = (0..times).map(|i| format!("cel.bind(s{}, s{i} + s{i}, ", i + 1)).collect();
    format!("cel.bind(s0, {init}, {binds}{}{}", tail.replace('$', &format!("s{times}")), ")".repeat(times + 1))
}

#[test]
fn work_that_cel_does_not_charge_for_is_limited() {
    let letters = "'abcdefghij'";
    for (times, init, tail) in [
        // Reading a long text again and again.
        (15, letters, "lists.range(20000).all(x, $.charAt(x) != '')"),
        // Copying a long list.
        (17, "[1, 2, 3]", "lists.range(5000).all(x, ($ + [x]).size() > 0)"),
        // Patterns that are large, or made anew each time, or that search the same text again.
        (0, letters, r"lists.range(1000).exists(x, ('a' + string(x)).matches('(\\pL{1,20}){1,5}b' + string(x)))"),
        (11, letters, "$.findAll('(a*)*b|a').size() > 0"),
        (12, letters, "$.matches('(a|b|c)*d(e|f){900}[gh]')"),
    ] {
        let expression = doubled(times, init, tail);
        assert_eq!(run(&expression), Err(EvalError::CostLimit.to_string()), "{tail}");
    }
    let many = (0..60).map(|i| format!(r"('a').matches('\\pL{{1,20}}b{i}')")).collect::<Vec<_>>().join(" || ");
    let refused = "program instantiation failed: operation cancelled: actual cost limit exceeded";
    assert_eq!(Selector::compile(&many, Environment::default()).unwrap_err().to_string(), refused);
}

#[test]
fn a_fold_that_ends_early_takes_no_more_of_its_range() {
    for tail in ["lists.range(5000).all(x, $.exists(y, true))", "lists.range(5000).all(x, $.exists(i, y, i == 0))"] {
        assert_eq!(run(&doubled(15, "[1, 2, 3]", tail)), Ok(true), "{tail}");
    }
    let of_map = "cel.bind(m, lists.range(3000).transformMap(i, v, v), lists.range(5000).all(x, m.exists(y, y == 0)))";
    assert_eq!(run(of_map), Ok(true));
    assert_eq!(run("{3: 'c', 1: 'a', 2: 'b'}.map(k, k) == [1, 2, 3]"), Ok(true));
}

#[test]
fn numbers_are_formatted_as_the_message_printer_does() {
    for (format, number, expected) in [
        ("%.0f", "2.5", "2"),
        ("%.0f", "3.5", "4"),
        ("%.0f", "2.51", "3"),
        ("%.0f", "1234567.4", "1,234,567"),
        ("%.0f", "0.4", "0"),
        ("%.0f", "0.0", "0"),
        ("%.0f", "-1.6", "-2"),
        ("%.0f", "-0.4", "-0"),
        ("%.0f", "1e20", "100,000,000,000,000,000,000"),
        // A carry into a new digit is lost.
        ("%.0f", "0.5", "0.1"),
        ("%.0f", "0.05", "0.01"),
        ("%.0f", "99.6", "10"),
        ("%.0f", "9.4", "9"),
        ("%.1f", "99.96", "100.0"),
        ("%.2f", "-0.0", "0.00"),
        ("%.2f", "-0.001", "-0.00"),
        ("%.2f", "2.345", "2.35"),
        ("%f", "0.1", "0.100000"),
        ("%.258f", "1.5", "1.50"),
        // The precision is the width.
        ("%.3e", "123456.0", "1.234560×10⁰⁵"),
        ("%.16e", "-1.5", "  -1.500000×10⁰⁰"),
        ("%e", "-0.0", "0.000000×10⁰⁰"),
        ("%.5e", "double('NaN')", "  NaN"),
    ] {
        let expression = format!("'{format}'.format([{number}]) == '{expected}'");
        assert_eq!(run(&expression), Ok(true), "{expression}");
    }
}

/// Whether a pattern matches a text, or why it does not compile.
fn matches(text: &str, pattern: &str) -> Result<bool, String> {
    run(&format!("'{text}'.matches('{}' + '')", pattern.replace('\\', "\\\\")))
}

#[test]
fn patterns_may_have_odd_flags_names_and_escapes() {
    for (text, pattern, expected) in [
        ("h", "(?)h", true),
        ("H", "(?ii)h", true),
        ("H", "(?i-i)h", false),
        ("ab", "(?P<n>a)(?P<n>b)", true),
        ("h", r"\x{D800}|h", true),
        ("h", r"[\x{D7FF}-\x{E000}]", false),
        ("h", r"\p{latin}", true),
        ("h", r"\p{Lower case_Letter}", true),
        ("h", r"\pl", true),
    ] {
        assert_eq!(matches(text, pattern), Ok(expected), "{pattern}");
    }
    for (pattern, error) in [
        (r"\x{}", r"error parsing regexp: invalid escape sequence: `\x{}`"),
        (r"\x1g", r"error parsing regexp: invalid escape sequence: `\x1g`"),
        (r"\p{isLatin}", r"error parsing regexp: invalid character class range: `\p{isLatin}`"),
        ("(?i-)h", "error parsing regexp: invalid or unsupported Perl syntax: `(?i-)`"),
    ] {
        assert_eq!(matches("h", pattern), Err(error.to_owned()), "{pattern}");
    }
}

#[test]
fn hosts_of_urls_are_checked_as_by_go() {
    for (url, valid) in [
        ("http://u:p@h:1/", true),
        ("http://h::1/", false),
        ("x://h::1/", true),
        ("http://[::1]:80/", true),
        ("http://[::1%25eth0]/", true),
        ("http://[:1]/", false),
        ("http://[1.2.3.4]/", false),
        ("http://a[::1]/", false),
    ] {
        assert_eq!(run(&format!("isURL('{url}')")), Ok(valid), "{url}");
    }
    for (url, error) in [
        ("http://h::abc/", "invalid port \"::abc\" after host"),
        ("http://[:1]/", "invalid host: ParseAddr(\":1\"): each colon-separated field must have at least one digit (at \":1\")"),
        ("http://h/%2ß", "invalid URL escape \"%2\\xc3\""),
    ] {
        let error = format!("URL parse error during conversion from string: parse \"{url}\": {error}");
        assert_eq!(run(&format!("url('{url}') == url('/')")), Err(error));
    }
}

#[test]
fn extreme_quantities_and_times() {
    for (expression, expected) in [
        ("quantity('1').sub(-9223372036854775808).isInteger()", Ok(true)),
        ("quantity('100u').sub(-9223372036854775808).compareTo(quantity('1')) == 1", Ok(true)),
        ("quantity('e19').asInteger() == 0", Ok(true)),
        ("isQuantity('Ki') && !isQuantity('Ei')", Ok(true)),
        ("timestamp('9999-12-31T23:59:59Z').getDate('Asia/Tokyo') == 1", Ok(true)),
        ("timestamp(0) - duration('-2562047h47m16.854775808s') == timestamp(0)", Err("integer overflow")),
        (
            r"'%s'.format([dyn(b'\xff')]) == ''",
            Err("error during formatting: could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string"),
        ),
    ] {
        assert_eq!(run(expression), expected.map_err(str::to_owned), "{expression}");
    }
}

#[test]
fn types_in_issues_have_cel_gos_names() {
    for (expression, issue) in [
        ("true || list", "1:9: expected type 'bool' but found 'type(list(A))'"),
        ("true || optional_type", "1:9: expected type 'bool' but found 'type(optional_type)'"),
        ("true || [[]]", "1:9: expected type 'bool' but found 'list(list(_var0))'"),
        ("[].x", "1:3: type 'list(_var0)' does not support field selection"),
        ("list{}.x", "1:5: 'list' is not a message type"),
        ("int{x: 1} == 1", "1:4: 'int' is not a message type"),
        ("has(cel.bind(while, 1, true))", "1:14: reserved identifier: while"),
    ] {
        let error = run(expression).unwrap_err();
        let expected = format!("compilation failed: ERROR: <input>:{issue}\n");
        assert!(error.starts_with(&expected), "{expression}: {error}");
    }
    assert!(run("int{x: 1} == 1").unwrap_err().contains("1:6: undefined field 'x'"));
    assert!(run("map{x: 1} == 1").unwrap_err().ends_with("1:4: 'map' is not a message type\n | map{x: 1} == 1\n | ...^"));
    assert!(run("").unwrap_err().starts_with("compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'"));
    assert_eq!(run("type(1) == google.protobuf.Empty"), Ok(false));
}

/// Returns the cost of an evaluation.
fn cost_of(expression: &str) -> u64 {
    match evaluate(expression, Environment::default(), &"gpu.example.com".into(), &gpu()) {
        Outcome::Verdict { cost, .. } | Outcome::Failed { cost, .. } => cost,
        Outcome::Refused(error) => panic!("{expression}: {error}"),
    }
}

#[test]
fn failed_parts_have_costs() {
    for (expression, cost) in [
        // A computed index that fails counts as an index.
        ("{1: 1}[quantity('x').asInteger()] == 1", 5),
        // Of three arguments, only a failed last one lets the call count.
        ("'abc'.substring(1, dyn('x').size() / 0) == ''", 3),
        ("'abc'.substring(1 / 0, 1) == ''", 1),
        // So it is with calls that choose among overloads.
        ("double(device.attributes['x'].y) == 1.0", 6),
        // A constant pattern and a list of arguments are not reached after a failed text.
        ("device.attributes['x'].y.matches('a')", 4),
        ("device.attributes['x'].y.format([]) == ''", 4),
        // cel-go takes back a cost that it has not charged.
        ("has((device.allowMultipleAllocations ? device.attributes : device.attributes).x)", 3),
    ] {
        assert_eq!(cost_of(expression), cost, "{expression}");
    }
    assert_eq!(run("has((dyn(1) ? device : device).driver)"), Err(EvalError::CostLimit.to_string()));
}

#[test]
fn no_operator_absorbs_a_panic() {
    const MISSING: &str = "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add";
    const HASH: &str = "internal error: runtime error: hash of unhashable type cel.Semver";
    for (expression, error) in [
        ("device.attributes['gpu.example.com'].driverVersion in ['1.3.0'] || true", HASH),
        ("[1].exists(x, device.attributes['gpu.example.com'].driverVersion in {'a': 1} || true)", HASH),
        ("{?b'a': optional.none()}.size() == 1", "internal error: hash of unhashable type: types.Bytes"),
        ("[1 / 0].sort() == [] || true", MISSING),
        ("[1, 2].sortBy(x, 1 / 0) == [] || true", MISSING),
        ("device.attributes['x'].y.distinct() == [] || true", MISSING),
        ("dyn('a').distinct() == []", "internal error: interface conversion: types.String is not traits.Lister: missing method Contains"),
        ("[[1]].flatten(1 / 0) == []", "internal error: interface conversion: ref.Val is *types.Err, not types.Int"),
    ] {
        assert_eq!(run(expression), Err(error.to_owned()), "{expression}");
    }
    assert_eq!(run("true || device.attributes['gpu.example.com'].driverVersion in ['1.3.0']"), Ok(true));
    assert_eq!(run("dyn(b'a') in device.attributes['gpu.example.com']"), Ok(false));
}

#[test]
fn parsing_continues_after_syntax_errors() {
    for (expression, issues) in [
        ("(y, y > 2)", vec!["1:3: mismatched input ',' expecting ')'", "1:10: extraneous input ')' expecting <EOF>"]),
        ("device.in == 1", vec!["1:8: no viable alternative at input '.in'", "1:11: extraneous input '==' expecting {"]),
        ("-])", vec!["1:2: no viable alternative at input '-]'", "1:2: mismatched input ']' expecting {"]),
        ("f(1;2+)", vec!["1:4: token recognition error at: ';'", "1:5: mismatched input '2' expecting ')'", "1:7: mismatched input ')'"]),
        ("{\"a\"}.b", vec!["1:5: mismatched input '}' expecting ':'"]),
        ("device.é == 1", vec!["1:8: token recognition error at: 'é'", "1:10: no viable alternative at input '. =='"]),
    ] {
        let error = run(expression).unwrap_err();
        let found: Vec<&str> = error.split("ERROR: <input>:").skip(1).collect();
        assert_eq!(found.len(), issues.len(), "{expression}: {error}");
        for (found, issue) in found.iter().zip(issues) {
            assert!(found.replace("Syntax error: ", "").starts_with(issue), "{expression}: {error}");
        }
    }
    assert!(run("device.?1").unwrap_err().contains("1:9: unsupported ident kind"));
    assert!(run("has(device.)").unwrap_err().contains("1:5: invalid argument to has() macro"));
    assert!(run(&format!("1 1{}", " 1".repeat(300))).unwrap_err().contains("error recovery token lookahead limit exceeded: 256"));
}
