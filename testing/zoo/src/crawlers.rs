//! Programs that end, and take far longer than they should.

use crate::{Animal, Result, piling};
use std::hint::black_box;
use weft::prelude::*;
use weft_region::{RegionId, Regions};

pub(crate) const ALL: &[Animal] = &[
    Animal {
        name: "slow-rank",
        ranks: 2,
        verdict: &["Rank 0 waits for rank 1 in ", "Rank 1 computes ", "x as long as the mean"],
        run: slow_rank,
    },
    Animal {
        name: "late-receiver",
        ranks: 2,
        verdict: &["Rank 0 waits for rank 1 to receive in ", "late receiver", "fills its window"],
        run: late_receiver,
    },
    Animal {
        name: "false-sharing",
        ranks: 2,
        verdict: &["Ranks 0 and 1 write region 0 of rank 0 in turn", "that is false sharing"],
        run: false_sharing,
    },
    Animal {
        name: "tiny-messages",
        ranks: 2,
        verdict: &["Rank 0 sends ", " tiny messages to rank 1 in rows", "into one message"],
        run: tiny_messages,
    },
    Animal {
        name: "unexpected",
        ranks: 2,
        verdict: &["At rank 1 ", " unexpected messages and more pile up", "in another order"],
        run: piling::receives_backward,
    },
    Animal {
        name: "oversubscribed",
        ranks: 8,
        verdict: &["8 ranks share 2 cores", "have no core in ", "oversubscription", "(-n 2)"],
        run: crowd,
    },
];

/// Computes for so many steps, however long that takes.
fn compute(steps: u64) {
    for step in 0..steps * 10_000 {
        black_box(step);
    }
}

/// Between barriers rank 1 computes three times as long as the other.
fn slow_rank(weft: Weft) -> Result {
    for _ in 0..30 {
        compute(if weft.rank() == 1 { 90 } else { 30 });
        weft.barrier()?;
    }
    Ok(())
}

/// Rank 1 computes before it receives each of the messages, of which ten fill its window.
fn late_receiver(weft: Weft) -> Result {
    let pile = weft.mailbox("pile")?;
    weft.barrier()?;
    for _ in 0..500 {
        if weft.rank() == 0 {
            pile.send(1, &vec![0_u8; 100_000])?;
        } else {
            compute(3);
            pile.receive()?;
        }
    }
    Ok(())
}

/// Each rank writes its own element of one region once the other has written its own.
fn false_sharing(weft: Weft) -> Result {
    let regions = Regions::open(weft.packets());
    if weft.rank() == 0 {
        regions.create(16, Default::default())?;
    }
    regions.barrier()?;
    let mapped = regions.map::<u64>(RegionId { home: Rank(0), index: 0 })?;
    let own = usize::from(weft.rank().0);
    let mut written = 0;
    while written < 2_000 {
        let mut elements = mapped.write()?;
        if elements[1 - own] + 1 - own as u64 > elements[own] {
            elements[own] += 1;
            written = elements[own];
        }
        drop(elements);
        regions.poll()?;
    }
    Ok(regions.barrier()?)
}

/// Rank 0 sends numbers to rank 1, each in a message.
fn tiny_messages(weft: Weft) -> Result {
    let numbers = weft.mailbox("numbers")?;
    weft.barrier()?;
    for number in 0..20_000_u64 {
        match weft.rank().0 {
            0 => numbers.send(1, &number.to_le_bytes())?,
            _ => drop(numbers.receive()?),
        }
    }
    Ok(())
}

/// All compute the same, which is well divided, among more ranks than there are cores.
fn crowd(weft: Weft) -> Result {
    for _ in 0..10 {
        compute(200);
        weft.barrier()?;
    }
    Ok(())
}
