//! Operations with lengths that members choose.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.
#![allow(clippy::too_many_arguments)] // Lengths come beside what equal ones need.

use super::numbers::{Number, bytes_of, numbers, with_type};
use super::pending::{Begin, Given, Gives, Outcome, Pending, Recipe, begin};
use super::{Members, Team, Type, members};
use crate::memory::{Bytes, CountList, CountRoom, Room, TypeNumber};
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use weft::collective;

/// The end of an operation that gives the values of several members.
fn varied<T: Send + 'static, N: Number>(
    pending: collective::Pending<T>,
    parts: impl FnOnce(T) -> Vec<Vec<N>> + Send + 'static,
) -> Outcome {
    let given = |given| {
        let parts = parts(given);
        let lengths = parts.iter().map(|part| part.len() * size_of::<N>()).collect();
        Given { bytes: bytes_of(parts.concat()), lengths }
    };
    Box::pin(async move { pending.await.map(given) })
}

/// Numbers of values for each member, of a type.
struct Parts {
    of: Type,
    counts: Vec<usize>,
    /// Bytes of all of them.
    bytes: usize,
}

impl Members {
    /// The parts that C counts, of which there is one for each member.
    fn parts(&self, of: TypeNumber, counts: &CountList<'_>) -> Result<Parts, Failure> {
        let counts = counts.slice(self.team.size(), "the pointer to the counts")?.to_vec();
        let sum = |sum: usize, &count: &usize| sum.checked_add(count);
        let too_many = || Failure::invalid("no memory holds the values of all members");
        let total = counts.iter().try_fold(0, sum).ok_or_else(too_many)?;
        Ok(Parts { of: of.get()?, counts, bytes: of.bytes(total)? })
    }

    fn gather_varied(&self, root: u32, (brings, of): (usize, Type)) -> Recipe<impl Begin + use<>> {
        let team = self.team.clone();
        let begin = move |values: &[u8]| {
            with_type!(of, |T| {
                let pending = team.begin_gather_varied(root as usize, numbers::<T>(values))?;
                Ok(varied(pending, Option::unwrap_or_default))
            })
        };
        Recipe { brings, gives: gives(of), begin }
    }

    fn scatter_varied(&self, root: u32, parts: Parts) -> Recipe<impl Begin + use<>> {
        let (team, Parts { of, counts, bytes }) = (self.team.clone(), parts);
        let begin = move |values: &[u8]| {
            with_type!(of, |T| {
                let all = numbers::<T>(values);
                let pending = team.begin_scatter_varied(root as usize, all, &counts)?;
                Ok(varied(pending, |part| vec![part]))
            })
        };
        Recipe { brings: bytes, gives: gives(of), begin }
    }

    /// The parts to scatter: none but at the root.
    fn scattered(
        &self,
        root: u32,
        of: TypeNumber,
        counts: &CountList<'_>,
    ) -> Result<Parts, Failure> {
        match self.is_root(root) {
            true => self.parts(of, counts),
            false => Ok(Parts { of: of.get()?, counts: vec![], bytes: 0 }),
        }
    }

    fn all_gather_varied(&self, (brings, of): (usize, Type)) -> Recipe<impl Begin + use<>> {
        let team = self.team.clone();
        let begin = move |values: &[u8]| {
            with_type!(of, |T| {
                let pending = team.begin_all_gather_varied(numbers::<T>(values))?;
                Ok(varied(pending, |all| all))
            })
        };
        Recipe { brings, gives: gives(of), begin }
    }

    fn all_to_all_varied(&self, parts: Parts) -> Recipe<impl Begin + use<>> {
        let (team, Parts { of, counts, bytes }) = (self.team.clone(), parts);
        let begin = move |values: &[u8]| {
            with_type!(of, |T| {
                let pending = team.begin_all_to_all_varied(numbers::<T>(values), &counts)?;
                Ok(varied(pending, |all| all))
            })
        };
        Recipe { brings: bytes, gives: gives(of), begin }
    }

