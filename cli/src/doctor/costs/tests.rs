use super::*;

#[test]
fn the_median_is_of_the_samples() {
    let samples = [9, 1, 5].map(Duration::from_nanos).to_vec();
    let cost = Cost { name: "it", unit: "ns", p50: 5, rounds: 3 };
    assert_eq!(median("it", samples), Some(cost));
    assert_eq!(median("it", Vec::new()), None);
}

#[test]
fn what_does_not_work_has_no_cost() {
    assert_eq!(timed("it", || false), None);
    assert_eq!(timed("it", || true).map(|cost| cost.rounds > 0), Some(true));
}

#[test]
fn bells_wake_each_other_until_it_is_over() {
    let (ping, pong) = (Bell::default(), Bell::default());
    let samples = thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 1;
            while ping.wait_for(turn) {
                pong.ring(turn);
                turn += 1;
            }
        });
        let samples = ask(&ping, &pong);
        ping.ring(Bell::OVER);
        samples
    });
    assert!(!samples.is_empty());
}
