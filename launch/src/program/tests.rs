use super::*;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

fn place(directory: &TempDir, name: &str, mode: u32) -> PathBuf {
    let file = directory.path().join(name);
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    file
}

fn find(name: &str, beside: &TempDir, path: &TempDir) -> Result<PathBuf, FindError> {
    find_program(name.as_ref(), Some(beside.path()), Some(path.path().as_os_str()))
}

#[test]
fn a_name_is_looked_for_beside_weft_first_and_then_in_path() {
    let (beside, path) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let far = place(&path, "asp", 0o755);
    assert_eq!(find("asp", &beside, &path), Ok(far));
    let near = place(&beside, "asp", 0o755);
    assert_eq!(find("asp", &beside, &path), Ok(near));
}

#[test]
fn what_is_nowhere_is_refused_with_what_was_looked_for_and_where() {
    let (beside, path) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let error = find("aps", &beside, &path).unwrap_err().to_string();
    let (near, far) = (beside.path().display(), path.path().display());
    assert_eq!(
        error,
        format!(
            "cannot find the program \"aps\": looked beside weft ({near}) and in PATH ({far}); \
             give its path, or put its directory in PATH"
        )
    );
}

#[test]
fn ranks_have_the_program_of_the_last_first_rank_and_others_need_not_be_there() {
    let beside = TempDir::new().unwrap();
    let [a, b] = ["a", "b"].map(|name| place(&beside, name, 0o755));
    let programs = || [(0, "a"), (2, "b"), (5, "missing")].map(|(first, it)| (first, it.as_ref()));
    let find = |here: Range<u16>| {
        let here: Vec<Rank> = here.map(Rank).collect();
        Found::find(programs().into_iter(), &here, Some(beside.path()), None)
    };
    let found = find(0..5).unwrap();
    let of = |ranks: &[u16]| ranks.iter().map(|rank| found.of(Rank(*rank)).to_owned()).collect();
    let files: Vec<PathBuf> = of(&[0, 1, 2, 4]);
    assert_eq!(files, [a.clone(), a, b.clone(), b.clone()]);
    assert_eq!(find(2..5).unwrap().files().collect::<Vec<_>>(), [b]);
    assert!(matches!(find(4..6), Err(FindError::NotFound { name, .. }) if name == "missing"));
}

#[test]
fn directories_and_files_that_cannot_run_are_no_programs() {
    let (beside, path) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::create_dir(beside.path().join("asp")).unwrap();
    let notes = place(&path, "asp", 0o644);
    assert_eq!(find("asp", &beside, &path), Err(FindError::NotExecutable(notes.clone())));
    let found = place(&path, "sor", 0o755);
    assert_eq!(find("sor", &beside, &path), Ok(found));
    let as_path = |file: &Path| find(file.to_str().unwrap(), &beside, &path);
    assert_eq!(as_path(&notes), Err(FindError::NotExecutable(notes.clone())));
    assert_eq!(as_path(beside.path()), Err(FindError::Directory(beside.path().into())));
    assert_eq!(find(".", &beside, &path), Err(FindError::Directory(".".into())));
    assert_eq!(as_path(Path::new("/dev/null")), Err(FindError::NotAFile("/dev/null".into())));
    assert!(matches!(as_path(Path::new("/no/such/file")), Err(FindError::NoFile(_))));
    assert!(matches!(find("", &beside, &path), Err(FindError::NotFound { .. })));
}

#[test]
fn a_script_whose_interpreter_is_not_there_is_refused_with_its_name() {
    let folder = TempDir::new().unwrap();
    let script = place(&folder, "script", 0o755);
    for (first, missing) in [
        ("#!/no/such/shell -e\n", Some("/no/such/shell")),
        ("#! /no/such/shell\n", Some("/no/such/shell")),
        ("#!/bin/sh\n", None),
        ("#!\n", None),
        ("echo\n", None),
    ] {
        fs::write(&script, first).unwrap();
        let error = find_program(script.as_os_str(), None, None).err();
        let interpreter = missing.map(PathBuf::from);
        let expected = interpreter
            .map(|interpreter| FindError::NoInterpreter { script: script.clone(), interpreter });
        assert_eq!(error, expected, "{first}");
    }
}
