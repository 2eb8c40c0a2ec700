import { describe, expect, it } from '@jest/globals';
import { type HostPattern, readHostPattern } from '@slipway/net';
import { OrgHosts } from './org-hosts.js';

describe('hosts that organizations may allow', () => {
  const problem = (only: string, never: string, rule: string, ports: number[] | null = [80, 443]) =>
    new OrgHosts({ only, never: never === '' ? [] : never.split(','), ports }).problemOf(
      readHostPattern(rule) as HostPattern,
    );

  it.each([
    ['any', '', 'api.example.com', null],
    ['any', 'api.example.com', 'api.example.com', 'api.example.com is not among the hosts'],
    ['any', '*.example.com', '*.example.com', '*.example.com is not among the hosts'],
    ['any', '*.example.com', 'a.b.example.com', 'a.b.example.com is not among the hosts'],
    // Some of them pass.
    ['any', 'paste.example.com', '*.example.com', null],
    ['*.example.com', '', 'api.example.com', null],
    ['*.example.com', '', '*.api.example.com', null],
    ['*.example.com', '', 'example.com', 'example.com is not among the hosts'],
    ['api.example.com', '', '*.example.com', '*.example.com is not among the hosts'],
    ['any', '', 'api.example.com:8443', 'port 8443 is not open'],
  ])('%s without %s: a rule for %s has the problem %s', (only, never, rule, expected) => {
    expect(problem(only, never, rule)).toEqual(expected === null ? null : expect.stringContaining(expected));
  });

  it('are asked for on any port where the ports of egress-proxy are not known', () => {
    expect(problem('any', '', 'api.example.com:8443', null)).toBeNull();
  });
});
