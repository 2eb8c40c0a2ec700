import { createPrivateKey } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { type Manifest, MINIMUM, ofKind, PROXIED_TEMPLATES, podsOf, render } from './chart.ts';

const ownOf = (objects: readonly Manifest[]): Manifest =>
  ofKind(objects, 'Secret').find(({ metadata }) => metadata.name === 'slipway-secrets');
const dataOf = (objects: readonly Manifest[]): Record<string, string> => ownOf(objects).data;

describeUnless(missingForHelm())('the secrets that the chart makes', () => {
  it('are what the apps take: a key of Ed25519 in PKCS#8 DER, and 32 characters or more of everything else', async () => {
    const { 'activation-private-key': activation = '', ...others } = dataOf((await render([MINIMUM])).objects);
    const key = createPrivateKey({
      key: Buffer.from(Buffer.from(activation, 'base64').toString(), 'base64'),
      format: 'der',
      type: 'pkcs8',
    });
    expect(key.asymmetricKeyType).toBe('ed25519');
    expect(Object.keys(others).length).toBeGreaterThanOrEqual(9);
    for (const value of Object.values(others))
      expect(Buffer.from(value, 'base64').toString()).toMatch(/^[A-Za-z0-9]{32,}$/);
  });

  it('are others in each installation', async () => {
    const [one, two] = await Promise.all([render([MINIMUM]), render([MINIMUM])]);
    const [first, second] = [dataOf(one.objects), dataOf(two.objects)];
    for (const [key, value] of Object.entries(first)) expect([key, second[key]]).not.toEqual([key, value]);
  });

  it('have every key that a pod asks them for', async () => {
    const { objects } = await render([
      MINIMUM,
      { sandboxes: { templates: PROXIED_TEMPLATES }, credentialBroker: { enabled: true } },
    ]);
    const secret = ownOf(objects);
    const asked = podsOf(objects)
      .flatMap(({ spec }) => spec.containers)
      .flatMap(({ env = [] }: Manifest) => env)
      .flatMap(({ valueFrom }: Manifest) =>
        valueFrom?.secretKeyRef?.name === secret.metadata.name ? [valueFrom.secretKeyRef.key as string] : [],
      );
    expect(new Set(asked)).toEqual(new Set(Object.keys(secret.data)));
  });
});
