//! The operations, each written for one member as if it could wait anywhere.

use super::exchange::Exchange;
use super::operations::{Failure, Outcome};
use super::reduction::Reduction;
use crate::Result;
use bytemuck::Pod;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Steps: what moves towards the root, away from it, and between any two.
const UP: u16 = 0;
const DOWN: u16 = 1;
const ACROSS: u16 = 2;

/// All-reduces of more bytes share the combining out among all members.
const SHARED_OUT_BYTES: usize = 32 << 10;
/// The member above `me` in the binomial tree that is rooted at member 0.
fn parent(me: usize) -> Option<usize> {
    (me != 0).then(|| me & (me - 1))
}

/// Those below. The part of child `c` are members `c` to just before the next child, so that whoever
/// combines them in this order combines members in theirs.
fn children(me: usize, size: usize) -> impl Iterator<Item = usize> {
    let most = if me == 0 { usize::BITS } else { me.trailing_zeros() };
    (0..most)
        .map_while(move |bit| 1usize.checked_shl(bit).map(|step| me + step))
        .take_while(move |&child| child < size)
}

pub(super) async fn barrier(exchange: Exchange) -> Outcome<()> {
    for child in children(exchange.me(), exchange.size()) {
        exchange.receive(child, UP).await?;
    }
    match parent(exchange.me()) {
        None => exchange.multicast(DOWN, &[])?,
        Some(parent) => {
            exchange.send(parent, UP, &[])?;
            exchange.receive(0, DOWN).await?;
        }
    }
    Ok(())
}

pub(super) async fn broadcast<T: Pod + Send>(
    exchange: Exchange,
    root: usize,
    values: Vec<T>,
) -> Outcome<Vec<T>> {
    if exchange.me() == root {
        exchange.multicast(DOWN, bytemuck::cast_slice(&values))?;
        return Ok(values);
    }
    drop(values);
    Ok(values_in(&exchange.receive(root, DOWN).await?))
}

/// The result at the root; elsewhere `None`. Values are combined in the same tree whatever the root.
pub(super) async fn reduce<T: Pod + Send>(
    exchange: Exchange,
    root: usize,
    values: Vec<T>,
    reduction: impl Reduction<T>,
) -> Outcome<Option<Vec<T>>> {
    let me = exchange.me();
    let combined = combine_up(&exchange, values, &reduction).await?;
    if root == 0 {
        return Ok(combined);
    }
    if let Some(combined) = combined {
        exchange.send(root, DOWN, bytemuck::cast_slice(&combined))?;
    }
    if me == root {
        return Ok(Some(values_in(&exchange.receive(0, DOWN).await?)));
    }
    Ok(None)
}

/// Combines everything at member 0.
async fn combine_up<T: Pod + Send>(
    exchange: &Exchange,
    mut values: Vec<T>,
    reduction: &impl Reduction<T>,
) -> Outcome<Option<Vec<T>>> {
    for child in children(exchange.me(), exchange.size()) {
        let next = exchange.receive(child, UP).await?;
        combine(&mut values, &next, reduction)?;
    }
    match parent(exchange.me()) {
        None => Ok(Some(values)),
        Some(parent) => {
            exchange.send(parent, UP, bytemuck::cast_slice(&values))?;
            Ok(None)
        }
    }
}

pub(super) async fn all_reduce<T: Pod + Send>(
    exchange: Exchange,
    values: Vec<T>,
    reduction: impl Reduction<T>,
) -> Outcome<Vec<T>> {
    if size_of_val(&values[..]) > SHARED_OUT_BYTES && exchange.size() > 2 {
        return all_reduce_shared_out(exchange, values, reduction).await;
    }
    match combine_up(&exchange, values, &reduction).await? {
        Some(values) => {
            exchange.multicast(DOWN, bytemuck::cast_slice(&values))?;
            Ok(values)
        }
        None => Ok(values_in(&exchange.receive(0, DOWN).await?)),
    }
}

/// Each member combines one part of all values, in the order of members, and gives it to all.
async fn all_reduce_shared_out<T: Pod + Send>(
    exchange: Exchange,
    mut values: Vec<T>,
    reduction: impl Reduction<T>,
) -> Outcome<Vec<T>> {
    let (me, size, length) = (exchange.me(), exchange.size(), values.len());
    let part = |member: usize| length * member / size..length * (member + 1) / size;
    let bytes = |range: Range<usize>| range.start * size_of::<T>()..range.end * size_of::<T>();
    let mine = bytemuck::cast_slice(&values).to_vec();
    let parts = swap(&exchange, &mine, |to| bytes(part(to)), |_| bytes(part(me)).len()).await?;
    let mut combined = values_in(&parts[0]);
    for next in &parts[1..] {
        combine(&mut combined, next, &reduction)?;
    }
    let mine = bytemuck::cast_slice(&combined).to_vec();
    let lengths = |from| bytes(part(from)).len();
    for (from, bytes) in spread(&exchange, mine, lengths).await?.iter().enumerate() {
        bytemuck::cast_slice_mut(&mut values[part(from)]).copy_from_slice(bytes);
    }
    Ok(values)
}

/// What each member brought, in order, at the root; elsewhere `None`.
pub(super) async fn gather<T: Pod + Send>(
    exchange: Exchange,
    root: usize,
    values: Vec<T>,
) -> Outcome<Option<Vec<Vec<T>>>> {
    if exchange.me() != root {
        exchange.send(root, UP, bytemuck::cast_slice(&values))?;
        return Ok(None);
    }
    let mut mine = Some(values);
    let mut all = Vec::with_capacity(exchange.size());
    for from in 0..exchange.size() {
        all.push(match mine.take_if(|_| from == root) {
            Some(values) => values,
            None => values_in(&exchange.receive(from, UP).await?),
        });
    }
    Ok(Some(all))
}

