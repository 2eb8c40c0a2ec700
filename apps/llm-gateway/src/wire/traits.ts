import type { Target } from './exchange.js';

/** What a request has to know of the model that it is written for. */
export interface Traits {
  readonly model: string;
  /** LiteLLM's additions to chat are understood. */
  readonly chatAdditions: boolean;
  /**
   * Name of the limit in chat: OpenAI's newer models refuse the old one, and servers of others do not know the new one.
   */
  readonly chatLimit: 'max_tokens' | 'max_completion_tokens';
  readonly reasoning: 'none' | 'effort' | 'budget' | 'adaptive';
  /** What comes nearest to no reasoning where an effort is said; `null`: nothing is to be said. */
  readonly leastEffort: string | null;
  /** `false`: temperature and its like are refused. */
  readonly sampling: boolean;
  /** It gives its reasoning encrypted, to be sent back. Responses only. */
  readonly encryptedReasoning: boolean;
  /** It keeps answers of chat unless asked not to. */
  readonly storesChat: boolean;
  /** Tokens, for a dialect that demands a limit. */
  readonly maxOutputTokens: number;
}

/** Every Claude since 3.5 can say as much. Tokens. */
const DEFAULT_MAX_OUTPUT = 8_192;
/** They refuse fields that they do not know. */
const STRICT_HOSTS =
  /(^|\.)(api\.openai\.com|openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com|api\.groq\.com|api\.mistral\.ai)$/;
const OPENAI_HOSTS = /(^|\.)(api\.openai\.com|azure\.com)$/;
const OPENAI_REASONING = /(^|[/.])(o\d|gpt-[5-9](?!.*chat)|codex)/;
const LEAST_EFFORTS: readonly (readonly [RegExp, string])[] = [
  [/(^|[/.])gpt-(5\.[1-9](?!\d*-codex)|[6-9])/, 'none'],
  [/(^|[/.])gpt-5(?!.*codex)/, 'minimal'],
  [/(^|[/.])(o\d|gpt-5|codex)/, 'low'],
];
/**
 * `claude-opus-4-7`, `anthropic.claude-sonnet-4-5-20250929-v1:0`, `claude-3-7-sonnet`, `claude-fable-5`: major, minor.
 */
const CLAUDE = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

export function traitsOf(
  target: Pick<Target, 'baseUrl' | 'model' | 'maxOutputTokens' | 'reasoning' | 'chatAdditions'>,
): Traits {
  const host = URL.canParse(target.baseUrl) ? new URL(target.baseUrl).hostname : '';
  const model = target.model.toLowerCase();
  const claude = CLAUDE.exec(model);
  const version = claude === null ? null : Number(claude[1]) + Number(claude[2] ?? 0) / 100;
  const openAiReasoning = OPENAI_REASONING.test(model);
  return {
    model: target.model,
    chatAdditions: target.chatAdditions ?? !STRICT_HOSTS.test(host),
    chatLimit: OPENAI_HOSTS.test(host) || openAiReasoning ? 'max_completion_tokens' : 'max_tokens',
    reasoning: target.reasoning ?? reasoningOf(version),
    leastEffort: LEAST_EFFORTS.find(([name]) => name.test(model))?.[1] ?? null,
    sampling: version === null ? !openAiReasoning : version < 4.07,
    encryptedReasoning: target.reasoning !== 'none' && openAiReasoning,
    storesChat: OPENAI_HOSTS.test(host),
    maxOutputTokens: target.maxOutputTokens ?? DEFAULT_MAX_OUTPUT,
  };
}

function reasoningOf(claude: number | null): Traits['reasoning'] {
  if (claude === null) return 'effort';
  if (claude < 3.07) return 'none';
  return claude < 4.06 ? 'budget' : 'adaptive';
}
