import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, it } from '@jest/globals';
import { finish, terminal } from '../stack/script-book.ts';
import type { EgressOnHost } from './egress-on-host.ts';
import type { StackOnCluster } from './stack-on-cluster.ts';
import { outputs, REPOSITORY } from './stack-work.ts';

/** The way out of sandboxes of class `packages`, which these pods are. */
export function egressCases(stack: () => StackOnCluster, proxy: () => EgressOnHost): void {
  it('a sandbox goes out through egress-proxy by what its environment says: to a host of its list, to no other, and with a credential that counts from its own pod alone', async () => {
    const [on, egress] = [stack(), proxy()];
    const repository = `${on.open.git.url}/${REPOSITORY}`;
    const other = `http://elsewhere.example/${REPOSITORY}`;
    const script = `fetch(process.argv[1]).then((answer) => console.log('node', answer.status), (error) => console.log('node', error.cause?.message ?? error.message))`;
    const commands = [
      `git ls-remote ${repository} HEAD`,
      `git ls-remote ${other} HEAD`,
      `node -e "${script}" '${repository}/info/refs?service=git-upload-pack'`,
      `python3 -c "import urllib.request as u; print('python', u.urlopen('${repository}/HEAD').status)"`,
      'echo "$NO_PROXY $HTTPS_PROXY"',
      'began=$(date +%s%N); getent hosts example.com kubernetes.default; echo "names $? $((($(date +%s%N) - began) / 1000000))"',
    ];
    const talk = await on.open.talk('egress', [...commands.map((command) => terminal(command)), finish()], {
      repository,
    });
    await talk.ended('finished');
    const [reached, refused, node, python, direct, names] = outputs(talk);
    expect(reached).toMatch(/^[0-9a-f]{40}\tHEAD/);
    expect(refused).toMatch(/403/);
    expect(node).toContain('node 200');
    expect(python).toContain('python 200');
    expect(direct).toContain('.svc');
    // It asks no resolver by itself, and fails at once: milliseconds.
    const [, code, took] = /^names (\d+) (\d+)/m.exec(names ?? '') ?? [];
    expect([code, Number(took) < 1_000]).toEqual(['2', true]);
    const pod = await on.podOf(talk);
    const { 'slipway.dev/claim': claim } = pod.metadata.labels;
    const own = egress.lines.filter((line) => line['claim_id'] === claim);
    // The clone, by the start step, and the four of the agent.
    expect(own).toContainEqual(
      expect.objectContaining({
        org_id: talk.orgId,
        template: on.template.name,
        egress: 'packages',
        verdict: 'allowed',
        host: on.cluster.hostAddress,
      }),
    );
    expect(own).toContainEqual(expect.objectContaining({ verdict: 'host', host: 'elsewhere.example' }));

    // The same words from this machine, which is not the pod.
    const { username, password, hostname, port } = new URL(/http:\/\/sandbox[.:]\S+/.exec(direct ?? '')?.[0] ?? '');
    const headers = { 'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
    const copied = request({ host: hostname, port, method: 'GET', path: `${repository}/HEAD`, headers }).end();
    const [{ statusCode }] = (await once(copied, 'response')) as [IncomingMessage];
    expect(statusCode).toBe(407);
    copied.destroy();
    await on.rest(talk);
  });
}
