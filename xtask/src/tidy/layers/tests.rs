use super::super::tests::found;
use super::*;

/// A repository of two crates, the first depending on the second.
fn arrow(from: &str, to: &str, kind: &str) -> Vec<String> {
    let up = "../".repeat(from.split('/').count());
    let first =
        format!("[package]\nname = \"first\"\n[{kind}]\nsecond = {{ path = \"{up}{to}\" }}\n");
    let second = "[package]\nname = \"second\"\n";
    let (from, to) = (format!("{from}/Cargo.toml"), format!("{to}/Cargo.toml"));
    found(&[(&from, &first), (&to, second)], check)
}

fn assert_allowed(from: &str, to: &str) {
    assert_eq!(arrow(from, to, "dependencies"), [""; 0], "{from} -> {to}");
}

fn assert_refused(from: &str, to: &str) {
    let expected = format!("{from}/Cargo.toml:4: {from} must not depend on {to}");
    assert_eq!(arrow(from, to, "dependencies"), [&*expected]);
    assert_eq!(arrow(from, to, "build-dependencies"), [expected]);
}

const PATH: [&str; 7] =
    ["apps/asp", "systems/orca", "messaging", "collective", "endpoint", "protocol", "wire"];

#[test]
fn dependencies_point_down_the_data_path_only() {
    for (high, from) in PATH.iter().enumerate() {
        for (low, to) in PATH.iter().enumerate().filter(|&(low, _)| low != high) {
            if high < low { assert_allowed(from, to) } else { assert_refused(from, to) }
        }
    }
    for link in ["links/api", "links/shm"] {
        assert_allowed("endpoint", link);
        assert_allowed(link, "wire");
        assert_refused(link, "endpoint");
        assert_refused("wire", link);
    }
}

#[test]
fn protocol_and_link_know_nothing_of_each_other() {
    for link in ["links/api", "links/shm", "links/conformance"] {
        assert_refused("protocol", link);
        assert_refused(link, "protocol");
    }
    assert_allowed("links/shm", "links/api");
    assert_allowed("links/conformance", "links/api");
    assert_refused("links/shm", "links/udp");
    assert_refused("links/api", "links/shm");
    assert_allowed("links/xdp/net", "links/xdp");
    for from in ["links/xdp", "launch", "endpoint", "bindings/c", "cli"] {
        assert_refused(from, "links/xdp/net");
    }
}

#[test]
fn programs_run_in_the_simulator_and_nothing_below_knows_it() {
    for from in ["cli", "bench/paper", "simulator/model"] {
        assert_allowed(from, "simulator");
    }
    for from in ["apps/asp", "bindings/rust", "endpoint", "links/sim"] {
        assert_refused(from, "simulator");
    }
}

#[test]
fn only_endpoint_joins_protocol_and_link() {
    let join = |folder: &str| {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\n\
                        p = { path = \"../protocol\" }\nl = { path = \"../links/shm\" }\n";
        found(&[(&format!("{folder}/Cargo.toml"), manifest)], check)
    };
    assert_eq!(join("endpoint"), [""; 0]);
    assert_eq!(join("cli"), [""; 0]);
    for folder in ["collective", "messaging"] {
        let expected = format!("{folder}/Cargo.toml:5: {folder} joins protocol and links/shm");
        assert_eq!(join(folder), [expected]);
    }
}

#[test]
fn what_stands_beside_the_data_path() {
    for to in ["messaging", "endpoint", "launch", "links/shm", "macros"] {
        assert_allowed("bindings/rust", to);
        assert_allowed("bindings/c", to);
    }
    assert_refused("bindings/rust", "protocol");
    assert_refused("bindings/rust", "systems/orca");
    assert_allowed("bindings/c", "bindings/rust");
    assert_allowed("apps/asp", "bindings/rust");
    assert_allowed("apps/asp", "apps/common");
    assert_refused("apps/asp", "apps/programs");
    assert_allowed("apps/common", "bindings/rust");
    assert_refused("messaging", "bindings/rust");
    assert_refused("macros", "wire");
    for to in ["wire", "links/api", "links/shm"] {
        assert_allowed("launch", to);
    }
    assert_refused("launch", "endpoint");
    assert_refused("endpoint", "launch");
    for from in ["cli", "bench"] {
        for to in ["messaging", "protocol", "links/shm", "launch", "bindings/rust", "wire"] {
            assert_allowed(from, to);
        }
        assert_refused(from, "xtask");
    }
    // `make paper` asks it which trees deadlock.
    assert_allowed("bench/paper", "testing/world");
    assert_refused("cli", "testing/world");
    assert_allowed("cli", "bench");
    assert_refused("bench", "cli");
    assert_refused("xtask", "wire");
}

#[test]
fn tests_are_free_but_those_of_protocols_and_links() {
    for to in ["endpoint", "links/shm", "testing/world", "cli"] {
        assert_allowed("testing/fuzz", to);
        assert_allowed("testing/world", to);
        assert_eq!(arrow("endpoint", to, "dev-dependencies"), [""; 0]);
    }
    for from in ["protocol", "links/api", "links/shm", "links/conformance"] {
        for to in ["testing/world", "links/conformance", "wire"] {
            assert_eq!(arrow(from, to, "dev-dependencies"), [""; 0], "{from} -> {to}");
        }
        for to in ["endpoint", "messaging", "bindings/rust", "launch", "testing/fuzz"] {
            let expected = format!("{from}/Cargo.toml:4: {from} must not depend on {to}");
            assert_eq!(arrow(from, to, "dev-dependencies"), [expected]);
        }
    }
    assert_refused("endpoint", "testing/world");
    assert_refused("links/shm", "links/conformance");
}

#[test]
fn an_unknown_folder_says_where_to_add_it() {
    let manifest = "[package]\nname = \"a\"\n";
    let findings = found(&[("newt/Cargo.toml", manifest), ("wire/x/Cargo.toml", manifest)], check);
    assert_eq!(findings.len(), 2);
    assert!(findings[0].starts_with("newt/Cargo.toml:1: no layer has the folder 'newt'; add it"));
    assert!(findings[0].contains("layer_of in xtask/src/tidy/layers.rs"), "{}", findings[0]);
}

#[test]
fn a_manifest_that_is_none_is_found() {
    let findings = found(&[("wire/Cargo.toml", "[package")], check);
    assert!(findings[0].starts_with("wire/Cargo.toml:1: this is no manifest"), "{findings:?}");
}

/// Each arrow that is refused is refused for a reason of its own kind.
#[test]
fn every_refusal_has_a_reason() {
    let all = [
        "apps/asp",
        "apps/common",
        "systems/a",
        "messaging",
        "endpoint",
        "protocol",
        "links/shm",
        "links/api",
        "links/conformance",
        "wire",
        "launch",
        "bindings/rust",
        "macros",
        "bindings/c",
        "cli",
        "bench",
        "testing/world",
        "testing/fuzz",
        "xtask",
    ];
    for from in all.map(|folder| layer_of(folder).unwrap()) {
        for to in all.map(|folder| layer_of(folder).unwrap()) {
            assert!(!reason(from, to, false).is_empty());
            assert!(!reason(from, to, true).is_empty());
        }
    }
    assert!(reason(Protocol, Link, false).contains("only endpoint joins them"));
    assert!(reason(Link, Protocol, false).contains("knows no protocol"));
    assert!(reason(Endpoint, World, false).contains("dev-dependency"));
}
