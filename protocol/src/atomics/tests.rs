use super::*;

#[test]
fn a_variable_says_what_it_was() {
    let mut atomics = Atomics::new();
    assert_eq!([5, 7].map(|amount| atomics.apply(3, Atomic::Add(amount))), [0, 5]);
    assert_eq!(atomics.apply(u16::MAX, Atomic::Swap(u64::MAX)), 0);
    assert_eq!(atomics.apply(u16::MAX, Atomic::Add(2)), u64::MAX);
    assert_eq!(atomics.apply(4, Atomic::Max(0)), 0);
    assert_eq!(atomics.used().collect::<Vec<_>>(), [(3, 12), (u16::MAX, 1)], "it goes round");
}

#[test]
fn only_who_was_asked_may_answer() {
    let mut atomics = Atomics::new();
    assert!(!atomics.is_asking());
    atomics.begin();
    assert!(atomics.is_asking() && !atomics.has_asked(Rank(1)));
    atomics.ask(Rank(1));
    assert!(atomics.has_asked(Rank(1)) && !atomics.has_asked(Rank(2)));
    atomics.end();
    assert!(!atomics.is_asking() && !atomics.has_asked(Rank(1)));
}
