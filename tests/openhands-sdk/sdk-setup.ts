import { afterAll, beforeAll } from '@jest/globals';
import { SdkSandbox } from './sandbox.ts';
import { openhandsEnvironment, Sdk } from './world.ts';

const environment = await openhandsEnvironment();
export const missing = 'missing' in environment ? `OpenHands' SDK is not tried: ${environment.missing}` : null;
if (missing !== null) console.log(missing);

export let world: SdkSandbox;
export let sdk: Sdk;

/** A sandbox with a scripted model, and OpenHands' SDK in Python in front of it. */
export function setUpSdk(): void {
  beforeAll(async () => {
    if ('missing' in environment) return;
    // The SDK takes seconds to load.
    [world, sdk] = await Promise.all([SdkSandbox.start(), Sdk.start(environment)]);
  });
  afterAll(async () => {
    await sdk?.close();
    await world?.close();
  });
}
