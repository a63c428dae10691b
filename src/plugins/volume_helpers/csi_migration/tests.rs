//! Tests of `csi_migration`.

use super::*;

fn pv(spec: &str, labels: &str) -> PersistentVolume {
    serde_json::from_str(&format!(r#"{{"metadata":{{"name":"v","labels":{labels}}},"spec":{spec}}}"#)).unwrap()
}

#[test]
fn handles_of_volumes() {
    let gce = r#"{"gcePersistentDisk":{"pdName":"d"}}"#;
    let no_format = "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume";
    for (spec, labels, want) in [
        (r#"{"awsElasticBlockStore":{"volumeID":"anything"}}"#, "{}", Ok("anything".to_string())),
        (r#"{"awsElasticBlockStore":{"volumeID":"aws://z/vol-1"}}"#, "{}", Ok("vol-1".into())),
        (r#"{"awsElasticBlockStore":{"volumeID":"aws:///vol-1/"}}"#, "{}", Ok("vol-1".into())),
        (r#"{"awsElasticBlockStore":{"volumeID":"aws://z/x/vol-1"}}"#, "{}", Err(format!("{no_format} (aws://z/x/vol-1)"))),
        (r#"{"awsElasticBlockStore":{"volumeID":"aws://vol-1"}}"#, "{}", Err(format!("{no_format} (aws://vol-1)"))),
        (r#"{"azureDisk":{"diskURI":"/a/b","kind":"managed"}}"#, "{}", Ok("/a/b".into())),
        (r#"{"azureDisk":{"diskURI":"/a/b"}}"#, "{}", Ok("/a/b".into())),
        (r#"{"azureDisk":{"kind":"Shared"}}"#, "{}", Err("kind(Shared) is not supported in csi migration".into())),
        (r#"{"cinder":{"volumeID":"c"}}"#, "{}", Ok("c".into())),
        (r#"{"portworxVolume":{"volumeID":"p"}}"#, "{}", Ok("p".into())),
        (gce, "{}", Ok("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d".into())),
        (gce, r#"{"topology.kubernetes.io/zone":"a-b-c"}"#, Ok("projects/UNSPECIFIED/zones/a-b-c/disks/d".into())),
        (
            gce,
            r#"{"failure-domain.beta.kubernetes.io/zone":"a-b-c__a-b-d","topology.kubernetes.io/zone":"x"}"#,
            Ok("projects/UNSPECIFIED/regions/a-b/disks/d".into()),
        ),
        (
            gce,
            r#"{"topology.kubernetes.io/zone":"a-b-c__a-c-d"}"#,
            Err("failed to get region from zones: multiple or no regions gotten from zones, got: map[a-b:{} a-c:{}]".into()),
        ),
        (
            gce,
            r#"{"topology.kubernetes.io/zone":"a-b-c__d"}"#,
            Err("failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: d".into()),
        ),
    ] {
        assert_eq!(volume_handle(&pv(spec, labels)).map(String::from).map_err(|e| e.to_string()), want, "{spec} {labels}");
        if labels == "{}" {
            let volume: Volume = serde_json::from_str(spec).unwrap();
            assert_eq!(inline_handle(&volume).map(String::from).map_err(|e| e.to_string()), want, "inline {spec}");
        }
    }
}

#[test]
fn every_plugin_is_found_by_name_and_by_source() {
    for (source, name, on) in [
        ("awsElasticBlockStore", "kubernetes.io/aws-ebs", true),
        ("azureDisk", "kubernetes.io/azure-disk", true),
        ("azureFile", "kubernetes.io/azure-file", false),
        ("cinder", "kubernetes.io/cinder", true),
        ("gcePersistentDisk", "kubernetes.io/gce-pd", true),
        ("portworxVolume", "kubernetes.io/portworx-volume", true),
        ("vsphereVolume", "kubernetes.io/vsphere-volume", false),
    ] {
        let plugin = InTreePlugin::by_name(name).unwrap();
        let spec = format!(r#"{{"{source}":{{}}}}"#);
        assert_eq!(InTreePlugin::of_volume(&serde_json::from_str(&spec).unwrap()), Some(plugin));
        assert_eq!(InTreePlugin::of_persistent_volume(&pv(&spec, "{}")), on.then_some(plugin));
        assert_eq!(plugin.migration_is_on(), on);
        let text = format!(r#"{{"metadata":{{"annotations":{{"{ANN_MIGRATED_PLUGINS}":"x,{name}"}}}}}}"#);
        let node: CSINode = serde_json::from_str(&text).unwrap();
        assert!(
            plugin.is_migrated_on(Some(&node), MigratedPlugins::All)
                && !plugin.is_migrated_on(Some(&node), MigratedPlugins::None)
                && !plugin.is_migrated_on(Some(&CSINode::default()), MigratedPlugins::All)
                && !plugin.is_migrated_on(None, MigratedPlugins::All)
        );
    }
    assert_eq!(InTreePlugin::by_name("csi.example.com"), None);
    assert_eq!(InTreePlugin::of_volume(&Volume::default()), None);
}

#[test]
fn zones_are_asked_for_by_the_drivers_label() {
    let term = |key: &str, values: &str| format!(r#"{{"matchExpressions":[{{"key":"{key}","operator":"In","values":{values}}}]}}"#);
    let affinity = |terms: &str| format!(r#""nodeAffinity":{{"required":{{"nodeSelectorTerms":[{terms}]}}}}"#);
    let ebs = r#""awsElasticBlockStore":{"volumeID":"v"}"#;
    let key = "topology.ebs.csi.aws.com/zone";
    for (spec, labels, want) in [
        (format!("{{{ebs}}}"), "{}".to_string(), None),
        (format!("{{{ebs},{}}}", affinity(&term(ZONE, r#"["a"]"#))), "{}".into(), Some(term(key, r#"["a"]"#))),
        // The affinity takes precedence over the label.
        (format!("{{{ebs},{}}}", affinity(&term(BETA_ZONE, r#"["a"]"#))), format!(r#"{{"{ZONE}":"b"}}"#), Some(term(key, r#"["a"]"#))),
        (format!("{{{ebs}}}"), format!(r#"{{"{ZONE}":"b__a__"}}"#), Some(term(key, r#"["a","b"]"#))),
        (format!("{{{ebs}}}"), format!(r#"{{"{ZONE}":""}}"#), None),
        (format!("{{{ebs}}}"), format!(r#"{{"{BETA_ZONE}":"b"}}"#), Some(term(key, r#"["b"]"#))),
        (
            format!("{{{ebs},{}}}", affinity(&term(BETA_REGION, r#"["r"]"#))),
            format!(r#"{{"{BETA_ZONE}":"b"}}"#),
            Some(format!(
                r#"{{"matchExpressions":[{{"key":"{REGION}","operator":"In","values":["r"]}},{{"key":"{key}","operator":"In","values":["b"]}}]}}"#
            )),
        ),
        // Without a beta zone the beta region stays.
        (format!("{{{ebs},{}}}", affinity(&term(BETA_REGION, r#"["r"]"#))), "{}".into(), Some(term(BETA_REGION, r#"["r"]"#))),
        // Azure keeps its topology.
        (format!(r#"{{"azureDisk":{{}},{}}}"#, affinity(&term(ZONE, r#"["a"]"#))), "{}".into(), Some(term(ZONE, r#"["a"]"#))),
    ] {
        let volume = pv(&spec, &labels);
        let plugin = InTreePlugin::of_persistent_volume(&volume).unwrap();
        let want: Option<NodeSelector> = want.map(|t| serde_json::from_str(&format!(r#"{{"nodeSelectorTerms":[{t}]}}"#)).unwrap());
        assert_eq!(translated_affinity(plugin, &volume).unwrap(), want, "{spec} {labels}");
    }
    for (source, key) in [("gcePersistentDisk", "topology.gke.io/zone"), ("cinder", "topology.cinder.csi.openstack.org/zone")] {
        let volume = pv(&format!(r#"{{"{source}":{{}},{}}}"#, affinity(&term(ZONE, r#"["a"]"#))), "{}");
        let plugin = InTreePlugin::of_persistent_volume(&volume).unwrap();
        let translated = translated_affinity(plugin, &volume).unwrap().unwrap();
        assert_eq!(translated.node_selector_terms[0].match_expressions[0].key, key);
    }
    let broken = pv(r#"{"awsElasticBlockStore":{"volumeID":"aws://x"}}"#, "{}");
    assert!(translated_affinity(InTreePlugin::AwsEbs, &broken).is_err());
}
