//! Tests of `manifest`.

use super::*;

fn read(text: &str) -> Result<Vec<(String, usize)>, Vec<String>> {
    read_up_to(text, 10)
}

fn read_up_to(text: &str, most: usize) -> Result<Vec<(String, usize)>, Vec<String>> {
    let mut reading = Reading { left: MANIFEST, most, ..Reading::default() };
    reading.text("m.yaml", text.as_bytes());
    let name = |object: ManifestObject| (object.value["metadata"]["name"].as_str().unwrap_or_default().to_owned(), object.place.line);
    if reading.errors.is_empty() {
        Ok(reading.objects.into_iter().map(name).collect())
    } else {
        Err(reading.errors.iter().map(ToString::to_string).collect())
    }
}

fn object(name: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n")
}

#[test]
fn documents_lists_and_json_are_read_with_their_lines() {
    let two = format!("# comment\n---\n\n{}---\n# nothing\n---\n{}", object("a"), object("b"));
    assert_eq!(read(&two).unwrap(), [("a".to_owned(), 4), ("b".into(), 11)]);
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a, labels: null}}\n- null\n";
    assert_eq!(read(list).unwrap(), [("a".to_owned(), 1)]);
    let json = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}";
    assert_eq!(read(json).unwrap(), [("a".to_owned(), 1), ("b".into(), 3)]);
    assert_eq!(read("{apiVersion: v1, kind: Pod, metadata: {name: flow}}").unwrap(), [("flow".to_owned(), 1)]);
    let merged = "base: &b {name: merged}\napiVersion: v1\nkind: Pod\nmetadata:\n  <<: *b\n";
    assert_eq!(read(merged).unwrap(), [("merged".to_owned(), 1)]);
    assert_eq!(read(&format!("--- {{apiVersion: v1, kind: Pod, metadata: {{name: a}}}}\n---\n{}", object("b"))).unwrap().len(), 2);
}

#[test]
fn errors_name_file_and_line() {
    for (text, error) in [
        (format!("{}---\na: [1\nb: 2\n", object("a")), "m.yaml:7: "),
        ("{\"apiVersion\": \"v1\",\n\"kind\": }".to_owned(), "m.yaml:1: has no kind"),
        ("\nkind: Pod\nmetadata: {name: a}\n".to_owned(), "m.yaml:2: Pod has no apiVersion"),
        ("apiVersion: v1\nmetadata: {name: a}\n".to_owned(), "m.yaml:1: has no kind"),
        ("apiVersion: v1\nkind: Pod\n".to_owned(), "m.yaml:1: Pod has no metadata.name"),
        ("just text\n".to_owned(), "m.yaml:1: is not an object"),
        (format!("a: {}", "[".repeat(5000)), "m.yaml:1: brackets are nested too deeply"),
    ] {
        let errors = read(&text).unwrap_err();
        assert!(errors[0].starts_with(error), "{errors:?}");
    }
    let missing = read_manifests(&[PathBuf::from("/nowhere/m.yaml"), PathBuf::from("https://example.com/m.yaml")]).unwrap_err();
    assert_eq!((missing.len(), missing[1].place.line), (2, 0));
    assert!(missing[1].message.starts_with("is a URL"));
}

#[test]
fn manifests_are_bounded() {
    let many = [object("a"), object("b"), object("c"), object("d")].join("---\n");
    assert_eq!(read_up_to(&many, 4).unwrap().len(), 4);
    assert_eq!(read_up_to(&many, 2).unwrap_err(), ["m.yaml:11: has more than 2 objects"]);
    let mut reading = Reading { left: 10, most: 10, ..Reading::default() };
    reading.stream("m.yaml", object("a").as_bytes());
    assert!(reading.errors[0].to_string().contains("longer than"), "{:?}", reading.errors);
}
