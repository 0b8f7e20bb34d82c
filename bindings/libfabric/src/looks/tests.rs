use super::*;

#[test]
fn so_many_looks_in_vain_in_a_row_are_a_pause() {
    let looks = Looks::default();
    assert!(looks.is_pause_due(), "the first pause says how many");
    looks.paused(4);
    for _ in 0..3 {
        let due: Vec<bool> = (0..4).map(|_| looks.is_pause_due()).collect();
        assert_eq!(due, [false, false, false, true]);
        looks.paused(4);
    }
}

#[test]
fn who_gets_what_it_waits_for_does_not_pause() {
    let looks = Looks::default();
    looks.paused(4);
    for _ in 0..100 {
        assert!((0..3).all(|_| !looks.is_pause_due()));
        looks.begin();
    }
}

#[test]
fn who_is_to_pause_at_each_look_in_vain_does() {
    let looks = Looks::default();
    looks.paused(1);
    looks.begin();
    assert!(looks.is_pause_due());
}
