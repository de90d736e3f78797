//! One reply as events of HTTP/2, played to a machine with any split.

use drumfire_grpc::{Decompressor, Message, Reply, ReplySettings, Status, write_message};

/// Fields of a head or of trailers.
pub(crate) type Fields = Vec<(String, Vec<u8>)>;

/// A server's bytes on one stream.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) http_status: u16,
    pub(crate) head: Fields,
    /// `None` if the head ends the stream.
    pub(crate) body: Option<Vec<u8>>,
    /// `None` if DATA ends the stream.
    pub(crate) trailers: Option<Fields>,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) messages: Vec<Received>,
}

/// A message: payload, length, length as sent.
pub(crate) type Received = (Vec<u8>, u32, u32);

impl Exchange {
    /// A valid reply with these messages; the caller changes the rest.
    pub(crate) fn with_messages(messages: &[&[u8]]) -> Self {
        let mut body = Vec::new();
        for message in messages {
            write_message(&mut body, message).expect("short");
        }
        Self {
            http_status: 200,
            head: fields(&[("content-type", "application/grpc")]),
            body: Some(body),
            trailers: Some(fields(&[("grpc-status", "0")])),
        }
    }

    /// Plays it with the body in one piece.
    pub(crate) fn play(&self, settings: &ReplySettings) -> Outcome {
        self.play_cut(settings, |body| vec![body])
    }

    /// Plays it with the body in the pieces that `cut` returns.
    pub(crate) fn play_cut(
        &self,
        settings: &ReplySettings,
        cut: impl Fn(&[u8]) -> Vec<&[u8]>,
    ) -> Outcome {
        let mut messages = Vec::new();
        let mut decompressor = Decompressor::default();
        let mut reply = Reply::new(settings);
        let mut sink = |message: Message<'_>| {
            messages.push((
                message.payload.to_vec(),
                message.length,
                message.length_sent,
            ));
        };
        let status = self.run(&mut reply, &mut decompressor, &mut sink, cut);
        assert_eq!(reply.messages(), messages.len() as u64);
        Outcome { status, messages }
    }

    fn run(
        &self,
        reply: &mut Reply,
        decompressor: &mut Decompressor,
        sink: &mut dyn FnMut(Message<'_>),
        cut: impl Fn(&[u8]) -> Vec<&[u8]>,
    ) -> Status {
        let Some(body) = &self.body else {
            return reply.trailers_only(self.http_status, borrowed(&self.head));
        };
        if let Err(violation) = reply.head(self.http_status, borrowed(&self.head)) {
            return violation.into();
        }
        for piece in cut(body) {
            if let Err(violation) = reply.data(piece, decompressor, &mut *sink) {
                return violation.into();
            }
        }
        match &self.trailers {
            Some(trailers) => reply.trailers(borrowed(trailers)),
            None => reply.handle_end(),
        }
    }
}

/// Fields in the form that a machine needs.
pub(crate) fn borrowed(fields: &Fields) -> impl Iterator<Item = (&str, &[u8])> {
    fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_slice()))
}

/// Fields from text.
pub(crate) fn fields(fields: &[(&str, &str)]) -> Fields {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), value.as_bytes().to_vec());
    fields.iter().map(owned).collect()
}
