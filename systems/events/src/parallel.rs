//! Grids distributed over the nodes of a job, and what data-parallel programs do with them: the
//! part that C* played in careful-protocols.
//!
//! Every node runs the same program and holds a block of rows. Operations element by element stay
//! inside a node; a grid seen from its neighbours takes an event each way; a reduction is a crowd
//! event.
//!
//! ```no_run
//! # use weft_events::parallel::{Grid, Nodes};
//! # use weft_events::Result;
//! // Laplace's equation by Jacobi's method: each inner point becomes the average around it.
//! fn jacobi<'a>(nodes: &'a Nodes, size: usize, iterations: usize) -> Result<Grid<'a, f64>> {
//!     let last = size - 1;
//!     let edge = nodes.mask(size, size, |row, column| {
//!         row == 0 || row == last || column == 0 || column == last
//!     });
//!     let mut heat = nodes.grid(size, size, |row, _| if row == 0 { 100.0 } else { 0.0 });
//!     for _ in 0..iterations {
//!         let [north, south, west, east] = heat.neighbours()?;
//!         heat = edge.choose(heat, (north + south + west + east) * 0.25);
//!     }
//!     Ok(heat)
//! }
//! ```
//! A result does not depend on how many nodes there are, except for sums of fractions, which are
//! added node by node.

use crate::{Breach, Destination, Events, Flags, Result, Source, Statistics, Status};
use bytemuck::Pod;
use std::cell::Cell;
use std::ops::{Add, Mul, Range, Sub};
use weft_endpoint::Rank;

/// The nodes of a job, which go through the same operations on grids.
pub struct Nodes {
    events: Events,
    /// The next event, which the same operation has on all nodes.
    event: Cell<u32>,
    element_operations: u64,
}

/// Neighbours of each point of a grid: north, south, west, east.
pub type Neighbours<'a, T> = [Grid<'a, T>; 4];

impl Nodes {
    /// The nodes of `events`, which has been used for nothing else.
    pub fn new(events: Events) -> Self {
        Nodes { events, event: Cell::new(0), element_operations: 1 }
    }

    /// Nodes with a cost: an element of an operation is so many operations of declared work.
    pub fn costing(events: Events, element_operations: u64) -> Self {
        Nodes { element_operations, ..Nodes::new(events) }
    }

    /// The events below.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// A grid of `rows` by `columns` points, of which `point` says the value at a row and a column.
    ///
    /// # Panics
    /// If there are fewer rows than nodes, each of which holds one at least, or no columns.
    pub fn grid<T: Pod>(
        &self,
        rows: usize,
        columns: usize,
        point: impl Fn(usize, usize) -> T,
    ) -> Grid<'_, T> {
        assert!(rows >= self.events.size(), "{rows} rows on {} nodes", self.events.size());
        assert!(columns > 0, "a grid without columns");
        let values = self.rows_of(self.events.rank(), rows).flat_map(|row| {
            let point = &point;
            (0..columns).map(move |column| point(row, column))
        });
        let values: Vec<T> = values.collect();
        self.work(values.len());
        Grid { nodes: self, rows, columns, values }
    }

    /// A grid of truth values, as [`Self::grid`].
    ///
    /// # Panics
    /// Those of [`Self::grid`].
    pub fn mask(
        &self,
        rows: usize,
        columns: usize,
        point: impl Fn(usize, usize) -> bool,
    ) -> Mask<'_> {
        Mask(self.grid(rows, columns, |row, column| u8::from(point(row, column))))
    }

    /// Ends the job's events: see [`Events::close`].
    ///
    /// # Errors
    /// As there.
    pub fn close(self) -> Result<Statistics> {
        let event = self.event.get();
        self.events.close(event)
    }

    /// The rows that `rank` holds: as many as any other or one more.
    fn rows_of(&self, rank: Rank, rows: usize) -> Range<usize> {
        let (nodes, rank) = (self.events.size(), rank.index());
        rows * rank / nodes..rows * (rank + 1) / nodes
    }

    fn next_event(&self) -> u32 {
        self.event.replace(self.event.get() + 1)
    }

    fn work(&self, elements: usize) {
        self.events.packets().work(elements as u64 * self.element_operations);
    }

    /// Sends `values` as a message of `event`.
    fn send<T: Pod>(&self, to: Destination, event: u32, values: &[T]) -> Result<()> {
        let (bytes, most) = (bytemuck::cast_slice(values), self.events.fragment_bytes());
        let crowd = to == Destination::Everyone;
        let large = bytes.len() > most;
        for (index, piece) in bytes.chunks(most).enumerate() {
            let last = (index + 1) * most >= bytes.len();
            self.events.send(to, event, piece, Flags { last, crowd, large })?;
        }
        Ok(())
    }

    /// Receives the messages of `event`: puts that of each sender where `place` says.
    fn receive<T: Pod>(
        &self,
        event: u32,
        values: &mut [T],
        place: impl Fn(Rank) -> Range<usize>,
    ) -> Result<()> {
        let most = self.events.fragment_bytes();
        loop {
            let fragment = self.events.receive(Source::Anyone, event)?;
            let message: &mut [u8] =
                bytemuck::cast_slice_mut(&mut values[place(fragment.source())]);
            let begin = fragment.index() as usize * most;
            let part = message.get_mut(begin..).and_then(|rest| rest.get_mut(..fragment.len()));
            let surplus = Breach::Surplus(fragment.source(), event);
            part.ok_or(surplus)?.copy_from_slice(&fragment);
            if fragment.status() == Status::EventDone {
                return Ok(());
            }
        }
    }

    /// Values of all nodes, by rank: `own` is this one's.
    fn share<T: Pod>(&self, own: T) -> Result<Vec<T>> {
        let mut all = vec![own; self.events.size()];
        if all.len() > 1 {
            let event = self.next_event();
            self.send(Destination::Everyone, event, &[own])?;
            self.receive(event, &mut all, |rank| rank.index()..rank.index() + 1)?;
        }
        Ok(all)
    }
}

