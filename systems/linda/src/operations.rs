//! Operations of a shard, as a type of shared objects: arguments and answers are bytes.
//!
//! Arguments that are none of the operation are malformed, and change nothing.

use crate::field::{Field, Pattern};
use crate::format::{Answer, Reader, emit_found, emit_template, emit_tuple, emit_want};
use crate::shard::Shard;
use crate::want::Wanted;
use weft_object::{Body, Object, Operation, Outcome};

pub(crate) const OUT: u16 = 0;
pub(crate) const TAKE: u16 = 1;
pub(crate) const RD: u16 = 2;
pub(crate) const INP: u16 = 3;
pub(crate) const RDP: u16 = 4;
pub(crate) const WANT: u16 = 5;
pub(crate) const FORGET: u16 = 6;
pub(crate) const HINT: u16 = 7;
pub(crate) const AWAIT: u16 = 8;
pub(crate) const COUNT: u16 = 9;

impl Object for Shard {
    const NAME: &'static str = "weft.linda.Shard";
    const OPERATIONS: &'static [Operation<Self>] = &[
        Operation {
            name: "out",
            body: Body::Write(|shard, bytes, to| answer(shard.out(bytes), to)),
        },
        Operation { name: "take", body: Body::Write(take) },
        Operation { name: "rd", body: Body::Read(rd) },
        Operation {
            name: "inp",
            body: Body::Write(|shard, bytes, to| answer(shard.inp(bytes), to)),
        },
        Operation { name: "rdp", body: Body::Read(rdp) },
        Operation {
            name: "want",
            body: Body::Write(|shard, bytes, to| answer(shard.want(bytes), to)),
        },
        Operation {
            name: "forget",
            body: Body::Write(|shard, bytes, to| answer(shard.forget(bytes), to)),
        },
        Operation {
            name: "hint",
            body: Body::Write(|shard, bytes, to| answer(shard.hint(bytes), to)),
        },
        Operation { name: "await", body: Body::Read(await_hint) },
        Operation {
            name: "count",
            body: Body::Read(|shard, _, to| answer(Some(Answer::Count(shard.count())), to)),
        },
    ];

    fn capture(&self) -> Vec<u8> {
        capture(self)
    }

    fn restore(state: &[u8]) -> Option<Self> {
        restore(state)
    }
}

fn answer(answer: Option<Answer>, to: &mut Vec<u8>) -> Outcome {
    let Some(answer) = answer else { return Outcome::Malformed };
    answer.emit(to);
    Outcome::Done
}

/// Tells the tuple that was found; without one, the operation waits.
fn found_or_wait(tuple: Option<&[Field]>, to: &mut Vec<u8>) -> Outcome {
    let Some(tuple) = tuple else { return Outcome::Blocked };
    emit_found(tuple, to);
    Outcome::Done
}

fn take(shard: &mut Shard, bytes: &[u8], to: &mut Vec<u8>) -> Outcome {
    let Some(template) = parse_template(bytes) else { return Outcome::Malformed };
    found_or_wait(shard.take(&template).as_deref(), to)
}

fn rd(shard: &Shard, bytes: &[u8], to: &mut Vec<u8>) -> Outcome {
    let Some(template) = parse_template(bytes) else { return Outcome::Malformed };
    found_or_wait(shard.read(&template), to)
}

fn rdp(shard: &Shard, bytes: &[u8], to: &mut Vec<u8>) -> Outcome {
    let Some(template) = parse_template(bytes) else { return Outcome::Malformed };
    match shard.read(&template) {
        Some(tuple) => found_or_wait(Some(tuple), to),
        None => answer(Some(Answer::None(shard.puts(&template))), to),
    }
}

/// Waits until a want of this rank has had more hints than it is known to have had.
fn await_hint(shard: &Shard, bytes: &[u8], to: &mut Vec<u8>) -> Outcome {
    let mut reader = Reader(bytes);
    let parsed = reader.want().zip(reader.number()).and_then(|parsed| reader.end(parsed));
    let wanted = parsed.and_then(|(want, seen)| Some((shard.wants.get(&want)?.1, seen)));
    match wanted {
        Some((wanted, seen)) if wanted.hints <= seen => Outcome::Blocked,
        wanted => answer(wanted.map(|(wanted, _)| Answer::Hinted(wanted)), to),
    }
}

