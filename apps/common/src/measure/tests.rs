use super::{Times, measure};
use std::cell::RefCell;
use std::time::Duration;

fn measured(speedup: bool) -> ((usize, Times), String) {
    let order = RefCell::new(String::new());
    let micros = |times: [u64; 3], letter| {
        let turn = order.borrow().matches(letter).count();
        order.borrow_mut().push(letter);
        (turn, Duration::from_micros(times[turn]))
    };
    let sequential = || Ok::<_, ()>(Some(micros([30, 10, 20], 'a').1));
    let outcome =
        measure(speedup, sequential, || Ok(micros([7, 9, 8], 't'))).expect("nothing fails");
    (outcome, order.into_inner())
}

#[test]
fn a_speed_up_takes_turns_and_medians() {
    let (outcome, order) = measured(true);
    assert_eq!(order, "atatat");
    let [parallel, sequential] = [8, 20].map(Duration::from_micros);
    assert_eq!(outcome, (2, Times { parallel, sequential: Some(sequential) }));
}

#[test]
fn without_it_nothing_runs_alone() {
    let (outcome, order) = measured(false);
    assert_eq!(order, "t");
    let parallel = Duration::from_micros(7);
    assert_eq!(outcome, (0, Times { parallel, sequential: None }));
}
