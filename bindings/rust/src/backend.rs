//! Backend of a rank's job, as far as the facade needs to know: processes on one host, or a
//! simulation.

use crate::Result;
use weft_endpoint::Rank;

/// Keeps something going, such as interrupts, until it is dropped.
pub type Guard = Box<dyn Send + Sync>;

/// A rank's place in a job.
#[doc(hidden)]
pub trait Backend: Send + Sync {
    /// Takes the place. From here on `interrupt` is called when packets wait and the program does
    /// not poll, until the guard is dropped.
    ///
    /// # Errors
    /// The place cannot be taken.
    fn begin(&self, interrupt: Box<dyn FnMut() + Send>) -> Result<Guard>;

    /// Announces a clean end.
    ///
    /// # Errors
    /// Nobody is there to hear it.
    fn leave(&self) -> Result<()>;

    /// The rank that had this one started; `None` if the job has begun with it.
    fn spawner(&self) -> Option<Rank> {
        None
    }

    /// Has `count` more ranks started, and returns which they are.
    ///
    /// # Errors
    /// [`JobIsFull`](weft_messaging::Error::JobIsFull),
    /// [`NotSpawned`](weft_messaging::Error::NotSpawned).
    fn spawn(&self, count: u16) -> weft_messaging::Result<Vec<Rank>> {
        Err(weft_messaging::Error::JobIsFull { asked: count, left: 0 })
    }

    /// Lets in those who wait at the job's door, `most` at most, and returns which ranks they are.
    ///
    /// # Errors
    /// [`JobIsFull`](weft_messaging::Error::JobIsFull),
    /// [`NoDoor`](weft_messaging::Error::NoDoor),
    /// [`NotSpawned`](weft_messaging::Error::NotSpawned).
    fn admit(&self, _most: u16) -> weft_messaging::Result<Vec<Rank>> {
        Err(weft_messaging::Error::NoDoor)
    }

    /// Ends this rank, which was started and is not needed, without a loss.
    fn end_unneeded(&self) {}

    /// True if this rank says what it did when it leaves.
    fn wants_statistics(&self) -> bool {
        false
    }

    /// Ends this rank at once if the job has lost another, where that is how such jobs end.
    fn end_if_lost(&self);
}
