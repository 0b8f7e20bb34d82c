use super::matrix::Matrix;
use super::spacetime::{Class, Panel};
use super::*;
use weft_report::Analysis;
use weft_trace::Builder;

const CLASS: Class = Class { name: "data", colour: "#444c58" };

/// Values of an attribute of all elements of a class.
pub(crate) fn numbers(svg: &str, class: &str, attribute: &str) -> Vec<f64> {
    let of = format!("class=\"{class}\"");
    let value = |line: &str| {
        let (_, rest) = line.split_once(&format!(" {attribute}=\""))?;
        rest.split_once('"')?.0.parse().ok()
    };
    svg.lines().filter(|line| line.contains(&of)).map(|line| value(line).unwrap()).collect()
}

/// A packet that takes a quarter of the time that is shown, and one behind it.
fn drawn(begin: u64) -> String {
    let trace = Builder::new("two", 2)
        .wait(0, 0, 100, None)
        .packet((0, 500), (1, 750), 8)
        .packet((0, 1800), (1, 1900), 8)
        .trace();
    let analysis = Analysis::new(&trace);
    let arrows = analysis.arrows.iter().map(|arrow| (arrow, CLASS)).collect();
    let heading = "run".to_owned();
    let panel = Panel { heading, lives: &analysis.lives, arrows, begin };
    spacetime::draw("Two <nodes>", &[panel], 1000)
}

#[test]
fn packets_are_drawn_at_their_times_from_lane_to_lane() {
    let svg = drawn(0);
    let [x1, x2] = ["x1", "x2"].map(|name| numbers(&svg, "packet", name));
    let [y1, y2] = ["y1", "y2"].map(|name| numbers(&svg, "packet", name));
    assert_eq!((x1.len(), x2.len()), (1, 1), "the second one is later");
    let quarter = (numbers(&svg, "clip", "width")[0]) / 4.0;
    assert!((x2[0] - x1[0] - quarter).abs() < 0.2, "{x1:?} {x2:?} {quarter}");
    assert!(y2[0] > y1[0] + 10.0, "{y1:?} {y2:?}");
    assert_eq!(numbers(&drawn(1000), "packet", "x1").len(), 1);
    assert!(svg.contains("Two &lt;nodes&gt;") && svg.contains(">data<"));
}

#[test]
fn a_line_is_thick_where_a_node_works() {
    let svg = drawn(0);
    let [thin, thick] = ["life", "state"].map(|class| numbers(&svg, class, "height")[0]);
    assert!(thick > 2.0 * thin, "{thin} {thick}");
    let [whole, works] = ["life", "state"].map(|class| numbers(&svg, class, "width")[0]);
    assert!((works - 0.9 * whole).abs() < 1.0, "{whole} {works}");
}

#[test]
fn a_matrix_says_every_number_that_is_not_nothing() {
    let packets = vec![vec![0, 1234], vec![5, 0]];
    let svg = matrix::draw("Two", &[Matrix { heading: "run".into(), packets }]);
    assert_eq!(numbers(&svg, "field", "x").len(), 2);
    assert!(svg.contains(">1,234<") && svg.contains(">5<") && !svg.contains(">00<"));
}
