//! The guide's code about threads and tasks, run.

use std::thread;
use std::time::Duration;
use weft::prelude::*;
use weft_simulator::{Options, Simulation};

fn threads(weft: &Weft) -> weft::Result<u8> {
    weft.share_among_threads();
    let work = weft.mailbox("work")?;
    thread::scope(|scope| {
        for n in 0..4u8 {
            let work = &work;
            scope.spawn(move || work.send(weft.rank(), &[n]));
        }
        let mut sum = 0;
        for _ in 0..4 {
            sum += work.receive()?.read_to_vec()?[0];
        }
        Ok(sum)
    })
}

fn tasks(weft: &Weft) -> weft::Result<()> {
    let mailbox = weft.mailbox("tea")?;
    let (kettle, tea) = (weft.clone(), weft.sender("tea")?);
    weft.spawn(async move {
        kettle.sleep(Duration::from_millis(3)).await;
        let _ = tea.send_async(kettle.rank(), "ready").await;
    });
    let mut message = weft.block_on(mailbox.receive_async())??;
    assert_eq!(message.text()?, "ready");

    let second = weft.within(Duration::from_millis(1), mailbox.receive_async());
    assert!(weft.block_on(second)?.is_err(), "nobody sent a second");
    Ok(())
}

#[test]
fn threads_of_a_rank_send_and_receive() {
    let weft = weft::join().unwrap();
    assert_eq!(threads(&weft).unwrap(), 6);
    weft.leave().unwrap();
}

#[test]
fn tasks_wait_beside_the_program() {
    let report = Simulation::new(Options::new(2).unwrap()).unwrap().run(|weft| tasks(&weft));
    assert!(report.is_success(), "{:?}", report.outcomes);
    assert!(report.virtual_time > Duration::from_millis(4), "{:?}", report.virtual_time);
}
