//! Times and names of recordings.

use super::*;

#[test]
fn times_have_units_and_limits() {
    let all = ["500ms", "2s", "2", "60s"].map(|text| duration(text).unwrap().as_millis());
    assert_eq!(all, [500, 2000, 2000, 60_000]);
    assert!(["", "2h", "0s", "61s", "NaNs", "-1s"].iter().all(|text| duration(text).is_err()));
}

#[test]
fn no_recording_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let names = [(); 3].map(|()| new_file(folder.path(), 7).unwrap());
    let names = names.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    assert_eq!(names, ["weft-7.trace", "weft-7-2.trace", "weft-7-3.trace"]);
    let said = format!("{:#}", new_file(&folder.path().join("none"), 7).unwrap_err());
    assert!(said.contains("cannot write") && said.contains("No such file"), "{said}");
}

#[test]
fn progress_never_passes_the_end() {
    let seconds = Duration::from_secs_f64;
    let said = how_far(Path::new("run.weft"), seconds(1.24), seconds(2.0));
    assert_eq!(said, "recording into run.weft: 1.2 of 2.0 s");
    assert!(how_far(Path::new("x"), seconds(2.1), seconds(2.0)).ends_with("2.0 of 2.0 s"));
}
