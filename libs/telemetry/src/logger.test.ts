import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';

/** What a process writes that ends by the given words of JavaScript after one line of its log. */
async function linesOf(end: string): Promise<ReadonlyArray<Record<string, unknown>>> {
  const script = `import { createGatheringLogger } from ${JSON.stringify(new URL('./logger.js', import.meta.url).href)};
createGatheringLogger('some-service').info({ request_id: 'req_1', token: 'is no secret here' }, 'a line');
${end}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
    // Only a line that is written unprompted ends a process that would otherwise stay.
    if (end.includes('setInterval')) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const LINE = {
  message: 'a line',
  severity: 'INFO',
  service: 'some-service',
  request_id: 'req_1',
  token: 'is no secret here',
};

describe('a logger that gathers lines', () => {
  it('writes what waits when the process exits', async () => {
    expect(await linesOf('process.exit(0);')).toEqual([expect.objectContaining(LINE)]);
  });

  it('writes what waits by itself', async () => {
    expect(await linesOf('setInterval(() => {}, 1_000);')).toEqual([expect.objectContaining(LINE)]);
  });
});
