//! Names of Weft's own functions.

use super::*;

/// Folders of crates of which a rank consists beside its program.
const FOLDERS: [&str; 7] =
    ["collective", "endpoint", "links/", "messaging", "protocol", "systems/", "wire"];
/// Crates in them that no function of a rank comes from: tests, macros, the compiler, what loads
/// the XDP program.
const OTHERS: [&str; 5] =
    ["weft-link-conformance", "weft-link-sim", "weft-net", "weft-object-macros", "weft-orca"];

#[test]
fn all_crates_of_a_rank_are_known() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let crates = manifest.lines().filter_map(|line| line.split_once(" = { path = \""));
    let of_rank = crates.filter(|(name, path)| {
        FOLDERS.iter().any(|folder| path.starts_with(folder)) && !OTHERS.contains(name)
    });
    let names: Vec<_> = of_rank.map(|(name, _)| name.replace('-', "_")).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(is_library(&format!("{name}::wait")), "{name}");
        assert!(is_library(&format!("<{name}::A as B>::wait")), "{name}");
    }
    assert!(!is_library("weft_asp::relax"));
}
