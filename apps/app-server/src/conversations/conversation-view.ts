import type { AgentType } from '@slipway/contracts/agent';
import type {
  ConfirmationMode,
  Conversation,
  ConversationStatus,
  ConversationSummary,
  QueuedMessage,
  SandboxStatus,
  StartStatus,
  StartStep,
} from '@slipway/contracts/conversations';
import type { ExecutionStatus } from '@slipway/contracts/events';
import { runtimeState } from '@slipway/domain';
import { storedStatus } from '../log/ingest/status-patch.js';

/** A conversation's row, as the queries of this feature read it. */
export interface ConversationRow {
  readonly id: string;
  readonly org_id: string;
  readonly title: string;
  readonly status: ConversationStatus;
  readonly execution_status: ExecutionStatus;
  readonly sandbox_status: SandboxStatus;
  readonly start_status: StartStatus;
  readonly steps: readonly StartStep[];
  readonly status_state: unknown;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly model: string;
  readonly created_by: string;
  readonly created_by_label: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly head: number;
  /** Decimal, as Postgres writes it. */
  readonly cost_usd: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly confirmation_mode: ConfirmationMode;
  readonly agent_type: AgentType;
  readonly max_iterations: number | null;
  /** Decimal. */
  readonly max_budget_usd: string | null;
  readonly forked_from: string | null;
  readonly forked_seq: number | null;
  readonly tags: readonly string[];
  readonly archived_at: Date | null;
  readonly deleted_at: Date | null;
  /** By the user who reads it. */
  readonly pinned: boolean;
}

function toSummary(row: ConversationRow): Omit<ConversationSummary, 'pullRequest' | 'stopReason' | 'readSeq'> {
  return {
    id: row.id,
    orgId: row.org_id,
    title: row.title,
    status: row.status,
    executionStatus: row.execution_status,
    sandboxStatus: row.sandbox_status,
    repository: row.repository,
    branch: row.branch,
    model: row.model,
    createdBy: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    head: row.head,
    costUsd: withoutTrailingZeros(row.cost_usd),
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    pinned: row.pinned,
    tags: [...row.tags],
    archivedAt: row.archived_at?.toISOString() ?? null,
    deletedAt: row.deleted_at?.toISOString() ?? null,
  };
}

export function toConversation(
  row: ConversationRow,
  queued: QueuedMessage[],
): Omit<Conversation, 'readSeq' | 'readAt'> {
  return {
    ...toSummary(row),
    start: { status: row.start_status, steps: [...row.steps] },
    runtime: runtimeState({
      state: storedStatus(row.status_state),
      startStatus: row.start_status,
      steps: row.steps,
      sandboxStatus: row.sandbox_status,
    }),
    queued,
    forkedFrom:
      row.forked_from === null || row.forked_seq === null
        ? null
        : { conversation: row.forked_from, seq: row.forked_seq },
    confirmation: row.confirmation_mode,
    agentType: row.agent_type,
    maxIterations: row.max_iterations,
    maxBudgetUsd: row.max_budget_usd,
  };
}

/** `0.0421000000` → `0.0421`, `0.0000000000` → `0`. */
function withoutTrailingZeros(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

/** Longest title that is made from a prompt. Characters as people count them. */
const MAX_TITLE = 80;

/** The first line that says something, cut at a whole character. */
export function titleOf(prompt: string): string {
  const line =
    prompt
      .split(/\r?\n/)
      .find((each) => each.trim() !== '')
      ?.trim() ?? prompt.trim();
  const characters = [
    ...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(line.slice(0, MAX_TITLE * 16)),
  ].map(({ segment }) => segment);
  return characters.length <= MAX_TITLE && line.length <= MAX_TITLE * 16
    ? line
    : `${characters
        .slice(0, MAX_TITLE - 1)
        .join('')
        .trimEnd()}…`;
}
