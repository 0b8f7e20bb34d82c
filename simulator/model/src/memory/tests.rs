//! The judge judges.

use super::*;

#[test]
fn readers_share_and_see_the_last_write() {
    let mut memory = Memory::new(2);
    for write in 0..3 {
        assert_eq!(memory.begin_write(1, 0, write), Ok(()));
        assert_eq!(memory.end_write(1, 0), Ok(()));
    }
    for node in [0, 2, 2] {
        assert_eq!(memory.begin_read(node, 0, 3), Ok(()));
    }
    assert_eq!(memory.begin_read(0, 1, 0), Ok(()));
    for node in [2, 0, 2] {
        assert_eq!(memory.end_read(node, 0), Ok(()));
    }
    assert_eq!(memory.begin_write(0, 0, 3), Ok(()));
    assert_eq!((memory.written(0), memory.written(1)), (3, 0));
}

#[test]
fn what_no_memory_does_is_named() {
    let mut memory = Memory::new(1);
    let (node, region) = (1, 0);
    assert_eq!(memory.begin_read(0, 0, 7), Err(Wrong::Stale { node: 0, region, seen: 7, last: 0 }));
    assert_eq!(memory.end_read(1, 0), Err(Wrong::NotIn { node, region }));
    assert_eq!(memory.end_write(1, 0), Err(Wrong::NotIn { node, region }));
    memory.begin_read(0, 0, 0).unwrap();
    let among = Err(Wrong::Exclusion { node, region, other: 0 });
    assert_eq!(memory.begin_write(1, 0, 0), among);
    memory.end_read(0, 0).unwrap();
    memory.begin_write(0, 0, 0).unwrap();
    assert_eq!(memory.begin_read(1, 0, 0), among);
    assert_eq!(memory.begin_write(1, 0, 0), among);
    assert_eq!(memory.delete(1, 0), among);
    memory.end_write(0, 0).unwrap();
    assert_eq!(memory.begin_read(1, 0, 1), Err(Wrong::Deleted { node, region }));
}
