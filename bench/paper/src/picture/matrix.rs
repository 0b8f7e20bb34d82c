//! Communication matrices: how many packets each node sent to each other.

use super::{INK, SOFT, document, line, rect, text};
use weft_app_common::svg::Svg;
use weft_report::units::thousands;

const LEFT: f64 = 70.0;
const TOP: f64 = 84.0;
/// Side of the field of a pair of nodes.
const FIELD: f64 = 44.0;
/// Distance between two matrices.
const GAP: f64 = 66.0;

/// The packets of a run.
pub struct Matrix {
    /// Heading.
    pub heading: String,
    /// Packets by sender and receiver.
    pub packets: Vec<Vec<u64>>,
}

/// The matrices of some runs beside one another.
pub fn draw(title: &str, matrices: &[Matrix]) -> String {
    let wide = |of: &Matrix| FIELD * of.packets.len() as f64 + GAP;
    let width = LEFT + matrices.iter().map(wide).sum::<f64>();
    let nodes = matrices.iter().map(|of| of.packets.len()).max().unwrap_or(0);
    document(title, (width, TOP + FIELD * nodes as f64 + 36.0), |svg| {
        text(svg, (LEFT, 24.0), "start", INK, title);
        let mut left = LEFT;
        for matrix in matrices {
            matrix.draw(svg, left);
            left += wide(matrix);
        }
    })
}

impl Matrix {
    fn draw(&self, svg: &mut Svg, left: f64) {
        let size = FIELD * self.packets.len() as f64;
        text(svg, (left, TOP - 28.0), "start", INK, &self.heading);
        text(svg, (left + size / 2.0, TOP + size + 20.0), "middle", SOFT, "from (row) to (column)");
        let most = self.packets.iter().flatten().copied().max().unwrap_or(0).max(1);
        for (from, row) in self.packets.iter().enumerate() {
            let at = |node: usize| FIELD * node as f64;
            text(svg, (left - 8.0, TOP + at(from) + 26.0), "end", SOFT, &from.to_string());
            text(
                svg,
                (left + at(from) + FIELD / 2.0, TOP - 8.0),
                "middle",
                SOFT,
                &from.to_string(),
            );
            for (to, &packets) in row.iter().enumerate() {
                let corner = (left + at(to), TOP + at(from));
                field(svg, corner, packets, packets as f64 / most as f64);
            }
        }
        for edge in 0..=self.packets.len() {
            let at = FIELD * edge as f64;
            let (across, down) = ((left, TOP + at), (left + at, TOP));
            line(svg, "grid", across, (left + size, TOP + at), ("#dddddd", "1"));
            line(svg, "grid", down, (left + at, TOP + size), ("#dddddd", "1"));
        }
    }
}

/// A field that is the darker the greater the part of the most packets is.
fn field(svg: &mut Svg, (x, y): (f64, f64), packets: u64, part: f64) {
    if packets == 0 {
        return;
    }
    let shade = |light: f64, dark: f64| (light + (dark - light) * part.sqrt()).round() as u8;
    let fill = format!(
        "#{:02x}{:02x}{:02x}",
        shade(232.0, 47.0),
        shade(241.0, 116.0),
        shade(250.0, 181.0)
    );
    rect(svg, "field", (x, y), (FIELD, FIELD), &fill);
    let ink = if part > 0.4 { "white" } else { INK };
    text(svg, (x + FIELD / 2.0, y + 26.0), "middle", ink, &thousands(packets));
}
