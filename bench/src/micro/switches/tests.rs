use super::*;
use std::sync::mpsc::channel;

#[test]
fn a_thread_that_sleeps_is_counted_by_its_name() {
    let (wake, woken) = channel::<()>();
    let (answer, answered) = channel();
    let sleeper = std::thread::Builder::new().name("weft-sleeper".into());
    let sleeper = sleeper
        .spawn(move || woken.iter().try_for_each(|()| answer.send(())))
        .expect("threads can be started");
    let mut counters = SwitchCounters::open(system_call_tracepoint()).unwrap();
    let before = counters.read().unwrap();
    let mut slept = Switches::default();
    // It may find its next message before it sleeps.
    while slept.sleeps.get("sleeper").is_none_or(|sleeps| *sleeps < 10.0) {
        wake.send(()).unwrap();
        answered.recv().unwrap();
        slept = counters.read().unwrap().since(&before);
    }
    assert!(slept.system_calls.is_none_or(|calls| calls >= 10.0), "{slept:?}");
    drop(wake);
    sleeper.join().unwrap().unwrap();
}

#[test]
fn counts_add_up() {
    let of = |sleeps: f64, calls| Switches {
        sleeps: [("upcalls".to_owned(), sleeps)].into(),
        preemptions: 1.0,
        system_calls: calls,
    };
    let mut all = of(3.0, Some(10.0)).since(&of(1.0, Some(4.0)));
    assert_eq!(all, Switches { preemptions: 0.0, ..of(2.0, Some(6.0)) });
    all.add(&of(4.0, None));
    all.add(&of(0.0, Some(2.0)));
    let turn = all.of_a_turn(4);
    assert_eq!(turn.text(), "1.50 wake-ups (upcalls 1.50), 0.50 preemptions, 2.0 system calls");
    let json = serde_json::to_value(turn).unwrap();
    assert_eq!(json["sleeps"]["upcalls"], 1.5);
}
