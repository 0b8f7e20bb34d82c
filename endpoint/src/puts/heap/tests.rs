use super::*;

#[test]
fn pieces_are_apart_and_come_together_again() {
    let mut free = Free::new(1024);
    let mut taken = [100, 64, 1, 0, 300].map(|bytes| (free.take(bytes).unwrap(), bytes));
    assert_eq!(taken.map(|(at, _)| at), [0, 128, 192, 256, 320]);
    assert_eq!(free.take(1024 - 640 + 1), None);
    assert_eq!(free.take(usize::MAX), None);
    taken.swap(0, 3);
    taken.swap(1, 4);
    for (at, bytes) in taken {
        free.give(at, bytes);
    }
    assert_eq!(free.0, BTreeMap::from([(0, 1024)]));
}
