//! Time that futures wait for.

use crate::error::{Error, Result};
use crate::messages::Messages;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

/// A point in time that somebody waits for.
pub(crate) struct Sleep {
    messages: Arc<Messages>,
    deadline: Duration,
    timer: Option<u64>,
}

/// Result of `future`, or [`Error::TimedOut`] after `time`, when it is dropped.
pub(crate) async fn within<T>(
    messages: &Arc<Messages>,
    time: Duration,
    future: impl Future<Output = T>,
) -> Result<T> {
    let mut future = pin!(future);
    let mut sleep = pin!(Sleep::new(messages, time));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending => sleep.as_mut().poll(context).map(|()| Err(Error::TimedOut(time))),
    })
    .await
}

impl Sleep {
    /// Ends after `time`.
    pub fn new(messages: &Arc<Messages>, time: Duration) -> Self {
        let deadline = messages.packets.now() + time;
        Sleep { messages: Arc::clone(messages), deadline, timer: None }
    }

    fn forget(&mut self) {
        if let Some(number) = self.timer.take() {
            self.messages.tasks.naps.fetch_sub(1, Ordering::Relaxed);
            self.messages.tasks.forget(self.deadline, number);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.forget();
        if self.messages.packets.now() >= self.deadline {
            return Poll::Ready(());
        }
        self.messages.somebody_waits();
        self.timer = Some(self.messages.tasks.wake_at(self.deadline, context.waker()));
        self.messages.tasks.naps.fetch_add(1, Ordering::Relaxed);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.forget();
    }
}
