import { type CondenserSettings, lastStats, type RunSettings, StatsBook } from '@slipway/agent';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import type { ConfirmationSettings } from '@slipway/contracts/conversations';
import type { ConversationEvent } from '@slipway/contracts/events';
import { LlmRegistry } from '@slipway/llm';
import type { AppLink } from '../conversations/app-link.js';
import type { ConversationMeta } from '../settings/conversation-settings.js';
import { llmConfigOf } from './agent-ports.js';

const DEFAULT_MODEL_RETRIES = 5;

/**
 * What a start brought: present while the conversation can run. A restarted process has only the log until it is
 * started again.
 */
export interface Started {
  /** As it came; the model in it is the one in use. Holds keys. */
  request: StartConversationRequest;
  readonly llms: LlmRegistry;
  readonly stats: StatsBook;
  readonly condenser: CondenserSettings;
  modelRetries: number;
  readonly streaming: boolean;
  readonly link: AppLink | null;
}

export function startedOf(
  request: StartConversationRequest,
  events: readonly ConversationEvent[],
  link: AppLink | null,
): Started {
  const { llm, condenser } = request.agent;
  const ownModel = condenser?.llm ?? null;
  return {
    request,
    llms: new LlmRegistry({
      agent: llmConfigOf(llm),
      // A client that names one model twice means one: it is then switched with the agent's.
      ...(ownModel === null || (ownModel.model === llm.model && ownModel.base_url === llm.base_url)
        ? {}
        : { condenser: llmConfigOf(ownModel) }),
    }),
    stats: new StatsBook(lastStats(events)),
    condenser: {
      automatic: condenser?.kind !== 'NoOpCondenser',
      maxTokens: condenser?.max_tokens ?? null,
      maxEvents: condenser?.max_size ?? null,
    },
    modelRetries: modelRetriesOf(llm),
    streaming: llm['stream'] === true,
    link,
  };
}

export function modelRetriesOf(llm: StartConversationRequest['agent']['llm']): number {
  return llm.num_retries ?? DEFAULT_MODEL_RETRIES;
}

/** The settings of a run, each read when it is needed: they may change while it goes on. */
export function runSettings(
  started: Started,
  meta: () => ConversationMeta,
  confirmation: () => ConfirmationSettings,
  mayCarryOut: RunSettings['mayCarryOut'],
): RunSettings {
  return {
    mayCarryOut,
    get maxIterations() {
      return meta().max_iterations;
    },
    get maxCostUsd() {
      return meta().max_budget;
    },
    get stuckDetection() {
      return meta().stuck_detection;
    },
    get modelRetries() {
      return started.modelRetries;
    },
    get confirmation() {
      return confirmation();
    },
    condenser: started.condenser,
  };
}
