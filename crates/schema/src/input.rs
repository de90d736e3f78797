//! The messages of calls: encoded once where nothing varies, and rendered per call or message
//! otherwise.

mod binary;
mod elements;
mod metadata;
mod program;
mod rendered;

pub use metadata::Metadata;

use crate::json::Reading;
use crate::{Method, json};
use drumfire_data::{Order, RenderContext, SharedList, Sources, Template, Text, TextTemplate};
use drumfire_plan::{DataError, RenderedFields, RequestContext, RequestData, VariableId, Varying};
use elements::Element;
use prost_reflect::MessageDescriptor;
use rendered::Rendered;
use std::fmt;
use std::sync::Arc;

/// How often templates are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Once a call: its messages share random values, also when the list of messages starts over.
    Call,
    /// For every message.
    Message,
}

/// The messages of a method's calls.
///
/// An array is one stream's messages where the client streams. Elsewhere every call takes one of
/// its elements, by the order given.
pub struct Input {
    descriptor: MessageDescriptor,
    /// Whether a call sends all elements or one.
    streams: bool,
    body: Body,
    /// The elements, where a call takes one of them.
    list: Arc<SharedList>,
    refresh: Refresh,
    metadata: Vec<Metadata>,
    /// For how many calls the feeds of templates last.
    feeds: Option<u64>,
}

enum Body {
    /// Nothing varies within an element. Never empty.
    Fixed(Vec<Vec<u8>>),
    /// Something does. Never empty.
    Elements(Vec<Element>),
    /// How many elements there are is known when the text is rendered.
    Rendered(Rendered),
}

/// In short: descriptors of messages that contain themselves never end when they are shown.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match &self.body {
            Body::Fixed(messages) => format!("{} fixed", messages.len()),
            Body::Elements(elements) => format!("{} templates", elements.len()),
            Body::Rendered(_) => "a template".to_owned(),
        };
        f.debug_struct("Input")
            .field("message", &self.descriptor.full_name())
            .field("form", &form)
            .field("list", &self.list)
            .field("refresh", &self.refresh)
            .field("metadata", &self.metadata.len())
            .finish()
    }
}

/// Messages whose JSON is no object (protobuf's JSON mapping, well-known types).
const NO_OBJECTS: [&str; 14] = [
    "google.protobuf.BoolValue",
    "google.protobuf.BytesValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.Duration",
    "google.protobuf.FieldMask",
    "google.protobuf.FloatValue",
    "google.protobuf.Int32Value",
    "google.protobuf.Int64Value",
    "google.protobuf.ListValue",
    "google.protobuf.StringValue",
    "google.protobuf.Timestamp",
    "google.protobuf.UInt32Value",
    "google.protobuf.UInt64Value",
    "google.protobuf.Value",
];

impl Input {
    /// One empty message.
    #[must_use]
    pub fn empty(method: &Method) -> Self {
        Self::new(method, Body::Fixed(vec![Vec::new()]))
    }

    /// One message without a field.
    ///
    /// # Errors
    /// When the message requires one.
    pub fn blank(method: &Method) -> Result<Self, DataError> {
        let descriptor = method.input();
        match NO_OBJECTS.contains(&descriptor.full_name()) {
            true => Ok(Self::empty(method)),
            false => Self::json(method, "{}"),
        }
    }

    /// JSON in which nothing is computed: one message, or an array of them.
    ///
    /// # Errors
    /// When the text is no JSON, an array is empty, or an element is not of the method's form.
    pub fn json(method: &Method, text: &str) -> Result<Self, DataError> {
        Self::json_by(method, text, Reading::Protobuf)
    }

    /// The same by another reading of JSON.
    ///
    /// # Errors
    /// As [`Input::json`].
    pub fn json_by(method: &Method, text: &str, reading: Reading) -> Result<Self, DataError> {
        let descriptor = method.input();
        let encode = |text: &str| {
            let mut bytes = Vec::new();
            json::encode_by(reading, &descriptor, text, &mut bytes).map(|()| bytes)
        };
        let body = match elements::of_text(text)? {
            None => vec![encode(text)?],
            Some(texts) => (1..)
                .zip(texts)
                .map(|(n, text)| encode(text).map_err(|error| in_element(n, error)))
                .collect::<Result<_, _>>()?,
        };
        Ok(Self::new(method, Body::Fixed(body)))
    }

