import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeUnless } from '@slipway/testing/jest';
import { cleanExitOf, DEPLOYMENTS, type FleetVersion, THIS_VERSION } from './fleet.ts';
import { OpenRolling } from './open-rolling.ts';
import { openPreviousVersion } from './previous-version.ts';
import type { Exit } from './replica.ts';

const previous = await openPreviousVersion(console.log);

jest.setTimeout(300_000);

describeUnless(typeof previous === 'string' ? previous : false)(
  'an upgrade from the version before, with two replicas of everything, two conversations at work and five requests a second',
  () => {
    const older = previous as FleetVersion;
    let rolling: OpenRolling;

    beforeAll(async () => {
      rolling = await OpenRolling.open({ conversations: 2, perSecond: 5, version: older });
    });
    afterAll(() => rolling?.close());

    /** All deployments at once, as `helm upgrade` does. */
    const rollOneOfEach = async (): Promise<Exit[]> =>
      (await Promise.all(DEPLOYMENTS.map((name) => rolling.fleet.roll(name, 1)))).flat();
    const expectNoneFailed = (): void => expect(rolling.load.take().failed).toEqual([]);

    it('the newer schema comes while the older version serves, which goes on upon it', async () => {
      expect((await rolling.fleet.migrate()).length).toBeGreaterThan(10);
      await rolling.goesOn('the version before, on the schema of this one');
      expectNoneFailed();
    });

    it('a replica of each version: what runs goes on, and what begins may be made by both', async () => {
      rolling.fleet.become(THIS_VERSION);
      const exits = await rollOneOfEach();
      await Promise.all([rolling.begin('while-both-run-1'), rolling.begin('while-both-run-2')]);
      await rolling.goesOn('with a replica of each version');
      exits.push(...(await rollOneOfEach()));
      const clean = DEPLOYMENTS.map((name) => ({ code: cleanExitOf(name), signal: null }));
      expect(exits.map(({ code, signal }) => ({ code, signal }))).toEqual([...clean, ...clean]);
      await rolling.goesOn('after the upgrade');
      expectNoneFailed();
    });

    it('what was begun on the version before, or on both, ends on this one: no request failed, no event lost, no step made twice', async () => {
      expect(await rolling.finish()).toEqual([]);
      expectNoneFailed();
    });

    it('the version before may come back upon this schema, and not past a migration that takes away: it says which, and changes nothing', async () => {
      const rollBack = (): Promise<string[]> => rolling.fleet.migrate(path.join(older.root, 'prisma'), older);
      expect(await rollBack()).toEqual([]);
      // What a version after this one leaves in the history.
      await rolling.fleet.query(
        "INSERT INTO app._prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('of the next', 'none', '29990101000000_narrower', now())",
      );
      await expect(rollBack()).rejects.toThrow(
        'this version is older than the database: it does not know app/29990101000000_narrower, after which an older version may not run. Nothing was changed.',
      );
    });
  },
);
