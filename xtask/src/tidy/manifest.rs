//! Cargo manifests, as far as the layer rule reads them.

use super::finding::Finding;
use super::tree::File;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A manifest and where it is.
pub struct Manifest {
    /// The folder, from the root, with forward slashes; empty for the root.
    pub folder: String,
    /// Parsed contents.
    pub contents: Contents,
    /// Text as it was written.
    text: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub struct Contents {
    package: Option<Package>,
    #[serde(default)]
    workspace: Workspace,
    lib: Option<Library>,
    #[serde(flatten)]
    always: Tables,
    /// Dependencies on some platforms only.
    #[serde(default)]
    target: BTreeMap<String, Tables>,
}

#[derive(Deserialize)]
struct Package {
    publish: Option<toml::Value>,
    version: Option<toml::Value>,
}

/// Target of a library, as far as its manifest speaks of it.
#[derive(Deserialize)]
struct Library {
    test: Option<bool>,
}

#[derive(Deserialize, Default)]
struct Workspace {
    package: Option<Package>,
    #[serde(default)]
    dependencies: BTreeMap<String, Dependency>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
struct Tables {
    #[serde(default)]
    dependencies: BTreeMap<String, Dependency>,
    #[serde(default)]
    build_dependencies: BTreeMap<String, Dependency>,
    #[serde(default)]
    dev_dependencies: BTreeMap<String, Dependency>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Dependency {
    Version(String),
    Detailed { path: Option<String>, version: Option<String>, workspace: Option<bool> },
}

/// A dependency of one crate of this repository on another.
#[derive(Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The folder of the crate depended on.
    pub to: String,
    /// The line of the manifest that says so.
    pub line: usize,
    /// True if only tests depend on it.
    pub dev: bool,
    /// The version that it has to have, where cargo finds it on a registry.
    pub version: Option<String>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// A [`Finding`] if it is none.
    pub fn parse(file: &File) -> Result<Self, Finding> {
        let folder = file.path.trim_end_matches("Cargo.toml").trim_end_matches('/').to_owned();
        match toml::from_str(&file.text) {
            Ok(contents) => Ok(Manifest { folder, contents, text: file.text.clone() }),
            Err(error) => Err(Finding {
                path: file.path.clone(),
                line: 1,
                rule: "layers",
                what: format!("this is no manifest: {}", error.message()),
                reason: "the layer rule is read from the manifests".into(),
            }),
        }
    }

    /// True if there is a package, and not only a workspace.
    pub fn is_package(&self) -> bool {
        self.contents.package.is_some()
    }

    /// True of a package that is for a registry.
    pub fn is_published(&self) -> bool {
        self.contents.package.as_ref().is_some_and(|package| package.publish.is_none())
    }

    /// The version of all packages, of the workspace's own manifest.
    pub fn common_version(&self) -> Option<&str> {
        self.contents.workspace.package.as_ref()?.version.as_ref()?.as_str()
    }

    /// True unless it says that the library has no tests of its own.
    pub fn tests_its_library(&self) -> bool {
        self.contents.lib.as_ref().and_then(|library| library.test).unwrap_or(true)
    }

    /// Path of the manifest.
    pub fn path(&self) -> String {
        join(&self.folder, "Cargo.toml")
    }

    /// The dependencies on crates of this repository; `root` is where inherited ones are.
    pub fn arrows(&self, root: Option<&Manifest>) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for tables in [&self.contents.always].into_iter().chain(self.contents.target.values()) {
            let kinds = [
                (&tables.dependencies, false),
                (&tables.build_dependencies, false),
                (&tables.dev_dependencies, true),
            ];
            for (dependencies, dev) in kinds {
                for (name, dependency) in dependencies {
                    let to = self.folder_of(name, dependency, root);
                    let line = self.line_of(name, dev);
                    let version = version_of(name, dependency, root);
                    arrows.extend(to.map(|to| Arrow { to, line, dev, version }));
                }
            }
        }
        arrows
    }

    /// The folder of a dependency, if it is one of ours.
    fn folder_of(
        &self,
        name: &str,
        dependency: &Dependency,
        root: Option<&Manifest>,
    ) -> Option<String> {
        match dependency {
            Dependency::Detailed { path: Some(path), .. } => Some(join(&self.folder, path)),
            Dependency::Detailed { workspace: Some(true), .. } => {
                let root = root?;
                let inherited = root.contents.workspace.dependencies.get(name)?;
                // The root inherits from nobody.
                root.folder_of(name, inherited, None)
            }
            _ => None,
        }
    }

    /// The line in a table of dependencies, of the right kind, that begins with `name`.
    fn line_of(&self, name: &str, dev: bool) -> usize {
        let mut kind = false;
        for (line, text) in (1..).zip(self.text.lines()) {
            let key = text.trim().trim_start_matches('[');
            if text.starts_with('[') {
                kind = text.contains("dev-dependencies") == dev && text.contains("dependencies");
                if kind && key.trim_end_matches(']').ends_with(&format!("dependencies.{name}")) {
                    return line;
                }
            } else if kind
                && key.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
            {
                return line;
            }
        }
        1
    }
}

/// The version that a dependency has to have, if one is said.
fn version_of(name: &str, dependency: &Dependency, root: Option<&Manifest>) -> Option<String> {
    match dependency {
        Dependency::Version(version) => Some(version.clone()),
        Dependency::Detailed { workspace: Some(true), .. } => {
            version_of(name, root?.contents.workspace.dependencies.get(name)?, None)
        }
        Dependency::Detailed { version, .. } => version.clone(),
    }
}

/// `path` seen from `folder`, without `.` and `..`.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests;
