//! Files of databases: what a run leaves behind, and what the next one goes on from.

use crate::awari::common::{bytes, make_alone, options};
use std::fs;
use weft_apps::awari::{Error, make};

#[test]
fn what_is_there_is_kept_and_what_is_missing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), 5);
    assert_eq!(make_alone(&options).made, 6);
    let all = bytes(folder.path());
    assert_eq!(make_alone(&options).made, 0);
    // A run that was killed leaves what was whole, and a part without meaning.
    for name in ["awari-5.db", "awari-2.db"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("awari-5.db.part"), [7; 10_000]).unwrap();
    assert_eq!(make_alone(&options).made, 2);
    assert!(bytes(folder.path()) == all, "the same files with the same bytes");
    options.again = true;
    assert_eq!(make_alone(&options).made, 6);
    assert!(bytes(folder.path()) == all, "and so again");
}

#[test]
fn a_damaged_file_is_refused_by_name_and_made_again_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), 4);
    make_alone(&options);
    let all = bytes(folder.path());
    let path = folder.path().join("awari-3.db");
    let mut damaged = fs::read(&path).unwrap();
    damaged[100] ^= 4;
    fs::write(&path, damaged).unwrap();
    let weft = weft::join().unwrap();
    let error = make(&weft, &options).unwrap_err();
    assert!(matches!(&error, Error::Damaged { path: named, .. } if *named == path), "{error}");
    drop(weft);
    options.again = true;
    make_alone(&options);
    assert!(bytes(folder.path()) == all);
}

#[test]
fn reports_say_what_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let text = make_alone(&options(folder.path(), 3)).to_string();
    let row = "     3        364        121         64        179   698715303\n";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("455 positions in 4 databases, of which 4 were made now\n"), "{text}");
    assert!(text.contains("0 batches between ranks of 0 each in the mean"), "{text}");
}
