// A repository of 100,000 files and a file of 2 GB: changes, search, lists, skills, archive and downloads, beside a
// plain `git status`; and the memory of it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@slipway/testing';
import { Agent, request } from 'undici';
import { startProcess } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const TOKEN = 'bench-token-of-at-least-32-characters';
const FOLDERS = quick(500, 30);
const FILES = quick(200, 10);
const TIMES = quick(3, 1);
const SPARSE_BYTES = quick(2 * 1024 ** 3, 1_048_576);

/** A connection for each: what runs in this process between two of them would outlast a kept one. */
const dispatcher = new Agent({ pipelining: 0 });

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-large-'));
  const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(WORKSPACE_DIR);
  const git = (...argv: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
      cwd: WORKSPACE_DIR,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const running = startProcess(process.execPath, [BUNDLE], {
    HOME: folder,
    WORKSPACE_DIR,
    STATE_DIR,
    ACTION_SERVER_TOKEN: TOKEN,
    LOG_LEVEL: 'warn',
  });
  try {
    const listening = path.join(STATE_DIR, 'action-server.json');
    await until('action-server listens', () => existsSync(listening));
    const url = `http://127.0.0.1:${(JSON.parse(readFileSync(listening, 'utf8')) as { port: number }).port}`;
    const ask = async (
      method: 'GET' | 'POST',
      route: string,
      body?: object,
    ): Promise<{ status: number; bytes: number }> => {
      const answer = await request(url + route, {
        dispatcher,
        method,
        headers: { 'x-session-api-key': TOKEN },
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      let bytes = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) bytes += chunk.length;
      return { status: answer.statusCode, bytes };
    };
    const act = (action: object) => (): Promise<unknown> => ask('POST', '/execute_action', { action });
    const get = (route: string) => (): Promise<unknown> => ask('GET', route);
    const peak = (): number =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${running.pid}/status`, 'utf8'))?.[1]) / 1024;
    const time = async (once: () => unknown, times = TIMES): Promise<number> => {
      const samples: number[] = [];
      for (let index = 0; index < times; index += 1) {
        const began = performance.now();
        await once();
        samples.push(performance.now() - began);
      }
      return percentile(samples, 0.5);
    };

    makeFiles(WORKSPACE_DIR);
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'all');
    for (let index = 0; index < 20; index += 1)
      writeFileSync(path.join(WORKSPACE_DIR, `folder-${index}/file-0.ts`), 'changed\n');
    const before = peak();
    const status = await time(() => git('status', '--porcelain'));
    report.figure({ figure: 'git-status', value: status, unit: 'ms', n: TIMES });
    const skills =
      'for file in AGENTS.md .openhands/skills/*.md .agents/skills/*/SKILL.md; do [ -f "$file" ] && head -c 65536 "$file"; done | head -n 100';
    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      changes: get('/git/changes?path=.'),
      diff: get('/git/diff?path=folder-1/file-0.ts'),
      patch: get('/git/patch?path=.'),
      glob: act({ kind: 'GlobAction', pattern: '**/file-7.ts' }),
      'glob-all': act({ kind: 'GlobAction', pattern: '*.ts' }),
      grep: act({ kind: 'GrepAction', pattern: 'number 4211\\b' }),
      list: act({ kind: 'ListDirectoryAction', dir_path: WORKSPACE_DIR, recursive: true }),
      view: act({ kind: 'FileEditorAction', command: 'view', path: WORKSPACE_DIR }),
      skills: () => ask('POST', '/bash/execute', { command: skills, timeout: 60 }),
      'terminal-status': act({ kind: 'TerminalAction', command: 'git status --porcelain | wc -l', timeout: 300 }),
    };
    for (const [figure, way] of Object.entries(ways))
      report.figure({ figure, value: await time(way), unit: 'ms', floor: status, n: TIMES });
    report.figure({
      figure: 'archive',
      value: await time(get('/archive/workspace'), 1),
      unit: 'ms',
      floor: status,
      n: 1,
    });
    report.figure({ figure: 'zip', value: await time(get('/file/zip?path=.'), 1), unit: 'ms', floor: status, n: 1 });
    // As many that git does not ignore: a folder of packages that .gitignore does not name.
    git('rm', '-rq', '--cached', '.');
    git('commit', '-qm', 'none');
    report.figure({
      figure: 'git-status-untracked',
      value: await time(() => git('status', '--porcelain', '-uall')),
      unit: 'ms',
      n: TIMES,
    });
    report.figure({
      figure: 'changes-untracked',
      value: await time(ways['changes'] as () => Promise<unknown>, 1),
      unit: 'ms',
      floor: status,
      n: 1,
    });
    report.figure({ figure: 'peak-files', value: peak() - before, unit: 'MiB', n: 1 });

    for (const name of ['.git', ...Array.from({ length: FOLDERS }, (_, index) => `folder-${index}`)])
      rmSync(path.join(WORKSPACE_DIR, name), { recursive: true });
    git('init', '-q');
    git('commit', '-qm', 'none', '--allow-empty');
    const sparse = path.join(WORKSPACE_DIR, 'sparse');
    writeFileSync(sparse, '');
    truncateSync(sparse, SPARSE_BYTES);
    const beforeSparse = peak();
    const read = await time(() => execFileSync('sh', ['-c', `cat ${sparse} > /dev/null`]), 1);
    report.figure({ figure: 'sparse-read', value: read, unit: 'ms', n: 1 });
    const sparseWays: Readonly<Record<string, () => Promise<unknown>>> = {
      'sparse-view': act({ kind: 'FileEditorAction', command: 'view', path: sparse }),
      'sparse-range': act({ kind: 'FileEditorAction', command: 'view', path: sparse, view_range: [1, 2] }),
      'sparse-grep': act({ kind: 'GrepAction', pattern: 'x', path: WORKSPACE_DIR }),
      'sparse-changes': get('/git/changes?path=.'),
      'sparse-diff': get('/git/diff?path=sparse'),
      'sparse-download': get('/file/download?path=sparse'),
      'sparse-zip': get('/file/zip?path=.'),
      'sparse-archive': get('/archive/workspace'),
    };
    for (const [figure, way] of Object.entries(sparseWays))
      report.figure({ figure, value: await time(way, 1), unit: 'ms', floor: read, n: 1 });
    report.figure({ figure: 'peak-sparse', value: peak() - beforeSparse, unit: 'MiB', n: 1 });
  } finally {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function makeFiles(workspace: string): void {
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    mkdirSync(path.join(workspace, `folder-${folder}`));
    for (let file = 0; file < FILES; file += 1) {
      const text = `// number ${folder * FILES + file}\nexport const value = ${file};\n`;
      writeFileSync(path.join(workspace, `folder-${folder}/file-${file}.ts`), text);
    }
  }
}
