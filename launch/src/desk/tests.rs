//! Jobs that are asked.

use super::*;
use crate::roll::{Doing, Standing};
use weft_wire::Rank;

#[test]
fn who_asks_hears_how_a_job_stands() {
    let desk = Desk::open(Question::Why).unwrap();
    let own = std::process::id();
    assert!(jobs().unwrap().contains(&own));
    let asker = std::thread::spawn(move || ask(own, Question::Why));
    let mut computing = Standing::outside(Rank(0), Doing::Computes);
    computing.thread = Some(own);
    let roll = JobRoll {
        ranks: 2,
        program: "work".into(),
        time: Duration::from_secs(3),
        standings: vec![computing],
    };
    while !asker.is_finished() {
        desk.askers().into_iter().for_each(|asker| asker.tell(&roll.emit()));
        std::thread::yield_now();
    }
    let answer = asker.join().unwrap().unwrap();
    assert_eq!(answer.roll(), Ok(roll.clone()));
    // Of a container's answer numbers of threads mean nothing.
    let elsewhere = Answer { is_here: false, ..answer };
    assert_eq!(elsewhere.roll().unwrap().standings[0].thread, None);
    assert!(elsewhere.snapshot().is_err());
    drop(desk);
    assert!(!jobs().unwrap().contains(&own));
    let refused = ask(own, Question::Why).map(drop).map_err(|error| error.kind());
    assert_eq!(refused, Err(io::ErrorKind::ConnectionRefused));
}
