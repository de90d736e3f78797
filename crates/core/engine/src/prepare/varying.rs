//! Requests that vary: their fixed part, and the parts that are rendered for each exchange.
//!
//! [`VaryingRequest::render`] fills [`Parts`] from a context. Fields such as cookies may then be
//! added, until [`VaryingRequest::write`] turns the parts into the bytes that HTTP/1.1 sends; a
//! stream is opened with the parts themselves.
//!
//! Values come from data files, earlier responses and scripts, so they are checked each time: the
//! target is completed like a URL's, and the writer of the head refuses a value that would end its
//! line. A request that fails a check fails its exchange before a byte is sent.
//!
//! The memory of [`Parts`] and of the [`Rendered`] belongs to the caller, which reuses it:
//! rendering allocates only if a request is longer than all earlier ones.

use super::render::{
    Rendered, SHORT_BODY_BYTES, TargetForm, framing, host, own_fields, render, sent_headers,
};
use super::stream::{StreamRequest, check_authority, stream_outline};
use crate::protocol::Protocol;
use drumfire_http1::RequestKind;
use drumfire_http1::request::write_head;
use drumfire_plan::{
    Body, Cookies, DataError, Header, HttpRequest, Pool, RenderedFields, RequestContext,
    RequestData, Url, Varying,
};
use std::fmt::Write as _;
use std::sync::Arc;

/// A request that varies.
#[derive(Debug)]
pub(crate) struct VaryingRequest {
    data: Arc<dyn RequestData>,
    varying: Varying,
    outline: Outline,
    /// Whether the body is a message, which does not belong to the head.
    is_message: bool,
}

/// The fixed part of a request, in the form of its protocol.
#[derive(Debug)]
enum Outline {
    /// The head as text, with a body.
    Text(TextOutline),
    /// The head and data of a stream, without varying fields.
    Stream(Box<StreamRequest>),
}

/// The fixed part of a request in text form. `target` and `host` are used if the data contain none.
#[derive(Debug)]
struct TextOutline {
    method: String,
    /// The text before the target: the origin, for a proxy that receives the whole URL.
    prefix: String,
    target: String,
    host: String,
    fields: Vec<Header>,
    body: Option<Arc<[u8]>>,
    kind: RequestKind,
    idempotent: bool,
}

/// The varying parts of a request, rendered into memory that is reused. They belong to one request,
/// from one `render` to the next.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    target: String,
    fields: RenderedFields,
    body: Vec<u8>,
    /// A buffer for a Cookie field.
    cookie: String,
}

/// The data of a request in which only the cookies vary; the cookies are added to the parts later.
#[derive(Debug)]
pub(super) struct CookiesAlone;

impl RequestData for CookiesAlone {
    fn varying(&self) -> Varying {
        Varying {
            fields: true,
            ..Varying::default()
        }
    }

    fn fields(&self, _: &RequestContext, _: &mut RenderedFields) -> Result<(), DataError> {
        Ok(())
    }

    fn message(&self, _: &RequestContext, _: u64, _: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }
}

/// Prepares a request that varies.
///
/// # Errors
/// A text, if the fixed part cannot be sent.
pub(super) fn varying(
    pool: &Pool,
    request: &HttpRequest,
    data: &Arc<dyn RequestData>,
    form: TargetForm,
) -> Result<VaryingRequest, String> {
    let mut varying = data.varying();
    varying.fields |= pool.cookies != Cookies::Ignore;
    let outline = match Protocol::for_pool(pool).has_streams() {
        false => Outline::Text(text_outline(pool, request, form)?),
        true => Outline::Stream(Box::new(stream_outline(pool, request, varying)?)),
    };
    Ok(VaryingRequest {
        data: Arc::clone(data),
        varying,
        outline,
        is_message: request.socket.is_some(),
    })
}

/// The fixed part of a request in text form. It is rendered once, so that a mistake in it is found
/// before the run.
fn text_outline(
    pool: &Pool,
    request: &HttpRequest,
    form: TargetForm,
) -> Result<TextOutline, String> {
    let fixed = render(pool, request, form)?;
    let own = own_fields(pool, request, form).into_iter();
    let own = own.map(|(name, value)| Header::new(name, value.as_bytes()));
    let mut fields = own
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    fields.extend(sent_headers(request).cloned());
    Ok(TextOutline {
        method: request.method.as_str().to_owned(),
        prefix: match form {
            TargetForm::Origin => String::new(),
            TargetForm::Absolute => request.url.origin.to_string(),
        },
        target: match form {
            TargetForm::Origin => request.url.target.clone(),
            TargetForm::Absolute => format!("{}{}", request.url.origin, request.url.target),
        },
        host: host(request)?,
        fields,
        body: request.body.0.clone(),
        kind: fixed.kind,
        idempotent: fixed.idempotent,
    })
}

impl VaryingRequest {
    /// The data from which the request is rendered.
    pub(super) fn data(&self) -> &dyn RequestData {
        &*self.data
    }

    /// The fixed part of the request's stream; `None` for HTTP/1.1.
    pub(crate) const fn stream(&self) -> Option<&StreamRequest> {
        match &self.outline {
            Outline::Text(_) => None,
            Outline::Stream(stream) => Some(stream),
        }
    }

