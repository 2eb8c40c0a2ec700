import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { makeKeyToken } from '../keys/virtual-key-token.js';
import { openOwnProviders, sealOwnProviders } from './own-keys.js';

const tokenOf = (): string => makeKeyToken(`key_${'0'.repeat(26)}`, randomBytes(20)).token;
const providers = {
  anthropic: { apiKey: 'sk-ant-secret-0123456789' },
  azure: { apiKey: 'azure-secret-0123456789', baseUrl: 'https://mine.openai.azure.com', apiVersion: '2025-04-01' },
};

describe('sealOwnProviders', () => {
  it('opens for the token that it was sealed for, and for no other', () => {
    const token = tokenOf();
    const sealed = sealOwnProviders(token, providers);
    expect(openOwnProviders(token, sealed)).toEqual(providers);
    expect(() => openOwnProviders(tokenOf(), sealed)).toThrow();
  });

  it('shows nothing of a key, and opens no longer when a byte of it was changed', () => {
    const token = tokenOf();
    const sealed = sealOwnProviders(token, providers);
    expect(sealed.toString('latin1')).not.toMatch(/secret|anthropic|azure/);
    for (const at of [0, 15, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => openOwnProviders(token, changed)).toThrow();
    }
  });
});
