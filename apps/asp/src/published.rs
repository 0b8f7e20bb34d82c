//! Rows by a shared object instead of broadcasts: their owner adds each, and everybody waits for
//! it on the copy here (the program of Orca's users, thesis 8.5.2).

use serde::{Deserialize, Serialize};
use weft::prelude::{Rank, Weft};
use weft_app_common::{Blocks, Error, Exchange};
use weft_object::{Handle, Objects, Placement, Result, Types};

/// Rows that are final, by their numbers, in tens of metres.
#[derive(Serialize, Deserialize, Debug, Default)]
pub struct Published {
    rows: Vec<Vec<u32>>,
}

#[weft_object::object]
impl Published {
    /// There are so many rows to come, and none yet.
    #[write]
    pub fn restart(&mut self, nodes: usize) {
        self.rows = vec![Vec::new(); nodes];
    }

    /// A row that is not among them breaks the object.
    #[write]
    pub fn add_row(&mut self, node: usize, row: &[u32]) {
        self.rows[node] = row.to_vec();
    }

    /// A row, once it is there.
    #[read(when = self.rows.get(*node).is_some_and(|row| !row.is_empty()))]
    pub fn await_row(&self, node: usize) -> Vec<u32> {
        self.rows[node].clone()
    }
}

/// Rows of the ranks of a job, by one object.
pub struct ByObject<'a> {
    weft: &'a Weft,
    rows: Handle<Published>,
}

impl<'a> ByObject<'a> {
    /// The object, which all ranks make together.
    ///
    /// # Errors
    /// A lost rank.
    pub fn new(weft: &'a Weft) -> Result<Self> {
        let types = Types::default().with::<Published>();
        let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
        let rows = match weft.rank() {
            Rank(0) => objects.create("asp.rows", &Published::default(), Placement::Replicated)?,
            _ => objects.find("asp.rows")?,
        };
        Ok(ByObject { weft, rows })
    }

    /// The exchange of one computation: rows by the object, in the order of their numbers.
    /// Collective.
    ///
    /// # Errors
    /// A lost rank.
    pub fn begin(&self, blocks: Blocks) -> std::result::Result<InOrder<'_>, crate::Error> {
        if self.weft.rank() == 0 {
            self.rows.restart(blocks.rows())?;
        }
        self.weft.barrier()?;
        let next = (0..self.weft.size()).map(|rank| blocks.of(rank).start).collect();
        Ok(InOrder { weft: self.weft, rows: &self.rows, next })
    }
}

/// Rows of one computation. A rank that broadcasts gives its next row, and one that receives takes
/// the next row of its owner.
pub struct InOrder<'a> {
    weft: &'a Weft,
    rows: &'a Handle<Published>,
    /// Number of the next row of each rank, as far as it was given or taken here.
    next: Vec<usize>,
}

impl InOrder<'_> {
    fn next_of(&mut self, rank: usize) -> usize {
        self.next[rank] += 1;
        self.next[rank] - 1
    }
}

impl Exchange for InOrder<'_> {
    fn rank(&self) -> usize {
        self.weft.rank().index()
    }

    fn size(&self) -> usize {
        self.weft.size()
    }

    fn work(&mut self, steps: usize) {
        self.weft.work(steps as u64);
    }

    /// Rows are for all: nothing is sent to one.
    fn send(&mut self, to: usize, _bytes: &[u8]) -> std::result::Result<(), Error> {
        Err(Error::Left(to))
    }

    fn broadcast(&mut self, bytes: &[u8]) -> std::result::Result<(), Error> {
        let node = self.next_of(self.rank());
        Ok(self.rows.add_row(node, bytemuck::cast_slice(bytes))?)
    }

    fn receive(&mut self, from: usize, bytes: &mut [u8]) -> std::result::Result<(), Error> {
        let node = self.next_of(from);
        let row = self.rows.await_row(node)?;
        let row: &[u8] = bytemuck::cast_slice(&row);
        if row.len() != bytes.len() {
            return Err(Error::Length { from, expected: bytes.len(), found: row.len() });
        }
        bytes.copy_from_slice(row);
        Ok(())
    }
}
