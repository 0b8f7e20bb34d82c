//! Times as people write them.

use humantime::{format_duration, parse_duration};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Any time at all.
pub const ANY_TIME: RangeInclusive<Duration> = Duration::ZERO..=Duration::MAX;

/// The time in a text, in the units of `humantime`: `500ms`, `0.8s`, `2min`, `1h 30m`. A number
/// alone is seconds.
///
/// # Errors
/// It is none, or not within these bounds, for a person.
pub fn time_in(text: &str, bounds: RangeInclusive<Duration>) -> Result<Duration, String> {
    let text = text.trim();
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = seconds.or_else(|| parse_duration(text).ok()).filter(|time| bounds.contains(time));
    time.ok_or_else(|| {
        let from_to = match bounds == ANY_TIME {
            true => String::new(),
            false => {
                format!(
                    " from {} to {}",
                    format_duration(*bounds.start()),
                    format_duration(*bounds.end())
                )
            }
        };
        format!("it is a time{from_to}, such as 500ms, 5s or 2min; a number alone is seconds")
    })
}

#[cfg(test)]
mod tests;
