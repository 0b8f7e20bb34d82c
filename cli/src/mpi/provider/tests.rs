use super::*;
use std::fs;
use tempfile::TempDir;

/// A prefix with a `bin`, and files in it.
fn prefix(files: &[&str]) -> TempDir {
    let prefix = tempfile::tempdir().unwrap();
    fs::create_dir(prefix.path().join("bin")).unwrap();
    for file in files {
        let file = prefix.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    prefix
}

fn find(prefix: &TempDir, said: Option<&str>, variable: Option<&str>) -> Result<PathBuf, String> {
    let said = said.map(|said| prefix.path().join(said));
    let variable = variable.map(|folder| prefix.path().join(folder));
    let variable = variable.as_deref().map(Path::as_os_str);
    let found = Provider::find(said.as_deref(), variable, &prefix.path().join("bin"));
    let folder = found.map_err(|error| error.to_string())?.folder;
    Ok(folder.strip_prefix(prefix.path()).unwrap().into())
}

#[test]
fn it_is_where_make_install_puts_it() {
    let prefix = prefix(&["lib/libfabric/libweft-fi.so"]);
    assert_eq!(find(&prefix, None, None), Ok("lib/libfabric".into()));
}

#[test]
fn where_it_is_built_it_gets_its_name() {
    let prefix = prefix(&["bin/libweft_fi.so"]);
    for _ in 0..2 {
        assert_eq!(find(&prefix, None, None), Ok("bin/libfabric".into()));
        let link = fs::read_link(prefix.path().join("bin/libfabric/libweft-fi.so")).unwrap();
        assert_eq!(link, Path::new("../libweft_fi.so"));
    }
}

#[test]
fn a_libfabric_with_nothing_else_is_beside_it() {
    let prefix = prefix(&["bin/libweft_fi.so", "bin/libweft_host.so"]);
    let own = prefix.path().join("bin");
    let host = Provider::find(None, None, &own).unwrap().host();
    assert_eq!(host, Some(own.join("libfabric/host/libfabric.so.1")));
    fs::remove_file(own.join("libweft_host.so")).unwrap();
    assert_eq!(Provider::find(None, None, &own).unwrap().host(), None);
}

#[test]
fn a_name_that_cannot_be_given_is_said() {
    let prefix = prefix(&["bin/libweft_fi.so", "bin/libfabric"]);
    let error = find(&prefix, None, None).unwrap_err();
    assert!(error.contains("bin/libfabric/libweft-fi.so: "), "{error}");
    assert!(error.ends_with("make it a link to libweft_fi.so"), "{error}");
}

#[test]
fn what_is_said_comes_before_what_the_environment_says() {
    let files = ["a/libweft-fi.so", "b/libweft-fi.so", "lib/libfabric/libweft-fi.so"];
    let prefix = prefix(&files);
    assert_eq!(find(&prefix, Some("a"), Some("b")), Ok("a".into()));
    assert_eq!(find(&prefix, Some("a/libweft-fi.so"), Some("b")), Ok("a".into()));
    assert_eq!(find(&prefix, None, Some("b")), Ok("b".into()));
    assert_eq!(find(&prefix, None, Some("nowhere")), Ok("lib/libfabric".into()));
    let error = find(&prefix, Some("nowhere"), None).unwrap_err();
    assert!(
        error.ends_with("nowhere: there is no libweft-fi.so; name it, or the folder where it is")
    );
}

#[test]
fn where_it_was_looked_for_is_said() {
    let prefix = prefix(&[]);
    let error = find(&prefix, None, None).unwrap_err();
    let (lib, bin) = (prefix.path().join("lib/libfabric"), prefix.path().join("bin"));
    let expected =
        format!("is neither in {} nor in {}: run make install", lib.display(), bin.display());
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn folders_are_listed_as_libfabric_reads_them() {
    let folders = |value: &str| listed_folders(OsStr::new(value));
    assert_eq!(folders("/a:/b"), [Path::new("/a"), Path::new("/b")]);
    assert_eq!(folders("@/a::"), [Path::new("/a")]);
    assert!(folders("").is_empty());
}
