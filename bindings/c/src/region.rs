//! Shared regions of memory (thesis 7.3).
//!
//! In Rust an access is a guard that borrows its mapping. Here it lasts from one call to another,
//! so a mapping holds the guards of the accesses that C has started and not ended.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::collective::Type;
use crate::collective::numbers::{numbers, with_type};
use crate::handle::{Handle, HandleKind, free, given, put};
use crate::held::{HeldRead, HeldWrite};
use crate::job::{Job, rank, state};
use crate::memory::{HintNumber, OperationNumber, TypeNumber, Values};
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;
use weft_region::coherence::{self, Misuse, Policy};
use weft_region::{Mapped, RegionId};

/// A rank's part in the regions of a job. Any thread may use it, several at once.
pub struct Regions(Handle<Part>);

/// A region that this rank has mapped. One thread at a time uses it.
pub struct Region(Handle<Mapping>);

/// A region's name in the job: bytes that may be sent to other ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RegionName {
    /// The rank that created it, its home.
    home: u32,
    /// Index among that rank's regions, from 0; numbers are not used again.
    index: u32,
}

/// Usage pattern of a region. Whatever it says, programs see the same memory.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// Writers drop the copies of readers, who ask again.
    Invalidate = 0,
    /// Written by one rank and read by many, over and over: who had a copy when a write began gets
    /// what was written when it ends.
    Update,
    /// Read and then written, by one rank after another: who reads gets the only copy.
    Migratory,
}

struct Part(weft_region::Regions);

/// A mapping, and the accesses that have been started.
struct Mapping {
    // Before what they borrow.
    reads: Vec<HeldRead>,
    write: Option<HeldWrite>,
    mapped: Arc<Mapped<u8>>,
}

impl HandleKind for Part {
    const MARK: u32 = 0x5247_530e;
    const NAME: &'static str = "set of regions";
}

impl HandleKind for Mapping {
    const MARK: u32 = 0x5247_4e0f;
    const NAME: &'static str = "region";
}

const HINTS: [(Hint, coherence::Hint); 3] = [
    (Hint::Invalidate, coherence::Hint::Invalidate),
    (Hint::Update, coherence::Hint::Update),
    (Hint::Migratory, coherence::Hint::Migratory),
];

impl HintNumber {
    fn get(self) -> Result<coherence::Hint, Failure> {
        let found = HINTS.iter().find(|(hint, _)| *hint as u32 == self.0);
        let unknown = || Failure::invalid(format!("there is no hint {}", self.0));
        found.map(|(_, hint)| *hint).ok_or_else(unknown)
    }
}

impl Mapping {
    /// Error of a call that must not be made now.
    fn misuse(&self, what: Misuse) -> Failure {
        weft_region::Error::Misuse { region: self.mapped.id(), what }.into()
    }

    /// Refuses to go on while C is in the region.
    fn check_unused(&self) -> Result<(), Failure> {
        match (&self.write, self.reads.is_empty()) {
            (Some(_), _) => Err(self.misuse(Misuse::Writing)),
            (None, false) => Err(self.misuse(Misuse::Reading)),
            (None, true) => Ok(()),
        }
    }
}

fn part(regions: Option<&Regions>) -> Result<&weft_region::Regions, Failure> {
    Ok(&given(regions, "regions")?.0.get()?.0)
}

fn mapping(region: Option<&mut Region>) -> Result<&mut Mapping, Failure> {
    given(region, "region")?.0.get_mut()
}

/// Frees a mapping that is not in use; else it stays C's.
fn unused(region: Option<Box<Region>>) -> Result<Arc<Mapped<u8>>, Failure> {
    let region = given(region, Mapping::NAME)?;
    if let Err(failure) = region.0.get().and_then(Mapping::check_unused) {
        std::mem::forget(region);
        return Err(failure);
    }
    Ok(free(Some(region), |region| &mut region.0)?.mapped)
}

/// Takes part in the regions of a job, beside its messages and packets. All ranks do, once, before
/// any of them maps a region. The result is the caller's, to be given back
/// to weft_regions_close(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_regions_open(
    job: Option<&Job>,
    regions: Option<&mut MaybeUninit<*mut Regions>>,
) -> Status {
    call(|| {
        let out = given(regions, "the pointer for the result")?;
        let part = Part(weft_region::Regions::open(state(job)?.packets()));
        out.write(Box::into_raw(Box::new(Regions(Handle::new(part)))));
        Ok(())
    })
}

/// Ends it when all ranks have called it, and frees it, even when it fails. All regions are to be
/// unmapped before. Blocks; other ranks are served meanwhile, as in all calls on regions that
/// block.
#[unsafe(no_mangle)]
pub extern "C" fn weft_regions_close(regions: Option<Box<Regions>>) -> Status {
    call(|| Ok(free(regions, |regions| &mut regions.0)?.0.close()?))
}

/// Returns when all ranks have called it as often as this one. Blocks. All ranks call this and the
/// two functions below in the same order, from one thread at a time.
#[unsafe(no_mangle)]
pub extern "C" fn weft_regions_barrier(regions: Option<&Regions>) -> Status {
    call(|| Ok(part(regions)?.barrier()?))
}

