//! Operations that were begun, and can be started again.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::awaited::Awaited;
use crate::handle::{Handle, HandleKind, free, given, put};
use crate::memory::{Bytes, CountRoom, Room};
use crate::status::{Failure, Status, call};
use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use weft::collective;
use weft_messaging::Engine;

/// An operation that was begun, and can be started again once it is over. One thread at a time uses
/// it.
pub struct Pending(Handle<Begun>);

/// Bytes that an operation gives this member; where lengths vary, in the order of members and with
/// how many each of them brought.
pub(crate) struct Given {
    pub bytes: Vec<u8>,
    pub lengths: Vec<usize>,
}

/// Bytes that an operation is to give this member.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// This number of bytes.
    Bytes(usize),
    /// Any number, of elements of so many bytes.
    Varied(usize),
}

/// The end of an operation.
pub(crate) type Outcome = Pin<Box<dyn Future<Output = weft_messaging::Result<Given>> + Send>>;

/// Beginning of an operation with the bytes that this member brings.
pub(crate) trait Begin: Fn(&[u8]) -> Result<Outcome, Failure> + Send + 'static {}

impl<F: Fn(&[u8]) -> Result<Outcome, Failure> + Send + 'static> Begin for F {}

/// An operation as C calls it: bytes that this member brings, those that it gets, and how it is
/// begun.
pub(crate) struct Recipe<F> {
    pub brings: usize,
    pub gives: Gives,
    pub begin: F,
}

/// An operation that was begun, and its recipe.
pub(crate) struct Begun {
    engine: Arc<Engine>,
    recipe: Recipe<Box<dyn Begin>>,
    state: State,
}

enum State {
    UnderWay(Awaited<Outcome>),
    /// Over, with a result that nobody had room for.
    Kept(Given),
    /// Over, and its result was given, or it failed.
    Over,
}

impl HandleKind for Begun {
    const MARK: u32 = 0x5045_4e0d;
    const NAME: &'static str = "pending operation";
}

/// The end of an operation, whichever type its Rust result has.
pub(crate) fn outcome<T: Send + 'static>(
    pending: collective::Pending<T>,
    bytes: impl FnOnce(T) -> Vec<u8> + Send + 'static,
) -> Outcome {
    let given = |given| Given { bytes: bytes(given), lengths: vec![] };
    Box::pin(async move { pending.await.map(given) })
}

impl<F: Begin> Recipe<F> {
    /// Refuses a null pointer, unless it gives nothing.
    pub fn check(&self, room: &Room<'_>) -> Result<(), Failure> {
        room.check(self.gives.length()?)
    }

    /// Waits for its end, and writes what it gives.
    pub fn finish(
        &self,
        engine: &Arc<Engine>,
        outcome: Outcome,
        room: &mut Room<'_>,
    ) -> Result<(), Failure> {
        Awaited::new(engine, outcome).wait()?.write(self.gives.length()?, room);
        Ok(())
    }

    /// Begins it and does so where lengths vary: there is room for so many elements.
    pub fn finish_varied(
        &self,
        engine: &Arc<Engine>,
        brought: &[u8],
        (room, capacity): (&mut Room<'_>, usize),
        counts: &mut CountRoom<'_>,
    ) -> Result<(), Failure> {
        let given = Awaited::new(engine, (self.begin)(brought)?).wait()?;
        given.write_varied(self.gives.element()?, (room, capacity), counts)
    }
}

impl Gives {
    fn length(self) -> Result<usize, Failure> {
        match self {
            Gives::Bytes(length) => Ok(length),
            Gives::Varied(_) => Err(Failure::invalid(
                "this operation gives any number of values: weft_pending_finishv() says how many",
            )),
        }
    }

    fn element(self) -> Result<usize, Failure> {
        match self {
            Gives::Varied(element) => Ok(element),
            Gives::Bytes(_) => Err(Failure::invalid(
                "this operation gives as many values as were asked for: weft_pending_wait() or \
                 weft_pending_finish() gives them",
            )),
        }
    }
}

impl Given {
    fn write(&self, length: usize, room: &mut Room<'_>) {
        if length > 0 {
            room.fill(&self.bytes[..length]);
        }
    }

    /// Writes how many elements each member brought, and these if there is room.
    fn write_varied(
        &self,
        element: usize,
        (room, capacity): (&mut Room<'_>, usize),
        counts: &mut CountRoom<'_>,
    ) -> Result<(), Failure> {
        counts.fill(self.lengths.iter().map(|length| length / element));
        let came = self.bytes.len() / element;
        if came > capacity {
            let text = format!("{came} values came, and there is room for {capacity}");
            return Err(Failure::new(Status::TooLong, text));
        }
        room.check(self.bytes.len())?;
        self.write(self.bytes.len(), room);
        Ok(())
    }
}

impl Begun {
    /// Begins the operation of a recipe.
    pub fn new(
        engine: &Arc<Engine>,
        Recipe { brings, gives, begin }: Recipe<impl Begin>,
        brought: &[u8],
    ) -> Result<Self, Failure> {
        let recipe = Recipe { brings, gives, begin: Box::new(begin) as Box<dyn Begin> };
        let mut begun = Begun { engine: Arc::clone(engine), recipe, state: State::Over };
        begun.start(brought)?;
        Ok(begun)
    }

