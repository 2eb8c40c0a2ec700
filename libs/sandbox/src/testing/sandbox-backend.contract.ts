import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { readActivation, sendActivation, signActivation } from '../activation.js';
import type { SandboxBackend, SandboxObservation } from '../sandbox-backend.js';

export interface BackendUnderTest {
  readonly backend: SandboxBackend;
  /** Kills agent-server of a sandbox, as `kill -9` does. */
  killAgentServer(name: string): Promise<void>;
  close(): Promise<void>;
}

const until = async (what: string, probe: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + 15_000;
  while (!(await probe())) {
    if (performance.now() > end) throw new Error(what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/**
 * What every `SandboxBackend` keeps. @param open gets the public activation key (SPKI DER, base64) that its sandboxes
 * verify with.
 */
export function describeSandboxBackend(name: string, open: (publicKey: string) => Promise<BackendUnderTest>): void {
  describe(`sandbox backend: ${name}`, () => {
    const keys = generateKeyPairSync('ed25519');
    const signal = AbortSignal.timeout(120_000);
    let under: BackendUnderTest;
    let backend: SandboxBackend;
    beforeAll(async () => {
      under = await open(keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'));
      backend = under.backend;
    });
    afterAll(() => under.close());

    let count = 0;
    const running = async (): Promise<
      { name: string; slotId: string } & Extract<SandboxObservation, { state: 'running' }>
    > => {
      count += 1;
      const spec = { name: `sb-contract-${count}`, slotId: `contract-${count}`, image: 'any' };
      await backend.ensure(spec, signal);
      await until('running', async () => (await backend.observe(spec.name, signal)).state === 'running');
      const observation = await backend.observe(spec.name, signal);
      if (observation.state !== 'running') throw new Error(observation.state);
      return { ...observation, ...spec };
    };

    it('makes a sandbox that is dormant and knows its slot', async () => {
      const sandbox = await running();
      expect(await readActivation(sandbox.address, signal)).toMatchObject({
        state: 'dormant',
        slot_id: sandbox.slotId,
        claim_id: null,
      });
      expect(await backend.list(signal)).toContainEqual(
        expect.objectContaining({ name: sandbox.name, uid: sandbox.uid }),
      );
    });

    it('makes one sandbox however often it is asked', async () => {
      const sandbox = await running();
      await Promise.all([1, 2, 3].map(() => backend.ensure({ ...sandbox, image: 'any' }, signal)));
      expect(await backend.observe(sandbox.name, signal)).toMatchObject({ uid: sandbox.uid, address: sandbox.address });
    });

    it('accepts one claim in the lifetime of a sandbox, and that one again', async () => {
      const sandbox = await running();
      const activate = async (claim: string, key: KeyObject = keys.privateKey) => {
        const body = JSON.stringify({ session_api_keys: ['k'.repeat(32)], env: {} });
        const claims = { slot_id: sandbox.slotId, pod_uid: sandbox.uid, claim_id: claim, epoch: 1, org: 'org' };
        return (
          await sendActivation(sandbox.address, { token: signActivation(claims, body, key, new Date()), body, signal })
        ).result;
      };
      expect(await activate('first', generateKeyPairSync('ed25519').privateKey)).toBe('failed');
      expect(await activate('first')).toBe('accepted');
      expect(await activate('second')).toBe('owned-by-another');
      expect(await activate('first')).toBe('accepted');
    });

    it('answers gone for a sandbox that never was, and removes it without an error', async () => {
      expect(await backend.observe('sb-never', signal)).toEqual({ state: 'gone' });
      expect(await backend.remove('sb-never', randomUUID(), signal)).toBe('gone');
    });

    it('removes only the sandbox with the uid that is named', async () => {
      const sandbox = await running();
      expect(await backend.remove(sandbox.name, randomUUID(), signal)).toBe('kept');
      expect(await backend.observe(sandbox.name, signal)).toMatchObject({ state: 'running', uid: sandbox.uid });
      expect(await backend.remove(sandbox.name, sandbox.uid, signal)).toBe('gone');
      expect(await backend.remove(sandbox.name, sandbox.uid, signal)).toBe('gone');
      expect(await backend.observe(sandbox.name, signal)).toEqual({ state: 'gone' });
      expect(await readActivation(sandbox.address, AbortSignal.timeout(2_000))).toBeNull();
    });

    it('says that a sandbox has ended when agent-server dies, and does not revive it', async () => {
      const sandbox = await running();
      await under.killAgentServer(sandbox.name);
      await until('ended', async () => (await backend.observe(sandbox.name, signal)).state === 'ended');
      await backend.tend(signal);
      await backend.ensure({ ...sandbox, image: 'any' }, signal);
      expect(await backend.observe(sandbox.name, signal)).toMatchObject({
        state: 'ended',
        uid: sandbox.uid,
        reason: expect.stringContaining('agent-server was killed (SIGKILL)'),
      });
    });

    it('gives a later sandbox the workspace of an earlier one, at the same path and still dormant', async () => {
      const first = await running();
      const before = await readActivation(first.address, signal);
      await backend.remove(first.name, first.uid, signal);
      expect(await backend.listWorkspaces(signal)).toContain(first.name);
      const second = await running();
      for (const _again of [1, 2]) await backend.attachWorkspace(second.name, first.name, signal);
      const observation = await backend.observe(second.name, signal);
      if (observation.state !== 'running') throw new Error(observation.state);
      expect(observation.uid).toBe(second.uid);
      expect(await readActivation(observation.address, signal)).toEqual({ ...before, slot_id: second.slotId });
      await backend.remove(second.name, second.uid, signal);
      for (const _again of [1, 2]) await backend.deleteWorkspace(first.name, signal);
      expect(await backend.listWorkspaces(signal)).not.toContain(first.name);
    });

    it('refuses a workspace that is not there', async () => {
      const sandbox = await running();
      await expect(backend.attachWorkspace(sandbox.name, 'sb-lost', signal)).rejects.toMatchObject({
        code: 'sandbox.start-failed',
        more: { extensions: { workspace: 'missing' } },
      });
    });

    it('stops at its signal with an error of its own', async () => {
      const aborted = AbortSignal.abort();
      for (const call of [
        () => backend.ensure({ name: 'sb-late', slotId: 'late', image: 'any' }, aborted),
        () => backend.list(aborted),
        () => backend.observe('sb-late', aborted),
        () => backend.deleteWorkspace('sb-late', aborted),
      ])
        await expect(call()).rejects.toBeInstanceOf(SlipwayError);
    });
  });
}
