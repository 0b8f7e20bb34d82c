use super::{Source, in_quotes};
use std::path::Path;

#[test]
fn sources_are_known_by_their_crates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let Source::Folder(found) = Source::find(Some(&root)).unwrap() else { panic!("a registry") };
    assert_eq!(found, root);
    let error = Source::find(Some(Path::new("/tmp"))).err().unwrap().to_string();
    assert!(error.starts_with("/tmp has no sources of Weft"), "{error}");
    let [weft, simulator] = Source::Folder("/a".into()).crates().unwrap();
    assert_eq!(weft, r#"{ package = "weft-parallel", path = "/a/bindings/rust" }"#);
    assert_eq!(simulator, r#"{ path = "/a/simulator" }"#);
}

#[test]
fn of_a_registry_the_version_is_that_of_the_command() {
    let [weft, _] = Source::Registry.crates().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(weft, format!(r#"{{ package = "weft-parallel", version = "={version}" }}"#));
}

#[test]
fn paths_stand_in_quotes() {
    assert_eq!(in_quotes(Path::new(r#"/a "b"/c\d""#)).unwrap(), r#""/a \"b\"/c\\d\"""#);
}