/// A grid of points, of which each node holds a block of rows.
#[derive(Clone)]
pub struct Grid<'a, T> {
    nodes: &'a Nodes,
    rows: usize,
    columns: usize,
    values: Vec<T>,
}

/// A grid of truth values.
#[derive(Clone)]
pub struct Mask<'a>(Grid<'a, u8>);

impl Mask<'_> {
    /// The points of `yes` where this holds, and those of `no` elsewhere.
    pub fn choose<'b, T: Pod>(&self, yes: Grid<'b, T>, mut no: Grid<'b, T>) -> Grid<'b, T> {
        assert!(yes.is_like(&no) && yes.values.len() == self.0.values.len(), "grids differ");
        for ((no, yes), &holds) in no.values.iter_mut().zip(&yes.values).zip(&self.0.values) {
            if holds != 0 {
                *no = *yes;
            }
        }
        no.nodes.work(no.values.len());
        no
    }
}

impl<'a, T: Pod> Grid<'a, T> {
    /// Rows of the whole grid.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the whole grid.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The points that this node holds, row by row.
    pub fn here(&self) -> &[T] {
        &self.values
    }

    /// `f` of each point.
    pub fn map<U: Pod>(&self, f: impl Fn(T) -> U) -> Grid<'a, U> {
        self.nodes.work(self.values.len());
        self.with(self.values.iter().map(|&value| f(value)).collect())
    }

    /// `f` of each point of this grid and the same one of another.
    ///
    /// # Panics
    /// If the grids differ in shape.
    pub fn zip(mut self, other: &Grid<'a, T>, f: impl Fn(T, T) -> T) -> Grid<'a, T> {
        assert!(self.is_like(other), "grids differ in shape");
        for (value, &other) in self.values.iter_mut().zip(&other.values) {
            *value = f(*value, other);
        }
        self.nodes.work(self.values.len());
        self
    }

    /// `f` of all points, beginning with `first` at each node: the same at all nodes.
    ///
    /// # Errors
    /// Those of [`Events::send`] and [`Events::receive`].
    pub fn fold(&self, first: T, f: impl Fn(T, T) -> T) -> Result<T> {
        self.nodes.work(self.values.len());
        let own = self.values.iter().fold(first, |a, &b| f(a, b));
        Ok(self.nodes.share(own)?.into_iter().fold(first, f))
    }

    /// Neighbours of each point to its north, south, west and east. The grid closes on itself:
    /// north of the first row is the last, west of the first column the last. Both rows that leave
    /// this node do before it waits for one.
    ///
    /// # Errors
    /// Those of [`Events::send`] and [`Events::receive`].
    pub fn neighbours(&self) -> Result<Neighbours<'a, T>> {
        let (last, first) = (self.row(true), self.row(false));
        let (mut above, mut below) = (last.to_vec(), first.to_vec());
        if self.nodes.events.size() > 1 {
            let (down, up) = (self.nodes.next_event(), self.nodes.next_event());
            self.give(down, true)?;
            self.give(up, false)?;
            self.nodes.receive(down, &mut above, |_| 0..self.columns)?;
            self.nodes.receive(up, &mut below, |_| 0..self.columns)?;
        }
        let (north, south) = (self.below(above), self.above(below));
        Ok([north, south, self.turned(false), self.turned(true)])
    }

    /// Neighbours, by one shift after the other: each node waits for a row before it gives the
    /// next.
    ///
    /// # Errors
    /// Those of [`Self::neighbours`].
    pub fn neighbours_in_turn(&self) -> Result<Neighbours<'a, T>> {
        let (north, south) = (self.below(self.shifted(true)?), self.above(self.shifted(false)?));
        Ok([north, south, self.turned(false), self.turned(true)])
    }

    /// The row that comes here when all nodes give one to the next below, or above.
    fn shifted(&self, down: bool) -> Result<Vec<T>> {
        let mut row = self.row(down).to_vec();
        if self.nodes.events.size() > 1 {
            let event = self.nodes.next_event();
            self.give(event, down)?;
            self.nodes.receive(event, &mut row, |_| 0..self.columns)?;
        }
        Ok(row)
    }

    /// Sends the last row to the node below, or the first to the one above.
    fn give(&self, event: u32, down: bool) -> Result<()> {
        let size = self.nodes.events.size() as u16;
        let by = if down { 1 } else { size - 1 };
        let to = Destination::One(Rank((self.nodes.events.rank().0 + by) % size));
        self.nodes.send(to, event, self.row(down))
    }

    /// The last row here, or the first.
    fn row(&self, last: bool) -> &[T] {
        let inner = self.values.len() - self.columns;
        if last { &self.values[inner..] } else { &self.values[..self.columns] }
    }

    /// The grid one row further down, below `row`.
    fn below(&self, row: Vec<T>) -> Grid<'a, T> {
        let inner = self.values.len() - self.columns;
        self.nodes.work(self.values.len());
        self.with([&row[..], &self.values[..inner]].concat())
    }

    /// The grid one row further up, above `row`.
    fn above(&self, row: Vec<T>) -> Grid<'a, T> {
        self.nodes.work(self.values.len());
        self.with([&self.values[self.columns..], &row[..]].concat())
    }

    /// The rows turned by one column: to show each point what is west of it, or east.
    fn turned(&self, east: bool) -> Grid<'a, T> {
        let mut values = self.values.clone();
        for row in values.chunks_exact_mut(self.columns) {
            if east {
                row.rotate_left(1);
            } else {
                row.rotate_right(1);
            }
        }
        self.nodes.work(values.len());
        self.with(values)
    }

    fn with<U>(&self, values: Vec<U>) -> Grid<'a, U> {
        Grid { nodes: self.nodes, rows: self.rows, columns: self.columns, values }
    }

    fn is_like<U>(&self, other: &Grid<'_, U>) -> bool {
        (self.rows, self.columns) == (other.rows, other.columns)
    }
}