    fn start(&mut self, brought: &[u8]) -> Result<(), Failure> {
        let outcome = (self.recipe.begin)(brought)?;
        self.state = State::UnderWay(Awaited::new(&self.engine, outcome));
        Ok(())
    }

    /// Starts it again with other bytes.
    fn start_again(&mut self, values: &Bytes<'_>) -> Result<(), Failure> {
        if let State::UnderWay(_) = self.state {
            return Err(Failure::invalid(
                "this operation is under way: weft_pending_finish() ends it, to be started again",
            ));
        }
        self.start(values.slice(self.recipe.brings)?)
    }

    fn is_done(&mut self) -> Result<bool, Failure> {
        match &mut self.state {
            State::UnderWay(outcome) => outcome.is_done(),
            State::Kept(_) | State::Over => Ok(true),
        }
    }

    fn wait(&mut self) -> Result<Given, Failure> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::UnderWay(outcome) => outcome.wait(),
            State::Kept(given) => Ok(given),
            State::Over => Err(Failure::invalid(
                "this operation has given its result: weft_pending_start() starts it again",
            )),
        }
    }

    fn finish(&mut self, room: &mut Room<'_>) -> Result<(), Failure> {
        let length = self.recipe.gives.length()?;
        room.check(length)?;
        self.wait()?.write(length, room);
        Ok(())
    }

    fn finish_varied(
        &mut self,
        room: (&mut Room<'_>, usize),
        counts: &mut CountRoom<'_>,
    ) -> Result<(), Failure> {
        let element = self.recipe.gives.element()?;
        let given = self.wait()?;
        let written = given.write_varied(element, room, counts);
        if written.is_err() {
            self.state = State::Kept(given);
        }
        written
    }
}

/// Gives C an operation that is begun.
pub(crate) fn begin(
    pending: Option<&mut MaybeUninit<*mut Pending>>,
    operation: impl FnOnce() -> Result<Begun, Failure>,
) -> Status {
    call(|| {
        let out = given(pending, "the pointer for the result")?;
        out.write(Box::into_raw(Box::new(Pending(Handle::new(operation()?)))));
        Ok(())
    })
}

fn begun(pending: Option<&mut Pending>) -> Result<&mut Begun, Failure> {
    given(pending, "pending operation")?.0.get_mut()
}

/// Tells if an operation is over, well or not, so that weft_pending_wait() does not block. Polls
/// once.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_test(
    pending: Option<&mut Pending>,
    done: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| put(done, begun(pending)?.is_done()?))
}

/// Waits for an operation and frees it, even when it fails. Its result comes to values, which have
/// room for it, and may be null if it gives this member nothing. Blocks; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_wait(pending: Option<Box<Pending>>, mut values: Room<'_>) -> Status {
    call(|| free(pending, |pending| &mut pending.0)?.finish(&mut values))
}

/// Does what weft_pending_wait() does, and keeps the operation, to be started again.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_finish(
    pending: Option<&mut Pending>,
    mut values: Room<'_>,
) -> Status {
    call(|| begun(pending)?.finish(&mut values))
}

/// Waits for an operation with lengths that members choose, and keeps it. Its result comes to
/// values, which have room for capacity of them, one member's after the other's; counts, if it is
/// not null, has room for as many numbers as there are members (one for a scatter), and gets how
/// many values each of them brought. If there is no room for all of them it is WEFT_TOO_LONG:
/// counts are there, no values, and another call gives these. Blocks; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_finishv(
    pending: Option<&mut Pending>,
    mut values: Room<'_>,
    capacity: usize,
    mut counts: CountRoom<'_>,
) -> Status {
    call(|| begun(pending)?.finish_varied((&mut values, capacity), &mut counts))
}

/// Starts an operation again, which is over: the same one, with as many values as at first, which
/// are copied from values. The other members start it again too, or begin the same one. Never
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_start(pending: Option<&mut Pending>, values: Bytes<'_>) -> Status {
    call(|| begun(pending)?.start_again(&values))
}

/// Gives up on the result of an operation, which goes on all the same, and frees it. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_free(pending: Option<Box<Pending>>) -> Status {
    call(|| free(pending, |pending| &mut pending.0).map(drop))
}
