//! Ranks that are busy with something else, or gone, while others wait for them.

use crate::{Animal, Result};
use rustix::process::{Signal, getpid, kill_process};
use std::thread::{park, sleep};
use std::time::Duration;
use weft::prelude::*;

/// Time after which a rank that waits has slept and said so.
const SOME_TIME: Duration = Duration::from_millis(300);

pub(crate) const ALL: &[Animal] = &[
    Animal {
        name: "loop",
        ranks: 4,
        verdict: &["rank 1 computes or polls", "ranks 0, 2, 3 wait for it: barrier"],
        run: computes,
    },
    Animal {
        name: "sleeper",
        ranks: 3,
        verdict: &["rank 2 sleeps, outside of Weft", "ranks 0, 1 wait for it: barrier"],
        run: sleeps,
    },
    Animal {
        name: "stopped",
        ranks: 3,
        verdict: &["rank 1 was stopped by a signal", "ranks 0, 2 wait for it: barrier"],
        run: is_stopped,
    },
    Animal {
        name: "busy-handler",
        ranks: 2,
        verdict: &[
            "rank 1 ",
            "computes",
            "rank 0 waits for it: the answer of rank 1 to a call of 'dig'",
        ],
        run: handles_for_ever,
    },
    Animal {
        name: "late-handler",
        ranks: 2,
        // Rank 1 waits for the barrier then, unless it was late.
        verdict: &[
            "rank 1 ",
            "computes",
            "rank 0 waits for it: the answer of rank 1 to a call of 'dig'",
        ],
        run: handles_in_its_wait,
    },
    Animal {
        name: "two-away",
        ranks: 4,
        verdict: &["ranks 1, 3 sleep, outside of Weft", "ranks 0, 2 wait for them: barrier"],
        run: two_sleep,
    },
];

/// Never returns, and keeps a core.
pub(crate) fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// Never returns, and keeps nothing.
pub(crate) fn hibernate() -> ! {
    loop {
        park();
    }
}

fn computes(weft: Weft) -> Result {
    if weft.rank() == 1 {
        spin();
    }
    Ok(weft.barrier()?)
}

fn sleeps(weft: Weft) -> Result {
    if weft.rank() == 2 {
        hibernate();
    }
    Ok(weft.barrier()?)
}

fn two_sleep(weft: Weft) -> Result {
    if weft.rank().0 % 2 == 1 {
        hibernate();
    }
    Ok(weft.barrier()?)
}

fn is_stopped(weft: Weft) -> Result {
    if weft.rank() == 1 {
        kill_process(getpid(), Signal::STOP)?;
    }
    Ok(weft.barrier()?)
}

/// The other rank has long been seen to wait, and the handler begins inside of that.
fn handles_in_its_wait(weft: Weft) -> Result {
    if weft.rank() == 0 {
        sleep(SOME_TIME);
    }
    handles_for_ever(weft)
}

/// The handler never comes back. It runs where its rank polls, or on the thread of upcalls if the
/// call comes before that.
fn handles_for_ever(weft: Weft) -> Result {
    let _service = weft.service("dig", |_| spin())?;
    if weft.rank() == 0 {
        weft.client("dig")?.call(1, "").and_then(|call| call.wait())?;
    }
    Ok(weft.barrier()?)
}
