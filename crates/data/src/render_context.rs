//! What a rendering is of: the call, the message, and where its random numbers stand.

use crate::Random;
use drumfire_plan::CallContext;

/// The place of what belongs to the whole message, such as its UUID; expressions have places
/// counted from 0.
const OWN: u64 = u64::MAX;

/// What a rendering is of.
#[derive(Clone, Debug)]
pub struct RenderContext {
    pub(crate) call: CallContext,
    /// The number of the message within the call.
    pub(crate) message: u64,
    /// Which of the call's renderings it is: messages with the same number share what is random.
    pass: u64,
    /// Which expression of the template is rendered.
    place: u64,
    random: Option<Random>,
}

impl RenderContext {
    /// The `message`-th message of a call. Those with the same `pass` share what is random.
    #[must_use]
    pub const fn new(call: CallContext, message: u64, pass: u64) -> Self {
        Self {
            call,
            message,
            pass,
            place: 0,
            random: None,
        }
    }

    /// Goes on to an expression. What it draws does not depend on what others have drawn.
    pub(crate) fn enter(&mut self, place: u64) {
        self.place = place;
        self.random = None;
    }

    /// Where the present expression draws its random numbers.
    pub(crate) fn random(&mut self) -> &mut Random {
        let (call, pass, place) = (&self.call, self.pass, self.place);
        self.random
            .get_or_insert_with(|| Random::new(call.seed, call.number, pass, place))
    }

    /// Random numbers that are the same wherever the message asks for them.
    pub(crate) const fn own(&self) -> Random {
        Random::new(self.call.seed, self.call.number, self.pass, OWN)
    }
}
