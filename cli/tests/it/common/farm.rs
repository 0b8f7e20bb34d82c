//! Last words of farms (`weft-example farm`) in jobs that go on.

use super::mortal::Ended;
use std::collections::BTreeSet;

/// Judges what a farm of so many tasks has said. True if all that were killed are named as lost:
/// else the others had come to the end.
pub fn judge(ended: &Ended, tasks: u64, what: &str) -> bool {
    let Ended { size, lines, killed, .. } = ended;
    let (said, lost) = (ended.said(what), ended.lost(what));
    let last: Vec<Last> = lines.iter().filter_map(|line| Last::parse(line)).collect();
    let Some((last, before)) = last.split_last() else {
        assert!(ended.may_lack_last_line(), "no last line, {said}");
        return false;
    };
    assert!(last.lost.is_subset(&lost), "{:?} are named, {said}", last.lost);
    let left: BTreeSet<u16> = (0..*size as u16).filter(|rank| !last.lost.contains(rank)).collect();
    assert_eq!((last.tasks, last.left, last.size), (tasks, left.len(), *size), "{said}");
    assert_eq!(left.first(), Some(&last.writer), "the first that is left says it, {said}");
    // Another line is of a rank that was lost before others could know that it was there.
    assert!(before.iter().all(|line| last.lost.contains(&line.writer)), "{said}");
    last.lost == *killed
}

/// Judges a farm in whose lost ranks' places others came, of up to `room` ranks. True if all that
/// were killed are named as lost, and there are as many as at first.
pub fn judge_grown(ended: &Ended, tasks: u64, room: usize, what: &str) -> bool {
    let (said, lost) = (ended.said(what), ended.lost(what));
    let last: Vec<Last> = ended.lines.iter().filter_map(|line| Last::parse(line)).collect();
    let Some((last, before)) = last.split_last() else {
        assert!(ended.may_lack_last_line(), "no last line, {said}");
        return false;
    };
    assert!(last.lost.is_subset(&lost), "{:?} are named, {said}", last.lost);
    assert!(!last.lost.contains(&last.writer), "who writes it is left, {said}");
    assert_eq!((last.tasks, last.left + last.lost.len()), (tasks, last.size), "{said}");
    assert!(last.left <= ended.size && last.size <= room, "{said}");
    assert!(before.iter().all(|line| last.lost.contains(&line.writer)), "{said}");
    last.lost == ended.killed && last.left == ended.size
}

/// The last line of a farm.
struct Last {
    writer: u16,
    tasks: u64,
    left: usize,
    size: usize,
    lost: BTreeSet<u16>,
}

impl Last {
    fn parse(line: &str) -> Option<Self> {
        let (writer, line) = line.strip_prefix('[')?.split_once("] ")?;
        let (tasks, rest) = line.split_once(" tasks done by ")?;
        let (left, rest) = rest.split_once(" of ")?;
        let (size, rest) = rest.split_once(" ranks, ")?;
        let (_again, lost) = rest.split_once(" of them handed out again; ")?;
        let number = |text: &str| text.parse::<u64>().unwrap();
        let ranks = lost.split(|letter: char| !letter.is_ascii_digit());
        Some(Last {
            writer: number(writer) as u16,
            tasks: number(tasks),
            left: number(left) as usize,
            size: number(size) as usize,
            lost: ranks.filter(|rank| !rank.is_empty()).map(|rank| number(rank) as u16).collect(),
        })
    }
}
