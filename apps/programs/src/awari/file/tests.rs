use super::*;

fn database(stones: u32) -> Database {
    let value = |index: u32| (index % (2 * stones + 1)) as i8 - stones as i8;
    Database::new(stones, (0..count(stones)).map(value).collect()).unwrap()
}

fn write(files: &Files, database: &Database, parts: &[usize]) {
    let unfinished = files.begin(database.stones()).unwrap();
    for part in parts.windows(2) {
        files.write_values(0, database, part[0]..part[1]).unwrap();
    }
    unfinished.finish(database).unwrap();
}

/// Names in a directory.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(folder.path());
    assert_eq!(files.read(3).unwrap(), None);
    for stones in [0, 3] {
        let all = count(stones) as usize;
        write(&files, &database(stones), &[0, all / 3, all]);
        assert_eq!(files.need(stones).unwrap(), database(stones));
    }
    assert_eq!(names(folder.path()), ["awari-0.db", "awari-3.db"]);
    assert_eq!(files.read_all().unwrap().len(), 1, "that of 1 stone is missing");
    let bytes = fs::read(files.path(3)).unwrap();
    assert_eq!(bytes.len(), HEADER + 364);
    assert_eq!(&bytes[..8], b"WEFTAWRI");
}

#[test]
fn every_byte_of_a_damaged_file_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(folder.path());
    write(&files, &database(2), &[0, 78]);
    let good = fs::read(files.path(2)).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(files.path(2), bytes).unwrap();
        let error = files.read(2).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        error.to_string()
    };
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        let said = refused(&bad);
        assert!(said.contains("awari-2.db is damaged: "), "{said}");
        assert!(said.contains("delete it, or make all databases again"), "{said}");
    }
    for (bytes, why) in [
        (&good[..20], "it has 20 bytes, fewer than its header"),
        (&good[..100], "it has 68 values instead of 78"),
        (&[&good[..], &[0]].concat(), "it has 79 values instead of 78"),
    ] {
        let said = refused(bytes);
        assert!(said.contains(why), "{said}");
    }
    fs::copy(files.path(2), files.path(1)).unwrap();
    fs::write(files.path(1), good).unwrap();
    let said = files.read(1).unwrap_err().to_string();
    assert!(said.contains("awari-1.db is damaged: it is not the database of 1 stones"), "{said}");
}

#[test]
fn what_does_not_become_whole_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(folder.path());
    let (shown, other) = (database(2), Database::new(2, vec![0; 78]).unwrap());
    drop(files.begin(2).unwrap());
    assert_eq!(names(folder.path()), [""; 0]);
    // Somebody wrote something else, or into another directory.
    let unfinished = files.begin(2).unwrap();
    files.write_values(1, &other, 0..78).unwrap();
    let error = unfinished.finish(&shown).unwrap_err();
    let said =
        "awari-2.db.part does not have what all ranks wrote: its checksum is another; they need";
    assert!(error.to_string().contains(said), "{error}");
    assert_eq!(names(folder.path()), [""; 0]);
    let error = files.write_values(1, &shown, 0..78).unwrap_err().to_string();
    assert!(
        error.starts_with("rank 1 does not see ") && error.contains("one directory"),
        "{error}"
    );
}

#[test]
fn a_directory_has_one_maker() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(&folder.path().join("new"));
    let claim = files.claim().unwrap();
    let error = files.claim().unwrap_err();
    assert!(matches!(error, Error::Busy(_)), "{error}");
    drop(claim);
    files.claim().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = Files::new(&folder.path().join("file")).claim().unwrap_err().to_string();
    assert!(error.starts_with("cannot make ") && error.contains("/file: "), "{error}");
}

#[test]
fn what_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = Files::new(folder.path()).need(4).unwrap_err().to_string();
    let shown = folder.path().display();
    let expected = format!(
        "there is no {shown}/awari-4.db: awari make --stones 4 --directory {shown} makes it"
    );
    assert_eq!(error, expected);
}
