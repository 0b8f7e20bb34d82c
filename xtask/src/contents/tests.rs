//! Bills and licences of this repository.

use super::*;

fn root() -> std::path::PathBuf {
    crate::root().unwrap()
}

#[test]
fn a_bill_names_all_crates_with_licence_and_checksum() {
    let bill: Value = serde_json::from_str(&sbom(&root()).unwrap()).unwrap();
    let components = bill["components"].as_array().unwrap();
    let named = |name: &str| components.iter().find(|one| one["name"] == name);
    let clap = named("clap").unwrap();
    assert!(clap["purl"].as_str().unwrap().starts_with("pkg:cargo/clap@4."));
    assert_eq!(clap["licenses"][0]["expression"], "MIT OR Apache-2.0");
    assert_eq!(clap["hashes"][0]["content"].as_str().unwrap().len(), 64);
    assert!(named("weft-wire").is_some_and(|own| own["purl"].is_null()));
    // What only tests and builds use is in nothing that is packaged.
    assert!(["proptest", "cbindgen", "xtask"].iter().all(|name| named(name).is_none()));
    for one in components {
        assert_ne!(one["licenses"][0]["expression"], "NOASSERTION", "{one}");
    }
    // Everything is there for somebody.
    let needs = bill["dependencies"].as_array().unwrap();
    assert_eq!(needs.len(), components.len() + 1);
    let all: Vec<&Value> =
        needs.iter().flat_map(|one| one["dependsOn"].as_array().unwrap()).collect();
    assert!(components.iter().all(|one| all.contains(&&one["bom-ref"])));
}

#[test]
fn licences_have_a_line_for_each_crate_and_each_text_once() {
    let text = licences(&root()).unwrap();
    let (list, texts) = text.split_once("---------- text 1 ----------").unwrap();
    assert!(list.lines().any(|line| line.starts_with("clap 4.")), "{list}");
    assert!(!list.contains("weft-wire") && !list.contains("NOASSERTION"));
    let without = list.lines().filter(|line| line.ends_with("without a text of its own")).count();
    assert!(without < 20, "{list}");
    assert!(texts.contains("Permission is hereby granted"));
    let bodies: Vec<&str> = text.split("\n---------- text ").skip(1).collect();
    let bodies: Vec<&str> = bodies.iter().map(|body| body.split_once('\n').unwrap().1).collect();
    let mut once = bodies.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), bodies.len());
}
