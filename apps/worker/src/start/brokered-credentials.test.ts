import { describe, expect, it } from '@jest/globals';
import { CredentialUse } from '@slipway/contracts/credentials';
import { type BrokeredCredential, brokeredPlaces, brokeredVariables } from './brokered-credentials.js';

const places = [{ host: 'api.example.com' }, { host: 'git.example.com', port: 8443 }];
const credential = (name: string, use: object, scope: BrokeredCredential['scope'] = 'org'): BrokeredCredential => ({
  id: `crd_${name}_${scope}`,
  name,
  description: `${scope} of ${name}`,
  scope,
  scopeValue: '',
  use: CredentialUse.parse({ places, ...use }),
  referenceKey: Buffer.from(`key of ${scope}`),
});

describe('what a sandbox has in place of a brokered value', () => {
  it('is a reference of its conversation under the name, of two with one name the narrower', () => {
    const both = [
      credential('KEY', { form: 'placeholder', shape: 'sk-' }, 'repository'),
      credential('KEY', { form: 'placeholder', shape: 'pk-' }),
      credential('TOKEN', { form: 'bearer' }),
    ];
    const variables = brokeredVariables(both, 'conversation');
    expect([...variables.keys()]).toEqual(['KEY']);
    expect(variables.get('KEY')).toEqual({
      value: expect.stringMatching(/^sk-slp_ref_KEY_[A-Za-z0-9_-]{16}$/),
      description: 'repository of KEY',
    });
    expect(brokeredVariables(both, 'conversation')).toEqual(variables);
    expect(brokeredVariables(both, 'another')).not.toEqual(variables);
  });

  it('is the id of an AWS key with a dummy, of the narrowest alone', () => {
    const variables = brokeredVariables(
      [
        credential('NARROW', { form: 'aws-sigv4', accessKeyId: 'AKIANARROW' }, 'environment'),
        credential('WIDE', { form: 'aws-sigv4', accessKeyId: 'AKIAWIDE' }),
      ],
      'conversation',
    );
    expect(Object.fromEntries([...variables].map(([name, { value }]) => [name, value]))).toEqual({
      AWS_ACCESS_KEY_ID: 'AKIANARROW',
      AWS_SECRET_ACCESS_KEY: expect.stringContaining('slipway'),
      AWS_EC2_METADATA_DISABLED: 'true',
    });
  });

  it('comes with the hosts, as far as an agent reads', () => {
    const many = Array.from({ length: 60 }, (_, index) => credential(`N${index}`, { form: 'bearer' }));
    expect(brokeredPlaces(many.slice(0, 1))).toEqual([
      '- api.example.com: N0, org of N0',
      '- git.example.com:8443: N0, org of N0',
    ]);
    expect(brokeredPlaces(many)).toHaveLength(50);
  });
});
