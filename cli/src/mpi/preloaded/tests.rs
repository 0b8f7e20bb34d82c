use super::*;
use crate::mpi::Stack;

/// A folder with a launcher of that name and such files.
fn launcher(name: &str, files: &[&str]) -> (tempfile::TempDir, Launcher) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        fs::write(folder.path().join(file), "").unwrap();
    }
    let launcher = Launcher::named(folder.path().join(name), Stack::OpenMpi);
    (folder, launcher)
}

#[test]
fn the_compiler_is_the_one_beside_the_launcher() {
    let (folder, full) = launcher("mpirun.openmpi", &["mpicc", "mpicc.openmpi", "mpicc_abi"]);
    let compiler = |launcher: &Launcher, abi| {
        let found = compiler_of(&COLLECTIVES, launcher, &Linked { abi, ..Linked::default() });
        found.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
    };
    assert_eq!(compiler(&full, false).unwrap(), "mpicc.openmpi");
    assert_eq!(compiler(&full, true).unwrap(), "mpicc_abi");
    let short = Launcher::named(folder.path().join("mpirun"), Stack::OpenMpi);
    assert_eq!(compiler(&short, false).unwrap(), "mpicc");
    let (_folder, alone) = launcher("mpirun.openmpi", &[]);
    let error = compiler(&alone, false).unwrap_err().to_string();
    assert!(error.contains("there is no mpicc.openmpi or mpicc in "), "{error}");
}

#[test]
fn it_is_kept_where_the_user_says() {
    let cache = |said: Option<&str>, home: Option<&str>| {
        cache(said.map(OsString::from), home.map(OsString::from))
    };
    assert_eq!(cache(Some("/c"), Some("/h")), Some("/c/weft".into()));
    assert_eq!(cache(Some("c"), Some("/h")), Some("/h/.cache/weft".into()));
    assert_eq!(cache(None, Some("/h")), Some("/h/.cache/weft".into()));
    assert_eq!(cache(Some(""), None), None);
}

#[test]
fn what_the_compiler_says_is_handed_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("coll-1").join(COLLECTIVES.file);
    let source = &COLLECTIVES;
    let refused = Preloaded { source, file: file.clone(), compiler: "/bin/false".into() };
    assert!(matches!(refused.make().unwrap_err().why, Why::NotCompiled { .. }));
    let missing = Preloaded { source, file: file.clone(), compiler: "/no/compiler".into() };
    let error = missing.make().unwrap_err().to_string();
    assert!(error.starts_with("--collectives weft: /no/compiler: "), "{error}");
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 0, "nothing stays");
    fs::write(&file, "").unwrap();
    assert!(missing.make().is_ok(), "it is there");
}
