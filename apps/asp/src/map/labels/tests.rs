use super::{Area, Labels};

const FRAME: Area = Area { x: 0.0, y: 0.0, width: 100.0, height: 100.0 };

#[test]
fn a_label_stands_to_the_right_if_it_can() {
    let mut labels = Labels::new(FRAME, vec![]);
    let placed = labels.place((50.0, 50.0), (20.0, 10.0), 5.0, false);
    assert_eq!(placed, Some(Area { x: 55.0, y: 45.0, width: 20.0, height: 10.0 }));
}

#[test]
fn at_the_edge_it_stands_to_the_left() {
    let mut labels = Labels::new(FRAME, vec![]);
    let placed = labels.place((95.0, 50.0), (20.0, 10.0), 5.0, false).expect("there is room");
    assert_eq!(placed.x, 70.0);
}

#[test]
fn labels_of_one_point_do_not_overlap_and_end_when_it_is_full() {
    let mut labels = Labels::new(FRAME, vec![Area::around((50.0, 50.0), 3.0)]);
    let mut placed: Vec<Area> = Vec::new();
    while let Some(area) = labels.place((50.0, 50.0), (20.0, 10.0), 5.0, false) {
        assert!(placed.iter().all(|other| other.shared(&area) == 0.0), "{area:?} in {placed:?}");
        placed.push(area);
        assert!(placed.len() <= 8);
    }
    assert!(placed.len() >= 4);
    assert!(labels.place((50.0, 50.0), (20.0, 10.0), 5.0, true).is_some(), "needed all the same");
}
