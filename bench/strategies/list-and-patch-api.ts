/**
 * A list of the ready objects, a random pick out of it, and one PATCH that holds only while the object has the
 * resourceVersion of the list; on 409 the next one, and a new list when all have been tried or the list is old. As
 * early agent-sandbox and sandbox0 do. All that makes it slow elsewhere is left out: no admission webhook, no limit of
 * the client, no controller that reads what was written.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { KubeApi } from '../../tests/cluster/kube-api.ts';
import { LOOK_AGAIN_MS, type MakeStrategy } from './claim-strategy.ts';
import { shuffle } from './list-and-patch-rows.ts';
import { OBJECTS, type SlotList } from './stock/stock-of-objects.ts';

/** From the API server's watch cache, which costs it no read of etcd: as an informer of the replica would have it. */
const READY = `${OBJECTS}?labelSelector=state%3Dready&resourceVersion=0`;

/** Older data is mostly about objects that have changed since. Milliseconds. */
const LIST_LASTS_MS = 1_000;

interface Candidate {
  readonly name: string;
  readonly resourceVersion: string;
}

export const listAndPatchApi: MakeStrategy = async ({ kubeconfig, connections }) => {
  if (kubeconfig === null) throw new Error('there is no cluster');
  const api = KubeApi.of(await readFile(kubeconfig, 'utf8'), connections);
  /** Taken out before it is asked for: two requests of one replica do not meet. */
  let candidates: Candidate[] = [];
  let listedAt = 0;
  let listing: Promise<void> | null = null;

  const listOnce = async (): Promise<void> => {
    listedAt = performance.now();
    const { status, body } = await api.ask<SlotList>(READY);
    if (status !== 200) throw new Error(`the list of slots was answered with ${status}`);
    candidates = body.items.map(({ metadata: { name, resourceVersion } }) => ({ name, resourceVersion }));
    shuffle(candidates);
    if (candidates.length === 0) await wait(LOOK_AGAIN_MS);
  };
  /** One for all who found nothing. */
  const list = (): Promise<void> => {
    listing ??= listOnce().finally(() => {
      listing = null;
    });
    return listing;
  };
  /** @returns false: the object was changed meanwhile. */
  const take = async (claimId: string, { name, resourceVersion }: Candidate): Promise<boolean> => {
    const { status } = await api.ask(`${OBJECTS}/${name}`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion, labels: { state: 'bound' }, annotations: { claim: claimId } } },
    });
    if (status !== 200 && status !== 409) throw new Error(`the patch of ${name} was answered with ${status}`);
    return status === 200;
  };
  return {
    claim: async (claimId) => {
      for (;;) {
        const candidate = performance.now() - listedAt < LIST_LASTS_MS ? candidates.pop() : undefined;
        if (candidate === undefined) await list();
        else if (await take(claimId, candidate)) return candidate.name;
      }
    },
    stop: async () => api.close(),
  };
};
