use std::time::Duration;

/// A count with a comma between its thousands: `3,147`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in seconds to three significant digits, at most: `0.0042 s`, `0.213 s`, `2.13 s`,
/// `21.3 s`.
pub fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let decimals = match seconds {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 0.01 => 3,
        _ => 4,
    };
    format!("{seconds:.decimals$} s")
}

/// The median of some durations, the later of the two in the middle of an even number.
pub(crate) fn median(mut durations: Vec<Duration>) -> Option<Duration> {
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied()
}

#[cfg(test)]
mod tests;
