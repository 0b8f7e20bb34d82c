//! The language server: diagnostics as a file is written, and the places where names are declared,
//! for editors that speak the Language Server Protocol, over standard input and output.
//!
//! A file is checked alone, as a program; if it imports what it does not have, together with the
//! other files of its folder that have no `OrcaMain`.

mod definitions;
mod positions;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use lsp_server::{Connection, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{GotoDefinition, Request as _};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, GotoDefinitionParams, Location,
    NumberOrString, OneOf, PublishDiagnosticsParams, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};

use crate::Program;
use crate::diagnostics::{self, Code};
use crate::front_end;
use crate::source::{Sources, Span};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Serves an editor over standard input and output, until it says that it is done.
///
/// # Errors
/// The editor breaks off, or speaks something else.
pub fn serve() -> Result<()> {
    let (connection, threads) = Connection::stdio();
    serve_over(&connection)?;
    drop(connection);
    threads.join()?;
    Ok(())
}

/// Serves an editor over a connection.
///
/// # Errors
/// Those of [`serve`].
pub fn serve_over(connection: &Connection) -> Result<()> {
    let capabilities = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        definition_provider: Some(OneOf::Left(true)),
        ..Default::default()
    };
    connection.initialize(serde_json::to_value(capabilities)?)?;
    let mut server = Server { connection, open: BTreeMap::new() };
    for message in &connection.receiver {
        match message {
            Message::Request(request) if connection.handle_shutdown(&request)? => return Ok(()),
            Message::Request(request) => server.request(request)?,
            Message::Notification(notification) => server.notification(notification)?,
            Message::Response(_) => {}
        }
    }
    Ok(())
}

struct Server<'c> {
    connection: &'c Connection,
    /// Texts of the files that are being written, by their addresses.
    open: BTreeMap<String, String>,
}

/// A file that was checked, and those that were checked with it.
struct Checked {
    sources: Sources,
    /// Addresses of the files, in the order of the sources.
    addresses: Vec<Uri>,
    result: std::result::Result<Program, Vec<diagnostics::Diagnostic>>,
}

