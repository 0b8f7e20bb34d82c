use super::edit_distance;

#[test]
fn edits() {
    let distance = [("ams", "ams"), ("ams", "asm"), ("ams", "am"), ("ams", "xms"), ("", "abc")]
        .map(|(a, b)| edit_distance(a, b));
    assert_eq!(distance, [0, 1, 1, 1, 3]);
}
