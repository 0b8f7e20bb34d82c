//! Libraries of a program, found where the loader finds them, by what is written in the files. No
//! program is run for that, nor the loader that it names: it may be anybody's.

use std::collections::{BTreeSet, VecDeque};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH};
use object::read::elf::ElfFile64;
use object::{Architecture, Endianness, Object as _, ReadCache};

/// Libraries that are looked at: no program has as many.
const LIBRARIES_MAX: usize = 4096;

/// The loader's index of libraries, and the folders that it searches last.
const INDEX: &str = "/etc/ld.so.cache";
const FOLDERS: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];
/// Beginning of the index, and bytes of its heading and of an entry.
const INDEX_MARK: &[u8] = b"glibc-ld.so.cache1.1";
const HEADING_BYTES: usize = 48;
const ENTRY_BYTES: usize = 24;

/// Library that a program needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Its name.
    pub name: String,
    /// The file that the loader takes, if it finds one.
    pub path: Option<PathBuf>,
}

/// All libraries that a program needs, and that those need, each once; none of what is no program
/// of the system's, such as a script.
pub fn libraries_of(file: &Path) -> Vec<Needed> {
    let search = Search {
        said: folders(env::var_os("LD_LIBRARY_PATH").unwrap_or_default().as_bytes(), None),
        index: fs::read(INDEX).unwrap_or_default(),
    };
    let mut all: Vec<Needed> = Vec::new();
    let mut known = BTreeSet::new();
    let mut unread: VecDeque<_> = Object::read(file, &[]).into_iter().collect();
    while let Some(object) = unread.pop_front() {
        for name in &object.needed {
            if all.len() >= LIBRARIES_MAX || !known.insert(name.clone()) {
                continue;
            }
            let found = search.find(name, &object);
            let path = found.as_ref().map(|(path, _)| path.clone());
            all.push(Needed { name: name.clone(), path });
            unread.extend(found.map(|(_, object)| object));
        }
    }
    all
}

/// Facts about a program or a library.
#[derive(Debug)]
struct Object {
    architecture: Architecture,
    needed: Vec<String>,
    /// Folders for what it needs, and for what that needs in turn: its own and those of the ones
    /// that need it.
    inherited: Vec<PathBuf>,
    /// Folders for what it needs itself. If there are any its own are not inherited.
    own: Vec<PathBuf>,
}

impl Object {
    fn read(path: &Path, inherited: &[PathBuf]) -> Option<Self> {
        let bytes = ReadCache::new(File::open(path).ok()?);
        let file = ElfFile64::<Endianness, _>::parse(&bytes).ok()?;
        let table = file.elf_dynamic_table().ok()?;
        let texts = |tag: i64| {
            let tagged = table.iter().filter(move |entry| entry.tag == tag);
            tagged.filter_map(|entry| table.string(entry).ok()).collect::<Vec<_>>()
        };
        let origin = path.parent();
        let in_folders = |tag| texts(tag).into_iter().flat_map(|list| folders(list, origin));
        let own: Vec<_> = in_folders(DT_RUNPATH).collect();
        let old = in_folders(DT_RPATH).filter(|_| own.is_empty());
        let needed = texts(DT_NEEDED).into_iter();
        Some(Object {
            architecture: file.architecture(),
            needed: needed.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            inherited: old.chain(inherited.iter().cloned()).collect(),
            own,
        })
    }
}

/// Places that are searched for all programs.
struct Search {
    /// Folders that the environment names.
    said: Vec<PathBuf>,
    index: Vec<u8>,
}

impl Search {
    /// The first library of that name that is for the same machine as `of`, which needs it.
    fn find(&self, name: &str, of: &Object) -> Option<(PathBuf, Object)> {
        let inherited = if of.own.is_empty() { &of.inherited[..] } else { &[] };
        let before = inherited.iter().chain(&self.said).chain(&of.own).map(|it| it.join(name));
        let after = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
        let anywhere = || before.chain(indexed(&self.index, name)).chain(after);
        let paths: Box<dyn Iterator<Item = PathBuf>> = match name.contains('/') {
            true => Box::new(std::iter::once(name.into())),
            false => Box::new(anywhere()),
        };
        let mut objects = paths.filter_map(|path| {
            let object = Object::read(&path, &of.inherited)?;
            (object.architecture == of.architecture).then_some((path, object))
        });
        objects.next()
    }
}

/// Folders of a list with colons between them; `$ORIGIN` is the folder of the file that has it.
fn folders(list: &[u8], origin: Option<&Path>) -> Vec<PathBuf> {
    let folder = |text: &[u8]| {
        let rest = [&b"$ORIGIN"[..], b"${ORIGIN}"].iter().find_map(|it| text.strip_prefix(*it));
        match (rest, origin) {
            (Some(rest), Some(origin)) => {
                let rest = rest.strip_prefix(b"/").unwrap_or(rest);
                origin.join(OsStr::from_bytes(rest))
            }
            _ => PathBuf::from(OsStr::from_bytes(text)),
        }
    };
    let texts = list.split(|byte| matches!(byte, b':' | b';'));
    texts.filter(|text| !text.is_empty()).map(folder).collect()
}

/// Paths that the loader's index has under a name.
fn indexed<'a>(index: &'a [u8], name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    // An older index may stand before it.
    let begin = index.windows(INDEX_MARK.len()).position(|bytes| bytes == INDEX_MARK);
    let index = begin.map_or(&[][..], |begin| &index[begin..]);
    let number = |bytes: &[u8], at: usize| {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let text = |at: usize| index.get(at..)?.split(|&byte| byte == 0).next();
    let count = number(index, INDEX_MARK.len()).unwrap_or(0);
    let entries = index.get(HEADING_BYTES..).unwrap_or(&[]).chunks_exact(ENTRY_BYTES).take(count);
    entries.filter_map(move |entry| {
        // Flags come first, then where its name is, and where its path.
        let is_it = text(number(entry, 4)?)? == name.as_bytes();
        is_it.then(|| text(number(entry, 8)?).map(|path| OsStr::from_bytes(path).into()))?
    })
}

#[cfg(test)]
mod tests;
