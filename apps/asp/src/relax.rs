//! The kernel as it stands in books, which other programs' are measured against.

/// Distance between nodes without a way from one to the other: less than all others can be added
/// to without an overflow.
pub const FAR: i64 = i64::MAX / 4;

/// Lets a row of distances try the ways through node `pivot`, whose own row is `by`. What is as far
/// as `FAR`, `i64::MAX / 4`, has no way.
///
/// # Panics
/// Rows of different lengths, or a pivot that they do not have.
pub fn relax(row: &mut [i64], by: &[i64], pivot: usize) {
    assert_eq!(row.len(), by.len(), "rows of one matrix");
    let first = row[pivot];
    if first >= FAR {
        return;
    }
    for (distance, onward) in row.iter_mut().zip(by) {
        *distance = (*distance).min(first + onward);
    }
}

#[cfg(test)]
mod tests;
