import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { byAnswersSoFar } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { npmProgram, run } from '@slipway/testing/programs';
import { GPT, type ModelClients, openModelClients, type Way } from './world.ts';

interface Cli {
  readonly name: string;
  readonly version: string;
  /** Its tool that writes a file, with the names of its two arguments. */
  readonly tool: string;
  readonly fields: readonly [file: string, content: string];
  command(
    modules: string,
    way: Way,
  ): { program: string; args: readonly string[]; env: Readonly<Record<string, string>> };
}

const TASK = 'Write the greeting into hello.txt';
const GREETING = 'Hello from an agent.\n';

const CLIS: readonly Cli[] = [
  {
    name: '@qwen-code/qwen-code',
    version: '0.24.4',
    tool: 'write_file',
    fields: ['file_path', 'content'],
    command: (modules, { origin, key }) => ({
      program: process.execPath,
      args: [
        path.join(modules, '@qwen-code/qwen-code/cli-entry.js'),
        '--auth-type',
        'openai',
        '--yolo',
        '-m',
        GPT,
        TASK,
      ],
      env: {
        OPENAI_API_KEY: key,
        OPENAI_BASE_URL: `${origin}/v1`,
        OPENAI_MODEL: GPT,
        QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
      },
    }),
  },
  {
    name: 'opencode-ai',
    version: '1.18.33',
    tool: 'write',
    fields: ['filePath', 'content'],
    command: (modules, { origin, key }) => ({
      program: path.join(modules, `opencode-${process.platform}-${process.arch}`, 'bin/opencode'),
      args: ['run', '-m', `slipway/${GPT}`, TASK],
      env: {
        // Nothing of it asks the internet.
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          autoupdate: false,
          share: 'disabled',
          provider: {
            slipway: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Slipway',
              options: { baseURL: `${origin}/v1`, apiKey: key },
              models: { [GPT]: { name: GPT } },
            },
          },
        }),
      },
    }),
  },
];

describe('coding agents of others, through the gateway', () => {
  let clients: ModelClients;
  let folder: string;
  beforeAll(async () => {
    clients = await openModelClients([]);
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-coding-clis-'));
  });
  afterAll(async () => {
    await clients?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  for (const cli of CLIS) {
    it(`${cli.name} does a task with a tool, as it does without the gateway`, async () => {
      const installed = await npmProgram(cli.name, cli.version);
      if ('missing' in installed) return skipTest(installed.missing);
      const [home, workspace] = [path.join(folder, 'home'), path.join(folder, 'workspace')];
      const file = path.join(workspace, 'hello.txt');
      const [fileField, contentField] = cli.fields;
      const done = async (way: Way): Promise<{ output: string; file: string; asked: number[] }> => {
        // The same paths both times: they are in the model's prompt.
        for (const each of [home, workspace]) {
          await rm(each, { recursive: true, force: true });
          await mkdir(each);
        }
        const from = way.provider.requests.length;
        clients.use(
          byAnswersSoFar([
            {
              text: 'I write it.',
              toolCalls: [{ name: cli.tool, arguments: { [fileField]: file, [contentField]: GREETING } }],
            },
            { text: 'It is written.' },
          ]),
        );
        const { program, args, env } = cli.command(installed.modules, way);
        const { code, output } = await run(program, args, {
          timeoutMs: 150_000,
          cwd: workspace,
          env: {
            PATH: process.env['PATH'],
            HOME: home,
            XDG_CACHE_HOME: path.join(home, '.cache'),
            NO_COLOR: '1',
            ...env,
          },
        });
        if (code !== 0 || !existsSync(file)) throw new Error(`${cli.name} ended with ${code}:\n${output}`);
        const asked = way.provider.requests.slice(from).map(({ body }) => (body.messages ?? []).length);
        return { output: output.slice(-200), file: await readFile(file, 'utf8'), asked };
      };
      const [direct, through] = [await done(clients.direct), await done(clients.through)];
      expect(through.file).toBe(GREETING);
      expect(through.output).toContain('It is written.');
      expect(through).toEqual(direct);
    }, 400_000);
  }
});
