import { observationKindOf, TOOLS, type ToolContract, toolKindOf } from '@slipway/contracts/actions';

/**
 * What the classes of OpenHands' SDK 1.58.0 and its tools take: they refuse an event that has another field.
 * `tests/openhands-sdk` reads what we send with those classes.
 */

/** Fields of each kind of event beside `id`, `timestamp`, `source`, `parent_id` and `kind`. */
export const EVENT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  ACPToolCallEvent: ['tool_call_id', 'title', 'status', 'tool_kind', 'raw_input', 'raw_output', 'content', 'is_error'],
  ActionEvent: [
    'thought',
    'reasoning_content',
    'thinking_blocks',
    'responses_reasoning_item',
    'action',
    'tool_name',
    'tool_call_id',
    'tool_call',
    'llm_response_id',
    'security_risk',
    'critic_result',
    'summary',
  ],
  AgentErrorEvent: ['tool_name', 'tool_call_id', 'error', 'classification'],
  Condensation: ['forgotten_event_ids', 'summary', 'summary_offset', 'llm_response_id'],
  CondensationRequest: [],
  CondensationSummaryEvent: ['summary'],
  ConversationErrorEvent: ['code', 'detail', 'classification'],
  ConversationStateUpdateEvent: ['key', 'value'],
  HookExecutionEvent: [
    'hook_event_type',
    'hook_command',
    'tool_name',
    'success',
    'blocked',
    'exit_code',
    'stdout',
    'stderr',
    'reason',
    'additional_context',
    'error',
    'action_id',
    'message_id',
    'hook_input',
  ],
  InterruptEvent: [],
  LLMCompletionLogEvent: ['filename', 'log_data', 'model_name', 'usage_id'],
  MessageEvent: ['llm_message', 'llm_response_id', 'activated_skills', 'extended_content', 'sender', 'critic_result'],
  ObservationEvent: ['tool_name', 'tool_call_id', 'observation', 'action_id', 'extended_content'],
  PauseEvent: [],
  SecurityAnalysisEvent: ['analyzer', 'policy', 'risks', 'details'],
  StreamingDeltaEvent: ['content', 'reasoning_content'],
  SystemPromptEvent: ['system_prompt', 'tools', 'dynamic_context'],
  TokenEvent: ['prompt_token_ids', 'response_token_ids'],
  UserRejectObservation: ['tool_name', 'tool_call_id', 'rejection_reason', 'rejection_source', 'action_id'],
};

/** Classes of tools that we do not have: an event of theirs in a log is passed on whole. */
const OTHER_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  AskOracleAction: ['question', 'context'],
  ClassifyAndSwitchLLMAction: [],
  EditAction: ['file_path', 'old_string', 'new_string', 'expected_replacements'],
  ReadFileAction: ['file_path', 'offset', 'limit'],
  SwitchLLMAction: ['profile_name', 'reason'],
  VisionInspectAction: ['image_index', 'question', 'profile_name'],
  WorkflowAction: ['name', 'script', 'max_concurrency'],
  WriteFileAction: ['file_path', 'content'],
};
const OTHER_OBSERVATIONS: Readonly<Record<string, readonly string[]>> = {
  AskOracleObservation: [],
  ClassifyAndSwitchLLMObservation: ['chosen_class', 'model', 'active_model'],
  ClientToolObservation: [],
  EditObservation: ['file_path', 'is_new_file', 'replacements_made', 'old_content', 'new_content'],
  FileChangeObservation: [],
  ReadFileObservation: ['file_path', 'file_content', 'is_truncated', 'lines_shown', 'total_lines'],
  SwitchLLMObservation: ['profile_name', 'reason', 'active_model'],
  VisionInspectObservation: ['image_index', 'question', 'profile_name', 'model', 'base_url', 'answer'],
  WorkflowObservation: ['name', 'status'],
  WriteFileObservation: ['file_path', 'is_new_file', 'old_content', 'new_content'],
};

const OURS = TOOLS.flatMap((tool: ToolContract) => (tool.openhands === undefined ? [] : [{ tool, ...tool.openhands }]));

/** Fields of each action that there is a class for, beside `kind`. */
export const ACTION_FIELDS: Readonly<Record<string, readonly string[]>> = {
  ...OTHER_ACTIONS,
  ...Object.fromEntries(OURS.map(({ tool, action }) => [toolKindOf(tool), action])),
};

/** Fields of each observation, beside `kind`, `content` and `is_error`. */
export const OBSERVATION_FIELDS: Readonly<Record<string, readonly string[]>> = {
  ...OTHER_OBSERVATIONS,
  ...Object.fromEntries(OURS.map(({ tool, observation }) => [observationKindOf(tool), observation])),
};
