//! Threads of a program, which are coroutines where ranks are simulated.

use crate::biased::this_thread;
use crate::{Awaited, Packets};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use weft_link::threads::Word;

/// A thread of a rank, to be joined. Dropped instead, it goes on by itself.
#[must_use = "who does not join it does not know when it has ended"]
pub struct Thread {
    packets: Packets,
    handle: Option<JoinHandle<()>>,
    has_ended: Arc<AtomicBool>,
}

/// Says that a thread has ended, however it does.
struct Ending(Arc<AtomicBool>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Packets {
    /// Starts a thread of this rank that runs `body`. In the simulator it is a coroutine: those of
    /// a rank take turns, and one that has the virtual processor keeps it until it waits in Weft.
    /// There it ends with the program, wherever it is; `body` must let its panics through.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn spawn(&self, name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let ending = Ending(Arc::clone(&has_ended));
        let body = Box::new(move || {
            let _ending = ending;
            body();
        });
        let handle = self.handle.node.attributes().services.threads.spawn(name, body)?;
        Ok(Thread { packets: self.clone(), handle, has_ended })
    }
}

impl Thread {
    /// Waits until it has ended, or, in the simulator, this rank cannot go on. A panic in it is not
    /// told.
    pub fn join(self) {
        let Thread { packets, handle, has_ended } = self;
        match handle {
            Some(handle) => drop(handle.join()),
            None => {
                let (what, ended) = (|| Awaited::of_unknown("a thread to end"), &has_ended);
                drop(packets.handle.progress_until(&what, || Ok(ended.load(Ordering::Acquire))));
            }
        }
    }
}

/// A number that is different for every live thread, and for every coroutine of a rank, and never
/// 0. Locks are owned by threads, not by coroutines: [`this_thread`].
pub fn this_coroutine() -> usize {
    this_thread().wrapping_add(Word::COROUTINE.get() as usize)
}
