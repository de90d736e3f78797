//! The choices of the user: the view, its order and scale, the picture and the step that are looked
//! at, and the typed text.
//!
//! Only [`ViewState::press`] gives keys a meaning. Choices about the screen itself are made there;
//! any other key is a [`ScreenAct`]. The caller carries out the act, and puts the answer into
//! `message`.
//!
//! A key that moves a selection does not know what there is to select. The next frame does: it
//! applies the moves and returns the new positions ([`Positions`]), which the caller passes to
//! [`ViewState::settle`].

use crate::key::Key;
use crate::prompt::{Asked, Prompt, PromptEffect};
use crate::view::View;
use drumfire_report::screen::{Order, StepPlace};

/// The factors of one press of `+` and `-`.
const MORE: f64 = 1.1;
const LESS: f64 = 1.0 / MORE;
/// The number of rows or points of one press of the page keys.
const PAGE: usize = 10;

/// An effect of a key beyond the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScreenAct {
    /// Requests the run's end.
    End,
    /// Pauses or resumes the load.
    Pause,
    /// Multiplies the load.
    Scale(f64),
    /// Marks the moment.
    Mark(String),
    /// Copies the report to the clipboard.
    Copy,
    /// Copies the address of the run's page to the clipboard.
    CopyPage,
    /// Saves the report as Markdown.
    Save,
    /// Keeps the screen after the run's end, or no longer.
    Stay,
}

/// A selection: where it was in the newest frame, and the moves since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Selection<T> {
    /// The position; `None` before the first move.
    pub(crate) at: Option<T>,
    /// The moves that no frame has applied yet.
    pub(crate) moves: isize,
}

impl<T> Default for Selection<T> {
    fn default() -> Self {
        Self { at: None, moves: 0 }
    }
}

/// The positions in a frame, which corrects those beyond an end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Positions {
    /// The first visible row of text.
    pub(crate) scroll: usize,
    /// The cursor in a full picture, along its x axis; for bars, the number of the bar.
    pub(crate) cursor: Option<f64>,
    /// The selected step.
    pub(crate) selected: Option<StepPlace>,
    /// The picture that is full, as a number among those that the run has.
    pub(crate) full: Option<isize>,
}

/// The state that keys change.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewState {
    pub(crate) view: View,
    /// Whether only the newest intervals are shown over time.
    pub(crate) is_recent: bool,
    /// Whether the screen shows a past moment.
    pub(crate) is_frozen: bool,
    pub(crate) order: Order,
    /// The text that the names of shown steps contain.
    pub(crate) filter: String,
    /// The first visible row of text.
    pub(crate) scroll: usize,
    /// The picture that has the whole view, as a number among those that the run has. It may be
    /// beyond both ends, since a key does not know their number.
    pub(crate) full: Option<isize>,
    /// The cursor in the full picture.
    pub(crate) cursor: Selection<f64>,
    /// The row of the table of steps.
    pub(crate) selected: Selection<StepPlace>,
    /// The step whose pictures are shown; `None` means all steps.
    pub(crate) step: Option<StepPlace>,
    /// The number of pools, and the pool that keys change; `None` means all pools.
    pub(crate) pools: u16,
    pub(crate) pool: Option<u16>,
    pub(crate) is_help: bool,
    pub(crate) prompt: Option<Prompt>,
    /// The answer to the last key, until the next one.
    pub(crate) message: Option<String>,
    /// The key before the next one.
    pub(crate) last_key: Option<Key>,
}

