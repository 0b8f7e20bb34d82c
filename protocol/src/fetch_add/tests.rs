use super::*;

#[test]
fn a_variable_says_what_it_was() {
    let mut fetch_add = FetchAdd::new();
    assert_eq!([5, 7].map(|amount| fetch_add.add(3, amount)), [0, 5]);
    assert_eq!(fetch_add.add(VARIABLES - 1, u64::MAX), 0);
    assert_eq!(fetch_add.add(VARIABLES - 1, 2), u64::MAX);
    assert_eq!(fetch_add.used().collect::<Vec<_>>(), [(3, &12), (63, &1)], "it goes round");
}

#[test]
fn only_who_was_asked_may_answer() {
    let mut fetch_add = FetchAdd::new();
    assert!(!fetch_add.is_fetching());
    fetch_add.begin();
    assert!(fetch_add.is_fetching() && !fetch_add.has_asked(Rank(1)));
    fetch_add.ask(Rank(1));
    assert!(fetch_add.has_asked(Rank(1)) && !fetch_add.has_asked(Rank(2)));
    fetch_add.end();
    assert!(!fetch_add.is_fetching() && !fetch_add.has_asked(Rank(1)));
}
