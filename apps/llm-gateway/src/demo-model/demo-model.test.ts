import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { afterTest } from '@slipway/testing/jest';
import fc from 'fast-check';
import { startTestGateway, type TestGateway } from '../test-gateway.js';
import { demoTurn } from './script.js';
import { readTranscript } from './transcript.js';

interface Message {
  role: string;
  content: string | null;
  tool_calls?: Array<{ id: string; type: string; function: { name: string; arguments: string } }>;
  tool_call_id?: string;
}

const TOOLS = ['terminal', 'file_editor', 'task_tracker', 'think', 'finish'].map((name) => ({
  type: 'function',
  function: { name, parameters: {} },
}));

let test: TestGateway;
let directory: string;
beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.close());

/** A folder with `files`, as a git repository with one commit unless `git` is false. */
async function workspace(files: Record<string, string>, git = true): Promise<string> {
  directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-demo-'));
  afterTest(() => rm(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
  if (git) {
    const run = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        cwd: directory,
        stdio: 'pipe',
      });
    run('init', '-q');
    if (Object.keys(files).length > 0) {
      run('add', '.');
      run('commit', '-qm', 'First commit');
    }
  }
  return directory;
}

/** The tools as the sandbox has them: a real bash, a real file. */
async function runTool(cwd: string, name: string, args: Record<string, string | number>): Promise<string> {
  if (name === 'terminal') {
    return new Promise((resolve) => {
      execFile('bash', ['--norc', '-c', String(args['command'])], { cwd }, (error, stdout, stderr) => {
        resolve(
          `${stdout}${stderr}\n[exit code ${typeof error?.code === 'number' ? error.code : 0}]\n[working directory: ${cwd}]`,
        );
      });
    });
  }
  if (name === 'file_editor') {
    const file = String(args['path']);
    if (args['command'] === 'create') {
      if (existsSync(file)) return '[This is an error.]\nThe file exists already.';
      writeFileSync(file, String(args['file_text']));
      return `File created: ${file}`;
    }
    const lines = readFileSync(file, 'utf8').split('\n');
    lines.splice(Number(args['insert_line']), 0, ...String(args['new_str']).split('\n'));
    writeFileSync(file, lines.join('\n'));
    return `Edited ${file}`;
  }
  return 'ok';
}

interface Run {
  readonly messages: Message[];
  readonly turns: number;
  /** What the user reads at the end. */
  readonly last: string;
}

/** Lets the model work until it finishes, as the agent loop does. */
async function drive(cwd: string, messages: Message[], tool = runTool): Promise<Run> {
  const key = await test.key(randomUUID());
  for (let turns = 1; turns <= 10; turns += 1) {
    const response = await test.post('/v1/chat/completions', { model: 'slipway-demo', messages, tools: TOOLS }, key);
    const { choices } = (await response.json()) as { choices: Array<{ message: Message }> };
    const message = choices[0]?.message;
    if (message === undefined) throw new Error('no answer');
    messages.push(message);
    const call = message.tool_calls?.[0];
    if (call === undefined) return { messages, turns, last: message.content ?? '' };
    const args = JSON.parse(call.function.arguments) as Record<string, string | number>;
    if (call.function.name === 'finish') {
      messages.push({ role: 'tool', content: 'ok', tool_call_id: call.id });
      return { messages, turns, last: String(args['message']) };
    }
    messages.push({ role: 'tool', content: await tool(cwd, call.function.name, args), tool_call_id: call.id });
  }
  throw new Error('it did not finish within 10 turns');
}

const start = (cwd: string, prompt: string): Message[] => [
  { role: 'system', content: `You are an agent. The project is in ${cwd}; use absolute paths.` },
  { role: 'user', content: prompt },
];
const FILE = 'SLIPWAY_DEMO.md';

