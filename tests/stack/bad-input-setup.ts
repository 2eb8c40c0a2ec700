import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { type EventOf } from '@slipway/contracts/events';
import { createSampleRepository } from '@slipway/testing';
import { OpenStack } from './open-stack.ts';
import { type Harness } from './script-book.ts';
import type { Talk } from './talk.ts';

export let open: OpenStack;
export const privateNames = ['private.git'];
export const sample = { 'README.md': '# Sample\n' };

export const repository = (name: string): string => `${open.git.url}/${name}`;
export let harnesses = 0;
export const harnessName = (): string => {
  harnesses += 1;
  return `harness ${harnesses}`;
};
export const sayHello = (talk: Talk): Promise<void> => goesOn(talk, [{ text: 'Hello again.' }]);
/** The conversation takes another message and comes to its end with it. */
export async function goesOn(talk: Talk, harness: Harness): Promise<void> {
  const message = await talk.send(open.book.write(harnessName(), harness));
  await talk.ended('finished', message);
  await talk.expectWholeLog();
}
export const begin = (harness: Harness, more: { repository?: string; branch?: string } = {}): Promise<Talk> =>
  open.talk(harnessName(), harness, more);

/** A stack with short limits, a repository, and a model that says what a test has it say. */
export function setUpBadInput(): void {
  beforeAll(async () => {
    open = await OpenStack.open({
      privateNames,
      env: {
        SETUP_SCRIPT_TIMEOUT_SECONDS: '5',
        CLONE_TIMEOUT_SECONDS: '6',
        LLM_FIRST_BYTE_TIMEOUT_SECONDS: '4',
        LLM_SILENCE_TIMEOUT_SECONDS: '4',
      },
    });
    await createSampleRepository(open.repositories, 'sample.git', sample);
  });
  afterAll(() => open.close());
}

export type Observation = EventOf<'ObservationEvent'>['observation'];

/** A sentence that a user can use: of the right kind, with the essential words, and nothing of the machinery in it. */
export function expectExplained(
  problem: { code?: string | undefined; detail?: string | undefined } | undefined,
  code: ErrorCode,
  words: RegExp,
): void {
  expect(problem).toMatchObject({ code, detail: expect.stringMatching(words) });
  expect(problem?.detail).not.toMatch(/node_modules|\n\s+at |undefined|\[object|ECONN|UND_ERR/);
  expect(ERRORS[code].nextStep).toMatch(/\w+ .*\.$/);
}

export function textOf(observation: Observation | undefined): string {
  return observation?.content.map(({ text }) => text).join('') ?? '';
}

/** Command lines of this machine's processes that hold `words`. */
export function processesNamed(words: string): string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((command) => command.startsWith(words));
}
