#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn only_what_is_the_jobs_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let others = ["weft-00000abd-1", "1234:0:0", "notweft-00000abc-1"];
    let own = [endpoint_name(0xabc, Rank(0)), format!("{}_7", endpoint_name(0xabc, Rank(12)))];
    for name in others.iter().copied().chain(own.iter().map(String::as_str)) {
        fs::write(folder.path().join(name), "").unwrap();
    }
    remove_from(folder.path(), 0xabc);
    assert!(others.iter().all(|name| folder.path().join(name).exists()));
    assert!(!own.iter().any(|name| folder.path().join(name).exists()));
    remove_from(Path::new("/proc/nowhere"), 0xabc);
}