    /// JSON in the native template language: one message, or an array of them. Where expressions
    /// stand only inside strings, which is where protobuf's JSON lets all but truth values stand,
    /// they are rendered straight into the message.
    ///
    /// # Errors
    /// When the template can't be compiled, or does not make a message for the first call.
    pub fn template(
        method: &Method,
        text: &str,
        sources: &Arc<Sources>,
    ) -> Result<Self, DataError> {
        Self::template_for(
            method,
            text,
            sources,
            &RequestContext::default(),
            &|_, _| false,
        )
    }

    /// The same, where this is the first call: it has the variables that the template may read. Where
    /// it fails, `is_spared` decides by the error and the variables whether it may.
    ///
    /// # Errors
    /// As [`Input::template`].
    pub fn template_for(
        method: &Method,
        text: &str,
        sources: &Arc<Sources>,
        first: &RequestContext,
        is_spared: &dyn Fn(&DataError, &[VariableId]) -> bool,
    ) -> Result<Self, DataError> {
        if Template::is_static(text) {
            return Self::json(method, text);
        }
        let template = Template::compile(text, Text::Json, sources)
            .map_err(|error| DataError::new(error.to_string()))?;
        let count = template.count();
        // Only a run knows the values with which it could be tried.
        let rendered = template.render(first, 0, &mut String::new());
        if let Err(error) = rendered
            && is_spared(&error, template.variables())
        {
            let rendered = Rendered::new(Arc::new(template), Reading::Protobuf);
            let mut input = Self::new(method, Body::Rendered(rendered));
            input.feeds = count;
            return Ok(input);
        }
        let body = match elements::of_template(&method.input(), &template, first)? {
            Some(elements) => Body::Elements(elements),
            None => Body::Rendered(Rendered::new(Arc::new(template), Reading::Protobuf)),
        };
        let mut input = Self::new(method, body);
        input.feeds = count;
        input.check(first)?;
        Ok(input)
    }

    /// The variables of the user that its metadata may read.
    #[must_use]
    pub fn variables_of_metadata(&self) -> Vec<VariableId> {
        let each = self.metadata.iter().flat_map(Metadata::variables);
        each.copied().collect()
    }

    /// Any template language whose text is JSON, read leniently. It is evaluated once a call;
    /// nothing is tried before the run but by [`Input::check`].
    #[must_use]
    pub fn text(method: &Method, template: Arc<dyn TextTemplate>) -> Self {
        let rendered = Rendered::new(template, Reading::Lenient);
        let mut input = Self::new(method, Body::Rendered(rendered));
        input.refresh = Refresh::Call;
        input
    }

    /// Encoded messages: each with its length before it as a varint, or else a single one.
    ///
    /// # Errors
    /// When the bytes are neither.
    pub fn binary(method: &Method, bytes: &[u8]) -> Result<Self, DataError> {
        let messages = binary::messages(&method.input(), bytes)?;
        Ok(Self::new(method, Body::Fixed(messages)))
    }

    fn new(method: &Method, body: Body) -> Self {
        Self {
            descriptor: method.input(),
            streams: method.kind().client_streams(),
            body,
            list: Arc::default(),
            refresh: Refresh::Message,
            metadata: Vec::new(),
            feeds: None,
        }
    }

    /// With another order of elements than in turn.
    #[must_use]
    pub fn with_order(mut self, order: Order) -> Self {
        self.list = Arc::new(SharedList::new(order));
        self
    }

    /// Sets how often templates are evaluated. The default is per message, and for [`Input::text`]
    /// per call.
    #[must_use]
    pub const fn with_refresh(mut self, refresh: Refresh) -> Self {
        self.refresh = refresh;
        self
    }

