import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { type Lookup, PlatformHosts } from './platform-hosts.js';

const silent = createLogger('test', 'silent');
const answers = (...addresses: string[]) =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('the hosts of the platform that sandboxes call', () => {
  it('have one address each, of IPv4 where there is one, whatever the order of the answer; addresses are no names', async () => {
    const asked: string[] = [];
    const lookup: Lookup = async (name) => {
      asked.push(name);
      return name === 'b' ? answers('fd00::2', '10.0.0.9', '10.0.0.2') : answers('fd00::1');
    };
    const hosts = await new PlatformHosts(['b', 'a', 'b', '10.1.1.1', '::1'], silent, lookup).start();
    hosts.close();
    expect(asked).toEqual(['a', 'b']);
    expect(hosts.addresses).toEqual([
      { name: 'a', address: 'fd00::1' },
      { name: 'b', address: '10.0.0.2' },
    ]);
    expect(hosts.problem).toBeNull();
  });

  it('keep an address for as long as the name has it, also while the resolver is away, and take another one when it is gone', async () => {
    let answer: ReturnType<typeof answers> | null = answers('10.0.0.2');
    const hosts = await new PlatformHosts(['a'], silent, async () => {
      if (answer === null) throw new Error('the resolver is away');
      return answer;
    }).start();
    const after = async (next: typeof answer): Promise<string | undefined> => {
      answer = next;
      await hosts.look();
      return hosts.addresses[0]?.address;
    };
    expect(await after(answers('10.0.0.1', '10.0.0.2'))).toBe('10.0.0.2');
    expect(await after(null)).toBe('10.0.0.2');
    expect(await after([])).toBe('10.0.0.2');
    expect(await after(answers('10.0.0.3'))).toBe('10.0.0.3');
    hosts.close();
  });

  it('that were never found are reported, block new sandboxes, and are resolved until they are there', async () => {
    let there = false;
    const hosts = await new PlatformHosts(['late', 'there'], silent, async (name) => {
      if (name === 'late' && !there) throw new Error('no such name');
      return answers('10.0.0.4');
    }).start();
    expect(hosts.problem).toContain('the address of late,');
    expect(() => hosts.addresses).toThrow(
      expect.objectContaining({ code: 'sandbox.cluster-unavailable', message: expect.stringContaining('late') }),
    );
    there = true;
    await until('the name is found', () => hosts.problem === null);
    expect(hosts.addresses.map(({ name }) => name)).toEqual(['late', 'there']);
    hosts.close();
  });
});
