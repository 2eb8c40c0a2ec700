import { findOnPath } from './find-on-path.ts';
import { programsImage, programWithLibraries, type TestImage, written } from './programs-image.ts';

export const REDIS_PORT = 6379;

/**
 * `slipway-test/redis`: this machine's redis-server, without a password, in memory and on /data. For the test cluster
 * only. @throws Error when this machine has none.
 */
export function redisImage(signal: AbortSignal): Promise<TestImage> {
  const program = findOnPath('redis-server', 'apt-get install redis-server');
  const files = [
    ...programWithLibraries(program, 'usr/bin/redis-server'),
    written('etc/passwd', 'redis:x:10001:10001::/data:/nonexistent\n'),
  ];
  const flags = [
    '--bind',
    '* -::*',
    '--port',
    String(REDIS_PORT),
    '--protected-mode',
    'no',
    '--dir',
    '/data',
    '--save',
    '',
    '--appendonly',
    'yes',
    '--maxmemory-policy',
    'noeviction',
  ];
  return programsImage(
    'redis',
    [...files, { kind: 'directory', path: 'data', mode: 0o1777, uid: 0, gid: 0, mtime: 0 }],
    {
      User: '10001:10001',
      WorkingDir: '/data',
      Env: ['PATH=/usr/bin'],
      Entrypoint: ['redis-server', ...flags],
      ExposedPorts: { [`${REDIS_PORT}/tcp`]: {} },
      Labels: { 'org.opencontainers.image.title': 'Redis for tests of Slipway' },
    },
    signal,
  );
}
