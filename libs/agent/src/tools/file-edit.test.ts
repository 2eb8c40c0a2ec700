import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type FileEditAction,
  FileEditObservation,
  type SandboxAction,
  type SandboxObservation,
} from '@slipway/contracts/actions';
import { textOfContent } from '@slipway/contracts/events';
import { type ModelServer, startModelServer } from '@slipway/testing';
import { MemoryLog, SETTINGS, testPorts } from '../testing.js';
import { EDIT_FILE } from './file-edit.js';

const FILE = 'one\ntwo\nthree';

describe('an edit by a draft', () => {
  let model: ModelServer;
  const asked: Array<Record<string, unknown>> = [];
  beforeAll(async () => {
    model = await startModelServer({ script: [] });
  });
  afterAll(() => model.close());

  /** The file editor of a sandbox with one file; each answer is in its words. */
  const editor = async (action: SandboxAction): Promise<SandboxObservation> => {
    asked.push(action);
    const { command, path } = action as { command: 'view'; path: string };
    const missing = path === '/missing' && command === 'view';
    const text = missing
      ? 'There is no file.'
      : command === 'view'
        ? `Here's the result:\n${FILE.split('\n')
            .map((line, index) => `     ${index + 1}\t${line}`)
            .join('\n')}`
        : 'Done.';
    return {
      kind: 'FileEditorObservation',
      command,
      path,
      content: [{ type: 'text', text }],
      is_error: missing,
      prev_exist: true,
      old_content: null,
      new_content: null,
      ...(missing ? { error_code: 'file.not-found' } : {}),
    };
  };
  const edit = async (
    answer: string,
    more: Partial<FileEditAction> = {},
    holdsSecret?: (text: string) => boolean,
  ): Promise<FileEditObservation> => {
    asked.length = 0;
    model.use([{ text: answer }]);
    const log = new MemoryLog();
    const ports = { ...testPorts(log, model, editor), ...(holdsSecret === undefined ? {} : { holdsSecret }) };
    const action = {
      kind: 'FileEditAction' as const,
      path: '/a',
      content: 'one\n# ... existing code ...\nTHREE',
      start: 1,
      end: -1,
      ...more,
    };
    const observation = await EDIT_FILE.observe?.(action, {
      events: [],
      event: {} as never,
      ports,
      settings: SETTINGS,
      signal: new AbortController().signal,
    });
    return FileEditObservation.parse(observation);
  };

  it('is merged by the model, and written as one replacement that can be taken back', async () => {
    const done = await edit('Here it is:\n```ts\none\ntwo\nTHREE\n```\nThat is all.');
    expect(done).toMatchObject({
      is_error: false,
      prev_exist: true,
      old_content: FILE,
      new_content: 'one\ntwo\nTHREE',
    });
    expect(asked.at(-1)).toMatchObject({ command: 'str_replace', old_str: FILE, new_str: 'one\ntwo\nTHREE' });
  });

  it('keeps code blocks that are in the file', async () => {
    expect((await edit('````\n```sh\nls\n```\n````')).new_content).toBe('```sh\nls\n```');
  });

  it('creates a file that is not there, without the model', async () => {
    const calls = model.requests.length;
    expect(await edit('', { path: '/missing', content: 'new' })).toMatchObject({
      is_error: false,
      prev_exist: false,
      new_content: 'new',
    });
    expect(model.requests.length).toBe(calls);
  });

  it('changes nothing when the answer is not whole, is none, or is the same', async () => {
    for (const answer of ['no block', '```\nnever closed'])
      await expect(edit(answer)).rejects.toMatchObject({ code: 'model.bad-response' });
    expect(textOfContent((await edit(`\`\`\`\n${FILE}\n\`\`\``)).content)).toContain('changes nothing');
    expect(asked.every((action) => action['command'] === 'view')).toBe(true);
  });

  it('shows no secret to the model, and takes no part that is too long or none', async () => {
    const calls = model.requests.length;
    await expect(edit('', {}, (text) => text.includes('two'))).rejects.toMatchObject({ code: 'request.invalid' });
    await expect(edit('', { start: 1, end: 5_000 })).rejects.toMatchObject({ code: 'request.invalid' });
    await expect(edit('', { start: 3, end: 2 })).rejects.toMatchObject({ code: 'request.invalid' });
    expect(model.requests.length).toBe(calls);
  });
});
