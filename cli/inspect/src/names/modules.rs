//! Files that are mapped to where a process runs: how to unwind frames of their functions, and what
//! is where in them.

use crate::names::{Frame, Line};
use addr2line::Loader;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{FrameAddress, Module, ModuleSectionInfo, Unwinder as _};
use object::elf::PF_X;
use object::{Object as _, ObjectSection as _, ObjectSegment as _, ReadCache, SegmentFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use weft_launch::stack::{Identity, MappedFile, Registers, Stack, identity_of};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// All files of a process.
pub(crate) struct Modules<'a> {
    files: Vec<Known<'a>>,
    unwinder: UnwinderX86_64<Vec<u8>>,
}

/// A file whose instructions can be told.
struct Known<'a> {
    file: &'a MappedFile,
    addresses: Range<u64>,
    /// Difference between addresses in the process and in the file.
    bias: u64,
}

/// Instruction of a frame.
pub(crate) struct Place<'a> {
    file: &'a MappedFile,
    /// Address as the file counts.
    address: u64,
}

/// Names of what is in files: those that somebody has asked for, and `None` where there are none.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<Identity, Option<Loader>>);

impl Names {
    /// Function at a place, if there is a name for it. One that was inlined counts as that into
    /// which it was.
    pub fn frame_at(&mut self, place: &Place<'_>) -> Option<Frame> {
        let Place { file, address } = place;
        let names = self.0.entry(file.identity);
        let names = names.or_insert_with(|| Loader::new(path_of(file)?).ok()).as_ref()?;
        // Debugging information may leave out where in the program a name belongs.
        let function = names.find_symbol(*address).map(demangled);
        let (name, line) = known(names, *address).unwrap_or_default();
        let file = file.paths[0].file_name()?.to_string_lossy().into_owned();
        Some(Frame { function: function.or(name)?, line, file })
    }
}

/// The path at which a file still is.
fn path_of(file: &MappedFile) -> Option<&Path> {
    let is_there = |path: &&PathBuf| identity_of(path) == Some(file.identity);
    file.paths.iter().find(is_there).map(PathBuf::as_path)
}

impl<'a> Modules<'a> {
    /// The files of a process. Those that cannot be read are as if they were not there.
    pub fn of(files: &'a [MappedFile]) -> Self {
        let mut modules = Modules { files: Vec::new(), unwinder: UnwinderX86_64::new() };
        for file in files {
            modules.add(file);
        }
        modules
    }

    /// Adds a file, unless it is none that can be used.
    fn add(&mut self, mapped: &'a MappedFile) -> Option<()> {
        let path = path_of(mapped)?;
        let bytes = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&bytes).ok()?;
        let mapping = mapped.mappings.iter().find(|mapping| mapping.runs)?;
        let segment = file.segments().find(|segment| {
            let SegmentFlags::Elf { p_flags } = segment.flags() else { return false };
            let (start, size) = segment.file_range();
            let pages = start / PAGE * PAGE..start + size;
            p_flags & PF_X != 0 && pages.contains(&mapping.offset)
        })?;
        let in_file = segment.address().wrapping_sub(segment.file_range().0);
        let bias = mapping.addresses.start.wrapping_sub(mapping.offset.wrapping_add(in_file));
        let start = mapped.mappings.iter().map(|mapping| mapping.addresses.start).min()?;
        let end = mapped.mappings.iter().map(|mapping| mapping.addresses.end).max()?;
        let name = path.display().to_string();
        self.unwinder.add_module(Module::new(name, start..end, bias, Sections(&file)));
        self.files.push(Known { file: mapped, addresses: start..end, bias });
        Some(())
    }

    /// Places of the instructions that a thread with this stack was at, in each of its frames, the
    /// innermost first.
    pub fn unwind(&self, stack: &Stack, most: usize) -> Vec<Place<'a>> {
        let Registers { instruction, stack: end, frame } = stack.registers;
        let start = UnwindRegsX86_64::new(instruction, end, frame);
        let mut cache = CacheX86_64::<_>::new();
        let mut read = |address| stack.word(address).ok_or(());
        let mut frames = self.unwinder.iter_frames(instruction, start, &mut cache, &mut read);
        let next = || frames.next().ok().flatten();
        let addresses = std::iter::from_fn(next).take(most).map(FrameAddress::address_for_lookup);
        addresses.filter_map(|address| self.place_of(address)).collect()
    }

    /// Place of an address, if it is in a file.
    fn place_of(&self, address: u64) -> Option<Place<'a>> {
        let known = self.files.iter().find(|known| known.addresses.contains(&address))?;
        Some(Place { file: known.file, address: address.wrapping_sub(known.bias) })
    }
}

/// Name and line of the function at an address of a file, as far as its debugging information has
/// them: where that is lines alone, it has no name of a function into which nothing was inlined.
fn known(names: &Loader, address: u64) -> Option<(Option<String>, Option<Line>)> {
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
    let name = frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned()));
    Some((name, line))
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
