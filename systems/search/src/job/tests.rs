//! Jobs: what is put in comes out.

use super::*;

#[test]
fn a_job_keeps_its_position_and_its_moves() {
    let layout = Layout::new(8, 2);
    assert_eq!(layout.room(), 88, "more than the 80 moves of the hardest 15-puzzle");
    let mut job = layout.start(|bytes| bytes.fill(7));
    assert_eq!((layout.last(&job), job.depth(), layout.path(&job)), (None, 0, vec![]));
    let moves: Vec<u8> = (0..88).map(|index: u8| (index ^ index >> 2) % 4).collect();
    for (index, by) in moves.iter().enumerate() {
        assert!(layout.has_room(&job));
        job = layout.child(&job, *by, |bytes| bytes.fill(index as u8));
        assert_eq!(layout.last(&job), Some(*by));
        assert_eq!(layout.position(&job), [index as u8; 8]);
    }
    assert!(!layout.has_room(&job));
    assert_eq!((job.depth(), layout.path(&job)), (88, moves));
}

#[test]
fn moves_of_a_byte_and_of_a_bit_fit_as_well() {
    for (bits, by) in [(1, 1), (4, 13), (8, 255)] {
        let layout = Layout::new(16, bits);
        assert_eq!(layout.room(), 14 * 8 / bits);
        let start = layout.start(|bytes| bytes.fill(9));
        let job = layout.child(&layout.child(&start, 0, |_| {}), by, |_| {});
        assert_eq!(layout.path(&job), [0, by]);
        assert_eq!(layout.position(&job), [9; 16]);
    }
}
