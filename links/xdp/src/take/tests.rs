#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn it_is_looked_for_beside_the_code_and_nowhere_that_a_user_names() {
    let of = |file: &str| -> Vec<String> {
        places(Some(Path::new(file))).iter().map(|place| place.display().to_string()).collect()
    };
    assert_eq!(of("/opt/weft/bin/weft"), ["/opt/weft/bin", "/usr/local/bin"]);
    assert_eq!(of("/usr/local/bin/weft"), ["/usr/local/bin"]);
    let library = "/opt/weft/lib/libfabric/libweft-fi.so";
    assert_eq!(
        of(library),
        ["/opt/weft/lib/libfabric", "/opt/weft/lib/bin", "/opt/weft/bin", "/usr/local/bin"]
    );
    assert_eq!(
        of("/usr/local/lib/libweft.so.0.1.0"),
        ["/usr/local/lib", "/usr/local/bin", "/usr/bin"]
    );
    assert_eq!(places(None), [Path::new("/usr/local/bin")]);
}

#[test]
fn code_knows_its_file() {
    assert_eq!(own_file(), std::env::current_exe().ok());
    let maps =
        "1000-2000 r-xp 0000 fd:00 12                   /lib/a b.so\n2000-3000 rw-p 0 00:00 0 \n";
    assert_eq!(file_at(maps, 0x1fff), Some("/lib/a b.so".into()));
    assert_eq!(file_at(maps, 0x2000), None);
    assert_eq!(file_at(maps, 0x3000), None);
}
