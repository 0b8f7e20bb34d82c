use super::*;

/// Bytes of which no two near one another are alike.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|byte| (byte * 31 + byte / 256) as u8).collect()
}

#[test]
fn all_bytes_are_copied_out_whatever_their_place() {
    for length in [0, 1, LONG - 1, LONG, LONG + 1, LONG + 63, 3 * LONG + 17] {
        for shift in [0, 1, 24, 63] {
            let packet = pattern(length + shift);
            let mut into = vec![0; length];
            copy_out(&mut into, &packet[shift..]);
            assert_eq!(into, packet[shift..], "{length} bytes at {shift}");
        }
    }
}

#[test]
#[should_panic = "all bytes are copied"]
fn a_copy_of_another_length_is_a_mistake() {
    copy_out(&mut [0; 8], &[0; 9]);
}

#[test]
fn all_bytes_are_streamed_and_none_beside_them() {
    for length in [0, 1, 63, 64, 65, 200, LONG, LONG + 13] {
        for shift in [0, 1, 24, 63] {
            let (bytes, mut frame) = (pattern(length), vec![0xaa; length + 128]);
            let to = NonNull::from(&mut frame[shift..]).cast();
            // SAFETY: the frame is longer than what is written, and nobody else's.
            unsafe { stream(to, &bytes) };
            assert_eq!(frame[shift..][..length], bytes, "{length} bytes at {shift}");
            let around = frame[..shift].iter().chain(&frame[shift + length..]);
            assert!(around.copied().all(|byte| byte == 0xaa), "{length} bytes at {shift}");
        }
    }
}

/// Copies so often, where each kind takes so many picoseconds a byte; returns how many were by
/// each.
fn copies(choice: &Choice, count: u32, time_of: impl Fn(Stores) -> u64) -> [u32; 2] {
    let mut by = [0; 2];
    for _ in 0..count {
        let (stores, is_timed) = choice.next();
        by[stores as usize] += 1;
        if is_timed {
            choice.took(stores, time_of(stores));
        }
    }
    by
}

fn apart(stores: Stores) -> u64 {
    [420, 40][stores as usize]
}

fn near(stores: Stores) -> u64 {
    [27, 54][stores as usize]
}

/// Times of stores past the cache that are quicker for the writer alone.
fn slightly(stores: Stores) -> u64 {
    [60, 40][stores as usize]
}

#[test]
fn the_better_stores_are_found_and_kept() {
    for (time_of, best) in [
        (apart as fn(_) -> _, Stores::Streamed),
        (near, Stores::Cached),
        (slightly, Stores::Cached),
    ] {
        let choice = Choice::default();
        copies(&choice, 100, time_of);
        assert_eq!(choice.best(), best);
        let by = copies(&choice, 10_000, time_of);
        assert!(by[best as usize] > 9_970, "{by:?}");
    }
}

/// The host has put one of the two ranks on another core.
#[test]
fn a_change_is_noticed() {
    let choice = Choice::default();
    copies(&choice, 1000, near);
    let by = copies(&choice, 100, apart);
    assert!(choice.best() == Stores::Streamed && by[0] < 50, "{by:?}: others took longer at once");
    copies(&choice, 2 * Choice::EVERY, near);
    assert_eq!(choice.best(), Stores::Cached, "at the next trial");
}

#[test]
fn a_copy_that_was_interrupted_proves_nothing() {
    let choice = Choice::default();
    copies(&choice, 100, near);
    choice.took(Stores::Cached, 4_000_000);
    copies(&choice, 100, near);
    assert_eq!(choice.best(), Stores::Cached);
}
