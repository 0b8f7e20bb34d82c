//! Files that are mapped to where a process runs: how to unwind frames of their functions, and what
//! is where in them.

use crate::stopped::Registers;
use crate::{Frame, Line};
use addr2line::Loader;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{FrameAddress, Module, ModuleSectionInfo, Unwinder as _};
use object::elf::PF_X;
use object::{Object as _, ObjectSection as _, ObjectSegment as _, ReadCache, SegmentFlags};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// All files of a process.
pub(crate) struct Modules {
    files: Vec<Mapped>,
    unwinder: UnwinderX86_64<Vec<u8>>,
}

/// A file that is mapped.
struct Mapped {
    origin: Arc<Origin>,
    addresses: Range<u64>,
    /// Difference between addresses in the process and in the file.
    bias: u64,
}

/// A file, and how to find it.
#[derive(Debug)]
struct Origin {
    /// Paths at which it is, in this order: as the process sees it, while that runs, and as this
    /// one does.
    paths: [PathBuf; 2],
    /// Its device and number there.
    identity: Identity,
}

/// Device and number of a file.
type Identity = (u64, u64);

impl Origin {
    /// The path at which the file still is.
    fn path(&self) -> Option<&Path> {
        let is_there = |path: &&PathBuf| identity_of(path) == Some(self.identity);
        self.paths.iter().find(is_there).map(PathBuf::as_path)
    }
}