impl<T: Pod + PartialOrd> Grid<'_, T> {
    /// The largest point: the same at all nodes. Points that do not compare are passed over.
    ///
    /// # Errors
    /// Those of [`Self::fold`].
    pub fn largest(&self) -> Result<T> {
        self.fold(self.values[0], |a, b| if b > a { b } else { a })
    }
}

impl<T: Pod + Add<Output = T>> Grid<'_, T> {
    /// The sum of all points: the same at all nodes.
    ///
    /// # Errors
    /// Those of [`Self::fold`].
    pub fn sum(&self) -> Result<T> {
        self.fold(T::zeroed(), |a, b| a + b)
    }
}

macro_rules! element_by_element {
    ($($operator:ident::$method:ident),*) => {$(
        /// Element by element.
        impl<'a, T: Pod + $operator<Output = T>> $operator for Grid<'a, T> {
            type Output = Grid<'a, T>;

            fn $method(self, other: Grid<'a, T>) -> Grid<'a, T> {
                self.zip(&other, |a, b| a.$method(b))
            }
        }
    )*};
}

element_by_element!(Add::add, Sub::sub);

/// Every point times a number.
impl<'a, T: Pod + Mul<Output = T>> Mul<T> for Grid<'a, T> {
    type Output = Grid<'a, T>;

    fn mul(self, by: T) -> Grid<'a, T> {
        self.map(|value| value * by)
    }
}
