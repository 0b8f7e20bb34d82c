use super::*;
use weft_netns::write_script;

const HYDRA: &str = "HYDRA build details:\n    Version:                                 5.0.2\n    \
                     Configure options:                       --with-device=ch4:ucx,ofi --with-pm=hydra:gforker\n";
const DEBIANS: &str = "HYDRA build details:\n    Version:                                 4.0.2\n    Configure options:    \
                       '--with-hwloc-prefix=/usr' '--with-device=ch4:ucx' 'FFLAGS=-O2'\n";

fn recognize(said: &str) -> Result<Launcher, StackError> {
    Launcher::recognize("/opt/bin/mpirun".into(), said)
}

/// A folder with commands that say what an MPI library's do.
fn folder(commands: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, said) in commands {
        let file = folder.path().join(name);
        write_script(&file, &format!("#!/bin/sh\ncat <<'END'\n{said}\nEND\n")).unwrap();
    }
    folder
}

const INTEL: &str = "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n\
                     Copyright 2003-2026, Intel Corporation.\n";

const OPEN_MPI: &str = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/";

#[test]
fn stacks_are_known_by_what_they_say() {
    for (said, expected) in [
        (OPEN_MPI, "Open MPI 4.1.4 (/opt/bin/mpirun)"),
        ("mpiexec (OpenRTE) 4.1.4\n", "Open MPI 4.1.4 (/opt/bin/mpirun)"),
        ("\nmpirun (Open MPI) 5.0.11\n", "Open MPI 5.0.11 (/opt/bin/mpirun)"),
        (HYDRA, "MPICH 5.0.2 (/opt/bin/mpirun)"),
        (DEBIANS, "MPICH 4.0.2 (/opt/bin/mpirun)"),
        (INTEL, "Intel MPI 2021.18.1 (/opt/bin/mpirun)"),
    ] {
        assert_eq!(recognize(said).unwrap().to_string(), expected);
    }
}

#[test]
fn open_mpi_4_is_corrected() {
    for (said, expected) in
        [(OPEN_MPI, true), ("\nmpirun (Open MPI) 5.0.11\n", false), (HYDRA, false)]
    {
        assert_eq!(recognize(said).unwrap().needs_correction(), expected, "{said}");
    }
}

#[test]
fn others_are_named() {
    let error = recognize("LAM/MPI 7.1.4\n").unwrap_err().to_string();
    assert!(error.contains("calls itself \"LAM/MPI 7.1.4\""), "{error}");
    assert!(error.contains("neither Open MPI's, MPICH's nor Intel MPI's"), "{error}");
}

#[test]
fn an_mpich_without_libfabric_is_refused() {
    assert!(recognize(HYDRA).unwrap().has_fabric().is_ok());
    assert!(recognize(OPEN_MPI).unwrap().has_fabric().is_ok());
    let error = recognize(DEBIANS).unwrap().has_fabric().unwrap_err().to_string();
    assert!(error.starts_with("MPICH 4.0.2 (/opt/bin/mpirun) is built for ch4:ucx"), "{error}");
    assert!(error.contains("pip install mpich"), "{error}");
}

#[test]
fn the_first_is_taken_unless_another_is_wanted() {
    let both = folder(&[("mpirun", OPEN_MPI), ("mpirun.mpich", HYDRA)]);
    let path = both.path().as_os_str();
    let find = |wanted| Launcher::find(wanted, None, Some(path));
    assert_eq!(find(None).unwrap().path, both.path().join("mpirun"));
    let mpich = find(Some(Wanted::Said(Stack::Mpich))).unwrap();
    assert_eq!(mpich.path, both.path().join("mpirun.mpich"));
}

#[test]
fn intel_mpi_runs_what_is_linked_with_mpich_unless_mpich_is_asked_for() {
    let both = folder(&[("mpirun", INTEL), ("mpirun.mpich", HYDRA)]);
    let path = both.path().as_os_str();
    let find = |wanted| Launcher::find(Some(wanted), None, Some(path)).unwrap().stack;
    assert_eq!(find(Wanted::Linked(Stack::Mpich)), Stack::IntelMpi);
    assert_eq!(find(Wanted::Said(Stack::Mpich)), Stack::Mpich);
    assert!(!Stack::IntelMpi.runs(Stack::OpenMpi) && !Stack::OpenMpi.runs(Stack::Mpich));
}

