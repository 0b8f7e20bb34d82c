use super::{OnePlace, Tree};
use crate::barnes::cell::{Child, Cube, Part};
use weft_app_common::Vector;

const PLACES: [[f64; 3]; 5] =
    [[0.5, 0.5, 0.5], [-0.5, 0.5, 0.5], [0.6, 0.5, 0.5], [0.5, 0.51, 0.5], [0.9, 0.9, -0.9]];

fn place(body: u32) -> Vector {
    Vector(PLACES[body as usize])
}

fn part(body: u32) -> Part {
    Part { mass: f64::from(body + 1), centre: place(body), cost: 1 }
}

/// The tree as text, without the numbers of cells.
fn shape(tree: &Tree, cell: usize) -> String {
    let child = |child: &Child| match child {
        Child::Empty => ".".to_owned(),
        Child::Body(body) => body.to_string(),
        Child::Cell(cell) => shape(tree, *cell as usize),
    };
    format!("({})", tree.cells[cell].children.iter().map(child).collect::<String>())
}

#[test]
fn the_tree_does_not_depend_on_who_came_first() {
    let tree = |order: [u32; 5]| Tree::of(Cube::around(0.9), order, place).expect("all apart");
    let mut first = tree([0, 1, 2, 3, 4]);
    assert_eq!(shape(&first, 0), shape(&tree([4, 3, 2, 1, 0]), 0));
    assert_eq!(shape(&first, 0), shape(&tree([2, 0, 4, 3, 1]), 0));
    assert_eq!(first.order()[0], 1, "the lowest octant along the first axis");
    first.sum(part);
    let root = first.cells[0].part;
    assert_eq!((root.mass, root.cost), (15.0, 5));
    let all = Part::sum((0..5).map(part));
    assert!((root.centre - all.centre).length() < 1e-15);
}

#[test]
fn two_bodies_in_one_place_are_no_endless_tree() {
    let there = |_| Vector([0.1, 0.2, 0.3]);
    assert_eq!(Tree::of(Cube::around(1.0), [3, 8], there).err(), Some(OnePlace(8, 3)));
}
