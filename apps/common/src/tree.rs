use crate::exchange::{Error, Exchange};

/// An exchange whose broadcasts go along a binomial tree, from rank to rank: a rank forwards a
/// message when it has received it as a whole, one copy for each child. MPI libraries broadcast
/// short messages so over networks that have no multicast (thesis 8.4.1).
pub struct Tree<'a, E> {
    exchange: &'a mut E,
}

impl<'a, E: Exchange> Tree<'a, E> {
    /// Broadcasts by the unicasts of `exchange`, which is used for nothing else meanwhile.
    pub fn new(exchange: &'a mut E) -> Self {
        Tree { exchange }
    }

    /// Sends a message of `root` to this rank's children in its tree, the one with the largest
    /// subtree first.
    fn forward(&mut self, root: usize, bytes: &[u8]) -> Result<(), Error> {
        let size = self.exchange.size();
        let place = (self.exchange.rank() + size - root) % size;
        for child in children(place, size) {
            self.exchange.send((child + root) % size, bytes)?;
        }
        Ok(())
    }
}

/// Places below `place`, of which the root has 0, the one with the largest subtree first.
fn children(place: usize, size: usize) -> impl Iterator<Item = usize> {
    let lowest = if place == 0 { size.next_power_of_two() } else { place & place.wrapping_neg() };
    let steps = (0..lowest.trailing_zeros()).rev().map(|bit| 1 << bit);
    steps.map(move |step: usize| place + step).filter(move |&child| child < size)
}

/// Place above `place`, which is not the root.
fn parent(place: usize) -> usize {
    place & (place - 1)
}

impl<E: Exchange> Exchange for Tree<'_, E> {
    fn rank(&self) -> usize {
        self.exchange.rank()
    }

    fn size(&self) -> usize {
        self.exchange.size()
    }

    fn work(&mut self, steps: usize) {
        self.exchange.work(steps);
    }

    fn poll(&mut self) -> Result<(), Error> {
        self.exchange.poll()
    }

    fn send(&mut self, to: usize, bytes: &[u8]) -> Result<(), Error> {
        self.exchange.send(to, bytes)
    }

    fn broadcast(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.forward(self.exchange.rank(), bytes)
    }

    /// Receives a broadcast of `from`. Messages that `from` sent to this rank alone have to be
    /// received by the exchange below.
    fn receive(&mut self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let size = self.exchange.size();
        let place = (self.exchange.rank() + size - from) % size;
        self.exchange.receive((parent(place) + from) % size, bytes)?;
        self.forward(from, bytes)
    }
}

#[cfg(test)]
mod tests;