    /// The target among the rendered parts, if it varies.
    pub(crate) fn target<'a>(&self, parts: &'a Parts) -> Option<&'a str> {
        self.varying.target.then_some(&*parts.target)
    }

    /// The value of the Host field among the rendered parts, if it varies.
    pub(crate) fn host<'a>(&self, parts: &'a Parts) -> Option<&'a str> {
        parts.fields.find("host").filter(|_| self.varying.host)
    }

    /// The whole body for the stream.
    pub(crate) fn stream_body<'a>(&'a self, parts: &'a Parts) -> &'a [u8] {
        match &self.outline {
            Outline::Stream(stream) if !self.varying.body => &stream.body,
            _ => &parts.body,
        }
    }

    /// Writes the HTTP/1.1 bytes from rendered parts; writes nothing for a stream.
    ///
    /// # Errors
    /// A text, if the head would be ambiguous or malformed.
    pub(crate) fn write(&self, parts: &mut Parts, out: &mut Rendered) -> Result<(), String> {
        match &self.outline {
            Outline::Text(outline) => outline.write(self.varying, parts, out),
            Outline::Stream(_) => Ok(()),
        }
    }

    /// The planned request with its varying parts replaced by these.
    ///
    /// # Errors
    /// A text, if a field cannot be sent.
    pub(crate) fn complete(
        &self,
        planned: &HttpRequest,
        parts: &Parts,
    ) -> Result<HttpRequest, String> {
        parts.complete(planned, self.varying)
    }

    /// Whether sending the request twice over HTTP/1.1 has the same effect as sending it once.
    pub(crate) const fn is_idempotent(&self) -> bool {
        matches!(&self.outline, Outline::Text(outline) if outline.idempotent)
    }

    /// Renders the varying parts. Equal contexts produce equal bytes.
    ///
    /// # Errors
    /// A text, if the parts cannot be rendered, or would not form a valid request.
    pub(crate) fn render(
        &self,
        context: &RequestContext,
        parts: &mut Parts,
    ) -> Result<(), DataError> {
        let (data, varying) = (&self.data, self.varying);
        parts.target.clear();
        parts.fields.clear();
        parts.body.clear();
        if varying.target {
            data.target(context, &mut parts.target)?;
            Url::complete_target(&mut parts.target)
                .map_err(|error| DataError::new(error.to_string()))?;
        }
        if varying.fields || varying.host {
            data.fields(context, &mut parts.fields)?;
        }
        if varying.body {
            data.message(context, 0, &mut parts.body)?;
        }
        if matches!(self.outline, Outline::Stream(_)) {
            parts.fields.lower_names();
            if let Some(host) = self.host(parts) {
                check_authority(host)?;
            }
            if varying.body && !self.is_message {
                let length = parts.body.len();
                parts.fields.push_with("content-length", |out| {
                    // Writing to a string does not fail.
                    let _ = write!(out, "{length}");
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

impl TextOutline {
    /// Writes the request with its rendered parts.
    ///
    /// # Errors
    /// A text, if the head would be ambiguous or malformed.
    fn write(&self, varying: Varying, parts: &mut Parts, out: &mut Rendered) -> Result<(), String> {
        if varying.target && !self.prefix.is_empty() {
            parts.target.insert_str(0, &self.prefix);
        }
        let target = match varying.target {
            true => &parts.target,
            false => &self.target,
        };
        let host = parts.fields.find("host").unwrap_or(&self.host);
        let fixed = self
            .fields
            .iter()
            .map(|field| (field.name(), field.value()));
        let rendered = parts.fields.iter();
        let rendered = rendered
            .filter(|(name, _)| !name.eq_ignore_ascii_case("host"))
            .map(|(name, value)| (name, value.as_bytes()));
        let body = match varying.body {
            true => Some(&parts.body[..]),
            false => self.body.as_deref(),
        };
        let framing = framing(self.kind, body);
        out.bytes.clear();
        write_head(
            &mut out.bytes,
            &self.method,
            target,
            host,
            fixed.chain(rendered),
            framing,
        )
        .map_err(|error| error.to_string())?;
        out.head_length = out.bytes.len();
        out.kind = self.kind;
        out.idempotent = self.idempotent;
        match &self.body {
            Some(body) if !varying.body && body.len() > SHORT_BODY_BYTES => out.share_body(body),
            _ => {
                out.bytes.extend_from_slice(body.unwrap_or_default());
                out.drop_long_body();
            }
        }
        Ok(())
    }
}

impl Parts {
    /// The rendered fields.
    pub(crate) const fn fields(&self) -> &RenderedFields {
        &self.fields
    }

    /// Adds a Cookie field with the text that `write` makes, unless the text is empty.
    ///
    /// # Errors
    /// A text, if the cookie cannot be sent.
    pub(crate) fn push_cookie(&mut self, write: impl FnOnce(&mut String)) -> Result<(), DataError> {
        self.cookie.clear();
        write(&mut self.cookie);
        match self.cookie.is_empty() {
            true => Ok(()),
            false => self.fields.push("cookie", &self.cookie),
        }
    }

    fn complete(&self, planned: &HttpRequest, varying: Varying) -> Result<HttpRequest, String> {
        let mut whole = HttpRequest {
            data: None,
            ..planned.clone()
        };
        if varying.target {
            whole.url.target.clone_from(&self.target);
        }
        for (name, value) in self.fields.iter() {
            if name == "content-length" {
                continue;
            }
            let field = Header::new(name, value.as_bytes());
            whole
                .headers
                .push(field.map_err(|error| error.to_string())?);
        }
        if varying.body {
            whole.body = Body(Some(self.body.as_slice().into()));
        }
        Ok(whole)
    }
}
