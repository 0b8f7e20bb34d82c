//! The table of ranks on a terminal.

use super::rates::{COLUMNS, Order, Rate, Rates, bytes};
use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table, TableState};
use weft_launch::RankState;

const KEYS: &str =
    "q end   s sort by the next column   o turn round   ↑↓ choose   enter details   r record 2 s";

/// State of the screen.
pub(crate) struct View {
    job: u32,
    order: Order,
    rates: Rates,
    chosen: TableState,
    has_details: bool,
    /// Line about a recording, instead of the keys.
    says: Option<String>,
}

impl View {
    /// A screen for this job, of which nothing is known yet.
    pub fn new(job: u32, order: Order) -> Self {
        View {
            job,
            order,
            rates: Rates::default(),
            chosen: TableState::default(),
            has_details: false,
            says: None,
        }
    }

    /// Shows these rates from now on.
    pub fn show(&mut self, rates: Rates) {
        self.rates = rates;
        self.rates.sort(self.order);
    }

    /// Says this below the table, until a key is pressed.
    pub fn say(&mut self, line: String) {
        self.says = Some(line);
    }

    /// A key was pressed.
    pub fn press(&mut self, key: KeyCode) {
        self.says = None;
        match key {
            KeyCode::Char('s') => {
                let at = COLUMNS.iter().position(|(column, _)| *column == self.order.by);
                self.order.by = COLUMNS[(at.unwrap_or_default() + 1) % COLUMNS.len()].0;
                // Of all but the rank the largest is what one looks for.
                self.order.descends = self.order.by != COLUMNS[0].0;
            }
            KeyCode::Char('o') => self.order.descends = !self.order.descends,
            KeyCode::Down => self.chosen.select_next(),
            KeyCode::Up => self.chosen.select_previous(),
            KeyCode::Enter => self.has_details = !self.has_details,
            _ => {}
        }
        self.rates.sort(self.order);
    }

    /// Draws all of it.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let details = if self.has_details { 8 } else { 0 };
        let parts = [
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(details),
            Constraint::Length(1),
        ];
        let [title, table, below, keys] = Layout::vertical(parts).areas(frame.area());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let line = format!("weft top: job {}: {}", self.job, self.rates.title());
        frame.render_widget(Line::styled(line, bold), title);
        frame.render_stateful_widget(table_of(&self.rates, self.order), table, &mut self.chosen);
        if self.has_details {
            let chosen = self.chosen.selected().unwrap_or_default();
            let text = self.rates.ranks.get(chosen).map(details_of).unwrap_or_default();
            frame.render_widget(Paragraph::new(text).block(Block::bordered()), below);
        }
        let last = match &self.says {
            Some(says) => Line::styled(says.as_str(), bold),
            None => Line::styled(KEYS, Style::new().fg(Color::DarkGray)),
        };
        frame.render_widget(last, keys);
    }
}

fn table_of(rates: &Rates, order: Order) -> Table<'_> {
    let names = COLUMNS.iter().map(|(column, name)| {
        let mark = if order.descends { "▼" } else { "▲" };
        let sorted = *column == order.by;
        Cell::new(
            Text::from(if sorted { format!("{mark}{name}") } else { (*name).into() })
                .right_aligned(),
        )
    });
    let header = Row::new(names.chain([Cell::new("state")]));
    let header = header.style(Style::new().add_modifier(Modifier::REVERSED));
    let rows = rates.ranks.iter().map(|rate| {
        let cells = rate.cells().map(|cell| Cell::new(Text::from(cell).right_aligned()));
        Row::new(cells.into_iter().chain([Cell::new(rate.state())])).style(style_of(rate))
    });
    let widths = COLUMNS.map(|_| Constraint::Length(10)).into_iter().chain([Constraint::Min(20)]);
    Table::new(rows, widths)
        .header(header)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
}

/// A rank that others may have to wait for is to be seen at once.
fn style_of(rate: &Rate) -> Style {
    let is_stopped = rate.now.state == RankState::Stopped;
    let waits_long = rate.now.since.is_some_and(|since| since >= 1.0);
    match (is_stopped, waits_long) {
        (true, _) => Style::new().fg(Color::Red),
        (_, true) => Style::new().fg(Color::Yellow),
        _ => Style::new(),
    }
}

/// All of a rank.
fn details_of(rate: &Rate) -> Text<'static> {
    let now = &rate.now;
    let counts = now.counts.unwrap_or_default();
    let host = now.host.as_ref().map_or(String::new(), |host| format!(" on {host}"));
    let (sent, received) = (counts.bytes_sent as f64, counts.bytes_received as f64);
    let (sent, received) = (bytes(sent), bytes(received));
    Text::from(vec![
        Line::from(format!("rank {}, process {}{host}: {}", now.rank, now.process, rate.state())),
        Line::from(format!("sent      {} packets, {sent} bytes", counts.packets_sent)),
        Line::from(format!("received  {} packets, {received} bytes", counts.packets_received)),
        Line::from(format!(
            "waited for credits {} times, sent again {} packets",
            counts.blocked_sends, counts.retransmissions
        )),
        Line::from(format!("interrupts {}, sleeps {}", counts.interrupts, counts.sleeps)),
        Line::from(format!(
            "processor {:.2} s, memory {}",
            now.processor_seconds,
            bytes(now.memory_bytes as f64)
        )),
    ])
}

#[cfg(test)]
mod tests;