/// This member's part of what the root has.
pub(super) async fn scatter<T: Pod + Send>(
    exchange: Exchange,
    root: usize,
    values: Vec<T>,
) -> Outcome<Vec<T>> {
    let (me, size) = (exchange.me(), exchange.size());
    if me != root {
        return Ok(values_in(&exchange.receive(root, DOWN).await?));
    }
    let part = values.len() / size;
    for to in (root + 1..size).chain(0..root) {
        exchange.send(to, DOWN, bytemuck::cast_slice(&values[part * to..][..part]))?;
    }
    Ok(values[part * me..][..part].to_vec())
}

pub(super) async fn all_gather<T: Pod + Send>(
    exchange: Exchange,
    values: Vec<T>,
) -> Outcome<Vec<T>> {
    let mine = bytemuck::cast_slice(&values).to_vec();
    let length = mine.len();
    let all = spread(&exchange, mine, |_| length).await?;
    Ok(values_in(&all.concat()))
}

pub(super) async fn all_to_all<T: Pod + Send>(
    exchange: Exchange,
    values: Vec<T>,
) -> Outcome<Vec<T>> {
    let mine = bytemuck::cast_slice(&values).to_vec();
    let part = mine.len() / exchange.size();
    let all = swap(&exchange, &mine, |to| part * to..part * (to + 1), |_| part).await?;
    Ok(values_in(&all.concat()))
}

/// Everybody sends to everybody: `mine[part(to)]` from here. Returns what each member sent, its own
/// included. `expected(from)` is how many bytes that is.
async fn swap(
    exchange: &Exchange,
    mine: &[u8],
    part: impl Fn(usize) -> Range<usize>,
    expected: impl Fn(usize) -> usize,
) -> Result<Vec<Vec<u8>>> {
    let (me, size) = (exchange.me(), exchange.size());
    let piece_bytes = exchange.piece_bytes();
    let pieces = |bytes| pieces(bytes, piece_bytes);
    let mut all = vec![Vec::new(); size];
    all[me] = mine[part(me)].to_vec();
    // Everybody begins with its neighbour, so that no two send to the same one at once.
    let peers = (1..size).map(|distance| ((me + distance) % size, (me + size - distance) % size));
    if mine.len() <= piece_bytes && size <= exchange.packets_at_once() {
        for (to, _) in peers.clone() {
            exchange.send(to, ACROSS, &mine[part(to)])?;
        }
        for (_, from) in peers {
            all[from] = exchange.receive(from, ACROSS).await?;
        }
        return Ok(all);
    }
    for (to, from) in peers {
        let (mine, bytes) = (&mine[part(to)], expected(from));
        for round in 0..pieces(mine.len()).max(pieces(bytes)) {
            if let Some(piece) = piece(mine, round, piece_bytes) {
                exchange.send(to, ACROSS, piece)?;
            }
            if round < pieces(bytes) {
                all[from].extend_from_slice(&exchange.receive(from, ACROSS).await?);
            }
        }
    }
    Ok(all)
}

/// Everybody multicasts to everybody. Returns what each member sent, its own included;
/// `expected(from)` is how many bytes that is.
async fn spread(
    exchange: &Exchange,
    mine: Vec<u8>,
    expected: impl Fn(usize) -> usize,
) -> Result<Vec<Vec<u8>>> {
    let (me, size) = (exchange.me(), exchange.size());
    let piece_bytes = exchange.piece_bytes();
    let pieces = |bytes| pieces(bytes, piece_bytes);
    let mut all = vec![Vec::new(); size];
    let rounds = (0..size).map(|from| pieces(expected(from))).max().unwrap_or(1);
    for round in 0..rounds {
        if let Some(piece) = piece(&mine, round, piece_bytes) {
            exchange.multicast(DOWN, piece)?;
        }
        for from in (0..size).filter(|&from| from != me && round < pieces(expected(from))) {
            all[from].extend_from_slice(&exchange.receive(from, DOWN).await?);
        }
    }
    all[me] = mine;
    Ok(all)
}

/// Transfers that `bytes` bytes take where members send to one another; nothing takes one, too.
fn pieces(bytes: usize, piece_bytes: usize) -> usize {
    bytes.div_ceil(piece_bytes).max(1)
}

fn piece(bytes: &[u8], round: usize, piece_bytes: usize) -> Option<&[u8]> {
    let rest = bytes.get(round * piece_bytes..)?;
    let is_there = round == 0 || !rest.is_empty();
    is_there.then(|| &rest[..rest.len().min(piece_bytes)])
}

/// Combines `values` with those that come after them. A reduction that panics does so where the
/// program waits, not in whatever upcall brought the last piece.
fn combine<T: Pod>(values: &mut [T], next: &[u8], reduction: &impl Reduction<T>) -> Outcome<()> {
    let next: Vec<T> = values_in(next);
    let all = AssertUnwindSafe(|| {
        values.iter_mut().zip(&next).for_each(|(into, next)| reduction.combine(into, next));
    });
    catch_unwind(all).map_err(Failure::Panicked)
}

/// The values that `bytes` are, wherever they lie.
pub(super) fn values_in<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>().max(1)];
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
    values
}

#[cfg(test)]
mod tests;
