"""Find, repair and parse the tool calls that models write in text."""

from chunkast.toolcalls.call_model import (
    ArgumentsDelta,
    Event,
    Part,
    Text,
    Tool,
    ToolCall,
    ToolCallFailed,
    ToolCallStart,
    ToolProblem,
)
from chunkast.toolcalls.protocols import PROTOCOLS, Protocol, protocol_table
from chunkast.toolcalls.repairs import (
    BALANCE_TAGS,
    DEDUPE_SHELL_STRING_TAGS,
    ESCAPE_INVALID_LT,
    NORMALIZE_CLOSE_TAGS,
    REPAIR_AGAINST_SCHEMA,
    ToolDraft,
    ToolHeuristic,
    ToolPipeline,
    default_pipeline,
)
from chunkast.toolcalls.stream import (
    MAX_CALL_SIZE,
    OnError,
    OnProblem,
    ToolCallStream,
    parse_tool_calls,
)
from chunkast.toolcalls.tools import tools_from_json
from chunkast.toolcalls.values import coerce

__all__ = (
    "BALANCE_TAGS",
    "DEDUPE_SHELL_STRING_TAGS",
    "ESCAPE_INVALID_LT",
    "MAX_CALL_SIZE",
    "NORMALIZE_CLOSE_TAGS",
    "PROTOCOLS",
    "REPAIR_AGAINST_SCHEMA",
    "ArgumentsDelta",
    "Event",
    "OnError",
    "OnProblem",
    "Part",
    "Protocol",
    "Text",
    "Tool",
    "ToolCall",
    "ToolCallFailed",
    "ToolCallStart",
    "ToolCallStream",
    "ToolDraft",
    "ToolHeuristic",
    "ToolPipeline",
    "ToolProblem",
    "coerce",
    "default_pipeline",
    "parse_tool_calls",
    "protocol_table",
    "tools_from_json",
)
