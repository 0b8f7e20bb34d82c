use super::*;

const A: Rank = Rank(1);
const B: Rank = Rank(2);
const C: Rank = Rank(3);

fn pool(floor_packets: u16, most: u16, pool_packets: u32) -> Pool {
    Pool::new(&Adaptive { floor_packets, pool_packets }, most)
}

#[test]
fn a_share_doubles_up_to_the_largest_window() {
    let mut pool = pool(1, 10, 100);
    let grants: Vec<u16> = (0..6).map(|_| pool.request(A)).collect();
    assert_eq!(grants, [1, 2, 4, 2, 0, 0]);
    assert_eq!((pool.extra(A), pool.free()), (9, 91));
    assert_eq!(pool.next_victim(A), None, "it has all that it can have");
}

#[test]
fn an_empty_pool_asks_the_one_that_has_needed_least_lately() {
    let mut pool = pool(2, 8, 8);
    assert_eq!([pool.request(A), pool.request(B), pool.request(A)], [2, 2, 4]);
    assert_eq!((pool.request(C), pool.free()), (0, 0));
    assert_eq!(pool.next_victim(C), Some(B));
    assert_eq!((pool.recall(B), pool.is_recalled(B)), (Some(2), true));
    assert_eq!((pool.request(C), pool.next_victim(C)), (0, Some(A)), "B has yet to answer");
    assert!(pool.returned(B, 2));
    assert_eq!((pool.extra(B), pool.free(), pool.sharers()), (0, 2, 2));
    assert_eq!(pool.serve(), Some((C, 2)));
    assert_eq!((pool.serve(), pool.free()), (None, 0), "it waits once");
}

#[test]
fn no_more_is_handed_back_than_was_asked_for() {
    let mut pool = pool(1, 8, 3);
    assert_eq!([pool.request(A), pool.request(A)], [1, 2]);
    assert!(!pool.returned(A, 1), "nobody asked");
    assert_eq!(pool.recall(A), Some(3));
    assert!(!pool.returned(A, 4));
    assert!(!pool.returned(B, 0), "nobody asked B");
    assert!(pool.returned(A, 0));
    assert!(!pool.returned(A, 0), "it has answered");
}

/// A sender that uses all that it has hands nothing back, but cannot keep others from their share.
#[test]
fn more_than_a_share_is_kept_as_it_comes() {
    let mut pool = pool(1, 8, 6);
    assert_eq!([pool.request(A), pool.request(A), pool.request(A)], [1, 2, 3]);
    assert_eq!((pool.request(B), pool.next_victim(B)), (0, Some(A)));
    assert_eq!(pool.recall(A), Some(6));
    assert!(!pool.keeps(A), "what was asked for is not taken otherwise");
    assert!(pool.returned(A, 0));
    assert!(pool.keeps(A));
    assert_eq!(pool.request(A), 0, "what it loses it does not get back at once");
    assert_eq!(pool.serve(), Some((B, 1)));
    assert!((0..2).all(|_| pool.keeps(A)));
    assert!(!pool.keeps(A), "a share is its own: {pool:?}");
    assert_eq!(pool.extra(A), 3);
}

#[test]
fn a_sender_with_its_share_looks_for_idle_credits_now_and_then() {
    let mut pool = pool(1, 8, 4);
    assert_eq!([pool.request(A), pool.request(A)], [1, 2]);
    assert_eq!([pool.request(B), pool.request(B)], [1, 0]);
    assert_eq!(pool.next_victim(B), Some(A), "1 of 4 is no half");
    assert_eq!(pool.take(A, 1), 1);
    assert_eq!(pool.serve(), Some((B, 1)));
    let looks = (0..LOOKS_FOR_IDLE).filter(|_| {
        assert_eq!(pool.request(B), 0);
        pool.next_victim(B) == Some(A)
    });
    assert_eq!(looks.count(), 1);
}

#[test]
fn hashes_tell_orders_apart_and_not_numbers() {
    let hash = |requests: &[Rank]| {
        let mut pool = pool(2, 4, 4);
        for &sender in requests {
            pool.request(sender);
        }
        let mut state = std::hash::DefaultHasher::new();
        pool.hash(&mut state);
        state.finish()
    };
    let later: Vec<Rank> = [A, B].repeat(1 + LOOKS_FOR_IDLE as usize / 2);
    assert_eq!(hash(&[A, B]), hash(&later));
    assert_ne!(hash(&[A, B]), hash(&[B, A]));
}
