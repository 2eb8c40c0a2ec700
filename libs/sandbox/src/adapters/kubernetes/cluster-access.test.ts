import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromKubeconfig, inCluster } from './cluster-access.js';

describe('the way into a cluster', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-access-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const config = (user: object, cluster: object = {}) =>
    JSON.stringify({
      clusters: [
        {
          name: 'c',
          cluster: {
            server: 'https://cluster.example:6443/prefix',
            'certificate-authority-data': Buffer.from('CA').toString('base64'),
            ...cluster,
          },
        },
      ],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });

  it('from inside is the token of the service account, read again each time', async () => {
    await file('ca.crt', 'CA');
    await file('token', 'one\n');
    const access = inCluster('fd00::1', '443', folder);
    expect(access.server.href).toBe('https://[fd00::1]/');
    expect(await access.credentials()).toEqual({ tls: { ca: Buffer.from('CA') }, authorization: 'Bearer one' });
    await file('token', 'two');
    expect((await access.credentials()).authorization).toBe('Bearer two');
    await expect(inCluster('h', '1', '/nowhere').credentials()).rejects.toMatchObject({ code: 'sandbox.forbidden' });
  });

  it('by a kubeconfig is its certificate, its token, or what its program prints', async () => {
    const certificate = {
      'client-certificate-data': Buffer.from('CERT').toString('base64'),
      'client-key-data': Buffer.from('KEY').toString('base64'),
    };
    const access = await fromKubeconfig(await file('certificate', config(certificate)));
    expect(access.server.href).toBe('https://cluster.example:6443/prefix');
    expect(await access.credentials()).toMatchObject({
      tls: { ca: Buffer.from('CA'), cert: Buffer.from('CERT'), key: Buffer.from('KEY') },
      authorization: null,
    });
    expect(
      (await (await fromKubeconfig(await file('token', config({ token: 't' })))).credentials()).authorization,
    ).toBe('Bearer t');
    const credential = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'printed' },
    });
    const exec = {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: process.execPath,
        args: ['-e', `console.log(${JSON.stringify(credential)})`],
      },
    };
    expect((await (await fromKubeconfig(await file('exec', config(exec)))).credentials()).authorization).toBe(
      'Bearer printed',
    );
    const broken = {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: process.execPath,
        args: ['-e', 'process.exit(3)'],
      },
    };
    await expect((await fromKubeconfig(await file('broken', config(broken)))).credentials()).rejects.toMatchObject({
      code: 'sandbox.forbidden',
    });
  });

  it('is refused with a reason when the kubeconfig is missing, names no cluster, or asks for a proxy', async () => {
    await expect(fromKubeconfig(path.join(folder, 'none'))).rejects.toMatchObject({
      code: 'config.invalid',
      detail: expect.stringContaining('ENOENT'),
    });
    await expect(fromKubeconfig(await file('empty', JSON.stringify({ 'current-context': 'x' })))).rejects.toMatchObject(
      { code: 'config.invalid' },
    );
    await expect(
      fromKubeconfig(await file('proxy', config({}, { 'proxy-url': 'http://proxy' }))),
    ).rejects.toMatchObject({
      detail: expect.stringContaining('proxy-url'),
    });
  });
});
