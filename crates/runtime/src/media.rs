//! The images and sounds of a run's tool calls: no value can hold them, so they follow the text of the run, up to a
//! bound.

use std::collections::BTreeMap;

use code_mode_registry::ContentBlock;

/// Where a block comes from: the number of its call, and its place in that call's content.
type Place = (usize, usize);

/// What is kept of them, whatever the order in which the calls settle: in the order of the calls, the longest
/// beginning that fits. A block that is over the limit by itself is passed over.
#[derive(Debug)]
pub(crate) struct Media {
    limit_bytes: usize,
    /// The kept blocks and the bytes of each.
    kept: BTreeMap<Place, (ContentBlock, usize)>,
    kept_bytes: usize,
    /// The first block that did not fit with those before it: nothing from here on is kept.
    cut: Option<Place>,
    left_out: usize,
}

/// What a run hands back of them.
#[derive(Debug, Default)]
pub(crate) struct Forwarded {
    /// In the order of the calls.
    pub(crate) blocks: Vec<ContentBlock>,
    /// How many more there were.
    pub(crate) left_out: usize,
    pub(crate) limit_bytes: usize,
}

impl Media {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, kept: BTreeMap::new(), kept_bytes: 0, cut: None, left_out: 0 }
    }

    /// Adds those of a call's content.
    pub(crate) fn add(&mut self, call: usize, content: &[ContentBlock]) {
        let blocks = content.iter().enumerate().filter(|(_, block)| is_media(block));
        for (index, block) in blocks {
            self.add_block((call, index), block);
        }
    }

    fn add_block(&mut self, place: Place, block: &ContentBlock) {
        let bytes = block.to_json().text_len();
        if bytes > self.limit_bytes || self.cut.is_some_and(|cut| place >= cut) {
            self.left_out += 1;
            return;
        }
        self.kept.insert(place, (block.clone(), bytes));
        self.kept_bytes += bytes;
        while self.kept_bytes > self.limit_bytes
            && let Some((last, (_, bytes))) = self.kept.pop_last()
        {
            self.kept_bytes -= bytes;
            self.left_out += 1;
            self.cut = Some(last);
        }
    }

    pub(crate) fn take(&mut self) -> Forwarded {
        let kept = std::mem::take(&mut self.kept);
        Forwarded {
            blocks: kept.into_values().map(|(block, _)| block).collect(),
            left_out: self.left_out,
            limit_bytes: self.limit_bytes,
        }
    }
}

fn is_media(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Image { .. } | ContentBlock::Audio { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(data: &str) -> ContentBlock {
        ContentBlock::image(data, "image/png")
    }

    /// Says which data is kept and how many are not, of calls that settle in this order under this limit.
    #[track_caller]
    fn check(limit_bytes: usize, calls: &[(usize, &[ContentBlock])], kept: &[&str], left_out: usize) {
        let mut media = Media::new(limit_bytes);
        for (number, content) in calls {
            media.add(*number, content);
        }
        let forwarded = media.take();
        assert_eq!(forwarded.blocks, kept.iter().map(|data| image(data)).collect::<Vec<_>>(), "{calls:?}");
        assert_eq!(forwarded.left_out, left_out, "{calls:?}");
    }

    #[test]
    fn blocks_fill_the_limit_to_the_byte_and_no_further() {
        let both = image("aaaa").to_json().text_len() + image("bb").to_json().text_len();
        let calls: &[(usize, &[ContentBlock])] =
            &[(1, &[ContentBlock::text("not one of them"), image("aaaa")]), (2, &[image("bb")])];
        check(both, calls, &["aaaa", "bb"], 0);
        check(both - 1, calls, &["aaaa"], 1);
        check(0, calls, &[], 2);
    }

    #[test]
    fn same_blocks_are_kept_in_whatever_order_the_calls_settle() {
        let too_long = image(&"x".repeat(200));
        let calls: [(usize, &[ContentBlock]); 4] = [
            (1, &[too_long]),
            (2, &[image("aaaaaa"), image("bb")]),
            (3, &[image("cccccc")]),
            (4, &[image("d")]),
        ];
        let limit = image("aaaaaa").to_json().text_len() + image("bb").to_json().text_len() + 50;
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [3, 1, 0, 2], [2, 0, 1, 3]] {
            check(limit, &order.map(|at| calls[at]), &["aaaaaa", "bb"], 3);
        }
    }
}