    fn block_varied(
        &self,
        recipe: &Recipe<impl Begin>,
        values: &Bytes<'_>,
        room: (&mut Room<'_>, usize),
        counts: &mut CountRoom<'_>,
    ) -> Result<(), Failure> {
        recipe.finish_varied(&self.engine, values.slice(recipe.brings)?, room, counts)
    }
}

fn gives(of: Type) -> Gives {
    Gives::Varied(with_type!(of, |T| size_of::<T>()))
}

/// Does what weft_gather() does, of as many values as each member wants to bring. At member root
/// all has room for capacity values, and counts, which may be null, for as many numbers as there
/// are members: how many values each brought. If there is no room for all values it is
/// WEFT_TOO_LONG, and no values are there.
#[unsafe(no_mangle)]
pub extern "C" fn weft_gatherv(
    team: Option<&Team>,
    root: u32,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    mut all: Room<'_>,
    capacity: usize,
    mut counts: CountRoom<'_>,
) -> Status {
    call(|| {
        let (team, brought) = (members(team)?, (of.bytes(count)?, of.get()?));
        let recipe = team.gather_varied(root, brought);
        team.block_varied(&recipe, &values, (&mut all, capacity), &mut counts)
    })
}

/// Does what weft_scatter() does, of any number of values for each member: at member root counts
/// has as many numbers as there are members, and all the values, which may both be null elsewhere.
/// There is room for capacity values in values; received, which may be null, gets how many came. If
/// there is no room for all of them it is WEFT_TOO_LONG, and no values are there.
#[unsafe(no_mangle)]
pub extern "C" fn weft_scatterv(
    team: Option<&Team>,
    root: u32,
    all: Bytes<'_>,
    counts: CountList<'_>,
    of: TypeNumber,
    mut values: Room<'_>,
    capacity: usize,
    mut received: CountRoom<'_>,
) -> Status {
    call(|| {
        let team = members(team)?;
        let recipe = team.scatter_varied(root, team.scattered(root, of, &counts)?);
        team.block_varied(&recipe, &all, (&mut values, capacity), &mut received)
    })
}

/// Does what weft_gatherv() does, and gives all members the values.
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_gatherv(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    mut all: Room<'_>,
    capacity: usize,
    mut counts: CountRoom<'_>,
) -> Status {
    call(|| {
        let (team, brought) = (members(team)?, (of.bytes(count)?, of.get()?));
        let recipe = team.all_gather_varied(brought);
        team.block_varied(&recipe, &values, (&mut all, capacity), &mut counts)
    })
}

/// Gives each member as many of the values of each as counts says, which has a number for each
/// member; those for member 0 are first. Those for this one come to received, in the order of
/// members, which has room for capacity of them; came, which may be null, gets how many each member
/// had. If there is no room for all of them it is WEFT_TOO_LONG, and none are there.
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_to_allv(
    team: Option<&Team>,
    values: Bytes<'_>,
    counts: CountList<'_>,
    of: TypeNumber,
    mut received: Room<'_>,
    capacity: usize,
    mut came: CountRoom<'_>,
) -> Status {
    call(|| {
        let team = members(team)?;
        let recipe = team.all_to_all_varied(team.parts(of, &counts)?);
        team.block_varied(&recipe, &values, (&mut received, capacity), &mut came)
    })
}

/// Begins a weft_gatherv(). As of all that begin an operation with lengths that members choose:
/// weft_pending_finishv() gives its result, and weft_pending_free() ends it.
#[unsafe(no_mangle)]
pub extern "C" fn weft_gatherv_begin(
    team: Option<&Team>,
    root: u32,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let (team, brought) = (members(team)?, (of.bytes(count)?, of.get()?));
        team.start(team.gather_varied(root, brought), &values)
    })
}

/// Begins a weft_scatterv(): all and counts may be null but at member root.
#[unsafe(no_mangle)]
pub extern "C" fn weft_scatterv_begin(
    team: Option<&Team>,
    root: u32,
    all: Bytes<'_>,
    counts: CountList<'_>,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let team = members(team)?;
        team.start(team.scatter_varied(root, team.scattered(root, of, &counts)?), &all)
    })
}

/// Begins a weft_all_gatherv().
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_gatherv_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let (team, brought) = (members(team)?, (of.bytes(count)?, of.get()?));
        team.start(team.all_gather_varied(brought), &values)
    })
}

/// Begins a weft_all_to_allv().
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_to_allv_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    counts: CountList<'_>,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let team = members(team)?;
        team.start(team.all_to_all_varied(team.parts(of, &counts)?), &values)
    })
}
