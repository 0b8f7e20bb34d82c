//! A table of reusable entries.

/// Names an entry of one [`Slab`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(u32);

/// Entries that come and go in any order, without allocation once the table has grown.
#[derive(Debug, Clone)]
pub struct Slab<T> {
    entries: Vec<Option<T>>,
    vacant: Vec<u32>,
}

impl<T> Slab<T> {
    pub fn new() -> Self {
        Slab { entries: Vec::new(), vacant: Vec::new() }
    }

    pub fn insert(&mut self, entry: T) -> Key {
        match self.vacant.pop() {
            Some(index) => {
                self.entries[index as usize] = Some(entry);
                Key(index)
            }
            None => {
                self.entries.push(Some(entry));
                Key((self.entries.len() - 1) as u32)
            }
        }
    }

    /// The entry `key`, which must be there: keys are handed out once and removed once.
    pub fn get_mut(&mut self, key: Key) -> &mut T {
        self.entries[key.0 as usize].as_mut().expect("a key outlived its entry")
    }

    pub fn remove(&mut self, key: Key) -> T {
        let entry = self.entries[key.0 as usize].take().expect("a key outlived its entry");
        self.vacant.push(key.0);
        entry
    }

    /// The entries, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().flatten()
    }

    pub fn len(&self) -> usize {
        self.entries.len() - self.vacant.len()
    }
}
