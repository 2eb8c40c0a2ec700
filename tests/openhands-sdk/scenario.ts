import type { ModelTurn } from '@slipway/testing';
import { expect } from 'expect';

/** What a scenario leaves behind, as the SDK's client knows it. */
export interface Scenario {
  readonly id: string;
  readonly status: string;
  readonly events: ReadonlyArray<{ id: string; kind: string; key?: string; value?: unknown; [field: string]: unknown }>;
  readonly called_back: readonly string[];
  /** Ids of the whole log, each event read by the SDK's classes. */
  readonly log: readonly string[];
}

export const call = (name: string, args: object, text?: string): ModelTurn => ({
  ...(text === undefined ? {} : { text }),
  toolCalls: [{ name, arguments: { ...args } }],
});
export const terminal = (command: string, more: object = {}): ModelTurn => call('terminal', { command, ...more });
export const finish = (message = 'Done.'): ModelTurn => call('finish', { message });

/** Kinds of events without the state, and the values of what state there was. */
export const kinds = ({ events }: Scenario): string[] =>
  events.filter(({ kind }) => kind !== 'ConversationStateUpdateEvent').map(({ kind }) => kind);
export const statuses = ({ events }: Scenario): unknown[] =>
  events.filter(({ key }) => key === 'execution_status').map(({ value }) => value);

/**
 * The client knows every event of the log, each once; its callback was given each once, but for what was there before
 * it was.
 */
export function expectWhole(result: Scenario): void {
  const ids = result.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(result.log.filter((id) => !ids.includes(id))).toEqual([]);
  expect(new Set(result.called_back).size).toBe(result.called_back.length);
  expect(result.log.slice(1).filter((id) => !result.called_back.includes(id))).toEqual([]);
}