impl ViewState {
    /// Handles a key.
    pub(crate) fn press(&mut self, key: Key) -> Option<ScreenAct> {
        self.message = None;
        let last_key = self.last_key.replace(key);
        if self.prompt.is_some() {
            return self.type_in(key);
        }
        if self.is_help {
            self.is_help = false;
            // The key that ends the run works everywhere.
            return (key == Key::Char('q')).then_some(ScreenAct::End);
        }
        if self.full.is_some() && self.look_at_picture(key) {
            return None;
        }
        match key {
            Key::Char('q') => return Some(ScreenAct::End),
            Key::Char('p' | ' ') => return Some(ScreenAct::Pause),
            Key::Char('+' | '=') => return Some(ScreenAct::Scale(MORE)),
            Key::Char('-' | '_') => return Some(ScreenAct::Scale(LESS)),
            Key::Char('y') if last_key == Some(key) => return Some(ScreenAct::CopyPage),
            Key::Char('y') => return Some(ScreenAct::Copy),
            Key::Char('s') => return Some(ScreenAct::Save),
            Key::Char('S') => return Some(ScreenAct::Stay),
            Key::Char('m') => self.prompt = Some(Prompt::new(Asked::Mark)),
            Key::Char('/') => {
                self.show(View::Steps);
                self.prompt = Some(Prompt::new(Asked::Filter));
            }
            Key::Char('o') => {
                self.show(View::Steps);
                self.order = self.order.next();
                self.message = Some(format!("steps: {}", self.order.words()));
            }
            Key::Char('t') => self.is_recent = !self.is_recent,
            Key::Char('f') => self.is_frozen = !self.is_frozen,
            Key::Char('P') => self.next_pool(),
            Key::Char('?' | 'h') => self.is_help = true,
            Key::Char(digit @ '1'..='6') => self.show(View::ALL[digit as usize - '1' as usize]),
            Key::Tab | Key::Right => self.show(self.view.moved(1)),
            Key::BackTab | Key::Left => self.show(self.view.moved(-1)),
            Key::Down | Key::Char('j') => self.step_down(1),
            Key::Up | Key::Char('k') => self.step_up(1),
            Key::PageDown => self.step_down(PAGE),
            Key::PageUp => self.step_up(PAGE),
            Key::Enter if self.view == View::Steps => self.choose_step(),
            Key::Enter => {
                self.full = Some(0);
                self.cursor = Selection::default();
            }
            Key::Escape => self.step = None,
            Key::Char(_) | Key::Backspace => {}
        }
        None
    }

    /// Handles the keys of a full picture; `false` for any other key.
    fn look_at_picture(&mut self, key: Key) -> bool {
        let page = PAGE.cast_signed();
        match key {
            Key::Left => self.cursor.moves -= 1,
            Key::Right => self.cursor.moves += 1,
            Key::PageUp => self.cursor.moves -= page,
            Key::PageDown => self.cursor.moves += page,
            Key::Up | Key::Char('k') => self.show_picture(-1),
            Key::Down | Key::Char('j') => self.show_picture(1),
            Key::Enter | Key::Escape => self.full = None,
            _ => return false,
        }
        true
    }

    /// Shows the picture `by` positions further.
    fn show_picture(&mut self, by: isize) {
        self.full = Some(self.full.unwrap_or(0).saturating_add(by));
        self.cursor = Selection::default();
    }

    /// Selects a lower step, or scrolls text.
    fn step_down(&mut self, by: usize) {
        match self.selects_steps() {
            true => self.selected.moves += by.cast_signed(),
            false => self.scroll += by,
        }
    }

    /// Selects a higher step, or scrolls text.
    fn step_up(&mut self, by: usize) {
        match self.selects_steps() {
            true => self.selected.moves -= by.cast_signed(),
            false => self.scroll = self.scroll.saturating_sub(by),
        }
    }

    /// Whether arrows move the selection. Only a frame with several steps has one.
    fn selects_steps(&self) -> bool {
        self.view == View::Steps && self.selected.at.is_some()
    }

    /// Shows the pictures of the selected step, or of all steps again.
    fn choose_step(&mut self) {
        self.step = match self.selected.at {
            at if at == self.step => None,
            at => at,
        };
        self.message = Some(match self.step {
            Some(_) => "pictures show this step; Esc shows all steps".to_owned(),
            None => "pictures show all steps".to_owned(),
        });
    }

    /// Takes the positions of a frame.
    pub(crate) fn settle(&mut self, positions: Positions) {
        self.scroll = positions.scroll;
        self.full = positions.full;
        self.cursor = Selection {
            at: positions.cursor,
            moves: 0,
        };
        self.selected = Selection {
            at: positions.selected,
            moves: 0,
        };
    }

    /// The positions if a frame changes none of them.
    pub(crate) const fn positions(&self) -> Positions {
        Positions {
            scroll: self.scroll,
            cursor: self.cursor.at,
            selected: self.selected.at,
            full: self.full,
        }
    }

    fn type_in(&mut self, key: Key) -> Option<ScreenAct> {
        let mut prompt = self.prompt.take()?;
        match prompt.press(key) {
            PromptEffect::More => self.prompt = Some(prompt),
            PromptEffect::Dropped => {}
            PromptEffect::Done => match prompt.asked {
                Asked::Filter => self.filter = prompt.text,
                Asked::Mark if prompt.text.trim().is_empty() => {}
                Asked::Mark => return Some(ScreenAct::Mark(prompt.text)),
            },
        }
        None
    }

