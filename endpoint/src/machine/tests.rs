use super::*;

#[test]
fn a_pause_takes_some_time_and_is_measured_once() {
    assert!(pause_ns() > 0.0);
    assert_eq!(pause_ns().to_bits(), pause_ns().to_bits());
}

#[test]
fn a_line_takes_some_time_between_two_cores_if_their_threads_meet() {
    let Some(cores) = two_cores() else {
        eprintln!("not measured: this process may use one core only");
        return;
    };
    // On a machine with other things to do they may not meet.
    assert!(line_ns(cores).is_none_or(|time| time > 1.0));
}

#[test]
fn threads_that_cannot_be_put_anywhere_measure_nothing() {
    assert_eq!(line_ns([CpuSet::MAX_CPU - 1; 2]), None);
}
