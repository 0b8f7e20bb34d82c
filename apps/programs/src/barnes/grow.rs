//! The shared tree is built: every rank makes a tree of its own bodies, and joins it to those of
//! others.

use weft_app_common::Vector;

use crate::barnes::cell::{Cell, Child, Cube, Part};
use crate::barnes::error::Error;
use crate::barnes::force::Sky;
use crate::barnes::shared::SharedSky;
use crate::barnes::tree::{OnePlace, Tree};

/// The root: rank 0's first cell. The other ranks leave their first one out.
pub const ROOT: u32 = 0;

/// Part of a rank in building the shared tree.
struct Gardener<'a, 'b> {
    sky: &'a mut SharedSky<'b>,
    /// The tree of the rank's own bodies. Its cell `i` is the rank's `i`-th shared cell, as long as
    /// it is in the shared tree.
    own: &'a Tree,
    /// The rank's cells that are in the shared tree.
    linked: Vec<u32>,
    /// Number of cells that the rank has used.
    used: usize,
}

/// Something to be put into an octant of a shared cell.
struct Item {
    cell: u32,
    /// The cube of the cell.
    cube: Cube,
    octant: usize,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Body(u32, Vector),
    /// A cell of the rank's own tree, with all that is in it.
    Own(u32),
}

/// Joins a rank's own tree to the shared one, whose root is there already. Returns the rank's cells
/// in the shared tree. When all ranks have done it, there is the tree that one rank would have
/// built.
///
/// # Errors
/// There is no memory; a peer's breach, a lost rank.
pub fn grow(
    sky: &mut SharedSky<'_>,
    own: &Tree,
    place: impl Fn(u32) -> Vector,
) -> Result<Vec<u32>, Error> {
    let linked = if sky.number(0) == ROOT { vec![ROOT] } else { Vec::new() };
    let mut gardener = Gardener { sky, own, linked, used: own.cells.len() };
    gardener.plant()?;
    let mut items = gardener.contents(0, ROOT, own.cube, &place);
    while let Some(item) = items.pop() {
        gardener.put(item, &mut items, &place)?;
    }
    Ok(gardener.linked)
}

impl Gardener<'_, '_> {
    /// Copies the own tree into regions, where nobody sees it yet.
    fn plant(&mut self) -> Result<(), Error> {
        for (serial, cell) in self.own.cells.iter().enumerate().skip(1) {
            let shared = |child: Child| match child {
                Child::Cell(own) => Child::Cell(self.sky.number(own as usize)),
                other => other,
            };
            let cell = Cell {
                children: cell.children.map(shared),
                ..Cell::empty(self.sky.number(cell.parent as usize))
            };
            self.sky.plant(serial, &cell)?;
        }
        Ok(())
    }

    /// Contents of the own cell `own`, to be put into the shared one `cell` instead.
    fn contents(
        &self,
        own: u32,
        cell: u32,
        cube: Cube,
        place: &impl Fn(u32) -> Vector,
    ) -> Vec<Item> {
        let children = self.own.cells[own as usize].children.iter().enumerate();
        let item = |(octant, &child): (usize, &Child)| {
            let what = match child {
                Child::Empty => return None,
                Child::Body(body) => What::Body(body, place(body)),
                Child::Cell(own) => What::Own(own),
            };
            Some(Item { cell, cube, octant, what })
        };
        children.filter_map(item).collect()
    }

    /// Puts something where it belongs, or one level further down: then it, and what was there, are
    /// added to `items`.
    fn put(
        &mut self,
        item: Item,
        items: &mut Vec<Item>,
        place: &impl Fn(u32) -> Vector,
    ) -> Result<(), Error> {
        let Item { cell, cube, octant, what } = item;
        let inside = cube.part(octant);
        let there = self.sky.cell(cell)?.children[octant];
        if let Child::Cell(found) = there {
            match what {
                What::Body(body, position) => items.push(Item::body(found, inside, body, position)),
                What::Own(own) => items.extend(self.contents(own, found, inside, place)),
            }
            return Ok(());
        }
        let new = self.prepare(&item, there)?;
        let was = self.sky.change_cell(cell, |cell| {
            let was = cell.children[octant];
            if was == there {
                cell.children[octant] = new;
            }
            was
        })?;
        if was != there {
            // Somebody else was faster; a cell that was made in vain stays unused in this step.
            items.push(item);
            return Ok(());
        }
        if let Child::Cell(new) = new {
            self.note(what, new);
            if let Child::Body(body) = there {
                let position = self.sky.whole_body(body)?.position;
                items.push(Item::body(new, inside, body, position));
                if let What::Body(body, position) = what {
                    items.push(Item::body(new, inside, body, position));
                }
            }
        }
        Ok(())
    }