    /// With metadata that varies, beside what there is.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        let part = 1 + self.metadata.len() as u32;
        self.metadata.push(metadata.in_part(part));
        self
    }

    /// The list of elements of which each call takes one; `None` where a call sends all.
    #[must_use]
    pub fn shared_list(&self) -> Option<&Arc<SharedList>> {
        (!self.streams).then_some(&self.list)
    }

    /// For how many calls there are elements, where each is taken once.
    #[must_use]
    pub fn elements_once(&self) -> Option<u64> {
        let elements = match &self.body {
            Body::Fixed(messages) => Some(messages.len() as u64),
            Body::Elements(elements) => Some(elements.len() as u64),
            Body::Rendered(_) => None,
        };
        elements.filter(|_| !self.streams && self.list.is_once())
    }

    /// The number of messages of each call, where that is known before a call is made.
    #[must_use]
    pub fn messages_each(&self) -> Option<u64> {
        match &self.body {
            _ if !self.streams => Some(1),
            Body::Fixed(messages) => Some(messages.len() as u64),
            Body::Elements(elements) => Some(elements.len() as u64),
            Body::Rendered(_) => None,
        }
    }

    /// For how many iterations of its pool there are rows, when a feed is gone through once; the run
    /// may stop after them.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let metadata = self.metadata.iter().filter_map(Metadata::count);
        self.feeds.into_iter().chain(metadata).min()
    }

    /// Renders what one call would send, of templated elements all, and forgets it.
    ///
    /// # Errors
    /// As [`RequestData::message`] and [`RequestData::fields`].
    pub fn check(&self, call: &RequestContext) -> Result<(), DataError> {
        let tried = self.try_call(call);
        if let Body::Rendered(text) = &self.body {
            text.forget();
        }
        tried
    }

    fn try_call(&self, call: &RequestContext) -> Result<(), DataError> {
        self.fields(call, &mut RenderedFields::default())?;
        let mut out = Vec::new();
        if let Body::Elements(elements) = &self.body {
            for (n, element) in (1..).zip(elements) {
                element
                    .render(
                        &self.descriptor,
                        &mut RenderContext::new(call.clone(), 0, 0),
                        &mut out,
                    )
                    .map_err(|error| {
                        if elements.len() > 1 {
                            in_element(n, error)
                        } else {
                            error
                        }
                    })?;
                out.clear();
            }
            return Ok(());
        }
        (0..self.messages(call)).try_for_each(|n| {
            out.clear();
            self.message(call, n, &mut out)
        })
    }

    /// Which of `length` elements a message is.
    fn index(&self, call: &RequestContext, n: u64, length: u64) -> Result<usize, DataError> {
        let index = if self.streams {
            n.checked_rem(length)
        } else {
            self.list.index(call, length)
        };
        // An index below a length that was a usize.
        index.map(|index| index as usize).ok_or_else(|| {
            DataError::new(match length {
                0 => "no data provided for request: the array is empty".to_owned(),
                _ => format!("the data has {length} elements, and none are left"),
            })
        })
    }
}

impl RequestData for Input {
    fn varying(&self) -> Varying {
        Varying {
            fields: !self.metadata.is_empty(),
            body: match &self.body {
                Body::Fixed(messages) => !self.streams && messages.len() > 1 || self.ends(),
                Body::Elements(_) | Body::Rendered(_) => true,
            },
            ..Varying::default()
        }
    }

    fn fields(&self, call: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        self.metadata
            .iter()
            .try_for_each(|metadata| metadata.render(call, out))
    }

    fn renews_time(&self) -> bool {
        self.refresh == Refresh::Message && !matches!(self.body, Body::Fixed(_))
    }

    fn messages(&self, call: &RequestContext) -> u64 {
        match &self.body {
            _ if !self.streams => 1,
            Body::Fixed(messages) => messages.len() as u64,
            Body::Elements(elements) => elements.len() as u64,
            // A text that fails is an error of its first message.
            Body::Rendered(text) => text
                .get(&self.descriptor, call, 0)
                .map_or(1, |list| list.len() as u64),
        }
    }

    fn message(&self, call: &RequestContext, n: u64, out: &mut Vec<u8>) -> Result<(), DataError> {
        let pass = match self.refresh {
            Refresh::Call => 0,
            Refresh::Message => n,
        };
        match &self.body {
            Body::Fixed(messages) => {
                let index = self.index(call, n, messages.len() as u64)?;
                out.extend_from_slice(&messages[index]);
                Ok(())
            }
            Body::Elements(elements) => {
                let index = self.index(call, n, elements.len() as u64)?;
                let mut context = RenderContext::new(call.clone(), n, pass);
                elements[index].render(&self.descriptor, &mut context, out)
            }
            Body::Rendered(text) => {
                let list = text.get(&self.descriptor, call, pass)?;
                let index = self.index(call, n, list.len() as u64)?;
                out.extend_from_slice(&list[index]);
                Ok(())
            }
        }
    }
}

impl Input {
    /// Whether some calls find no data.
    fn ends(&self) -> bool {
        self.count().is_some() || self.elements_once().is_some()
    }
}

/// An error in one element of an array, counted from 1.
fn in_element(n: u64, error: DataError) -> DataError {
    error.in_words(|words| format!("element {n} of the data: {words}"))
}
