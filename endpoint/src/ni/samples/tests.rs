use super::*;

const MS: Nanoseconds = 1_000_000;

#[test]
fn files_of_the_system_are_read() {
    let schedstat = Schedstat { run_delay: 2_893_497, slices: 2 };
    assert_eq!(parse_schedstat("632737 2893497 2\n"), Some(schedstat));
    assert_eq!(parse_schedstat(""), None);
    assert_eq!(throttled("nr_periods 7\nnr_throttled 3\nthrottled_usec 9\n"), Some(3));
    assert_eq!(stolen("cpu  41519 0 4940 12287 431 0 109 290 0 0\ncpu0 1\n"), Some(2900 * MS));
    assert_eq!(stolen("cpu 1 2"), None);
}

#[test]
fn quotas_are_read() {
    let quotas = ["50000 100000", "max 100000", "-1\n 100000\n", "250000\n 100000\n", ""];
    assert_eq!(quotas.map(parse_quota), [Some(0.5), None, None, Some(2.5), None]);
}

#[test]
fn a_thread_hears_how_it_fared_from_its_second_question_on() {
    assert_eq!(fared(MS), None);
    let seen = fared(3 * MS);
    // Some kernels do not count.
    if std::path::Path::new("/proc/thread-self/schedstat").exists() {
        assert_eq!(seen.map(|fared| fared.time), Some(2 * MS));
    }
}
