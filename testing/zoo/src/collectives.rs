//! Collective operations that not all members have come to.

use crate::outside::hibernate;
use crate::{Animal, Result};
use weft::collective::Sum;
use weft::prelude::*;

pub(crate) const ALL: &[Animal] = &[
    Animal {
        name: "missing-root",
        ranks: 3,
        verdict: &["rank 0 sleeps, outside of Weft", "ranks 1, 2 wait for it: broadcast"],
        run: missing_root,
    },
    Animal {
        name: "missing-part",
        ranks: 4,
        verdict: &["rank 3 sleeps, outside of Weft", "all-reduce"],
        run: missing_part,
    },
    Animal {
        name: "teams",
        ranks: 2,
        verdict: &["deadlock: ", "of team 1", "of team 2"],
        run: teams_in_two_orders,
    },
    Animal {
        name: "receive-first",
        ranks: 3,
        verdict: &[
            "deadlock: ",
            "rank 0 waits for a message on port 'word'",
            "ranks 1, 2 wait for barrier",
        ],
        run: receives_first,
    },
];

fn missing_root(weft: Weft) -> Result {
    if weft.rank() == 0 {
        hibernate();
    }
    Ok(weft.broadcast(0, &mut [0_u64; 1000])?)
}

fn missing_part(weft: Weft) -> Result {
    if weft.rank() == 3 {
        hibernate();
    }
    weft.all_reduce(&mut [1_u64; 1000], Sum)?;
    Ok(())
}

fn teams_in_two_orders(weft: Weft) -> Result {
    let members: Vec<_> = weft.ranks().collect();
    let (Some(one), Some(two)) = (weft.team(&members)?, weft.team(&members)?) else {
        return Err("no member".into());
    };
    let (first, second) = if weft.rank() == 0 { (one, two) } else { (two, one) };
    first.barrier()?;
    Ok(second.barrier()?)
}

fn receives_first(weft: Weft) -> Result {
    let word = weft.mailbox("word")?;
    if weft.rank() == 0 {
        word.receive()?;
    }
    weft.barrier()?;
    Ok(word.send(0, "go")?)
}
