use super::*;

const NOW: Duration = Duration::from_secs(1);

#[test]
fn one_look_is_left_out_after_each_wait() {
    let rest = Rest::default();
    for _ in 0..2 {
        assert!(!rest.is_due(|| NOW), "it waits");
        rest.has_read(true, || NOW);
        assert!(rest.is_due(|| NOW));
        assert!(!rest.is_due(|| NOW), "only once");
        rest.has_read(false, || NOW);
    }
}

#[test]
fn while_reads_bring_something_none_is_left_out() {
    let rest = Rest::default();
    rest.has_read(true, || NOW);
    assert!(rest.is_due(|| NOW));
    for _ in 0..3 {
        rest.has_read(true, || NOW);
        assert!(!rest.is_due(|| NOW), "more may be there");
    }
}

#[test]
fn a_program_that_reads_seldom_always_looks() {
    let rest = Rest::default();
    rest.has_read(true, || NOW);
    assert!(!rest.is_due(|| NOW + AT_ONCE));
}

#[test]
fn one_of_eight_reads_of_entries_that_wait_looks() {
    let rest = Rest::default();
    let looks: Vec<bool> = (0..16).map(|_| !rest.leaves_look()).collect();
    assert_eq!(looks.iter().filter(|looks| **looks).count(), 2);
    assert!(looks[7] && looks[15]);
}
