import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { logSettings, logVariables } from './log-settings.js';

/** Output of a process that logs `entry` with the given variables. */
function written(
  variables: Readonly<Record<string, string>>,
  entry = `info({ conversation_id: 'c 1', n: 2 }, 'a line')`,
): string {
  const settings = logSettings(z.object(logVariables).parse(variables));
  const script = `import { createLogger } from ${JSON.stringify(new URL('./logger.js', import.meta.url).href)};
createLogger('some-service', ${JSON.stringify(settings)}).${entry};`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }).stdout;
}

describe('variables of the log', () => {
  it('give JSON with a severity when nothing is set, and the level under the name that is wanted', () => {
    expect(JSON.parse(written({}))).toMatchObject({
      message: 'a line',
      severity: 'INFO',
      service: 'some-service',
      conversation_id: 'c 1',
    });
    const renamed = JSON.parse(written({ LOG_JSON_LEVEL_KEY: 'level' })) as object;
    expect(renamed).toMatchObject({ level: 'INFO' });
    expect(renamed).not.toHaveProperty('severity');
  });

  it('give text for a terminal, one line an entry whatever is in it, and the stack of an error below', () => {
    expect(written({ LOG_JSON: '0' })).toMatch(/^\d{4}-\S+Z INFO +some-service a line conversation_id="c 1" n=2\n$/);
    expect(written({ LOG_JSON: '0' }, `info({ given: 'x\\n2026 ERROR forged' }, 'a line')`).trimEnd()).not.toContain(
      '\n',
    );
    expect(written({ LOG_JSON: '0' }, `info('a line\\n2026 ERROR forged')`).trimEnd()).not.toContain('\n');
    expect(written({ LOG_JSON: '0' }, `error({ err: new Error('broken') }, 'failed')`)).toMatch(
      /ERROR +some-service failed\n {4}Error: broken\n {4} +at /,
    );
  });

  it('hold debug lines back until DEBUG asks for them, which makes no log quieter and is not turned on by what it means to libraries', () => {
    const debug = `debug('a line')`;
    expect([written({}, debug), written({ DEBUG: 'app:*' }, debug)]).toEqual(['', '']);
    expect([written({ DEBUG: '1' }, debug), written({ DEBUG: 'true', LOG_LEVEL: 'trace' }, debug)]).toEqual([
      expect.stringContaining('a line'),
      expect.stringContaining('a line'),
    ]);
  });
});
