use super::*;
use crate::memory::{self, Mapping};
use std::sync::Arc;

const FRAMES: usize = 4;
/// Bytes of a frame's release counts, with as few ranks as here.
const READERS: usize = 64;

/// A pool, and the releases that readers count in.
fn pool() -> (Pool, View<AtomicU8>) {
    let bytes = FRAMES * READERS;
    let file = memory::create("weft-test", bytes).unwrap();
    let mapping = Arc::new(Mapping::new(&file, 0..bytes, true).unwrap());
    let releases = View::new(&mapping, 0, bytes);
    let settings = Settings { frames: FRAMES as u32, ..Settings::new(2) };
    (Pool::new(&settings, releases.clone()), releases)
}

#[test]
fn a_frame_that_nobody_else_has_read_is_filled_again_at_once() {
    let (mut pool, _) = pool();
    let first = pool.alloc().unwrap();
    let second = pool.alloc().unwrap();
    pool.free(first);
    pool.free(second);
    assert_eq!([pool.alloc(), pool.alloc()], [Some(second), Some(first)]);
}

#[test]
fn a_frame_that_a_reader_has_just_released_is_filled_last() {
    let (mut pool, releases) = pool();
    let read = pool.alloc().unwrap();
    pool.add_reader(read, Rank(1));
    pool.free(read);
    releases[read as usize * READERS + 1].store(1, Ordering::Release);
    let mut others: Vec<u32> = (1..FRAMES).filter_map(|_| pool.alloc()).collect();
    assert_eq!((others.len(), others.contains(&read)), (FRAMES - 1, false));
    assert_eq!(pool.alloc(), Some(read), "none else is free");
    pool.free(read);
    others.drain(..).for_each(|frame| pool.free(frame));
}
