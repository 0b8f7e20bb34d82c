use super::{Cell, Child, Cube, Part};
use weft_app_common::Vector;

#[test]
fn cells_survive_their_regions() {
    let mut cell = Cell::empty(7);
    cell.children[2] = Child::Body(0);
    cell.children[3] = Child::Cell(0);
    cell.children[6] = Child::Body(Child::MOST);
    cell.children[7] = Child::Cell(Child::MOST);
    cell.part = Part { mass: 0.25, centre: Vector([1.0, -2.0, 3.0]), cost: 1 << 40 };
    cell.known = 2;
    assert_eq!(Cell::from_words(&cell.to_words()), cell);
    assert_eq!(cell.cells(), 2);
}

#[test]
fn octants_hold_the_points_that_are_in_them() {
    let cube = Cube::around(5.0);
    assert_eq!(cube.side(), 16.0);
    assert_eq!(Cube::around(0.0).side(), 2.0);
    let point = Vector([4.0, -1.0, 0.0]);
    assert_eq!(cube.octant(point), 0b101);
    // From 0 to 8, from -8 to 0, from 0 to 8; the point is in its upper, upper, lower octant.
    assert_eq!(cube.part(0b101).octant(point), 0b110);
    assert_eq!(cube.part(0b101).side(), 8.0);
}

#[test]
fn parts_add_up() {
    let part = |mass, x| Part { mass, centre: Vector([x, 0.0, 0.0]), cost: 3 };
    let sum = Part::sum([part(1.0, 0.0), part(3.0, 4.0)]);
    assert_eq!(sum, Part { mass: 4.0, centre: Vector([3.0, 0.0, 0.0]), cost: 6 });
    assert_eq!(Part::sum([]), Part::default());
}
