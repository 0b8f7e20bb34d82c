use super::{first_wrong, make};

#[test]
fn any_number_of_threads_makes_the_same_databases() {
    let (one, _) = make(6, 1);
    assert_eq!(first_wrong(&one, u32::MAX), None);
    for threads in [2, 5] {
        assert_eq!(make(6, threads).0, one, "{threads} threads");
    }
}