#[test]
fn the_script_of_intel_mpi_finds_its_own_hydra() {
    let own = folder(&[("mpirun", INTEL), ("mpiexec.hydra", INTEL)]);
    let other = folder(&[("mpiexec.hydra", DEBIANS)]);
    let path = other.path().as_os_str();
    let launcher = Launcher::find(None, Some(own.path()), Some(path)).unwrap();
    let first = std::env::join_paths([own.path(), other.path()]).unwrap();
    assert_eq!(launcher.path_for(Some(path)), Some(first.clone()));
    assert_eq!(launcher.path_for(Some(&first)), None);
    let mpich = Launcher::recognize(own.path().join("mpirun"), HYDRA).unwrap();
    assert_eq!(mpich.path_for(Some(path)), None);
}

#[test]
fn the_folder_of_the_programs_own_library_comes_first() {
    let (own, other) = (folder(&[("mpirun", HYDRA)]), folder(&[("mpirun", OPEN_MPI)]));
    let found = Launcher::find(None, Some(own.path()), Some(other.path().as_os_str())).unwrap();
    assert_eq!((found.stack, found.path), (Stack::Mpich, own.path().join("mpirun")));
}

#[test]
fn what_is_missing_is_said() {
    let empty = folder(&[]);
    let error = Launcher::find(None, None, Some(empty.path().as_os_str())).unwrap_err();
    assert!(error.to_string().starts_with("there is no mpirun in PATH: install"), "{error}");
    let one = folder(&[("mpirun", OPEN_MPI)]);
    let wanted = Some(Wanted::Linked(Stack::Mpich));
    let error = Launcher::find(wanted, None, Some(one.path().as_os_str())).unwrap_err().to_string();
    let expected = "there is no mpirun of MPICH, which the program is linked with; in PATH is Open MPI 4.1.4 (";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn libraries_are_looked_for_beside_the_launcher() {
    let prefix = tempfile::tempdir().unwrap();
    for folder in ["bin", "lib/openmpi"] {
        std::fs::create_dir_all(prefix.path().join(folder)).unwrap();
    }
    let plugin = prefix.path().join("lib/openmpi/mca_mtl_ofi.so");
    let launcher = prefix.path().join("bin/mpirun");
    for file in [&plugin, &launcher] {
        std::fs::write(file, "").unwrap();
    }
    let found = Launcher::recognize(launcher, OPEN_MPI).unwrap().users_of_fabric();
    assert_eq!(found, [plugin.canonicalize().unwrap()]);
}

#[test]
fn one_that_has_no_libfabric_gives_way_to_one_that_has() {
    let (beside, in_path) = (folder(&[("mpirun.mpich", DEBIANS)]), folder(&[("mpirun", HYDRA)]));
    let wanted = Some(Wanted::Said(Stack::Mpich));
    let find = |path: &Path| {
        Launcher::find(wanted, Some(beside.path()), Some(path.as_os_str())).unwrap().to_string()
    };
    let expected = format!("MPICH 5.0.2 ({})", in_path.path().join("mpirun").display());
    assert_eq!(find(in_path.path()), expected);
    let expected = format!("MPICH 4.0.2 ({})", beside.path().join("mpirun.mpich").display());
    assert_eq!(find(Path::new("/nowhere")), expected);
}

#[test]
fn one_that_fails_when_it_is_asked_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mpirun");
    write_script(&file, "#!/bin/sh\necho no home >&2\nexit 1\n").unwrap();
    let path = Some(folder.path().as_os_str());
    let wanted = Some(Wanted::Linked(Stack::OpenMpi));
    for wanted in [None, wanted] {
        let error = Launcher::find(wanted, None, path).unwrap_err().to_string();
        assert_eq!(error, format!("{} --version fails: no home", file.display()));
    }
}