    fn show(&mut self, view: View) {
        if self.view != view {
            self.scroll = 0;
        }
        self.full = None;
        self.view = view;
    }

    fn next_pool(&mut self) {
        self.pool = match self.pool {
            None => (self.pools > 1).then_some(0),
            Some(last) if last + 1 >= self.pools => None,
            Some(pool) => Some(pool + 1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(choice: &mut ViewState, keys: &str) -> Vec<ScreenAct> {
        let acts = keys.chars().map(|key| choice.press(Key::Char(key)));
        acts.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    #[test]
    fn keys_act_or_choose() {
        let mut choice = ViewState::default();
        assert_eq!(typed(&mut choice, "q"), [ScreenAct::End]);
        assert_eq!(
            typed(&mut choice, "p y"),
            [ScreenAct::Pause, ScreenAct::Pause, ScreenAct::Copy]
        );
        assert_eq!(typed(&mut choice, "4"), []);
        assert_eq!(choice.view, View::Errors);
        choice.press(Key::Tab);
        assert_eq!(choice.view, View::Connections);
        choice.press(Key::BackTab);
        choice.press(Key::Left);
        assert_eq!(choice.view, View::Steps);
    }

    #[test]
    fn a_mark_is_typed_and_may_be_given_up() {
        let mut choice = ViewState::default();
        assert_eq!(typed(&mut choice, "mdeploy q"), []);
        let act = choice.press(Key::Enter);
        assert_eq!(act, Some(ScreenAct::Mark("deploy q".to_owned())));
        assert_eq!(typed(&mut choice, "mx"), []);
        assert_eq!(choice.press(Key::Escape), None);
        assert_eq!(choice.prompt, None);
        assert_eq!(typed(&mut choice, "q"), [ScreenAct::End]);
    }

    #[test]
    fn help_goes_with_any_key_and_ends_with_q() {
        let mut choice = ViewState::default();
        assert_eq!(typed(&mut choice, "?p"), []);
        assert!(!choice.is_help);
        assert_eq!(typed(&mut choice, "?q"), [ScreenAct::End]);
    }

    #[test]
    fn the_report_is_copied_before_the_address() {
        let mut choice = ViewState::default();
        let copies = [ScreenAct::Copy, ScreenAct::CopyPage];
        assert_eq!(typed(&mut choice, "yy"), copies);
        choice.press(Key::Char('4'));
        assert_eq!(
            typed(&mut choice, "yty"),
            [ScreenAct::Copy, ScreenAct::Copy]
        );
    }

    #[test]
    fn a_full_picture_takes_the_arrows() {
        let mut choice = ViewState::default();
        choice.press(Key::Enter);
        assert_eq!(choice.full, Some(0));
        for key in [Key::Left, Key::Left, Key::PageUp, Key::Right] {
            assert_eq!(choice.press(key), None);
        }
        assert_eq!((choice.view, choice.cursor.moves), (View::Overview, -11));
        choice.press(Key::Up);
        assert_eq!(choice.full, Some(-1));
        assert_eq!(choice.cursor, Selection::default());
        choice.press(Key::Enter);
        assert_eq!(choice.full, None);
        choice.press(Key::Enter);
        choice.press(Key::Char('2'));
        assert_eq!((choice.view, choice.full), (View::Latency, None));
    }

    #[test]
    fn a_step_is_chosen_until_escape() {
        let place = StepPlace { pool: 0, step: 1 };
        let mut choice = ViewState::default();
        choice.press(Key::Char('3'));
        choice.selected.at = Some(place);
        choice.press(Key::Down);
        assert_eq!((choice.selected.moves, choice.scroll), (1, 0));
        choice.press(Key::Enter);
        assert_eq!(choice.step, Some(place));
        choice.press(Key::Char('1'));
        choice.press(Key::Escape);
        assert_eq!(choice.step, None);
    }

    #[test]
    fn pools_are_chosen_in_turn() {
        let mut choice = ViewState {
            pools: 2,
            ..ViewState::default()
        };
        let mut chosen = Vec::new();
        for _ in 0..3 {
            choice.press(Key::Char('P'));
            chosen.push(choice.pool);
        }
        assert_eq!(chosen, [Some(0), Some(1), None]);
        let mut alone = ViewState {
            pools: 1,
            ..ViewState::default()
        };
        alone.press(Key::Char('P'));
        assert_eq!(alone.pool, None);
    }
}
