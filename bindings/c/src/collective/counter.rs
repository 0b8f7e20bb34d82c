//! Counters that teams share.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use super::{Members, Team, members};
use crate::handle::{Handle, HandleKind, free, given, put};
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use weft::collective;

/// A counter that a team shares. It is at 0 at first, at its home, the team's first member. Any
/// thread may add to it, several at once, but not while it is moved or freed.
pub struct Counter(Handle<collective::Counter>);

impl HandleKind for collective::Counter {
    const MARK: u32 = 0x434e_541c;
    const NAME: &'static str = "counter";
}

/// Gets a counter of a team's.
fn get(
    team: Option<&Team>,
    out: Option<&mut MaybeUninit<*mut Counter>>,
    get: impl FnOnce(&collective::Team) -> weft_messaging::Result<collective::Counter>,
) -> Result<(), Failure> {
    let out = given(out, "the pointer for the result")?;
    let Members { team, .. } = members(team)?;
    let counter = get(team)?;
    out.write(Box::into_raw(Box::new(Counter(Handle::new(counter)))));
    Ok(())
}

/// Creates a counter that the members of a team share. All of them call it. It is the caller's, to
/// be freed with weft_counter_free(). WEFT_CALLS_DIFFER if others call something else of counters.
/// Blocks until all members have called it; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_counter_create(
    team: Option<&Team>,
    counter: Option<&mut MaybeUninit<*mut Counter>>,
) -> Status {
    call(|| get(team, counter, collective::Counter::new))
}

/// Gets a share of the counter that other members move to this team: at members that have none,
/// such as ranks that came later. It is the caller's, to be freed with weft_counter_free(). Fails
/// and blocks as weft_counter_move() does.
#[unsafe(no_mangle)]
pub extern "C" fn weft_counter_join(
    team: Option<&Team>,
    counter: Option<&mut MaybeUninit<*mut Counter>>,
) -> Status {
    call(|| get(team, counter, collective::Counter::join))
}

/// Adds amount to a counter, and gives its value before, if before is not null. Of the additions
/// that have gone well at ranks that live no two overlap, and values never go down, whoever is
/// lost. WEFT_RANK_LOST if the counter's home is lost, where ranks do not share memory. Blocks for
/// a round trip at most.
#[unsafe(no_mangle)]
pub extern "C" fn weft_counter_add(
    counter: Option<&Counter>,
    amount: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    call(|| {
        let value = given(counter, "counter")?.0.get()?.add(amount)?;
        before.map_or(Ok(()), |before| put(Some(before), value))
    })
}

/// Moves a counter to a team that its own has been shrunk to or has grown to, and whose first
/// member is its home then. All members call it, or weft_counter_join() if they have none. It goes
/// well at all that live or at none: then the counter is where it was, and may be moved to a
/// smaller team. WEFT_CALLS_DIFFER if not all bring the same counter; WEFT_INVALID if a rank that
/// lives and shares it is not in the team. Blocks until all members have called it; callbacks run
/// meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_counter_move(counter: Option<&mut Counter>, team: Option<&Team>) -> Status {
    call(|| {
        let counter = given(counter, "counter")?.0.get_mut()?;
        Ok(counter.move_to(&members(team)?.team)?)
    })
}

/// Frees what stands for a counter in this program. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_counter_free(counter: Option<Box<Counter>>) -> Status {
    call(|| free(counter, |counter| &mut counter.0).map(drop))
}
