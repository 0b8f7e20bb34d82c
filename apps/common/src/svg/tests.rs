use super::{Svg, num};

#[test]
fn text_and_attributes_cannot_break_out() {
    let svg = Svg::document(10.0, 5.5, |svg| {
        svg.text_element("text", &[("id", "a\"b")], "x < y & \u{7}z");
    });
    assert_eq!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"5.5\" viewBox=\"0 0 10 5.5\">\n\
         <text id=\"a&quot;b\">x &lt; y &amp;  z</text>\n</svg>\n"
    );
}

#[test]
fn numbers_are_short() {
    assert_eq!([3.0, 3.04, -0.26, 1000.0].map(num), ["3", "3", "-0.3", "1000"]);
}
