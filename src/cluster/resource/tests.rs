//! Tests of `resource`.

use crate::cluster::{Kind, Object};

#[test]
fn what_is_written_reads_back() {
    for (kind, json) in [
        (
            Kind::ResourceClaim,
            r#"{"metadata":{"name":"c","namespace":"d","finalizers":["f"]},"spec":{"devices":{"requests":[
                    {"name":"r","exactly":{"deviceClassName":"x","allocationMode":"ExactCount","count":2,"adminAccess":true,
                     "selectors":[{"cel":{"expression":"true"}}],"capacity":{"requests":{"m":"1Gi"}},"tolerations":[{"key":"k"}]}},
                    {"name":"s","firstAvailable":[{"name":"t","deviceClassName":"x","allocationMode":"All"}]}],
                    "constraints":[{"requests":["r"],"matchAttribute":"a/b"}]}},
                  "status":{"allocation":{"allocationTimestamp":"2026-01-01T00:00:00Z","devices":{"results":[
                    {"request":"r","driver":"d","pool":"p","device":"v","shareID":"u","consumedCapacity":{"m":"1Gi"},"bindingConditions":["b"]}]}},
                    "reservedFor":[{"resource":"pods","name":"p","uid":"u"}],
                    "devices":[{"driver":"d","pool":"p","device":"v","data":{"any":["thing"]},"networkData":{"interfaceName":"eth1"}}]}}"#,
        ),
        (
            Kind::ResourceSlice,
            r#"{"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"p","generation":3,"resourceSliceCount":2},
                  "perDeviceNodeSelection":true,"sharedCounters":[{"name":"c","counters":{"m":{"value":"8"}}}],"devices":[{"name":"v",
                    "attributes":{"i":{"int":1},"b":{"bool":true},"s":{"string":"x"},"v":{"version":"1.0.0"}},"allNodes":true,
                    "capacity":{"m":{"value":"8Gi","requestPolicy":{"default":"1Gi","validRange":{"min":"1Gi","step":"1Gi"}}}},
                    "consumesCounters":[{"counterSet":"c","counters":{"m":{"value":"4"}}}],"bindsToNode":true,
                    "taints":[{"key":"k","effect":"NoSchedule"}],"allowMultipleAllocations":true,"bindingFailureConditions":["f"]}]}}"#,
        ),
        (
            Kind::DeviceClass,
            r#"{"metadata":{"name":"c"},"spec":{"extendedResourceName":"e/r","selectors":[{"cel":{"expression":"true"}}]}}"#,
        ),
        (
            Kind::DeviceTaintRule,
            r#"{"metadata":{"name":"r"},"spec":{"deviceSelector":{"driver":"d","pool":"p","device":"v"},
                  "taint":{"key":"k","value":"v","effect":"NoSchedule","timeAdded":"2026-01-01T00:00:00Z"}}}"#,
        ),
    ] {
        let read = |value: &serde_json::Value| Object::deserialize_kind(kind, value).unwrap();
        let given: serde_json::Value = serde_json::from_str(json).unwrap();
        let object = read(&given);
        let written = serde_json::to_value(&object).unwrap();
        assert_eq!(read(&written), object);
        assert_contains(&written, &given, "");
    }
}

#[test]
fn an_expression_that_the_api_refuses_is_refused() {
    let read = |length: usize| serde_json::from_value::<super::CELDeviceSelector>(serde_json::json!({"expression": "x".repeat(length)}));
    assert!(read(10 << 10).is_ok());
    let error = read((10 << 10) + 1).unwrap_err().to_string();
    assert_eq!(error, "cel.expression: Too long: may not be more than 10240 bytes");
}

/// Asserts that the object has everything that was given, whatever else it has.
fn assert_contains(written: &serde_json::Value, given: &serde_json::Value, at: &str) {
    match given {
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| assert_contains(&written[name], value, &format!("{at}.{name}")));
        }
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| assert_contains(&written[i], value, &format!("{at}[{i}]")));
        }
        value => assert_eq!(&written, &value, "{at}"),
    }
}
