//! Numbers with their units, for people.

/// A time with three digits: `812 ns`, `1.52 us`, `31.2 s`.
pub fn time(ns: u64) -> String {
    let scales = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    let of = ns as f64;
    match scales.iter().find(|(scale, _)| of >= *scale * 0.9995) {
        Some((scale, unit)) => format!("{} {unit}", digits(of / scale)),
        None => format!("{ns} ns"),
    }
}

/// A number of bytes with three digits: `900 B`, `1.50 KiB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut of = bytes as f64;
    if of < 1024.0 {
        return format!("{bytes} B");
    }
    let mut unit = units[0];
    for next in units {
        (of, unit) = (of / 1024.0, next);
        if of < 1023.5 {
            break;
        }
    }
    format!("{} {unit}", digits(of))
}

/// A part of a whole: `61 %`, `0.3 %`.
pub fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    if share == 0.0 || share >= 9.95 { format!("{share:.0} %") } else { format!("{share:.1} %") }
}

/// A number of things: `1 packet`, `28,323 packets`.
pub fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A number with commas: `28,323`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Names of ranks: `rank 3`, `ranks 0, 4 to 7 and 9`. Of many groups the first are named.
pub fn ranks(ranks: &[u32]) -> String {
    const MOST: usize = 5;
    let mut groups: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match groups.last_mut() {
            Some((_, last)) if *last + 1 == *rank => *last = *rank,
            _ => groups.push((*rank, *rank)),
        }
    }
    let mut words: Vec<_> = groups
        .iter()
        .flat_map(|(first, last)| match last - first {
            0 => vec![first.to_string()],
            1 => vec![first.to_string(), last.to_string()],
            _ => vec![format!("{first} to {last}")],
        })
        .collect();
    if words.len() > MOST {
        words.truncate(MOST - 1);
        words.push("others".into());
    }
    let last = words.pop().unwrap_or_else(|| "none".into());
    let plural = if ranks.len() == 1 { "" } else { "s" };
    match words.is_empty() {
        true => format!("rank{plural} {last}"),
        false => format!("rank{plural} {} and {last}", words.join(", ")),
    }
}

fn digits(number: f64) -> String {
    match number {
        _ if number < 9.995 => format!("{number:.2}"),
        _ if number < 99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        let times = [0, 812, 1_520, 999_600, 1_000_000, 31_240_000_000].map(time);
        assert_eq!(times, ["0 ns", "812 ns", "1.52 us", "1.00 ms", "1.00 ms", "31.2 s"]);
        let sizes = [0, 1023, 1024, 1536, 1 << 20, u64::MAX].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1.00 KiB", "1.50 KiB", "1.00 MiB", "16777216 TiB"]);
        assert_eq!(
            [(0, 0), (61, 100), (3, 1000)].map(|(a, b)| percent(a, b)),
            ["0 %", "61 %", "0.3 %"]
        );
        assert_eq!([0, 999, 28_323, 1_000_000].map(thousands), ["0", "999", "28,323", "1,000,000"]);
    }

    #[test]
    fn ranks_are_named_in_groups() {
        assert_eq!(ranks(&[3]), "rank 3");
        assert_eq!(ranks(&[1, 2, 3]), "ranks 1 to 3");
        assert_eq!(ranks(&[0, 4, 5, 6, 9]), "ranks 0, 4 to 6 and 9");
        assert_eq!(ranks(&[1, 3, 5, 7, 9, 11]), "ranks 1, 3, 5, 7 and others");
    }
}
