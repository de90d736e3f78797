//! Connections by token.

/// One worker's connections of one kind. A token holds a slot's number and its generation, so that a stale
/// event or timer finds nothing instead of a stranger.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    /// Counts the connections that this slot has had; below 2³¹.
    generation: u32,
    connection: Option<T>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

fn token(index: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(index)
}

fn split(token: u64) -> (usize, u32) {
    // Both halves fit by construction.
    ((token & 0xffff_ffff) as usize, (token >> 32) as u32)
}

impl<T> Slots<T> {
    /// Takes in a connection, made with its token.
    pub(crate) fn insert(&mut self, make: impl FnOnce(u64) -> T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                connection: None,
            });
            // Descriptors are 31 bits wide, and each connection has one.
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        let token = token(index, slot.generation);
        slot.connection = Some(make(token));
        token
    }

    /// The connection that a token stands for.
    #[inline]
    pub(crate) fn find(&mut self, token: u64) -> Option<&mut T> {
        let (index, generation) = split(token);
        let slot = self.slots.get_mut(index)?;
        if slot.generation != generation {
            return None;
        }
        slot.connection.as_mut()
    }

    /// Takes a connection out.
    pub(crate) fn remove(&mut self, token: u64) -> Option<T> {
        let (index, generation) = split(token);
        let slot = self.slots.get_mut(index)?;
        if slot.generation != generation {
            return None;
        }
        let connection = slot.connection.take()?;
        slot.generation = (slot.generation + 1) & 0x7fff_ffff;
        self.free.push(index as u32);
        Some(connection)
    }

    /// Takes all connections out.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.free.clear();
        self.slots.drain(..).filter_map(|slot| slot.connection)
    }
}
