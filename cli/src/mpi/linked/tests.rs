use super::*;

/// Relation of a program that needs these libraries, each in a file or nowhere.
fn linked(libraries: &[(&str, Option<&str>)]) -> Linked {
    let needed = libraries
        .iter()
        .map(|(name, path)| Needed { name: (*name).into(), path: path.map(PathBuf::from) });
    Linked::with(&needed.collect::<Vec<_>>())
}

#[test]
fn libraries_are_known_by_their_names() {
    let fabric = "/opt/o/lib/openmpi/libfabric.so.1";
    let of = linked(&[
        ("libmpi.so.40", Some("/opt/o/lib/libmpi.so.40")),
        ("libfabric.so.1", Some(fabric)),
    ]);
    assert_eq!(of.stack, Some(Stack::OpenMpi));
    assert_eq!(of.launchers, Some("/opt/o/bin".into()));
    assert_eq!(of.fabric, Some(fabric.into()));
    let of = linked(&[("libmpi.so.12", Some("/m/lib/libmpi.so.12"))]);
    assert_eq!(of.stack, Some(Stack::Mpich));
    let debians = linked(&[("libmpich.so.12", Some("/lib/x86_64-linux-gnu/libmpich.so.12"))]);
    assert_eq!(debians.stack, Some(Stack::Mpich));
}

#[test]
fn the_abi_of_mpi_5_is_anybodys() {
    let of = linked(&[("libmpi_abi.so.1", Some("/m/lib/libmpi_abi.so.1"))]);
    assert_eq!((of.stack, of.launchers), (None, Some("/m/bin".into())));
}

#[test]
fn a_library_that_the_loader_does_not_find_says_which_stack_it_is() {
    let of = linked(&[("libmpi.so.12", None)]);
    assert_eq!((of.stack, of.launchers), (Some(Stack::Mpich), None));
}

#[test]
fn of_scripts_nothing_is_known() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "#!/usr/bin/env python3\n").unwrap();
    assert_eq!(libraries_of(file.path()), Linked::default());
}
