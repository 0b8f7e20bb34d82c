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
    let file = folder.path().join("weft/coll-1").join(COLLECTIVES.file);
    let source = &COLLECTIVES;
    let refused = Preloaded { source, file: file.clone(), compiler: "/bin/false".into() };
    assert!(matches!(refused.make().unwrap_err().why, Why::NotCompiled { .. }));
    let missing = Preloaded { source, file: file.clone(), compiler: "/no/compiler".into() };
    let error = missing.make().unwrap_err().to_string();
    assert!(error.starts_with("--collectives weft: /no/compiler: "), "{error}");
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 0, "nothing stays");
    fs::write(&file, "").unwrap();
    assert!(missing.make().is_ok(), "it is there");
    for folder in file.ancestors().skip(1).take(2) {
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700, "{}", folder.display());
    }
}

/// A compiler in that folder that makes this text.
fn compiler(folder: &Path, makes: &str) -> PathBuf {
    let path = folder.join("mpicc");
    fs::write(&path, format!("#!/bin/sh\nfor file; do :; done\necho {makes} > $file\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    path
}

#[test]
fn what_others_could_have_put_there_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let compiler = compiler(folder.path(), "made");
    let file = folder.path().join("weft/coll-1").join(COLLECTIVES.file);
    let own = file.parent().unwrap();
    let library = Preloaded { source: &COLLECTIVES, file: file.clone(), compiler };
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    let planted = |in_folder: u32, of_file: u32| {
        fs::create_dir_all(own).unwrap();
        fs::write(&file, "planted\n").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(of_file)).unwrap();
        fs::set_permissions(own, Permissions::from_mode(in_folder)).unwrap();
        library.make().unwrap();
        assert_eq!((mode(own) & OTHERS_WRITE, mode(&file) & OTHERS_WRITE), (0, 0));
        fs::read_to_string(&file).unwrap()
    };
    assert_eq!(planted(0o700, 0o644), "planted\n", "who else could have?");
    assert_eq!(planted(0o777, 0o644), "made\n");
    assert_eq!(planted(0o755, 0o666), "made\n");
}

#[test]
fn what_belongs_to_another_user_is_not_taken() {
    if !geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("coll-1");
    fs::create_dir(&own).unwrap();
    std::os::unix::fs::chown(&own, Some(64_123), None).unwrap();
    let (source, file) = (&COLLECTIVES, own.join(COLLECTIVES.file));
    fs::write(&file, "planted").unwrap();
    let library = Preloaded { source, file, compiler: "/bin/false".into() };
    let refused = library.make().unwrap_err();
    assert!(matches!(&refused.why, Why::Foreign(of) if *of == own), "{refused}");
}