    /// Contents of the octant once `item` is there beside what is `there` now: a body, if it is
    /// alone, or a cell.
    fn prepare(&mut self, item: &Item, there: Child) -> Result<Child, Error> {
        match (item.what, there) {
            (What::Own(own), _) => {
                let number = self.sky.number(own as usize);
                self.sky.change_cell(number, |cell| cell.parent = item.cell)?;
                Ok(Child::Cell(number))
            }
            (What::Body(body, _), Child::Body(other)) => {
                if item.cube.side() < self.own.cube.smallest() {
                    return Err(OnePlace(body, other).into());
                }
                self.used += 1;
                Ok(Child::Cell(self.sky.plant(self.used - 1, &Cell::empty(item.cell))?))
            }
            (What::Body(body, _), _) => Ok(Child::Body(body)),
        }
    }

    /// Notes that cells are in the shared tree from here on.
    fn note(&mut self, what: What, new: u32) {
        let What::Own(own) = what else { return self.linked.push(new) };
        let mut next = vec![own];
        while let Some(own) = next.pop() {
            self.linked.push(self.sky.number(own as usize));
            let children = self.own.cells[own as usize].children;
            next.extend(children.into_iter().filter_map(Child::cell));
        }
    }
}

impl Item {
    fn body(cell: u32, cube: Cube, body: u32, position: Vector) -> Self {
        Item { cell, cube, octant: cube.octant(position), what: What::Body(body, position) }
    }
}

/// Computes mass, centre and cost of all cells. Each rank begins with those of its cells, `linked`,
/// that hold no others; whoever is the last to finish a child of a cell goes on with the cell, so
/// that nobody waits. When all ranks have done it, all cells have theirs.
///
/// # Errors
/// A peer's breach, a lost rank.
pub fn weigh(sky: &mut SharedSky<'_>, linked: &[u32]) -> Result<(), Error> {
    for &number in linked {
        let mut at = (number, sky.cell(number)?);
        let mut complete = at.1.cells() == 0;
        while complete {
            let (number, cell) = at;
            let mut parts = Vec::new();
            for child in cell.children {
                match child {
                    Child::Empty => {}
                    Child::Body(body) => parts.push(sky.body(body)?),
                    Child::Cell(cell) => parts.push(sky.cell(cell)?.part),
                }
            }
            sky.change_cell(number, |cell| cell.part = Part::sum(parts))?;
            complete = number != ROOT
                && sky.change_cell(cell.parent, |parent| {
                    parent.known += 1;
                    at = (cell.parent, *parent);
                    parent.known == parent.cells()
                })?;
        }
    }
    Ok(())
}

/// The bodies that a rank computes the forces on in this step. All ranks' zones are as expensive,
/// as far as the last step can tell, and hold all bodies; the bodies of a zone follow each other in
/// the tree (cost zones: Singh, 1993).
///
/// # Errors
/// A peer's breach, a lost rank.
pub fn zone(sky: &mut SharedSky<'_>, rank: usize, ranks: usize) -> Result<Vec<u32>, Error> {
    let total = sky.cell(ROOT)?.part.cost;
    let border = |rank: usize| (u128::from(total) * rank as u128 / ranks as u128) as u64;
    let (begin, end) = (border(rank), border(rank + 1));
    let (mut bodies, mut before, mut next) = (Vec::new(), 0, vec![Child::Cell(ROOT)]);
    while let Some(child) = next.pop().filter(|_| before < end) {
        match child {
            Child::Empty => {}
            Child::Body(body) => {
                if before >= begin {
                    bodies.push(body);
                }
                before += sky.body(body)?.cost;
            }
            Child::Cell(number) => {
                let cell = sky.cell(number)?;
                if before + cell.part.cost <= begin {
                    before += cell.part.cost;
                } else {
                    next.extend(cell.children.iter().rev());
                }
            }
        }
    }
    Ok(bodies)
}
