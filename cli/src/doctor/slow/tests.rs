use super::*;

fn is_ok(finding: &Finding) -> bool {
    finding.status == Status::Ok && finding.advice.is_none()
}

#[test]
fn two_threads_of_a_core_cost_and_two_cores_do_not() {
    let lists = |all: &[&str]| all.iter().map(|list| (*list).to_owned()).collect::<Vec<_>>();
    let found = hyperthreads(&[0, 1, 2, 3], &lists(&["0,2\n", "1,3\n", "0,2\n", "1,3\n"]));
    assert_eq!(found.status, Status::Costs);
    assert_eq!(found.detail, "the 4 cores are threads of 2 cores, and two share its units");
    assert!(found.advice.unwrap().ends_with(": -n 2"));
    assert!(is_ok(&hyperthreads(&[0, 1], &lists(&["0\n", "1\n"]))));
    // The other thread of each is for others.
    assert!(is_ok(&hyperthreads(&[0, 1], &lists(&["0,2\n", "1,3\n"]))));
    assert!(is_ok(&hyperthreads(&[0], &[])));
}

#[test]
fn huge_pages_are_in_shared_memory_or_cost() {
    assert!(is_ok(&huge_pages(Some("always [within_size] advise never deny force\n"))));
    let never = huge_pages(Some("always within_size advise [never] deny force\n"));
    assert!(never.detail.contains("shmem_enabled is never"), "{never:?}");
    assert_eq!((never.status, huge_pages(None).status), (Status::Costs, Status::Costs));
}

#[test]
fn a_frequency_that_is_limited_or_saved_costs() {
    assert!(is_ok(&frequency(None, None, None)));
    assert!(is_ok(&frequency(Some("performance\n"), Some(3_000_000), Some(3_000_000))));
    let limited = frequency(Some("performance\n"), Some(1_200_000), Some(3_400_000));
    assert_eq!((limited.status, &*limited.detail), (Status::Costs, "limited to 1.2 GHz of 3.4"));
    assert_eq!(frequency(Some("powersave\n"), None, None).status, Status::Costs);
}

#[test]
fn stolen_time_costs_from_one_percent_on() {
    let stat = |idle, stolen| ticks(&format!("cpu  10 0 10 {idle} 0 0 0 {stolen} 5 0\ncpu0 1\n"));
    let before = stat(0, 0).unwrap();
    assert_eq!(before, Ticks { all: 20, stolen: 0 });
    assert!(is_ok(&steal(before, stat(1000, 0).unwrap())));
    let much = steal(before, stat(900, 100).unwrap());
    assert!(much.status == Status::Costs && much.detail.contains("had 10.0 % of"), "{much:?}");
    assert_eq!(ticks("nothing"), None);
    assert!(is_ok(&steal(before, before)));
}
