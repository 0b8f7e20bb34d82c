use super::*;

fn manifest(path: &str, text: &str) -> Manifest {
    let file = File { path: path.into(), text: text.into() };
    Manifest::parse(&file).map_err(|finding| finding.to_string()).unwrap()
}

fn arrow(to: &str, line: usize, dev: bool) -> Arrow {
    Arrow { to: to.into(), line, dev, version: None }
}

#[test]
fn arrows_are_found_however_they_are_written() {
    let root = manifest(
        "Cargo.toml",
        "[workspace]\n[workspace.dependencies]\nweft-wire = { path = \"wire\" }\nclap = \"4\"\n",
    );
    let text = r#"[package]
name = "weft-node"

[dependencies]
clap.workspace = true
weft-wire.workspace = true
protocol = { path = "../protocol", package = "weft-protocol" }

[build-dependencies]
weft-launch = { path = "../launch" }

[target.'cfg(target_os = "linux")'.dependencies]
shm = { path = "../links/shm" }

[dependencies.api]
path = "../links/./api"

[dev-dependencies]
weft-wire = { workspace = true }
"#;
    let node = manifest("node/Cargo.toml", text);
    let expected = [
        arrow("links/api", 15, false),
        arrow("protocol", 7, false),
        arrow("wire", 6, false),
        arrow("launch", 10, false),
        arrow("wire", 19, true),
        arrow("links/shm", 13, false),
    ];
    assert_eq!(node.arrows(Some(&root)), expected);
    assert!(node.is_package() && !root.is_package());
}

#[test]
fn what_is_no_manifest_says_so() {
    let file = File { path: "a/Cargo.toml".into(), text: "[package".into() };
    let finding = Manifest::parse(&file).err().unwrap();
    assert!(finding.what.starts_with("this is no manifest: "), "{finding}");
}

#[test]
fn paths_are_joined_without_detours() {
    assert_eq!(join("links/shm", "../../wire"), "wire");
    assert_eq!(join("", "links/api"), "links/api");
    assert_eq!(join("bindings/rust", "macros"), "bindings/rust/macros");
}
