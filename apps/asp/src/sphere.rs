//! Distances and great circles on a sphere of the Earth's mean radius.

/// The Earth's mean radius (IUGG), in kilometres.
const RADIUS_KM: f64 = 6371.0088;

/// A place on the sphere, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// North is positive, -90 to 90.
    pub latitude: f64,
    /// East is positive, -180 to 180.
    pub longitude: f64,
}

/// The great-circle distance in kilometres (the haversine formula, exact enough at every distance).
pub fn distance_km(a: Position, b: Position) -> f64 {
    2.0 * RADIUS_KM * half_angle(a, b).asin()
}

/// The great circle from `a` to `b` as points at most `step_degrees` apart, both ends included.
/// Antipodes have no one great circle: the two places must not be antipodes of each other.
pub fn arc(a: Position, b: Position, step_degrees: f64) -> Vec<Position> {
    let angle = 2.0 * half_angle(a, b).asin();
    let steps = (angle.to_degrees() / step_degrees).ceil().max(1.0) as usize;
    let (from, to) = (vector(a), vector(b));
    let between = |step: usize| {
        let part = step as f64 / steps as f64;
        let weights = (((1.0 - part) * angle).sin(), (part * angle).sin());
        position(std::array::from_fn(|axis| weights.0 * from[axis] + weights.1 * to[axis]))
    };
    let inner = (1..steps).map(between);
    std::iter::once(a).chain(inner).chain(std::iter::once(b)).collect()
}

/// Cuts a line of points where it crosses the date line, so that each piece can be drawn on a map
/// from -180 to 180. A piece that ends at one edge is continued at the other, at the same latitude.
pub fn split_at_date_line(points: &[Position]) -> Vec<Vec<Position>> {
    let Some((&first, rest)) = points.split_first() else {
        return Vec::new();
    };
    let mut pieces = vec![vec![first]];
    let mut last = first;
    for &point in rest {
        if (point.longitude - last.longitude).abs() > 180.0 {
            let edge = 180.0_f64.copysign(last.longitude);
            let latitude = latitude_at_edge(last, point, edge);
            push(&mut pieces, Position { latitude, longitude: edge });
            pieces.push(vec![Position { latitude, longitude: -edge }]);
        }
        push(&mut pieces, point);
        last = point;
    }
    pieces
}

/// Appends to the last piece, unless its last point is the same.
fn push(pieces: &mut [Vec<Position>], point: Position) {
    if let Some(piece) = pieces.last_mut()
        && piece.last() != Some(&point)
    {
        piece.push(point);
    }
}

/// Latitude at which the straight line on the map from `from` over the edge to `to` meets the edge.
fn latitude_at_edge(from: Position, to: Position, edge: f64) -> f64 {
    let unrolled = to.longitude + 2.0 * edge;
    let part = (edge - from.longitude) / (unrolled - from.longitude);
    from.latitude + part * (to.latitude - from.latitude)
}

/// The sine of half the angle between two places, seen from the centre.
fn half_angle(a: Position, b: Position) -> f64 {
    let half = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
    let cosines = a.latitude.to_radians().cos() * b.latitude.to_radians().cos();
    let square = half(a.latitude, b.latitude) + cosines * half(a.longitude, b.longitude);
    square.sqrt().min(1.0)
}

fn vector(place: Position) -> [f64; 3] {
    let (sin_latitude, cos_latitude) = place.latitude.to_radians().sin_cos();
    let (sin_longitude, cos_longitude) = place.longitude.to_radians().sin_cos();
    [cos_latitude * cos_longitude, cos_latitude * sin_longitude, sin_latitude]
}

fn position([x, y, z]: [f64; 3]) -> Position {
    Position { latitude: z.atan2(x.hypot(y)).to_degrees(), longitude: y.atan2(x).to_degrees() }
}

#[cfg(test)]
mod tests;
