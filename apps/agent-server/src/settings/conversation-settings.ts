import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { settingsOf } from '../openhands/agent-settings.js';

/** What is kept of a start, in `meta.json`. Nothing secret: keys and tokens come again with the next start. */
const ConversationMeta = z.object({
  id: z.uuid(),
  created_at: z.string(),
  model: z.string(),
  base_url: z.string().nullable(),
  working_dir: z.string(),
  max_iterations: z.int(),
  /** No change of `max_iterations` goes beyond it; `null`: any. */
  iteration_ceiling: z.int().nullable().default(null),
  max_budget: z.number().nullable().default(null),
  stuck_detection: z.boolean(),
  tags: z.record(z.string(), z.string()),
  title: z.string().nullable().default(null),
  /** What the start said that is only handed back, without its secrets. */
  handed_back: z.record(z.string(), z.unknown()).default({}),
  epoch: z.int().nullable(),
  /** `producerSeq` up to which the app had acknowledged when this was written. */
  acked: z.int(),
});
export type ConversationMeta = z.infer<typeof ConversationMeta>;

const DEFAULT_MAX_ITERATIONS = 500;

export function metaOf(
  id: string,
  request: StartConversationRequest,
  createdAt: string,
  title: string | null = null,
): ConversationMeta {
  return {
    id,
    created_at: createdAt,
    model: request.agent.llm.model,
    base_url: request.agent.llm.base_url ?? null,
    working_dir: request.workspace.working_dir,
    max_iterations: request.max_iterations ?? DEFAULT_MAX_ITERATIONS,
    iteration_ceiling: request.slipway?.iterationCeiling ?? null,
    max_budget: request.max_budget_per_task ?? null,
    stuck_detection: request.stuck_detection ?? true,
    tags: request.tags ?? {},
    title,
    handed_back: settingsOf(request),
    epoch: request.slipway?.epoch ?? null,
    acked: 0,
  };
}

/**
 * What a change of the steps is for a conversation: `null` is as many as can be, nothing stays. @throws SlipwayError
 * `request.invalid` beyond the ceiling.
 */
export function stepsOf(
  wanted: number | null | undefined,
  ceiling: number | null,
): Partial<Pick<ConversationMeta, 'max_iterations'>> {
  if (wanted === undefined) return {};
  if (wanted === null) return { max_iterations: ceiling ?? DEFAULT_MAX_ITERATIONS };
  if (ceiling === null || wanted <= ceiling) return { max_iterations: wanted };
  const message = `must be at most ${ceiling} here`;
  throw new SlipwayError('request.invalid', `max_iterations: ${message}`, {
    fields: [{ path: 'max_iterations', message }],
  });
}

export async function readMeta(directory: string): Promise<ConversationMeta | null> {
  try {
    return ConversationMeta.parse(JSON.parse(await readFile(path.join(directory, 'meta.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** Replaces the file atomically. Rejects when the disk is full; the old one then stays. */
export async function writeMeta(directory: string, meta: ConversationMeta): Promise<void> {
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, 'meta.json');
  await writeFile(`${file}.draft`, JSON.stringify(meta), { mode: 0o600 });
  await rename(`${file}.draft`, file);
}
