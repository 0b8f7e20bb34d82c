//! Libraries of programs that are here.

use super::*;

#[test]
fn a_program_has_the_libraries_that_it_was_linked_with() {
    let libraries = libraries_of(&env::current_exe().unwrap());
    let c = libraries.iter().find(|needed| needed.name.starts_with("libc.so")).unwrap();
    let path = c.path.as_ref().unwrap();
    assert!(path.is_absolute() && path.is_file(), "{libraries:?}");
    let names: BTreeSet<_> = libraries.iter().map(|needed| &needed.name).collect();
    assert_eq!(names.len(), libraries.len(), "each once");
}

#[test]
fn of_scripts_nothing_is_known() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "#!/usr/bin/env python3\n").unwrap();
    assert_eq!(libraries_of(file.path()), []);
    assert_eq!(libraries_of(Path::new("/")), []);
}

#[test]
fn folders_are_relative_to_the_file_that_names_them() {
    let of = |list: &str| folders(list.as_bytes(), Some(Path::new("/p/bin")));
    let expected = ["/p/bin/../lib", "/p/bin", "/o"].map(PathBuf::from);
    assert_eq!(of("$ORIGIN/../lib:${ORIGIN}::/o"), expected);
}

#[test]
fn the_loaders_index_is_read() {
    let texts = b"libm.so\0/a/libm.so\0/b/libm.so\0";
    let entries = |at: u32| {
        let entry = |path: u32| [[0x303, at, at + path], [0; 3]].concat();
        [entry(8), entry(19)].concat().into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>()
    };
    let heading = [INDEX_MARK, &2u32.to_le_bytes(), &[0; 24]].concat();
    let at = (heading.len() + 2 * ENTRY_BYTES) as u32;
    let index = [&heading[..], &entries(at), texts].concat();
    let found = |index: &[u8], name| indexed(index, name).collect::<Vec<_>>();
    assert_eq!(found(&index, "libm.so"), ["/a/libm.so", "/b/libm.so"].map(PathBuf::from));
    assert_eq!(found(&[b"older", &index[..]].concat(), "libm.so").len(), 2);
    assert_eq!(found(&index, "lib"), Vec::<PathBuf>::new());
    for length in 0..index.len() {
        found(&index[..length], "libm.so");
    }
}
