//! The violations that `http1` and `websocket` accepted, under the names with which the results
//! count them.

use drumfire_http1::{Notice, Notices};
use drumfire_measure::{Leniencies, Leniency};
use drumfire_websocket as ws;

/// The leniencies of a response; usually empty.
#[inline]
pub(crate) fn leniencies(notices: Notices) -> Leniencies {
    let mut leniencies = Leniencies::default();
    if notices != Notices::default() {
        notices
            .iter()
            .map(leniency)
            .for_each(|one| leniencies.insert(one));
    }
    leniencies
}

/// The leniency of a notice. The match is exhaustive, so that a new notice needs an arm here.
const fn leniency(notice: Notice) -> Leniency {
    match notice {
        Notice::HigherMinor => Leniency::HigherMinor,
        Notice::BareLf => Leniency::BareLf,
        Notice::ObsFold => Leniency::ObsFold,
        Notice::DuplicateLength => Leniency::DuplicateLength,
        Notice::Excess => Leniency::Excess,
        Notice::LengthAndCoding => Leniency::LengthAndCoding,
        Notice::CodingInHttp10 => Leniency::CodingInHttp10,
        Notice::ChunkSpace => Leniency::ChunkSpace,
        Notice::EmptyLine => Leniency::EmptyLine,
        Notice::NoCloseNotify => Leniency::NoCloseNotify,
    }
}

/// The leniencies of messages on a WebSocket; usually empty.
#[inline]
pub(crate) fn socket_leniencies(notices: ws::Notices) -> Leniencies {
    let mut leniencies = Leniencies::default();
    if notices != ws::Notices::default() {
        for notice in notices.iter() {
            leniencies.insert(socket_leniency(notice));
        }
    }
    leniencies
}

const fn socket_leniency(notice: ws::Notice) -> Leniency {
    match notice {
        ws::Notice::LongLength => Leniency::WebSocketLongLength,
        ws::Notice::Excess => Leniency::WebSocketExcess,
        ws::Notice::FinalBlock => Leniency::WebSocketFinalBlock,
    }
}

#[cfg(test)]
mod tests {
    use super::{leniencies, leniency, socket_leniency};
    use drumfire_http1::{Notice, Notices};
    use drumfire_measure::{Leniencies, Leniency};
    use drumfire_websocket as ws;

    /// Both crates print these names, so the names must be equal.
    #[test]
    fn a_notice_and_its_leniency_have_one_name() {
        for notice in Notice::ALL {
            assert_eq!(notice.name(), leniency(notice).name());
        }
        for notice in ws::Notice::ALL {
            assert_eq!(notice.name(), socket_leniency(notice).name());
        }
        // The others concern event streams.
        let of_streams = [Leniency::UnendedEvent, Leniency::UnmarkedEnd];
        let others = Leniency::ALL.iter().filter(|one| !of_streams.contains(one));
        assert_eq!(Notice::ALL.len() + ws::Notice::ALL.len(), others.count());
    }

    #[test]
    fn a_set_keeps_its_members() {
        assert_eq!(leniencies(Notices::default()), Leniencies::default());
        let mut notices = Notices::default();
        notices.insert(Notice::BareLf);
        notices.insert(Notice::EmptyLine);
        let set = leniencies(notices);
        let members = Leniency::ALL.iter().filter(|one| set.contains(**one));
        assert!(members.eq(&[Leniency::BareLf, Leniency::EmptyLine]));
    }
}