/// Gives all ranks the count values of rank root. Blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_regions_broadcast(
    regions: Option<&Regions>,
    root: u32,
    mut values: Values<'_>,
    count: usize,
    of: TypeNumber,
) -> Status {
    call(|| {
        let (regions, length, root) = (part(regions)?, of.bytes(count)?, rank(root)?);
        let is_root = root == regions.rank();
        let mut bytes = match is_root {
            true => values.slice(length)?.to_vec(),
            false => vec![0; length],
        };
        values.room().check(length)?;
        regions.broadcast(root, &mut bytes)?;
        if !is_root && length > 0 {
            values.room().fill(&bytes);
        }
        Ok(())
    })
}

/// Combines the count values of all ranks, one by one, and gives all of them the same result.
/// Blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_regions_reduce(
    regions: Option<&Regions>,
    mut values: Values<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
) -> Status {
    call(|| {
        let length = of.bytes(count)?;
        with_type!(of.get()?, |T| {
            let combiner = operation.combiner::<T>()?;
            let mut all = numbers::<T>(values.slice(length)?);
            part(regions)?.reduce(&mut all, |mut into, next| {
                combiner(&mut into, &next);
                into
            })?;
            if length > 0 {
                values.room().fill(bytemuck::cast_slice(&all));
            }
        });
        Ok(())
    })
}

/// Creates a region of so many bytes, all 0, of which this rank is the home, and gives its name.
/// Other ranks have to be told the name to map it. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_create(
    regions: Option<&Regions>,
    bytes: u64,
    hint: HintNumber,
    name: Option<&mut MaybeUninit<RegionName>>,
) -> Status {
    call(|| {
        let name = given(name, "the pointer for the result")?;
        let policy = Policy { hint: hint.get()?, ..Policy::default() };
        let RegionId { home, index } = part(regions)?.create(bytes, policy)?;
        name.write(RegionName { home: home.0.into(), index });
        Ok(())
    })
}

/// Maps a region, so that this rank may access it. Asks its home, if this rank does not know it,
/// and blocks. It is the caller's, to be given back to weft_region_unmap() or weft_region_delete().
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_map(
    regions: Option<&Regions>,
    name: RegionName,
    region: Option<&mut MaybeUninit<*mut Region>>,
) -> Status {
    call(|| {
        let out = given(region, "the pointer for the result")?;
        let id = RegionId { home: rank(name.home)?, index: name.index };
        let mapped = Arc::new(part(regions)?.map(id)?);
        let mapping = Mapping { reads: vec![], write: None, mapped };
        out.write(Box::into_raw(Box::new(Region(Handle::new(mapping)))));
        Ok(())
    })
}

/// Frees a mapping. While accesses of it have not ended it is WEFT_INVALID, and frees nothing. What
/// was written stays, and so does the copy here, as long as there is room. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_unmap(region: Option<Box<Region>>) -> Status {
    call(|| unused(region).map(drop))
}

/// Ends a region everywhere, once nobody is in it, and frees this mapping, even when it fails; but
/// while accesses of it have not ended it is WEFT_INVALID, and frees nothing. Blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_delete(region: Option<Box<Region>>) -> Status {
    call(|| match Arc::into_inner(unused(region)?) {
        Some(mapped) => Ok(mapped.delete()?),
        None => Err(Failure::invalid("the region is in use")),
    })
}

/// The size of a region in bytes. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_size(
    region: Option<&Region>,
    bytes: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| put(bytes, given(region, "region")?.0.get()?.mapped.len()))
}

/// Starts to read a region: its bytes are valid, and nobody writes them, until
/// weft_region_end_read(). They are aligned for any of weft_type. Accesses to read nest. Blocks
/// while another rank writes.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_start_read(
    region: Option<&mut Region>,
    bytes: Option<&mut MaybeUninit<*const c_void>>,
) -> Status {
    call(|| {
        let (out, region) = (given(bytes, "the pointer for the result")?, mapping(region)?);
        let mut read = HeldRead::read(&region.mapped)?;
        out.write(read.get().as_ptr().cast());
        region.reads.push(read);
        Ok(())
    })
}

/// Ends the access to read that was started last. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_end_read(region: Option<&mut Region>) -> Status {
    call(|| {
        let region = mapping(region)?;
        let read = region.reads.pop();
        read.map(drop).ok_or_else(|| region.misuse(Misuse::NotStarted))
    })
}

/// Starts to write a region: this rank alone has its bytes, and may read and write them until
/// weft_region_end_write(). They hold what was written last. Blocks while another rank is in the
/// region.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_start_write(
    region: Option<&mut Region>,
    bytes: Option<&mut MaybeUninit<*mut c_void>>,
) -> Status {
    call(|| {
        let (out, region) = (given(bytes, "the pointer for the result")?, mapping(region)?);
        let mut write = HeldWrite::write(&region.mapped)?;
        out.write(write.get().as_mut_ptr().cast());
        region.write = Some(write);
        Ok(())
    })
}

/// Ends the access to write: others see what was written. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_end_write(region: Option<&mut Region>) -> Status {
    call(|| {
        let region = mapping(region)?;
        let write = region.write.take();
        write.map(drop).ok_or_else(|| region.misuse(Misuse::NotStarted))
    })
}

/// Asks for a copy to read before it is needed. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_prefetch(region: Option<&Region>) -> Status {
    call(|| Ok(given(region, "region")?.0.get()?.mapped.prefetch()?))
}

/// Gives up the copy that is here; what was written goes home. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_region_flush(region: Option<&Region>) -> Status {
    call(|| Ok(given(region, "region")?.0.get()?.mapped.flush()?))
}
