use super::*;

fn waiting(ranks: usize, quota: Option<f64>, others: usize) -> Option<String> {
    Cores { count: 4, quota, others }.waiting(ranks)
}

#[test]
fn who_has_a_core_for_each_rank_says_nothing() {
    assert_eq!(waiting(4, None, 0), None);
    assert_eq!(waiting(4, Some(4.0), 0), None);
    assert_eq!(waiting(2, None, 2), None);
}

#[test]
fn the_reason_for_another_way_to_wait_is_said() {
    let said = |ranks, quota, others| waiting(ranks, quota, others).unwrap();
    assert_eq!(said(5, None, 0), "waiting yields");
    assert_eq!(said(5, Some(4.0), 0), "waiting yields");
    assert_eq!(said(2, Some(1.5), 0), "a quota of 1.5 cores: waiting sleeps soon");
    assert_eq!(said(8, Some(3.0), 9), "a quota of 3.0 cores: waiting sleeps soon");
    assert_eq!(said(4, None, 1), "another process wants a core: waiting yields");
    assert_eq!(said(2, None, 3), "3 other processes want cores: waiting yields");
}

#[test]
fn processes_that_run_are_counted() {
    assert_eq!(running("cpu 1 2\nprocesses 7\nprocs_running 3\nprocs_blocked 0\n"), Some(3));
    assert_eq!(running("cpu 1 2\n"), None);
    assert!(running(&fs::read_to_string("/proc/stat").unwrap()).unwrap() > 0);
}