describe('the demo model', () => {
  it('says in its first message that it is a script and not an AI, and how to get a real model', async () => {
    const { messages } = await drive(await workspace({ 'a.txt': 'a' }), start(directory, 'Fix the bug'));
    const first = messages.find((message) => message.role === 'assistant')?.content ?? '';
    expect(first).toContain('demo model');
    expect(first).toContain('not an AI');
    expect(first).toContain('LLM_BASE_URL');
  });

  it('finishes in six turns in a repository with files, and reports the real output of the tools', async () => {
    const cwd = await workspace({ 'README.md': '# Hello\n', 'b c.txt': 'x' });
    const { turns, last } = await drive(cwd, start(cwd, 'Add a test.\nPlease.'));
    expect(turns).toBe(6);
    const text = readFileSync(path.join(cwd, FILE), 'utf8');
    const hash = execFileSync('git', ['log', '--format=%h', '-n1'], { cwd, encoding: 'utf8' }).trim();
    for (const part of [
      '## Entry 1',
      '> Add a test.\n> Please.',
      `${hash} First commit`,
      '`README.md`',
      '`b c.txt`',
      'not an AI',
    ])
      expect(text).toContain(part);
    for (const part of [`${hash} First commit`, 'exit code 0', `?? ${FILE}`, 'not an AI']) expect(last).toContain(part);
    expect(execFileSync('git', ['status', '--short'], { cwd, encoding: 'utf8' }).trim()).toBe(`?? ${FILE}`);
  });

  it('finishes in an empty repository and in a folder without git, and says what git said', async () => {
    for (const git of [true, false]) {
      const cwd = await workspace({}, git);
      const { turns, last } = await drive(cwd, start(cwd, 'Hello'));
      expect(turns).toBe(6);
      expect(last).toContain('git said: fatal');
      expect(readFileSync(path.join(cwd, FILE), 'utf8')).toContain('There were no files.');
    }
  });

  it('adds an entry for each further message, and never loses the one before', async () => {
    const cwd = await workspace({ 'a.txt': 'a' });
    const { messages } = await drive(cwd, start(cwd, 'One'));
    messages.push({ role: 'user', content: 'Two' });
    await drive(cwd, messages);
    messages.push({ role: 'user', content: 'Three' });
    const { turns, last } = await drive(cwd, messages);
    expect(turns).toBe(6);
    expect(last).toContain('exit code 0');
    const text = readFileSync(path.join(cwd, FILE), 'utf8');
    expect(text.match(/^## Entry \d$/gm)).toEqual(['## Entry 1', '## Entry 2', '## Entry 3']);
    for (const words of ['> One', '> Two', '> Three']) expect(text).toContain(words);
  });

  it('begins again when a message arrives in the middle', async () => {
    const cwd = await workspace({ 'a.txt': 'a' });
    const messages = start(cwd, 'One');
    messages.push({
      role: 'assistant',
      content: 'x',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'task_tracker', arguments: '{}' } }],
    });
    messages.push({ role: 'tool', content: 'ok', tool_call_id: 'c1' }, { role: 'user', content: 'Two' });
    expect((await drive(cwd, messages)).turns).toBe(6);
  });

  it('reports a step that failed as failed', async () => {
    const cwd = await workspace({ 'a.txt': 'a' });
    const { last } = await drive(cwd, start(cwd, 'One'), async (where, name, args) =>
      name === 'file_editor' ? '[This is an error.]\nNo space left on device' : runTool(where, name, args),
    );
    expect(last).toContain('This step failed');
    expect(last).not.toContain('exit code 0');
    const broken = await drive(
      cwd,
      start(cwd, 'One'),
      async () => 'interrupted: this tool call was stopped before it answered',
    );
    expect(broken.last).toContain('did not answer in a form');
    expect(broken.last).toContain('interrupted');
  });

  it('counts with a real command, so that Stop can be tried, and says where it was cut short', async () => {
    const cwd = await workspace({});
    const { turns, last } = await drive(cwd, start(cwd, 'Please count to 2'));
    expect(turns).toBe(2);
    expect(last).toContain('The last number that the command printed is 2.');
    const cut = await drive(cwd, start(cwd, 'count to 60'), async () => '1\n2\n3\n\n[exit code -1]');
    expect(cut.last).toContain('is 3, not 60');
    expect(
      demoTurn(readTranscript({ messages: [{ role: 'user', content: 'count to 999999' }], tools: TOOLS })).text,
    ).toContain('600');
  });

  it('answers in words when the tools that it needs are not offered', async () => {
    const response = await test.post(
      '/v1/chat/completions',
      { model: 'slipway-demo', messages: [{ role: 'user', content: 'title?' }] },
      await test.key(randomUUID()),
    );
    const { choices } = (await response.json()) as { choices: Array<{ message: Message }> };
    expect(choices[0]?.message.tool_calls).toBeUndefined();
    expect(choices[0]?.message.content).toContain('not an AI');
  });

  it('gives the same request the same bytes, and the same answer streamed as whole', async () => {
    const key = await test.key(randomUUID());
    const body = { model: 'slipway-demo', messages: start('/w', 'Grüße 🎈'), tools: TOOLS };
    const ask = async (more: object): Promise<string> =>
      (await test.post('/v1/chat/completions', { ...body, ...more }, key)).text();
    const stream = await ask({ stream: true });
    expect(await ask({ stream: true })).toBe(stream);
    const frames = stream
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map(
        (frame) =>
          JSON.parse(frame.slice(6)) as {
            choices: Array<{ delta: { content?: string; tool_calls?: Array<{ function: { arguments: string } }> } }>;
          },
      );
    const deltas = frames.flatMap((frame) => frame.choices.map((choice) => choice.delta));
    const message = (JSON.parse(await ask({})) as { choices: Array<{ message: Message }> }).choices[0]?.message;
    expect(deltas.map((delta) => delta.content ?? '').join('')).toBe(message?.content);
    expect(deltas.map((delta) => delta.tool_calls?.[0]?.function.arguments ?? '').join('')).toBe(
      message?.tool_calls?.[0]?.function.arguments,
    );
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('has a turn for any request, and puts no text of the user into a shell command', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void demoTurn(readTranscript(value))));
    fc.assert(
      fc.property(fc.string(), fc.string(), (prompt, result) => {
        const messages = [{ role: 'user', content: `${prompt} $(touch /tmp/x)` }];
        for (let rounds = 0; rounds < 8; rounds += 1) {
          const { call } = demoTurn(readTranscript({ messages, tools: TOOLS }));
          if (call === null) return;
          if (call.tool === 'terminal') expect(String(call.arguments['command'])).not.toContain('touch');
          messages.push({
            role: 'assistant',
            content: '',
            tool_calls: [{ id: `c${rounds}`, function: { name: call.tool, arguments: '' } }],
          } as never);
          messages.push({ role: 'tool', content: result, tool_call_id: `c${rounds}` } as never);
        }
        throw new Error('no end');
      }),
    );
  });

  it('has answered a caller that goes with its last word', async () => {
    const paced = await startTestGateway({ DEMO_MODEL_DELAY_MS: '30' });
    try {
      const conversationId = randomUUID();
      const key = await paced.key(conversationId);
      const response = await paced.post(
        '/v1/chat/completions',
        { model: 'slipway-demo', messages: start('/w', 'x'), tools: TOOLS, stream: true },
        key,
      );
      const reader = response.body?.getReader();
      await until('the last word', async () =>
        new TextDecoder().decode((await reader?.read())?.value).includes('[DONE]'),
      );
      await reader?.cancel();
      expect(await paced.ledger(conversationId, 1)).toMatchObject([{ status: 'ok', usage_source: 'reported' }]);
    } finally {
      await paced.close();
    }
  });

  it('stops at once when the caller goes away, with what had been sent in the ledger', async () => {
    const paced = await startTestGateway({ DEMO_MODEL_DELAY_MS: '200' });
    try {
      const conversationId = randomUUID();
      const key = await paced.key(conversationId);
      const controller = new AbortController();
      const response = await paced.post(
        '/v1/chat/completions',
        { model: 'slipway-demo', messages: start('/w', 'x'), tools: TOOLS, stream: true },
        key,
        {
          signal: controller.signal,
        },
      );
      const reader = response.body?.getReader();
      await until('some text', async () => new TextDecoder().decode((await reader?.read())?.value).includes('content'));
      controller.abort();
      const [row] = await paced.ledger(conversationId, 1);
      expect(row).toMatchObject({
        status: 'aborted',
        usage_source: 'estimated',
        model: 'slipway-demo',
        cost_known: true,
      });
    } finally {
      await paced.close();
    }
  });
});
