//! The coordinator's journal: what it has taken, frame by frame.
//!
//! A frame is the length of its content, the CRC-32 of it, and the content; a journal that was cut
//! off ends before its last frame. The driver appends frames and syncs them; only then is what they
//! hold acknowledged.

/// The frame of a content.
pub(crate) fn frame(content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(8 + content.len());
    frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
    frame.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    frame.extend_from_slice(content);
    frame
}
