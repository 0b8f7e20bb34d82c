//! A queue whose members leave from anywhere.
//!
//! Each member has a number, in the order of coming, and stands in a ring at the remainder of it.
//! A member that leaves from the middle leaves a gap, so that leaving costs the same everywhere;
//! gaps are closed when they are most of the queue, and members have other numbers then. The first
//! member is never a gap.

/// So many gaps do not matter.
pub(super) const FEW_GAPS: usize = 32;
/// Members for which there is room at first.
const FIRST_ROOM: usize = 8;

/// The queue.
#[derive(Debug)]
pub(super) struct Line<T> {
    /// A power of two of them, or none yet.
    slots: Vec<Option<T>>,
    /// The number of the first member, and of the next to come.
    first: u64,
    next: u64,
    gaps: usize,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line { slots: Vec::new(), first: 0, next: 0, gaps: 0 }
    }
}

impl<T> Line<T> {
    /// True if there is no member.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// Members.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.length() - self.gaps
    }

    /// Members and gaps.
    #[inline(always)]
    pub fn length(&self) -> usize {
        (self.next - self.first) as usize
    }

    /// True if somebody left from the middle.
    #[inline(always)]
    pub fn has_gaps(&self) -> bool {
        self.gaps > 0
    }

    /// The first member; none if there is no member. A caller that takes it calls
    /// [`Self::first_left`].
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<&mut Option<T>> {
        let slot = self.slot(self.first);
        self.slots.get_mut(slot)
    }

    /// The first member has left.
    #[inline(always)]
    pub fn first_left(&mut self) {
        self.first += 1;
        if self.gaps > 0 {
            self.skip_gaps();
        }
    }

    /// The member with this number, if it has not left.
    #[inline]
    pub fn get(&self, number: u64) -> Option<&T> {
        let stands = (self.first..self.next).contains(&number);
        self.slots.get(self.slot(number)).filter(|_| stands)?.as_ref()
    }

    /// The member with this number, which has not left.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let slot = self.slot(number);
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Members and their numbers, in order.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, &T)> {
        let members =
            (self.first..self.next).map(|number| (number, &self.slots[self.slot(number)]));
        members.filter_map(|(number, member)| Some((number, member.as_ref()?)))
    }

    /// Puts a member at the end, and returns its number.
    #[inline(always)]
    pub fn push(&mut self, member: T) -> u64 {
        if self.length() == self.slots.len() {
            self.grow();
        }
        let (number, slot) = (self.next, self.slot(self.next));
        self.slots[slot] = Some(member);
        self.next += 1;
        number
    }

    #[cold]
    fn grow(&mut self) {
        let more = (2 * self.slots.len()).max(FIRST_ROOM);
        let mut slots: Vec<Option<T>> = std::iter::repeat_with(|| None).take(more).collect();
        for number in self.first..self.next {
            let slot = self.slot(number);
            slots[number as usize & (more - 1)] = self.slots[slot].take();
        }
        self.slots = slots;
    }

    /// Takes the last member, which has not left: the next one gets its number.
    pub fn pop(&mut self) -> Option<T> {
        let slot = self.slot(self.next.wrapping_sub(1));
        let taken = self.slots.get_mut(slot)?.take()?;
        self.next -= 1;
        Some(taken)
    }

    /// Takes the member with this number.
    pub fn take(&mut self, number: u64) -> Option<T> {
        let slot = self.slot(number);
        let taken = self.slots.get_mut(slot)?.take()?;
        if number == self.first {
            self.first_left();
        } else {
            self.gaps += 1;
        }
        Some(taken)
    }

    #[inline(never)]
    fn skip_gaps(&mut self) {
        while self.first < self.next && self.get(self.first).is_none() {
            self.first += 1;
            self.gaps -= 1;
        }
    }

    /// Closes the gaps if they are most of the line. True if it did, so that members have other
    /// numbers now.
    pub fn close_gaps(&mut self) -> bool {
        if self.gaps <= self.length() / 2 + FEW_GAPS {
            return false;
        }
        let mut end = self.first;
        for number in self.first..self.next {
            let (from, to) = (self.slot(number), self.slot(end));
            if self.slots[from].is_some() {
                self.slots.swap(from, to);
                end += 1;
            }
        }
        (self.next, self.gaps) = (end, 0);
        true
    }

    /// All members, in order.
    pub fn into_members(mut self) -> impl Iterator<Item = T> {
        (self.first..self.next).filter_map(move |number| {
            let slot = self.slot(number);
            self.slots[slot].take()
        })
    }

    #[inline(always)]
    fn slot(&self, number: u64) -> usize {
        number as usize & self.slots.len().wrapping_sub(1)
    }
}
