use super::super::tests::Repository;
use super::*;

const BYTES: &[u8] = &[0x50, 0x4b, 0x03, 0x04, 0xff];

#[test]
fn a_file_that_is_not_text_is_found() {
    let repository = Repository::new(&[("docs/text", "PK")]).with("docs/a.whl", BYTES);
    assert_eq!(repository.finds(check), ["docs/a.whl:1: a file that is not text"]);
}

#[test]
fn assets_and_inputs_of_fuzzing_may_hold_any_bytes() {
    let mut repository = Repository::new(&[]);
    for folder in ANY_BYTES {
        repository = repository.with(&format!("{folder}a"), BYTES);
    }
    for end in ASSETS {
        repository = repository.with(&format!("docs/a{end}"), BYTES);
    }
    assert_eq!(repository.finds(check), [""; 0]);
}
