//! What the model sees: content blocks in the shapes of MCP, and contexts that are injected after a step.

use std::sync::Arc;

use code_mode_schema::{Json, json};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One block of a result's content. JSON: the MCP shapes, for example `{"type":"text","text":"…"}` and
/// `{"type":"image","data":"…","mimeType":"image/png"}`.
///
/// A block with more fields than its variant has (annotations, say) is kept whole as [`ContentBlock::Other`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text.
        text: Arc<str>,
    },
    /// An image.
    Image {
        /// The bytes in base64.
        data: Arc<str>,
        /// For example `image/png`.
        mime_type: Arc<str>,
    },
    /// A sound.
    Audio {
        /// The bytes in base64.
        data: Arc<str>,
        /// For example `audio/wav`.
        mime_type: Arc<str>,
    },
    /// An embedded resource.
    Resource {
        /// `{uri, mimeType?, text | blob}`.
        resource: Json,
    },
    /// Any other block, as it is.
    Other(Json),
}

impl ContentBlock {
    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text { text: text.into() }
    }

    /// An image block of base64 data.
    #[must_use]
    pub fn image(data: impl Into<Arc<str>>, mime_type: impl Into<Arc<str>>) -> Self {
        Self::Image { data: data.into(), mime_type: mime_type.into() }
    }

    /// The text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }

    /// The `type` field.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Text { .. } => "text",
            Self::Image { .. } => "image",
            Self::Audio { .. } => "audio",
            Self::Resource { .. } => "resource",
            Self::Other(block) => block.get("type").and_then(Json::as_str).unwrap_or("unknown"),
        }
    }

    /// The size of what it carries: text in UTF-8, an image or a sound in base64, any other block as JSON text.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Image { data, .. } | Self::Audio { data, .. } => data.len(),
            Self::Resource { resource: block } | Self::Other(block) => block.text_len(),
        }
    }

    /// The block as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let kind = self.kind();
        match self {
            Self::Text { text } => json!({"type": kind, "text": Arc::clone(text)}),
            Self::Image { data, mime_type } | Self::Audio { data, mime_type } => {
                json!({"type": kind, "data": Arc::clone(data), "mimeType": Arc::clone(mime_type)})
            }
            Self::Resource { resource } => json!({"type": kind, "resource": resource.clone()}),
            Self::Other(block) => block.clone(),
        }
    }

    /// A block from JSON. Every value is accepted; what is no known shape becomes [`ContentBlock::Other`].
    #[must_use]
    pub fn from_json(block: &Json) -> Self {
        known_shape(block).unwrap_or_else(|| Self::Other(block.clone()))
    }
}

fn known_shape(block: &Json) -> Option<ContentBlock> {
    let fields = block.as_object()?.len();
    let text = |key| match block.get(key) {
        Some(Json::String(text)) => Some(Arc::clone(text)),
        _ => None,
    };
    match (block.get("type")?.as_str()?, fields) {
        ("text", 2) => Some(ContentBlock::Text { text: text("text")? }),
        ("image", 3) => Some(ContentBlock::Image { data: text("data")?, mime_type: text("mimeType")? }),
        ("audio", 3) => Some(ContentBlock::Audio { data: text("data")?, mime_type: text("mimeType")? }),
        ("resource", 2) => Some(ContentBlock::Resource { resource: block.get("resource")?.clone() }),
        _ => None,
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Json::deserialize(deserializer).map(|block| Self::from_json(&block))
    }
}

/// The text blocks, joined by newline.
pub(crate) fn text_of(content: &[ContentBlock]) -> String {
    content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}

/// Something a tool, a wrapper or a post-policy wants the model to read after the results of the step
/// (contract 3.12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AdditionalContext {
    /// What the model reads.
    pub content: Vec<ContentBlock>,
    /// Who supplied it, for operators and display.
    pub source: Arc<str>,
    /// Where the host should put it; the host's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Arc<str>>,
    /// Anything for the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Json>,
}

impl AdditionalContext {
    /// A context of one text block.
    #[must_use]
    pub fn text(source: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { content: vec![ContentBlock::text(text)], source: source.into(), placement: None, meta: None }
    }

    /// A context of any blocks.
    #[must_use]
    pub fn new(source: impl Into<Arc<str>>, content: Vec<ContentBlock>) -> Self {
        Self { content, source: source.into(), placement: None, meta: None }
    }

    /// The text blocks of the content, joined by newline, as [`ToolResult::text`](crate::ToolResult::text) gives them.
    #[must_use]
    pub fn joined_text(&self) -> String {
        text_of(&self.content)
    }

    /// Sets the placement.
    #[must_use]
    pub fn with_placement(mut self, placement: impl Into<Arc<str>>) -> Self {
        self.placement = Some(placement.into());
        self
    }

    /// Sets the meta.
    #[must_use]
    pub fn with_meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }
}
