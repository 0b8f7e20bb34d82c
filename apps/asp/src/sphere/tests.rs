use super::{Position, arc, distance_km, split_at_date_line};
use proptest::prelude::*;

const JFK: Position = Position { latitude: 40.63980, longitude: -73.77890 };
const LHR: Position = Position { latitude: 51.47060, longitude: -0.46194 };
const SYD: Position = Position { latitude: -33.94610, longitude: 151.17700 };
const LAX: Position = Position { latitude: 33.94250, longitude: -118.40800 };

fn at(latitude: f64, longitude: f64) -> Position {
    Position { latitude, longitude }
}

fn anywhere() -> impl Strategy<Value = Position> {
    (-90.0..=90.0_f64, -180.0..=180.0_f64).prop_map(|(latitude, longitude)| at(latitude, longitude))
}

#[test]
fn known_distances() {
    let quarter = std::f64::consts::FRAC_PI_2 * 6371.0088;
    assert!((distance_km(JFK, LHR) - 5540.0).abs() < 3.0, "{}", distance_km(JFK, LHR));
    assert!((distance_km(SYD, LAX) - 12_061.0).abs() < 10.0, "{}", distance_km(SYD, LAX));
    assert!((distance_km(at(0.0, 0.0), at(90.0, 77.0)) - quarter).abs() < 1e-6);
    assert!((distance_km(at(0.0, -90.0), at(0.0, 90.0)) - 2.0 * quarter).abs() < 1e-3);
    assert_eq!(distance_km(JFK, JFK), 0.0);
}

#[test]
fn an_arc_over_the_pacific_is_cut_once_at_the_date_line() {
    let pieces = split_at_date_line(&arc(SYD, LAX, 2.0));
    assert_eq!(pieces.len(), 2);
    let (east, west) = (&pieces[0], &pieces[1]);
    let (last, first) = (east[east.len() - 1], west[0]);
    assert_eq!((last.longitude, first.longitude), (180.0, -180.0));
    assert_eq!(last.latitude, first.latitude);
    assert!((-25.0..10.0).contains(&last.latitude), "{}", last.latitude);
    assert_eq!((east[0], west[west.len() - 1]), (SYD, LAX));
}

#[test]
fn an_arc_that_stays_on_one_side_is_one_piece() {
    assert_eq!(split_at_date_line(&arc(JFK, LHR, 2.0)).len(), 1);
    assert_eq!(split_at_date_line(&[]).len(), 0);
}

#[test]
fn a_point_on_the_edge_is_not_repeated() {
    let pieces = split_at_date_line(&[at(0.0, 170.0), at(0.0, 180.0), at(0.0, -170.0)]);
    assert_eq!(pieces[0], [at(0.0, 170.0), at(0.0, 180.0)]);
    assert_eq!(pieces[1], [at(0.0, -180.0), at(0.0, -170.0)]);
}

proptest! {
    #[test]
    fn distance_is_symmetric_and_bounded(a in anywhere(), b in anywhere()) {
        prop_assert_eq!(distance_km(a, b), distance_km(b, a));
        prop_assert!((0.0..20_016.0).contains(&distance_km(a, b)));
    }

    #[test]
    fn an_arc_is_as_long_as_its_distance(a in anywhere(), b in anywhere()) {
        prop_assume!(distance_km(a, b) < 19_900.0);
        let points = arc(a, b, 2.0);
        let length: f64 = points.windows(2).map(|ends| distance_km(ends[0], ends[1])).sum();
        prop_assert!((length - distance_km(a, b)).abs() < 0.01, "{} {}", length, distance_km(a, b));
        prop_assert!(points.windows(2).all(|ends| distance_km(ends[0], ends[1]) < 223.0));
    }

    #[test]
    fn no_piece_jumps_over_the_map(a in anywhere(), b in anywhere()) {
        for piece in split_at_date_line(&arc(a, b, 2.0)) {
            for ends in piece.windows(2) {
                prop_assert!((ends[0].longitude - ends[1].longitude).abs() <= 180.0);
            }
        }
    }
}
