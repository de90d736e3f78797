//! The messages of calls: encoded once if nothing varies, and otherwise rendered per call or per
//! message.

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
    /// Once per call: its messages share random values, even when the list of messages starts
    /// again.
    Call,
    /// For every message.
    Message,
}

/// The messages of a method's calls.
///
/// For a client stream, an array contains the messages of one stream. For other methods, every call
/// takes one of its elements, in the given order.
pub struct Input {
    descriptor: MessageDescriptor,
    /// Whether a call sends all elements, or one.
    streams: bool,
    body: Body,
    /// The list of elements, if a call takes one of them.
    list: Arc<SharedList>,
    refresh: Refresh,
    metadata: Vec<Metadata>,
    /// The number of calls for which the feeds of templates have rows.
    feeds: Option<u64>,
}

enum Body {
    /// Elements that do not vary. Never empty.
    Fixed(Vec<Vec<u8>>),
    /// Elements of which some vary. Never empty.
    Elements(Vec<Element>),
    /// The number of elements is known only after the text is rendered.
    Rendered(Rendered),
}

/// The output is short: descriptors of recursive messages would be printed without end.
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

/// Messages whose JSON form is not an object (protobuf's JSON mapping, well-known types).
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

    /// One message without fields.
    ///
    /// # Errors
    /// If the message has required fields.
    pub fn blank(method: &Method) -> Result<Self, DataError> {
        let descriptor = method.input();
        match NO_OBJECTS.contains(&descriptor.full_name()) {
            true => Ok(Self::empty(method)),
            false => Self::json(method, "{}"),
        }
    }

    /// Static JSON: one message, or an array of messages.
    ///
    /// # Errors
    /// If the text is not JSON, an array is empty, or an element does not have the method's form.
    pub fn json(method: &Method, text: &str) -> Result<Self, DataError> {
        Self::json_by(method, text, Reading::Protobuf)
    }

    /// Static JSON in the given reading.
    ///
    /// # Errors
    /// See [`Input::json`].
    pub fn json_by(method: &Method, text: &str, reading: Reading) -> Result<Self, DataError> {
        let descriptor = method.input();
        let encode = |text: &str| {
            let mut bytes = Vec::new();
            json::encode_by(reading, &descriptor, text, &mut bytes)?;
            if reading == Reading::Protobuf {
                json::check_names(&descriptor, text)?;
            }
            Ok(bytes)
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

    /// JSON in the native template language: one message, or an array of messages. If expressions
    /// occur only inside strings, which protobuf's JSON allows for all types except booleans, they
    /// are rendered directly into the message.
    ///
    /// # Errors
    /// If the template can't be compiled, or does not give a message for the first call.
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

    /// JSON in the native template language, with this first call: it contains the variables that
    /// the template may read. If rendering fails, `is_spared` decides by the error and the
    /// variables whether the failure is acceptable.
    ///
    /// # Errors
    /// See [`Input::template`].
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
        // The values needed for a trial are known only during the run.
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

    /// The variables of the user that the metadata may read.
    #[must_use]
    pub fn variables_of_metadata(&self) -> Vec<VariableId> {
        let each = self.metadata.iter().flat_map(Metadata::variables);
        each.copied().collect()
    }

    /// A template in any language whose result is JSON, read leniently. The template is evaluated
    /// once per call; before the run, only [`Input::check`] tries it.
    #[must_use]
    pub fn text(method: &Method, template: Arc<dyn TextTemplate>) -> Self {
        let rendered = Rendered::new(template, Reading::Lenient);
        let mut input = Self::new(method, Body::Rendered(rendered));
        input.refresh = Refresh::Call;
        input
    }

    /// Encoded messages: each after its length as a varint, or a single message without a length.
    ///
    /// # Errors
    /// If the bytes have neither form.
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

    /// Sets the order of the elements, instead of in turn.
    #[must_use]
    pub fn with_order(mut self, order: Order) -> Self {
        self.list = Arc::new(SharedList::new(order));
        self
    }

    /// Sets how often templates are evaluated. The default is per message, and per call for
    /// [`Input::text`].
    #[must_use]
    pub const fn with_refresh(mut self, refresh: Refresh) -> Self {
        self.refresh = refresh;
        self
    }

    /// Adds varying metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        let part = 1 + self.metadata.len() as u32;
        self.metadata.push(metadata.in_part(part));
        self
    }

    /// The list of elements from which each call takes one; `None` if a call sends all.
    #[must_use]
    pub fn shared_list(&self) -> Option<&Arc<SharedList>> {
        (!self.streams).then_some(&self.list)
    }

    /// The number of calls for which there are elements, if each is taken once.
    #[must_use]
    pub fn elements_once(&self) -> Option<u64> {
        let elements = match &self.body {
            Body::Fixed(messages) => Some(messages.len() as u64),
            Body::Elements(elements) => Some(elements.len() as u64),
            Body::Rendered(_) => None,
        };
        elements.filter(|_| !self.streams && self.list.is_once())
    }

    /// The number of messages in each call, if it is known before the call.
    #[must_use]
    pub fn messages_each(&self) -> Option<u64> {
        match &self.body {
            _ if !self.streams => Some(1),
            Body::Fixed(messages) => Some(messages.len() as u64),
            Body::Elements(elements) => Some(elements.len() as u64),
            Body::Rendered(_) => None,
        }
    }

    /// The number of iterations of the pool for which feeds have rows, if a feed is read once; the
    /// run may stop after them.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let metadata = self.metadata.iter().filter_map(Metadata::count);
        self.feeds.into_iter().chain(metadata).min()
    }

    /// Renders one call, including all templated elements, and discards the result.
    ///
    /// # Errors
    /// See [`RequestData::message`] and [`RequestData::fields`].
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

    /// The index of a message among `length` elements.
    fn index(&self, call: &RequestContext, n: u64, length: u64) -> Result<usize, DataError> {
        let index = if self.streams {
            n.checked_rem(length)
        } else {
            self.list.index(call, length)
        };
        // The index is below a length that was a usize.
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
            // If the text fails, its first message reports the error.
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
    /// Whether some calls have no data.
    fn ends(&self) -> bool {
        self.count().is_some() || self.elements_once().is_some()
    }
}

/// An error in one element of an array, counted from 1.
fn in_element(n: u64, error: DataError) -> DataError {
    error.in_words(|words| format!("element {n} of the data: {words}"))
}
