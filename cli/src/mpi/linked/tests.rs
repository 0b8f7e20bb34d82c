use super::*;

#[test]
fn libraries_are_known_by_their_names() {
    let of = |text: &str| Linked::from_ldd(text);
    let linked =
        of("\tlinux-vdso.so.1 (0x00007f1d)\n\tlibmpi.so.40 => /opt/o/lib/libmpi.so.40 (0x1)\n\t\
                     libfabric.so.1 => /opt/o/lib/openmpi/libfabric.so.1 (0x2)\n");
    assert_eq!(linked.stack, Some(Stack::OpenMpi));
    assert_eq!(linked.launchers, Some("/opt/o/bin".into()));
    assert_eq!(linked.fabric, Some("/opt/o/lib/openmpi/libfabric.so.1".into()));
    assert_eq!(of("\tlibmpi.so.12 => /m/lib/libmpi.so.12 (0x1)").stack, Some(Stack::Mpich));
    let debians = of("\tlibmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x1)");
    assert_eq!(debians.stack, Some(Stack::Mpich));
}

#[test]
fn the_abi_of_mpi_5_is_anybodys() {
    let linked = Linked::from_ldd("\tlibmpi_abi.so.1 => /m/lib/libmpi_abi.so.1 (0x1)");
    assert_eq!((linked.stack, linked.launchers), (None, Some("/m/bin".into())));
}

#[test]
fn a_library_that_the_loader_does_not_find_says_which_stack_it_is() {
    let linked = Linked::from_ldd("\tlibmpi.so.12 => not found\n");
    assert_eq!((linked.stack, linked.launchers), (Some(Stack::Mpich), None));
}

#[test]
fn of_scripts_nothing_is_known() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "#!/usr/bin/env python3\n").unwrap();
    assert_eq!(libraries_of(file.path()), Linked::default());
}
