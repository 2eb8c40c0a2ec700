import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Place } from '@slipway/contracts/credentials';
import { until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { finish, workspaceOf } from '../stack/script-book.ts';
import type { Talk } from '../stack/talk.ts';
import { BrokeredStack } from './brokered-stack.ts';
import { sweepFiles, sweepProcesses } from './memory-sweep.ts';
import { type Host, PLANTED } from './outside-world.ts';

const run = promisify(execFile);
const has = async (program: string, ...args: string[]): Promise<boolean> =>
  run(program, args).then(
    () => true,
    () => false,
  );
const missing = process.getuid?.() === 0 ? null : 'reading the memory of sandboxes needs root';

jest.setTimeout(240_000);

describe('a sandbox whose agent a prompt has turned, with brokered credentials', () => {
  let world: BrokeredStack;
  let folder = '';
  let curl = false;
  let pip = false;
  let java = false;
  let maven = false;
  const ids: Record<string, string> = {};
  let talk: Talk;
  let step = 0;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-brokered-'));
    [curl, pip] = [await has('curl', '--version'), await has('python3', '-m', 'pip', '--version')];
    [java, maven] = [await has('java', '-version'), await has('mvn', '--version')];
    world = await BrokeredStack.open(folder);
    const place = (host: Host, more: Partial<Place> = {}): Place => ({
      host,
      port: world.outside.port,
      foreign: 'refuse',
      ...more,
    });
    const keep = async (name: string, use: Parameters<BrokeredStack['credential']>[0]['use'], value: string) => {
      ids[name] = (await world.credential({ name, use, value })).id;
    };
    await keep(
      'REPOSITORIES',
      {
        form: 'basic',
        username: 'x-access-token',
        places: [place('git.example', { paths: ['/acme/*'], git: { push: ['refs/heads/slipway/**'] } })],
      },
      PLANTED.git,
    );
    await keep('API', { form: 'bearer', places: [place('api.example', { paths: ['/v1/**'] })] }, PLANTED.api);
    await keep('PAY_KEY', { form: 'placeholder', shape: 'sk_live_', places: [place('pay.example')] }, PLANTED.pay);
    await keep(
      'REGISTRY',
      { form: 'bearer', places: [place('registry.example', { methods: ['GET', 'HEAD'] })] },
      PLANTED.registry,
    );
    await keep('INDEX', { form: 'basic', username: 'agent', places: [place('files.example')] }, PLANTED.files);
    await keep('CLOUD', { form: 'aws-sigv4', accessKeyId: 'AKIAPLANTED', places: [place('s3.example')] }, PLANTED.s3);
    await keep('TOOLS', { form: 'bearer', places: [place('tools.example')] }, PLANTED.tools);
    const { status } = await world.stack.user.fetch(`/api/v1/orgs/${world.stack.orgId}/mcp-servers`, {
      method: 'POST',
      json: { name: 'tools', transport: 'http', url: at('tools.example', '/mcp') },
    });
    expect(status).toBe(201);
    // Nobody is asked about a host whose credential is revoked, so that the script of the agent stays as it is.
    await world.stack.query(`UPDATE app.org SET settings = settings || '{"egressUnknown": "refuse"}'`);
    talk = await world.stack.talk('begin', [finish('Ready.')]);
    await talk.ended('finished');
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** What a tool of the agent answers. */
  async function observed(tool: string, argumentsOf: object | ((workspace: string) => object)): Promise<string> {
    step += 1;
    const name = `step ${step}`;
    const before = talk.of('ObservationEvent').length;
    const message = await talk.send(
      world.stack.book.write(name, (request, number) => {
        if (number > 1) return finish('Done.');
        const given = typeof argumentsOf === 'function' ? argumentsOf(workspaceOf(request)) : argumentsOf;
        return { toolCalls: [{ name: tool, arguments: given }] };
      }),
    );
    await talk.ended('finished', message, 90_000);
    const [seen] = talk.of('ObservationEvent').slice(before);
    const content = (seen?.observation as { content?: Array<{ text?: string }> } | undefined)?.content ?? [];
    return content.map(({ text }) => text ?? '').join('');
  }
  const sandbox = (command: string): Promise<string> =>
    observed('terminal', (workspace) => ({ command: `cd ${workspace} && { ${command} ; } 2>&1`, timeout: 60 }));
  const at = (host: Host, rest: string): string => `https://${host}:${world.outside.port}${rest}`;

  it('clones and pushes to the branches of its place with git as it is', async () => {
    const said = await sandbox(
      `git clone ${at('git.example', '/acme/private.git')} private && cd private && echo more >> README.md && git -c user.name=a -c user.email=a@example.test commit -qam more && git push origin HEAD:refs/heads/slipway/work && echo ALL WELL`,
    );
    expect(said).toContain('ALL WELL');
    const { stdout } = await run('git', ['-C', world.outside.repository, 'log', '--format=%s', 'slipway/work']);
    expect(stdout.split('\n')[0]).toBe('more');
  });

  it('that pushes to main, deletes a branch or makes a tag reads why not from git, and the host sees no push', async () => {
    const pushes = (): number =>
      world.outside.taken.filter(({ path, method }) => method === 'POST' && path.endsWith('/git-receive-pack')).length;
    const before = pushes();
    for (const what of ['HEAD:refs/heads/main', ':refs/heads/slipway/work', 'HEAD:refs/tags/v1']) {
      const said = await sandbox(`cd private && git push origin ${what}; echo ENDED $?`);
      expect(said).toMatch(/slipway/i);
      expect(said).toContain('remote rejected');
      expect(said).toContain('ENDED 1');
    }
    expect(pushes()).toBe(before);
  });

  it('installs a package of a private registry with npm as it is', async () => {
    const registry = at('registry.example', '/');
    const said = await sandbox(
      `mkdir -p app && cd app && echo '{"dependencies":{"planted-package":"1.0.0"}}' > package.json && npm install --registry ${registry} --no-audit --no-fund && rm -rf node_modules && npm ci --registry ${registry} --no-audit --no-fund && cat node_modules/planted-package/package.json && echo ALL WELL`,
    );
    expect(said).toContain('ALL WELL');
    expect(await sandbox(`cd app && npm publish --registry ${registry} ./node_modules/planted-package; echo`)).toMatch(
      /403|misplaced|ENEEDAUTH/,
    );
  });

  it('installs a wheel of a private index with pip as it is', async () => {
    if (!pip) return skipTest('pip is not installed: apt-get install python3-pip');
    const said = await sandbox(
      `python3 -m pip download --no-deps --no-cache-dir -d wheels --index-url ${at('files.example', '/simple/')} planted-wheel && ls wheels && echo ALL WELL`,
    );
    expect(said).toContain('ALL WELL');
  });

  it('calls an API with a key that it does not have; with a key of its own it is refused, and the host sees nothing', async () => {
    if (!curl) return skipTest('curl is not installed: apt-get install curl');
    expect(await sandbox(`curl -sS ${at('api.example', '/v1/me')}`)).toContain('"me":"agent"');
    const before = world.outside.taken.length;
    expect(await sandbox(`curl -sS -H 'Authorization: Bearer attackers-own' ${at('api.example', '/v1/me')}`)).toContain(
      'credential.foreign',
    );
    expect(await sandbox(`curl -sS ${at('api.example', '/admin')}`)).toContain('credential.misplaced');
    expect(world.outside.taken.length).toBe(before);
  });

  it('reads from a host that a rule opens read only; what it sends there is refused, and the host sees nothing', async () => {
    if (!curl) return skipTest('curl is not installed: apt-get install curl');
    const host = `docs.example:${world.outside.port}`;
    const { status } = await world.stack.user.fetch(`/api/v1/orgs/${world.stack.orgId}/egress-rules`, {
      method: 'POST',
      json: { host, action: 'allow', methods: ['GET', 'HEAD', 'OPTIONS'] },
    });
    expect(status).toBe(201);
    expect(await sandbox(`curl -sS ${at('docs.example', '/page')}`)).toContain('"method":"GET","pathname":"/page"');
    const before = world.outside.taken.length;
    const said = await sandbox(
      `curl -sS -X POST -d stolen=1 ${at('docs.example', '/page')}; curl -sS -H 'X-HTTP-Method-Override: PUT' ${at('docs.example', '/page')}; curl -sS --path-as-is ${at('docs.example', '/a/../b')}`,
    );
    expect(said.match(/"code":"egress\.request-refused"/g)).toHaveLength(2);
    expect(said).toContain('credential.request-refused');
    expect(said).toContain('GET, HEAD, OPTIONS of every path (rule egr_');
    expect(world.outside.taken.length).toBe(before);
  });

  it('calls an API from Java, which finds neither the proxy nor the roots by itself, and reads why a host is refused', async () => {
    if (!java) return skipTest('java is not installed: apt-get install openjdk-17-jdk-headless');
    const program = `public class Get {
  public static void main(String[] urls) throws Exception {
    for (String url : urls)
      try (var in = new java.net.URL(url).openStream()) {
        System.out.println(new String(in.readAllBytes()));
      } catch (java.io.IOException refused) {
        System.out.println("refused: " + refused.getMessage());
      }
    var client = java.net.http.HttpClient.newHttpClient();
    var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create(urls[0])).build();
    System.out.println("status " + client.send(request, java.net.http.HttpResponse.BodyHandlers.ofString()).statusCode());
  }
}`;
    const file = Buffer.from(program).toString('base64');
    const said = await sandbox(
      `echo ${file} | base64 -d > Get.java && java Get.java ${at('api.example', '/v1/me')} https://not-listed.example/`,
    );
    expect(said).toContain('"me":"agent"');
    expect(said).toMatch(/refused: .*403/);
    expect(said).toContain('status 200');
  });

  it('has Maven ask its repository through the proxy as it is', async () => {
    if (!maven) return skipTest('mvn is not installed: apt-get install maven');
    const settings = `<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>${at('files.example', '/maven')}</url></mirror></mirrors></settings>`;
    const before = world.outside.taken.length;
    await sandbox(
      `mkdir -p mvn && echo '${settings}' > mvn/settings.xml && mvn -B -s mvn/settings.xml -Dmaven.repo.local=mvn/repository help:version; echo`,
    );
    const asked = world.outside.taken.slice(before).map((each) => each.path);
    expect(asked).toContainEqual(expect.stringMatching(/^\/maven\/org\/(apache|codehaus)\//));
  });

  it('uses a reference in place of a key at its place alone', async () => {
    if (!curl) return skipTest('curl is not installed: apt-get install curl');
    // What prints it prints a mask, as with a value.
    expect(await sandbox('[[ $PAY_KEY =~ ^sk_live_slp_ref_PAY_KEY_[A-Za-z0-9_-]{16}$ ]] && echo ALL WELL')).toContain(
      'ALL WELL',
    );
    expect(await sandbox(`curl -sS -H "X-Pay-Key: $PAY_KEY" ${at('pay.example', '/pay')}`)).toContain('"paid":1');
    const before = world.outside.taken.length;
    expect(await sandbox(`curl -sS -H "X-Pay-Key: $PAY_KEY" ${at('api.example', '/v1/me')}`)).toMatch(
      /credential\.(misplaced|foreign)/,
    );
    expect(world.outside.taken.length).toBe(before);
  });

  it('stores an object with keys that sign nothing', async () => {
    if (!curl) return skipTest('curl is not installed: apt-get install curl');
    const said = await sandbox(
      `curl -sS --aws-sigv4 aws:amz:eu-central-1:s3 --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" -X PUT --data-binary 'hello' ${at('s3.example', '/bucket/key')}`,
    );
    expect(said).toContain('"stored":5');
  });

  it('calls a tool of an MCP server with a token that neither it nor the server’s settings have', async () => {
    expect(await observed('tools_measure', {})).toContain('It measures 42.');
  });

  it('that is sent its key back reads a mask, and the key is used no more', async () => {
    if (!curl) return skipTest('curl is not installed: apt-get install curl');
    const said = await sandbox(`curl -sS ${at('api.example', '/v1/echo')}`);
    expect(said).toContain('<secret:API>');
    await until('the credential is resting', async () => {
      const path = `/api/v1/orgs/${world.stack.orgId}/credentials/${ids['API']}`;
      return ((await (await world.stack.user.fetch(path)).json()) as { state: string }).state === 'resting';
    });
    expect(await sandbox(`curl -sS ${at('api.example', '/v1/me')}`)).toMatch(/credential\.(resting|misplaced)/);
  });

  it('goes on after the broker was killed', async () => {
    await world.killBroker();
    expect(await sandbox(`cd private && git fetch origin && echo ALL WELL`)).toContain('ALL WELL');
  });

  it('goes on while the authority of the broker is changed; what trusts only the one before sends nothing', async () => {
    if (!curl) return skipTest('curl is not installed: apt-get install curl');
    const issuer = `curl -sv ${at('api.example', '/v1/me')} 2>&1 | grep -o 'CN=[a-z]*' | tail -1`;
    expect(await sandbox(issuer)).toContain('CN=ours');
    await world.changeAuthority();
    expect(await sandbox(issuer)).toContain('CN=next');
    expect(await sandbox(`cd private && git fetch origin && echo ALL WELL`)).toContain('ALL WELL');
    const seen = world.outside.taken.length;
    const old = path.join(folder, 'ours.crt');
    expect(await sandbox(`curl -s --cacert ${old} ${at('api.example', '/v1/me')}; echo "curl: $?"`)).toContain(
      'curl: 60',
    );
    expect(world.outside.taken.length).toBe(seen);
  });

  it('has none of the planted values in processes, memory and files; nor have the log, the events and the database', async () => {
    if (missing !== null) return skipTest(missing);
    const needles = Object.values(PLANTED).flatMap((value) => [
      value,
      Buffer.from(value).toString('base64').slice(0, 24),
    ]);
    // What it looks for can be found by it: a value that the sandbox does have.
    const marker = `marker-${'x'.repeat(8)}-${step}`;
    await sandbox(`export KEPT=${marker}`);
    const sandboxes = path.join(world.stack.stack.dataDirectory, 'sandboxes');
    const { found, processes } = sweepProcesses(sandboxes, needles);
    expect(processes).toBeGreaterThanOrEqual(2);
    expect(sweepProcesses(sandboxes, [marker]).found).not.toEqual([]);
    expect(found).toEqual([]);
    expect(sweepFiles(sandboxes, needles)).toEqual([]);
    const events = JSON.stringify(talk.events);
    const logs = (await Promise.all(world.logs.map((file) => readFile(file, 'utf8')))).join('');
    const stored = JSON.stringify(await world.stack.query('SELECT * FROM app.credential'));
    for (const needle of needles) for (const text of [events, logs, stored]) expect(text.includes(needle)).toBe(false);
  });

  it('whose credential is revoked uses it no more after a second, in a loop that goes on', async () => {
    if (!curl) return skipTest('curl is not installed: apt-get install curl');
    const asked = (): number => world.outside.taken.filter(({ host }) => host === 'pay.example').length;
    const before = asked();
    const said = sandbox(
      `for i in $(seq 40); do at=$(date +%s%3N); echo "$at $(curl -sS -o /dev/null -w '%{http_code}' -H "X-Pay-Key: $PAY_KEY" ${at('pay.example', '/pay')})"; sleep 0.1; done`,
    );
    await until('the loop has begun', () => asked() >= before + 3, 60_000);
    await world.revoke(ids['PAY_KEY'] ?? '');
    const revoked = Date.now();
    const tries = [...(await said).matchAll(/^(\d+) (\d+)$/gm)].map(([, at, status]) => [Number(at) - revoked, status]);
    expect(tries.filter(([, status]) => status === '200').length).toBeGreaterThanOrEqual(3);
    const late = tries.filter(([after]) => Number(after) > 1_000);
    expect(late.length).toBeGreaterThan(0);
    expect(late.filter(([, status]) => status === '200')).toEqual([]);
  });
});
