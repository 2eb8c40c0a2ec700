import type { Dialect } from './dialect.js';
import { listOf, objectOf } from './json.js';

/** Says why a value is refused; `null`: it passes. */
export type Rule = (value: unknown) => string | null;

const pass: Rule = () => null;
const absent = (value: unknown): boolean =>
  value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
const refused =
  (sentence: string): Rule =>
  (value) =>
    absent(value) ? null : sentence;

const STATE =
  'the provider would keep it under a key that all organizations share; send the whole conversation with each request';
const SERVER_TOOL =
  'the provider would run it, outside of the egress rules and at a price of its own; use a tool that the agent runs';
const UNPRICED = 'it costs more than tokens, and this gateway has no price for it; leave it out';

const onlyText: Rule = (value) =>
  listOf(value).every((kind) => kind === 'text') ? null : `only text is offered: ${UNPRICED}`;
const noCompaction: Rule = (value) => {
  const edits = Array.isArray(value) ? value : listOf(objectOf(value)?.['edits']);
  return edits.some((edit) => String(objectOf(edit)?.['type']).startsWith('compact'))
    ? 'a compaction by the provider is an answer beside the output limit; let the agent do it'
    : null;
};
const standard: Rule = (value) =>
  absent(value) || value === 'standard' ? null : `only "standard" is offered: ${UNPRICED}`;

const sampling = ['temperature', 'top_p', 'top_k', 'seed', 'frequency_penalty', 'presence_penalty'];
const caches = ['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier'];

const fields = (names: readonly string[], rules: Readonly<Record<string, Rule>>): ReadonlyMap<string, Rule> =>
  new Map([...names.map((name) => [name, pass] as const), ...Object.entries(rules)]);

/**
 * Fields of a request by dialect, each with the rule for its value. A field that is not here is removed from a request
 * before it is sent: its cost and storage are unknown. `LLM_MODELS_FILE` may add fields to a model.
 */
export const OFFERED: Readonly<Record<Dialect, ReadonlyMap<string, Rule>>> = {
  chat: fields(
    [
      ...[
        'model',
        'messages',
        'stream',
        'stream_options',
        'max_tokens',
        'max_completion_tokens',
        'n',
        'tools',
        'tool_choice',
        'parallel_tool_calls',
      ],
      ...[
        'functions',
        'function_call',
        'response_format',
        'stop',
        'logprobs',
        'top_logprobs',
        'logit_bias',
        'user',
        'metadata',
        'service_tier',
        'store',
      ],
      ...['reasoning_effort', 'reasoning', 'thinking', 'verbosity', ...sampling, ...caches],
      // vLLM, SGLang, Ollama, LiteLLM, Qwen, Mistral and Groq: how an answer is sampled and shaped.
      ...[
        'min_p',
        'repetition_penalty',
        'stop_token_ids',
        'min_tokens',
        'ignore_eos',
        'skip_special_tokens',
        'chat_template_kwargs',
        'enable_thinking',
      ],
      ...[
        'guided_json',
        'guided_regex',
        'guided_choice',
        'guided_grammar',
        'structured_outputs',
        'include_reasoning',
        'reasoning_format',
        'safe_prompt',
      ],
      ...['random_seed', 'keep_alive'],
    ],
    {
      modalities: onlyText,
      audio: refused(UNPRICED),
      prediction: refused(UNPRICED),
      web_search_options: refused(SERVER_TOOL),
      plugins: refused(SERVER_TOOL),
      cached_content: refused(STATE),
    },
  ),
  responses: fields(
    [
      ...[
        'model',
        'input',
        'instructions',
        'stream',
        'stream_options',
        'tools',
        'tool_choice',
        'parallel_tool_calls',
        'max_output_tokens',
        'max_tool_calls',
      ],
      ...[
        'reasoning',
        'text',
        'metadata',
        'user',
        'service_tier',
        'store',
        'include',
        'truncation',
        'top_logprobs',
        'client_metadata',
        'background',
      ],
      ...['temperature', 'top_p', ...caches],
    ],
    {
      previous_response_id: refused(STATE),
      conversation: refused(STATE),
      prompt: refused(STATE),
      context_management: noCompaction,
    },
  ),
  messages: fields(
    [
      ...[
        'model',
        'messages',
        'system',
        'max_tokens',
        'stream',
        'tools',
        'tool_choice',
        'stop_sequences',
        'temperature',
        'top_p',
        'top_k',
        'metadata',
      ],
      ...['service_tier', 'thinking', 'output_config', 'output_format', 'cache_control'],
    ],
    {
      mcp_servers: refused(SERVER_TOOL),
      container: refused(STATE),
      fallbacks: refused(UNPRICED),
      inference_geo: refused(UNPRICED),
      speed: standard,
      context_management: noCompaction,
    },
  ),
  embeddings: fields(
    [
      'model',
      'input',
      'dimensions',
      'encoding_format',
      'user',
      'input_type',
      'truncate',
      'normalize',
      'embeddingTypes',
    ],
    {},
  ),
};

/**
 * Values of `type` in what a message carries: images and documents, which count for more tokens than bytes, and
 * references to what lies elsewhere.
 */
export const MAY_ATTACH: ReadonlySet<string> = new Set([
  ...[
    'image',
    'image_url',
    'input_image',
    'document',
    'file',
    'input_file',
    'input_audio',
    'audio',
    'audio_url',
    'video',
    'video_url',
  ],
  ...['item_reference', 'container_upload', 'computer_call_output', 'tool_search_output', 'additional_tools'],
]);

/** Tools that the agent runs itself, whoever designed them: a call of them is only tokens. */
const AGENTS_TOOLS: Readonly<Record<Dialect, RegExp>> = {
  chat: /^(function|custom|)$/,
  // `tool_search` finds tools that stand in the request itself.
  responses: /^(function|custom|local_shell|apply_patch|namespace|tool_search|)$/,
  messages: /^(custom|(bash|text_editor|computer|memory|tool_search_tool_regex|tool_search_tool_bm25)_\d+|)$/,
  embeddings: /^$/,
};

/** Searches of the web by the provider, in the versions that take a limit and bring nothing but tokens. */
const SEARCHES: Readonly<Partial<Record<Dialect, RegExp>>> = {
  responses: /^web_search(_\d{4}_\d{2}_\d{2})?$/,
  // Later ones run code on what they find.
  messages: /^web_search_20250305$/,
};

/** A tool of this type searches the web at the provider, and how often can be limited. */
export function isSearch(dialect: Dialect, type: unknown): boolean {
  return typeof type === 'string' && SEARCHES[dialect]?.test(type) === true;
}

/** Types of the tools in a list, and of those that a namespace in it holds. A tool that says none is `''`. */
export function toolTypesOf(tools: unknown, depth = 0): string[] {
  if (depth > MAX_TOOL_DEPTH) return ['too deep'];
  return listOf(tools).flatMap((value) => {
    const tool = objectOf(value);
    return [String(tool?.['type'] ?? ''), ...toolTypesOf(tool?.['tools'], depth + 1)];
  });
}

/** Providers take one namespace around a tool. */
const MAX_TOOL_DEPTH = 3;

/** Why a tool of this type is refused; `null`: it passes. */
export function toolRule(dialect: Dialect, type: string): string | null {
  return AGENTS_TOOLS[dialect].test(type) ? null : SERVER_TOOL;
}
