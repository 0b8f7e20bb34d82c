//! Jobs that are asked.

use super::*;

#[test]
fn who_asks_hears_how_a_job_stands() {
    let desk = Desk::open(Question::Why).unwrap();
    let own = std::process::id();
    assert!(jobs().unwrap().contains(&own));
    let asker = std::thread::spawn(move || ask(own, Question::Why));
    while !asker.is_finished() {
        desk.askers().into_iter().for_each(|asker| asker.tell("2 ranks\nrank 0 computes\n"));
        std::thread::yield_now();
    }
    assert_eq!(asker.join().unwrap().unwrap(), "2 ranks\nrank 0 computes\n");
    drop(desk);
    assert!(!jobs().unwrap().contains(&own));
    assert_eq!(ask(own, Question::Why).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
}