impl Server<'_> {
    fn notification(&mut self, notification: Notification) -> Result<()> {
        let Notification { method, params } = notification;
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let opened: DidOpenTextDocumentParams = serde_json::from_value(params)?;
                self.written(opened.text_document.uri, opened.text_document.text)
            }
            DidChangeTextDocument::METHOD => {
                let changed: DidChangeTextDocumentParams = serde_json::from_value(params)?;
                match changed.content_changes.into_iter().last() {
                    Some(change) => self.written(changed.text_document.uri, change.text),
                    None => Ok(()),
                }
            }
            DidCloseTextDocument::METHOD => {
                let closed: DidCloseTextDocumentParams = serde_json::from_value(params)?;
                self.open.remove(closed.text_document.uri.as_str());
                self.publish(closed.text_document.uri, Vec::new())
            }
            _ => Ok(()),
        }
    }

    /// A file has a new text, whose diagnostics are shown.
    fn written(&mut self, address: Uri, text: String) -> Result<()> {
        self.open.insert(address.as_str().to_owned(), text);
        let checked = self.check(&address);
        let shown = match &checked.result {
            Ok(_) => Vec::new(),
            Err(found) => {
                let own = found.iter().filter(|one| checked.address(one.at.0) == Some(&address));
                own.map(|one| checked.shown(one)).collect()
            }
        };
        self.publish(address, shown)
    }

    fn publish(&self, uri: Uri, diagnostics: Vec<Diagnostic>) -> Result<()> {
        let params = PublishDiagnosticsParams { uri, diagnostics, version: None };
        let notification = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
        self.connection.sender.send(Message::Notification(notification))?;
        Ok(())
    }

    fn request(&mut self, request: Request) -> Result<()> {
        let Request { id, method, params } = request;
        let response = match method.as_str() {
            GotoDefinition::METHOD => {
                let asked: GotoDefinitionParams = serde_json::from_value(params)?;
                Response::new_ok(id, self.definition(&asked))
            }
            _ => {
                let code = lsp_server::ErrorCode::MethodNotFound as i32;
                Response::new_err(id, code, format!("`{method}` is not served"))
            }
        };
        self.connection.sender.send(Message::Response(response))?;
        Ok(())
    }

    /// The place where what is named at a place is declared.
    fn definition(&self, asked: &GotoDefinitionParams) -> Option<Location> {
        let at = &asked.text_document_position_params;
        let checked = self.check(&at.text_document.uri);
        let program = checked.result.as_ref().ok()?;
        let file = checked.sources.ids().next()?;
        let text = &checked.sources.file(file).text;
        let offset = positions::offset(text, at.position);
        checked.location(definitions::definition(&checked.sources, program, file, offset)?)
    }

    fn check(&self, address: &Uri) -> Checked {
        let alone = self.checked(vec![address.clone()]);
        let imports = match &alone.result {
            Err(found) => found.iter().any(|one| one.code == Code::Import),
            Ok(_) => false,
        };
        if !imports {
            return alone;
        }
        let others = path(address).and_then(|path| neighbours(&path)).unwrap_or_default();
        self.checked([vec![address.clone()], others].concat())
    }

    fn checked(&self, addresses: Vec<Uri>) -> Checked {
        let mut sources = Sources::default();
        let mut added = Vec::new();
        for address in addresses {
            let open = self.open.get(address.as_str()).cloned();
            let path = path(&address);
            let read = || std::fs::read_to_string(path.as_ref()?).ok();
            let name =
                path.as_ref().map_or(address.as_str().to_owned(), |p| p.display().to_string());
            if let Some(text) = open.or_else(read)
                && sources.add(&name, text).is_ok()
            {
                added.push(address);
            }
        }
        let result = front_end(&sources);
        Checked { sources, addresses: added, result }
    }
}

impl Checked {
    fn address(&self, span: Span) -> Option<&Uri> {
        let mut files = self.sources.ids().zip(&self.addresses);
        files.find(|(file, _)| *file == span.file.original()).map(|(_, address)| address)
    }

    fn location(&self, span: Span) -> Option<Location> {
        let range = positions::range(&self.sources.file(span.file).text, span);
        Some(Location { uri: self.address(span)?.clone(), range })
    }

    /// A diagnostic as editors show it.
    fn shown(&self, found: &diagnostics::Diagnostic) -> Diagnostic {
        let (at, label) = &found.at;
        let help = found.help.as_ref().map(|help| format!("\nHelp: {help}")).unwrap_or_default();
        let others = found.others.iter().filter_map(|(span, label)| {
            let location = self.location(*span)?;
            Some(DiagnosticRelatedInformation { location, message: label.clone() })
        });
        Diagnostic {
            range: positions::range(&self.sources.file(at.file).text, *at),
            severity: Some(DiagnosticSeverity::ERROR),
            code: Some(NumberOrString::String(found.code.to_string())),
            source: Some("orcac".to_owned()),
            message: format!("{}: {label}{help}", found.message),
            related_information: Some(others.collect()),
            ..Default::default()
        }
    }
}

/// The file at an address, if it is one of this computer's.
fn path(address: &Uri) -> Option<PathBuf> {
    let path = address.as_str().strip_prefix("file://")?;
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Addresses of the other files of a folder that are no programs by themselves.
fn neighbours(path: &Path) -> Option<Vec<Uri>> {
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    let mut others: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    others.sort();
    let is_part = |other: &PathBuf| {
        other != path
            && other.extension().is_some_and(|ending| ending == "orca")
            && std::fs::read_to_string(other).is_ok_and(|text| !text.contains("OrcaMain"))
    };
    let address = |other: PathBuf| format!("file://{}", other.display()).parse().ok();
    Some(others.into_iter().filter(is_part).filter_map(address).collect())
}
