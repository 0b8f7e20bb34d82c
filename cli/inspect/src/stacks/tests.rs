//! Names of Weft's own functions.

use super::*;

/// Folders of crates of which a rank consists beside its program.
const FOLDERS: [&str; 7] =
    ["collective", "endpoint", "links/", "messaging", "protocol", "systems/", "wire"];
/// Crates in them that no function of a rank comes from: tests, the compiler, what loads
/// the XDP program.
const OTHERS: [&str; 5] =
    ["weft-link-conformance", "weft-link-sim", "weft-net", "weft-orca", "weft-pipe"];

#[test]
fn all_crates_of_a_rank_are_known() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let crates = manifest.lines().filter_map(|line| line.split_once(" = { path = \""));
    let of_rank = crates.filter(|(name, path)| {
        FOLDERS.iter().any(|folder| path.starts_with(folder)) && !OTHERS.contains(name)
    });
    let names: Vec<_> = of_rank.map(|(name, _)| name.replace('-', "_")).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(is_library(&frame(&format!("{name}::wait"), "app")), "{name}");
        assert!(is_library(&frame(&format!("<{name}::A as B>::wait"), "app")), "{name}");
    }
    assert!(!is_library(&frame("weft_asp::relax", "app")));
}

fn frame(function: &str, file: &str) -> Frame {
    Frame { function: function.into(), line: None, file: file.into() }
}

#[test]
fn of_an_mpi_library_only_what_the_program_called_is_said() {
    let stack = [
        frame("__poll", "libc.so.6"),
        frame("opal_libevent2022_event_base_loop", "libopen-pal.so.40.30.2"),
        frame("fi_cq_read", "libweft-fi.so"),
        frame("mca_pml_cm_recv", "mca_pml_cm.so"),
        frame("PMPI_Recv", "libmpi.so.40.30.4"),
        frame("receive", "app"),
        frame("main", "app"),
    ];
    let said = all_in_words(vec![Ok(stack.to_vec())]);
    assert_eq!(said, [Some("PMPI_Recv, receive, main".into())]);
}

#[test]
fn a_refusal_is_said_once() {
    let denied = || Err(StackError::Denied);
    let said = all_in_words(vec![denied(), Err(StackError::Gone), denied()]);
    let first = said[0].as_deref().unwrap();
    assert!(first.contains("/proc/sys/kernel/yama/ptrace_scope"), "{first}");
    assert_eq!(said[1..], [None, None]);
}
