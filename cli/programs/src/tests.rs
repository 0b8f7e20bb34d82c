//! Names of programs.

use super::*;

#[test]
fn the_makefile_links_all_programs_and_no_others() {
    let makefile = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Makefile");
    let makefile = std::fs::read_to_string(makefile).unwrap();
    let linked = makefile.lines().find_map(|line| line.strip_prefix("PROGRAMS := ")).unwrap();
    let names: Vec<_> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    assert_eq!(linked.split(' ').collect::<Vec<_>>(), names);
    assert!(names.iter().all(|name| named(OsStr::new(name)).is_some()));
    assert!(named(OsStr::new("weft-programs")).is_none());
}