fn identity_of(path: &Path) -> Option<Identity> {
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// Instruction of a frame.
#[derive(Debug)]
pub(crate) struct Place {
    file: Arc<Origin>,
    /// Address as the file counts.
    address: u64,
}

/// Names of what is in files: those that somebody has asked for, and `None` where there are none.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<Identity, Option<Loader>>);

impl Names {
    /// Function at a place, if there is a name for it. One that was inlined counts as that into
    /// which it was.
    pub fn frame_at(&mut self, place: &Place) -> Option<Frame> {
        let Place { file, address } = place;
        let names = self.0.entry(file.identity);
        let names = names.or_insert_with(|| Loader::new(file.path()?).ok()).as_ref()?;
        // Debugging information may leave out where in the program a name belongs.
        let function = names.find_symbol(*address).map(demangled);
        let (name, line) = known(names, *address).unzip();
        let file = file.paths[0].file_name()?.to_string_lossy().into_owned();
        Some(Frame { function: function.or(name)?, line: line.flatten(), file })
    }
}

impl Modules {
    /// The files of the process of this thread. Those that cannot be read are as if they were not
    /// there.
    pub fn of(thread: u32) -> io::Result<Self> {
        let maps = fs::read_to_string(format!("/proc/{thread}/maps"))?;
        let root = PathBuf::from(format!("/proc/{thread}/root"));
        let mut all: BTreeMap<&str, Vec<Mapping>> = BTreeMap::new();
        for (name, mapping) in maps.lines().filter_map(mapping) {
            all.entry(name).or_default().push(mapping);
        }
        let mut modules = Modules { files: Vec::new(), unwinder: UnwinderX86_64::new() };
        for (name, mappings) in all {
            if mappings.iter().any(|mapping| mapping.runs) {
                // As the process sees it, which may be in a container.
                let path = root.join(name.trim_start_matches('/'));
                modules.add([path, name.into()], &mappings);
            }
        }
        Ok(modules)
    }

    /// Adds a file, unless it is none that can be used.
    fn add(&mut self, paths: [PathBuf; 2], mappings: &[Mapping]) -> Option<()> {
        let identity = identity_of(&paths[0])?;
        let bytes = ReadCache::new(File::open(&paths[0]).ok()?);
        let file = object::File::parse(&bytes).ok()?;
        let mapping = mappings.iter().find(|mapping| mapping.runs)?;
        let segment = file.segments().find(|segment| {
            let SegmentFlags::Elf { p_flags } = segment.flags() else { return false };
            let (start, size) = segment.file_range();
            let pages = start / PAGE * PAGE..start + size;
            p_flags & PF_X != 0 && pages.contains(&mapping.offset)
        })?;
        let in_file = segment.address().wrapping_sub(segment.file_range().0);
        let bias = mapping.addresses.start.wrapping_sub(mapping.offset.wrapping_add(in_file));
        let start = mappings.iter().map(|mapping| mapping.addresses.start).min()?;
        let end = mappings.iter().map(|mapping| mapping.addresses.end).max()?;
        let name = paths[0].display().to_string();
        self.unwinder.add_module(Module::new(name, start..end, bias, Sections(&file)));
        let origin = Arc::new(Origin { paths, identity });
        self.files.push(Mapped { origin, addresses: start..end, bias });
        Some(())
    }

    /// Addresses of the instructions that a thread with these registers is at, in each of its
    /// frames, the innermost first. `word` reads its memory.
    pub fn unwind(
        &self,
        registers: Registers,
        word: &mut dyn FnMut(u64) -> Option<u64>,
        most: usize,
    ) -> Vec<u64> {
        let Registers { instruction, stack, frame } = registers;
        let start = UnwindRegsX86_64::new(instruction, stack, frame);
        let mut cache = CacheX86_64::<_>::new();
        let mut read = |address| word(address).ok_or(());
        let mut frames = self.unwinder.iter_frames(instruction, start, &mut cache, &mut read);
        let next = || frames.next().ok().flatten();
        std::iter::from_fn(next).take(most).map(FrameAddress::address_for_lookup).collect()
    }

    /// Place of an address, if it is in a file.
    pub fn place_of(&self, address: u64) -> Option<Place> {
        let file = self.files.iter().find(|file| file.addresses.contains(&address))?;
        Some(Place { file: file.origin.clone(), address: address.wrapping_sub(file.bias) })
    }
}

/// Name and line of the function at an address of a file, by its debugging information.
fn known(names: &Loader, address: u64) -> Option<(String, Option<Line>)> {
    let mut frames = names.find_frames(address).ok()?;
    let mut outermost = None;
    while let Ok(Some(frame)) = frames.next() {
        outermost = Some(frame);
    }
    let frame = outermost?;
    let line = frame.location.and_then(|location| {
        let file = Path::new(location.file?).file_name()?.to_string_lossy().into_owned();
        Some(Line { file, number: location.line? })
    });
    Some((frame.function?.demangle().ok()?.into_owned(), line))
}

fn demangled(symbol: &str) -> String {
    addr2line::demangle_auto(symbol.into(), None).into_owned()
}

/// Sections of a file that say how to unwind.
struct Sections<'f, 'd>(&'f object::File<'d, &'d ReadCache<File>>);

impl ModuleSectionInfo<Vec<u8>> for Sections<'_, '_> {
    fn base_svma(&self) -> u64 {
        0
    }

    fn section_svma_range(&mut self, name: &[u8]) -> Option<Range<u64>> {
        let section = self.0.section_by_name_bytes(name)?;
        Some(section.address()..section.address() + section.size())
    }

    fn section_data(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        Some(self.0.section_by_name_bytes(name)?.uncompressed_data().ok()?.into_owned())
    }
}

/// Part of a file that is mapped.
struct Mapping {
    addresses: Range<u64>,
    /// Offset in the file.
    offset: u64,
    /// True if its bytes are instructions.
    runs: bool,
}

/// The path and the mapping in a line of `/proc/PID/maps`, if it is of a file.
fn mapping(line: &str) -> Option<(&str, Mapping)> {
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (addresses, rest) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let (rights, rest) = rest.split_once(' ')?;
    let (offset, _) = rest.split_once(' ')?;
    let name = &line[line.find('/')?..];
    let addresses = number(start)?..number(end)?;
    Some((name, Mapping { addresses, offset: number(offset)?, runs: rights.contains('x') }))
}

#[cfg(test)]
mod tests;