impl Shard {
    fn out(&mut self, bytes: &[u8]) -> Option<Answer> {
        let mut reader = Reader(bytes);
        let tuple = reader.tuple()?;
        Some(Answer::Done(self.put(reader.end(tuple)?)))
    }

    fn inp(&mut self, bytes: &[u8]) -> Option<Answer> {
        let template = parse_template(bytes)?;
        Some(match self.take(&template) {
            Some(tuple) => Answer::Found(tuple),
            None => Answer::None(self.puts(&template)),
        })
    }

    fn want(&mut self, bytes: &[u8]) -> Option<Answer> {
        let mut reader = Reader(bytes);
        let want = reader.want()?;
        let template = reader.template()?;
        self.wants.insert(want, reader.end((template, Wanted::default()))?);
        Some(Answer::Done(vec![]))
    }

    fn forget(&mut self, bytes: &[u8]) -> Option<Answer> {
        let mut reader = Reader(bytes);
        let want = reader.want()?;
        self.wants.remove(&reader.end(want)?);
        Some(Answer::Done(vec![]))
    }

    /// Counts a tuple that was put elsewhere or here. The want may be over.
    fn hint(&mut self, bytes: &[u8]) -> Option<Answer> {
        let mut reader = Reader(bytes);
        let (want, home) = (reader.want()?, reader.rank()?);
        if let Some((_, wanted)) = self.wants.get_mut(&reader.end(want)?) {
            wanted.hints = wanted.hints.saturating_add(1);
            wanted.home = home;
        }
        Some(Answer::Done(vec![]))
    }
}

fn parse_template(bytes: &[u8]) -> Option<Vec<Pattern>> {
    let mut reader = Reader(bytes);
    let template = reader.template()?;
    reader.end(template)
}

/// State: numbers of classes and wants; of each class its tuples, the number of them and of puts;
/// and the wants.
fn capture(shard: &Shard) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((shard.classes.len() as u64).to_le_bytes());
    bytes.extend((shard.wants.len() as u64).to_le_bytes());
    for (kinds, class) in &shard.classes {
        // The types of a class without tuples are told by formals.
        let kinds: Vec<_> = kinds.iter().map(|kind| Pattern::Formal(*kind)).collect();
        emit_template(&kinds, &mut bytes);
        let count: usize = class.tuples.values().map(|equal| equal.len()).sum();
        bytes.extend((count as u64).to_le_bytes());
        bytes.extend(class.puts.to_le_bytes());
        class.tuples.values().flatten().for_each(|tuple| emit_tuple(tuple, &mut bytes));
    }
    for (want, (template, wanted)) in &shard.wants {
        emit_want(*want, &mut bytes);
        emit_template(template, &mut bytes);
        bytes.extend(wanted.hints.to_le_bytes());
        bytes.extend(wanted.home.to_le_bytes());
    }
    bytes
}

fn restore(state: &[u8]) -> Option<Shard> {
    let mut reader = Reader(state);
    let (classes, wants) = (reader.number()?, reader.number()?);
    let mut shard = Shard::default();
    for _ in 0..classes {
        let kinds: Box<[_]> = reader.template()?.iter().map(Pattern::kind).collect();
        let (count, puts) = (reader.number()?, reader.number()?);
        for _ in 0..count {
            let tuple = reader.tuple()?;
            if !tuple.iter().map(Field::kind).eq(kinds.iter().copied()) {
                return None;
            }
            shard.put(tuple);
        }
        shard.classes.entry(kinds).or_default().puts = puts;
    }
    for _ in 0..wants {
        let (want, template) = (reader.want()?, reader.template()?);
        let wanted = Wanted { hints: reader.number()?, home: reader.rank()? };
        shard.wants.insert(want, (template, wanted));
    }
    reader.end(shard)
}

#[cfg(test)]
mod tests;
