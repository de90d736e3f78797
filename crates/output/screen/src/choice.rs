//! The choices of the user: the view, its order and scale, and the typed text.
//!
//! Only [`ViewState::press`] gives keys a meaning. Choices about the screen itself are made there;
//! any other key is a [`ScreenAct`]. The caller carries out the act, and puts the answer into
//! `message`.

use crate::key::Key;
use crate::prompt::{Asked, Prompt, PromptEffect};
use crate::view::View;
use drumfire_report::screen::Order;

/// The factors of one press of `+` and `-`.
const MORE: f64 = 1.1;
const LESS: f64 = 1.0 / MORE;
/// The number of rows of one press of the page keys.
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
    /// Saves the report as Markdown.
    Save,
}

/// The state that keys change.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewState {
    pub(crate) view: View,
    /// Whether only the newest intervals are shown over time.
    pub(crate) is_recent: bool,
    pub(crate) order: Order,
    /// The text that the names of shown steps contain.
    pub(crate) filter: String,
    /// The first visible row of text.
    pub(crate) scroll: usize,
    /// The number of pools, and the pool that keys change; `None` means all pools.
    pub(crate) pools: u16,
    pub(crate) pool: Option<u16>,
    pub(crate) is_help: bool,
    pub(crate) prompt: Option<Prompt>,
    /// The answer to the last key, until the next one.
    pub(crate) message: Option<String>,
}

impl ViewState {
    /// Handles a key.
    pub(crate) fn press(&mut self, key: Key) -> Option<ScreenAct> {
        self.message = None;
        if self.prompt.is_some() {
            return self.type_in(key);
        }
        if self.is_help {
            self.is_help = false;
            // The key that ends the run works everywhere.
            return (key == Key::Char('q')).then_some(ScreenAct::End);
        }
        match key {
            Key::Char('q') => return Some(ScreenAct::End),
            Key::Char('p' | ' ') => return Some(ScreenAct::Pause),
            Key::Char('+' | '=') => return Some(ScreenAct::Scale(MORE)),
            Key::Char('-' | '_') => return Some(ScreenAct::Scale(LESS)),
            Key::Char('y') => return Some(ScreenAct::Copy),
            Key::Char('s') => return Some(ScreenAct::Save),
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
            Key::Char('P') => self.next_pool(),
            Key::Char('?' | 'h') => self.is_help = true,
            Key::Char(digit @ '1'..='6') => self.show(View::ALL[digit as usize - '1' as usize]),
            Key::Tab | Key::Right => self.show(self.view.moved(1)),
            Key::BackTab | Key::Left => self.show(self.view.moved(-1)),
            Key::Down | Key::Char('j') => self.scroll += 1,
            Key::Up | Key::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            Key::PageDown => self.scroll += PAGE,
            Key::PageUp => self.scroll = self.scroll.saturating_sub(PAGE),
            Key::Char(_) | Key::Enter | Key::Escape | Key::Backspace => {}
        }
        None
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
