use super::*;

#[test]
fn lines_that_do_not_fit_are_cut_between_two() {
    let few = "rank 0: an object\n".repeat(100);
    assert_eq!(cut(few.clone()), few);
    let many = "rank 0: an ö\n".repeat(100_000);
    let cut_off = cut(many);
    assert!((BYTES_MAX - 40..=BYTES_MAX).contains(&cut_off.len()), "{}", cut_off.len());
    assert!(cut_off.ends_with("rank 0: an ö\n... and more\n"));
    assert_eq!(cut("x".repeat(2 * BYTES_MAX)), CUT);
}

#[test]
fn room_is_bounded_whatever_a_rank_tells() {
    assert_eq!([0, 1, 500].map(room), [1, 1, 500]);
    assert_eq!([1 << 20, (1 << 20) + 1, u64::MAX].map(room), [BYTES_MAX; 3]);
}
